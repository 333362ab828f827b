"""Heat: what raises it, who makes room, and what the profile is updated from."""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.config import SegmentsSection
from server.memory.heat import heat, hot, to_evict
from server.memory.models import Segment
from server.memory.store import Store
from server.memory.tiers import Sorting
from tests.memory.remembering import NOON, page
from tests.memory.tiers import segment

SECTION = SegmentsSection()
COUNTS = st.integers(0, 50)
AGES = st.timedeltas(timedelta(0), timedelta(days=2_000))


def made(id_: str = "s", *, visits: int = 0, unread: int = 0, at: datetime = NOON) -> Segment:
    return replace(segment(id_, at=at, unread=unread), visits=visits)


@st.composite
def middle_tiers(draw: st.DrawFn) -> list[Segment]:
    kept = []
    for number in range(draw(st.integers(0, 12))):
        one = made(f"s{number}", visits=draw(COUNTS), unread=draw(COUNTS), at=NOON - draw(AGES))
        kept.append(replace(one, evicted_at=NOON if draw(st.booleans()) else None))
    return kept


def ids(segments: Sequence[Segment]) -> list[str]:
    return [one.id for one in segments]


def here(segments: Sequence[Segment]) -> list[Segment]:
    return [one for one in segments if one.evicted_at is None]


# -- heat --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("visits", "unread", "idle_seconds", "expected"),
    [
        (0, 0, 0, 1.0),
        (2, 3, 0, 6.0),
        (2, 3, 1e7, 5 + math.exp(-1)),
        (0, 4, 5e7, 4 + math.exp(-5)),
    ],
)
def test_heat_is_that_of_the_paper(
    visits: int, unread: int, idle_seconds: float, expected: float
) -> None:
    one = made(visits=visits, unread=unread)

    assert heat(one, NOON + timedelta(seconds=idle_seconds), SECTION) == pytest.approx(expected)


def test_every_part_of_heat_has_a_weight() -> None:
    section = SegmentsSection(heat_visits=10, heat_pages=0.5, heat_recency=4, cooling_seconds=60)

    warm = heat(made(visits=2, unread=6), NOON + timedelta(minutes=1), section)

    assert warm == pytest.approx(20 + 3 + 4 * math.exp(-1))


@given(COUNTS, COUNTS, AGES, AGES)
def test_heat_rises_with_visits_and_pages_and_falls_with_time(
    visits: int, unread: int, idle: timedelta, longer: timedelta
) -> None:
    now = NOON + idle
    one = made(visits=visits, unread=unread)

    assert heat(replace(one, visits=visits + 1), now, SECTION) > heat(one, now, SECTION)
    assert heat(replace(one, unread=unread + 1), now, SECTION) > heat(one, now, SECTION)
    assert heat(one, now + longer, SECTION) <= heat(one, now, SECTION)


def test_a_clock_that_was_set_back_makes_nothing_hot() -> None:
    assert heat(made(), NOON - timedelta(days=400), SECTION) == 1.0


def test_row_82_only_a_visit_that_was_recorded_makes_a_segment_hotter(tmp_path: Path) -> None:
    """Row 82: thresholds so low that every query, also an unrelated one, heats the nearest segments."""
    with closing(Store(tmp_path / "memory.db")) as store:
        for id_ in ("a", "b"):
            store.pages.add(page(id_, id_=id_))
        both = Sorting(segments=[made("A"), made("B")], segment_of={"a": "A", "b": "B"})
        store.add_facts([], NOON, drawn_from=["a", "b"], sorting=both)

        for _ in range(10):  # looked at for ten questions, told for one
            cold = {one.id: heat(one, NOON, SECTION) for one in store.tiers.segments_of("hana")}
        store.tiers.visit(["a"], NOON)
        warm = {one.id: heat(one, NOON, SECTION) for one in store.tiers.segments_of("hana")}

    assert cold == {"A": 1.0, "B": 1.0}
    assert warm == {"A": 2.0, "B": 1.0}


# -- making room -------------------------------------------------------------------------------------------------------


def test_row_6_the_coldest_old_segment_makes_room_and_not_the_new_one() -> None:
    """Row 6: at capacity a new segment, with no visit yet, evicts itself."""
    old = [made("much", visits=9), made("little", visits=1), made("some", visits=4)]
    new = made("new")

    assert to_evict([*old, new], {"new"}, NOON, SegmentsSection(capacity=3)) == ["little"]


def test_of_two_as_cold_the_one_that_rests_longer_makes_room() -> None:
    section = SegmentsSection(capacity=1, heat_recency=0)
    pair = [made("a", at=NOON), made("b", at=NOON - timedelta(days=1))]

    assert to_evict(pair, (), NOON, section) == ["b"]


@given(middle_tiers(), st.sets(st.sampled_from([f"s{number}" for number in range(12)])), COUNTS)
def test_capacity_holds_and_the_coldest_go_but_no_new_one(
    segments: list[Segment], new_ids: set[str], capacity: int
) -> None:
    section = SegmentsSection(capacity=capacity + 1)

    gone = to_evict(segments, new_ids, NOON, section)

    left = [one for one in here(segments) if one.id not in gone]
    new = [one for one in here(segments) if one.id in new_ids]
    assert len(left) <= max(section.capacity, len(new))
    assert len(left) >= min(section.capacity, len(here(segments)))
    assert new_ids.isdisjoint(gone)
    assert set(gone) <= set(ids(here(segments)))
    hottest_gone = max(
        (heat(one, NOON, SECTION) for one in segments if one.id in gone), default=0.0
    )
    old_left = [heat(one, NOON, SECTION) for one in left if one.id not in new_ids]
    assert all(hottest_gone <= warmth for warmth in old_left)


# -- what the profile is updated from ----------------------------------------------------------------------------------


def test_a_segment_is_hot_above_the_threshold() -> None:
    """As in the paper: "segments with heat exceeding a threshold"."""
    section = SegmentsSection(hot=5, heat_recency=0)

    found = hot([made("above", unread=6), made("at", unread=5)], NOON, section)

    assert ids(found) == ["above"]


def test_the_hottest_comes_first() -> None:
    found = hot([made("warm", unread=6), made("hot", unread=1, visits=20)], NOON, SECTION)

    assert ids(found) == ["hot", "warm"]


def test_a_segment_without_new_pages_feeds_nothing_however_often_it_was_visited() -> None:
    assert hot([made(visits=100)], NOON, SECTION) == []


def test_a_segment_that_made_room_is_not_hot() -> None:
    assert hot([replace(made(unread=9), evicted_at=NOON)], NOON, SECTION) == []


def test_a_segment_cools_below_the_threshold_after_it_was_read() -> None:
    one = made(unread=8, visits=2)
    [ready] = hot([one], NOON, SECTION)

    read = replace(ready, unread=0)

    assert heat(read, NOON, SECTION) == heat(ready, NOON, SECTION) - 8
    assert hot([read], NOON, SECTION) == []
