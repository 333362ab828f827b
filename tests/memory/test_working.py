"""The working buffer of memory: what it keeps, of whom, and how much."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from server.config import HistorySection
from server.memory.models import Page
from server.memory.working import MOST_PERSONS, WorkingBuffer

NOW = datetime(2026, 5, 3, 15, 20, tzinfo=UTC)


def page(person: str, said: str = "おはよう", at: datetime = NOW) -> Page:
    return Page(said, "はい。", at, person=person)


def said(kept: WorkingBuffer, person: str, now: datetime = NOW) -> list[str]:
    return [page.said for page in kept.recent(person, now + timedelta(minutes=1))]


def test_of_one_person_the_last_exchanges_are_kept() -> None:
    for size, section in ((7, HistorySection(turns=100)), (2, HistorySection(turns=3, buffer=2))):
        kept = WorkingBuffer(section)
        for number in range(size + 3):
            kept.add(page("hana", str(number)))
        assert said(kept, "hana") == [str(number) for number in range(3, size + 3)]


def test_only_as_many_as_configured_are_handed_out() -> None:
    kept = WorkingBuffer(HistorySection(turns=2))
    for number in range(4):
        kept.add(page("hana", str(number)))
    assert said(kept, "hana") == ["2", "3"]
    none = WorkingBuffer(HistorySection(turns=0))
    none.add(page("hana"))
    assert said(none, "hana") == []


def test_whoever_has_been_silent_longest_gives_way_to_new_persons() -> None:
    kept = WorkingBuffer(HistorySection())
    kept.add(page("hana"))
    kept.add(page("taro"))
    kept.add(page("hana", "もう一度"))
    for number in range(MOST_PERSONS - 1):
        kept.add(page(f"guest {number}"))
    assert said(kept, "hana") == ["おはよう", "もう一度"]
    assert said(kept, "taro") == []
    kept.add(page("one more"))
    assert said(kept, "hana") == []


def test_after_the_window_the_talk_is_over() -> None:
    kept = WorkingBuffer(HistorySection(window_minutes=10))
    kept.add(page("hana"))
    assert said(kept, "hana", NOW + timedelta(minutes=9)) == ["おはよう"]
    assert said(kept, "hana", NOW + timedelta(minutes=9, seconds=1)) == []


def test_a_changed_clock_does_not_end_a_talk() -> None:
    """In New York clocks went back from 02:00 to 01:00 on 1 November 2026."""
    zone = ZoneInfo("America/New_York")
    before = datetime(2026, 11, 1, 5, 58, tzinfo=UTC)
    kept = WorkingBuffer(HistorySection(window_minutes=10))
    kept.add(page("hana", at=before.astimezone(zone)))
    for minutes, still in ((5, ["おはよう"]), (61, [])):
        now = before + timedelta(minutes=minutes)
        assert [page.said for page in kept.recent("hana", now.astimezone(zone))] == still


def test_looking_for_somebody_who_never_spoke_keeps_nothing() -> None:
    kept = WorkingBuffer(HistorySection())
    assert said(kept, "nobody") == []
    assert len(kept._pages) == 0


def test_the_buffer_of_all_persons_together_stays_small() -> None:
    most_chars = 1000 + 2000 + 300  # the longest question and reply
    assert MOST_PERSONS * HistorySection().buffer * most_chars < 25_000_000


def test_who_is_forgotten_is_forgotten_at_once() -> None:
    kept = WorkingBuffer(HistorySection())
    kept.add(page("hana"))
    kept.forget("hana")
    kept.forget("nobody")
    assert said(kept, "hana") == []


def test_a_thing_may_have_come_up_again_until_the_talk_was_over() -> None:
    kept = WorkingBuffer(HistorySection(window_minutes=10))
    for minutes in (0, 5, 14, 25, 30, 90, 95):
        at = NOW + timedelta(minutes=minutes)
        kept.add(Page("おはよう", "はい。", at, person="hana", id=str(minutes)))
    assert kept.since("hana", ["5"]) == ["5", "14"]
    assert kept.since("hana", ["5", "90"]) == ["5", "14", "90", "95"]
    assert kept.since("hana", ["other"]) == kept.since("nobody", ["5"]) == []
