"""What was set of the persona by hand, and what is proposed for it."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "personas",
        sa.Column("agent", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("changed_at", sa.Text, nullable=False),
    )
    page = sa.ForeignKey("pages.id", ondelete="CASCADE")
    op.create_table(
        "persona_proposals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("field", sa.Text, nullable=False),
        sa.Column("lines", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("page", sa.Text, page),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("decided_at", sa.Text),
    )
    op.create_index("persona_proposals_by_agent", "persona_proposals", ["agent", "state", "at"])
    op.create_index("persona_proposals_by_page", "persona_proposals", ["page"])
