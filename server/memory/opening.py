"""Builds a memory from its parts, on a folder."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from server.config import Config
from server.memory import Memory
from server.memory.calibration import load_calibration
from server.memory.consolidate import Consolidator
from server.memory.extract import AGENT, Extractor, RulesExtractor
from server.memory.index import open_index
from server.memory.page_recall import PageReader
from server.memory.page_shelves import PageShelves
from server.memory.page_weights import load_page_weights
from server.memory.priming import Primer
from server.memory.recall import ArticleReader, HybridReader, Reader
from server.memory.recollecting import Recollector
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
        ConfigError: ``calibration-broken``.
    """
    retrieval = config.retrieval
    wording: Wording = AsSpoken() if retrieval.mode == "article" else Aligned()
    calibration = load_calibration(retrieval.calibration, embedder.model, embedder.dimensions)
    index = open_index(
        config.index.engine,
        folder / "index",
        stamp=stamp_of(embedder, wording),
        dimensions=embedder.dimensions,
        url=config.index.url,
        api_key=config.index.api_key.get_secret_value(),
    )
    try:
        store = Store(folder / "memory.db")
    except BaseException:
        index.close()
        raise
    writer = Writer(store)
    shelves = Shelves(store, writer, index, embedder, wording)
    reader: Reader = HybridReader(shelves, embedder, wording, retrieval, calibration)
    if retrieval.mode == "article":
        reader = ArticleReader(shelves, embedder, wording, retrieval)
    page_shelves = PageShelves(store, writer, embedder, wording, retrieval.week_start)
    recollector = Recollector(
        store,
        reader,
        PageReader(
            page_shelves,
            embedder,
            wording,
            retrieval.pages,
            load_page_weights(retrieval.pages.calibration),
            week_start=retrieval.week_start,
            embed_seconds=retrieval.embed_timeout_seconds,
        ),
        Primer(store, config.summaries),
        retrieval,
        agent=AGENT,
        dimensions=dimensions or {},
    )
    closeness = calibration.closeness
    if config.extraction.duplicate_threshold is not None:
        closeness = replace(closeness, same=config.extraction.duplicate_threshold)
    window = timedelta(minutes=config.history.window_minutes)
    consolidator = Consolidator(
        store=store,
        writer=writer,
        shelves=shelves,
        sorter=Sorter(store, page_shelves, config.segments, window),
        extractor=extractor,
        rules=RulesExtractor(retrieval.week_start),
        section=config.extraction,
        segments=config.segments,
        closeness=closeness,
        clock=clock,
    )
    return Memory(
        store=store,
        writer=writer,
        index=index,
        shelves=shelves,
        reader=reader,
        page_shelves=page_shelves,
        recollector=recollector,
        consolidator=consolidator,
        working=WorkingBuffer(config.history),
        clock=clock,
    )
