"""English speech by Piper, in a process of its own that is kept between sentences and started again if it dies."""

import importlib.util
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import structlog
from anyio import Semaphore, current_time, fail_after, to_thread

from server.audio import Audio
from server.config import TtsSection
from server.errors import EngineMissing, TtsError
from server.ports import Voice
from server.trace import stage
from server.tts.piper_process import CHILD, PiperGone, PiperProcess, start_piper
from server.turn import Stage
from server.weights import PIPER_JOE, find_packaged, obtain

log = structlog.get_logger(__name__)

_START_SECONDS = 60.0
_SLOWEST, _FASTEST = 0.25, 4.0


class Piper:
    """The English voice, or any other voice made for Piper. Sentences of several devices wait for each other."""

    def __init__(self, config: TtsSection, data: Path, child: Path = CHILD) -> None:
        """Remember the settings. No process is started yet.

        Args:
            config: `piper_voice` is the ``.onnx`` file of a voice, with its ``.onnx.json`` beside it; empty for the
                packaged one.
            data: Where the record of checked model files is kept.
            child: The script that runs in the process.
        """
        self._child = child
        self._config = config
        self._data = data
        self._turn = Semaphore(1)
        self._process: PiperProcess | None = None
        self._is_closed = False
        self.name = f"piper {Path(config.piper_voice).stem or 'joe'}"

    def language(self) -> str | None:
        """Return the two-letter code that the voice speaks; None if Piper or the voice is not installed."""
        if importlib.util.find_spec("piper") is None:
            return None
        try:
            described = Path(f"{self._find_voice()}.json").read_text(encoding="utf-8")
            return str(json.loads(described)["language"]["family"])
        except (EngineMissing, OSError, ValueError, KeyError, TypeError):
            return None

    async def synthesize(self, text: str, voice: Voice) -> AsyncGenerator[Audio, None]:
        """Speak one sentence; see `ports.Tts`. If the process dies over it, the next sentence gets a new one."""
        deadline = current_time() + self._config.first_audio_seconds
        speed = min(max(voice.speed, _SLOWEST), _FASTEST)
        for piece in await self._speak(text, speed, deadline):
            yield piece

    async def warm_up(self) -> None:
        """Start the process, wait for its voice, and speak a word."""
        await self._speak("Hello.", 1.0, current_time() + _START_SECONDS)

    async def aclose(self) -> None:
        """End the process. A sentence that is being spoken ends with an error."""
        self._is_closed = True
        if self._process is not None:
            await self._process.aclose()

    async def _speak(self, text: str, speed: float, deadline: float) -> list[Audio]:
        try:
            with fail_after(max(0.0, deadline - current_time())), stage(Stage.TTS_QUEUE):
                await self._turn.acquire()
        except TimeoutError as error:
            raise self._too_slow() from error
        try:
            return await self._speak_alone(text, speed, deadline)
        finally:
            self._turn.release()

    async def _speak_alone(self, text: str, speed: float, deadline: float) -> list[Audio]:
        try:
            with fail_after(max(0.0, deadline - current_time())):
                process = await self._running()
                with stage(Stage.TTS_QUEUE):
                    await process.catch_up()
                pieces = await process.speak(text, speed)
        except TimeoutError as error:
            await self._drop_process()
            raise self._too_slow() from error
        except (PiperGone, EngineMissing):
            await self._drop_process()
            raise
        if not pieces:
            raise TtsError("tts-empty", "Piper finds nothing to say in a sentence.")
        return pieces

    async def _running(self) -> PiperProcess:
        if self._is_closed:
            raise TtsError("tts-failed", "The English voice has been closed.")
        if self._process is not None and not self._process.is_alive:
            await self._drop_process()
        if self._process is None or not self._process.is_ready:
            with stage(Stage.TTS_LOAD):
                if self._process is None:
                    self._process = await start_piper(
                        await to_thread.run_sync(self._checked_voice), self._child
                    )
                await self._process.wait_until_ready()
        return self._process

    async def _drop_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            log.warning("piper-restart", voice=self.name)
            await process.aclose()

    def _checked_voice(self) -> Path:
        if not self._config.piper_voice:
            obtain(PIPER_JOE, self._data)
        return self._find_voice()

    def _find_voice(self) -> Path:
        if not self._config.piper_voice:
            return find_packaged(PIPER_JOE.files[0].parts[0], PIPER_JOE.install)
        path = Path(self._config.piper_voice).expanduser()
        if not path.is_file() or not Path(f"{path}.json").is_file():
            raise EngineMissing(
                f"tts.piper_voice: {path} or {path}.json is missing. Put both files of the voice there, or leave the setting "
                "empty for the packaged voice."
            )
        return path

    def _too_slow(self) -> TtsError:
        return TtsError(
            "tts-timeout",
            f"The English voice took more than {self._config.first_audio_seconds:g} s for a sentence "
            "(tts.first_audio_seconds).",
        )
