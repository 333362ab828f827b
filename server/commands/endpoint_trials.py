"""How different ways to find the end of a turn do on one sound: ours, a plain silence, and what a recogniser tells meanwhile."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from server.asr.speed import Speed
from server.audio import LISTENING_RATE, Samples, samples_in
from server.commands.utterances import Label
from server.commands.voice import Spoken
from server.config import EndpointingSection, VadSection
from server.listening import Ear
from server.ports import Asr, Vad, VadSession
from server.turn import Transcript
from server.utterance import Utterance

_FRAME = 960
"""Robots send 60 ms at a time."""
LATE_SECONDS = 2.5
"""An end that comes later than that after the last voiced sample is missed: who waits so long speaks again."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of sound that was taken for an utterance, in samples; it had not ended if `end` is None."""

    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one utterance."""

    heard: bool
    cut: bool
    """It was ended before its last voiced sample."""
    delay_ms: float | None
    """From the last voiced sample to the end; None if it came too late, or not at all."""
    others: int
    """Utterances that have nothing of the speaker in them."""


def judge(spans: Sequence[Span], label: Label) -> Verdict:
    """Compare what was found with what is true."""
    last = label.last_voiced
    own = [span for span in spans if span.start < last and (span.end or last) > label.first_voiced]
    ends = [span.end for span in own if span.end is not None]
    after = [end for end in ends if end >= last]
    delay = (after[0] - last) / LISTENING_RATE if after else None
    return Verdict(
        bool(own),
        any(end < last for end in ends),
        round(delay * 1000, 1) if delay is not None and delay <= LATE_SECONDS else None,
        len(spans) - len(own),
    )


def plain_spans(
    sound: Samples, session: VadSession, frame: int, vad: VadSection, silence_ms: float
) -> list[Span]:
    """Find utterances as it is done everywhere: by a fixed silence behind a detector.

    Args:
        sound: What is heard.
        session: The detector.
        frame: How much it takes.
        vad: Thresholds.
        silence_ms: That much ends an utterance.
    """
    least, silence = 1536, samples_in(silence_ms)
    spans: list[Span] = []
    start, evidence, quiet = None, 0, 0
    for at in range(0, len(sound) - frame + 1, frame):
        probability = session.speech_probability(sound[at : at + frame])
        voiced = probability >= vad.speech_threshold
        if start is None:
            evidence = max(0, evidence + (frame if voiced else -frame))
            if voiced and evidence >= least:
                start, evidence, quiet = at + frame - least, 0, 0
            continue
        quiet = 0 if voiced else quiet + frame * (probability < vad.silence_threshold)
        if quiet >= silence:
            spans.append(Span(start, at + frame))
            start = None
    return spans if start is None else [*spans, Span(start, None)]


@dataclass(frozen=True, slots=True)
class Text:
    """What a recogniser made of a piece of sound, and how long it took."""

    transcript: Transcript
    seconds: float


Read = Callable[[Samples, int], Awaitable[Text]]
"""Recognises the sound, which begins at that sample."""


class Reader:
    """A recogniser that is asked the same only once, for several trials on one sound. Measures how long it takes."""

    def __init__(self, asr: Asr) -> None:
        self._asr = asr
        self._known: dict[tuple[int, int], Text] = {}
        self.asked = 0

    def next_sound(self) -> None:
        """Begin with another sound."""
        self._known.clear()

    async def read(self, sound: Samples, start: int) -> Text:
        """Return the text of a sound that begins at a sample of the whole."""
        key = (start, len(sound))
        if key not in self._known:
            began = time.monotonic()
            transcript = await self._asr.transcribe(Spoken(sound), None)
            self._known[key] = Text(transcript, time.monotonic() - began)
            self.asked += 1
        return self._known[key]


@dataclass(slots=True)
class _Asked:
    """A text that is on its way."""

    utterance: Utterance
    samples: int
    text: Text
    there_at: float


@dataclass(slots=True)
class Trial:
    """Our endpointing on one sound after the other, with a recogniser that works beside it in the time of the sound.

    Attributes:
        instant: Whether its texts are there at once: then the time of a decision is that of the rule alone.
    """

    vad: Vad
    vad_section: VadSection
    endpointing: EndpointingSection
    early_start_ms: float
    read: Read | None = None
    instant: bool = False
    speed: Speed = field(default_factory=Speed)
    heard: list[str] = field(default_factory=list)
    """What the recogniser made of the pauses of the last sound."""
    texts: int = 0
    waited_for: int = 0

    async def spans(self, sound: Samples) -> list[Span]:
        """Find the utterances in a sound."""
        ear = Ear(self.vad.session(), self.vad.frame_samples, self.vad_section, self.endpointing)
        begun: list[tuple[int, Utterance]] = []
        self.heard.clear()
        asked: _Asked | None = None
        free_at = 0.0
        for at in range(0, len(sound), _FRAME):
            now = min(at + _FRAME, len(sound))
            for utterance in ear.hear(sound[at:now]):
                begun.append((now - utterance.samples, utterance))  # noqa: PERF401 - read meanwhile
            open_ = ear.utterance
            if asked is not None and (open_ is not asked.utterance or not open_.silence_samples):
                asked = None
            if asked is None and self.read is not None and open_ is not None:
                asked = await self._ask(open_, begun[-1][0], now, free_at)
                free_at = asked.there_at if asked else free_at
            if asked is not None and asked.there_at <= now:
                asked.utterance.read_text(asked.text.transcript, asked.samples)
                asked.there_at = np.inf
        return [Span(start, _end(start, one)) for start, one in begun]

    async def _ask(
        self, utterance: Utterance, start: int, now: int, free_at: float
    ) -> _Asked | None:
        if utterance.silence_samples < self.early_start_ms * LISTENING_RATE / 1000:
            return None
        assert self.read is not None
        if waits := self.instant or self.speed.keeps_up:
            utterance.expect_text()
        text = await self.read(utterance.sound().samples, start)
        self.texts += 1
        self.heard.append(text.transcript.text)
        self.waited_for += waits
        if self.instant:
            return _Asked(utterance, utterance.samples, text, now)
        there_at = max(now, free_at) + text.seconds * LISTENING_RATE
        self.speed.took((there_at - now) / LISTENING_RATE, utterance.samples / LISTENING_RATE)
        return _Asked(utterance, utterance.samples, text, there_at)


def _end(start: int, utterance: Utterance) -> int | None:
    return None if utterance.ending is None else start + utterance.samples
