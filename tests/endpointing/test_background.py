"""Whose voice breaks a silence: the level of who speaks to the robot against that of everybody else."""

import numpy as np
import pytest

from server.audio import LISTENING_RATE, Samples
from server.endpointing import Background

FRAME = 512
RNG = np.random.default_rng(7)


def talk(seconds: float, dbfs: float, spread_db: float = 4.0) -> list[Samples]:
    """Return frames of a voice of which syllables differ in level."""
    frames = []
    for index in range(round(seconds * LISTENING_RATE / FRAME)):
        level = dbfs + spread_db * (np.sin(index / 2.3) + RNG.normal(0, 0.25))
        noise = RNG.normal(0, 1, FRAME)
        frames.append((noise * 32768 * 10 ** (level / 20)).clip(-32768, 32767).astype(np.int16))
    return frames


def machine(seconds: float, dbfs: float) -> list[Samples]:
    return talk(seconds, dbfs, spread_db=0.0)


def share(background: Background, frames: list[Samples], *, in_turn: bool = True) -> float:
    """Return the share of the frames that is taken for the speaker's."""
    return float(np.mean([background.is_speaker(one, in_turn=in_turn) for one in frames]))


@pytest.mark.parametrize("below_db", [10, 20])
def test_a_television_that_was_there_before_is_not_the_speaker(below_db: float) -> None:
    background = Background(FRAME)
    share(background, talk(2.0, -20 - below_db))
    assert share(background, talk(1.5, -20)) > 0.8
    assert share(background, talk(3.0, -20 - below_db)) < 0.1


def test_a_sentence_that_falls_by_twenty_decibels_is_one_persons() -> None:
    background = Background(FRAME)
    assert share(background, talk(2.0, -20)) == 1
    assert share(background, talk(1.0, -40)) == 1


def test_one_word_with_weight_on_it_makes_nobody_a_television() -> None:
    background = Background(FRAME)
    share(background, talk(3.0, -28))
    share(background, talk(0.25, -17))
    assert share(background, talk(2.0, -28)) == 1
    assert background.level is None


def test_a_soft_beginning_is_no_background() -> None:
    background = Background(FRAME)
    share(background, talk(0.5, -36))
    share(background, talk(2.0, -20))
    assert share(background, talk(0.8, -36)) == 1


def test_the_next_turn_is_not_begun_by_the_television_but_by_somebody_louder() -> None:
    background = Background(FRAME)
    share(background, talk(2.0, -38))
    share(background, talk(1.0, -20))
    share(background, talk(0.7, -38))
    background.end_turn()
    background.begin_turn()
    assert share(background, talk(4.0, -38), in_turn=False) < 0.35
    assert share(background, talk(1.0, -20), in_turn=False) > 0.9


def test_who_began_softly_and_grew_loud_is_heard_when_soft_again_in_the_next_turn() -> None:
    background = Background(FRAME)
    share(background, talk(1.5, -36))
    share(background, talk(1.5, -20))
    for _ in range(20):
        background.pass_over()
    background.end_turn()
    background.begin_turn()
    assert share(background, talk(1.0, -36), in_turn=False) == 1


def test_a_television_that_was_switched_off_is_forgotten() -> None:
    background = Background(FRAME)
    share(background, talk(2.0, -38))
    share(background, talk(1.0, -20))
    for _ in range(round(11 * LISTENING_RATE / FRAME)):
        background.pass_over()
    background.begin_turn()
    assert background.level is None
    assert share(background, talk(1.0, -38)) == 1


def test_a_television_is_not_forgotten_behind_somebody_who_talks_for_long() -> None:
    background = Background(FRAME)
    share(background, talk(2.0, -38))
    share(background, talk(15.0, -20))
    assert share(background, talk(3.0, -38)) < 0.1


def test_a_machine_that_a_cheap_detector_takes_for_a_voice_holds_nothing_open() -> None:
    background = Background(FRAME)
    assert share(background, machine(1.0, -35)) == 1
    assert share(background, machine(5.0, -35)) < 0.1
