"""What else is to be heard where somebody speaks: told from their voice by its level, so that it holds no turn open.

A voice activity model hears the difference between a fan and a voice, but not between the one who speaks to the robot and
a television. Whoever is louder by far is the one who speaks to it, if the quieter voice was there before them: a quieter
voice that only follows a loud one is the same person, who lets the end of a sentence fall.
"""

import math
from collections import deque

import numpy as np

from server.audio import LISTENING_RATE, Samples, level_dbfs

_SYLLABLE_SECONDS = 0.16
"""Over so much sound levels are taken: those of single frames go up and down by twenty decibels."""
_REMEMBERED_SECONDS = 10.0
"""For how long a voice in the background is reckoned with when it could be heard, and is not."""
_PROOF_SECONDS = 0.8
"""So much of a voice must have been heard before a louder one is taken for somebody else's."""
_LOUD_SECONDS = 0.7
"""So much of the louder one is looked at: one word with weight on it makes nobody somebody else."""
_STEPS_DB = ((2.0, 6.0), (0.0, 8.0))
"""How much louder it has to be, after so many seconds of the first one: of a longer one it is known how loud it gets."""
_USUAL_PERCENT, _HIGH_PERCENT, _LOUD_PERCENT = 50, 75, 90
_AGREED, _ASKED = 4, 6
"""Among so many frames so many have to be the speaker's, where there are others: their level rises for a moment, too."""
_BELOW_SPEAKER_DB = 5.0
_ABOVE_OTHERS_DB = 3.0
_CONFIRMED_SECONDS = 0.5
"""A background is still there, most of the time, in so much of the silence that ends a turn."""
_STEADY_SECONDS = 1.2
_STEADY_DB = 4.0
"""Sound whose level varies less for so long is a machine: nobody speaks so evenly."""


class Background:
    """Follows the levels of one microphone, frame by frame. Counts in frames, knows no clock."""

    def __init__(self, frame_samples: int) -> None:
        """Begin with a microphone.

        Args:
            frame_samples: Length of the frames that will come.
        """
        self._per_second = LISTENING_RATE / frame_samples
        self._syllable: deque[float] = deque(maxlen=self._frames_in(_SYLLABLE_SECONDS))
        self._steady: deque[float] = deque(maxlen=self._frames_in(_STEADY_SECONDS))
        self._remembered = self._frames_in(_REMEMBERED_SECONDS)
        self._others: deque[tuple[int, float]] = deque(maxlen=self._remembered)
        """When somebody else, or something, was heard, and how loud."""
        self._frame = 0
        """Counts those in which the speaker is silent, and others can be heard."""
        self._level: float | None = None
        self._lately: deque[bool] = deque(maxlen=self._frames_in(_CONFIRMED_SECONDS))
        """Whether others were heard in the last frames."""
        self.begin_turn()

    @property
    def level(self) -> float | None:
        """How loud the voices in the background get, in dB relative to full scale; None if there are none."""
        return self._level

    @property
    def in_doubt(self) -> bool:
        """Whether the last frame was not the speaker's only because too few before it were."""
        return bool(self._votes) and self._votes[-1]

    def is_speaker(self, frame: Samples, *, in_turn: bool) -> bool:
        """Say whether the voice in a frame is that of whoever speaks to the robot.

        Args:
            frame: A frame with a voice in it; those without one go to `pass_over`.
            in_turn: Whether an utterance is open.
        """
        level = self._follow(frame)
        is_machine = self._is_steady()
        if is_machine:
            self._votes.clear()
        if is_machine or self._is_others(level, in_turn=in_turn):
            self._frame += 1
            self._others.append((self._frame, level))
            self._lately.append(True)
            self._reckon()
            return False
        self._lately.append(False)
        if in_turn:
            self._speak(level)
        return True

    def pass_over(self) -> None:
        """Take note of a frame without a voice."""
        self._frame += 1
        self._syllable.clear()
        self._steady.clear()
        self._votes.clear()
        self._lately.append(False)
        if self._others and self._frame - self._others[0][0] > self._remembered:
            self._reckon()

    def begin_turn(self) -> None:
        """Forget how loud the last speaker was: the next one may stand further away."""
        self._heard: list[float] = []
        """Levels of the turn's voice."""
        self._votes: deque[bool] = deque(maxlen=_ASKED)
        self._loudest = -math.inf

    def end_turn(self) -> None:
        """Forget a background that fell silent with the speaker: it was the same person, who had begun softly."""
        if sum(self._lately) * 2 < len(self._lately):
            self._others.clear()
            self._level = None

    def _follow(self, frame: Samples) -> float:
        """Return the level of the syllable that the frame is part of."""
        now = level_dbfs(frame)
        self._syllable.append(now)
        self._steady.append(now)
        return float(10 * np.log10(np.power(10.0, np.array(self._syllable) / 10).mean()))

    def _is_steady(self) -> bool:
        return (
            len(self._steady) == self._steady.maxlen
            and max(self._steady) - min(self._steady) < _STEADY_DB
        )

    def _is_others(self, level: float, *, in_turn: bool) -> bool:
        if self._level is None:
            return False
        limit = self._level + _ABOVE_OTHERS_DB
        if not in_turn:
            self._votes.clear()
            return level < limit
        limit = min(limit, self._loudest - _BELOW_SPEAKER_DB)
        self._votes.append(level >= limit)
        return sum(self._votes) < min(_AGREED, len(self._votes))

    def _speak(self, level: float) -> None:
        """Take the level of a speaker, and find out whether somebody else was heard before."""
        self._loudest = max(self._loudest, level)
        self._heard.append(level)
        loud = self._frames_in(_LOUD_SECONDS)
        before, lately = self._heard[:-loud], self._heard[-loud:]
        seconds = len(before) / self._per_second
        if seconds < _PROOF_SECONDS:
            return
        step = next(step for least, step in _STEPS_DB if seconds >= least)
        if np.percentile(lately, _USUAL_PERCENT) >= np.percentile(before, _HIGH_PERCENT) + step:
            self._others.extend((self._frame, one) for one in before)
            self._heard = lately
            self._reckon()

    def _reckon(self) -> None:
        while self._others and self._frame - self._others[0][0] > self._remembered:
            self._others.popleft()
        enough = len(self._others) >= self._frames_in(_PROOF_SECONDS)
        levels = [level for _, level in self._others]
        self._level = float(np.percentile(levels, _LOUD_PERCENT)) if enough else None

    def _frames_in(self, seconds: float) -> int:
        return max(1, round(seconds * self._per_second))
