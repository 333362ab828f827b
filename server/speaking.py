"""Speaking: from sentences to frames on the device, paced so that its queue is neither empty nor full."""

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
import numpy as np
import structlog

from firmware_bridge.events import (
    PlayAudio,
    SentenceStarted,
    ShowEmotion,
    SpeechStarted,
    SpeechStopped,
)
from server.ahead import Ahead
from server.audio import Audio, Resampler, Samples, to_pcm
from server.body import Emotion, emoji_for, face_for
from server.config import PacingSection, TtsSection
from server.errors import OmoideError, TtsError
from server.failures import log_fault
from server.languages import LATIN_WORD, spoken_language
from server.ports import Device, Tts, Voice
from server.sentences import Sentence
from server.trace import add_stage, mark
from server.turn import Happening, Stage

log = structlog.get_logger(__name__)

LONGEST_SENTENCE_SECONDS = 120.0
"""A voice that speaks so long on one sentence will not stop by itself."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of sound on its way to the device."""

    samples: Samples
    """At the device's rate."""
    sentence: Sentence | None = None
    """The sentence that begins with this piece; None in the middle of one."""
    filler: bool = False
    """A phrase that fills a silence: not part of the reply."""


class VoiceStalled(TtsError):  # noqa: N818 - it names a state
    """The voice engine hangs: there is no use in giving it the next sentence."""


async def pronounce(
    tts: Tts, text: str, voice: Voice, patience: TtsSection
) -> AsyncGenerator[Audio, None]:
    """Speak one text, without waiting for ever for an engine that hangs, and without listening for ever to one that raves.

    The engines watch over their first sound themselves, and can put things right when it does not come; so they are
    given a little longer here.

    Raises:
        TtsError: As `Tts.synthesize`, or the engine has a fault.
        VoiceStalled: Nothing came for too long, or there was no end of it.
    """
    try:
        async with aclosing(_within_patience(tts, text, voice, patience)) as pieces:
            async for piece in pieces:
                yield piece
    except OmoideError:
        raise
    except Exception as error:
        log_fault("voice-fault", error)
        kind = type(error).__name__
        raise TtsError("tts-failed", f"The voice engine has a fault ({kind}).") from error


async def _within_patience(
    tts: Tts, text: str, voice: Voice, patience: TtsSection
) -> AsyncGenerator[Audio, None]:
    seconds = patience.first_audio_seconds + patience.stall_seconds
    spoken_seconds = 0.0
    async with aclosing(tts.synthesize(text, voice)) as pieces:
        while spoken_seconds <= LONGEST_SENTENCE_SECONDS:
            with anyio.move_on_after(seconds) as wait:
                piece = await anext(pieces, None)
            if wait.cancelled_caught:
                raise VoiceStalled(
                    "tts-stalled", f"The voice engine gave no more sound for {seconds:g} s."
                )
            if piece is None:
                return
            spoken_seconds += piece.seconds
            if spoken_seconds <= LONGEST_SENTENCE_SECONDS:
                yield piece
            seconds = patience.stall_seconds
    raise VoiceStalled(
        "tts-endless", f"The voice engine spoke more than {LONGEST_SENTENCE_SECONDS:g} s at once."
    )


async def synthesize(
    sentences: AsyncGenerator[Sentence, None],
    tts: Tts,
    voice: Voice,
    rate: int,
    patience: TtsSection,
) -> AsyncGenerator[Part, None]:
    """Speak sentence by sentence, at the device's rate.

    A sentence that can't be spoken does not end the reply: the others are spoken, and the error is raised after them.
    An engine that hangs does end it.

    Raises:
        TtsError: At the end, if a sentence could not be spoken.
        VoiceStalled: As `pronounce`, after all that came before it.
        OmoideError: What `sentences` raises, after all that came before it.
    """
    failure: OmoideError | None = None
    async with aclosing(sentences):
        async for sentence in sentences:
            mark(Happening.SENTENCE)
            spoken = Voice(
                spoken_language(sentence.spoken, voice.language), voice.name, voice.speed
            )
            try:
                sound = pronounce(tts, sentence.spoken, spoken, patience)
                async with aclosing(_speak(sentence, sound, rate)) as parts:
                    async for part in parts:
                        yield part
            except VoiceStalled:
                raise
            except OmoideError as error:
                log.warning("sentence-not-spoken", code=error.code)
                failure = failure or error
            except Exception as error:
                log_fault("voice-fault", error)
                kind = type(error).__name__
                failure = failure or TtsError(
                    "tts-failed", f"The voice engine has a fault ({kind})."
                )
    if failure is not None:
        raise failure


