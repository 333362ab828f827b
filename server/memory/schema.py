"""The tables of the store, as the newest migration leaves them."""

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

from server.memory.columns import Day, Moment, Texts

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
    Column("chain", Text, nullable=False, server_default=""),
    Column("segment", Text, nullable=False, server_default=""),
    Column("day", Day, nullable=False, server_default=""),  # in `zone`, which no database can tell
    Column("batch", Text, nullable=False, server_default=""),  # a model put them in words together
    Index("pages_by_person", "person", "at"),
    Index("pages_by_day", "person", "day", "zone"),
    Index("pages_by_batch", "batch"),
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
    Column("importance", Text, nullable=False, server_default="ordinary"),
    Column("about", Text, nullable=False, server_default=""),
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

lines = Table(
    "lines",
    tables,
    Column("page", Text, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("role", Integer, primary_key=True),  # 0: said, 1: heard
    Column("version", Text, nullable=False),  # of what made the data
    Column("data", LargeBinary, nullable=False),
)

line_vectors = Table(
    "line_vectors",
    tables,
    Column("page", Text, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("role", Integer, primary_key=True),
    Column("stamp", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),  # float16, little-endian; empty: can't be made
)

segments = Table(
    "segments",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("keywords", Texts, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
    Column("visits", Integer, nullable=False),
    Column("unread", Integer, nullable=False),
    Column("evicted_at", Moment),
    Index("segments_by_person", "person"),
)

chains = Table(
    "chains",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Index("chains_by_person", "person"),
)

profile = Table(
    "profile",
    tables,
    Column("person", Text, primary_key=True),
    Column("field", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    Column("said_at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
)

traits = Table(
    "traits",
    tables,
    Column("person", Text, primary_key=True),
    Column("dimension", Text, primary_key=True),
    Column("level", Text, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
)

notes = Table(
    "notes",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("quote", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
    Column("page", Text, ForeignKey("pages.id", ondelete="CASCADE"), nullable=False),
    Index("notes_by_person", "person", "at"),
    Index("notes_by_page", "page"),
)

day_summaries = Table(
    "day_summaries",
    tables,
    Column("person", Text, primary_key=True),
    Column("day", Day, primary_key=True),
    Column("language", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("follow_ups", Texts, nullable=False),
    Column("origin", Text, nullable=False),
    Column("made_at", Moment, nullable=False),
)

record_sources = Table(
    "record_sources",
    tables,
    Column("record", Text, primary_key=True),  # as `server.memory.lineage` names it
    Column("page", Text, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Index("record_sources_by_page", "page"),
)

safety_events = Table(
    "safety_events",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("quote", Text, nullable=False),
    Column("page", Text, nullable=False),  # no key: a sign is kept before the turn has ended
    Column("language", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Index("safety_events_by_person", "person", "at"),
    Index("safety_events_by_page", "page"),
)

safety_reviews = Table(
    "safety_reviews",
    tables,
    Column("event", Text, ForeignKey("safety_events.id", ondelete="CASCADE"), primary_key=True),
    Column("state", Text, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("by", Text, nullable=False),
    Column("note", Text, nullable=False),
)


def _all(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


safety_outbox = Table(
    "safety_outbox",
    tables,
    Column("event", Text, primary_key=True),  # no key: it is told even if its words are erased
    Column(
        "webhook", Text, primary_key=True
    ),  # its name; empty before it is sorted out who is told
    Column("whose", Text, nullable=False),  # not "person": it outlives that they are forgotten
    *_all(Text, "device", "kind", "severity", "language", "zone", "origin"),
    *_all(Moment, "at", "since", "next_at"),
    Column("attempts", Integer, nullable=False),
    Column("error", Text, nullable=False),  # of the last attempt
    Column("erased_at", Moment),  # when it was seen that the event is gone
    Index("safety_outbox_by_webhook", "webhook", "next_at"),
)

changes = Table(
    "changes",
    tables,
    Column("person", Text, primary_key=True),
    Column("part", Text, primary_key=True),  # a `server.memory.counters.Part`
    Column("counter", Integer, nullable=False),  # goes up with every change of it
)

consents = Table(
    "consents",
    tables,
    Column(
        "whose", Text, primary_key=True
    ),  # not "person": a wish to be forgotten outlives what is forgotten
    Column("state", Text, nullable=False),  # a `server.memory.consents.Remembering`
    Column("at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
)

consent_choices = Table(
    "consent_choices",
    tables,
    Column("person", Text, primary_key=True),
    Column("category", Text, primary_key=True),
    Column("policy", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
)

pending = Table(
    "pending",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("zone", Text, nullable=False),
    Index("pending_by_person", "person", "at"),
)

rules = Table(
    "rules",
    tables,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("at", Moment, nullable=False),  # when it was agreed to
    Column("actor", Text, nullable=False),
    Index("rules_by_person", "person", "at"),
)

grounds = Table(
    "grounds",
    tables,
    Column("page", Text, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("person", Text, nullable=False),
    Column("recalled", Texts, nullable=False),
    Column("held", Texts, nullable=False),  # each a set of ids, a line for each
    Index("grounds_by_person", "person"),
)

erasures = Table(
    "erasures",
    tables,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("turns", Texts, nullable=False),  # whose recordings have still to go
    Column("is_whole", Boolean, nullable=False),  # all recordings of the owner have to
)

forgotten = Table("forgotten", tables, Column("digest", Text, primary_key=True))

audit = Table(
    "audit",
    tables,
    Column("id", Integer, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("count", Integer, nullable=False),
)

TRIGGERS = tuple(
    f"CREATE TRIGGER audit_keeps_{change.lower()} BEFORE {change} ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the record of erasures can only be added to'); END"
    for change in ("UPDATE", "DELETE")
)
"""What stands in the database beside the tables and their indexes."""

OF_PERSONS = tuple(table for table in tables.sorted_tables if "person" in table.c)
"""The tables whose rows are somebody's; those of the others go with them, or hold nobody's words."""

personas = Table(
    "personas",
    tables,
    Column("agent", Text, primary_key=True),
    Column("document", Text, nullable=False),  # as `server.memory.layers.document` writes it
    Column("changed_at", Moment, nullable=False),
)

persona_proposals = Table(
    "persona_proposals",
    tables,
    Column("id", Text, primary_key=True),
    Column("agent", Text, nullable=False),
    Column("field", Text, nullable=False),
    Column("lines", Texts, nullable=False),
    Column("source", Text, nullable=False),  # a `server.memory.layers.proposals.By`
    Column("person", Text, nullable=False),  # who asked for it; empty if nobody did in a talk
    Column("page", Text, ForeignKey("pages.id", ondelete="CASCADE")),
    Column("at", Moment, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided_at", Moment),
    Index("persona_proposals_by_agent", "agent", "state", "at"),
    Index("persona_proposals_by_page", "page"),
)
