"""A house whose memory is real and whose model reads what it is shown; and the talk of two hundred turns that is held in it."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from firmware_bridge.events import SpeechStopped, TextSaid
from server.concern import ConcernLine
from server.config import Config
from server.forgetting import Forgetting
from server.forgetting_by_voice import VoiceForgetting
from server.heeding import Heeding
from server.memory import Memory
from server.memory.day_summaries import ModelSummarizer
from server.memory.extract import ModelExtractor
from server.memory.opening import open_memory
from server.ports import Embedder
from server.prompting import PromptFiles
from server.quoting import (
    MOST_DAYS_TOKENS,
    MOST_MEMORY_TOKENS,
    MOST_PORTRAIT_TOKENS,
    MOST_STANDING_TOKENS,
    estimate_tokens,
)
from server.recording import RecentTurns
from server.telling import VoiceTelling
from server.trace import Turns
from server.turn import Prompt, Turn
from tests.fakes import PROMPTS, FakeDevice, FakeEmbedder, FakeHouse, FakeTts
from tests.memory.reading_model import ReadingModel
from tests.memory.remembering import HandClock
from tests.talks import make_house, talking, until, with_engines

TALK = Path(__file__).parents[1] / "data" / "talks" / "two_hundred_turns.yaml"
BUDGETS = {
    "standing_facts": MOST_STANDING_TOKENS,
    "retrieved_memory": MOST_MEMORY_TOKENS,
    "earlier_talk": MOST_MEMORY_TOKENS,
    "about_the_person": MOST_PORTRAIT_TOKENS,
    "recent_days": MOST_DAYS_TOKENS,
}
"""The blocks of memory in a prompt, and how many tokens each may have."""


@dataclass(frozen=True)
class Said:
    """One turn of the script."""

    text: str
    expects: str = ""
    """What memory has to bring into its prompt."""


@dataclass(frozen=True)
class Visit:
    """What one person says without a long pause."""

    person: str
    language: str
    at: datetime
    said: Sequence[Said]


@cache
def script() -> Sequence[Visit]:
    """Return the talk, in the order of time."""
    rows: list[dict[str, Any]] = yaml.safe_load(TALK.read_text(encoding="utf-8"))
    visits = [
        Visit(
            row["person"],
            row["language"],
            datetime.fromisoformat(row["at"]),
            [
                Said(one["said"], one["expects"]) if isinstance(one, dict) else Said(one)
                for one in row["said"]
            ],
        )
        for row in rows
    ]
    return tuple(sorted(visits, key=lambda visit: visit.at))


class Home:
    """A house whose memory is real, and whose model reads."""

    def __init__(
        self,
        memory: Memory,
        folder: Path,
        clock: HandClock,
        config: Config,
        model: ReadingModel,
    ) -> None:
        self.memory = memory
        self.clock = clock
        self.model = model
        self.batch = config.extraction.turns
        self.house: FakeHouse = with_engines(
            make_house(["はい。"], voice=FakeTts(0.01, 0.01)), llm=model
        )
        self.held: list[Turn] = []
        turns = Turns(clock, (memory, self), judge=memory.consenting.judge)
        self.house.house = replace(
            self.house.house,
            config=config,
            memory=memory,
            clock=clock,
            turns=turns,
        )
        self.heed_with(Forgetting(memory.archive, folder, RecentTurns(0), turns), turns)
        self.waiting: dict[str, int] = {}
        memory.diary.summarizer = ModelSummarizer(model, PromptFiles(PROMPTS))

    def heed_with(self, forgetting: Forgetting, turns: Turns) -> None:
        """Let wishes be granted by these."""
        memory, config, phrase = self.memory, self.house.house.config, self.house.phrasebook.text
        heeding = Heeding(
            memory.consenting,
            memory.safety,
            VoiceForgetting(forgetting, turns, self.clock.now),
            ConcernLine(
                memory.safety,
                config.safety,
                phrase,
                lambda language: self.model.traits(language).compact,
            ),
            VoiceTelling(memory.knowing, memory.consenting.withholds, phrase, self.clock.now),
            phrase,
        )
        self.house.house = replace(self.house.house, turns=turns, heeding=heeding)

    def turn_finished(self, turn: Turn) -> None:
        self.held.append(turn)

    async def visit(self, visit: Visit) -> list[Turn]:
        """Hold the talk of one visit; facts are drawn and days summarized when a server would do so."""
        self.clock.moment = max(self.clock.moment, visit.at)
        await self.end_days()
        device = FakeDevice(person=visit.person)
        device.language = visit.language
        before = len(self.held)
        async with talking(self.house, device):
            for number, said in enumerate(visit.said, start=1):
                device.put(TextSaid(said.text))
                await until(lambda n=before + number: len(self.held) == n)  # type: ignore[misc]
                self.clock.pass_time(seconds=30)
                await self._draw_after_enough_turns(visit.person)
        assert len(device.times(SpeechStopped)) == len(visit.said)
        self.clock.pass_time(minutes=10)
        self.waiting.clear()
        await self.memory.keep_up()  # after silence
        return self.held[before:]

    async def _draw_after_enough_turns(self, person: str) -> None:
        self.waiting[person] = self.waiting.get(person, 0) + 1
        if self.waiting[person] == self.batch:
            self.waiting[person] = 0
            await self.memory.extract(person)

    async def end_days(self) -> None:
        """Summarize the days that are over."""
        await self.memory.diary.keep_up()


@asynccontextmanager
async def home(
    folder: Path, embedder: Embedder | None = None, clock: HandClock | None = None, **sections: Any
) -> AsyncIterator[Home]:
    config = Config.model_validate({"server": {"timezone": "Asia/Tokyo"}, **sections})
    model, clock = ReadingModel(), clock or HandClock(script()[0].at)
    memory = open_memory(
        config,
        folder,
        embedder or FakeEmbedder(),
        ModelExtractor(model, PromptFiles(PROMPTS)),
        clock,
    )
    try:
        yield Home(memory, folder, clock, config, model)
    finally:
        memory.close()


def blocks(prompt: Prompt) -> dict[str, str]:
    """Return the blocks of memory in a prompt, tags included."""
    whole = "\n".join((prompt.system, *(message.content for message in prompt.messages)))
    found = {tag: re.search(rf"<{tag}>\n.*?</{tag}>", whole, re.S) for tag in BUDGETS}
    return {tag: match[0] for tag, match in found.items() if match}


def memory_tokens(prompt: Prompt) -> int:
    return sum(map(estimate_tokens, blocks(prompt).values()))
