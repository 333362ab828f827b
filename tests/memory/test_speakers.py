"""Who of two is asked about, and the question as that one would put it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.lines import Role
from server.memory.speakers import Speakers, asked_role, in_first_person

SAID, HEARD = Role.SAID, Role.HEARD
EN = Speakers(("Anna", "Anna Lee"), ("James",))
JA = Speakers(("智子", "花", "Ann"), ("タマ",))
ZH = Speakers(("秀兰",), ("小念",))
SPEAKERS = {"en": EN, "ja": JA, "zh": ZH}


@pytest.mark.parametrize(
    ("text", "language", "role"),
    [
        ("What did Anna buy?", "en", SAID),
        ("what did anna buy", "en", SAID),
        ("Where is Anna's cat?", "en", SAID),
        ("What did James buy?", "en", HEARD),
        ("Where is James’ cat?", "en", HEARD),
        ("When did Anna meet James?", "en", None),
        ("智子は何を買ったの", "ja", SAID),
        ("智子さんの猫の名前は", "ja", SAID),
        ("タマちゃんは何が好き", "ja", HEARD),
        ("智子さんとタマはどこで会ったの", "ja", None),
        ("秀兰的猫叫什么", "zh", SAID),
        ("小念喜欢什么", "zh", HEARD),
        ("秀兰和小念去了哪里", "zh", None),
    ],
)
def test_who_is_named_is_asked_about(text: str, language: str, role: Role | None) -> None:
    assert asked_role(text, language, SPEAKERS[language]) == role


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where did the jamesons live?", "en"),
        ("Where is Joanna?", "en"),
        ("How many annals are there?", "en"),
        ("Who is Añanna?", "en"),
        ("花見はいつだっけ", "ja"),
        ("生花はどこに置いた", "ja"),
        ("タマゴはいくらだっけ", "ja"),
        ("美智子さんはどこ", "ja"),
        ("Annaさんはどこ", "ja"),
    ],
)
def test_a_name_inside_another_word_is_no_name(text: str, language: str) -> None:
    named = SPEAKERS[language]
    for speakers in (named, Speakers(named.other, named.person)):
        assert asked_role(text, language, speakers) is SAID
        assert in_first_person(text, language, speakers) == text


@pytest.mark.parametrize(
    ("text", "language", "role"),
    [
        ("What did you recommend?", "en", HEARD),
        ("Which song have you sung?", "en", HEARD),
        ("What was your favourite colour?", "en", HEARD),
        ("the book you mentioned", "en", HEARD),
        ("What did you say about tea?", "en", HEARD),
        ("What did you tell me yesterday?", "en", HEARD),
        ("What did I buy?", "en", SAID),
        ("Do you remember my dentist?", "en", SAID),
        ("Can you tell me where I live?", "en", SAID),
        ("Could you please remind me when it is?", "en", SAID),
        ("Where is the young cat?", "en", SAID),
        ("あなたは何が好き", "ja", HEARD),
        ("君の名前は何だっけ", "ja", HEARD),
        ("君が言ってた本は何", "ja", HEARD),
        ("勧めてくれた本は何だっけ", "ja", HEARD),
        ("私は何を買ったっけ", "ja", SAID),
        ("あなたに話した店はどこ", "ja", SAID),
        ("田中君の誕生日はいつ", "ja", SAID),
        ("ケン君は何歳だっけ", "ja", SAID),
        ("お名前は何だっけ", "ja", SAID),
        ("你推荐的书叫什么", "zh", HEARD),
        ("你的名字是什么", "zh", HEARD),
        ("你还记得我的医生吗", "zh", SAID),
        ("你知道我住在哪里吗", "zh", SAID),
        ("我跟你说过的那家店在哪", "zh", SAID),
        ("我告诉你的密码是什么", "zh", SAID),
        ("我买了什么", "zh", SAID),
    ],
)
def test_who_names_nobody_asks_of_the_robot_or_of_oneself(
    text: str, language: str, role: Role
) -> None:
    assert asked_role(text, language, Speakers()) is role
    assert in_first_person(text, language, Speakers()) == text


def test_a_name_says_more_than_you() -> None:
    assert asked_role("Anna, what did you buy?", "en", EN) is SAID
    assert asked_role("智子さん、あなたは何を買ったの", "ja", JA) is SAID


def test_another_language_is_read_like_english() -> None:
    assert asked_role("what did you say, et James?", "fr", Speakers()) is HEARD
    assert in_first_person("le chat d'Anna Lee", "fr", EN) == "le chat d'I"


@pytest.mark.parametrize(
    ("text", "language", "own"),
    [
        ("What did Anna buy?", "en", "What did I buy?"),
        ("what did anna buy", "en", "what did I buy"),
        ("Where is Anna's cat?", "en", "Where is my cat?"),
        ("Where is ANNA’S cat?", "en", "Where is my cat?"),
        ("Where is James' cat?", "en", "Where is my cat?"),
        ("Where is James's cat?", "en", "Where is my cat?"),
        ("When did Anna Lee arrive?", "en", "When did I arrive?"),
        ("When did Anna meet James?", "en", "When did I meet I?"),
        ("Anna", "en", "I"),
        ("智子は何を買ったの", "ja", "何を買ったの"),
        ("智子さんの猫の名前は", "ja", "猫の名前は"),
        ("昨日智子さんが来た", "ja", "昨日来た"),
        ("タマちゃんって何が好き", "ja", "何が好き"),
        ("智子と行った店は", "ja", "と行った店は"),
        ("annさんは何歳", "ja", "何歳"),
        ("秀兰的猫叫什么", "zh", "猫叫什么"),
        ("秀兰昨天去了哪里", "zh", "昨天去了哪里"),
        ("", "en", ""),
    ],
)
def test_a_question_is_put_as_the_one_would_who_is_named(
    text: str, language: str, own: str
) -> None:
    assert in_first_person(text, language, SPEAKERS[language]) == own


@pytest.mark.parametrize(
    ("text", "language"),
    [("What did he buy in the end?", "en"), ("彼は何が好きなの", "ja"), ("他喜欢什么", "zh")],
)
def test_a_blank_name_is_nobodys(text: str, language: str) -> None:
    for blank in ("", " ", "\u3000"):
        speakers = Speakers((blank,), (blank,))
        assert in_first_person(text, language, speakers) == text
        assert asked_role(text, language, speakers) is SAID


def test_a_name_may_hold_any_signs() -> None:
    assert (
        in_first_person("What did Dr. K (old) see?", "en", Speakers(("Dr. K (old)",)))
        == "What did I see?"
    )
    assert asked_role("Is C++ ill?", "en", Speakers((), (" C++ ",))) is HEARD


def test_forms_are_whole_names_and_their_parts() -> None:
    speakers = Speakers(("Mary-Jane Smith",), ("ジョン・スミス",))
    assert speakers.forms == {
        "mary-jane smith", "mary", "jane", "smith", "ジョン・スミス", "ジョン", "スミス",
    }  # fmt: skip
    assert Speakers().forms == frozenset()


names = st.text(st.characters(), max_size=5) | st.sampled_from(
    ["Anna", "智子", "秀兰", ".*", "\\", "("]
)


@given(st.text(st.characters(), max_size=30), st.sampled_from(["ja", "en", "zh"]), names, names)
def test_any_text_may_be_asked_of_anybody(text: str, language: str, one: str, other: str) -> None:
    speakers = Speakers((one,), (other,))
    assert asked_role(text, language, speakers) in (SAID, HEARD, None)
    in_first_person(text, language, speakers)
