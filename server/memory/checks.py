"""What of a model's drafts may be kept beside facts: topics, profile, traits, notes and danger signs, each checked against the talk."""

import re
import unicodedata
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from server.memory.answer_parts import NoteDraft, ProfileDraft, TopicDraft, TraitDraft
from server.memory.attribution import is_conditional, is_denied, is_of_speaker, sentences_around
from server.memory.bidding import bids_robot
from server.memory.grave import grave_matters, is_borne_out
from server.memory.grounding import is_spoken, shares_words
from server.memory.harvest import Topic
from server.memory.lexicon import KIN
from server.memory.models import (
    Level,
    Note,
    NoteKind,
    Origin,
    Page,
    ProfileEntry,
    ProfileField,
    Trait,
)
from server.memory.profile_claims import claims_field
from server.memory.safety.models import HIDDEN, SafetyEvent, Severity, SignalKind
from server.memory.safety.noticing import make_event
from server.memory.self_reports import introduces
from server.memory.statements import is_hypothetical, is_question, is_statement, sentences
from server.memory.terms import TELLING, TermKind, analyse, letters
from server.memory.ties import is_of_the_world
from server.memory.wording import plain_analysis

LONGEST_QUOTE = 240
_LONGEST_SUMMARY = 400
_LONGEST_NOTE = 240
_LONGEST_VALUE = 80
_LONGEST_KEYWORD = 40
_MOST_KEYWORDS = 12
_FEWEST_TURNS = 2
"""Turns that have to show a trait."""
_MOST_TRAITS = 2
"""That one sentence shows."""
_NAMESPACE = uuid.UUID("0c9a3a55-31f1-4c55-8a39-5f0f7bb1c9d2")

_MARKUP = re.compile(r'[{}<>]|\w"\s*:')
"""Pieces of JSON or of a prompt."""
_COUNTS = re.compile(r"[0-9０-９〇一二三四五六七八九十]")
_NOT_NOW = re.compile(
    r"\b(?:used to|want to|would like to|hope to|going to|formerly)\b|以前|昔は|前は|たい|つもり|予定|曾经|想|打算",
    re.IGNORECASE,
)
"""What one was, or would like to be, does not say where one lives and works."""
_OF_NOW = frozenset({ProfileField.HOME, ProfileField.WORK})
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_ROLES = "speaker robot user assistant"
"""Names of the two that talk, as the model was given them."""


def plain_line(text: str, longest: int) -> str:
    """Return a text on one line; nothing if it is too long or holds pieces of JSON or of a prompt."""
    if len(text) > 4 * longest:
        return ""
    line = " ".join(text.split())
    return line if len(line) <= longest and not _MARKUP.search(line) else ""


def pages_of(turn: int, pages: Sequence[Page]) -> Iterator[Page]:
    """Return the pages that a draft may come from: the one that it names, then the latest first."""
    named = pages[turn - 1 : turn] if turn > 0 else []
    yield from named
    yield from (page for page in reversed(pages) if page not in named)


def checked_topics(
    drafts: Sequence[TopicDraft], pages: Sequence[Page], language: str
) -> tuple[Topic, ...]:
    """Return the topics that name pages and have a summary and keywords; a page named twice stays in the first."""
    topics: list[Topic] = []
    sorted_in: set[str] = set()
    for draft in drafts:
        ids = _ids(draft.turns, pages)
        keywords = _keywords(draft.keywords, pages, language)
        summary = checked_summary(draft.summary, pages, language)
        own = tuple(page.id for page in pages if page.id in ids - sorted_in)
        if own and keywords and summary:
            topics.append(Topic(keywords, summary, own))
            sorted_in.update(own)
    return tuple(topics)


def checked_continued(numbers: Sequence[int], pages: Sequence[Page]) -> frozenset[str]:
    """Return the ids of the turns that follow from the turn before; numbers of no turn are passed over."""
    return frozenset(_ids(numbers, pages))


def checked_summary(
    text: str, pages: Sequence[Page], language: str, longest: int = _LONGEST_SUMMARY
) -> str:
    """Return a summary of pages, in whatever words; nothing if it can't be one.

    It is in their language, names nobody and nothing grave (`server.memory.grave`) that the person did not name, and bids
    the robot nothing. Sentences without any word of the talk are left out.
    """
    line = plain_line(text, longest)
    if not _is_in(line, language) or _invents_names(line, pages, language):
        return ""
    if not _is_harmless(line, pages, language):
        return ""
    talk = [side for page in pages for side in (page.said, page.heard)]
    return _joint(language).join(
        sentence
        for sentence in sentences(line)
        if grave_matters(sentence, language) or shares_words(sentence, talk, language)
    )


