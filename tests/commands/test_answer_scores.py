"""F1 and BLEU-1 of answers, against values worked out by hand."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.commands.answer_scores import bleu_1, token_f1, tokens_of

LANGUAGES = st.sampled_from(["en", "ja", "zh"])
TEXTS = st.text("ab c猫犬いの.、", max_size=12)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The cat's toy, a ball!", "en", ["cats", "toy", "ball"]),
        ("17 July 2025", "en", ["17", "july", "2025"]),
        ("Ｔｏｋｙｏ and an OX", "en", ["tokyo", "and", "ox"]),
        ("猫のタマ。", "ja", ["猫", "の", "タ", "マ"]),
        ("2025年7月、USJで", "ja", ["2025", "年", "7", "月", "usj", "で"]),
        ("绿禾公园，iPhone 15。", "zh", ["绿", "禾", "公", "园", "iphone", "15"]),
        (" … ", "en", []),
        ("", "ja", []),
    ],
)
def test_english_is_cut_into_words_and_japanese_and_chinese_into_characters(
    text: str, language: str, expected: list[str]
) -> None:
    assert tokens_of(text, language) == expected


@pytest.mark.parametrize(
    ("answer", "right", "language", "f1", "bleu"),
    [
        ("mental health", "mental health", "en", 1, 1),
        ("The mental health.", "mental health", "en", 1, 1),
        # 2 of 6 said are right, 2 of 2 wanted are said: 2 * 2 / 8; no penalty for a long answer.
        ("it raised awareness for mental health", "mental health", "en", 0.5, 2 / 6),
        # 1 of 1 and 1 of 3: 2 * 1 / 4; brevity exp(1 - 3/1).
        ("July", "17 July 2025", "en", 0.5, exp(-2)),
        # "very" is wanted once: it counts once of three.
        ("very very very", "very good", "en", 0.4, 1 / 3),
        ("a dog", "two cats", "en", 0, 0),
        # 猫 and の of four, of three wanted: 2 * 2 / 7; 2 / 4.
        ("猫の名前", "猫のタ", "ja", 4 / 7, 0.5),
        # Three of three, of four wanted; brevity exp(1 - 4/3).
        ("禾公园", "绿禾公园", "zh", 6 / 7, exp(-1 / 3)),
        ("", "Bo", "en", 0, 0),
        ("Bo", "", "en", 0, 0),
        ("", "", "en", 1, 1),
    ],
)
def test_scores_are_those_worked_out_by_hand(
    answer: str, right: str, language: str, f1: float, bleu: float
) -> None:
    assert token_f1(answer, right, language) == pytest.approx(f1)
    assert bleu_1(answer, right, language) == pytest.approx(bleu)


@given(TEXTS, TEXTS, LANGUAGES)
def test_scores_lie_between_nothing_and_the_right_answer(
    one: str, other: str, language: str
) -> None:
    assert 0 <= token_f1(one, other, language) <= 1
    assert 0 <= bleu_1(one, other, language) <= 1
    assert token_f1(one, other, language) == pytest.approx(token_f1(other, one, language))
    assert token_f1(one, one, language) == bleu_1(one, one, language) == 1
