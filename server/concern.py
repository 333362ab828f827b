"""What the robot says first to a danger sign that is not urgent: a small model may answer it with nonsense."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from server.config_safety import SafetySection
from server.memory.safety.models import SignalKind
from server.memory.safety.watch import SafetyWatch
from server.turn import Turn

_AGAIN = timedelta(minutes=10)
"""For so long the same is not asked again: who answers it names the sign once more."""
_GRAVEST = (
    SignalKind.SELF_HARM,
    SignalKind.ABUSE,
    SignalKind.FALL,
    SignalKind.SYMPTOM,
    SignalKind.MEDICATION,
    SignalKind.DISTRESS,
)
_ALONE = frozenset({SignalKind.ABUSE})
"""Kinds to which nobody is named who can be called: whoever does it may be listening."""


@dataclass(frozen=True, slots=True)
class _Said:
    at: datetime
    turn: str


class ConcernLine:
    """Knows what was said lately, so that a talk about a pain is no cross-examination."""

    def __init__(
        self,
        watch: SafetyWatch,
        section: SafetySection,
        phrase: Callable[[str, str], str],
        is_compact: Callable[[str], bool],
    ) -> None:
        """Say where signs are found and words are kept.

        Args:
            watch: Finds danger signs.
            section: Whether the line is said, and who can be called.
            phrase: Returns the words of a key in a language.
            is_compact: Says whether the model that answers in a language is a small one.
        """
        self._watch = watch
        self._section = section
        self._phrase = phrase
        self._is_compact = is_compact
        self._said: dict[tuple[str, str, SignalKind], _Said] = {}

    def first_words(self, turn: Turn) -> str:
        """Return what is to be said before the model goes on; empty where nothing is.

        What was said in a turn that was cut off, and that this one answers, is said again.
        """
        said = turn.question
        if said is None or not self._is_wanted(said.language):
            return ""
        kinds = self._watch.concerns(turn)
        kind = next((one for one in _GRAVEST if one in kinds), None)
        if kind is None or self._was_said(turn, kind):
            return ""
        words = self._phrase(f"concern-{kind}", said.language)
        if self._section.contact and kind not in _ALONE:
            who = self._phrase("concern-contact", said.language)
            words = f"{words} {who.replace('{}', self._section.contact)}"
        return words

    def _is_wanted(self, language: str) -> bool:
        match self._section.concern_line:
            case "always":
                return True
            case "never":
                return False
            case _:
                return self._is_compact(language)

    def _was_said(self, turn: Turn, kind: SignalKind) -> bool:
        """Say whether it was said to them a while ago; note that it is said now."""
        recent = turn.started_at - _AGAIN
        self._said = {key: one for key, one in self._said.items() if one.at >= recent}
        key = (turn.device, turn.person, kind)
        before = self._said.get(key)
        if before is not None and before.turn not in turn.answers:
            return True
        self._said[key] = _Said(turn.started_at, turn.id)
        return False
