"""Danger signs in what people said, what became of them, and who has still to be told."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "safety_events",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("quote", sa.Text, nullable=False),
        sa.Column("page", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("posted", sa.Boolean, nullable=False),
    )
    op.create_index("safety_events_by_person", "safety_events", ["person", "at"])
    op.create_index("safety_events_by_page", "safety_events", ["page"])
    op.create_index("safety_events_unposted", "safety_events", ["posted"])
    op.create_table(
        "safety_reviews",
        _of_event(),
        sa.Column("state", sa.Text, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_table(
        "safety_outbox",
        _of_event(),
        sa.Column("webhook", sa.Text, primary_key=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.Text, nullable=False),
    )
    op.create_index("safety_outbox_by_webhook", "safety_outbox", ["webhook", "next_at"])


def _of_event() -> "sa.Column[str]":
    event = sa.ForeignKey("safety_events.id", ondelete="CASCADE")
    return sa.Column("event", sa.Text, event, primary_key=True, nullable=False)
