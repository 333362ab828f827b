import numpy as np
import pytest

from server.audio import LISTENING_RATE, level_dbfs
from server.simulator.echo_path import EchoPath


def test_an_echo_comes_later_and_softer_whatever_pieces_it_is_played_in() -> None:
    played = np.random.default_rng(1).normal(0, 4000, 48_000).astype(np.int16)
    path = EchoPath(-20.0, delay_ms=125)
    heard = np.concatenate([path.push(played[n : n + 960]) for n in range(0, 48_000, 960)])
    late = LISTENING_RATE // 8
    assert not heard[:late].any()
    assert np.abs(heard[late:] - played[:-late] * 0.1).max() < 1


def test_a_room_goes_on_sounding() -> None:
    click = np.zeros(16_000, np.int16)
    click[0] = 20_000
    path = EchoPath(0.0, room=0.5)
    heard = np.concatenate([path.push(click[n : n + 960]) for n in range(0, 15_360, 960)])
    assert heard[0] == 20_000
    assert level_dbfs(heard[100:1000]) > level_dbfs(heard[2000:3000]) > level_dbfs(heard[3000:4000])
    assert not heard[4200:].any()
    assert np.sqrt(np.sum(heard[1:].astype(float) ** 2)) == pytest.approx(10_000, rel=0.05)
