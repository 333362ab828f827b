"""However the sound arrives, in bursts or evenly, an utterance ends at the same sample."""

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.audio import Samples
from server.config import Config
from server.listening import Ear
from server.turn import Transcript
from server.utterance import Utterance
from tests.fakes import FakeVad, silence, voice

FINISHED, UNFINISHED = Transcript("明日の天気を教えてください。", "ja"), Transcript("明日の", "ja")
TEXT_AFTER = 3200
"""A recogniser begins at a pause of 200 ms, so bursts of up to 400 ms leave it time before the usual end at 600."""

tenths = st.integers(1, 9).map(lambda count: count / 10)
sounds = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=5)
pieces = st.lists(st.integers(1, 9000), min_size=1, max_size=12)


def spoken(parts: list[tuple[float, float]]) -> Samples:
    """Return words and pauses, in seconds, with silence before and after them."""
    sound = [piece for said, pause in parts for piece in (voice(said), silence(pause))]
    return np.concatenate([silence(0.3), *sound, silence(2.5)])


def hear(sound: Samples, sizes: list[int], text: Transcript | None = None) -> list[Utterance]:
    """Listen to a sound in pieces of these sizes, again and again; `text` comes as soon as a pause has been heard."""

    async def listen() -> list[Utterance]:
        config = Config()
        ear = Ear(FakeVad().session(), FakeVad.frame_samples, config.vad, config.endpointing)
        begun: list[Utterance] = []
        start = turn = 0
        while start < len(sound):
            size = sizes[turn % len(sizes)]
            begun += ear.hear(sound[start : start + size])
            start, turn = start + size, turn + 1
            if text and ear.utterance and ear.utterance.silence_samples >= TEXT_AFTER:
                ear.utterance.expect_text()
                ear.utterance.read_text(text, ear.utterance.samples)
        return begun

    return anyio.run(listen)


def ends(utterances: list[Utterance]) -> list[tuple[int, str | None]]:
    return [(one.endpoint_samples, one.ending) for one in utterances]


@settings(max_examples=25, deadline=None)
@given(sounds, pieces)
def test_bursts_change_no_end(parts: list[tuple[float, float]], sizes: list[int]) -> None:
    sound = spoken(parts)
    assert ends(hear(sound, sizes)) == ends(hear(sound, [512]))


@pytest.mark.parametrize("text", [FINISHED, UNFINISHED], ids=["finished", "unfinished"])
@settings(max_examples=20, deadline=None)
@given(said=tenths, burst=st.integers(512, 6400))
def test_a_burst_of_silence_that_overtakes_the_text_changes_no_end(
    text: Transcript, said: float, burst: int
) -> None:
    sound = spoken([(said + 0.1, 0.1)])
    [even] = hear(sound, [512], text)
    [late] = hear(sound, [burst], text)
    assert ends([late]) == ends([even])


def test_a_text_that_comes_after_the_voice_is_back_is_not_believed() -> None:
    async def listen() -> list[str | None]:
        config = Config()
        ear = Ear(FakeVad().session(), FakeVad.frame_samples, config.vad, config.endpointing)
        [utterance] = ear.hear(np.concatenate([voice(0.5), silence(0.3)]))
        endings: list[str | None] = []
        heard = utterance.samples
        utterance.expect_text()
        ear.hear(np.concatenate([voice(0.5), silence(0.4)]))
        for samples in (heard, utterance.samples):
            utterance.read_text(FINISHED, samples)
            endings.append(utterance.ending)
        return endings

    assert anyio.run(listen) == [None, "silence"]


def test_an_end_by_length_teaches_nothing_about_pauses() -> None:
    async def listen() -> list[Utterance]:
        config = Config(endpointing={"max_utterance_seconds": 2})
        ear = Ear(FakeVad().session(), FakeVad.frame_samples, config.vad, config.endpointing)
        return ear.hear(np.concatenate([voice(16.8), silence(2)]))

    *_, last = anyio.run(listen)
    assert last.ending == "silence"
    assert last.endpoint_samples - last.voiced_samples < 16 * 700
