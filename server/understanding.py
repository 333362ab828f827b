"""Understanding: from an utterance, or a typed text, to the transcript of the turn, whatever the recogniser does."""

import re
from dataclasses import replace

import anyio
import structlog

from firmware_bridge.events import TextSaid
from firmware_bridge.wake_words import WAKE_WORDS
from server.audio import LISTENING_RATE
from server.config import Config
from server.errors import AsrError, OmoideError
from server.failures import log_fault
from server.languages import written_language
from server.parroting import repeats
from server.plausibility import is_hesitation, is_implausible
from server.ports import Asr, Device
from server.query import is_noise, tidy, without_wake_word
from server.trace import add_stage, mark
from server.turn import Happening, Stage, Transcript
from server.utterance import Utterance

log = structlog.get_logger(__name__)

_LANGUAGE = re.compile("[a-z]{2}")


async def understand(
    said: Utterance | TextSaid,
    device: Device,
    asr: Asr,
    config: Config,
    talked: str = "",
) -> Transcript:
    """Return what was said; empty if it was nothing.

    The recogniser starts with the first voice: without one (a button that was held in silence) it is not asked at all.

    Args:
        said: The utterance, perhaps still growing, or a ready text.
        device: Where it was said.
        asr: The recogniser.
        config: Patience, lengths and languages.
        talked: The language of the talk so far, if there is one.

    Raises:
        OmoideError: Speech could not be recognised in time, or at all. Nothing else, whatever the recogniser raises.
    """
    language = device.language or config.persona.language
    most_chars = config.limits.text_chars
    names = (*WAKE_WORDS, *config.server.wake_words)
    if isinstance(said, TextSaid):
        text = without_wake_word(_tidy(said.text, most_chars, device), names)
        return Transcript(text, written_language(text, language, talked))
    patience = anyio.CancelScope()
    try:
        with patience:
            said.expire(patience, config.asr.timeout_seconds)
            if await said.has_voice():
                transcript = await asr.transcribe(said, device.language)
                _note_times(said)
                text = _tidy(transcript.text, most_chars, device)
                checked = _checked(replace(transcript, text=text), language, asr.name, said)
                if _is_echo(checked, said, device, config):
                    return Transcript("", checked.language)
                return replace(checked, text=without_wake_word(checked.text, names))
    except OmoideError:
        raise
    except Exception as error:
        log_fault("asr-fault", error, device=device.id)
        raise AsrError("asr-failed", "A fault in the program ended speech recognition.") from error
    if said.is_none:
        return Transcript("", language)
    raise AsrError(
        "asr-timeout",
        f"Speech recognition took more than {config.asr.timeout_seconds:g} s (asr.timeout_seconds).",
    )


def _is_echo(heard: Transcript, said: Utterance, device: Device, config: Config) -> bool:
    """Whether it was the robot itself that was heard, as the echo guard had not learnt its echo yet."""
    playing = device.said_between(said.started_at, said.voice_ended_at)
    is_echo = config.echo.enabled and repeats(
        heard.text, playing, heard.language, config.echo.text_likeness
    )
    if is_echo:
        log.info("echo-dropped", device=device.id)
    return is_echo


def _note_times(said: Utterance) -> None:
    add_stage(Stage.LISTENING, max(0.0, said.voice_ended_at - said.started_at))
    add_stage(Stage.ENDPOINT, said.ended_at - said.voice_ended_at)
    mark(Happening.LISTENING_END, at=said.ended_at)
    mark(Happening.ASR_END)


def _tidy(text: str, most_chars: int, device: Device) -> str:
    """Tidy what was said, and tell the house if its beginning is lost."""
    if len(text) > most_chars:
        log.warning("text-cut", device=device.id, chars=len(text), hint="limits.text_chars")
    return tidy(text, most_chars)


def _checked(heard: Transcript, language: str, recogniser: str, said: Utterance) -> Transcript:
    """Return a transcript that the rest of the turn can rely on; the language becomes part of the names of files."""
    known = _LANGUAGE.fullmatch(heard.language or "")
    voiced = said.voiced_samples / LISTENING_RATE
    seconds = (said.samples - said.silence_samples) / LISTENING_RATE
    is_none = (
        is_noise(heard.text)
        or is_implausible(heard, recogniser, voiced, seconds)
        or is_hesitation(heard.text)
    )
    if is_none and heard:
        log.info("no-words-heard", chars=len(heard.text), seconds=round(seconds, 2))
    return replace(
        heard,
        text="" if is_none else heard.text,
        language=heard.language if known else language,
    )
