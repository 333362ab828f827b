"""The section of the configuration that says who answers, and what of that may be changed."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from server.config_section import Section
from server.config_values import Language


class Lock(StrEnum):
    """Who may change a field of the persona."""

    LOCKED = "locked"
    """Nobody, until it is unlocked by hand."""
    PROPOSED = "proposed"
    """Whoever runs the server; what is asked for in a talk waits for their word."""
    OPEN = "open"
    """Also whoever asks for it in a talk."""


class SoulLocks(Section):
    """Of what the robot is for, and what it never does."""

    mission: Lock = Lock.LOCKED
    principles: Lock = Lock.LOCKED
    boundaries: Lock = Lock.LOCKED
    response_style: Lock = Lock.LOCKED


class IdentityLocks(Section):
    """Of who the robot is."""

    name: Lock = Lock.LOCKED
    role: Lock = Lock.LOCKED
    voice: Lock = Lock.PROPOSED
    rules: Lock = Lock.PROPOSED


class LocksSection(Section):
    """Who may change which field of the persona, until that is set by hand."""

    soul: SoulLocks = SoulLocks()
    identity: IdentityLocks = IdentityLocks()

    def of(self, layer: str, field: str) -> Lock:
        """Return the lock of a field, ``soul`` and ``mission`` for instance."""
        lock: Lock = getattr(getattr(self, layer), field)
        return lock


class PersonaSection(Section):
    """Who answers."""

    name: Annotated[str, Field(min_length=1, max_length=40)] = "Omo"
    prompts: str = ""
    language: Language = "ja"
    locks: LocksSection = LocksSection()
