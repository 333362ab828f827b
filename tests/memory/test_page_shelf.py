"""What is ready of one person's pages: a shelf that grew is like one made at once, and one that was lent stays as it is."""

from collections.abc import Mapping
from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.memory.line_table import PlacedLine
from server.memory.lines import Role, read_line
from server.memory.page_shelf import LineKey, PageShelf, Vector
from tests.memory.remembering import NOON
from tests.memory.tiers import segment

PAGES = 12
DIMENSIONS = 4
SEGMENTS = [segment("a"), segment("b")]
LINES = [
    PlacedLine(f"{number}", role, at, read_line("A cat.", "en", at))
    for number in range(PAGES)
    for at in [NOON + timedelta(minutes=number)]
    for role in Role
]
VECTORS: dict[LineKey, Vector] = {
    (line.page, int(line.role)): row
    for line, row in zip(
        LINES, np.random.default_rng(1).random((len(LINES), DIMENSIONS), np.float32), strict=True
    )
}


def means(shelf: PageShelf) -> dict[str, Vector]:
    return {one.id: one.mean for one in shelf.segments if one.mean is not None}


def assert_alike(found: Mapping[str, Vector], expected: Mapping[str, Vector]) -> None:
    assert found.keys() == expected.keys()
    for id_, mean in expected.items():
        np.testing.assert_allclose(found[id_], mean, atol=2e-3)  # halves are kept


def of_pages(pages: range, lacking: set[int]) -> dict[LineKey, Vector]:
    return {
        key: row
        for key, row in VECTORS.items()
        if int(key[0]) in pages and int(key[0]) not in lacking
    }


def made_at_once(lines: int, vectors: Mapping[LineKey, Vector], lying: dict[str, str]) -> PageShelf:
    shelf = PageShelf.of(LINES[:lines], vectors, DIMENSIONS)
    shelf.segment_of = dict(lying)
    shelf.put_segments(SEGMENTS)
    return shelf


@given(
    st.integers(0, PAGES),
    st.sets(st.integers(0, PAGES - 1)),
    st.dictionaries(st.integers(0, PAGES - 1).map(str), st.sampled_from(["a", "b", ""])),
    st.sets(st.integers(0, PAGES - 1).map(str)),
)
def test_segments_have_the_mean_of_their_pages_however_these_came(
    cut: int, lacking: set[int], lying: dict[str, str], late: set[str]
) -> None:
    early = {page: id_ for page, id_ in lying.items() if page not in late}
    first = made_at_once(2 * cut, of_pages(range(cut), lacking), early)
    before = means(first)

    grown = first.copy()
    grown.add(LINES[2 * cut :], of_pages(range(cut, PAGES), lacking), DIMENSIONS)
    grown.put_segments(SEGMENTS)
    last = grown.copy()
    last.put_vectors(VECTORS)
    last.segment_of |= lying
    last.put_segments(SEGMENTS)

    assert_alike(means(last), means(made_at_once(len(LINES), VECTORS, lying)))
    assert_alike(means(first), before)
    assert (len(first.table), len(first.vectors), first.postings.size) == (2 * cut,) * 3
    first.put_segments(SEGMENTS)
    assert_alike(means(first), before)  # what came to the copy later is not counted here
    said = {id_: [VECTORS[page, 0] for page, at in lying.items() if at == id_] for id_ in "ab"}
    assert_alike(means(last), {id_: np.mean(rows, axis=0) for id_, rows in said.items() if rows})
