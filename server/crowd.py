"""Who has to leave when too many connections stand at a door."""

from typing import Generic, TypeVar

T = TypeVar("T")


class Crowd(Generic[T]):
    """The open connections of one door, by the address that they come from.

    Nobody can shut the others out: once every place is taken, the newest connection of the address that holds the most
    has to go. For use inside the event loop only.
    """

    def __init__(self, places: int, places_per_address: int) -> None:
        self._places = places
        self._places_per_address = places_per_address
        self._by_address: dict[str, list[T]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def enter(self, address: str, connection: T) -> T | None:
        """Note a connection; return the one that has no place now, perhaps the same one. It counts as gone at once."""
        own = self._by_address.setdefault(address, [])
        own.append(connection)
        self._count += 1
        if len(own) > self._places_per_address:
            return self._drop_newest(address)
        if self._count > self._places:
            return self._drop_newest(self._find_fullest(address))
        return None

    def leave(self, address: str, connection: T) -> None:
        """Note that a connection has ended. Does nothing if it had no place."""
        own = self._by_address.get(address, [])
        if connection in own:
            own.remove(connection)
            self._tidy(address)

    def _find_fullest(self, newcomer: str) -> str:
        most = max(len(connections) for connections in self._by_address.values())
        if len(self._by_address[newcomer]) == most:
            return newcomer
        return next(address for address, held in self._by_address.items() if len(held) == most)

    def _drop_newest(self, address: str) -> T:
        newest = self._by_address[address].pop()
        self._tidy(address)
        return newest

    def _tidy(self, address: str) -> None:
        self._count -= 1
        if not self._by_address[address]:
            del self._by_address[address]
