"""The outbox says for itself what a webhook is told of, so that it is told even if the words are erased, and how that went."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_KEPT = ("whose", "device", "kind", "severity", "language", "at", "zone", "origin")
_TOLD = "e.person, e.device, e.kind, e.severity, e.language, e.at, e.zone, e.origin"


def upgrade() -> None:
    """Make the outbox anew, with what waits in it; what was not sorted out yet waits there, too."""
    op.create_table(
        "outbox",
        sa.Column("event", sa.Text, primary_key=True),
        sa.Column("webhook", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in _KEPT),
        sa.Column("since", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("erased_at", sa.Text),
    )
    op.execute(
        f"INSERT INTO outbox SELECT e.id, o.webhook, {_TOLD}, e.at, o.attempts, o.next_at, '', NULL "
        "FROM safety_outbox o JOIN safety_events e ON e.id = o.event"
    )
    op.execute(
        f"INSERT INTO outbox SELECT e.id, '', {_TOLD}, e.at, 0, e.at, '', NULL "
        "FROM safety_events e WHERE e.posted = 0"
    )
    op.drop_index("safety_outbox_by_webhook", "safety_outbox")
    op.drop_table("safety_outbox")
    op.rename_table("outbox", "safety_outbox")
    op.create_index("safety_outbox_by_webhook", "safety_outbox", ["webhook", "next_at"])
    op.drop_index("safety_events_unposted", "safety_events")
    op.drop_column("safety_events", "posted")
