"""What answers rested on, which erasures have begun, which ids were forgotten, and the record of who erased how much."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables; the record can only be added to."""
    page = sa.ForeignKey("pages.id", ondelete="CASCADE")
    op.create_table(
        "grounds",
        sa.Column("page", sa.Text, page, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("recalled", sa.Text, nullable=False),
        sa.Column("held", sa.Text, nullable=False),
    )
    op.create_index("grounds_by_person", "grounds", ["person"])
    op.create_table(
        "erasures",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("turns", sa.Text, nullable=False),
        sa.Column("is_whole", sa.Boolean, nullable=False),
    )
    op.create_table("forgotten", sa.Column("digest", sa.Text, primary_key=True))
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
    )
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_keeps_{change.lower()} BEFORE {change} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the record of erasures can only be added to'); END"
        )
