"""What each person has said about being remembered, in the store, and what waits for an answer to that."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, select
from sqlalchemy.dialects import sqlite

from server.config import Policy
from server.memory.counters import Part, count_change
from server.memory.database import Database, insert_new
from server.memory.keeping import in_zone, storable, zone_name
from server.memory.models import Page
from server.memory.pages import insert_pages
from server.memory.private import Category
from server.memory.redaction import holds
from server.memory.schema import consent_choices, consents, pending, rules


class Remembering(StrEnum):
    """Whether a person is remembered."""

    ON = "on"
    OFF = "off"
    """Until they say otherwise."""
    TALK = "talk"
    """Not until this talk is over."""


@dataclass(frozen=True, slots=True)
class Consent:
    """A decision, when it was made, and by what way: ``voice``, ``api``, ``cli``."""

    person: str
    state: Remembering
    at: datetime
    actor: str


@dataclass(frozen=True, slots=True)
class Pending:
    """A sentence on a private matter that is neither stored as said nor recalled until the person agrees."""

    id: str
    person: str
    device: str
    text: str
    language: str
    category: Category
    at: datetime
    """Aware, in the person's zone."""

    def as_page(self) -> Page:
        """Return it as the exchange that it is stored as once the person agrees: without an answer."""
        return Page(
            said=self.text,
            heard="",
            at=self.at,
            language=self.language,
            id=self.id,
            person=self.person,
            device=self.device,
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """What the robot is to do for good with a person, since somebody has agreed to it."""

    id: str
    person: str
    text: str
    language: str
    at: datetime
    """When it was agreed to."""
    actor: str


class Consents:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def states(self) -> list[Consent]:
        """Return what was decided last, of everybody who ever decided."""
        return [
            Consent(row.whose, Remembering(row.state), row.at, row.actor)
            for row in self._database.rows(select(consents))
        ]

    def state_of(self, person: str) -> Remembering:
        """Return what a person decided last."""
        rows = self._database.rows(select(consents.c.state).where(consents.c.whose == person))
        return Remembering(rows[0].state) if rows else Remembering.ON

    def put(self, consent: Consent) -> None:
        """Store a decision in the place of the last one. What is being drawn of somebody who stops is not stored any more."""
        row = {
            "whose": storable(consent.person),
            "state": str(consent.state),
            "at": consent.at,
            "actor": consent.actor,
        }
        with self._database.writing() as connection:
            connection.execute(sqlite.insert(consents).prefix_with("OR REPLACE").values(row))
            if consent.state is Remembering.OFF:  # what is being drawn at the moment is out of date
                count_change(connection, Part.CUTS, [storable(consent.person)])

    def choices(self) -> dict[str, dict[Category, Policy]]:
        """Return what persons have decided of private matters, by person."""
        found: dict[str, dict[Category, Policy]] = {}
        for row in self._database.rows(select(consent_choices)):
            found.setdefault(row.person, {})[Category(row.category)] = Policy(row.policy)
        return found

    def choose(
        self, person: str, category: Category, policy: Policy, at: datetime, actor: str
    ) -> None:
        """Store what a person has decided of a private matter, and with it what becomes of what waits for that."""
        row = {
            "person": storable(person),
            "category": str(category),
            "policy": str(policy),
            "at": at,
            "actor": actor,
        }
        with self._database.writing() as connection:
            connection.execute(sqlite.insert(consent_choices).prefix_with("OR REPLACE").values(row))
            waiting = pending.c.category == str(category)
            if policy is Policy.KEEP:
                _accept(connection, person, waiting, at, actor)
            elif policy is Policy.DROP:
                connection.execute(delete(pending).where(waiting & (pending.c.person == person)))

    def wait(self, sentences: Sequence[Pending]) -> None:
        """Keep sentences until the person agrees or not; those that are there already are left as they are."""
        with self._database.writing() as connection:
            insert_new(connection, pending, [_pending_row(one) for one in sentences])

    def pending_of(self, person: str) -> list[Pending]:
        """Return what waits for the answer of a person, oldest first."""
        query = select(pending).where(pending.c.person == person)
        return [_pending(row) for row in self._database.rows(query.order_by(pending.c.at))]

    def agree(self, agreed: Sequence[Rule]) -> None:
        """Keep rules; those that are there already are left as they are."""
        with self._database.writing() as connection:
            insert_new(connection, rules, [_rule_row(one) for one in agreed])

    def rules(self) -> dict[str, list[Rule]]:
        """Return the rules by person, oldest first."""
        found: dict[str, list[Rule]] = {}
        for row in self._database.rows(select(rules).order_by(rules.c.at, rules.c.id)):
            one = Rule(row.id, row.person, row.text, row.language, row.at, row.actor)
            found.setdefault(row.person, []).append(one)
        return found

    def unsettled(self) -> dict[str, set[Category]]:
        """Return the matters of which something waits, by person."""
        found: dict[str, set[Category]] = {}
        query = select(pending.c.person, pending.c.category).distinct()
        for row in self._database.rows(query):
            found.setdefault(row.person, set()).add(Category(row.category))
        return found

    def accept(self, person: str, ids: Collection[str], at: datetime, actor: str) -> list[Pending]:
        """Let what waited of a person be stored as said, or hold, and return it: all of that, or nothing."""
        with self._database.writing() as connection:
            return _accept(connection, person, pending.c.id.in_(list(ids)), at, actor)

    def drop(self, person: str, ids: Collection[str]) -> int:
        """Delete what waits of a person, and end rules; return how many."""
        with self._database.writing() as connection:
            gone = (
                connection.execute(
                    delete(table).where(table.c.id.in_(list(ids)) & (table.c.person == person))
                ).rowcount
                for table in (pending, rules)
            )
            return sum(map(int, gone))


def _accept(
    connection: Connection, person: str, named: ColumnElement[bool], at: datetime, actor: str
) -> list[Pending]:
    mine = named & (pending.c.person == person)
    rows = connection.execute(select(pending).where(mine).order_by(pending.c.at)).all()
    found = [_pending(row) for row in rows]
    orders = [one for one in found if one.category is Category.RULES]
    agreed = [Rule(one.id, person, one.text, one.language, at, actor) for one in orders]
    insert_new(connection, rules, [_rule_row(one) for one in agreed])
    insert_pages(connection, [one.as_page() for one in found if one not in orders])
    connection.execute(delete(pending).where(mine))
    return found


def lose_waiting(
    connection: Connection,
    page_ids: Collection[str],
    quotes: Collection[str],
    persons: Collection[str],
) -> None:
    """Delete what waits, and rules, of exchanges or that say the same as forgotten words, as a part of a transaction."""
    for table in (pending, rules):
        mine = select(table.c.id, table.c.text).where(table.c.person.in_(list(persons)))
        gone = [
            row.id
            for row in connection.execute(mine).all()
            if row.id.rpartition("-")[0] in page_ids
            or any(holds(row.text, quote) or holds(quote, row.text) for quote in quotes if quote)
        ]
        connection.execute(delete(table).where(table.c.id.in_(gone)))


def has_consent(person: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that a person has not decided to be remembered no longer."""
    stopped = select(consents.c.whose).where(consents.c.state == str(Remembering.OFF))
    return person.not_in(stopped)


def _rule_row(one: Rule) -> dict[str, object]:
    return {
        "id": one.id,
        "person": storable(one.person),
        "text": storable(one.text),
        "language": one.language,
        "at": one.at,
        "actor": one.actor,
    }


def _pending_row(one: Pending) -> dict[str, object]:
    return {
        "id": one.id,
        "person": storable(one.person),
        "device": storable(one.device),
        "text": storable(one.text),
        "language": one.language,
        "category": str(one.category),
        "at": one.at,
        "zone": zone_name(one.at),
    }


def _pending(row: Any) -> Pending:
    at = in_zone(row.at, row.zone)
    category = Category(row.category)
    return Pending(row.id, row.person, row.device, row.text, row.language, category, at)
