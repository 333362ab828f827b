"""`omoide bench memory`: how long recall takes with few and with many facts, and how long it takes to embed a text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np
from anyio import to_thread

from server import embedding
from server.clock import SystemClock
from server.commands import bench_pages, bench_recall
from server.commands.bench_facts import MADE_UP, STATEMENTS, made_up_texts
from server.commands.bench_plot import draw
from server.commands.bench_sentences import SENTENCES
from server.commands.figures import describe_machine, percentile, tell_times
from server.commands.plotting import refuse_unwritable
from server.commands.report import Report, Tell
from server.config import Config
from server.errors import ConfigError
from server.memory import Memory, Page
from server.memory.extract import RulesExtractor
from server.memory.facts import make_fact
from server.memory.models import Fact, Kind, Origin
from server.memory.opening import open_memory
from server.memory.shelves import stamp_of
from server.memory.store import Store
from server.memory.wording import Aligned, AsSpoken, Wording
from server.ports import Clock, Embedder, TextKind, Vectors

SIZES = (100, 1_000, 10_000)
QUERIES = 50
PERSON = "bench"
NOTHING: Mapping[str, object] = {
    "language": "",
    "retrieval": {},
    "pages": {},
    "embedding": {},
    "machine": {},
    "error": None,
}


class ArbitraryEmbedder:
    """Gives each text a vector that means nothing, in no time: what is left of a recall is the search itself."""

    model = "arbitrary"
    name = "arbitrary vectors"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Return the same vector for the same text."""
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> Vectors:
        """Return the vector of one text."""
        generator = np.random.default_rng(crc32(text.encode()))
        row = generator.standard_normal(self.dimensions, np.float32)
        unit: Vectors = row / np.linalg.norm(row)
        return unit

    async def warm_up(self) -> None:
        """Nothing needs to be loaded."""

    async def aclose(self) -> None:
        """Nothing is held."""


async def bench_memory(
    config: Config,
    language: str,
    tell: Tell,
    sizes: Sequence[int] = SIZES,
    page_sizes: Sequence[int] | None = None,
    plot: Path | None = None,
) -> Report:
    """Fill stores of several sizes, ask each the same questions, and report how long the answers took.

    The facts are made up, and their vectors are arbitrary. How long the configured embedder takes is measured apart.

    Args:
        config: Says which embedder, index and mode of retrieval are measured.
        language: Two-letter code of facts and questions.
        tell: Told the figures.
        sizes: How many facts.
        page_sizes: How many pages; those of `bench_pages` if left out.
        plot: Where a picture of the times of pages is drawn.

    Raises:
        OmoideError: The embedder is missing or fails.
    """
    _refuse_unknown(language)
    refuse_unwritable(plot)
    embedder = embedding.build(config.embedding)
    try:
        await embedder.warm_up()
        speed = await _time_embedding(embedder, language)
        arbitrary = ArbitraryEmbedder(embedder.dimensions)
    finally:
        await embedder.aclose()
    tell(f"{'':26}    p50     p95  (ms)")
    tell_times("embedding a question", speed["query_ms_p50"], speed["query_ms_p95"], tell)
    tell_times("embedding a fact", speed["fact_ms_p50"], speed["fact_ms_p95"], tell)
    retrieval: dict[str, Any] = {}
    for size in sizes:
        found = await _time_retrieval(config, language, arbitrary, size)
        tell_times(f"recall from {size:,} facts", found["ms_p50"], found["ms_p95"], tell)
        retrieval[str(size)] = found
    sizes_of_pages = bench_pages.SIZES if page_sizes is None else page_sizes
    pages = await to_thread.run_sync(
        bench_pages.time_sizes, config, language, arbitrary.dimensions, sizes_of_pages, tell
    )
    recalls = await bench_recall.time_recalls(config, language, arbitrary, sizes_of_pages, tell)
    pages = {size: taken | recalls[size] for size, taken in pages.items()}
    if plot is not None:
        await to_thread.run_sync(draw, {}, pages, plot)
        tell(f"Drawn: {plot}")
    return Report(
        {
            **NOTHING,
            "language": language,
            "retrieval": retrieval,
            "pages": {str(size): taken for size, taken in pages.items()},
            "embedding": {"engine": embedder.name, **speed},
            "machine": describe_machine(),
        }
    )


