"""Getting at a memory: that of a running server, over its API, or the one in the data folder, without a server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from server import embedding, llm
from server.clock import SystemClock
from server.commands.api import api_of
from server.commands.memory_kinds import Drawn, Listing, MemoryAccess, Row, Search
from server.commands.reach import Place
from server.commands.remote_memory import RemoteMemory
from server.config import Config
from server.embedding.absent import AbsentEmbedder
from server.errors import EngineMissing, OmoideError
from server.extraction import choose_extractor
from server.folder_lock import lock_data
from server.forgetting import Forgetting
from server.memory import Memory
from server.memory.audit import Actor
from server.memory.cipher import cipher_of
from server.memory.correcting import correct
from server.memory.dossier import dossier_of
from server.memory.extract import Extractor, RulesExtractor
from server.memory.importing import read_export
from server.memory.layers.drawing import PersonaExtractor
from server.memory.layers.layers import Layers
from server.memory.models import Fact
from server.memory.opening import open_memory
from server.memory.selecting import Selector
from server.memory.store import Store
from server.memory.traits import load_dimensions
from server.prompting import PROMPTS, PromptFiles
from server.recording import RecentTurns
from server.short_ids import whole_id
from server.trace import Turns
from server.web.described import (
    describe_audit,
    describe_candidate,
    describe_dossier,
    describe_erasure,
    describe_fact,
    describe_imported,
)

if TYPE_CHECKING:
    from server.file_lock import FileLock
    from server.ports import Clock, Embedder


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
        self._forgets: Forgetting | None = None
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
        store = await self._read()
        fact = await to_thread.run_sync(store.fact, await self._whole(store, fact_id))
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
        memory = await self._warm()
        meant = whole_id(fact_id, await memory.archive.facts_beginning(fact_id)) or fact_id
        fact = await correct(memory, meant, text, self._clock.now(), week_start)
        return self._known(fact, fact_id)

    async def _whole(self, store: Store, fact_id: str) -> str:
        found = await to_thread.run_sync(store.ids.facts, fact_id)
        return whole_id(fact_id, found) or fact_id

    def _known(self, fact: Fact | None, fact_id: str) -> Row:
        if fact is None:
            raise OmoideError(
                "fact-unknown", f"There is no fact {fact_id}. See `omoide memory list`."
            )
        return dict(describe_fact(fact, self._place.config.fading))

    async def forget(self, selector: Selector, *, dry_run: bool = False) -> Row:
        """Delete what a selector stands for, or only say what that is."""
        forgetting = await self._forgetting(selector)
        if dry_run:
            selected, erased = await forgetting.look(selector)
            return describe_erasure(selector.kind, erased, selected)
        return describe_erasure(selector.kind, await forgetting.forget(selector, Actor.COMMAND))

    async def bring_in(self, text: str, person: str, *, forgotten: bool) -> Row:
        """Store an export; a folder without a memory gets one."""
        dossier = await to_thread.run_sync(read_export, text, person)
        archive = (await self._open(needs_embedder=False, is_new=True)).archive
        return describe_imported(
            await archive.bring_in(dossier, Actor.COMMAND, self._clock.now(), is_asked=forgotten)
        )

    async def audit(self, last: int) -> list[Row]:
        """Return the record of erasures."""
        store = await self._read()
        return [describe_audit(one) for one in await to_thread.run_sync(store.audit.entries, last)]

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
            cipher = cipher_of(self._place.config.store)
            self._store = await to_thread.run_sync(Store, self._file, cipher)
        return self._store

    async def _open(self, *, needs_embedder: bool = True, is_new: bool = False) -> Memory:
        if self._memory is None:
            if not is_new:
                self._check()
            config = self._place.config
            self._lock = await to_thread.run_sync(lock_data, self._place.data)
            try:
                self._embedder = self._place.embedder or embedding.build(config.embedding)
            except EngineMissing as missing:
                if needs_embedder:
                    raise
                self._embedder = AbsentEmbedder(missing)
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

    async def _forgetting(self, selector: Selector) -> Forgetting:
        """Return what forgets. No turn runs in a folder that nobody else works in.

        Nothing has to be embedded for it: without an embedder, words are looked for as words.
        """
        if self._memory is None:
            memory = await self._open(needs_embedder=False)
            turns = Turns(self._clock)
            self._forgets = Forgetting(memory.archive, self._place.data, RecentTurns(0), turns)
            await self._forgets.finish_begun()
        if selector.kind == "words" and self._embedder is not None:
            with suppress(OmoideError):
                await self._embedder.warm_up()
        assert self._forgets is not None
        return self._forgets

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
