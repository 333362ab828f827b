"""Utterances as columns: talks, who answers whom, what each offers and which days it tells of."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.answer_types import AnswerType
from server.memory.line_table import Floats, LineTable, PlacedLine
from server.memory.lines import Line, Mark, Role
from tests.memory.remembering import NOON

NOTHING = Line(np.zeros(0, np.uint32), Mark(0), frozenset(), (), 0)
ASKS = Line(np.zeros(0, np.uint32), Mark.ASKS, frozenset(), (), 3)
FIRST = date(2026, 9, 1)


def placed(
    line: Line, minutes: float = 0, role: Role = Role.SAID, start: datetime = NOON
) -> PlacedLine:
    return PlacedLine("page", role, start + timedelta(minutes=minutes), line)


def telling(*days: tuple[int, int], holds: frozenset[AnswerType] = frozenset()) -> Line:
    """Return a line that tells of stretches of days of September."""
    stretches = tuple((date(2026, 9, first), date(2026, 9, last)) for first, last in days)
    return Line(np.zeros(0, np.uint32), Mark(0), holds, stretches, 1)


def table_of(*lines: Line, minutes: Sequence[float] | None = None) -> LineTable:
    times = minutes or range(len(lines))
    return LineTable([placed(line, at) for line, at in zip(lines, times, strict=True)])


def columns(table: LineTable) -> list[list[float]]:
    days = range(FIRST.toordinal(), FIRST.toordinal() + 30, 7)
    found: list[np.ndarray[tuple[int, ...], np.dtype[np.generic]] | Floats] = [
        table.roles,
        table.days,
        table.talks,
        table.openings,
        table.marks,
        table.answers,
        table.words,
        table.dated,
        table.holding(frozenset({AnswerType.DAY, AnswerType.MONEY}), np.arange(len(table))),
        *(table.has(mark) for mark in Mark),
        *(table.telling_of(day, day + 2) for day in days),
    ]
    return [column.tolist() for column in found]


september = st.integers(1, 30)
lines = st.builds(
    Line,
    tokens=st.just(np.zeros(0, np.uint32)),
    marks=st.integers(0, 7).map(Mark),
    holds=st.frozensets(st.sampled_from(AnswerType), max_size=3),
    days=st.lists(
        st.tuples(september, september).map(
            lambda two: (date(2026, 9, min(two)), date(2026, 9, max(two)))
        ),
        max_size=4,
    ).map(tuple),
    words=st.integers(0, 9),
)


@st.composite
def talks(draw: st.DrawFn) -> list[PlacedLine]:
    minutes = 0
    found = []
    for number, line in enumerate(draw(st.lists(lines, max_size=12))):
        minutes += draw(st.sampled_from([0, 1, 29, 30, 31, 2000]))
        found.append(
            PlacedLine(
                f"p{number}", draw(st.sampled_from(Role)), NOON + timedelta(minutes=minutes), line
            )
        )
    return found


@given(talks(), st.lists(st.integers(0, 12), max_size=4))
def test_growing_in_parts_equals_building_at_once(lines: list[PlacedLine], cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(lines)) for cut in cuts), len(lines)]
    grown = LineTable()
    for start, end in pairwise(bounds):
        grown.add(lines[start:end])
    one_by_one = LineTable()
    for line in lines:
        one_by_one.add([line])
    whole = LineTable(lines)
    before = LineTable(lines[: bounds[1]])
    before.copy().add(lines[bounds[1] :])
    assert columns(before) == columns(LineTable(lines[: bounds[1]]))
    assert len(before) == bounds[1]
    assert whole.pages == grown.pages == one_by_one.pages == [line.page for line in lines]
    assert columns(whole) == columns(grown) == columns(one_by_one)


def test_an_empty_table_has_empty_columns() -> None:
    table = LineTable()
    table.add([])
    assert len(table) == 0
    assert not any(columns(table))


def test_a_talk_ends_with_a_pause_of_more_than_half_an_hour() -> None:
    table = table_of(*[NOTHING] * 5, minutes=[0, 30, 60, 90.1, 91])
    assert table.talks.tolist() == [0, 0, 0, 1, 1]


def test_the_first_two_of_a_talk_open_it() -> None:
    table = table_of(*[NOTHING] * 5, minutes=[0, 1, 2, 100, 101])
    table.add([placed(NOTHING, 102)])
    assert table.openings.tolist() == [True, True, False, True, True, False]


def test_an_answer_follows_a_question_in_the_same_talk() -> None:
    table = table_of(NOTHING, ASKS, ASKS, NOTHING, ASKS, NOTHING, minutes=[0, 1, 2, 3, 4, 60])
    assert table.answers.tolist() == [False, False, True, True, False, False]


def test_what_comes_later_may_answer_what_is_there() -> None:
    table = table_of(ASKS)
    table.add([placed(NOTHING, 1)])
    assert table.answers.tolist() == [False, True]


@pytest.mark.parametrize(
    ("zone", "before", "after", "talks"),
    [
        ("America/New_York", "2026-03-08T01:50", "2026-03-08T03:10", [0, 0]),  # 20 minutes
        (
            "America/New_York",
            "2026-11-01T01:50-04:00",
            "2026-11-01T01:55-05:00",
            [0, 1],
        ),  # 65 minutes
    ],
)
def test_a_pause_is_as_long_as_it_lasted_when_clocks_change(
    zone: str, before: str, after: str, talks: list[int]
) -> None:
    area = ZoneInfo(zone)
    times = [datetime.fromisoformat(text) for text in (before, after)]
    times = [at.astimezone(area) if at.tzinfo else at.replace(tzinfo=area) for at in times]
    table = LineTable([PlacedLine("page", Role.SAID, at, NOTHING) for at in times])
    assert table.talks.tolist() == talks


def test_a_clock_that_was_set_back_begins_no_talk() -> None:
    assert table_of(NOTHING, NOTHING, minutes=[0, -300]).talks.tolist() == [0, 0]


def test_the_day_is_that_of_the_person() -> None:
    """Row 39: half past midnight in Tokyo is still the day before in UTC."""
    table = LineTable([placed(NOTHING, start=NOON.replace(hour=0, minute=30))])
    assert table.days.tolist() == [date(2026, 9, 27).toordinal()]


def test_holding_is_the_share_of_what_is_wanted() -> None:
    money, day = AnswerType.MONEY, AnswerType.DAY
    kinds = [frozenset[AnswerType](), frozenset({money}), frozenset({money, day, AnswerType.AGE})]
    table = table_of(*(telling(holds=each) for each in kinds))
    assert table.holding(frozenset({money, day}), np.arange(3)).tolist() == [0, 0.5, 1]
    assert table.holding(frozenset({AnswerType.REASON}), np.arange(3)).tolist() == [0, 0, 0]
    assert table.holding(frozenset(), np.arange(3)).tolist() == [0, 0, 0]


def test_telling_of_needs_one_day_in_common() -> None:
    table = table_of(telling((10, 12), (20, 20)), NOTHING, telling((12, 14)))
    first = FIRST.toordinal() - 1

    def of(start: int, end: int) -> list[bool]:
        found: list[bool] = table.telling_of(first + start, first + end).tolist()
        return found

    assert of(12, 12) == [True, False, True]
    assert of(13, 20) == [True, False, True]
    assert of(5, 10) == [True, False, False]
    assert of(15, 19) == of(21, 25) == of(1, 9) == [False, False, False]
    assert table.dated.tolist() == [True, False, True]
