"""How long it takes to look through the pages of a person, for `omoide bench memory`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import cycle, islice
from time import perf_counter

import numpy as np

from server.commands.bench_facts import STATEMENTS
from server.commands.bench_sentences import SENTENCES
from server.commands.figures import percentile
from server.memory.line_table import PlacedLine
from server.memory.lines import Line, Role, read_line
from server.memory.page_recall import PageReader
from server.memory.page_shelf import PageShelf
from server.memory.page_signs import cut_query
from server.memory.question import read_question
from server.memory.speakers import Speakers

SIZES = (1_000, 10_000, 100_000)
QUERIES = 50
_TALK_PAGES = 8
_DIFFERENT = 1_000
"""Made-up utterances; a larger store says them again."""


def time_pages(
    reader: PageReader,
    language: str,
    texts: Iterable[str],
    size: int,
    dimensions: int,
    now: datetime,
) -> dict[str, float | None]:
    """Return how long a question takes among so many pages of one person, without embedding it.

    Args:
        reader: Ranks.
        language: Two-letter code of the pages.
        texts: What is said in them.
        size: How many pages.
        dimensions: Of their vectors, which are arbitrary.
        now: The moment the questions are asked.
    """
    dice = np.random.default_rng(0)
    said = [read_line(text, language, now) for text in islice(texts, _DIFFERENT)]
    lines = _placed(said, size, now)
    rows = dice.standard_normal((len(lines), dimensions), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = {(one.page, int(one.role)): row for one, row in zip(lines, rows, strict=True)}
    shelf = PageShelf.of(lines, vectors, dimensions)
    spent = []
    for text in islice(cycle((*SENTENCES[language], *STATEMENTS[language])), QUERIES):
        vector = rows[dice.integers(len(rows))]
        started = perf_counter()
        question = replace(read_question(text, language, now), vector=vector)
        reader.rank(shelf, cut_query(question, Speakers()))
        spent.append((perf_counter() - started) * 1000)
    return {"ms_p50": percentile(spent, 50), "ms_p95": percentile(spent, 95)}


def _placed(said: Sequence[Line], size: int, now: datetime) -> list[PlacedLine]:
    """Return the lines of pages, two each, the last of them just said; a talk has eight."""
    lines = cycle(said)
    placed = []
    for page in range(size):
        talk, place = divmod(page, _TALK_PAGES)
        at = now - timedelta(hours=size // _TALK_PAGES - talk, minutes=-place)
        placed += [PlacedLine(f"{page}", role, at, next(lines)) for role in Role]
    return placed
