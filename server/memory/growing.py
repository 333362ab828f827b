"""An array that grows at its end without being copied every time."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)

_GROWTH = 1.5
"""How much larger the room is made when it is full: so each row is copied a few times at most, however many come."""


class GrowingArray(Generic[S]):
    """Rows of one shape; more can be added behind the last."""

    def __init__(self, rows: NDArray[S]) -> None:
        """Begin with some rows. The array belongs to this object from then on."""
        self._room = rows
        self._length = len(rows)

    @property
    def rows(self) -> NDArray[S]:
        """The rows that are there, to be read and written. Ask again after `extend`."""
        return self._room[: self._length]

    def copy(self) -> "GrowingArray[S]":
        """Return the same rows, to be added to while this object stays as it is. Only the newest copy may be added to."""
        twin = GrowingArray(self._room)
        twin._length = self._length
        return twin

    def extend(self, rows: NDArray[S]) -> None:
        """Add rows."""
        length = self._length + len(rows)
        if length > len(self._room):
            larger = max(length, int(len(self._room) * _GROWTH))
            room = np.empty((larger, *self._room.shape[1:]), self._room.dtype)
            room[: self._length] = self.rows
            self._room = room
        self._room[self._length : length] = rows
        self._length = length
