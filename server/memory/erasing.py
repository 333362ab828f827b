"""What is to be erased, in the terms of the store, and what went."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Erasing:
    """Everything that goes together. What is not there does not matter."""

    facts: tuple[str, ...] = ()
    """Their words are cut out of the exchanges, wherever they were said."""
    pages: tuple[str, ...] = ()
    """They go wholly, and the facts drawn from them. Where these were said in other exchanges, too, they are drawn anew."""
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is cut out of exchanges that stay, by page."""
    answers: tuple[str, ...] = ()
    """Exchanges that lose what the robot said in them."""
    words: str = ""
    """What else holds these words is deleted: profile, traits, notes and summaries of the same persons."""
    person: str = ""
    """Of whom everything goes; else empty."""

    def __bool__(self) -> bool:
        """Whether there is anything to erase."""
        found = (self.facts, self.pages, self.sentences, self.answers, self.person)
        return any(map(bool, found))


@dataclass(frozen=True, slots=True)
class Erased:
    """What went, or would go."""

    persons: frozenset[str] = frozenset()
    counts: Mapping[str, int] = field(default_factory=dict)
    """By kind: facts, exchanges, cut (exchanges that stay without some of their sentences), answers, topics, summaries,
    profile, traits, notes. Those of which nothing went are missing."""

    open_signs: tuple[str, ...] = ()
    """The kinds of the danger signs among them that nobody has looked at yet."""

    @property
    def facts(self) -> int:
        """How many facts."""
        return self.counts.get("facts", 0)

    @property
    def total(self) -> int:
        """How many records of any kind."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Order:
    """Who erases, and what has to be done beside the store."""

    actor: str
    kind: str
    at: datetime
    turns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By person, the turns whose recordings go."""
    is_whole: bool = False
    """Whether all recordings of these persons go."""
