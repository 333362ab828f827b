"""The echo guard on babble that is made by rule: no models, no clock."""

import numpy as np
import pytest

from server.audio import LISTENING_RATE, Samples, level_dbfs
from server.config_hearing import EchoSection
from server.echo import EchoGuard, EchoPath, EchoPaths, SampleClock
from server.loudspeaker import BANDS, Loudspeaker, band_energies
from tests.babble import babble

RATE = 24_000
PLAYED, HEARD = RATE * 60 // 1000, LISTENING_RATE * 60 // 1000
BEGAN = 1000.0
SECTION = EchoSection()


def resampled(samples: Samples) -> Samples:
    places = np.arange(0, len(samples) - 1, RATE / LISTENING_RATE)
    lower: Samples = np.interp(places, np.arange(len(samples)), samples).astype(np.int16)
    return lower


class Room:
    """A robot that plays a sound and hears it, softer and later, besides what else is said and some noise."""

    def __init__(self, echo_db: float, delay: float = 0.12, burst: int = 1) -> None:
        self.speaker = Loudspeaker(RATE)
        self.path = EchoPath(SECTION)
        self.guard = EchoGuard(self.speaker, self.path, SECTION)
        self.echo_db, self.delay, self.burst = echo_db, delay, burst

    def hear(self, played: Samples, said: Samples | None = None) -> Samples:
        """Return what the guard lets through, as long as what was played."""
        echo = resampled(played).astype(np.float64) * 10 ** (self.echo_db / 20)
        late = int(self.delay * LISTENING_RATE)
        mic = np.random.default_rng(9).normal(0, 10, len(echo) + late)
        mic[late:] += echo
        if said is not None:
            mic[: len(said)] += said
        sound = np.clip(mic, -32768, 32767).astype(np.int16)
        heard, noted, waiting = [], 0, []
        for count in range(len(sound) // HEARD):
            now = BEGAN + (count + 1) * 0.06
            while noted * PLAYED < len(played) and BEGAN + noted * 0.06 - 0.6 <= now:
                frame = played[noted * PLAYED : (noted + 1) * PLAYED]
                self.speaker.note_frame(frame, BEGAN + noted * 0.06 if noted == 0 else now)
                noted += 1
            waiting.append(sound[count * HEARD : (count + 1) * HEARD])
            if len(waiting) == self.burst:
                heard += [self.guard.hear(packet, now + 0.02, 0.0) for packet in waiting]
                waiting.clear()
        return np.concatenate(heard)


def loud_share(sound: Samples, above_db: float = -45.0) -> float:
    """Return in which part of the steps of 20 ms something is to be heard."""
    steps = [sound[start : start + 320] for start in range(0, len(sound) - 319, 320)]
    return sum(level_dbfs(step) > above_db for step in steps) / len(steps)


@pytest.mark.parametrize("burst", [1, 6])
@pytest.mark.parametrize("delay", [0.02, 0.12, 0.45])
@pytest.mark.parametrize("echo_db", [-20.0, -10.0])
def test_of_the_robots_own_voice_nothing_is_left(echo_db: float, delay: float, burst: int) -> None:
    room = Room(echo_db, delay, burst)
    played = babble(12, RATE, seed=1)
    assert loud_share(resampled(played)) > 0.5
    assert loud_share(room.hear(played)) < 0.01
    assert room.path.delay_seconds == pytest.approx(delay, abs=0.05)
    assert room.path.level_db == pytest.approx(echo_db, abs=4)


def test_who_talks_over_it_is_heard_from_the_first_syllable() -> None:
    room = Room(-20.0)
    said = np.zeros(12 * LISTENING_RATE, np.int16)
    begins, words = 6 * LISTENING_RATE, babble(2, LISTENING_RATE, seed=2)
    said[begins : begins + len(words)] = words
    heard = room.hear(babble(12, RATE, seed=1), said)
    assert loud_share(heard[:begins]) < 0.01
    share = loud_share(heard[begins : begins + len(words)]) / loud_share(words)
    assert share > 0.9
    onset = int(np.flatnonzero(np.abs(words) > 1000)[0])
    assert loud_share(heard[begins + onset : begins + onset + 1920]) > 0.6


def test_a_robot_that_does_not_hear_itself_hears_everybody() -> None:
    room = Room(-90.0)
    said = babble(12, LISTENING_RATE, seed=2, db=-30)
    heard = room.hear(babble(12, RATE, seed=1), said)
    share = loud_share(heard[3 * LISTENING_RATE :]) / loud_share(said[3 * LISTENING_RATE :])
    assert share > 0.8


def test_somebody_who_talks_over_the_first_sound_does_not_make_its_echo_louder() -> None:
    path = EchoPath(SECTION)
    random = np.random.default_rng(4)
    played = np.full((60 + 2 * 40, BANDS), 1e3)
    path.learn(random.uniform(1e5, 1e7, (40, BANDS)), played, np.full(BANDS, 1.0))
    assert path.level_db <= SECTION.loudest_db


def test_without_anything_played_the_sound_passes_as_it_is() -> None:
    guard = EchoGuard(Loudspeaker(RATE), EchoPath(SECTION), SECTION)
    sound = babble(2, LISTENING_RATE, seed=3)[: 33 * HEARD]
    packets = [sound[start : start + HEARD] for start in range(0, len(sound), HEARD)]
    heard = [guard.hear(packet, BEGAN + 0.06 * n, 0.0) for n, packet in enumerate(packets)]
    assert np.array_equal(np.concatenate(heard), sound)


def test_in_half_duplex_what_was_made_before_the_end_of_the_reply_does_not_count() -> None:
    """Although it arrives later, in a burst."""
    guard = EchoGuard(Loudspeaker(RATE), EchoPath(SECTION), SECTION)
    sound = babble(1.2, LISTENING_RATE, seed=3)
    early = guard.hear(sound[:HEARD], BEGAN, BEGAN + 0.4)
    late = guard.hear(sound[HEARD : 15 * HEARD], BEGAN + 14 * 0.06 + 0.3, BEGAN + 0.4)
    heard = np.concatenate((early, late))
    deaf = int(0.46 * LISTENING_RATE)
    assert loud_share(sound[: deaf - 640], -50) > 0.5
    assert loud_share(heard[: deaf - 640], -50) == 0
    assert np.array_equal(heard[deaf + 320 :], sound[deaf + 320 : len(heard)])


def test_a_burst_does_not_move_the_clock_and_a_gap_does() -> None:
    clock = SampleClock()
    made = [clock.note(960, BEGAN + at) for at in (0.06, 0.12, 0.60, 0.60, 0.60)]
    assert made == pytest.approx([BEGAN + at for at in (0.0, 0.06, 0.12, 0.18, 0.24)])
    assert clock.note(960, BEGAN + 9.0) == pytest.approx(BEGAN + 8.94)


def test_energies_of_all_bands_add_up_to_that_of_the_sound_at_any_rate() -> None:
    for rate in (16_000, 24_000, 44_100, 48_000):
        frames = babble(2, rate, seed=4)[:rate].reshape(50, -1)
        whole = np.mean(frames.astype(np.float64) ** 2)
        assert band_energies(frames).sum(axis=1).mean() == pytest.approx(whole, rel=0.2)


def test_what_is_known_of_an_echo_is_kept_for_the_next_talk() -> None:
    paths = EchoPaths(SECTION)
    assert paths.of("a") is paths.of("a")
    assert paths.of("a") is not paths.of("b")


def test_sentences_are_known_by_when_they_sound() -> None:
    speaker = Loudspeaker(RATE)
    frame = np.zeros(PLAYED, np.int16)
    for text in ("one", "two"):
        speaker.note_sentence(text, 5.0)
        for _ in range(10):
            speaker.note_frame(frame, 5.0)
    assert speaker.sounds_until == pytest.approx(6.2)
    assert speaker.said_between(4.0, 4.9) == []
    assert speaker.said_between(5.1, 5.2) == ["one"]
    assert speaker.said_between(5.5, 5.7) == ["one", "two"]
    assert speaker.said_between(5.7, 9.0) == ["two"]
    assert speaker.said_between(6.3, 9.0) == []
