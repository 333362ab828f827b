"""Small things fade within weeks, what matters never does, and nothing is over before it has faded."""

import math
from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.config import Config, FadingSection
from server.memory.fading import has_faded, is_over, strength
from server.memory.models import Fact, Importance
from tests.memory.remembering import NOON, fact

DEFAULT = Config().fading
MORTAL = FadingSection(fleeting_days=10, ordinary_days=100, least=0.2, retention_days=365)
DAYS = st.floats(0, 10_000)
SECTIONS = st.builds(
    FadingSection,
    fleeting_days=st.floats(0, 500),
    ordinary_days=st.floats(0, 500),
    least=st.floats(0, 1),
    retention_days=st.floats(0, 1000),
)


def known(importance: Importance, last: date | None = None) -> Fact:
    return replace(fact("あなたはうどんを食べた。"), importance=importance, event_to=last)


def after(days: float) -> datetime:
    return NOON + timedelta(days=days)


def test_strength_falls_to_a_third_in_the_days_of_the_section() -> None:
    assert strength(Importance.FLEETING, 0, DEFAULT) == 1
    assert strength(Importance.FLEETING, 21, DEFAULT) == pytest.approx(1 / math.e)
    assert strength(known(Importance.FLEETING), 42, DEFAULT) == pytest.approx(math.e**-2)
    assert strength(Importance.ORDINARY, 100, MORTAL) == pytest.approx(1 / math.e)


def test_by_default_only_what_is_fleeting_fades_after_some_five_weeks() -> None:
    assert not has_faded(known(Importance.FLEETING), after(33), DEFAULT)
    assert has_faded(known(Importance.FLEETING), after(34), DEFAULT)
    assert not has_faded(known(Importance.ORDINARY), after(10_000), DEFAULT)
    assert has_faded(known(Importance.ORDINARY), after(200), MORTAL)


def test_age_counts_from_what_lies_ahead_but_not_from_what_was_over_when_it_was_told() -> None:
    ahead = known(Importance.FLEETING, after(20).date())
    assert not has_faded(ahead, after(20 + 33), DEFAULT)
    assert has_faded(ahead, after(20 + 34), DEFAULT)
    assert has_faded(known(Importance.FLEETING, date(2026, 9, 1)), after(34), DEFAULT)
    assert not has_faded(known(Importance.FLEETING, date(2026, 9, 1)), after(33), DEFAULT)


def test_by_default_what_has_faded_is_over_after_a_year() -> None:
    assert not is_over(known(Importance.FLEETING), after(365), DEFAULT)
    assert is_over(known(Importance.FLEETING), after(366), DEFAULT)
    assert not is_over(known(Importance.ORDINARY), after(10_000), DEFAULT)


def test_without_a_retention_nothing_is_ever_over() -> None:
    assert not is_over(known(Importance.FLEETING), after(10_000), FadingSection(retention_days=0))


def test_what_has_faded_is_over_once_it_is_older_than_things_are_kept() -> None:
    small = known(Importance.FLEETING)
    assert not is_over(small, after(365), MORTAL)
    assert is_over(small, after(366), MORTAL)
    assert not is_over(known(Importance.LASTING), after(366), MORTAL)


def test_what_can_still_be_found_is_not_over_however_old_it_is() -> None:
    brief = FadingSection(fleeting_days=100, retention_days=1)
    assert not is_over(known(Importance.FLEETING), after(30), brief)
    assert is_over(known(Importance.FLEETING), after(161), brief)


def test_the_zone_of_the_clock_does_not_matter() -> None:
    late = after(34).astimezone(ZoneInfo("America/New_York"))
    assert has_faded(known(Importance.FLEETING), late, DEFAULT)


@given(DAYS, SECTIONS)
def test_what_is_lasting_never_fades(days: float, section: FadingSection) -> None:
    lasting = known(Importance.LASTING)
    assert strength(lasting, days, section) == 1
    assert not has_faded(lasting, after(days), section)
    assert not is_over(lasting, after(days), section)


@given(st.sampled_from([*Importance]), DAYS, DAYS, SECTIONS)
def test_strength_never_grows_with_age(
    importance: Importance, one: float, other: float, section: FadingSection
) -> None:
    younger, older = sorted((one, other))
    before, later = (strength(importance, days, section) for days in (younger, older))
    assert 0 <= later <= before <= 1


@given(st.sampled_from([*Importance]), DAYS, DAYS, SECTIONS)
def test_what_has_faded_stays_so_and_what_is_over_has_faded(
    importance: Importance, one: float, other: float, section: FadingSection
) -> None:
    each = known(importance)
    younger, older = (after(days) for days in sorted((one, other)))
    assert has_faded(each, older, section) or not has_faded(each, younger, section)
    assert has_faded(each, younger, section) or not is_over(each, younger, section)


@given(st.floats(-1000, 0), SECTIONS)
def test_what_is_still_to_come_is_fresh(days: float, section: FadingSection) -> None:
    assert strength(Importance.FLEETING, days, section) == 1
