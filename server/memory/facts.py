"""Facts, one sentence each: making them, and checking what a model proposes as one."""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial

from server.memory import checks, temporal
from server.memory.answer_parts import Draft
from server.memory.attributes import LISTENERS, SELVES
from server.memory.bidding import bids_robot
from server.memory.claims import Refusal
from server.memory.grounding import is_spoken, refusal
from server.memory.habits import weekdays
from server.memory.importance import importance_of
from server.memory.models import Fact, Importance, Kind, Origin, Page
from server.memory.temporal import Granularity, TimeSpan
from server.memory.terms import letters
from server.memory.weekly import Weekday, is_bare_weekday, meaning_of
from server.memory.wording import framed, plain_analysis, without_frame

LONGEST_EVENT_DAYS = 40
"""What lasts longer is no event: "this year", "since spring"."""
_SHORTEST, _LONGEST = 4, 240
_NAMESPACE = uuid.UUID("6d0f2d5e-4b1c-4d39-9a5e-0c1f7b2a8e11")
_ROBOT = re.compile(r"^(?:the robot|ロボット|机器人)", re.IGNORECASE)
_TO_ROBOT = re.compile(
    r"\b(?:you|robot)\b|あなた|きみ|君|お前|ロボット|て?くれ(?:た|て|まし)|你|机器人", re.IGNORECASE
)
"""What a person says in speaking of the robot."""
_KEEPS_TO = re.compile(
    r"(?:よう|こと)に(?:して(?:い?る|い?ます|い?て)|決めて)|\b(?:try|trying|always|usually|normally)\b|[总都一]般|平时|通常|总是",
    re.IGNORECASE,
)
_NAMES_OF_AGENT = ("The robot", "ロボット", "你")
"""What the agent is called where it is bidden something."""
_OF_PERSON = re.compile(
    r"あなた(?:は|が|の|も)|\byour\b|\bthat you\b|\byou (?:are|were|have|had|like|love|live|work|own|said|told)\b"
    r"|你(?:的|是|有|喜欢|住|养|说|家|在)",
    re.IGNORECASE,
)
"""What a sentence about the robot must not say: it would make the robot a witness of the person's life."""


def _named_by(words: Mapping[str, str]) -> re.Pattern[str]:
    """Return what finds one of these words in any language: who corrects a fact need not keep to that of the fact."""
    forms = (rf"\b(?:{names})\b" if code == "en" else names for code, names in words.items())
    return re.compile("|".join(forms), re.IGNORECASE)


_LISTENER, _SELF = _named_by(LISTENERS), _named_by(SELVES)


def check(draft: Draft, pages: Sequence[Page], week_start: int = 0) -> Fact | Refusal:
    """Return the fact about the person that a draft stands for, or why it may not become one."""
    text = _without_brackets(checks.plain_line(draft.text, _LONGEST))
    text = re.sub(r"^(?:ユーザー|話し手)(?:さん|くん)?", "あなた", text)
    if len(draft.quote) > checks.LONGEST_QUOTE or len(text) < _SHORTEST:
        return Refusal.FORM
    page = _page_of(text, draft, pages, week_start)
    if isinstance(page, Refusal):
        return page
    kind, told = _sorted(draft)
    return make_fact(
        page, text, draft.quote, Origin.MODEL, week_start, kind=kind, told_importance=told
    )


def check_of_agent(
    draft: Draft, pages: Sequence[Page], agent: str, week_start: int = 0
) -> Fact | None:
    """Return the fact about the agent that a draft stands for, or None if it may not become one.

    Its quote may be the agent's own words. Its subject is the agent, it claims nothing about the person, and it does not bid
    the agent how to be.
    """
    text = _ROBOT.sub(agent, _without_brackets(checks.plain_line(draft.text, _LONGEST)))
    if (
        not re.match(rf"{re.escape(agent)}(?![A-Za-z])", text)
        or _OF_PERSON.search(text)
        or len(text) < _SHORTEST
        or any(bids_robot(text.replace(agent, named, 1)) for named in _NAMES_OF_AGENT)
    ):
        return None
    if len(draft.quote) > checks.LONGEST_QUOTE:
        return None
    for page in checks.pages_of(draft.turn, pages):
        spoken = [f"{agent}. {page.heard}"]
        if agent in draft.quote or _TO_ROBOT.search(draft.quote):
            spoken.append(f"{agent}. {page.said}")
        if any(is_spoken(text, draft.quote, words, page.language) for words in spoken):
            kind, told = _sorted(draft)
            return make_fact(
                page,
                text,
                draft.quote,
                Origin.MODEL,
                week_start,
                kind=kind,
                told_importance=told,
                about=agent,
            )
    return None


def make_fact(
    page: Page,
    text: str,
    quote: str,
    origin: Origin,
    week_start: int = 0,
    *,
    kind: Kind = Kind.OTHER,
    told_importance: Importance | None = None,
    about: str = "",
) -> Fact:
    """Date a sentence, weigh it, and give it an id that the same sentence from the same turn always gets.

    Args:
        page: The turn that it comes from.
        text: The sentence.
        quote: The words that it was drawn from.
        origin: Who wrote it.
        week_start: First day of the week, 0 for Monday.
        kind: What it is about.
        told_importance: What a model says of it. Rules may find that it is lasting all the same, never that it is less.
        about: See `Fact.about`.
    """
    plain = _without_brackets(text)
    words = without_frame(plain)  # the frame speaks of the past whatever the words do
    dated = temporal.annotate(
        words,
        page.language,
        page.at,
        week_start=week_start,
        leave=partial(_is_of_any_day, text=quote or words, language=page.language),
    )
    dated = plain.replace(words, dated, 1)
    first, last = event_days(quote or text, page.language, page.at, week_start)
    ruled = importance_of(plain, page.language, kind)
    key = "\n".join((page.person, page.id, text))
    return Fact(
        id=uuid.uuid5(_NAMESPACE, key).hex,
        person=page.person,
        text=dated,
        language=page.language,
        said_at=page.at,
        kind=kind,
        quote=quote,
        event_from=first,
        event_to=last,
        origin=origin,
        sources=page.turns,
        importance=ruled if ruled is Importance.LASTING else told_importance or ruled,
        about=about,
    )


