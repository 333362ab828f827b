"""Says of turns, running, finished or recorded, whether they tell of what is to be forgotten."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from server.memory.grounds import Resting, grounds_of, matter_of
from server.memory.models import Grounds, Page
from server.memory.redaction import holds, names, tells
from server.memory.selecting import Selected
from server.turn import Transcript, Turn

_LISTED = ("rests_on", "told")
"""Keys of a record whose ids say what was in mind, not what is shown."""


class Telling:
    """What is to be forgotten, as it is looked for in turns."""

    def __init__(self, selected: Selected, said_in: Sequence[Page]) -> None:
        """Say what it is.

        Args:
            selected: All of it.
            said_in: The exchanges that have words of it.
        """
        self.turns = {page.id for page in said_in}
        """Those that tell of it: the exchanges that have words of it, and the turns for which `goes` has said so."""
        self.persons = {fact.person for fact in selected.facts}
        self.persons |= {page.person for page in (*selected.pages, *said_in)}
        self._person = selected.what.person
        self._facts = selected.facts
        self._words = selected.what.words
        self._sentences = [one for each in selected.what.sentences.values() for one in each]
        days = {page.at.date().isoformat() for page in said_in}
        self._gone = {*(fact.id for fact in selected.facts), *self.turns} | days
        whole = [page for page in said_in if page.id in selected.what.pages]
        self._matter = matter_of(selected.facts, whole)
        self._resting = Resting(self._gone, self._matter)

    def is_said_in(self, turn: Turn) -> bool:
        """Say whether it was said in a turn; of a person who is forgotten, everything was."""
        if self._person:
            return turn.person == self._person
        return self._has_words(turn.person, turn.transcript)

    def is_in_mind(self, turn: Turn) -> bool:
        """Say whether it was said in a turn, or was in mind for its answer: offered by memory, or said just before."""
        if self._is_about(turn):
            return True
        gone = self._gone | self.turns
        return any(ids <= gone for ids in turn.recalled.rests_on)

    def goes(self, turn: Turn) -> bool:
        """Say whether a finished turn tells of it. Ask of all, oldest first."""
        page = Page(
            turn.question.text if turn.question else "",
            turn.heard or turn.reply,
            turn.started_at,
            turn.question.language if turn.question else "",
            id=turn.id,
            person=turn.person,
        )
        grounds = grounds_of(turn.recalled, turn.answers)
        is_meant = self._is_about(turn) or self._resting.goes(page, grounds)
        if is_meant:
            self._resting.add(turn.id)
            self.turns.add(turn.id)
        return is_meant

    def is_in_record(self, record: str) -> bool:
        """Say whether the written record of a turn shows it or tells of it; one that is broken is searched as it is."""
        try:
            whole = json.loads(record)
        except ValueError:
            whole = record
        if not isinstance(whole, dict):
            whole = {"record": record}
        shown = {key: value for key, value in whole.items() if key not in _LISTED}
        if any(self._is_shown(text) for text in _texts(shown)):
            return True
        return Resting(self._gone | self.turns, self._matter).goes(*_recorded(whole))

    def _is_about(self, turn: Turn) -> bool:
        if self.is_said_in(turn) or not self.turns.isdisjoint((turn.id, *turn.answers)):
            return True
        asked = turn.asked.text if turn.asked else ""
        texts = (asked, *(page.said for page in turn.recalled.pages))
        return any(self._has_words(turn.person, Transcript(text, "")) for text in texts)

    def _has_words(self, person: str, said: Transcript | None) -> bool:
        if said is None or not said:
            return False
        if any(tells(fact, person, said.text) for fact in self._facts):
            return True
        is_cut = any(holds(said.text, one) for one in self._sentences)
        return person in self.persons and (is_cut or names(said.text, self._words))

    def _is_shown(self, text: str) -> bool:
        if any(fact.id in text or holds(text, fact.quote) for fact in self._facts):
            return True
        is_cut = any(holds(text, one) for one in self._sentences)
        return is_cut or names(text, self._words)


def _recorded(whole: dict[str, object]) -> tuple[Page, Grounds]:
    """Return what was heard in a turn that is written down, and what that rested on."""
    offered = whole.get("rests_on")
    sets = [frozenset(_texts(ids)) for ids in (offered if isinstance(offered, list) else ())]
    came = frozenset(_ids(whole.get("recalled"))) | frozenset(_ids(whole.get("pages")))
    held = frozenset(ids for ids in sets if ids and not ids <= came)
    said, heard = str(whole.get("transcript", "")), str(whole.get("heard") or whole.get("reply"))
    page = Page(said, heard, datetime.min.replace(tzinfo=UTC), str(whole.get("language", "")))
    return page, Grounds(came, held)


def _ids(rows: object) -> Iterator[str]:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield str(row.get("id", ""))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
