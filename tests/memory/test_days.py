"""A day of memory ends at an hour of the night, wherever it is and whatever is done to the clocks."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.days import dates_of, day_of, end_of

ZONES = st.sampled_from(
    ["Asia/Tokyo", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"]
).map(ZoneInfo)
HOURS = st.integers(0, 23)
MOMENTS = st.integers(0, 10 * 365 * 24 * 60).map(
    lambda minutes: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)


@pytest.mark.parametrize(
    ("hour", "moment", "day"),
    [
        (3, "2026-09-28T00:30", 27),
        (3, "2026-09-28T02:59", 27),
        (3, "2026-09-28T03:00", 28),
        (0, "2026-09-27T23:59", 27),
        (0, "2026-09-28T00:00", 28),
        (21, "2026-09-27T20:59", 27),
        (21, "2026-09-27T21:00", 28),
        (21, "2026-09-28T20:59", 28),
    ],
)
def test_a_day_has_the_date_of_most_of_it(hour: int, moment: str, day: int) -> None:
    assert day_of(datetime.fromisoformat(f"{moment}+09:00"), hour).day == day


def test_a_day_is_over_at_the_hour_where_the_person_is() -> None:
    day = date(2026, 9, 27)
    assert end_of(day, 3, ZoneInfo("Asia/Tokyo")) == datetime(2026, 9, 27, 18, tzinfo=UTC)
    assert end_of(day, 21, ZoneInfo("Asia/Tokyo")) == datetime(2026, 9, 27, 12, tzinfo=UTC)
    assert end_of(day, 0, ZoneInfo("America/New_York")) == datetime(2026, 9, 28, 4, tzinfo=UTC)


def test_days_have_an_hour_more_or_less_when_clocks_are_changed() -> None:
    new_york = ZoneInfo("America/New_York")
    for day, hours in ((date(2026, 3, 7), 23), (date(2026, 10, 31), 25), (date(2026, 6, 1), 24)):
        lasted = end_of(day, 3, new_york) - end_of(day - timedelta(days=1), 3, new_york)
        assert lasted == timedelta(hours=hours)


@given(MOMENTS, ZONES, HOURS)
def test_every_moment_lies_in_the_day_that_it_belongs_to(
    moment: datetime, zone: ZoneInfo, hour: int
) -> None:
    local = moment.astimezone(zone)
    day = day_of(local, hour)
    assert end_of(day - timedelta(days=1), hour, zone) <= moment < end_of(day, hour, zone)
    assert local.date() in dates_of(day, hour)
