"""Safety events as plain data, as in the API, in exports and for webhooks."""

from typing import Any

from server.memory.safety.models import SafetyEvent


def describe_event(event: SafetyEvent) -> dict[str, Any]:
    """Return a safety event as plain data."""
    return {
        "id": event.id,
        "person": event.person,
        "device": event.device,
        "kind": str(event.kind),
        "severity": str(event.severity),
        "quote": event.quote,
        "page": event.page,
        "language": event.language,
        "at": event.at.isoformat(),
        "origin": str(event.origin),
        "state": str(event.state),
        "reviews": [
            {
                "state": str(review.state),
                "by": review.by,
                "at": review.at.isoformat(),
                "note": review.note,
            }
            for review in event.reviews
        ],
    }
