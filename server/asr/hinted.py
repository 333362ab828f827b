"""A recogniser beside which somebody listens to the sound of a voice: whether it has finished."""

import numpy as np
import structlog
from anyio import create_task_group

from server.audio import Samples, samples_in
from server.errors import OmoideError
from server.failures import log_fault
from server.ports import Asr, Speech, TurnEndHint
from server.turn import Transcript

log = structlog.get_logger(__name__)


class HintedAsr:
    """Implements `ports.Asr` by another one. A hint that fails or comes late changes nothing."""

    def __init__(self, asr: Asr, hint: TurnEndHint, pause_ms: float) -> None:
        """Put a listener beside a recogniser.

        Args:
            asr: Recognises.
            hint: Is asked once in every pause.
            pause_ms: How long a pause has to be.
        """
        self._asr = asr
        self._hint = hint
        self._pause = samples_in(pause_ms)
        self.name = f"{asr.name}, {hint.name}"

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        """Turn an utterance into text; see `ports.Asr`."""
        failure: Exception | None = None
        async with create_task_group() as beside:
            beside.start_soon(self._listen, speech)
            try:
                transcript = await self._asr.transcribe(speech, language)
            except Exception as error:  # out of the group it would come wrapped
                failure = error
            beside.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return transcript

    async def warm_up(self) -> None:
        """Load both models."""
        await self._asr.warm_up()
        await self._hint.warm_up()

    async def aclose(self) -> None:
        """Let go of both models."""
        await self._hint.aclose()
        await self._asr.aclose()

    async def _listen(self, speech: Speech) -> None:
        heard: list[Samples] = []
        is_asked = False
        try:
            async for chunk in speech.chunks():
                heard.append(chunk.samples)
                is_pause = chunk.silence_samples >= self._pause
                if is_pause and not is_asked:
                    sound = np.concatenate(heard)
                    speech.take_hint(await self._hint.probability(sound), len(sound))
                is_asked = is_pause
        except OmoideError as error:
            log.warning("turn-end-hint-failed", code=error.code, reason=str(error))
        except Exception as error:
            log_fault("turn-end-hint-fault", error)