async def _speak(
    sentence: Sentence, sound: AsyncGenerator[Audio, None], rate: int
) -> AsyncGenerator[Part, None]:
    resampler: Resampler | None = None
    first: Sentence | None = sentence
    async with aclosing(sound):
        async for piece in sound:
            resampler = resampler or Resampler(piece.rate, rate)
            samples = resampler.push(piece.samples)
            if len(samples):
                yield Part(samples, first)
                first = None
    if resampler is not None and len(tail := resampler.flush()):
        yield Part(tail, first)
        first = None
    if first is not None:
        raise TtsError("tts-silent", "The voice gave no sound for a sentence.")


def part_of(audio: Audio, text: str, rate: int, *, filler: bool = False) -> Part:
    """Make a part of a sound that exists already, such as a prepared phrase."""
    return Part(audio.at(rate).samples, Sentence(text, text, None), filler=filler)


@dataclass(slots=True)
class _Spoken:
    """A sentence on the device's clock."""

    text: str
    starts_at: float
    seconds: float = 0.0
    """Length as far as it is known: grows with every piece that the engine delivers."""

    def played(self, now: float) -> str:
        """Return what has been played at `now`, cut between words where there are any."""
        elapsed = now - self.starts_at
        if elapsed >= self.seconds:
            return self.text
        cut = self.text[: int(len(self.text) * max(0.0, elapsed) / self.seconds)]
        inside_word = LATIN_WORD.match(self.text[max(0, len(cut) - 1) : len(cut) + 1])
        return cut.rsplit(" ", 1)[0] if inside_word and " " in cut else cut


