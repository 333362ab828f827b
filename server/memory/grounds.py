"""What an answer rested on, and whether it tells something of what is to be forgotten."""

from collections.abc import Iterable, Set

from server.memory.gist import telling_terms
from server.memory.models import Fact, Grounds, Page
from server.memory.terms import read_as
from server.memory.wording import bare, plain_analysis
from server.turn import Recollection

_MOST_KNOWN = 20
"""Facts that are told whatever is asked; no prompt has room for more."""
_MOST_SOURCES = 8
"""Of one record of the portrait: who forgets these has it looked at."""


def grounds_of(
    recalled: Recollection, answers: Iterable[str] = (), before: Iterable[str] = ()
) -> Grounds:
    """Return what an answer rested on.

    Args:
        recalled: What memory offered for it.
        answers: Ids of the turns that it answered, too.
        before: Ids of the exchanges that stood before the question, word for word.
    """
    touched = [line for line in recalled.standing if line.id in recalled.touched]
    others = [line for line in recalled.standing if line.id not in recalled.touched]
    came = {line.id for line in (*recalled.lines, *touched)}
    came |= {page.id for page in recalled.pages}
    came |= {page for line in recalled.lines if line.about for page in line.sources}
    came |= {page for line in touched if line.is_undrawn for page in line.sources}
    came.update(answers)
    alone = {line.id for line in (*others, *recalled.knowledge[:_MOST_KNOWN])}
    alone |= {page for line in others if line.is_undrawn for page in line.sources}
    alone |= {day.day.isoformat() for day in recalled.days}
    alone.update(before)
    several = {frozenset(sorted(ids)[:_MOST_SOURCES]) for ids in recalled.portrayed if ids}
    held = {frozenset({id_}) for id_ in alone - came - {""}} | several
    return Grounds(frozenset(came - {""}), frozenset(held))


class Matter:
    """What is to be forgotten, by its words."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """Take up what tells of it.

        Args:
            texts: Each with its two-letter language.
        """
        known = [(text, language) for text, language in texts if text]
        self._forms = {form for each in known for form in _forms(*each)}
        self.keys = frozenset(term.key for each in known for term in plain_analysis(*each).terms)
        """Keys of all its terms: a text without any of them does not tell of it."""
        self._scripts = {read_as(*each) for each in known}

    def is_told_in(self, page: Page) -> bool:
        """Say whether an answer tells something of it, or whether that can't be told.

        It is read together with the question where it names nothing itself: "yes, it is". What is said in another language
        can't be compared.
        """
        heard, language = page.heard, page.language
        text = heard if telling_terms(heard, language) else f"{page.said} {heard}"
        if not self._can_compare(text, language):
            return True
        return not self._forms.isdisjoint(_forms(text, language))

    def can_compare(self, page: Page) -> bool:
        """Say whether words tell, in an exchange, that nothing of it is told: both halves are in a language of it."""
        halves = (page.heard, f"{page.said} {page.heard}")
        return all(self._can_compare(text, page.language) for text in halves)

    def _can_compare(self, text: str, language: str) -> bool:
        return bool(self._forms) and read_as(text, language) in self._scripts


def matter_of(facts: Iterable[Fact], pages: Iterable[Page] = ()) -> Matter:
    """Return what facts and whole exchanges are about."""
    of_facts = [(text, one.language) for one in facts for text in (bare(one.text), one.quote)]
    return Matter([*of_facts, *((page.said, page.language) for page in pages)])


class Resting:
    """Finds the answers that go with what is forgotten. Ask oldest first: what one tells, a later one may have in mind.

    What came to mind for the very question may be told in any words; what is in mind always, and what only another answer
    told, has to be told by a word.
    """

    def __init__(self, gone: Set[str], matter: Matter, silent: Set[str] = frozenset()) -> None:
        """Say what is forgotten.

        Args:
            gone: Ids of the facts, of the exchanges in which they were said, and the days of these.
            matter: What it is about.
            silent: Ids of exchanges in which no word of it is: they need not be read.
        """
        self._silent = silent
        self._gone = frozenset(gone)
        self._known = set(gone)
        self._matter = matter

    def goes(self, page: Page, grounds: Grounds) -> bool:
        """Say whether the answer in an exchange goes; those that are asked about later may rest on it."""
        is_meant = not grounds.recalled.isdisjoint(self._gone)
        if not is_meant:
            is_near = not grounds.recalled.isdisjoint(self._known)
            is_near = is_near or any(ids <= self._known for ids in grounds.held)
            is_meant = is_near and self._tells(page)
        if is_meant:
            self._known.add(page.id)
        return is_meant

    def _tells(self, page: Page) -> bool:
        if page.id in self._silent and self._matter.can_compare(page):
            return False
        return self._matter.is_told_in(page)

    def add(self, page_id: str) -> None:
        """Note that an answer goes for another reason."""
        self._known.add(page_id)


def _forms(text: str, language: str) -> set[str]:
    """Return the words of a text that tell what it is about, as they are written and as they sound, and its numbers."""
    terms = telling_terms(text, language)
    forms = {form for term in terms for form in (term.key, term.sound) if form}
    return forms | {f"#{number}" for number in plain_analysis(text, language).numbers}
