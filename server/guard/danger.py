"""Sentences that play down a danger sign: "you're fine" to somebody who fell."""

from datetime import UTC, datetime

from server.guard.lines import Spoken, has
from server.memory.safety.models import SignalKind
from server.memory.safety.signals import find_signals


def signs_in(question: str, language: str, now: datetime | None) -> frozenset[SignalKind]:
    """Return the kinds of danger signs in what a person says, by the rules that keep the events."""
    at = now or datetime.fromtimestamp(0, UTC)
    return frozenset(signal.kind for signal in find_signals(question, language, at))


def plays_down(sentence: Spoken) -> bool:
    """Say whether a sentence tells somebody with a danger sign that it is nothing, or makes light of it.

    A comfort that goes on to help ("don't worry, I'll call Carol") is none; that no doctor is needed is, whatever follows.
    """
    if has("danger", "no_help", sentence) and not sentence.is_question:
        return True
    if has("danger", "open", sentence) or not has("danger", "belittles", sentence):
        return False
    return not has("danger", "cares", sentence)
