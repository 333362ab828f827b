"""Getting at a memory: that of a running server, over its API, or the one in the data folder, without a server."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import quote

import anyio
from anyio import to_thread

from server import embedding, llm
from server.clock import SystemClock
from server.commands.api import Api, api_of
from server.commands.reach import Place
from server.config import Config
from server.errors import OmoideError
from server.extraction import choose_extractor
from server.folder_lock import FileLock, lock_data
from server.forgetting import Forgetting
from server.memory import Memory
from server.memory.correcting import correct
from server.memory.dossier import dossier_of
from server.memory.extract import Extractor, RulesExtractor
from server.memory.layers.drawing import PersonaExtractor
from server.memory.layers.layers import Layers
from server.memory.models import Fact
from server.memory.opening import open_memory
from server.memory.store import Store
from server.memory.traits import load_dimensions
from server.prompting import PROMPTS, PromptFiles
from server.recording import RecentTurns
from server.trace import Turns
from server.web.described import describe_candidate, describe_dossier, describe_fact

if TYPE_CHECKING:
    from server.ports import Clock, Embedder

Row: TypeAlias = dict[str, Any]
"""A fact, an exchange or a candidate as the API describes it."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for in a memory."""

    text: str
    language: str
    at: datetime | None
    """None for now, with all that is known."""
    limit: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of a person."""

    facts: list[Row]
    waiting: int
    """Exchanges that facts have still to be drawn from."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What came of drawing facts."""

    stored: list[Row]
    waiting: int
    """Exchanges that wait all the same."""
    interrupted: bool
    """Whether it ended early because somebody began to talk."""


class MemoryAccess(Protocol):
    """What the commands need of a memory. Every method raises `OmoideError` if it can't be had."""

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""

    async def facts(self, person: str, *, superseded: bool) -> Listing:
        """Return the facts of a person, with those that were replaced or without."""

    async def fact(self, fact_id: str) -> Row:
        """Return one fact."""

    async def search(self, person: str, search: Search) -> list[Row]:
        """Return the facts that were looked at, best first, with their scores."""

    async def export(self, person: str) -> Row:
        """Return everything of a person."""

    async def correct(self, fact_id: str, text: str) -> Row:
        """Put a sentence in the place of a fact; return the new one."""

    async def forget(self, fact_ids: Sequence[str]) -> int:
        """Delete facts that exist; return how many."""

    async def forget_person(self, person: str) -> int:
        """Delete everything of a person; return how many facts."""

    async def reindex(self, person: str) -> int:
        """Make the vector index of a person anew; return how many facts were embedded."""

    async def extract(self, person: str) -> Drawn:
        """Draw facts from what waits, of everybody if no person is named."""


@asynccontextmanager
async def open_access(place: Place) -> AsyncIterator[MemoryAccess]:
    """Open the memory at a place, for the block."""
    if place.url is not None:
        yield RemoteMemory(api_of(place))
        return
    folder = FolderMemory(place)
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await folder.aclose()


