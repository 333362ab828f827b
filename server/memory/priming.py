"""What a talk begins with: who the person is, what must never be acted against, and what the last days were about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import TypeAlias

from anyio import to_thread

from server.config import FadingSection, LongTermSection, SummariesSection
from server.memory.fading import has_faded
from server.memory.knowledge import knowledge
from server.memory.models import (
    DaySummary,
    Fact,
    Level,
    ProfileEntry,
    ProfileField,
    Trait,
)
from server.memory.outlived import still_held
from server.memory.person_cache import PersonCache
from server.memory.portrait import newest_of
from server.memory.recent_days import Reading, told_today
from server.memory.remainder import Lapsed, lapsed
from server.memory.restated import untold
from server.memory.speakers import Speakers
from server.memory.standing import standing
from server.memory.store import Store
from server.memory.traits import Dimension

MOST_PERSONS = 200
_MOST_TRAITS = 6
MOST_STANDING = 12
"""More than fit into a prompt: of those, the gravest are told, or those that the talk touches."""
_FOR_LIFE = frozenset({ProfileField.NAME, ProfileField.BIRTH, ProfileField.GENDER})
"""What is told without the day on which it was said."""
_LABELS: Mapping[str, Mapping[ProfileField, str]] = {
    "ja": {
        ProfileField.NAME: "名前", ProfileField.BIRTH: "生まれ", ProfileField.GENDER: "性別", ProfileField.HOME: "住まい",
        ProfileField.WORK: "仕事", ProfileField.FAMILY: "家族", ProfileField.PREFERENCE: "大切なこと", ProfileField.HEALTH: "体のこと",
    },
    "zh": {
        ProfileField.NAME: "名字", ProfileField.BIRTH: "出生", ProfileField.GENDER: "性别", ProfileField.HOME: "住处",
        ProfileField.WORK: "工作", ProfileField.FAMILY: "家人", ProfileField.PREFERENCE: "在意的事", ProfileField.HEALTH: "身体",
    },
    "en": {
        ProfileField.NAME: "Name", ProfileField.BIRTH: "Born", ProfileField.GENDER: "Gender", ProfileField.HOME: "Home",
        ProfileField.WORK: "Work", ProfileField.FAMILY: "Family", ProfileField.PREFERENCE: "Must have", ProfileField.HEALTH: "Health",
    },
}  # fmt: skip
_CHARACTER = {"ja": "人柄", "zh": "性格", "en": "Character"}
_LEVELS = {
    "ja": {Level.HIGH: "高い", Level.MEDIUM: "ふつう", Level.LOW: "低い"},
    "zh": {Level.HIGH: "高", Level.MEDIUM: "中", Level.LOW: "低"},
    "en": {Level.HIGH: "high", Level.MEDIUM: "medium", Level.LOW: "low"},
}


@dataclass(frozen=True, slots=True)
class Priming:
    """What is known of a person at one moment."""

    profile: tuple[ProfileEntry, ...] = ()
    traits: tuple[Trait, ...] = ()
    knowledge: tuple[Fact, ...] = ()
    """The durable subset of the facts, what is pinned first, then the newest (MemoryOS: user knowledge base). What stands is
    in it, too."""
    standing: tuple[Fact, ...] = ()
    days: tuple[DaySummary, ...] = ()
    """Newest last."""
    lapsed: Mapping[str, Lapsed] = field(default_factory=dict)
    """By page, what facts were drawn from it, where any of them has been replaced or has faded."""

    def speakers(self, agent: str) -> Speakers:
        """Return the names of the two that talk."""
        named = (entry.value for entry in self.profile if entry.field is ProfileField.NAME)
        return Speakers(tuple(named), (agent,))

    def portrait(self, language: str, dimensions: Mapping[str, Dimension]) -> tuple[str, ...]:
        """Return lines on who the person is, without the knowledge base; only what there is evidence for.

        What may change has the day on which it was said.
        """
        labels = _LABELS.get(language, _LABELS["en"])
        told: dict[ProfileField, list[str]] = {}
        for entry in self.profile:
            day = "" if entry.field in _FOR_LIFE else f" ({entry.said_at:%Y-%m-%d})"
            told.setdefault(entry.field, []).append(f"{entry.value}{day}")
        joint = ", " if language not in ("ja", "zh") else "、"
        lines = [f"{labels[field]}: {joint.join(values)}" for field, values in told.items()]
        levels = _LEVELS.get(language, _LEVELS["en"])
        shown = [
            f"{dimensions[trait.dimension].name(language)} {levels[trait.level]}"
            for trait in self._shown_traits(dimensions)
        ]
        if shown:
            lines.append(f"{_CHARACTER.get(language, _CHARACTER['en'])}: {joint.join(shown)}")
        return tuple(lines)

    def portrayed(self, dimensions: Mapping[str, Dimension]) -> tuple[frozenset[str], ...]:
        """Return what each record in the portrait rests on; see `server.turn.Recollection.portrayed`."""
        return (
            *(frozenset(entry.sources) for entry in self.profile),
            *(frozenset(trait.sources) for trait in self._shown_traits(dimensions)),
        )

    def _shown_traits(self, dimensions: Mapping[str, Dimension]) -> list[Trait]:
        seen = [trait for trait in self.traits if trait.sources and trait.dimension in dimensions]
        seen.sort(key=lambda trait: (trait.level is Level.MEDIUM, -trait.seen_at.timestamp()))
        return seen[:_MOST_TRAITS]


_State: TypeAlias = tuple[int, int, date]
"""Counters of facts and portrait, and the day: what is over, or has faded, changes by itself."""


class Primer:
    """Keeps what talks begin with in step with the store."""

    def __init__(
        self,
        store: Store,
        section: SummariesSection,
        fading: FadingSection,
        long_term: LongTermSection,
    ) -> None:
        self._store = store
        self._long_term = long_term
        self._section = section
        self._fading = fading
        self._known = PersonCache[tuple[_State, Priming]](MOST_PERSONS)

    async def get(self, person: str, now: datetime) -> Priming:
        """Return what is known of a person. A caller that is cancelled does not wait for it.

        Raises:
            StoreError: The store can't be read.
        """
        renew = partial(self._renewed, person, now)
        _, priming = await to_thread.run_sync(
            self._known.renewed, person, renew, abandon_on_cancel=True
        )
        return priming

    def drop(self, person: str) -> None:
        """Forget what is known of a person."""
        self._known.drop(person)

    def _renewed(
        self, person: str, now: datetime, known: tuple[_State, Priming] | None
    ) -> tuple[_State, Priming]:
        state = self._state(person, now)
        if known is not None and known[0] == state:
            return known
        return state, self._read(person, now)

    def _state(self, person: str, now: datetime) -> _State:
        facts, portrait = (
            self._store.change_count(person),
            self._store.portrait.change_count(person),
        )
        return facts, portrait, now.date()

    def _read(self, person: str, now: datetime) -> Priming:
        facts = self._store.facts_of(person)
        held = standing(facts, MOST_STANDING, now)
        fresh = [fact for fact in facts if not has_faded(fact, now, self._fading)]
        profile = newest_of(still_held(self._store.portrait.profile_of(person), facts))
        beside = untold(fresh, profile)
        ids = {fact.id for fact in beside}
        in_profile = [fact for fact in fresh if fact.current and fact.id not in ids]
        return Priming(
            tuple(profile),
            tuple(self._store.portrait.traits_of(person)),
            tuple(knowledge(beside, self._long_term.capacity)),
            tuple(held),
            tuple(self._days(person, facts, now, in_profile)),
            lapsed(
                facts, {fact.id for fact in facts} - {fact.id for fact in fresh if fact.current}
            ),
        )

    def _days(
        self, person: str, facts: Sequence[Fact], now: datetime, in_profile: Sequence[Fact]
    ) -> list[DaySummary]:
        days = self._store.portrait.summaries_of(person, self._section.primed_days)
        reading = Reading(facts, now.date(), self._section.follow_up_days, in_profile)
        return told_today(days, reading)
