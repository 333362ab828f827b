"""Engines that do on cue what an interruption is tried on: wait, write, speak, hang. No model, and always the same."""

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio
import numpy as np

from server.audio import LISTENING_RATE, Audio
from server.errors import LlmError
from server.ports import LlmEvent, LlmTraits, Speech, TextDelta, Voice
from server.turn import Prompt, Transcript

SECONDS_PER_SIGN: Final = 0.1
"""How long the scripted voice speaks on one sign."""
FILLER_HZ, OLD_HZ, NEW_HZ = 220.0, 440.0, 880.0
"""Pitch of what fills a silence, of what else may be interrupted, and of what is said afterwards."""
QUESTION: Final = "話題"
INTERRUPTION: Final = "そうじゃなくて別の話"
ANSWER: Final = "はい。"
LATE: Final = "遅"
"""A sentence with this sign takes its time to be spoken."""
LONG_SECONDS: Final = 4.0
_RATE = 24_000
_FILLER = "ええと"
"""How the phrase begins that fills a silence."""
_CUE = re.compile(rf"{QUESTION} ([a-z-]+) (\d+)")
_LINES: Final = {
    "first-sentence": LATE * 20 + "。",
    "stalled": "あ" * 10 + "。",
    "last-frame": "あ" * 15 + "。",
}
_USUAL: Final = "あ" * 60 + "。"


def question(stage: str, trial: int) -> str:
    """Return what is asked so that the engines come to a stage."""
    return f"{QUESTION} {stage} {trial}"


def old_line(stage: str) -> str:
    """Return the sentence that is interrupted at a stage."""
    return _LINES.get(stage, _USUAL)


@dataclass(slots=True)
class Cues:
    """Tells when an engine has come to the stage of a trial."""

    _reached: defaultdict[str, anyio.Event] = field(
        default_factory=lambda: defaultdict(anyio.Event)
    )

    def reach(self, asked: str) -> None:
        """Note that an engine is there."""
        self._reached[asked].set()

    async def wait(self, asked: str) -> None:
        """Wait until one is."""
        await self._reached[asked].wait()


class _Engine:
    name = "scripted"

    def __init__(self, cues: Cues) -> None:
        self.cues = cues

    async def warm_up(self) -> None:
        """Nothing needs to be loaded."""

    async def aclose(self) -> None:
        """Nothing is held."""


class ScriptedAsr(_Engine):
    """Hears in a long sound the question of the stage ``recognition``, slowly, and in a short one the interruption."""

    def __init__(self, cues: Cues) -> None:
        super().__init__(cues)
        self.trial = 0

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        """Understand by the length; see `ports.Asr`."""
        samples = sum([len(chunk.samples) async for chunk in speech.chunks()])
        if samples / LISTENING_RATE < LONG_SECONDS:
            await anyio.sleep(0.3)
            return Transcript(INTERRUPTION, "ja")
        asked = question("recognition", self.trial)
        self.cues.reach(asked)
        await anyio.sleep(1.5)
        return Transcript(asked, "ja")


class ScriptedLlm(_Engine):
    """Answers as the stage wants it that is named last; whatever else was said it answers at once."""

    def traits(self, language: str) -> LlmTraits:
        """Say that it can be asked anything; see `ports.Llm`."""
        return LlmTraits(compact=False, prompt_budget_tokens=3000, local=False)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        """Play the script of the stage; see `ports.Llm`."""
        said = prompt.messages[-1].content if prompt.messages else ""
        cues = [
            *_CUE.finditer(said)
        ]  # memory may have brought up earlier ones in front of the question
        if not cues or said.rstrip().endswith(INTERRUPTION):
            yield TextDelta(ANSWER)
            return
        cue = cues[-1]
        stage = cue[1]
        self.cues.reach(cue[0])
        if stage in ("thinking", "filler"):
            await anyio.sleep(6)
        if stage == "apology":
            raise LlmError("llm-unreachable", "As the script has it.")
        yield TextDelta(old_line(stage))
        if stage == "stalled":
            await anyio.sleep(6)
            yield TextDelta(_USUAL)


class ScriptedTts(_Engine):
    """Speaks in tones: the answer to an interruption higher than all else."""

    def languages(self) -> Sequence[str]:
        """Speak everything."""
        return ("ja", "en", "zh")

    async def synthesize(self, text: str, voice: Voice) -> AsyncGenerator[Audio, None]:
        """Speak a sentence, late if it says so; see `ports.Tts`."""
        if LATE in text:
            await anyio.sleep(6)
        hertz = NEW_HZ if text == ANSWER else FILLER_HZ if text.startswith(_FILLER) else OLD_HZ
        times = np.arange(round(len(text) * SECONDS_PER_SIGN * _RATE)) / _RATE
        yield Audio((8000 * np.sin(2 * np.pi * hertz * times)).astype(np.int16), _RATE)
