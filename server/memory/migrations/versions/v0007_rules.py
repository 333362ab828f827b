"""What the robot is to do for good, as far as somebody has agreed to it."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "rules",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
    )
    op.create_index("rules_by_person", "rules", ["person", "at"])
