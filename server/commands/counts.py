"""How many records of which kinds, in words: what is forgotten, and what an import brings."""

from collections.abc import Mapping

_NAMES = {
    "facts": "facts",
    "exchanges": "exchanges",
    "cut": "exchanges that lose a part",
    "answers": "answers of the robot",
    "topics": "topics",
    "summaries": "summaries (of days and topics)",
    "profile": "lines of the profile",
    "traits": "traits",
    "notes": "notes",
    "signs": "danger signs",
    "waiting": "sentences set aside",
    "rules": "orders for good",
}


def in_words(counts: Mapping[str, int]) -> str:
    """Return every count with the name of its kind."""
    return ", ".join(f"{count} {_NAMES.get(kind, kind)}" for kind, count in counts.items())
