"""Pages, facts with their sources and vectors, and the counter of changes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "pages",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("heard", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("interrupted", sa.Boolean, nullable=False),
        sa.Column("extracted_at", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("retry_at", sa.Text),
    )
    op.create_index("pages_by_person", "pages", ["person", "at"])
    op.create_index("pages_waiting", "pages", ["extracted_at", "person"])
    op.create_table(
        "facts",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("quote", sa.Text, nullable=False),
        sa.Column("said_at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("event_from", sa.Text),
        sa.Column("event_to", sa.Text),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("superseded_by", sa.Text, nullable=False),
        sa.Column("superseded_at", sa.Text),
    )
    op.create_index("facts_by_person", "facts", ["person", "said_at"])
    op.create_table(
        "fact_sources",
        sa.Column("fact", sa.Text, sa.ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("page", sa.Text, primary_key=True),
    )
    op.create_table(
        "vectors",
        sa.Column("fact", sa.Text, sa.ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("stamp", sa.Text, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "changes",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("counter", sa.Integer, nullable=False),
    )
