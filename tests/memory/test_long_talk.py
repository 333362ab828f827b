"""A talk of two hundred turns in ten days: what it costs in calls of the model, and what of memory its prompts hold. In virtual time."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from anyio import to_thread

from firmware_bridge.events import SpeechStopped, TextSaid
from server.config import Config, EmbeddingSection
from server.embedding import build
from server.memory import Memory
from server.memory.day_summaries import ModelSummarizer
from server.memory.extract import ModelExtractor, RulesExtractor
from server.memory.opening import open_memory
from server.ports import Embedder
from server.prompting import PromptFiles
from server.quoting import (
    MOST_DAYS_TOKENS,
    MOST_MEMORY_TOKENS,
    MOST_PORTRAIT_TOKENS,
    MOST_STANDING_TOKENS,
    estimate_tokens,
    tokens_of,
)
from server.trace import Turns
from server.turn import Prompt, Turn
from tests.fakes import PROMPTS, FakeDevice, FakeEmbedder, FakeHouse, FakeTts
from tests.memory.reading_model import ReadingModel, Work
from tests.memory.remembering import HandClock, turn
from tests.talks import make_house, talking, until, with_engines
from tests.virtual_time import VIRTUAL_TIME, Backend

TALK = Path(__file__).parents[1] / "data" / "talks" / "two_hundred_turns.yaml"
BUDGETS = {
    "standing_facts": MOST_STANDING_TOKENS,
    "retrieved_memory": MOST_MEMORY_TOKENS,
    "earlier_talk": MOST_MEMORY_TOKENS,
    "about_the_person": MOST_PORTRAIT_TOKENS,
    "recent_days": MOST_DAYS_TOKENS,
}
"""The blocks of memory in a prompt, and how many tokens each may have."""


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


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


def script() -> list[Visit]:
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
    return sorted(visits, key=lambda visit: visit.at)


class Home:
    """A house whose memory is real, and whose model reads."""

    def __init__(
        self, memory: Memory, clock: HandClock, config: Config, model: ReadingModel
    ) -> None:
        self.memory = memory
        self.clock = clock
        self.model = model
        self.batch = config.extraction.turns
        self.house: FakeHouse = with_engines(
            make_house(["はい。"], voice=FakeTts(0.01, 0.01)), llm=model
        )
        self.held: list[Turn] = []
        turns = Turns(clock, (memory, self))
        self.house.house = replace(
            self.house.house, config=config, memory=memory, clock=clock, turns=turns
        )
        self.waiting: dict[str, int] = {}

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
        summarizer = ModelSummarizer(self.model, PromptFiles(PROMPTS))
        portrait = self.memory._store.portrait
        now = self.clock.now()
        for person, day in await to_thread.run_sync(portrait.days_without_summary, now):
            pages = [
                page for page in await self.memory.archive.pages(person) if page.at.date() == day
            ]
            summary = await summarizer.summarize(pages, [], [], now)
            await to_thread.run_sync(portrait.put_summary, summary)


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
        yield Home(memory, clock, config, model)
    finally:
        memory.close()


def blocks(prompt: Prompt) -> dict[str, str]:
    """Return the blocks of memory in a prompt, tags included."""
    whole = "\n".join((prompt.system, *(message.content for message in prompt.messages)))
    found = {tag: re.search(rf"<{tag}>\n.*?</{tag}>", whole, re.S) for tag in BUDGETS}
    return {tag: match[0] for tag, match in found.items() if match}


def memory_tokens(prompt: Prompt) -> int:
    return sum(map(estimate_tokens, blocks(prompt).values()))


ENGINES = ["fake", pytest.param("use", marks=[pytest.mark.model, pytest.mark.slow])]


def embedder_of(engine: str) -> Embedder:
    return FakeEmbedder() if engine == "fake" else build(EmbeddingSection(engine="use"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ENGINES)
async def test_two_hundred_turns_cost_one_call_each_and_few_behind_them(
    engine: str, tmp_path: Path
) -> None:
    """A day of one person has about twelve turns here: the fewer there are, the more it costs to sum it up."""
    async with home(tmp_path, embedder_of(engine)) as lived_in:
        model = lived_in.model
        for visit in script():
            held = await lived_in.visit(visit)
            assert [each.transcript.text for each in held if each.transcript] == [
                said.text for said in visit.said
            ]
            assert not any(each.error for each in held)
        lived_in.clock.pass_time(days=1)
        await lived_in.end_days()
    assert model.asked(Work.REPLY) == 200
    calls = {work: model.asked(work) for work in Work if work is not Work.REPLY}
    assert all(calls.values()), "each kind of work was done"
    assert sum(calls.values()) / 200 <= 0.3, calls


async def test_two_hundred_turns_in_two_sittings_cost_a_call_for_every_five(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        for person in ("hana", "tom"):
            visits = [visit for visit in script() if visit.person == person]
            said = [said for visit in visits for said in visit.said]
            await lived_in.visit(replace(visits[0], said=said))
        lived_in.clock.pass_time(days=1)
        await lived_in.end_days()
    model = lived_in.model
    assert model.asked(Work.REPLY) == 200
    assert model.asked(Work.EXTRACT) == 25
    assert model.asked(Work.EXTRACT, Work.PORTRAIT, Work.DAY) <= 40


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_memory_keeps_to_its_budget_at_turn_ten_and_at_turn_two_thousand(
    tmp_path: Path,
) -> None:
    visits = script()
    async with home(tmp_path) as lived_in:
        await lived_in.visit(visits[0])
        early = lived_in.model.prompts[Work.REPLY][9]
        for visit in visits[1:]:
            await lived_in.visit(visit)
    own = [visit for visit in visits if visit.person == "hana"]
    said = [one for visit in own for one in visit.said]
    async with home(tmp_path, clock=lived_in.clock, extraction={"turns": 100}) as lived_in:
        await grow(lived_in, [one.text for one in said])
        assert len(await lived_in.memory.archive.pages("hana")) == 2_000
        await lived_in.visit(replace(own[0], said=[one for one in said if one.expects]))
        late = lived_in.model.prompts[Work.REPLY]
    for prompt in (early, *late):
        assert blocks(prompt)
        for tag, block in blocks(prompt).items():
            assert estimate_tokens(block) <= BUDGETS[tag], tag
        assert estimate_tokens(prompt.system) + tokens_of(prompt.messages) <= 3_000


async def grow(lived_in: Home, texts: Sequence[str]) -> None:
    """Add turns that no conversation is held for: the same things again with other figures; rules draw the facts."""
    lived_in.memory.consolidator.extractor = RulesExtractor()
    for number in range(len(texts), 2_000):
        said = f"{texts[number % len(texts)]} ({number})"
        lived_in.memory.turn_finished(turn(said, lived_in.clock.now()))
        lived_in.clock.pass_time(minutes=30)
    await lived_in.memory.extract("hana")
