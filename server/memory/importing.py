"""Reads an export back: checks all of it before anything is stored, and says in which line or field it is wrong."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from server.errors import OmoideError
from server.memory.consents import Remembering
from server.memory.dossier import Dossier, PageState
from server.memory.import_faults import faults_in
from server.memory.models import (
    Chain,
    DaySummary,
    Fact,
    Grounds,
    Importance,
    Kind,
    Level,
    Note,
    NoteKind,
    Origin,
    Page,
    ProfileEntry,
    ProfileField,
    Segment,
    Trait,
)
from server.memory.safety.incoming import EventRow, Moment

MOST_BYTES = 268_435_456
"""Of a file."""
MOST_RECORDS = 1_000_000
"""Of a kind."""
_MOST_SHOWN = 5

_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Ids = Annotated[list[_Id], Field(max_length=100_000)]
_Short = Annotated[str, Field(max_length=2_000)]
_Long = Annotated[str, Field(max_length=100_000)]
_Count = Annotated[int, Field(ge=0, le=2**31)]
_Language = Annotated[str, Field(pattern="^[a-z]{2}$")]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Grounds(_Row):
    recalled: _Ids = []
    held: Annotated[list[_Ids], Field(max_length=10_000)] = []


class _Fact(_Row):
    id: _Id
    person: _Short
    text: _Long
    language: _Language
    kind: Kind
    importance: Importance
    about: _Short
    said_at: Moment
    repeated_at: list[Moment] = []
    event_from: date | None
    event_to: date | None
    quote: _Long
    origin: Origin
    sources: _Ids
    fades_at: Moment | None = None
    superseded_by: _Id | None
    superseded_at: Moment | None


class _Page(_Row):
    id: _Id
    at: Moment
    device: _Short
    said: _Long
    heard: _Long
    language: _Language
    interrupted: bool
    chain: Annotated[str, Field(max_length=200)]
    segment: Annotated[str, Field(max_length=200)]
    waiting: bool = False
    batch: Annotated[str, Field(max_length=200)] = ""
    rests_on: _Grounds = _Grounds()


class _Chain(_Row):
    id: _Id
    summary: _Long


class _Segment(_Row):
    id: _Id
    language: _Language
    summary: _Long
    keywords: Annotated[list[_Short], Field(max_length=10_000)]
    created_at: Moment
    last_at: Moment
    visits: _Count
    unread: _Count = 0
    evicted_at: Moment | None


class _Entry(_Row):
    field: ProfileField
    value: _Short
    said_at: Moment
    sources: _Ids


class _Trait(_Row):
    dimension: _Short
    level: Level
    seen_at: Moment
    sources: _Ids


class _Note(_Row):
    id: _Id
    kind: NoteKind
    text: _Long
    quote: _Long
    at: Moment
    page: _Id


class _Day(_Row):
    day: date
    language: _Language
    text: _Long
    follow_ups: Annotated[list[_Short], Field(max_length=100)]
    origin: Literal["model", "rules", "hand"]
    sources: _Ids
    made_at: Moment | None = None


_MOST = Field(max_length=MOST_RECORDS)


class Exported(_Row):
    """What `omoide memory export` writes of one person."""

    person: Annotated[str, Field(min_length=1, max_length=200)]
    facts: Annotated[list[_Fact], _MOST]
    pages: Annotated[list[_Page], _MOST]
    chains: Annotated[list[_Chain], _MOST]
    segments: Annotated[list[_Segment], _MOST]
    profile: Annotated[list[_Entry], _MOST]
    traits: Annotated[list[_Trait], _MOST]
    notes: Annotated[list[_Note], _MOST]
    safety: Annotated[list[EventRow], _MOST] = []
    days: Annotated[list[_Day], _MOST]
    consent: dict[str, Any] = Field(default_factory=dict)
    """What they decided there, and what waits for it: decided anew here."""
    proposals: Annotated[list[dict[str, Any]], _MOST] = []
    """What they asked the robot to be: of the robot there, so it is not taken over."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """New records by kind, as in `server.memory.erasing.Erased`."""
    forgotten: int = 0
    """Records that were left out because they, or what they were drawn from, had been forgotten here."""
    known: int = 0
    """Facts and exchanges that were there already; they stay as they are."""


def read_export(text: str, person: str) -> Dossier:
    """Read what an export of one person says, as belonging to `person`.

    Args:
        text: JSON: a person, or ``{"persons": […]}`` with this person, or just one, in it.
        person: Whose memory it is to become.

    Raises:
        OmoideError: ``import-invalid``; the message names the line or the field.
    """
    return dossier_from(*_parsed(text, person), person)


def person_in(text: str, person: str) -> dict[str, Any]:
    """Return the same unread, once it has been found to be right."""
    data, place = _parsed(text, person)
    dossier_from(data, place, person)
    assert isinstance(data, dict)
    return data


def _parsed(text: str, person: str) -> tuple[object, str]:
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise _invalid(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except ValueError as error:
        raise _invalid("a number in it has too many digits") from error
    except RecursionError as error:
        raise _invalid("it has too many brackets within each other") from error
    return _one_person(whole, person)


def dossier_from(data: object, place: str, person: str) -> Dossier:
    """Return the same of data that is read already.

    Args:
        data: Of one person.
        place: Where it stands in the file, for messages.
        person: Whose memory it is to become.

    Raises:
        OmoideError: ``import-invalid``; the message names the field.
    """
    try:
        exported = Exported.model_validate(data)
    except ValidationError as error:
        raise _invalid(_told(error, place)) from None
    faults = list(faults_in(exported, place))
    if faults:
        raise _invalid("; ".join(faults[:_MOST_SHOWN]))
    return _dossier(exported, person)


def _one_person(whole: object, person: str) -> tuple[object, str]:
    rows = whole.get("persons") if isinstance(whole, dict) else None
    if rows is None:
        return whole, ""
    if not isinstance(rows, list):
        raise _invalid("persons: a list is wanted")
    named = [
        place
        for place, row in enumerate(rows)
        if isinstance(row, dict) and row.get("person") == person
    ]
    chosen = named or list(range(len(rows)))
    if len(chosen) != 1:
        names = ", ".join(str(row.get("person")) for row in rows if isinstance(row, dict))
        raise _invalid(f"persons: which one is meant for {person}? There are: {names or 'none'}")
    return rows[chosen[0]], f"persons[{chosen[0]}]"


def _told(error: ValidationError, place: str) -> str:
    told = []
    for one in error.errors(include_url=False, include_input=False)[:_MOST_SHOWN]:
        path = place
        for step in one["loc"]:
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
        told.append(f"{path or 'the file'}: {one['msg']}")
    return "; ".join(told)


def _dossier(exported: Exported, person: str) -> Dossier:
    return Dossier(
        person,
        [_fact(one, person) for one in exported.facts],
        [_page(one, person) for one in exported.pages],
        [Chain(one.id, person, one.summary) for one in exported.chains],
        [_segment(one, person) for one in exported.segments],
        [
            ProfileEntry(person, one.field, one.value, one.said_at, tuple(one.sources))
            for one in exported.profile
        ],
        [
            Trait(person, one.dimension, one.level, one.seen_at, tuple(one.sources))
            for one in exported.traits
        ],
        [
            Note(one.id, person, one.kind, one.text, one.quote, one.at, one.page)
            for one in exported.notes
        ],
        [one.as_event(person) for one in exported.safety],
        [_day(one, person, exported) for one in exported.days],
        (),
        Remembering.ON,
        {},
        (),
        (),
        {one.id: PageState(one.waiting, one.batch) for one in exported.pages},
        {
            one.id: Grounds(
                frozenset(one.rests_on.recalled),
                frozenset(frozenset(ids) for ids in one.rests_on.held),
            )
            for one in exported.pages
        },
    )


def _fact(one: _Fact, person: str) -> Fact:
    return Fact(
        one.id,
        person,
        one.text,
        one.language,
        one.said_at,
        one.kind,
        one.quote,
        one.event_from,
        one.event_to,
        one.origin,
        tuple(one.sources),
        one.importance,
        one.about,
        one.superseded_by or "",
        one.superseded_at,
    )


def _page(one: _Page, person: str) -> Page:
    return Page(
        one.said,
        one.heard,
        one.at,
        one.language,
        one.interrupted,
        one.id,
        person,
        one.device,
        one.chain,
        one.segment,
    )


def _segment(one: _Segment, person: str) -> Segment:
    return Segment(
        one.id,
        person,
        one.language,
        one.summary,
        frozenset(one.keywords),
        one.created_at,
        one.last_at,
        one.visits,
        one.unread,
        one.evicted_at,
    )


def _day(one: _Day, person: str, exported: Exported) -> DaySummary:
    last = max((page.at for page in exported.pages if page.id in one.sources), default=None)
    made_at = one.made_at or last
    if made_at is None:
        raise _invalid(f"days: {one.day} has neither made_at nor sources")
    follow_ups, sources = tuple(one.follow_ups), tuple(one.sources)
    return DaySummary(
        person, one.day, one.language, one.text, follow_ups, Origin(one.origin), made_at, sources
    )


def _invalid(reason: str) -> OmoideError:
    return OmoideError(
        "import-invalid", f"This is no export that can be read: {reason}. Nothing was changed."
    )
