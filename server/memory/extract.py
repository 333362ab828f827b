"""From pages to facts: by a language model that is checked, or by the rules that keep the person's own statements.

A model only proposes. What becomes a fact has a quote that the person really said, is about the person's life, and
holds no name or number that was not spoken.
"""

import re
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import date, datetime
from typing import Protocol

import structlog
from anyio import to_thread

from server.errors import OmoideError
from server.memory import temporal
from server.memory.answers import Draft, read_drafts
from server.memory.claims import Refusal
from server.memory.grounding import refusal
from server.memory.habits import weekdays
from server.memory.kinds import kind_of
from server.memory.models import Fact, Kind, Origin, Page
from server.memory.statements import statements
from server.memory.temporal import TimeSpan
from server.memory.wording import framed, plain_analysis, without_frame
from server.ports import Llm, TextDelta
from server.turn import Decoding, Message, Prompt

log = structlog.get_logger(__name__)

LONGEST_ANSWER = 20_000
"""Characters after which a model is stopped: it is in a loop."""
_TEMPERATURES = (0.0, 0.4, 0.8)
"""By attempt: the same decoding that failed once never recovers."""
_SHORTEST, _LONGEST = 4, 240
_MEANINGFUL = 0.5
"""Weight of a term that is no frame word: a number, a pair of Chinese characters, and more."""
LONGEST_EVENT_DAYS = 40
"""What lasts longer is no event: "this year", "since spring"."""
_NAMESPACE = uuid.UUID("6d0f2d5e-4b1c-4d39-9a5e-0c1f7b2a8e11")


class Prompts(Protocol):
    """The texts that the model is instructed with."""

    def in_language(self, stem: str, language: str) -> str:
        """Return the text of a prompt file in a language."""


class Extractor(Protocol):
    """Draws facts from pages."""

    @property
    def gives_way(self) -> bool:
        """Whether its work makes an answer slower, so that it has to stop when somebody talks."""

    async def extract(self, pages: Sequence[Page], attempt: int) -> list[Fact]:
        """Return the facts in `pages`, which belong to one person and follow each other.

        Args:
            pages: Oldest first; at least one.
            attempt: How often these pages have been tried in vain.

        Raises:
            OmoideError: Nothing could be drawn this time; the pages are to be tried again later.
        """


class RulesExtractor:
    """Keeps the person's own statements as they were said: needs no model and invents nothing."""

    gives_way = False

    def __init__(self, week_start: int = 0) -> None:
        self._week_start = week_start

    async def extract(self, pages: Sequence[Page], attempt: int) -> list[Fact]:
        """Return one quoted, dated fact for every statement."""
        return await to_thread.run_sync(self._drawn, pages)

    def _drawn(self, pages: Sequence[Page]) -> list[Fact]:
        return [
            self._fact(page, sentence)
            for page in pages
            for sentence in statements(page.said, page.language)
            if _stands_alone(sentence, page.language)
        ]

    def _fact(self, page: Page, sentence: str) -> Fact:
        fact = make_fact(page, _quoted(sentence, page), sentence, Origin.RULES, self._week_start)
        days = fact.event_from, fact.event_to
        return replace(fact, kind=kind_of(sentence, page.language, page.at.date(), days))


