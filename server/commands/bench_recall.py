"""How long a whole recall takes from a store with many exchanges of one person, for `omoide bench memory`.

`bench_pages` times the search in pages alone. Here are all the rest, too: whether the shelves are still as the store
is, the facts, the portrait, and the words of the exchanges that are told.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeVar

import numpy as np
from anyio import to_thread

from server.clock import SystemClock
from server.commands.bench_facts import STATEMENTS, made_up_texts
from server.commands.bench_pages import (
    DIFFERENT,
    QUERIES,
    SIZES,
    TALK_PAGES,
    make_segments,
)
from server.commands.bench_sentences import SENTENCES
from server.commands.figures import percentile, tell_times
from server.commands.report import Tell
from server.config import Config
from server.memory import Memory, Page
from server.memory.extract import RulesExtractor
from server.memory.facts import make_fact
from server.memory.lines import VERSION, Role, pack_line, read_line
from server.memory.models import Origin, Segment
from server.memory.opening import open_memory
from server.memory.shelves import stamp_of
from server.memory.store import Store, Vector
from server.memory.stored_lines import StoredLine
from server.memory.tiers import Sorting
from server.memory.wording import Aligned, AsSpoken, Wording
from server.ports import Embedder

Key = TypeVar("Key")

PERSON = "bench"
PAGES_OF_A_FACT = 10
"""One fact is drawn from so many exchanges."""
_AT_ONCE = 2_000
_PATIENCE_SECONDS = 600.0
"""What is cut off is not measured."""


async def time_recalls(
    config: Config,
    language: str,
    embedder: Embedder,
    sizes: Sequence[int] = SIZES,
    tell: Tell = lambda line: None,
) -> dict[int, dict[str, float | None]]:
    """Return, by how many exchanges one person has, how long `Memory.recall` takes; there is a fact for every ten of them.

    Each question recalls exchanges, whatever the gate says, so that they have to be read. ``recall_first_ms`` is the
    first recall, for which everything is read that is held ready afterwards.

    Args:
        config: Names index, mode of retrieval and weights.
        language: Two-letter code of the pages, one of `MADE_UP`.
        embedder: Embeds in no time.
        sizes: How many pages.
        tell: Told the figures.

    Raises:
        OmoideError: The store or the index fails.
    """
    times = {}
    for size in sizes:
        times[size] = taken = await _time_recall(config, language, embedder, size)
        what = f"recall from {size:,} pages"
        tell_times(what, taken["recall_ms_p50"], taken["recall_ms_p95"], tell)
    return times


async def _time_recall(
    config: Config, language: str, embedder: Embedder, size: int
) -> dict[str, float | None]:
    clock = SystemClock(config.server.timezone)
    section = config.retrieval
    own = config.model_copy(
        update={
            "retrieval": section.model_copy(
                update={
                    "deadline_seconds": _PATIENCE_SECONDS,
                    "embed_timeout_seconds": _PATIENCE_SECONDS,
                    "pages": section.pages.model_copy(update={"gate": 0.0}),
                }
            )
        }
    )
    with TemporaryDirectory(prefix="omoide-bench-") as folder:
        await to_thread.run_sync(fill, own, Path(folder), embedder, language, size, clock.now())
        memory = open_memory(own, Path(folder), embedder, RulesExtractor(), clock)
        try:
            return await _time_questions(memory, language)
        finally:
            await to_thread.run_sync(memory.close)


async def _time_questions(memory: Memory, language: str) -> dict[str, float | None]:
    spent = []
    for text in islice(cycle((*SENTENCES[language], *STATEMENTS[language])), QUERIES + 1):
        started = perf_counter()
        await memory.recall(PERSON, text, language)
        spent.append((perf_counter() - started) * 1000)
    first, rest = spent[0], spent[1:]
    return {
        "recall_ms_p50": percentile(rest, 50),
        "recall_ms_p95": percentile(rest, 95),
        "recall_first_ms": round(first, 1),
    }


def fill(
    config: Config, folder: Path, embedder: Embedder, language: str, size: int, now: datetime
) -> None:
    """Write exchanges with all that is kept of them straight into a store. Blocks."""
    texts = [*islice(made_up_texts(language), DIFFERENT)]
    lines = {text: pack_line(read_line(text, language, now)) for text in texts}
    segments = [
        replace(one, person=PERSON)
        for one in make_segments(texts, config.segments.capacity, language)
    ]
    wording: Wording = AsSpoken() if config.retrieval.mode == "article" else Aligned()
    vectors = _Vectors(stamp_of(embedder, wording), embedder.dimensions)
    pages = _make_pages(texts, language, size, now)
    store = Store(folder / "memory.db")
    try:
        for start in range(0, size, _AT_ONCE):
            some = pages[start : start + _AT_ONCE]
            store.pages.add_all(some)
            _put_lines(store, some, lines, vectors)
            _put_facts(store, some, segments, vectors, now)
    finally:
        store.close()


class _Vectors:
    """Makes vectors that mean nothing, under the name of an embedder."""

    def __init__(self, stamp: str, dimensions: int) -> None:
        self.stamp = stamp
        self._dimensions = dimensions
        self._dice = np.random.default_rng(0)

    def of(self, keys: Iterable[Key]) -> dict[Key, Vector]:
        """Return one for each key."""
        found = [*keys]
        rows = self._dice.standard_normal((len(found), self._dimensions), np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return dict(zip(found, rows, strict=True))


def _make_pages(texts: Sequence[str], language: str, size: int, now: datetime) -> list[Page]:
    """Make up the exchanges of one person, the last of them just now; a talk has eight."""
    said = cycle(texts)
    pages = []
    for number in range(size):
        talk, place = divmod(number, TALK_PAGES)
        at = now - timedelta(hours=1 + size // TALK_PAGES - talk, minutes=-place)
        pages.append(Page(next(said), next(said), at, language, id=f"{number}", person=PERSON))
    return pages


def _put_lines(
    store: Store, pages: Sequence[Page], lines: Mapping[str, bytes], vectors: _Vectors
) -> None:
    said = {
        (page.id, int(role)): text
        for page in pages
        for role, text in zip(Role, (page.said, page.heard), strict=True)
    }
    store.lines.put([StoredLine(*key, VERSION, lines[text]) for key, text in said.items()])
    store.lines.put_vectors(vectors.of(said), vectors.stamp)


def _put_facts(
    store: Store,
    pages: Sequence[Page],
    segments: Sequence[Segment],
    vectors: _Vectors,
    now: datetime,
) -> None:
    facts = [
        make_fact(page, f"{page.said} ({page.id})", "", Origin.HAND)
        for page in pages[::PAGES_OF_A_FACT]
    ]
    segment_of = {
        page.id: segments[int(page.id) // TALK_PAGES % len(segments)].id for page in pages
    }
    store.add_facts(
        facts,
        now,
        vectors_by_fact=vectors.of(fact.id for fact in facts),
        stamp=vectors.stamp,
        drawn_from=[*segment_of],
        sorting=Sorting(segments=segments, segment_of=segment_of),
    )
