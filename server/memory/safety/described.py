"""Safety events as plain data, as in the API, in exports and for webhooks."""

from typing import Any

from server.config_safety import WebhookSection
from server.config_shown import host_alone
from server.memory.safety.models import SafetyEvent, Standing


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
        "reviews": describe_reviews(event),
    }


def describe_reviews(event: SafetyEvent) -> list[dict[str, str]]:
    """Return who has looked at an event, oldest first, as plain data."""
    return [
        {
            "state": str(review.state),
            "by": review.by,
            "at": review.at.isoformat(),
            "note": review.note,
        }
        for review in event.reviews
    ]


def describe_webhook(name: str, section: WebhookSection, standing: Standing) -> dict[str, Any]:
    """Return a webhook and how it stands with its deliveries as plain data; of its address scheme and host."""
    return {
        "name": name,
        "url": host_alone(section.url),
        "min_severity": section.min_severity,
        "kinds": list(section.kinds),
        "persons": list(section.persons),
        "waiting": standing.waiting,
        "since": standing.since.isoformat() if standing.since else None,
        "attempts": standing.attempts,
        "next_at": standing.next_at.isoformat() if standing.next_at else None,
        "error": standing.error,
    }
