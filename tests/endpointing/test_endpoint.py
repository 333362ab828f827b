"""How long a silence has to be: by the words before it, by what is still unknown, and by the pace of the speaker."""

import pytest

from server.config import EndpointingSection
from server.endpointing import Completeness, Endpoint, TurnEnds
from server.turn import Transcript

SECTION = EndpointingSection()
MS = 16


def milliseconds(endpoint: Endpoint) -> float:
    return endpoint.needed() / MS


def begin() -> Endpoint:
    return TurnEnds(SECTION).begin(0)


def read(text: str) -> Transcript:
    return Transcript(text, "ja")


@pytest.mark.parametrize(
    ("text", "silence_ms"),
    [
        ("明日の天気を教えてください。", SECTION.finished_ms),
        ("明日の", SECTION.unfinished_ms),
        ("昨日食べた", SECTION.unsure_ms),
        ("", SECTION.unsure_ms),
        (None, SECTION.silence_ms),
    ],
)
def test_the_words_before_a_pause_say_how_long_it_has_to_be(
    text: str | None, silence_ms: float
) -> None:
    endpoint = begin()
    endpoint.expect_text()
    endpoint.read_text(None if text is None else read(text))
    assert milliseconds(endpoint) == silence_ms


def test_nothing_is_decided_while_the_words_are_on_their_way_and_that_is_bounded() -> None:
    endpoint = begin()
    endpoint.expect_text()
    assert milliseconds(endpoint) == SECTION.text_wait_ms


def test_without_a_text_the_usual_silence_holds() -> None:
    assert milliseconds(begin()) == SECTION.silence_ms


def test_who_goes_on_makes_the_words_before_void() -> None:
    endpoint = begin()
    endpoint.read_text(read("明日の天気を教えてください。"))
    endpoint.voice_is_back(250 * MS)
    assert milliseconds(endpoint) == SECTION.silence_ms


@pytest.mark.parametrize(
    ("text", "probability", "silence_ms"),
    [
        ("昨日食べた", 0.95, SECTION.finished_ms),
        ("昨日食べた", 0.05, SECTION.unfinished_ms),
        ("昨日食べた", 0.5, SECTION.unsure_ms),
        ("元気ですか", 0.95, SECTION.finished_ms),
        ("元気ですか", 0.05, SECTION.unsure_ms),
        ("明日の", 0.95, SECTION.unsure_ms),
        ("明日の", 0.05, SECTION.unfinished_ms),
        (None, 0.95, SECTION.silence_ms),
        (None, 0.05, SECTION.silence_ms),
    ],
)
def test_a_hint_tips_the_balance_and_decides_nothing_alone(
    text: str | None, probability: float, silence_ms: float
) -> None:
    endpoint = begin()
    endpoint.take_hint(probability)
    endpoint.read_text(None if text is None else read(text))
    assert milliseconds(endpoint) == silence_ms


def test_a_slow_speaker_is_given_time_after_three_pauses() -> None:
    endpoint = begin()
    for _ in range(2):
        endpoint.voice_is_back(580 * MS)
    assert milliseconds(endpoint) == SECTION.silence_ms
    endpoint.voice_is_back(580 * MS)
    assert milliseconds(endpoint) == pytest.approx(730, abs=1)


def test_the_time_given_is_bounded_and_never_less_than_for_everybody() -> None:
    slow, quick = begin(), begin()
    for _ in range(20):
        slow.voice_is_back(5000 * MS)
        quick.voice_is_back(210 * MS)
    assert milliseconds(slow) == SECTION.silence_ms + SECTION.most_lengthened_ms
    assert milliseconds(quick) == SECTION.silence_ms


def test_pauses_after_whole_sentences_lengthen_no_others() -> None:
    endpoint = begin()
    for _ in range(3):
        endpoint.read_text(read("楽しかったです"))
        endpoint.voice_is_back(400 * MS)
    assert milliseconds(endpoint) == SECTION.silence_ms
    endpoint.read_text(read("楽しかったです"))
    assert endpoint.judged is Completeness.FINISHED
    assert milliseconds(endpoint) == pytest.approx(550, abs=1)


def test_who_is_cut_off_again_and_again_teaches_the_next_end() -> None:
    ends = TurnEnds(SECTION)
    for _ in range(4):
        endpoint = ends.begin(0)
        ends.wait(200 * MS)  # and they go on, 200 ms after the utterance was ended
    assert milliseconds(endpoint) == pytest.approx(SECTION.silence_ms + 200 + 150, abs=1)


def test_what_is_said_long_after_an_end_is_no_pause() -> None:
    ends = TurnEnds(SECTION)
    for _ in range(6):
        endpoint = ends.begin(0)
        ends.wait(3000 * MS)
    assert milliseconds(endpoint) == SECTION.silence_ms
