"""A memory in a folder, on a clock that is set by hand, and short ways to say things to it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from server.config import Config
from server.memory import Memory
from server.memory.extract import Extractor, ModelExtractor, RulesExtractor
from server.memory.models import Fact, Kind, Page
from server.memory.opening import open_memory
from server.ports import Embedder
from server.prompting import PromptFiles
from server.turn import Transcript, Turn
from tests.fakes import PROMPTS, FakeEmbedder, FakeLlm, Step
from tests.patience import RETRIEVAL

TOKYO = ZoneInfo("Asia/Tokyo")
NOON = datetime(2026, 9, 27, 12, 0, tzinfo=TOKYO)
"""A Sunday."""
CAT = "猫を飼い始めたんだ。"
CAT_FACT = "あなたは猫を飼い始めた。"
DOG = "犬も飼っているよ。"
DOG_FACT = "あなたは犬も飼っている。"


class HandClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.moment = now

    def now(self) -> datetime:
        return self.moment

    def pass_time(self, **time: float) -> None:
        self.moment += timedelta(**time)


@dataclass(frozen=True)
class Room:
    """A memory that is open."""

    memory: Memory
    clock: HandClock

    def tell(self, *said: str, person: str = "hana", language: str = "ja") -> None:
        """Finish one turn for each thing said, a minute apart."""
        for text in said:
            self.memory.turn_finished(turn(text, self.clock.now(), person, language))
            self.clock.pass_time(minutes=1)

    async def known(self, person: str = "hana") -> list[str]:
        """Return what is held to be true of a person."""
        return [fact.text for fact in await self.memory.archive.facts(person) if fact.current]

    async def recalled(self, query: str, person: str = "hana", language: str = "ja") -> list[str]:
        found = await self.memory.recall(person, query, language)
        return [line.text for line in found.lines]


@contextmanager
def opened(
    folder: Path,
    extractor: Extractor | None = None,
    *,
    embedder: Embedder | None = None,
    clock: HandClock | None = None,
    **sections: Any,
) -> Iterator[Room]:
    """Open the memory in a folder around the block. Without an extractor the rules draw facts.

    Recall has all the time that a busy machine may need, unless a test says otherwise.
    """
    sections["retrieval"] = RETRIEVAL | sections.get("retrieval", {})
    clock = clock or HandClock()
    memory = open_memory(
        Config(**sections),
        folder,
        embedder or FakeEmbedder(),
        extractor or RulesExtractor(),
        clock,
    )
    memory.load()
    try:
        yield Room(memory, clock)
    finally:
        memory.close()


def turn(
    said: str, at: datetime = NOON, person: str = "hana", language: str = "ja", id_: str = ""
) -> Turn:
    """Return a finished turn; its id follows from what was said and when."""
    finished = Turn(id_ or f"{person}/{at.isoformat()}/{said[:20]}", "robot", person, at)
    finished.transcript = Transcript(said, language)
    finished.heard = "そうなんですね。" if language == "ja" else "I see."
    return finished


def page(
    said: str, at: datetime = NOON, person: str = "hana", language: str = "ja", id_: str = ""
) -> Page:
    """Return a stored exchange."""
    return Page(said, "はい。", at, language, id=id_ or f"page of {said[:20]}", person=person)


def fact(
    text: str,
    at: datetime = NOON,
    *,
    person: str = "hana",
    id_: str = "",
    language: str = "ja",
    sources: tuple[str, ...] = (),
    kind: Kind = Kind.OTHER,
) -> Fact:
    """Return a fact whose id is its text."""
    return Fact(id_ or text, person, text, language, at, kind, sources=sources)


def modelled(*scripts: list[Step]) -> tuple[ModelExtractor, FakeLlm]:
    """Return an extractor whose model plays these scripts, and the model."""
    llm = FakeLlm([], draws=scripts)
    return ModelExtractor(llm, PromptFiles(PROMPTS)), llm


def answer(*drafts: tuple[int, str, str] | tuple[int, str, str, str]) -> str:
    """Return what a model writes: for each fact the turn, the quote, the text and perhaps the kind."""
    keys = ("turn", "quote", "text", "kind")
    facts = [dict(zip(keys, draft, strict=False)) for draft in drafts]
    return json.dumps({"facts": facts}, ensure_ascii=False)
