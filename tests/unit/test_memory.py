"""The working buffer of memory: what it keeps, of whom, and how much."""

from datetime import UTC, datetime, timedelta

from server import memory
from server.config import HistorySection
from server.memory import BUFFER_PAGES, PERSONS, Memory
from server.turn import Transcript, Turn

NOW = datetime(2026, 5, 3, 15, 20, tzinfo=UTC)


def turn(person: str, said: str = "おはよう") -> Turn:
    finished = Turn("abc", "robot", person, NOW)
    finished.transcript = Transcript(said, "ja")
    finished.heard = "はい。"
    return finished


def said(kept: Memory, person: str) -> list[str]:
    return [page.said for page in kept.recent(person, NOW + timedelta(minutes=1))]


def test_of_one_person_the_last_exchanges_are_kept() -> None:
    kept = Memory(HistorySection(turns=100))
    for number in range(BUFFER_PAGES + 3):
        kept.turn_finished(turn("hana", str(number)))
    assert said(kept, "hana") == [str(number) for number in range(3, BUFFER_PAGES + 3)]


def test_whoever_has_been_silent_longest_gives_way_to_new_persons() -> None:
    kept = Memory(HistorySection())
    kept.turn_finished(turn("hana"))
    kept.turn_finished(turn("taro"))
    kept.turn_finished(turn("hana", "もう一度"))
    for number in range(PERSONS - 1):
        kept.turn_finished(turn(f"guest {number}"))
    assert said(kept, "hana") == ["おはよう", "もう一度"]
    assert said(kept, "taro") == []
    kept.turn_finished(turn("one more"))
    assert said(kept, "hana") == []


def test_looking_for_somebody_who_never_spoke_keeps_nothing() -> None:
    kept = Memory(HistorySection())
    assert said(kept, "nobody") == []
    assert len(kept._pages) == 0


def test_the_buffer_of_all_persons_together_stays_small() -> None:
    most_chars = 1000 + 2000 + 300  # the longest question and reply
    assert memory.PERSONS * memory.BUFFER_PAGES * most_chars < 20_000_000
