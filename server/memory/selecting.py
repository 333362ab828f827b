"""What somebody names who wants something forgotten, and the records that this stands for."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date

from server.errors import ConfigError, OmoideError
from server.memory.erasing import Erasing
from server.memory.gist import telling_terms
from server.memory.lines import Role
from server.memory.models import Fact, Origin, Page, Segment
from server.memory.redaction import holds, names
from server.memory.spoken_words import SpokenWords
from server.memory.statements import sentences
from server.memory.store import Store
from server.memory.wording import bare, plain_analysis
from server.short_ids import whole_id

_LEAST_SHARED = 0.6
"""Of the weight of the words that are looked for: so much of it has to be in a sentence."""
_ALL = 0.999
LONGEST_WORDS = 1_000


@dataclass(frozen=True, slots=True)
class Selector:
    """What is to be forgotten: one of these, of one person; or a person, with all that is kept of them."""

    person: str = ""
    facts: tuple[str, ...] = ()
    page: str = ""
    day: date | None = None
    """Counted where the person was."""
    topic: str = ""
    """Id of a segment, or words that its keywords have."""
    words: str = ""
    language: str = ""
    """Two-letter code of topic and words; by their script if empty."""

    @property
    def kind(self) -> str:
        """What is named.

        Raises:
            ConfigError: ``usage-invalid``: several things, or nothing.
        """
        named = {
            "fact": self.facts,
            "page": self.page,
            "day": self.day,
            "topic": self.topic.strip(),
            "words": self.words.strip(),
        }
        kinds = [kind for kind, value in named.items() if value]
        if len(kinds) > 1 or not (kinds or self.person):
            raise ConfigError(
                "Name one of --fact, --page, --day, --topic and --words, with --person or without, or --person alone, whose "
                "whole memory is deleted then.",
                "usage-invalid",
            )
        if len(self.words) > LONGEST_WORDS or len(self.topic) > LONGEST_WORDS:
            raise ConfigError(
                f"Words to look for have at most {LONGEST_WORDS} characters.", "usage-invalid"
            )
        return kinds[0] if kinds else "person"


@dataclass(frozen=True, slots=True)
class Selected:
    """What a selector stands for."""

    kind: str
    what: Erasing
    facts: tuple[Fact, ...] = ()
    """That go, as far as they are named: those that are drawn from whole exchanges are among them."""
    pages: tuple[Page, ...] = ()
    """That go, or are cut, or lose their answer."""

    def __bool__(self) -> bool:
        """Whether it stands for anything."""
        return bool(self.what)


def select(store: Store, selector: Selector, near: Collection[str] = ()) -> Selected:
    """Return what a selector stands for. Blocks.

    Args:
        store: Where it is looked for.
        selector: What is named.
        near: Ids of facts that were found by the meaning of the words.

    Raises:
        OmoideError: ``usage-invalid``, ``person-unknown``, ``person-missing``, ``fact-unknown`` or ``page-unknown``.
    """
    kind = selector.kind
    if kind == "fact":
        return _facts(store, selector)
    if kind == "page":
        return _page(store, selector)
    person = whose(store, selector.person)
    if kind == "person":
        return Selected(kind, Erasing(person=person), tuple(store.facts_of(person)))
    facts = store.facts_of(person)
    if kind == "day":
        on_day = [one for one in facts if one.said_at.date() == selector.day and not one.sources]
        assert selector.day is not None
        return _whole(kind, facts, store.pages.of_day(person, selector.day), on_day)
    pages = store.pages.of(person)
    if kind == "topic":
        wanted = _Wanted(selector.topic, selector.language)
        return _topic(wanted, facts, pages, store.tiers.segments_of(person))
    wanted = _Wanted(selector.words, selector.language)
    keys = wanted.keys({page.language for page in pages})
    quiet = SpokenWords(store, person).without(keys)
    return _worded(wanted, facts, pages, near, quiet)


def selected_facts(store: Store, fact_ids: Sequence[str]) -> Selected:
    """Return these facts, as far as they are there. Blocks."""
    known = [fact for id_ in dict.fromkeys(fact_ids) if (fact := store.fact(id_)) is not None]
    return Selected("fact", Erasing(facts=tuple(fact.id for fact in known)), tuple(known))


def selected_pages(store: Store, page_ids: Sequence[str]) -> Selected:
    """Return these exchanges of one person, as far as they are there. Blocks."""
    found = [*store.pages.find(page_ids).values()]
    facts = store.facts_of(found[0].person) if found else []
    return _whole("page", facts, found)


def whose(store: Store, person: str) -> str:
    """Return whose memory is meant: without a name, the only one there is.

    Raises:
        OmoideError: ``person-unknown`` or ``person-missing``.
    """
    known = store.persons()
    names = ", ".join(known) or "nobody"
    if person and person not in known:
        raise OmoideError(
            "person-unknown",
            f"Nothing is remembered of {person}. What is remembered is of: {names}.",
        )
    if not person and len(known) != 1:
        raise ConfigError(f"Say with --person whose memory is meant: {names}.", "person-missing")
    return person or known[0]


def _facts(store: Store, selector: Selector) -> Selected:
    found = []
    for fact_id in dict.fromkeys(selector.facts):
        fact = store.fact(_meant(fact_id, store.ids.facts(fact_id), selector.person))
        if fact is None:
            raise OmoideError(
                "fact-unknown", f"There is no fact {fact_id}. See `omoide memory list`."
            )
        found.append(fact)
    return Selected("fact", Erasing(facts=tuple(fact.id for fact in found)), tuple(found))


def _page(store: Store, selector: Selector) -> Selected:
    page_id = _meant(selector.page, store.ids.pages(selector.page), selector.person)
    page = store.pages.find([page_id]).get(page_id)
    if page is None:
        raise OmoideError(
            "page-unknown", f"There is no exchange {selector.page}. See `omoide memory export`."
        )
    return _whole("page", store.facts_of(page.person), [page])


def _meant(typed: str, found: Mapping[str, str], person: str) -> str:
    """Return the id that was typed, or begun; empty if there is none of that person."""
    return whole_id(typed, [id_ for id_, whose in found.items() if person in ("", whose)]) or ""


def _whole(
    kind: str, facts: Sequence[Fact], pages: Sequence[Page], named: Sequence[Fact] = ()
) -> Selected:
    """Return whole exchanges with the facts drawn from them, and facts of which no exchange is kept."""
    ids = [page.id for page in pages]
    drawn = [fact for fact in facts if not set(ids).isdisjoint(fact.sources)]
    what = Erasing(facts=tuple(fact.id for fact in named), pages=tuple(ids))
    return Selected(kind, what, (*drawn, *named), tuple(pages))


def _topic(
    wanted: "_Wanted", facts: Sequence[Fact], pages: Sequence[Page], segments: Sequence[Segment]
) -> Selected:
    """Return the exchanges of the topics that are meant, and those about it that are in no topic yet."""
    meant = {
        one.id
        for one in segments
        if one.id == wanted.text or wanted.is_all_in(" ".join(sorted(one.keywords)), one.language)
    }
    about = [
        page
        for page in pages
        if (page.segment in meant if page.segment else wanted.is_all_in(page.said, page.language))
    ]
    by_hand = [one for one in facts if not one.sources and wanted.is_in_fact(one)]
    return _whole("topic", facts, about, by_hand)


def _worded(
    wanted: "_Wanted",
    facts: Sequence[Fact],
    pages: Sequence[Page],
    near: Collection[str],
    quiet: Set[tuple[str, int]],
) -> Selected:
    """Return the facts that are found, and of the exchanges the sentences and the answers that say it.

    Args:
        wanted: What is looked for.
        facts: Of one person.
        pages: All of the same.
        near: Ids of facts that are meant in any case.
        quiet: Utterances without any word of it, by page and role: only the very letters may stand in them.
    """
    found = {fact.id: fact for fact in facts if fact.id in near or wanted.is_told(fact, quiet)}
    cut: dict[str, tuple[str, ...]] = {}
    answers: list[str] = []
    for page in pages:
        said, heard = ((page.id, int(role)) in quiet for role in (Role.SAID, Role.HEARD))
        if parts := wanted.sentences_of(page, is_quiet=said):
            cut[page.id] = parts
        if wanted.is_in(page.heard, page.language, is_quiet=heard):
            answers.append(page.id)
    for fact in facts:
        quotes = [one for page in fact.sources for one in cut.get(page, ())]
        if any(holds(one, fact.quote) or holds(fact.quote, one) for one in quotes):
            found[fact.id] = fact
    named = {*cut, *answers}
    touched = tuple(page for page in pages if page.id in named)
    what = Erasing(tuple(found), (), cut, tuple(answers), wanted.text)
    return Selected("words", what, tuple(found.values()), touched)


class _Wanted:
    """Words that are looked for."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text.strip()
        self._language = language
        self._weights: dict[str, Mapping[frozenset[str], float]] = {}
        self._numbers = plain_analysis(self.text, language or "ja").numbers

    def is_in(self, text: str, language: str, *, is_quiet: bool = False) -> bool:
        """Say whether they stand in a text, or most of what they tell is in it.

        Args:
            text: Of whatever length.
            language: Two-letter code of it.
            is_quiet: Whether it is known to have no word of them.
        """
        if names(text, self.text):
            return True
        return not is_quiet and self._share(text, language) >= _LEAST_SHARED

    def sentences_of(self, page: Page, *, is_quiet: bool) -> tuple[str, ...]:
        """Return the sentences of the person that they are in; the words, if they go over the end of one."""
        stands = names(page.said, self.text)
        if is_quiet and not stands:
            return ()
        said = tuple(one for one in sentences(page.said) if self.is_in(one, page.language))
        return said or ((self.text,) if stands else ())

    def is_told(self, fact: Fact, quiet: Set[tuple[str, int]]) -> bool:
        """Say whether a fact has them. What rules quote has the words of its exchanges."""
        drawn = {(page, int(Role.SAID)) for page in fact.sources}
        is_quiet = bool(drawn) and fact.origin is Origin.RULES and quiet >= drawn
        texts = (bare(fact.text), fact.quote)
        return any(self.is_in(text, fact.language, is_quiet=is_quiet) for text in texts)

    def is_all_in(self, text: str, language: str) -> bool:
        """Say whether they stand in a text, or all of what they tell is in it."""
        return names(text, self.text) or self._share(text, language) >= _ALL

    def keys(self, languages: Collection[str]) -> set[str]:
        """Return the keys of the terms that are looked for, as read in several languages."""
        read = {self._language} if self._language else {*languages, "ja"}
        return {term.key for one in read for term in telling_terms(self.text, one)}

    def is_in_fact(self, fact: Fact) -> bool:
        """Say whether a fact or what it was drawn from has them."""
        return any(self.is_in(text, fact.language) for text in (bare(fact.text), fact.quote))

    def _share(self, text: str, language: str) -> float:
        weights = self._weights_in(language)
        if not weights or not text:
            return 0.0
        there = {form for term in telling_terms(text, language) for form in (term.key, term.sound)}
        shared = sum(weight for forms, weight in weights.items() if forms & there)
        if self._numbers and not self._numbers <= plain_analysis(text, language).numbers:
            return 0.0
        return shared / sum(weights.values())

    def _weights_in(self, language: str) -> Mapping[frozenset[str], float]:
        """Return how telling each word is, read as in a language: Chinese characters may be either of two."""
        read = self._language or language
        if read not in self._weights:
            self._weights[read] = {
                frozenset(filter(None, (term.key, term.sound))): term.weight
                for term in telling_terms(self.text, read)
            }
        return self._weights[read]
