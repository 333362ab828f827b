"""Whose situation words tell of: "my mother has diabetes" tells nothing of the speaker's health."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.attribution import (
    is_conditional,
    is_denied,
    is_of_speaker,
    other_before,
    place_of,
    sentences_around,
)


@pytest.mark.parametrize(
    ("words", "sentence", "language"),
    [
        ("糖尿病", "私は糖尿病なんだ。", "ja"),
        ("糖尿病", "糖尿病なんだよ。", "ja"),
        ("糖尿病", "医者に糖尿病だと言われた。", "ja"),
        ("卵アレルギー", "母に似て卵アレルギーなんだ。", "ja"),
        ("高血圧", "母が糖尿病で、私は高血圧です。", "ja"),
        ("京都", "母が入院したので、京都に住んでる。", "ja"),
        ("横浜", "妻と横浜に住んでいます。", "ja"),
        ("diabetes", "I have diabetes.", "en"),
        ("diabetes", "The doctor says I have diabetes.", "en"),
        ("asthma", "My mother has diabetes and I have asthma.", "en"),
        ("Leeds", "I live with my daughter in Leeds.", "en"),
        ("Leeds", "My wife and I live in Leeds.", "en"),
        ("eggs", "I told my daughter about my allergy to eggs.", "en"),
        ("1975", "My mother was born in 1948 and I was born in 1975.", "en"),
        ("Leeds General", "I am a nurse at Leeds General.", "en"),
        ("糖尿病", "我有糖尿病。", "zh"),
        ("上海", "我和妻子住在上海。", "zh"),
        ("上海", "我和我妻子住在上海。", "zh"),
        ("糖尿病", "医生说我有糖尿病。", "zh"),
    ],
)
def test_what_the_speaker_tells_of_themselves(words: str, sentence: str, language: str) -> None:
    assert is_of_speaker(words, sentence, language)


@pytest.mark.parametrize(
    ("words", "sentence", "language"),
    [
        ("糖尿病", "母が糖尿病なんだ。", "ja"),
        ("糖尿病", "母がね、糖尿病なんだ。", "ja"),
        ("糖尿病", "糖尿病なんだよね、うちの母。", "ja"),
        ("糖尿病", "母の糖尿病が心配だ。", "ja"),
        ("糖尿病", "母の持病は糖尿病だよ。", "ja"),
        ("糖尿病", "健太は糖尿病なんだ。", "ja"),
        ("糖尿病", "田中さんが糖尿病だって言ってた。", "ja"),
        ("糖尿病", "彼女は糖尿病です。", "ja"),
        ("大阪", "大阪に住んでいる娘がいる。", "ja"),
        ("1948年", "1948年生まれの母がいる。", "ja"),
        ("魚アレルギー", "うちの猫は魚アレルギーなんだ。", "ja"),
        ("diabetes", "My mother has diabetes.", "en"),
        ("diabetes", "I care for my mother, who has diabetes.", "en"),
        ("diabetes", "I worry about my mother's diabetes.", "en"),
        ("diabetes", "I have a son with diabetes.", "en"),
        ("diabetes", "She has diabetes, my mother.", "en"),
        ("diabetes", "Kenji has diabetes and I worry.", "en"),
        ("Leeds", "I have two daughters in Leeds.", "en"),
        ("fish", "My cat is allergic to fish.", "en"),
        ("糖尿病", "我妈妈有糖尿病。", "zh"),
        ("糖尿病", "我照顾有糖尿病的妈妈。", "zh"),
        ("糖尿病", "我很担心，他有糖尿病。", "zh"),
    ],
)
def test_what_is_told_of_others_is_not_the_speakers(
    words: str, sentence: str, language: str
) -> None:
    """Row 61."""
    assert not is_of_speaker(words, sentence, language)


@pytest.mark.parametrize(
    ("words", "sentence", "language", "denied"),
    [
        ("糖尿病", "糖尿病ではない。", "ja", True),
        ("卵アレルギー", "卵アレルギーはありません。", "ja", True),
        ("東京", "東京には住んでいない。", "ja", True),
        ("肉", "肉は食べない。", "ja", True),
        ("diabetes", "I don't have diabetes.", "en", True),
        ("allergic to eggs", "I'm not allergic to eggs.", "en", True),
        ("花生", "我对花生不过敏。", "zh", True),
        ("糖尿病", "我没有糖尿病。", "zh", True),
        ("肉は食べない", "肉は食べない。", "ja", False),
        ("卵アレルギー", "卵アレルギーだから食べられない。", "ja", False),
        ("糖尿病", "糖尿病なんだ。", "ja", False),
        ("allergic to eggs", "Don't forget that I am allergic to eggs.", "en", False),  # row 33
        ("can't eat meat", "I can't eat meat.", "en", False),
        ("不吃肉", "我不吃肉。", "zh", False),
    ],
)
def test_what_is_denied_is_told_from_what_is_said(
    words: str, sentence: str, language: str, denied: bool
) -> None:
    assert is_denied(words, sentence, language) is denied


def test_the_other_is_named() -> None:
    sentence = "うちの母は京都で働いている。"
    assert other_before(sentence, len(sentence), "ja") == "母"
    assert other_before(sentence, 0, "ja") == ""
    assert other_before("I went home.", 12, "en") == ""


def test_a_quote_lies_in_the_sentences_that_it_was_taken_from() -> None:
    said = "今日は疲れた。もし犬を飼うなら柴犬がいいな。猫もいい。"
    assert sentences_around("犬を飼う", said) == ["もし犬を飼うなら柴犬がいいな。"]
    assert sentences_around("今日は疲れた。もし犬を飼うなら柴犬がいいな。", said) == [
        "今日は疲れた。",
        "もし犬を飼うなら柴犬がいいな。",
    ]
    assert sentences_around("もし犬を飼うなら、柴犬がよいな", said) == [
        "もし犬を飼うなら柴犬がいいな。"
    ]
    assert sentences_around("箱根へ行く", said) == []
    assert sentences_around("", said) == sentences_around("猫", "") == []


@given(st.text(max_size=40), st.text(max_size=80), st.sampled_from(["ja", "en", "zh", "xx"]))
def test_no_text_crashes_the_rules(words: str, sentence: str, language: str) -> None:
    start, end = place_of(words, sentence)
    assert 0 <= start <= end
    is_of_speaker(words, sentence, language)
    is_denied(words, sentence, language)
    assert all(part in sentence for part in sentences_around(words, sentence))


@pytest.mark.parametrize(
    ("words", "sentence", "language", "conditional"),
    [
        ("Leeds", "If I live in Leeds I save money.", "en", True),
        ("Leeds", "I live in Leeds.", "en", False),
        ("京都", "もし京都に住んでいたら毎日お寺に行くよ。", "ja", True),
        ("卵アレルギー", "卵アレルギーがあるから、卵が入ってたら食べられない。", "ja", False),
        ("北京", "如果我住在北京，我每天去故宫。", "zh", True),
        ("北京", "我住在北京。", "zh", False),
    ],
)
def test_what_holds_on_a_condition_only_is_told_apart(
    words: str, sentence: str, language: str, conditional: bool
) -> None:
    assert is_conditional(words, sentence, language) == conditional
