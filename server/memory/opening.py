"""Builds a memory from its parts, on a folder."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from server.config import Config
from server.memory import Memory
from server.memory.calibration import Calibration, load_calibration
from server.memory.cipher import cipher_of
from server.memory.consenting import Consenting
from server.memory.consolidate import Consolidator
from server.memory.diary import Diary
from server.memory.extract import Extractor, RulesExtractor
from server.memory.index import VectorIndex, open_index
from server.memory.known import Knowing
from server.memory.lately import Lately
from server.memory.page_recall import PageReader
from server.memory.page_shelves import PageShelves
from server.memory.page_weights import load_page_weights
from server.memory.priming import Primer
from server.memory.recall import ArticleReader, HybridReader, Reader
from server.memory.recollecting import Recollector
from server.memory.retention import Retention
from server.memory.safety.desk import SafetyDesk
from server.memory.safety.likeness import load_likeness
from server.memory.safety.outbox import Outbox
from server.memory.safety.second_reading import SecondReading
from server.memory.safety.watch import SafetyWatch
from server.memory.shelves import Shelves, stamp_of
from server.memory.sorting import Sorter
from server.memory.store import Store
from server.memory.traits import Dimension
from server.memory.wording import Aligned, AsSpoken, Wording
from server.memory.working import WorkingBuffer
from server.memory.writer import Writer
from server.ports import Clock, Embedder


def open_memory(
    config: Config,
    folder: Path,
    embedder: Embedder,
    extractor: Extractor,
    clock: Clock,
    dimensions: Mapping[str, Dimension] | None = None,
) -> Memory:
    """Open the memory in a folder, made as needed. The caller closes it; the embedder is the caller's, too.

    Args:
        config: The whole configuration.
        folder: Where everything is kept.
        embedder: Makes vectors.
        extractor: Draws facts.
        clock: Tells the time in the person's zone.
        dimensions: Those of traits, by id; a trait in any other is not told.

    Raises:
        StoreError: ``store-…`` and ``index-…``: somebody else works in the folder, or it can't be used.
        ConfigError: ``calibration-broken``; ``store-key-…`` and ``store-cipher-missing``, as in `server.memory.cipher`.
    """
    ground = _lay_ground(config, folder, embedder)
    reader = _reader(ground)
    working = WorkingBuffer(config.history)
    consenting = Consenting(
        ground.store, ground.writer, config.consent, config.secrecy, working.window, clock
    )
    lately = Lately(ground.store, ground.rules.stated_in)
    return Memory(
        store=ground.store,
        writer=ground.writer,
        index=ground.index,
        shelves=ground.shelves,
        reader=reader,
        page_shelves=ground.page_shelves,
        recollector=_recollector(ground, reader, lately, dimensions or {}),
        consolidator=_consolidator(ground, extractor, clock),
        diary=_diary(ground, clock),
        retention=Retention(
            ground.store,
            ground.writer,
            config.fading,
            config.retention,
            config.summaries.catch_up_days,
            clock,
        ),
        consenting=consenting,
        knowing=Knowing(ground.store, ground.writer, lately, config.fading),
        safety=SafetyWatch(ground.writer, config.safety, consenting.withholds),
        desk=SafetyDesk(ground.store, ground.writer, clock),
        outbox=Outbox(ground.store, ground.writer, config.safety, clock),
        working=working,
        clock=clock,
    )


@dataclass(frozen=True, slots=True)
class _Ground:
    """What the parts of a memory stand on."""

    config: Config
    store: Store
    writer: Writer
    index: VectorIndex
    shelves: Shelves
    page_shelves: PageShelves
    embedder: Embedder
    wording: Wording
    calibration: Calibration
    rules: RulesExtractor


def _lay_ground(config: Config, folder: Path, embedder: Embedder) -> _Ground:
    retrieval = config.retrieval
    wording: Wording = AsSpoken() if retrieval.mode == "article" else Aligned()
    calibration = load_calibration(retrieval.calibration, embedder.model, embedder.dimensions)
    cipher = cipher_of(config.store)
    index = _index(config, folder, embedder, wording)
    try:
        store = Store(folder / "memory.db", cipher)
    except BaseException:
        index.close()
        raise
    writer = Writer(store)
    shelves = Shelves(
        store,
        writer,
        index,
        embedder,
        wording,
        fading=config.fading,
        long_term=config.long_term,
        agent=config.persona.name,
    )
    shelves.erase_unknown()
    return _Ground(
        config,
        store,
        writer,
        index,
        shelves,
        PageShelves(store, writer, embedder, wording, retrieval.week_start),
        embedder,
        wording,
        calibration,
        RulesExtractor(retrieval.week_start),
    )


def _index(config: Config, folder: Path, embedder: Embedder, wording: Wording) -> VectorIndex:
    return open_index(
        config.index.engine,
        folder / "index",
        stamp=stamp_of(embedder, wording),
        dimensions=embedder.dimensions,
        url=config.index.url,
        api_key=config.index.api_key.get_secret_value(),
    )


def _reader(ground: _Ground) -> Reader:
    section = ground.config.retrieval
    if section.mode == "article":
        return ArticleReader(ground.shelves, ground.embedder, ground.wording, section)
    return HybridReader(
        ground.shelves,
        ground.embedder,
        ground.wording,
        section,
        ground.config.long_term,
        ground.calibration,
    )


def _recollector(
    ground: _Ground, reader: Reader, lately: Lately, dimensions: Mapping[str, Dimension]
) -> Recollector:
    section = ground.config.retrieval
    pages = PageReader(
        ground.page_shelves,
        ground.embedder,
        ground.wording,
        section.pages,
        load_page_weights(section.pages.calibration),
        week_start=section.week_start,
        embed_seconds=section.embed_timeout_seconds,
    )
    config = ground.config
    primer = Primer(ground.store, config.summaries, config.fading, config.long_term)
    return Recollector(
        ground.store,
        reader,
        pages,
        primer,
        lately,
        section,
        window=timedelta(minutes=ground.config.history.window_minutes),
        agent=ground.config.persona.name,
        dimensions=dimensions,
    )


def _consolidator(ground: _Ground, extractor: Extractor, clock: Clock) -> Consolidator:
    config = ground.config
    closeness = ground.calibration.closeness
    if config.extraction.duplicate_threshold is not None:
        closeness = replace(closeness, same=config.extraction.duplicate_threshold)
    window = timedelta(minutes=config.history.window_minutes)
    likeness = load_likeness(ground.embedder.model) if config.safety.enabled else None
    return Consolidator(
        store=ground.store,
        writer=ground.writer,
        shelves=ground.shelves,
        sorter=Sorter(ground.store, ground.page_shelves, config.segments, window),
        extractor=extractor,
        rules=ground.rules,
        second_reading=SecondReading(likeness, ground.embedder),
        section=config.extraction,
        segments=config.segments,
        closeness=closeness,
        clock=clock,
    )


def _diary(ground: _Ground, clock: Clock) -> Diary:
    config = ground.config
    return Diary(
        store=ground.store,
        writer=ground.writer,
        section=config.summaries,
        clock=clock,
        silence=timedelta(minutes=config.extraction.silence_minutes),
    )