def checked_profile(
    drafts: Sequence[ProfileDraft], pages: Sequence[Page]
) -> tuple[ProfileEntry, ...]:
    """Return the values that the person told of themselves, or of the family in the field for it; each once."""
    found: dict[tuple[ProfileField, str], ProfileEntry] = {}
    for draft in drafts:
        entry = _entry(draft, pages)
        if entry is not None:
            found.setdefault((entry.field, letters(entry.value)), entry)
    return tuple(found.values())


def checked_traits(
    drafts: Sequence[TraitDraft], pages: Sequence[Page], dimensions: Collection[str]
) -> tuple[Trait, ...]:
    """Return the traits in known dimensions that the person's own words show in two turns or more.

    Each turn has to be quoted, with a sentence that says something, and one sentence shows two traits at the most: what
    shows anything shows nothing. Of several in one dimension the first is taken.
    """
    found: dict[str, Trait] = {}
    used: Counter[tuple[str, str]] = Counter()
    for draft in drafts:
        if draft.dimension in found or draft.dimension not in dimensions:
            continue
        shown = _shown_by(draft, pages, used)
        shown_by = [page for page in pages if page.id in shown]
        if len(shown_by) >= _FEWEST_TURNS and draft.level in set(Level):
            used.update(shown.items())
            found[draft.dimension] = Trait(
                person=shown_by[0].person,
                dimension=draft.dimension,
                level=Level(draft.level),
                seen_at=max(page.at for page in shown_by),
                sources=tuple(turn for page in shown_by for turn in page.turns),
            )
    return tuple(found.values())


def _shown_by(
    draft: TraitDraft, pages: Sequence[Page], used: Mapping[tuple[str, str], int]
) -> dict[str, str]:
    """Return the sentences that a trait is quoted from, one for each page; those that show enough already left out."""
    named = [page for page in pages if page.id in _ids(draft.turns, pages)]
    shown: dict[str, str] = {}
    for quote in draft.quotes:
        for page in named:
            told = sentences_around(quote, page.said) if is_quoted(quote, page) else []
            free = (one for one in told if used.get((page.id, one), 0) < _MOST_TRAITS)
            sentence = next((one for one in free if _says_something(one, page.language)), "")
            if sentence:
                shown.setdefault(page.id, sentence)
    return shown


def _says_something(sentence: str, language: str) -> bool:
    """Say whether a sentence has a word of weight, and does not tell of the weather or the world at large."""
    terms = plain_analysis(sentence, language).terms
    return any(term.weight >= TELLING for term in terms) and not is_of_the_world(sentence)


def checked_notes(drafts: Sequence[NoteDraft], pages: Sequence[Page]) -> tuple[Note, ...]:
    """Return the notes that quote what the person has not taken back, and add no name, no figure and nothing grave; each once.

    One that has no word of what it quotes says it in the words of the person.
    """
    found = (note for draft in drafts if (note := _note(draft, pages)) is not None)
    return tuple({note.id: note for note in found}.values())


def checked_events(drafts: Sequence[NoteDraft], pages: Sequence[Page]) -> tuple[SafetyEvent, ...]:
    """Return the danger signs among drafts of notes, with words that the person said in earnest; one for each page and kind.

    What the rules did not hear is urgent to nobody; self-harm and abuse have to be looked at the same day.
    """
    found: dict[str, SafetyEvent] = {}
    for draft in drafts:
        page = _quoted_page(draft, pages)
        if page is None or draft.kind not in set(SignalKind) or is_hypothetical(draft.quote):
            continue
        kind = SignalKind(draft.kind)
        severity = Severity.CONCERN if kind in HIDDEN else Severity.WATCH
        event = make_event(page, kind, severity, _verbatim(draft.quote, page), Origin.MODEL)
        found.setdefault(event.id, event)
    return tuple(found.values())


def is_quoted(quote: str, page: Page) -> bool:
    """Say whether the person really said a quote in an exchange, give or take some spelling."""
    return len(quote) <= LONGEST_QUOTE and is_spoken(quote, quote, page.said, page.language)


def _entry(draft: ProfileDraft, pages: Sequence[Page]) -> ProfileEntry | None:
    value = plain_line(draft.value, _LONGEST_VALUE).strip("。.「」『』“”\"' ")
    if not letters(value) or draft.field not in set(ProfileField):
        return None
    field = ProfileField(draft.field)
    for page in pages_of(draft.turn, pages):
        told = is_quoted(draft.quote, page) and any(
            _tells(field, value, sentence, page)
            for sentence in sentences_around(draft.quote, page.said)
        )
        if told:
            return ProfileEntry(page.person, field, value, page.at, page.turns)
    return None


