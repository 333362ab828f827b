"""How long it takes to look through the pages of a person, for `omoide bench memory`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from time import perf_counter

import numpy as np

from server.commands.bench_facts import STATEMENTS, made_up_texts
from server.commands.bench_sentences import SENTENCES
from server.commands.figures import percentile, tell_times
from server.commands.report import Tell
from server.config import Config
from server.memory.gist import keywords_of
from server.memory.line_table import PlacedLine
from server.memory.lines import Line, Role, read_line
from server.memory.models import Page, Segment
from server.memory.page_recall import rank
from server.memory.page_shelf import PageShelf
from server.memory.page_signs import cut_query
from server.memory.page_weights import PageWeights, load_page_weights
from server.memory.question import read_question
from server.memory.speakers import Speakers

SIZES = (1_000, 10_000, 100_000)
QUERIES = 50
TALK_PAGES = 8
"""Exchanges of one talk."""
_NOW = datetime(2026, 11, 2, 18, tzinfo=UTC)
DIFFERENT = 1_000
"""Made-up utterances; a larger store says them again."""
_SEGMENT_PAGES = 3
"""Of which the keywords of a segment are."""


def time_sizes(
    config: Config,
    language: str,
    dimensions: int,
    sizes: Sequence[int] = SIZES,
    tell: Tell = lambda line: None,
) -> dict[int, dict[str, float | None]]:
    """Return, by how many pages one person has, how long a question takes among them; see `time_pages`.

    Args:
        config: Names the weights.
        language: Two-letter code of the pages, one of `MADE_UP`.
        dimensions: Of their vectors, which are arbitrary.
        sizes: How many pages.
        tell: Told the figures.
    """
    weights = load_page_weights(config.retrieval.pages.calibration)
    times = {}
    for size in sizes:
        times[size] = time_pages(weights, language, size, dimensions, config.segments.capacity)
        tell_times(f"search in {size:,} pages", times[size]["ms_p50"], times[size]["ms_p95"], tell)
    return times


def time_pages(
    weights: PageWeights, language: str, size: int, dimensions: int, segments: int
) -> dict[str, float | None]:
    """Return how long a question takes among so many pages of one person, without embedding it.

    ``read_ms_p50`` is the part of it that does not depend on the pages: to read the question.

    Args:
        weights: Rank.
        language: Two-letter code of the pages, one of `MADE_UP`.
        size: How many pages.
        dimensions: Of their vectors, which are arbitrary.
        segments: How many segments they lie in.
    """
    dice = np.random.default_rng(0)
    different = [*islice(made_up_texts(language), DIFFERENT)]
    lines = _placed([read_line(text, language, _NOW) for text in different], size)
    rows = dice.standard_normal((len(lines), dimensions), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = {(one.page, int(one.role)): row for one, row in zip(lines, rows, strict=True)}
    shelf = PageShelf.of(lines, vectors, dimensions)
    shelf.segment_of = {one.page: f"{int(one.page) // TALK_PAGES % segments}" for one in lines}
    shelf.put_segments(make_segments(different, segments, language))
    reading, spent = [], []
    for text in islice(cycle((*SENTENCES[language], *STATEMENTS[language])), QUERIES):
        vector = rows[dice.integers(len(rows))]
        started = perf_counter()
        query = cut_query(replace(read_question(text, language, _NOW), vector=vector), Speakers())
        read = perf_counter()
        rank(shelf, query, weights, gate=None)
        reading.append((read - started) * 1000)
        spent.append((perf_counter() - started) * 1000)
    return {
        "ms_p50": percentile(spent, 50),
        "ms_p95": percentile(spent, 95),
        "read_ms_p50": percentile(reading, 50),
    }


def _placed(said: Sequence[Line], size: int) -> list[PlacedLine]:
    """Return the lines of pages, two each, the last of them just said; a talk has eight."""
    lines = cycle(said)
    placed = []
    for page in range(size):
        talk, place = divmod(page, TALK_PAGES)
        at = _NOW - timedelta(hours=size // TALK_PAGES - talk, minutes=-place)
        placed += [PlacedLine(f"{page}", role, at, next(lines)) for role in Role]
    return placed


def make_segments(texts: Sequence[str], count: int, language: str) -> list[Segment]:
    """Return segments with the keywords of some texts each."""
    found = []
    for number in range(count):
        first = number * _SEGMENT_PAGES % len(texts)
        pages = [Page(text, "", _NOW, language) for text in texts[first : first + _SEGMENT_PAGES]]
        keywords = frozenset(keywords_of(pages, lambda key: 1.0))
        found.append(Segment(f"{number}", "", language, "", keywords, _NOW, _NOW))
    return found