class RemoteMemory:
    """The memory of a running server. See `MemoryAccess`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""
        answer = await self._api.ask("GET", "/api/memory/persons")
        return list(answer["persons"])

    async def facts(self, person: str, *, superseded: bool) -> Listing:
        """Return the facts of a person."""
        params = {"superseded": "true"} if superseded else {}
        answer = await self._api.ask("GET", f"{_path(person)}/facts", params)
        return Listing(list(answer["facts"]), int(answer.get("waiting", 0)))

    async def fact(self, fact_id: str) -> Row:
        """Return one fact."""
        return dict(await self._api.ask("GET", _path("facts", fact_id)))

    async def search(self, person: str, search: Search) -> list[Row]:
        """Return the candidates of a search."""
        params: dict[str, str | int] = {
            "q": search.text,
            "language": search.language,
            "limit": search.limit,
        }
        if search.at is not None:
            params["at"] = search.at.isoformat()
        answer = await self._api.ask("GET", f"{_path(person)}/search", params)
        return list(answer["candidates"])

    async def export(self, person: str) -> Row:
        """Return everything of a person."""
        return dict(await self._api.ask("GET", f"{_path(person)}/export"))

    async def correct(self, fact_id: str, text: str) -> Row:
        """Put a sentence in the place of a fact."""
        return dict(await self._api.ask("PUT", _path("facts", fact_id), body={"text": text}))

    async def forget(self, fact_ids: Sequence[str]) -> int:
        """Delete facts."""
        gone = [await self._api.ask("DELETE", _path("facts", fact_id)) for fact_id in fact_ids]
        return sum(int(answer["forgotten"]) for answer in gone)

    async def forget_person(self, person: str) -> int:
        """Delete everything of a person."""
        return int((await self._api.ask("DELETE", _path(person)))["forgotten"])

    async def reindex(self, person: str) -> int:
        """Make the vector index of a person anew."""
        return int((await self._api.ask("POST", f"{_path(person)}/reindex"))["embedded"])

    async def extract(self, person: str) -> Drawn:
        """Draw facts."""
        answer = await self._api.ask("POST", "/api/debug/extract", body={"person": person})
        waiting, interrupted = int(answer.get("waiting", 0)), bool(answer.get("interrupted"))
        return Drawn(list(answer["stored"]), waiting, interrupted)


def _path(*parts: str) -> str:
    # Dots, too: a client takes a segment of one or two for a step in the path.
    escaped = (quote(part, safe="").replace(".", "%2E") for part in parts)
    return "/".join(("/api/memory", *escaped))


class FolderMemory:
    """The memory in a data folder. See `MemoryAccess`.

    Listing reads the store, beside a server that may be running. Whatever changes or searches takes the folder for
    itself; only what needs a model loads one.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._folder = place.data / "memory"
        self._store: Store | None = None
        self._memory: Memory | None = None
        self._lock: FileLock | None = None
        self._embedder: Embedder | None = None
        self._is_warm = False

    async def aclose(self) -> None:
        """Let go of the files and of the model."""
        if self._memory is not None:
            await to_thread.run_sync(self._memory.close)
        if self._store is not None:
            await to_thread.run_sync(self._store.close)
        if self._embedder is not None:
            await self._embedder.aclose()
        if self._lock is not None:
            self._lock.release()

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored; nobody if there is no memory yet."""
        if not self._file.exists():
            return []
        return await to_thread.run_sync((await self._read()).persons)

    async def facts(self, person: str, *, superseded: bool) -> Listing:
        """Return the facts of a person."""
        store = await self._read()
        facts = await to_thread.run_sync(store.facts_of, person)
        waiting = await to_thread.run_sync(store.queue.count, person)
        fading = self._place.config.fading
        listed = [describe_fact(one, fading) for one in facts if superseded or one.current]
        return Listing(listed, waiting)

    async def fact(self, fact_id: str) -> Row:
        """Return one fact."""
        fact = await to_thread.run_sync((await self._read()).fact, fact_id)
        return self._known(fact, fact_id)

    async def search(self, person: str, search: Search) -> list[Row]:
        """Return the candidates of a search."""
        memory = await self._warm()
        found = await memory.search(person, search.text, search.language, search.at)
        return [describe_candidate(one) for one in found[: search.limit]]

    async def export(self, person: str) -> Row:
        """Return everything of a person."""
        dossier = await to_thread.run_sync(dossier_of, await self._read(), person)
        return dict(describe_dossier(dossier, self._place.config.fading))

    async def correct(self, fact_id: str, text: str) -> Row:
        """Put a sentence in the place of a fact."""
        week_start = self._place.config.retrieval.week_start
        fact = await correct(await self._warm(), fact_id, text, self._clock.now(), week_start)
        return self._known(fact, fact_id)

    def _known(self, fact: Fact | None, fact_id: str) -> Row:
        if fact is None:
            raise OmoideError(
                "fact-unknown", f"There is no fact {fact_id}. See `omoide memory list`."
            )
        return dict(describe_fact(fact, self._place.config.fading))

    async def forget(self, fact_ids: Sequence[str]) -> int:
        """Delete facts."""
        return await (await self._forgetting()).forget_facts(fact_ids)

    async def forget_person(self, person: str) -> int:
        """Delete everything of a person."""
        return await (await self._forgetting()).forget_person(person)

    async def reindex(self, person: str) -> int:
        """Make the vector index of a person anew."""
        return await (await self._warm()).archive.reindex(person)

    async def extract(self, person: str) -> Drawn:
        """Draw facts with the engine of the configuration."""
        memory = await self._warm()
        prompts = _prompts_of(self._place.config)
        layers = Layers(prompts, self._place.config.persona, *memory.kept_in, self._clock)
        await to_thread.run_sync(layers.load)
        prompts.persona = layers.persona
        async with _open_extractor(self._place, prompts) as extractor:
            memory.consolidator.extractor = PersonaExtractor(extractor, layers)
            stored = await memory.extract(person or None, put_off=True)
        waiting = await memory.archive.waiting(person or None)
        interrupted = memory.consolidator.gave_way
        fading = self._place.config.fading
        return Drawn([describe_fact(fact, fading) for fact in stored], waiting, interrupted)

    @property
    def _file(self) -> Path:
        return self._folder / "memory.db"

    async def _read(self) -> Store:
        if self._store is None:
            self._check()
            self._store = await to_thread.run_sync(Store, self._file)
        return self._store

    async def _open(self) -> Memory:
        if self._memory is None:
            self._check()
            config = self._place.config
            self._lock = await to_thread.run_sync(lock_data, self._place.data)
            self._embedder = self._place.embedder or embedding.build(config.embedding)
            self._memory = await to_thread.run_sync(
                open_memory,
                config,
                self._folder,
                self._embedder,
                RulesExtractor(),
                self._clock,
                load_dimensions(_prompts_of(config)),
            )
        return self._memory

    async def _forgetting(self) -> Forgetting:
        """Return what forgets. No turn runs in a folder that nobody else works in."""
        archive = (await self._open()).archive
        return Forgetting(archive, self._place.data, RecentTurns(0), Turns(self._clock))

    @property
    def _clock(self) -> "Clock":
        return self._place.clock or SystemClock(self._place.config.server.timezone)

    async def _warm(self) -> Memory:
        memory = await self._open()
        if not self._is_warm and self._embedder is not None:
            await self._embedder.warm_up()
            await memory.catch_up()
            self._is_warm = True
        return memory

    def _check(self) -> None:
        if not self._file.exists():
            raise OmoideError(
                "memory-missing",
                f"There is no memory in {self._place.data}. Name its data folder with --data, or a running server with --url.",
            )


@asynccontextmanager
async def _open_extractor(place: Place, prompts: PromptFiles) -> AsyncIterator[Extractor]:
    engine = place.engines.llm if place.engines else llm.build(place.config, place.data)
    try:
        yield await choose_extractor(place.config, engine, prompts)
    finally:
        await engine.aclose()


def _prompts_of(config: Config) -> PromptFiles:
    folder = config.persona.prompts
    return PromptFiles(Path(folder) if folder else PROMPTS, config.persona)
