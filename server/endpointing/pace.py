"""The pace of whoever talks: how long they are used to pause before they go on."""

from collections import defaultdict, deque

import numpy as np

from server.endpointing.completeness import Completeness

_KEPT = 12
"""So many pauses of each kind are remembered: a talk changes."""
_ENOUGH = 3
"""One pause may have been the doorbell."""
_USUAL_PERCENT = 80


class Pace:
    """Learns from the pauses of one talk, and lengthens the silences that end an utterance. Counts in samples.

    It only ever lengthens: who speaks in one breath today may think tomorrow, and is then cut off.
    """

    def __init__(self, margin: int, most: int) -> None:
        """Begin with a talk.

        Args:
            margin: How much longer than a usual pause a silence has to be.
            most: By how much a silence is lengthened at the most.
        """
        self._margin = margin
        self._most = most
        self._pauses: defaultdict[Completeness | None, deque[int]] = defaultdict(
            lambda: deque(maxlen=_KEPT)
        )

    def went_on(self, pause: int, after: Completeness | None) -> None:
        """Note that the speaker went on after a pause.

        Args:
            pause: Its length.
            after: What was thought of the words before it; None if they were not known.
        """
        self._pauses[after].append(pause)

    def lengthened(self, silence: int, after: Completeness | None) -> int:
        """Return how long the silence has to be for this speaker that is `silence` for everybody."""
        pauses = self._pauses[after]
        if len(pauses) < _ENOUGH:
            return silence
        usual = int(np.percentile(pauses, _USUAL_PERCENT)) + self._margin
        return min(max(silence, usual), silence + self._most)
