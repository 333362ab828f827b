"""How fast a recogniser is here and now: measured with every recognition, not assumed."""

from collections import deque

_REMEMBERED = 8


class Speed:
    """Compares how long recognitions took with how long the speech was."""

    def __init__(self) -> None:
        self._last: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED)

    def took(self, seconds: float, sound_seconds: float) -> None:
        """Take note of a recognition, with the time for which it had to wait."""
        self._last.append((seconds, sound_seconds))

    @property
    def keeps_up(self) -> bool:
        """Whether it is faster than people talk, or nothing is known yet."""
        return sum(took for took, _ in self._last) <= sum(sound for _, sound in self._last)
