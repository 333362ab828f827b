"""The places for connected robots: how many there are, and who makes room for whom."""

from collections.abc import Callable
from dataclasses import dataclass

from server.config import LimitsSection
from server.errors import AccessError


@dataclass(slots=True, eq=False)
class Place:
    """One connection that takes part in the count."""

    household: str
    """Whom it is counted for; empty if only the total counts."""
    is_known: bool
    """Whether it may ask a stranger for its place, and need not give up its own."""
    is_returning: bool
    """Whether an older connection of the same robot ends because of this one."""
    give_up: Callable[[], None]
    """Ends the connection. Returns at once."""
    is_greeted: bool = False
    """Whether it has said hello."""


class Places:
    """No stranger can shut known robots out, and no address all others. For use inside the event loop only."""

    def __init__(self, limits: LimitsSection) -> None:
        self._total = limits.connections
        self._per_household = limits.connections_per_address
        self._taken: dict[Place, None] = {}
        """From the oldest to the newest."""

    def take(self, place: Place) -> None:
        """Count a connection, if need be in place of a stranger's, which is ended.

        Raises:
            AccessError: `too-many-connections`.
        """
        crowd = [] if place.is_returning else self._find_crowd(place.household)
        if crowd:
            strangers = [other for other in crowd if not other.is_known]
            if not (place.is_known and strangers):
                raise AccessError(
                    "too-many-connections",
                    "Every place is taken; try again in a minute. There are as many as limits.connections says, and "
                    "limits.connections_per_address for one address.",
                )
            silent = [other for other in strangers if not other.is_greeted]
            loser = (silent or strangers)[0]
            self.leave(loser)
            loser.give_up()
        self._taken[place] = None

    def leave(self, place: Place) -> None:
        """Note the end of a connection. Does nothing if its place is another's by now."""
        self._taken.pop(place, None)

    def _find_crowd(self, household: str) -> list[Place]:
        """Return those of whom one has to go before another may come; nobody if there is room."""
        own = [place for place in self._taken if household and place.household == household]
        if len(own) >= self._per_household:
            return own
        return list(self._taken) if len(self._taken) >= self._total else []
