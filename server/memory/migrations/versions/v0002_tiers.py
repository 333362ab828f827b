"""Lines, segments and chains of pages, the portrait of a person, and a counter of changes for each part."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op

from server.memory.keeping import in_zone

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add columns and tables; give every page the day on which it was said."""
    for table, name, default in (
        ("pages", "chain", ""),
        ("pages", "segment", ""),
        ("pages", "day", ""),
        ("pages", "batch", ""),
        ("facts", "importance", "ordinary"),
        ("facts", "about", ""),
    ):
        op.add_column(table, sa.Column(name, sa.Text, nullable=False, server_default=default))
    _fill_days()
    op.create_index("pages_by_day", "pages", ["person", "day", "zone"])
    op.create_index("pages_by_batch", "pages", ["batch"])
    _add_lines()
    _add_tiers()
    _add_portrait()
    _part_changes()


def _fill_days() -> None:
    connection = op.get_bind()
    for page in connection.execute(sa.text("SELECT id, at, zone FROM pages")).all():
        day = in_zone(datetime.fromisoformat(page.at), page.zone).date()
        change = sa.text("UPDATE pages SET day = :day WHERE id = :id")
        connection.execute(change, {"day": day.isoformat(), "id": page.id})


def _of_page(*, is_key: bool) -> "sa.Column[str]":
    page = sa.ForeignKey("pages.id", ondelete="CASCADE")
    return sa.Column("page", sa.Text, page, primary_key=is_key, nullable=False)


def _add_lines() -> None:
    op.create_table(
        "lines",
        _of_page(is_key=True),
        sa.Column("role", sa.Integer, primary_key=True),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "line_vectors",
        _of_page(is_key=True),
        sa.Column("role", sa.Integer, primary_key=True),
        sa.Column("stamp", sa.Text, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )


def _add_tiers() -> None:
    op.create_table(
        "segments",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("keywords", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("last_at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("visits", sa.Integer, nullable=False),
        sa.Column("unread", sa.Integer, nullable=False),
        sa.Column("evicted_at", sa.Text),
    )
    op.create_index("segments_by_person", "segments", ["person"])
    op.create_table(
        "chains",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
    )
    op.create_index("chains_by_person", "chains", ["person"])


def _add_portrait() -> None:
    op.create_table(
        "profile",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("field", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, primary_key=True),
        sa.Column("said_at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
    )
    op.create_table(
        "traits",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("dimension", sa.Text, primary_key=True),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("seen_at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
    )
    op.create_table(
        "notes",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("quote", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        _of_page(is_key=False),
    )
    op.create_index("notes_by_person", "notes", ["person", "at"])
    op.create_index("notes_by_page", "notes", ["page"])
    op.create_table(
        "day_summaries",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("day", sa.Text, primary_key=True),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("follow_ups", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("made_at", sa.Text, nullable=False),
    )
    op.create_table(
        "record_sources",
        sa.Column("record", sa.Text, primary_key=True),
        _of_page(is_key=True),
    )
    op.create_index("record_sources_by_page", "record_sources", ["page"])


def _part_changes() -> None:
    """SQLite can't change a key: the table is made anew. What was counted so far were changes of facts."""
    op.rename_table("changes", "changes_of_facts")
    op.create_table(
        "changes",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("part", sa.Text, primary_key=True),
        sa.Column("counter", sa.Integer, nullable=False),
    )
    op.execute(
        "INSERT INTO changes (person, part, counter) "
        "SELECT person, 'facts', counter FROM changes_of_facts"
    )
    op.drop_table("changes_of_facts")