def correction_of(fact: Fact, text: str, now: datetime, week_start: int = 0) -> Fact | None:
    """Return what a person wrote in the place of a fact: as it stands if it calls them "you", else quoted. Blocks.

    It rests on no exchange: only forgetting it takes it away. None if it is too long for a fact, says nothing, or looks
    like markup.
    """
    words = checks.plain_line(text, _LONGEST)
    if not letters(words):
        return None
    page = Page(words, "", now, fact.language, id=f"instead of {fact.id}", person=fact.person)
    is_fact = bool(fact.about) or _speaks_to_person(words)
    shown = words if is_fact else framed(words, fact.language)
    made = make_fact(page, shown, words, Origin.HAND, week_start, kind=fact.kind, about=fact.about)
    return replace(made, quote="", sources=())


def _speaks_to_person(words: str) -> bool:
    """Say whether a sentence calls the person "you", as facts do, and does not speak as the person."""
    return bool(_LISTENER.match(words) or (_LISTENER.search(words) and not _SELF.search(words)))


def event_days(
    text: str, language: str, said_at: datetime, week_start: int = 0
) -> tuple[date | None, date | None]:
    """Return the first and the last day that a statement speaks of, if it names days at all.

    A day of which only the month had to be guessed ("the 28th") counts where no other is sure, and one of which only the
    hour had to be ("tomorrow at ten") is sure; so is a bare weekday where the words tell that it is the day of one event.
    Else a weekday, an hour and a birthday come round again and again.

    Args:
        text: The statement.
        language: Two-letter code of it.
        said_at: When it was said, aware, in the person's zone.
        week_start: First day of the week, 0 for Monday.
    """
    found = temporal.find_times(text, language, said_at, week_start=week_start)
    spans = [span for span in found if not _comes_every_day(span, text)]
    likely = [span for span in spans if _is_likely(span, text, language, said_at.date())]
    guessed = [] if _comes_every_year(text, language) else likely
    days = [
        (span.first_day, span.last_day)
        for span in [span for span in spans if span.certain or span.day_certain] or guessed
        if (span.last_day - span.first_day).days < LONGEST_EVENT_DAYS
    ]
    if not days:
        return None, None
    return min(first for first, _ in days), max(last for _, last in days)


def _is_likely(span: TimeSpan, text: str, language: str, today: date) -> bool:
    """Say whether a day that was guessed is told by the calendar or by what is said of it."""
    if not is_bare_weekday(span):
        return span.day_certain is not None and not weekdays(span.phrase)
    if meaning_of(span, text, language) is not Weekday.EVENT:
        return False
    is_back = span.last_day < today
    return not is_back or temporal.tense_around(text, language, span) is temporal.Tense.PAST


def _is_of_any_day(span: TimeSpan, text: str, language: str) -> bool:
    return _comes_every_day(span, text) or _comes_every_week(span, text, language)


def _comes_every_day(span: TimeSpan, text: str) -> bool:
    """Say whether a time of day names no day, and by no other sign is one of today: "I take my pills at eight in the evening"."""
    if (
        span.granularity not in (Granularity.MOMENT, Granularity.DAYPART)
        or span.day_certain is not None
    ):
        return False
    return not span.certain or _KEEPS_TO.search(text) is not None


def _comes_every_week(span: TimeSpan, text: str, language: str) -> bool:
    return is_bare_weekday(span) and meaning_of(span, text, language) is Weekday.WEEKLY


def _comes_every_year(text: str, language: str) -> bool:
    return "birthday" in plain_analysis(text, language).notions


def _page_of(text: str, draft: Draft, pages: Sequence[Page], week_start: int) -> Page | Refusal:
    """Find the turn that supports a fact: the one that the draft names, else the last that does."""
    words = without_frame(text)  # what is quoted as the person's own is no other's
    reasons = []
    for page in checks.pages_of(draft.turn, pages):
        reason = refusal(words, draft.quote, page.said, page.language, page.at, week_start)
        if reason is None:
            return page
        reasons.append(reason)
    return next((reason for reason in reasons if reason is not Refusal.QUOTE), Refusal.QUOTE)


def _sorted(draft: Draft) -> tuple[Kind, Importance | None]:
    """Return how a model sorted a fact, where it used the words that there are."""
    kind = Kind(draft.kind) if draft.kind in set(Kind) else Kind.OTHER
    importance = Importance(draft.importance) if draft.importance in set(Importance) else None
    return kind, importance


_BRACKETED_DATE = re.compile(
    r"""\s*[(（][^()（）]*(?:\d{4}\s*年|\d{1,2}\s*月\s*\d{1,2}|\d{4}[-/.]\d{1,2}|\d{1,2}[-/]\d{1,2}
        |(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2})[^()（）]*[)）]""",
    re.VERBOSE | re.IGNORECASE,
)


def _without_brackets(text: str) -> str:
    """Take out dates that a model put in brackets: models miscount, the calendar does not."""
    return _BRACKETED_DATE.sub("", text)
