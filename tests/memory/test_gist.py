"""What exchanges are about, by rules: keywords that people can read, and the most telling sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.gist import (
    LONGEST_SENTENCE,
    MOST_KEYWORDS,
    keywords_of,
    says_something,
    shortened,
    summary_of,
)
from tests.memory.remembering import page


def alike(key: str) -> float:
    return 1.0


def known(*common: str) -> dict[str, float]:
    return dict.fromkeys(common, 0.01)


@pytest.mark.parametrize(
    ("said", "language", "expected"),
    [
        ("昨日、箱根の温泉に行ってきたよ。", "ja", {"箱根", "温泉"}),
        ("猫がネコ缶を食べました。", "ja", {"猫", "缶", "食べる"}),
        ("ママと水族館でペンギンを見た。", "ja", {"母", "水族", "ペンギン"}),
        ("I went hiking with my mum in Hakone.", "en", {"hiking", "mother", "hakone"}),
        ("I bought 12 tulips.", "en", {"bought", "tulips"}),
        ("我在学弹钢琴，妈妈也喜欢品茶。", "zh", {"学弹钢琴", "妈妈", "品茶"}),
    ],
)
def test_keywords_are_what_is_spoken_of_in_a_form_people_can_read(
    said: str, language: str, expected: set[str]
) -> None:
    assert set(keywords_of([page(said, language=language)], alike)) == expected


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("そうだね。", "ja"),
        ("うん、うん。", "ja"),
        ("来週の土曜日は？", "ja"),
        ("Yes, it is.", "en"),
        ("Next Saturday at three?", "en"),
        ("是的，可以。", "zh"),
        ("", "ja"),
    ],
)
def test_what_names_nothing_has_no_keywords(said: str, language: str) -> None:
    assert keywords_of([page(said, language=language)], alike) == ()


def test_chinese_that_no_grammar_parts_is_cut() -> None:
    [word] = keywords_of([page("葱姜蒜切成细丝然后放鱼肚里蒸", language="zh")], alike)[:1]

    assert word == "葱姜蒜切成细"


def test_yes_and_no_say_nothing_and_a_name_does() -> None:
    assert not says_something(page("うん、そうだね。"))
    assert says_something(page("タマは元気だよ。"))


def test_the_most_telling_keywords_are_kept_and_come_first() -> None:
    said = "猫と犬と鳥と亀と魚と馬と牛が好き。"

    def rarity(key: str) -> float:
        return known("猫", "犬").get(key, 2.0 if key == "牛" else 1.0)

    words = keywords_of([page(said)], rarity)

    assert words[0] == "牛"
    assert len(words) == MOST_KEYWORDS
    assert not {"猫", "犬"} & set(words)


def test_what_is_spoken_of_again_and_again_counts_more() -> None:
    pages = [page("犬と散歩した。"), page("猫が鳴いた。"), page("猫は眠い。")]

    assert keywords_of(pages, alike)[0] == "猫"


@pytest.mark.parametrize(
    ("said", "language", "expected"),
    [
        (
            "ねえ、聞いて。箱根の温泉に行ってきたの。すごかった。",
            "ja",
            "箱根の温泉に行ってきたの。",
        ),
        (
            "Guess what! I planted tomatoes in the garden. Nice.",
            "en",
            "I planted tomatoes in the garden.",
        ),
        ("你好。我在学弹钢琴和画画。真的。", "zh", "我在学弹钢琴和画画。"),
    ],
)
def test_a_summary_is_the_most_telling_sentence_word_for_word(
    said: str, language: str, expected: str
) -> None:
    assert summary_of([page(said, language=language)], alike) == expected


def test_what_the_person_tells_comes_before_what_they_ask() -> None:
    pages = [page("箱根の温泉は好きですか？"), page("猫を飼い始めた。")]

    assert summary_of(pages, alike) == "猫を飼い始めた。"


def test_a_summary_of_what_says_nothing_is_what_was_said() -> None:
    assert summary_of([page("うん。"), page("そうだね。")], alike) == "うん。"
    assert summary_of([page("")], alike) == ""


def test_a_sentence_over_several_lines_becomes_one_line() -> None:
    assert "\n" not in summary_of(
        [page("I planted\ntomatoes in\nthe garden.", language="en")], alike
    )


def test_a_long_sentence_is_cut_where_a_clause_ends() -> None:
    text = "この前の日曜日に家族みんなで箱根へ行って、温泉に入ったあとで、" + "大きな船に乗って" * 8

    assert shortened(text, 40) == "この前の日曜日に家族みんなで箱根へ行って、温泉に入ったあとで…"


@given(st.text(), st.integers(4, 60))
def test_a_shortened_text_is_short_enough_and_the_beginning_of_the_whole(
    text: str, longest: int
) -> None:
    short = shortened(text, longest)

    assert len(short) <= longest
    assert text.startswith(short.removesuffix("…"))
    assert short == text or short.endswith("…")


@given(st.text(max_size=120), st.sampled_from(["ja", "en", "zh"]))
def test_anything_may_be_said(said: str, language: str) -> None:
    spoken = page(said, language=language)

    assert len(summary_of([spoken], alike)) <= LONGEST_SENTENCE
    assert len(set(keywords_of([spoken], alike))) <= MOST_KEYWORDS


def test_a_joke_is_no_summary_of_what_else_was_said() -> None:
    said = "I keep a big dragon named Ignatius in the cellar. Just kidding! My knee hurts."
    assert summary_of([page(said, language="en")], alike) == "My knee hurts."
    joke = "I keep a dragon. Just kidding!"
    assert summary_of([page(joke, language="en")], alike) == "Just kidding!"
