import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.audio import Samples
from server.simulator.play_queue import PlayQueue

RATE = 24_000
FRAME = 0.06


def packet(value: int = 1) -> Samples:
    return np.full(round(RATE * FRAME), value, np.int16)


def test_packets_that_come_in_time_are_played_without_a_hole() -> None:
    queue = PlayQueue(RATE)
    queue.start(10.0)
    for count in range(5):
        queue.receive(packet(count + 1), 10.0 + count * FRAME)
    queue.stop(10.0 + 5 * FRAME)
    played = queue.take()
    assert played.underruns == 0
    assert played.overflows == 0
    assert played.early_stop_ms == 0
    assert np.array_equal(played.audio.samples, np.concatenate([packet(n) for n in range(1, 6)]))


def test_a_packet_that_comes_too_late_is_an_underrun_and_leaves_a_hole() -> None:
    queue = PlayQueue(RATE)
    queue.start(0.0)
    queue.receive(packet(), 0.0)
    queue.receive(packet(), 0.1)
    played = queue.take()
    assert played.gaps_ms == (40.0,)
    assert played.underruns == 1
    assert played.audio.seconds == pytest.approx(0.16)


def test_silence_before_the_first_packet_and_after_the_last_is_no_underrun() -> None:
    queue = PlayQueue(RATE)
    queue.start(0.0)
    queue.receive(packet(), 5.0)
    queue.stop(9.0)
    queue.start(10.0)
    queue.receive(packet(), 15.0)
    played = queue.take()
    assert played.underruns == 0
    assert played.audio.seconds == pytest.approx(2 * FRAME)


def test_a_packet_that_finds_the_queue_full_is_lost() -> None:
    queue = PlayQueue(RATE, capacity=40)
    queue.start(0.0)
    for _ in range(43):  # one is being played, forty wait
        queue.receive(packet(), 0.0)
    assert queue.take().overflows == 2
    assert queue.drained_at == pytest.approx(41 * FRAME)


def test_a_queue_that_drains_meanwhile_does_not_overflow() -> None:
    queue = PlayQueue(RATE, capacity=5)
    queue.start(0.0)
    for count in range(200):
        queue.receive(packet(), max(0.0, (count - 5) * FRAME + 0.001))
    played = queue.take()
    assert (played.overflows, played.underruns) == (0, 0)
    queue.advance(200 * FRAME)
    assert played.audio.seconds + queue.take().audio.seconds == pytest.approx(200 * FRAME)


def test_a_stop_before_the_queue_has_drained_is_early_by_what_is_left() -> None:
    queue = PlayQueue(RATE)
    queue.start(0.0)
    for _ in range(10):
        queue.receive(packet(), 0.0)
    queue.stop(0.1)
    assert queue.take().early_stop_ms == 500.0
    assert queue.drained_at == pytest.approx(0.6)


def test_what_waits_is_thrown_away_by_an_interruption_and_by_the_next_reply() -> None:
    queue = PlayQueue(RATE)
    queue.start(0.0)
    for _ in range(10):
        queue.receive(packet(), 0.0)
    queue.stop(0.0, interrupted=True)
    assert queue.drained_at == pytest.approx(FRAME)
    assert queue.take().early_stop_ms == 0

    queue.start(1.0)
    for _ in range(10):
        queue.receive(packet(), 1.0)
    queue.start(1.0)
    assert queue.drained_at == pytest.approx(1.0 + FRAME)


def test_the_time_between_packets_is_kept_within_one_reply() -> None:
    queue = PlayQueue(RATE)
    queue.start(0.0)
    queue.receive(packet(), 0.0)
    queue.receive(packet(), 0.05)
    queue.start(7.0)
    queue.receive(packet(), 7.5)
    queue.receive(packet(), 7.53)
    assert queue.take().arrivals_ms == (50.0, 30.0)


def test_what_sounded_in_a_stretch_of_time_can_be_heard_again() -> None:
    queue = PlayQueue(RATE)
    queue.start(0.0)
    queue.receive(packet(1), 1.0)
    queue.receive(packet(2), 1.0)
    heard = queue.heard_between(0.97, 1.15)
    parts = np.concatenate([np.zeros(720, np.int16), packet(1), packet(2), np.zeros(720, np.int16)])
    assert np.array_equal(heard, parts)


@given(
    st.lists(st.floats(0, 0.3), min_size=1, max_size=80),
    st.integers(1, 10),
)
def test_every_packet_is_played_or_counted_as_lost(waits: list[float], capacity: int) -> None:
    queue = PlayQueue(RATE, capacity)
    queue.start(0.0)
    now = 0.0
    for wait in waits:
        now += wait
        queue.receive(packet(), now)
    queue.advance(queue.drained_at)
    played = queue.take()
    sounding = np.count_nonzero(played.audio.samples) // len(packet())
    assert sounding + played.overflows == len(waits)
    assert played.underruns == len(played.gaps_ms)
    assert all(gap >= 0 for gap in played.gaps_ms)