def _refuse_unknown(language: str) -> None:
    if language not in MADE_UP:
        raise ConfigError(
            f"No facts in {language!r}. Possible: {', '.join(MADE_UP)}.", "language-unknown"
        )


def make_up_facts(language: str, count: int, clock: Clock) -> list[Fact]:
    """Return different facts, said one an hour, the last one just now."""
    now = clock.now()
    facts = []
    for number, text in enumerate(islice(cycle(made_up_texts(language)), count)):
        page = Page(
            "", "", now - timedelta(hours=count - number), language, id=f"{number}", person=PERSON
        )
        facts.append(replace(make_fact(page, text, "", Origin.HAND), kind=Kind.EVENT, sources=()))
    return facts  # fmt: skip


async def _time_embedding(embedder: Embedder, language: str) -> dict[str, float | None]:
    figures: dict[str, float | None] = {}
    texts: tuple[tuple[str, TextKind, Sequence[str]], ...] = (
        ("query", "query", SENTENCES[language]),
        ("fact", "passage", STATEMENTS[language]),
    )
    for name, kind, sentences in texts:
        spent = []
        for text in islice(cycle(sentences), QUERIES):
            started = perf_counter()
            await embedder.embed([text], kind)
            spent.append((perf_counter() - started) * 1000)
        figures[f"{name}_ms_p50"] = percentile(spent, 50)
        figures[f"{name}_ms_p95"] = percentile(spent, 95)
    return figures


async def _time_retrieval(
    config: Config, language: str, embedder: ArbitraryEmbedder, size: int
) -> dict[str, float | None]:
    clock = SystemClock(config.server.timezone)
    facts = make_up_facts(language, size, clock)
    with TemporaryDirectory(prefix="omoide-bench-") as folder:
        await to_thread.run_sync(_fill, config, Path(folder), embedder, facts, clock)
        memory = open_memory(config, Path(folder), embedder, RulesExtractor(), clock)
        try:
            return await _time_searches(memory, language)
        finally:
            await to_thread.run_sync(memory.close)


async def _time_searches(memory: Memory, language: str) -> dict[str, float | None]:
    spent = []
    for text in islice(cycle(SENTENCES[language]), QUERIES + 1):
        started = perf_counter()
        await memory.search(PERSON, text, language)
        spent.append((perf_counter() - started) * 1000)
    # The first one reads the facts and fills the index; so does the first one after a change.
    first, rest = spent[0], spent[1:]
    page = Page("", "", SystemClock("UTC").now(), language, id="new", person=PERSON)
    new = make_fact(page, STATEMENTS[language][0], "", Origin.HAND)
    await memory.add([replace(new, sources=())])
    started = perf_counter()
    await memory.search(PERSON, SENTENCES[language][0], language)
    return {
        "after_change_ms": round((perf_counter() - started) * 1000, 1),
        "first_ms": round(first, 1),
        "ms_p50": percentile(rest, 50),
        "ms_p95": percentile(rest, 95),
    }


def _fill(
    config: Config, folder: Path, embedder: ArbitraryEmbedder, facts: Sequence[Fact], clock: Clock
) -> None:
    """Write facts with their vectors straight into a store: comparing each with the others is not what is measured."""
    wording: Wording = AsSpoken() if config.retrieval.mode == "article" else Aligned()
    store = Store(folder / "memory.db")
    try:
        store.add_facts(
            facts,
            clock.now(),
            vectors_by_fact={fact.id: embedder.vector(fact.text) for fact in facts},
            stamp=stamp_of(embedder, wording),
        )
    finally:
        store.close()
