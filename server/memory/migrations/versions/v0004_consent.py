"""Who wants to be remembered, what of private matters, and what waits for an answer to that."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "consents",
        sa.Column("whose", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
    )
    op.create_table(
        "consent_choices",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("category", sa.Text, primary_key=True),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
    )
    op.create_table(
        "pending",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("category", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
    )
    op.create_index("pending_by_person", "pending", ["person", "at"])
