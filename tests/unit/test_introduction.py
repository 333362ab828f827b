"""Who is taken for somebody of the household because they say so, and who is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.config import PersonSection
from server.introduction import ANSWERS, Introduction, find_introduction

PERSONS = {
    "carol": PersonSection(names=("キャロル", "Caroline")),
    "xiaohong": PersonSection(names=("小红",)),
    "花子": PersonSection(names=("はなこ", "Hanako")),
}
HOUSEHOLD = ("taro", "carol", "xiaohong", "花子")


def who(text: str) -> str | None:
    met = find_introduction(text, HOUSEHOLD, PERSONS)
    return None if met is None else met.person


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("This is Carol.", "carol"),
        ("this is carol", "carol"),
        ("Hello, this is Carol speaking!", "carol"),
        ("It's me, Carol.", "carol"),
        ("I'm Caroline.", "carol"),
        ("My name is Hanako.", "花子"),
        ("Carol here.", "carol"),
        ("キャロルです。", "carol"),
        ("きゃろるだよ", "carol"),
        ("私はキャロルだよ。", "carol"),
        ("こんにちは、花子です。", "花子"),
        ("ぼくはTaroだよ", "taro"),
        ("はなこちゃんだよ！", "花子"),
        ("我是小红。", "xiaohong"),
        ("你好，我叫小红", "xiaohong"),
        ("I am a guest.", ""),
        ("ゲストです。", ""),
        ("我是客人。", ""),
    ],
)
def test_who_says_so_is_recognised(text: str, person: str) -> None:
    assert who(text) == person


@pytest.mark.parametrize(
    "text",
    [
        "I'm home.",
        "I'm tired, and Carol is, too.",
        "Carol is coming tomorrow.",
        "This is Carol's cat.",
        "This is not Carol.",
        "This is Carol?",
        "I'm a guest?",
        "キャロルだよ？",
        "Is it Carol?",
        "It's Carol!",
        "キャロルはどこ？",
        "キャロルが好きです。",
        "キャロルの猫です。",
        "友達はキャロルです。",
        "我是小红的朋友。",
        "我不是小红。",
        "I'm a guest house owner.",
        "",
    ],
)
def test_whatever_else_is_said_changes_nobody(text: str) -> None:
    assert who(text) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("This is Carol. What's the weather?", "What's the weather?"),
        ("This is Carol, what's the weather?", "what's the weather?"),
        ("キャロルです。明日は晴れる？", "明日は晴れる？"),
        ("我是小红，明天下雨吗？", "明天下雨吗？"),
    ],
)
def test_what_is_asked_behind_it_is_left(text: str, rest: str) -> None:
    met = find_introduction(text, HOUSEHOLD, PERSONS)
    assert met is not None
    assert met.rest == rest


@pytest.mark.parametrize(
    ("text", "person"),
    [
        *(
            (text, None)
            for text in ("I'm happy.", "I am rich!", "This is rich.", "元気です。", "元気だよ！", "げんきです。", "ゲンキです。", "私は元気です。", "雪です。", "ゆきだよ。", "我是老大。")
        ),
        ("My name is Happy.", "happy"),
        ("It's me, Happy.", "happy"),
        ("Happy here.", "happy"),
        ("Rich speaking.", "rich"),
        ("元気といいます。", "genki"),
        ("私は元気と申します。", "genki"),
        ("元気くんだよ！", "genki"),
        ("私はゆきです。", "yuki"),
        ("ゆきちゃんです。", "yuki"),
        ("我叫老大。", "rich"),
    ],
)  # fmt: skip
def test_a_name_that_is_an_everyday_word_counts_where_only_a_name_is_said(
    text: str, person: str | None
) -> None:
    persons = {
        "rich": PersonSection(names=("老大",)),
        "genki": PersonSection(names=("元気", "げんき")),
        "yuki": PersonSection(names=("雪", "ゆき")),
    }
    met = find_introduction(text, ("happy", *persons), persons)
    assert (met.person if met else None) == person


def test_an_honorific_is_no_part_of_the_name() -> None:
    met = find_introduction("はなこちゃんだよ！", HOUSEHOLD, PERSONS)
    assert met is not None
    assert "はなこさん" in met.answer(None, "ja")


def test_a_name_that_two_have_introduces_nobody() -> None:
    both = {"anna": PersonSection(names=("An",)), "anton": PersonSection(names=("An",))}
    assert find_introduction("This is An.", ("anna", "anton"), both) is None


def test_nobody_else_may_use_a_robot_without_a_household() -> None:
    assert find_introduction("This is Carol.", (), PERSONS) is None
    assert find_introduction("This is Carol.", ("taro",), PERSONS) is None


@given(st.text(max_size=60))
def test_only_somebody_of_the_household_is_ever_met(text: str) -> None:
    met = find_introduction(text, ("carol",), PERSONS)
    assert met is None or met.person in ("carol", "")


@pytest.mark.parametrize("language", ["ja", "en", "zh", "fr"])
def test_the_answer_says_the_name_in_the_language_of_the_talk(language: str) -> None:
    met = Introduction("carol", "Carol", "")
    said = met.answer(None, language)
    assert "Carol" in said
    assert "$" not in said
    assert met.answer("Hi $name!", language) == "Hi Carol!"
    assert all(words.keys() == {"ja", "zh", "en"} for words in ANSWERS.values())


@pytest.mark.parametrize(
    "text", ["This is David.", "Hello, my name is David Jones.", "私はダビデです。", "我叫小刚。"]
)
def test_somebody_unknown_is_known_to_be_so(text: str) -> None:
    met = find_introduction(text, HOUSEHOLD, PERSONS)
    assert met is not None
    assert not met.is_known
    assert find_introduction(text, HOUSEHOLD[:1], PERSONS) is None, "nobody shares the robot"
