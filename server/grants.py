"""What a caller of the API may do: how much, and with whose memory."""

from dataclasses import dataclass
from enum import IntEnum

from server.errors import AccessError

EVERYBODY = "*"
"""Stands for all persons where persons are listed."""


class Scope(IntEnum):
    """How much a caller may do; each includes those before it."""

    READ = 1
    """See what is stored of the persons."""
    WRITE = 2
    """Talk as them; correct, forget and draw anew what is stored of them."""
    ADMIN = 3
    """See and change what belongs to the server: robots, figures, the configuration."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What one key allows."""

    scope: Scope
    persons: frozenset[str]
    """Whose memory; with `EVERYBODY` in it everybody's."""

    @property
    def is_for_everybody(self) -> bool:
        """Whether it reaches the memory of persons that nobody named."""
        return EVERYBODY in self.persons

    def allows(self, person: str) -> bool:
        """Whether the memory of a person is within reach."""
        return self.is_for_everybody or person in self.persons

    def check(self, scope: Scope) -> None:
        """Refuse what goes further.

        Raises:
            AccessError: `scope-missing`.
        """
        if self.scope < scope:
            raise AccessError(
                "scope-missing",
                f"This key may not do that: it takes the scope {scope.name.lower()}, and the key has {self.scope.name.lower()}.",
            )

    def check_person(self, person: str) -> None:
        """Refuse the memory of a person who is not named in the key. Whether there is such a person is not told.

        Raises:
            AccessError: `person-forbidden`.
        """
        if not self.allows(person):
            raise AccessError("person-forbidden", "This key does not reach that person's memory.")

    def choose(self, person: str, usual: str) -> str:
        """Return whose memory is meant, and refuse if that is out of reach.

        Args:
            person: Who was named; empty if nobody was.
            usual: Who is meant then, unless the key names exactly one person.

        Raises:
            AccessError: `person-forbidden`.
        """
        if not person and not self.allows(usual) and len(self.persons) == 1:
            (person,) = self.persons
        self.check_person(person or usual)
        return person or usual


EVERYTHING = Grant(Scope.ADMIN, frozenset({EVERYBODY}))
"""What programs on this machine and the API token of the server may do."""


@dataclass(frozen=True, slots=True)
class Right:
    """What a connection stands on."""

    token_generation: int
    person: str
    """Of the device, if it names nobody."""
    is_guest: bool
    given: int
    """How often its Device-Id was given to somebody."""
    grant: Grant | None
    """Of the key that came along, if any."""
