"""Speaking: from sentences to sound at the rate of the device, in the voice of the language that they are in."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import anyio
import structlog

from server.audio import Audio, Resampler, Samples
from server.config import TtsSection
from server.errors import OmoideError, TtsError
from server.failures import log_fault
from server.languages import spoken_language
from server.ports import Tts, Voice
from server.sentences import Sentence
from server.spoken import Length
from server.trace import mark
from server.turn import Happening

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
    length: Length | None = None
    """Of the whole sentence, growing while the voice speaks; None if there is no more of it than is played."""


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
    length = Length()
    async with aclosing(sound):
        async for piece in sound:
            resampler = resampler or Resampler(piece.rate, rate)
            samples = resampler.push(piece.samples)
            if len(samples):
                length.samples += len(samples)
                yield Part(samples, first, length=length)
                first = None
    tail = None if resampler is None else resampler.flush()
    length.samples += 0 if tail is None else len(tail)
    length.is_whole = True
    if tail is not None and len(tail):
        yield Part(tail, first, length=length)
        first = None
    if first is not None:
        raise TtsError("tts-silent", "The voice gave no sound for a sentence.")


def part_of(audio: Audio, text: str, rate: int, *, filler: bool = False) -> Part:
    """Make a part of a sound that exists already, such as a prepared phrase."""
    return Part(audio.at(rate).samples, Sentence(text, text, None), filler=filler)