@dataclass(slots=True)
class Playback:
    """One reply on its way to one device: what was sent, when it will have been played, what was heard.

    `play` parts, then `finish`; or `stop` at any moment. Frames are handed over at most `lead_ms` before their time.
    Somebody else may `fill` the silence before the first part; a part that comes meanwhile waits.

    Attributes:
        active: Whether the device may be making a sound of this reply.
    """

    device: Device
    pacing: PacingSection
    keep_sound: bool = False
    """Whether to remember what was sent, for the recording."""
    active: bool = False
    stopped: bool = False
    first_frame_at: float | None = None
    """When the first frame of the reply (a filler is none) was handed over, on the clock of `anyio.current_time`."""
    _opened_at: float = 0.0
    _ends_at: float = 0.0
    _quiet_at: float = -math.inf
    _rest: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    _spoken: list[_Spoken] = field(default_factory=list)
    _counts: bool = True
    _sent: list[Samples] = field(default_factory=list)
    _one_at_a_time: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))

    async def play(self, part: Part) -> None:
        """Send a part, frame by frame; returns when its last frame has been handed over."""
        async with self._one_at_a_time:
            await self._play(part)

    async def fill(self, filler: Part) -> None:
        """Send a phrase, unless the device is already making a sound, or is to be silent."""
        async with self._one_at_a_time:
            if self.active or self.stopped:
                return
            mark(Happening.FILLER)
            await self._play(filler)
            await self.pause()

    async def _play(self, part: Part) -> None:
        if self.stopped:
            return
        self._open(part)
        if self._counts and self._spoken:
            self._spoken[-1].seconds += len(part.samples) / self.device.playback_rate
        frame = self.device.frame_samples
        samples = np.concatenate([self._rest, part.samples])
        whole = len(samples) // frame * frame
        self._rest = samples[whole:]
        for start in range(0, whole, frame):
            await self._send_frame(samples[start : start + frame])

    async def pause(self) -> None:
        """Send what is left of the last frame: nothing follows for a while."""
        if len(self._rest):
            frame = np.zeros(self.device.frame_samples, np.int16)
            frame[: len(self._rest)] = self._rest
            self._rest = self._rest[:0]
            await self._send_frame(frame)

    async def finish(self) -> None:
        """Wait until the last frame has been played, then tell the device that the reply is over."""
        if not self.active:
            return
        async with self._one_at_a_time:
            await self.pause()
        wait = self._ends_at - anyio.current_time() + self.pacing.tail_ms / 1000
        await anyio.sleep(max(0.0, wait))
        self._close(interrupted=False)

    def stop(self) -> None:
        """Fall silent at once. Only the first of `finish` and `stop` tells the device, and only if it was speaking."""
        self.stopped = True
        if self.active:
            self.device.drop_audio()
            self._cut_off()
            self._close(interrupted=True)

    def quiet_for(self) -> float:
        """Return the seconds since the device was audible; negative while it is, infinite if it never was."""
        if self.active:
            return -1.0
        return anyio.current_time() - self._quiet_at

    @property
    def started(self) -> bool:
        """Whether anything of the reply itself has been sent; a filler does not count."""
        return bool(self._spoken)

    def heard(self) -> list[str]:
        """Return the sentences as far as they have been played by now; the last may be cut short."""
        now = anyio.current_time()
        return [text for spoken in self._spoken if (text := spoken.played(now))]

    def sound(self) -> Audio:
        """Return what was sent, if `keep_sound` is on."""
        samples = np.concatenate(self._sent or [np.zeros(0, np.int16)])
        return Audio(samples, self.device.playback_rate)

    def seconds_left(self) -> float:
        """Return how long the device can play on with what it was given."""
        return max(0.0, self._ends_at - anyio.current_time())

    def _open(self, part: Part) -> None:
        if not self.active:
            self.active = True
            self._opened_at = self._ends_at = anyio.current_time()
            self.device.send(SpeechStarted())
            lead_in = self.device.playback_rate * self.pacing.lead_in_ms // 1000
            self._rest = np.zeros(lead_in, np.int16)
        if part.sentence is None:
            return
        self._show_emotion(part)
        self.device.send(SentenceStarted(part.sentence.text))
        self._counts = not part.filler
        if self._counts:
            begins = max(self._ends_at, anyio.current_time())
            self._spoken.append(_Spoken(part.sentence.text, begins))

    def _show_emotion(self, part: Part) -> None:
        assert part.sentence is not None
        emotion = part.sentence.emotion
        if emotion is None and not self.started and not part.filler:
            emotion = Emotion.NEUTRAL  # or the face of the reply before would stay
        if emotion is not None:
            face = face_for(emotion, self.device.profile)
            self.device.send(ShowEmotion(face, emoji_for(emotion)))

    async def _send_frame(self, frame: Samples) -> None:
        seconds = len(frame) / self.device.playback_rate
        self._ends_at = max(
            self._ends_at, anyio.current_time()
        )  # if it ran dry, it plays on from now
        too_early = self._ends_at + seconds - self.pacing.lead_ms / 1000 - anyio.current_time()
        if too_early > 0:
            await anyio.sleep(too_early)
        if self.stopped:
            return
        self._ends_at += seconds
        if self.first_frame_at is None and self._counts:
            self.first_frame_at = anyio.current_time()
        if self.keep_sound:
            self._sent.append(frame)
        self.device.send(PlayAudio(to_pcm(frame), self.device.playback_rate))

    def _cut_off(self) -> None:
        """Forget what will not be played any more."""
        self._rest = self._rest[:0]
        now = anyio.current_time()
        for spoken in self._spoken:
            spoken.text, spoken.seconds = spoken.played(now), 0.0
            spoken.starts_at = min(spoken.starts_at, now)  # it may still have been to come

    def _close(self, *, interrupted: bool) -> None:
        self.active = False
        self._quiet_at = anyio.current_time()
        add_stage(Stage.PLAYING, self._quiet_at - self._opened_at)
        self.device.send(SpeechStopped(interrupted))


async def play_all(parts: Ahead[Part], playback: Playback) -> None:
    """Play everything that comes.

    Raises:
        OmoideError: What the source of the parts raised, after all that came before it was handed over.
    """
    part = await parts.next()
    if part is None:
        return
    mark(Happening.PLAYBACK_START)
    while part is not None:
        await playback.play(part)
        part = await _next_part(parts, playback)


async def _next_part(parts: Ahead[Part], playback: Playback) -> Part | None:
    """Wait for the next part; if the device runs dry meanwhile, let it have the last incomplete frame."""
    with anyio.move_on_after(playback.seconds_left()):
        return await parts.next()
    await playback.pause()
    return await parts.next()
