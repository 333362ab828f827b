"""What people say of themselves in so many words goes into the profile; what may be meant otherwise does not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.extract import RulesExtractor
from server.memory.self_reports import introduces, self_reports
from tests.memory.remembering import NOON, page

TOLD = {
    "ja": {
        "私の名前は花子です。": ("name", "花子"),
        "はじめまして、佐々木と申します。": ("name", "佐々木"),
        "私のことはハナって呼んで。": ("name", "ハナ"),
        "1948年生まれです。": ("birth", "1948年"),
        "昭和二十三年に生まれました。": ("birth", "昭和二十三年"),
        "私の誕生日は5月3日です。": ("birth", "5月3日"),
        "横浜の港北区に住んでるんだ。": ("home", "横浜の港北区"),
        "302号室に住んでいます。": ("home", "302号室"),
        "忘れないで、卵アレルギーだから。": ("health", "卵アレルギー"),  # row 33
        "私はそばアレルギーなの。": ("health", "そばアレルギー"),
    },
    "en": {
        "My name is Hana Tanaka.": ("name", "Hana Tanaka"),
        "You can call me Ray.": ("name", "Ray"),
        "I was born in 1948.": ("birth", "1948"),
        "I was born in Leeds on May 3, 1948.": ("birth", "May 3, 1948"),
        "My birthday is on the 3rd of May.": ("birth", "the 3rd of May"),
        "I live in Leeds with my wife.": ("home", "Leeds"),
        "I live in room 204.": ("home", "room 204"),
        "I’m allergic to eggs and nuts.": ("health", "allergic to eggs and nuts"),
        "I have a peanut allergy.": ("health", "peanut allergy"),
    },
    "zh": {
        "我叫王芳。": ("name", "王芳"),
        "我的名字是李雷。": ("name", "李雷"),
        "我是1948年出生的。": ("birth", "1948年"),
        "我的生日是5月3日。": ("birth", "5月3日"),
        "我和妻子住在上海。": ("home", "上海"),
        "我对花生过敏。": ("health", "对花生过敏"),
    },
}
UNSURE = {
    "ja": [
        "母の名前は花子です。",
        "私の名前はバットマンです。なんちゃって。",
        "うちの猫の名前はタマです。",
        "私の名前は難しいです。",
        "私の名前は秘密です。",
        "私の名前は何ですか。",
        "もし私の名前が太郎だったら。",
        "母は1948年生まれです。",
        "1948年生まれの母がいます。",
        "誕生日は5月3日です。",
        "大阪に住んでいる友達がいる。",
        "東京には住んでいません。",
        "娘は京都に住んでいます。",
        "幸せに住んでます。",
        "京都に住んでいたことがある。",
        "東京に住んでいるのは母だ。",
        "卵アレルギーではない。",
        "卵アレルギーだって。",
        "息子が卵アレルギーなんだ。",
        "うちの母はね。1948年生まれなの。",
    ],
    "en": [
        "My name is hard to spell.",
        "My cat's name is Tom.",
        "What if my name is Bob?",
        "My mother was born in 1948.",
        "My son's birthday is May 3.",
        "I was born and raised by the sea.",
        "I live in fear.",
        "If I live in Leeds I save money.",
        "I live in Gotham City. Just kidding!",
        "Do I live in Leeds?",
        "I'm not allergic to eggs.",
        "My son is allergic to eggs.",
    ],
    "zh": [
        "我叫外卖。",
        "我叫车了。",
        "我叫你别动。",
        "我妈妈叫王芳。",
        "我妈妈是1948年出生的。",
        "我住在这里。",
        "我对花生不过敏。",
        "我女儿对花生过敏。",
        "我没有海鲜过敏。",
    ],
}


def told(said: str, language: str, asked: str = "") -> list[tuple[str, str]]:
    entries = self_reports(page(said, language=language), asked)
    return [(str(entry.field), entry.value) for entry in entries]


@pytest.mark.parametrize(
    ("language", "said"), [(language, said) for language in TOLD for said in TOLD[language]]
)
def test_a_sure_form_gives_the_value_in_the_persons_words(language: str, said: str) -> None:
    assert told(said, language) == [TOLD[language][said]]


@pytest.mark.parametrize(
    ("language", "said"), [(language, said) for language in UNSURE for said in UNSURE[language]]
)
def test_nothing_is_guessed(language: str, said: str) -> None:
    """Rows 25 and 61."""
    assert told(said, language) == []


def test_an_answer_without_a_subject_is_about_whom_the_robot_asked_for() -> None:
    said = "東京に住んでいます。"
    assert told(said, "ja", "お母さんはどちらにお住まいですか。") == []
    assert told(said, "ja", "どちらにお住まいですか。") == [("home", "東京")]
    assert told("私は東京に住んでいます。", "ja", "お母さんはお元気ですか。") == [("home", "東京")]


async def test_the_rules_hand_over_what_the_robot_had_asked() -> None:
    asking = replace(page("おはよう。", id_="1"), heard="お母さんはどちらにお住まいですか。")
    answered = page("東京に住んでいます。", id_="2")
    assert (await RulesExtractor().extract([asking, answered], 0)).profile == ()
    [entry] = (await RulesExtractor().extract([answered], 0)).profile
    assert (entry.person, entry.said_at, entry.sources) == ("hana", NOON, ("2",))


@pytest.mark.parametrize(
    ("value", "sentence", "language", "is_own"),
    [
        ("花子", "花子です。", "ja", True),
        ("花子", "花子って呼んでね。", "ja", True),
        ("花子", "母は花子です。", "ja", False),
        ("山田商店", "会社の名前は山田商店です。", "ja", False),
        ("Hana", "I'm Hana, nice to meet you.", "en", True),
        ("Ann", "I'm annoyed.", "en", False),
        ("Tom", "My cat is called Tom.", "en", False),
        ("王芳", "我是王芳。", "zh", True),
    ],
)
def test_a_name_is_the_persons_only_if_it_is_given_as_such(
    value: str, sentence: str, language: str, is_own: bool
) -> None:
    assert introduces(value, sentence, language) is is_own


@given(st.text(max_size=80), st.sampled_from(["ja", "en", "zh", "xx"]))
def test_values_are_words_that_were_said(said: str, language: str) -> None:
    for _, value in told(said, language):
        assert value in said.replace("’", "'")
