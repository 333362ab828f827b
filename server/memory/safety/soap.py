"""Puts safety events into the form of a SOAP note: the subjective part in the person's own words, the rest left to a human.

It is material for whoever writes the record, and says so: nobody has examined the person.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from server.memory.safety.described import describe_reviews
from server.memory.safety.models import SafetyEvent

NOTICE = (
    "Not a clinical record. A program wrote down what was said near it, as its speech recogniser heard it; nobody has "
    "examined the person. Assessment and plan are for a qualified human to write."
)


def soap_of(person: str, events: Sequence[SafetyEvent], now: datetime) -> dict[str, Any]:
    """Return the note as plain data.

    Args:
        person: Of whom it tells.
        events: Theirs, oldest first.
        now: When it is made.
    """
    return {
        "person": person,
        "made_at": now.isoformat(),
        "notice": NOTICE,
        "subjective": [
            {
                "at": event.at.isoformat(),
                "quote": event.quote,
                "kind": str(event.kind),
                "severity": str(event.severity),
                "language": event.language,
                "page": event.page,
                "event": event.id,
                "state": str(event.state),
                "reviews": describe_reviews(event),
            }
            for event in events
        ],
        "objective": [],  # the server measures nothing of a body
        "assessment": "",
        "plan": "",
    }


def render_soap(note: Mapping[str, Any]) -> str:
    """Return a note as text to be read and filled in."""
    lines = [f"{note['person']}    {note['made_at'][:16].replace('T', ' ')}", "", note["notice"]]
    lines += ["", "S (in the person's own words)"]
    for one in note["subjective"]:
        tags = f"{one['kind']}, {one['severity']}, {one['state']}"
        lines.append(f"  {_minute(one['at'])}  “{one['quote']}”  [{tags}]")
        for review in one["reviews"]:
            said = f": {review['note']}" if review["note"] else ""
            lines.append(
                f"      {_minute(review['at'])}  {review['state']} by {review['by']}{said}"
            )
    if not note["subjective"]:
        lines.append("  nothing")
    lines += ["", "O (measured)", "  nothing", "", "A", "  ", "", "P", "  "]
    return "\n".join(lines)


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
