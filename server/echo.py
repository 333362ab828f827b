"""Echo guard: turns down in what a robot hears what it has just said itself, and leaves everybody else in.

What was given to the loudspeaker is compared with what the microphone heard, by the energies of some frequency bands in
steps of 20 ms. How late the echo comes and how loud it is in each band is learnt from the sound. A step that is no louder
than the echo can be is turned down to the level of the room; one that is louder has somebody else in it, and passes.
Nothing is subtracted: that would need the delay to a fraction of a millisecond, which no network keeps.
"""

from collections import OrderedDict, deque
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.audio import LISTENING_RATE, Samples
from server.config_hearing import EchoSection
from server.loudspeaker import BANDS, FLOOR, SLOTS_PER_SECOND, Energies, Loudspeaker, band_energies

Flags: TypeAlias = NDArray[np.bool_]

_STEP = LISTENING_RATE // 50
_STEP_SLOTS = SLOTS_PER_SECOND // 50

_WINDOW_STEPS = 50
"""Over how many steps (1 s) likeness is measured ..."""
_FEWEST_STEPS = 12
"""... and from how many on."""
_EVERY_STEPS = 4
_SELDOM_STEPS = 12
_LIKE = 0.7
"""Likeness from which what was heard is an echo: an echo has 0.85 to 0.95, another voice 0 to 0.6."""
_UNLIKE = 0.45
_ENOUGH_STEPS = 15
"""So many loud steps that are not like what is played are no echo, even if its level is not known yet."""
_LOUD = 0.01
"""What part of its loudest moment (-20 dB) what is played has to reach to tell how loud its echo is."""
_CLEAR = 0.003
"""What part of the loudest step (-25 dB) a step has to reach to be compared."""
_STEADY = 10.0
"""How far, as a factor, the energy of an echo varies against that of what is played; with another voice in it, more."""
_FALL = 0.25
"""To what part the expected energy of an echo that does not come falls each time."""
_HOLDS = 15
"""How many times more (1.2 s) a delay is relied on without having been found again."""
_TAIL_SLOTS = 24
_TAIL_DB_PER_SLOT = 2.0
"""How a room goes on sounding: 60 dB less in 300 ms. Longer ones only raise the learnt level."""
_FADING = 10 ** (-_TAIL_DB_PER_SLOT / 10 * np.arange(_TAIL_SLOTS)[::-1, None])
_EARLY_SLOTS, _LATE_SLOTS = 4, 3

_SHARE = 0.5
"""What part of the energy of a step has to be beyond any echo for somebody else to be in it."""
_ABOVE_ROOM = 4.0
_RECENT, _MANY = 8, 4
"""Where so many of the last steps had somebody in them, the soft ones between pass, too."""

_LATEST_SECONDS = 1.0
"""Sound that is later than this was not held up: nothing was sent before it."""


class SampleClock:
    """Tells when the samples of a stream were made, although they arrive in bursts and sometimes late.

    A packet can be late, never early: the earliest of the last ones tells the time of all.
    """

    _KEPT = 32

    def __init__(self) -> None:
        self._samples = 0
        self._origins: deque[float] = deque(maxlen=self._KEPT)

    def note(self, count: int, now: float) -> float:
        """Count samples that have arrived; return when the first of them was made."""
        origin = now - (self._samples + count) / LISTENING_RATE
        if self._origins and origin - min(self._origins) > _LATEST_SECONDS:
            self._origins.clear()
        self._origins.append(origin)
        made_at = min(self._origins) + self._samples / LISTENING_RATE
        self._samples += count
        return made_at