def _tells(field: ProfileField, value: str, sentence: str, page: Page) -> bool:
    """Say whether a sentence puts a value into a field of the speaker's profile."""
    language = page.language
    if is_question(sentence) or is_hypothetical(sentence):
        return False
    if is_conditional(value, sentence, language):
        return False
    if field is ProfileField.NAME:
        return introduces(value, sentence, language)
    spoken = any(is_spoken(value, quote, page.said, language) for quote in (value, sentence))
    is_told = spoken and is_statement(sentence, language)
    if not is_told or not claims_field(field, value, sentence, language):
        return False
    people = analyse(value, language).persons
    if field is ProfileField.FAMILY and people:
        return people <= analyse(sentence, language).persons
    return (
        _suits(field, value, sentence, people)
        and is_of_speaker(value, sentence, language)
        and not is_denied(value, sentence, language)
    )


def _suits(field: ProfileField, value: str, sentence: str, people: Set[str]) -> bool:
    """Say whether a value can stand in a field: no relative's, no date without a figure, no wish."""
    if field is not ProfileField.PREFERENCE and people & KIN:
        return False
    if field is ProfileField.BIRTH and not _COUNTS.search(value):
        return False
    is_past_or_wish = _NOT_NOW.search(sentence) and not _NOT_NOW.search(value)
    return not (field in _OF_NOW and is_past_or_wish)


def _note(draft: NoteDraft, pages: Sequence[Page]) -> Note | None:
    text = plain_line(draft.text, _LONGEST_NOTE)
    page = _quoted_page(draft, pages)
    kind = NoteKind.SAFETY if draft.kind in set(SignalKind) else draft.kind
    if not text or page is None or kind not in set(NoteKind):
        return None
    if not _is_in(text, page.language) or _invents_names(text, pages, page.language):
        return None
    if not _figures(text) <= _figures(" ".join(f"{each.said} {each.heard}" for each in pages)):
        return None
    quote = _verbatim(draft.quote, page)
    if not _is_harmless(text, pages, page.language):
        if kind != NoteKind.SAFETY or not is_statement(quote, page.language):
            return None
        text = quote
    elif not shares_words(text, [page.said], page.language):
        text = quote
    key = "\n".join((page.person, page.id, kind, text))
    id_ = uuid.uuid5(_NAMESPACE, key).hex
    return Note(id_, page.person, NoteKind(kind), text, quote, page.at, page.id)


def _quoted_page(draft: NoteDraft, pages: Sequence[Page]) -> Page | None:
    """Return the page in which the quote of a draft was said in earnest."""
    found = (
        page
        for page in pages_of(draft.turn, pages)
        if is_quoted(draft.quote, page) and sentences_around(draft.quote, page.said)
    )
    return next(found, None)


def _verbatim(quote: str, page: Page) -> str:
    """Return the words of the person themselves, where a model mended them."""
    return (
        quote if quote in page.said else " ".join(sentences_around(quote, page.said)) or page.said
    )


def _ids(turns: Sequence[int], pages: Sequence[Page]) -> set[str]:
    return {pages[turn - 1].id for turn in turns if 0 < turn <= len(pages)}


def _keywords(texts: Sequence[str], pages: Sequence[Page], language: str) -> frozenset[str]:
    lines = (plain_line(text, _LONGEST_KEYWORD).casefold() for text in texts[:_MOST_KEYWORDS])
    return frozenset(
        line for line in lines if letters(line) and _is_harmless(line, pages, language)
    )


def _is_harmless(text: str, pages: Sequence[Page], language: str) -> bool:
    """Say whether a text puts nothing grave into the person's mouth, and bids the robot nothing."""
    return not bids_robot(text) and is_borne_out(text, (page.said for page in pages), language)


def _joint(language: str) -> str:
    return "" if language in ("ja", "zh") else " "


def _figures(text: str) -> set[str]:
    return set(re.findall(r"\d+", unicodedata.normalize("NFKC", text)))


def _is_in(text: str, language: str) -> bool:
    """Say whether a text may be in a language, as far as its script shows it."""
    kana, han, latin = (len(script.findall(text)) for script in (_KANA, _HAN, _LATIN))
    if language == "ja":
        return kana + han > 0
    if language == "zh":
        return han > kana
    return latin >= kana + han


def _invents_names(text: str, pages: Sequence[Page], language: str) -> bool:
    """Say whether a text names somebody or something that was not spoken of."""
    names = [term for term in analyse(text, language).terms if term.kind is TermKind.NAME]
    if not names or _is_heading(text):
        return False
    talk = [side for page in pages for side in (page.said, page.heard)]
    spoken = letters(" ".join((*talk, _ROLES)))
    forms = frozenset().union(*(analyse(side, language).forms for side in talk))
    return not all(
        term.sound in forms or letters(term.sound) in spoken or letters(term.key) in spoken
        for term in names
    )


def _is_heading(text: str) -> bool:
    """Say whether an English text Writes Its Words Like This, where a capital shows no name."""
    words = re.findall(r"[A-Za-z]+", text)[1:]
    capitals = sum(1 for word in words if word[0].isupper())
    return 2 * capitals > len(words)
