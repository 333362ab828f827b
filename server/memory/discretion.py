"""What is private only with what was said before it: the second half of a sentence, and an answer that retells what was withheld."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from server.memory.gist import telling_terms
from server.memory.private import Category, category_of
from server.memory.statements import sentences
from server.punctuation import FULL_MARKS
from server.turn import Turn


@dataclass(slots=True)
class _Talk:
    """What of the talk with one person has to be in mind for that; it is stored nowhere."""

    at: datetime
    last: str = ""
    """What was said last."""
    private: set[str] = field(default_factory=set)
    """Words that tell what was withheld."""


class Discretion:
    """Keeps what it needs for as long as a talk lasts."""

    def __init__(self, window: timedelta) -> None:
        self._window = window
        self._talks: dict[str, _Talk] = {}

    def drop(self, person: str) -> None:
        """Let go of a person's talk."""
        self._talks.pop(person, None)

    def second_half(self, turn: Turn) -> tuple[str, Category] | None:
        """Return the sentence that goes on with what was broken off before, and is private with it alone."""
        talk, said = self._talk(turn), turn.transcript
        spoken = sentences(said.text) if said else []
        if said is None or not spoken or not talk.last or talk.last.rstrip()[-1:] in _ENDS:
            return None
        first = sentences(talk.last)[-1:] or [""]
        joint = "" if said.language in ("ja", "zh") else " "
        if category_of(first[0], said.language) or category_of(spoken[0], said.language):
            return None  # what is private alone is found alone
        category = category_of(f"{first[0]}{joint}{spoken[0]}", said.language)
        return (spoken[0], category) if category else None

    def retold(self, turn: Turn) -> tuple[str, ...]:
        """Return the sentences that were heard in a turn and that tell what was withheld from an earlier one of the talk."""
        private = self._talk(turn).private
        if not private or not turn.question:
            return ()
        language = turn.question.language
        return tuple(
            one for one in sentences(turn.heard) if not private.isdisjoint(_words(one, language))
        )

    def note(self, turn: Turn, withheld: tuple[str, ...]) -> None:
        """Keep in mind what was said in a turn, and which sentences of it are withheld."""
        talk = self._talks[turn.person] = self._talk(turn)
        if turn.transcript:
            talk.last, talk.at = turn.transcript.text, turn.started_at
            for sentence in withheld:
                talk.private |= _words(sentence, turn.transcript.language)

    def _talk(self, turn: Turn) -> _Talk:
        talk = self._talks.get(turn.person)
        if talk is None or turn.started_at - talk.at > self._window:
            return _Talk(turn.started_at)
        return talk


_ENDS = frozenset(f"{FULL_MARKS}.!?…")


def _words(text: str, language: str) -> set[str]:
    return {term.key for term in telling_terms(text, language)}
