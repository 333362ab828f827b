"""The tables of the store, as the newest migration leaves them."""

from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """An aware time, kept as UTC text of fixed width: every database sorts it alike."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Write an aware time; a naive one is a fault of the program."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone can't be stored")
        moment = value.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(timespec="microseconds") + "Z"

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Read it back, in UTC."""
        return None if value is None else datetime.fromisoformat(value)


class Day(TypeDecorator[date]):
    """A calendar day, kept as ``YYYY-MM-DD``."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: date | None, dialect: Dialect) -> str | None:
        """Write a day."""
        return None if value is None else value.isoformat()

    def process_result_value(self, value: Any, dialect: Dialect) -> date | None:
        """Read it back."""
        return None if value is None else date.fromisoformat(value)


tables = MetaData()

pages = Table(
    "pages",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("said", Text, nullable=False),
    Column("heard", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
    Column("interrupted", Boolean, nullable=False),
    Column("extracted_at", Moment),  # null: facts have still to be drawn from it
    Column("attempts", Integer, nullable=False, default=0),
    Column("retry_at", Moment),
    Index("pages_by_person", "person", "at"),
    Index("pages_waiting", "extracted_at", "person"),
)

facts = Table(
    "facts",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("quote", Text, nullable=False),
    Column("said_at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
    Column("event_from", Day),
    Column("event_to", Day),
    Column("origin", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("superseded_by", Text, nullable=False, default=""),
    Column("superseded_at", Moment),
    Index("facts_by_person", "person", "said_at"),
)

sources = Table(
    "fact_sources",
    tables,
    Column("fact", Text, ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True),
    Column("page", Text, primary_key=True),
)

vectors = Table(
    "vectors",
    tables,
    Column("fact", Text, ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True),
    Column("stamp", Text, primary_key=True),  # model, dimensions and normaliser: what made it
    Column("data", LargeBinary, nullable=False),  # float32, little-endian
)

changes = Table(
    "changes",
    tables,
    Column("person", Text, primary_key=True),
    Column("counter", Integer, nullable=False),  # goes up with every change of the person's facts
)