class EchoPath:
    """What is known of the way from a loudspeaker to its microphone: how late the echo is, and how loud in each band."""

    def __init__(self, section: EchoSection) -> None:
        """Know nothing: anything that is not much louder than what is played may be its echo."""
        self._softest = 10 ** (section.softest_db / 10)
        self._cancelled = 10 ** (section.cancelled_db / 10)
        self._margin = 10 ** (section.margin_db / 10)
        self._loudest_played: Energies = np.full(BANDS, 100 * FLOOR)
        self._gain: Energies = np.full(BANDS, 10 ** (section.loudest_db / 10))
        self._is_known = False
        self._delay_slots: int | None = None
        self._holds = 0
        """How many times more the delay may be relied on."""
        self._is_other = False

    @property
    def delay_seconds(self) -> float | None:
        """How late the echo is, the line included; None as long as none was heard."""
        return None if self._delay_slots is None else self._delay_slots / SLOTS_PER_SECOND

    @property
    def is_sure(self) -> bool:
        """Whether the echo was found a moment ago."""
        return self._holds >= _HOLDS

    @property
    def level_db(self) -> float:
        """How loud the echo is against what is played, in the middle of its bands."""
        return float(10 * np.log10(np.median(self._gain)))

    def expect_cancelled(self) -> None:
        """Take it that the robot cancels its echo itself, until it is known how much it leaves."""
        if not self._is_known:
            self._gain = np.minimum(self._gain, self._cancelled)

    def learn(self, heard: Energies, played: Energies, room: Energies) -> None:
        """Compare what was heard in the last steps with what was played until then.

        Args:
            heard: Of the last steps, shape (n, bands).
            played: Of the slots from the longest delay before the first of these steps to the end of the last.
            room: When nobody makes a sound.
        """
        most = len(played) - _STEP_SLOTS * len(heard)
        self._loudest_played = np.maximum(self._loudest_played, played.max(axis=0))
        levels = heard.sum(axis=1)
        least = self._softest * float(played.sum(axis=1).max())  # softer is no echo, nor anybody
        is_loud = levels > max(_ABOVE_ROOM * room.sum(), _CLEAR * levels.max(), least)
        likeness, lag = _liken(heard, played, most, np.flatnonzero(is_loud))
        self._holds = max(0, self._holds - 1)
        if likeness >= _LIKE:
            self._holds = _HOLDS
            self._delay_slots = most - lag
            lags = range(max(0, lag - 1), min(most, lag + 1) + 1)
            ends = [first + _STEP_SLOTS * len(heard) for first in lags]
            near = [played[first:end:_STEP_SLOTS] for first, end in zip(lags, ends, strict=True)]
            self._measure(heard, np.maximum.reduce(near), room)
        else:
            self._lower(heard, played[most : len(played) - most], room)
        self._is_other = likeness < _UNLIKE and int(np.sum(is_loud)) >= _ENOUGH_STEPS

    def find_others(self, heard: Energies, played: Energies, room: Energies) -> Flags:
        """Say in which steps somebody else is to be heard.

        Args:
            heard: Of the steps.
            played: As for `learn`.
            room: As for `learn`.
        """
        if self._delay_slots is None and self._is_other:
            return np.ones(len(heard), np.bool_)
        echo = self._expect(played, len(heard)) + _ABOVE_ROOM * room
        beyond = np.where(heard > echo, heard, 0.0).sum(axis=1)
        found: Flags = beyond >= _SHARE * heard.sum(axis=1)
        return found

    def _expect(self, played: Energies, steps: int) -> Energies:
        """Return the loudest echo that there can be in each step."""
        most = len(played) - _STEP_SLOTS * steps
        ends = [most + _STEP_SLOTS * (1 + step) for step in range(steps)]
        anyhow = np.stack([played[end - most - _STEP_SLOTS : end].max(axis=0) for end in ends])
        loudest: Energies = anyhow * self._gain * self._margin
        if self._delay_slots is None or not self._holds:
            return loudest
        due = np.stack([_due(played, end - self._delay_slots) for end in ends])
        # A line that stood still moves the delay before that can be learnt: so a little is allowed at any delay.
        louder: Energies = np.maximum(due * self._margin, anyhow)
        louder *= self._gain
        return louder

    def _measure(self, heard: Energies, played: Energies, room: Energies) -> None:
        loud = played >= self._loudest_played * _LOUD
        ratios = np.maximum(heard - room, FLOOR) / np.maximum(played, FLOOR)
        for band in range(BANDS):
            of_band = ratios[loud[:, band], band]
            if len(of_band) < _FEWEST_STEPS:
                continue
            of_band.sort()
            low, high = of_band[len(of_band) // 4], of_band[len(of_band) * 3 // 4]
            if high <= _STEADY * low:
                self._gain[band] = max(self._softest, float(high))
        self._is_known = True

    def _lower(self, heard: Energies, due: Energies, room: Energies) -> None:
        """Take the echo for no louder than all that was heard when it must have come."""
        loudest = due.max(axis=0, initial=0.0)
        sure = loudest >= self._loudest_played * _LOUD
        if not sure.any():
            return
        most = np.maximum((heard.max(axis=0) + room) / np.maximum(loudest, FLOOR), self._softest)
        least = self._gain * (_FALL if self._is_known else 0.0)
        lower = np.minimum(self._gain, np.maximum(most, least))
        self._gain[sure] = lower[sure]
        self._is_known = True


class EchoPaths:
    """What is known of the echo of each robot, over its connections: it connects anew for every talk."""

    _MOST = 1_000

    def __init__(self, section: EchoSection) -> None:
        self._section = section
        self._paths: OrderedDict[str, EchoPath] = OrderedDict()

    def of(self, device: str) -> EchoPath:
        """Return that of a device, which goes on learning."""
        path = self._paths.pop(device, None) or EchoPath(self._section)
        self._paths[device] = path
        while len(self._paths) > self._MOST:
            self._paths.popitem(last=False)
        return path


def _due(played: Energies, end: int) -> Energies:
    """Return what of the sound of a step that ends in a slot, and of those before it, is still in the room."""
    before = played[max(0, end - _TAIL_SLOTS) : max(1, end)]
    around = played[max(0, end - _EARLY_SLOTS) : max(1, end + _LATE_SLOTS)]
    due: Energies = np.maximum((before * _FADING[-len(before) :]).max(axis=0), around.max(axis=0))
    return due


def _liken(
    heard: Energies, played: Energies, most: int, loud: NDArray[np.intp]
) -> tuple[float, int]:
    """Return how alike the courses of two sounds are, from -1 to 1, at the delay where they are most, and which that is.

    The place counts from the longest delay. Only loud steps are compared: that both begin and end says little.
    """
    if len(loud) < _FEWEST_STEPS:
        return 0.0, 0
    ours = np.log(heard[loud] + FLOOR)
    ours -= ours.mean(axis=0)
    theirs = np.log(played + 100 * FLOOR)[np.arange(most + 1)[:, None] + _STEP_SLOTS * loud]
    theirs -= theirs.mean(axis=1, keepdims=True)
    flat = theirs.reshape(most + 1, -1)
    sizes = np.sqrt(np.einsum("ij,ij->i", flat, flat) * float(np.sum(ours * ours)))
    scores = np.where(sizes > 1.0, flat @ ours.reshape(-1) / np.maximum(sizes, 1.0), 0.0)
    best = int(np.argmax(scores))
    return float(scores[best]), best


class EchoGuard:
    """The microphone of a robot, behind its loudspeaker. Feed all that it hears, in order."""

    def __init__(self, speaker: Loudspeaker, path: EchoPath, section: EchoSection) -> None:
        """Start on a stream.

        Args:
            speaker: What the robot is given to play.
            path: What is known of its echo, perhaps from an earlier talk; it goes on learning.
            section: How much of an echo there may be.
        """
        self._speaker = speaker
        self._path = path
        self._longest = round(section.longest_delay_ms * SLOTS_PER_SECOND / 1000)
        self._room: Energies = np.full(BANDS, FLOOR)
        self.reset()

    def reset(self) -> None:
        """Forget the sound so far, as after a gap; what is known of the echo and the room stays."""
        self._clock = SampleClock()
        self._rest: Samples = np.zeros(0, np.int16)
        self._heard: Energies = np.zeros((0, BANDS))
        self._recent: Flags = np.zeros(_RECENT, np.bool_)
        self._unlearnt = 0

    def hear(self, samples: Samples, now: float, deaf_until: float) -> Samples:
        """Return what was heard without the robot's own voice. Up to 20 ms are kept back until more comes.

        Args:
            samples: What has arrived, at `LISTENING_RATE`.
            now: When it arrived.
            deaf_until: Before this moment nobody else counts either: half duplex.
        """
        made_at = self._clock.note(len(samples), now) - len(self._rest) / LISTENING_RATE
        joined = np.concatenate((self._rest, samples))
        count = len(joined) // _STEP
        self._rest = joined[count * _STEP :]
        if count == 0:
            return joined[:0]
        steps = joined[: count * _STEP].reshape(count, _STEP)
        heard = band_energies(steps)
        passes = self._judge(heard, round(made_at * SLOTS_PER_SECOND))
        passes &= made_at + np.arange(1, count + 1) * _STEP / LISTENING_RATE > deaf_until
        if passes.all():
            return joined[: count * _STEP]
        level = np.sqrt(np.minimum(1.0, self._room.sum() / np.maximum(heard.sum(axis=1), FLOOR)))
        gains = np.where(passes, 1.0, level)
        quieter: Samples = np.rint(steps * gains[:, None]).astype(np.int16).reshape(-1)
        return quieter

    def _judge(self, heard: Energies, first_slot: int) -> Flags:
        """Say which steps may pass."""
        steps = len(heard)
        self._heard = np.concatenate((self._heard, heard))[-_WINDOW_STEPS:]
        end = first_slot + _STEP_SLOTS * steps
        played = self._speaker.energies(first_slot - self._longest, end)
        if played.max() <= FLOOR:
            self._follow_room(heard)
            self._recent[:] = False
            return np.ones(steps, np.bool_)
        self._unlearnt += steps
        if (
            self._unlearnt >= (_SELDOM_STEPS if self._path.is_sure else _EVERY_STEPS)
            and len(self._heard) >= _FEWEST_STEPS
        ):
            self._unlearnt = 0
            start = end - _STEP_SLOTS * len(self._heard)
            so_far = self._speaker.energies(start - self._longest, end)
            self._path.learn(self._heard, so_far, self._room)
        return self._smooth(self._path.find_others(heard, played, self._room))

    def _smooth(self, others: Flags) -> Flags:
        known = np.concatenate((self._recent, others))
        self._recent = known[-_RECENT:]
        smoothed: Flags = others | (np.convolve(known, np.ones(_RECENT + 1), "valid") >= _MANY)
        return smoothed

    def _follow_room(self, heard: Energies) -> None:
        """Follow the level of the room, down faster than up."""
        for energies in heard:
            is_lower = energies < self._room
            nearer = np.where(is_lower, 0.9 * self._room + 0.1 * energies, 1.01 * self._room)
            self._room = np.maximum(np.where(is_lower, nearer, np.minimum(nearer, energies)), FLOOR)