class ModelExtractor:
    """Lets a language model write the facts, and checks every one of them against what was said."""

    def __init__(self, llm: Llm, prompts: Prompts, week_start: int = 0) -> None:
        self._llm = llm
        self._prompts = prompts
        self._week_start = week_start

    @property
    def gives_way(self) -> bool:
        """Whether the model is one of the house; a service far away answers and draws facts at the same time."""
        return self._llm.traits("en").local

    async def extract(self, pages: Sequence[Page], attempt: int) -> list[Fact]:
        """Ask the model once; see `Extractor.extract`."""
        language = pages[-1].language
        system = self._prompts.in_language("extract", language)
        decoding = Decoding(
            temperature=_TEMPERATURES[min(attempt, len(_TEMPERATURES) - 1)],
            max_tokens=1_200,
            background=True,
        )
        prompt = Prompt(system, (Message("user", _dialogue(pages)),), language, decoding)
        drafts = read_drafts(await self._ask(prompt), system)
        if drafts.cut and attempt < len(_TEMPERATURES) - 1:
            raise OmoideError("extraction-malformed", "The model's answer was cut off.")
        return await to_thread.run_sync(self._checked, drafts.whole, pages)

    def _checked(self, drafts: Sequence[Draft], pages: Sequence[Page]) -> list[Fact]:
        """Return what may become a fact. Blocks.

        Raises:
            OmoideError: ``extraction-malformed``: nothing of all that the model wrote was said.
        """
        checked = [check(draft, pages, self._week_start) for draft in drafts]
        facts = [one for one in checked if isinstance(one, Fact)]
        refused = Counter(one.value for one in checked if isinstance(one, Refusal))
        if refused:
            log.info("facts-refused", kept=len(facts), reasons=dict(refused))
        if drafts and not facts:
            raise OmoideError("extraction-malformed", "The model wrote nothing that was said.")
        return facts

    async def _ask(self, prompt: Prompt) -> str:
        answer = ""
        async with aclosing(self._llm.stream(prompt)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    answer += event.text
                if len(answer) > LONGEST_ANSWER:
                    raise OmoideError("extraction-malformed", "The model's answer does not end.")
        return answer


def check(draft: Draft, pages: Sequence[Page], week_start: int = 0) -> Fact | Refusal:
    """Return the fact that a draft stands for, or why it may not become one."""
    text = _without_brackets(" ".join(draft.text.split()))
    text = re.sub(r"^(?:ユーザー|話し手)(?:さん|くん)?", "あなた", text)
    if len(draft.quote) > _LONGEST or not _SHORTEST <= len(text) <= _LONGEST:
        return Refusal.FORM
    if re.search(r'[{}<>]|\w"\s*:', text):  # pieces of JSON or of a prompt
        return Refusal.FORM
    page = _page_of(text, draft, pages, week_start)
    if isinstance(page, Refusal):
        return page
    fact = make_fact(page, text, draft.quote, Origin.MODEL, week_start)
    return replace(fact, kind=Kind(draft.kind)) if draft.kind in set(Kind) else fact


def make_fact(page: Page, text: str, quote: str, origin: Origin, week_start: int = 0) -> Fact:
    """Date a sentence and give it an id that the same sentence from the same turn always gets."""
    plain = _without_brackets(text)
    words = without_frame(plain)  # the frame speaks of the past whatever the words do
    dated = temporal.annotate(words, page.language, page.at, week_start=week_start)
    dated = plain.replace(words, dated, 1)
    first, last = event_days(quote or text, page.language, page.at, week_start)
    key = "\n".join((page.person, page.id, text))
    return Fact(
        id=uuid.uuid5(_NAMESPACE, key).hex,
        person=page.person,
        text=dated,
        language=page.language,
        said_at=page.at,
        quote=quote,
        event_from=first,
        event_to=last,
        origin=origin,
        sources=(*page.begun_in, page.id),
    )


def event_days(
    text: str, language: str, said_at: datetime, week_start: int = 0
) -> tuple[date | None, date | None]:
    """Return the first and the last day that a statement speaks of, if it names days at all.

    A day of which only the month had to be guessed ("the 28th") counts where no other is sure, and one of which only the
    hour had to be ("tomorrow at ten") is sure; a bare weekday, an hour and a birthday come round again and again.

    Args:
        text: The statement.
        language: Two-letter code of it.
        said_at: When it was said, aware, in the person's zone.
        week_start: First day of the week, 0 for Monday.
    """
    spans = temporal.find_times(text, language, said_at, week_start=week_start)
    guessed = [] if _comes_every_year(text, language) else [*filter(_is_calendar_day, spans)]
    days = [
        (span.first_day, span.last_day)
        for span in [span for span in spans if span.certain or span.day_certain] or guessed
        if (span.last_day - span.first_day).days < LONGEST_EVENT_DAYS
    ]
    if not days:
        return None, None
    return min(first for first, _ in days), max(last for _, last in days)


def _is_calendar_day(span: TimeSpan) -> bool:
    return span.day_certain is not None and not weekdays(span.phrase)


def _comes_every_year(text: str, language: str) -> bool:
    return "birthday" in plain_analysis(text, language).notions


def _stands_alone(sentence: str, language: str) -> bool:
    """Say whether a sentence still means something without those around it: "I want to go again" does not."""
    return any(term.weight >= _MEANINGFUL for term in plain_analysis(sentence, language).terms)


def _quoted(sentence: str, page: Page) -> str:
    """Keep a statement word for word; an English sentence ends inside the marks."""
    words = sentence.strip().rstrip("。．.!！")
    ends_itself = page.language in ("ja", "zh") or words.endswith(("?", "？"))
    return framed(words if ends_itself else f"{words}.", page.language)


def _dialogue(pages: Sequence[Page]) -> str:
    """Write the talk down for the model. What had been recalled is not in it: it would be drawn again."""
    names = {"ja": ("話し手", "ロボット"), "zh": ("说话人", "机器人")}
    speaker, robot = names.get(pages[-1].language, ("Speaker", "Robot"))
    return "\n".join(
        f"[{number}] {page.at:%Y-%m-%d %H:%M}\n{speaker}: {page.said}\n{robot}: {page.heard}"
        for number, page in enumerate(pages, start=1)
    )


def _page_of(text: str, draft: Draft, pages: Sequence[Page], week_start: int) -> Page | Refusal:
    """Find the turn that supports a fact: the one that the draft names, else the last that does."""
    named = pages[draft.turn - 1 : draft.turn] if draft.turn > 0 else []
    reasons = []
    for page in (*named, *(page for page in reversed(pages) if page not in named)):
        reason = refusal(text, draft.quote, page.said, page.language, page.at, week_start)
        if reason is None:
            return page
        reasons.append(reason)
    return next((reason for reason in reasons if reason is not Refusal.QUOTE), Refusal.QUOTE)


_BRACKETED_DATE = re.compile(
    r"""\s*[(（][^()（）]*(?:\d{4}\s*年|\d{1,2}\s*月\s*\d{1,2}|\d{4}[-/.]\d{1,2}|\d{1,2}[-/]\d{1,2}
        |(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2})[^()（）]*[)）]""",
    re.VERBOSE | re.IGNORECASE,
)


def _without_brackets(text: str) -> str:
    """Take out dates that a model put in brackets: models miscount, the calendar does not."""
    return _BRACKETED_DATE.sub("", text)
