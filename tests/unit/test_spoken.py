"""How far a sentence was heard: whole words, numbers, voices that have not come to the end of it."""

import pytest

from server.spoken import Length, Spoken

RATE = 1000


def spoken(text: str, seconds: float, *, whole: bool = True, starts_at: float = 0) -> Spoken:
    return Spoken(text, starts_at, RATE, Length(round(seconds * RATE), whole))


@pytest.mark.parametrize(
    ("text", "share", "heard"),
    [
        ("one two three", 0.0, ""),
        ("one two three", 0.2, ""),  # in the middle of "one"
        ("one two three", 0.24, "one"),
        ("one two three", 0.5, "one"),
        ("one two three", 0.6, "one two"),
        ("one two three", 1.0, "one two three"),
        ("It costs 3.5 dollars.", 0.53, "It costs"),
        ("I don't know.", 0.45, "I"),
        ("Well, that is it.", 0.3, "Well,"),
        ("Le café est bon.", 0.4, "Le"),
        ("明日は晴れです。", 0.5, "明日は晴"),
        ("2026年です。", 0.3, ""),
    ],
)
def test_a_word_that_was_cut_was_not_heard(text: str, share: float, heard: str) -> None:
    assert spoken(text, 10).played(share * 10 * RATE) == heard


def test_a_sentence_that_is_still_to_come_was_not_heard() -> None:
    assert spoken("はい。", 1, starts_at=500).played(400) == ""


def test_the_piece_of_a_sentence_that_there_is_does_not_count_as_the_whole() -> None:
    """A voice that streams has given one second of a sentence of four; all of it was played, and then it was cut."""
    text = "あ" * 30 + "。"
    streaming = spoken(text, 1.0, whole=False)
    assert 5 <= len(streaming.played(RATE)) <= 10
    assert spoken(text, 1.0).played(RATE) == text


def test_a_slow_voice_is_reckoned_with_as_slow_as_it_is() -> None:
    slow = spoken("はい。", 3.0, whole=False)
    assert slow.played(1.5 * RATE) == "は"


def test_what_is_cut_stays_as_it_is() -> None:
    sentence = spoken("one two three", 10)
    sentence.cut(6 * RATE)
    assert sentence.played(1e9) == "one two"
    later = spoken("four five", 10, starts_at=10 * RATE)
    later.cut(6 * RATE)
    assert later.played(1e9) == ""
