"""Builds a memory from its parts, on a folder."""

from dataclasses import replace
from pathlib import Path

from server.config import Config
from server.memory import Memory
from server.memory.calibration import load_calibration
from server.memory.consolidate import Consolidator
from server.memory.extract import Extractor, RulesExtractor
from server.memory.index import open_index
from server.memory.recall import ArticleReader, HybridReader, Reader
from server.memory.shelves import Shelves, stamp_of
from server.memory.store import Store
from server.memory.wording import Aligned, AsSpoken, Wording
from server.memory.working import WorkingBuffer
from server.memory.writer import Writer
from server.ports import Clock, Embedder


def open_memory(
    config: Config, folder: Path, embedder: Embedder, extractor: Extractor, clock: Clock
) -> Memory:
    """Open the memory in a folder, made as needed. The caller closes it; the embedder is the caller's, too.

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
    shelves.erase_unknown()
    reader: Reader = HybridReader(shelves, embedder, wording, retrieval, calibration)
    if retrieval.mode == "article":
        reader = ArticleReader(shelves, embedder, wording, retrieval)
    closeness = calibration.closeness
    if config.extraction.duplicate_threshold is not None:
        closeness = replace(closeness, same=config.extraction.duplicate_threshold)
    consolidator = Consolidator(
        store=store,
        writer=writer,
        shelves=shelves,
        extractor=extractor,
        rules=RulesExtractor(retrieval.week_start),
        section=config.extraction,
        closeness=closeness,
        clock=clock,
    )
    return Memory(
        store=store,
        writer=writer,
        index=index,
        shelves=shelves,
        reader=reader,
        consolidator=consolidator,
        working=WorkingBuffer(config.history),
        clock=clock,
    )
