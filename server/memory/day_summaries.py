"""What a person talked about on a day, in a few sentences: the bridge between days.

A summary is for continuity, not a record: what looks like a symptom or a sign of danger is kept apart as a note, in the
person's own words.
"""

import json
from collections.abc import Sequence
from contextlib import aclosing
from datetime import date, datetime, timedelta
from typing import Any, Protocol

from anyio import to_thread

from server.errors import OmoideError
from server.memory.checks import checked_summary, plain_line
from server.memory.extract import Prompts
from server.memory.importance import importance_of
from server.memory.models import DaySummary, Fact, Importance, Kind, Note, NoteKind, Origin, Page
from server.memory.statements import is_statement, sentences
from server.memory.wording import bare, plain_analysis
from server.ports import Llm, TextDelta
from server.turn import Decoding, Message, Prompt

LONGEST_SUMMARY = 500
_LONGEST_FOLLOW_UP = 120
_MOST_FOLLOW_UPS = 3
_LONGEST_TALK = 12_000
"""Characters of a day that a model is shown; of a longer one the end counts."""
_LONGEST_ANSWER = 6_000
_MOST_SENTENCES = 4
_LONGEST_SENTENCE = 100
_SOON = timedelta(days=7)
_RANK = {Importance.LASTING: 2.0, Importance.ORDINARY: 1.0, Importance.FLEETING: 0.3}
_HEADS = {
    "ja": ("話したこと：", "気分：", "体のこと："),
    "zh": ("说到的事：", "心情：", "身体："),
    "en": ("Talked about: ", "Mood: ", "Health: "),
}


class DaySummarizer(Protocol):
    """Makes the summary of a day."""

    async def summarize(
        self, pages: Sequence[Page], facts: Sequence[Fact], notes: Sequence[Note], now: datetime
    ) -> DaySummary:
        """Return the summary of a day.

        Args:
            pages: All of the person and the day, oldest first; at least one.
            facts: What was drawn from them.
            notes: What was noted in them.
            now: The present moment.

        Raises:
            OmoideError: It can't be made this time.
        """


class RulesSummarizer:
    """Puts together what the person said that is worth most: needs no model and invents nothing."""

    async def summarize(
        self, pages: Sequence[Page], facts: Sequence[Fact], notes: Sequence[Note], now: datetime
    ) -> DaySummary:
        """Return the most telling sentences of the day, the moods and symptoms that were noted, and plans to ask about."""
        return await to_thread.run_sync(self._made, pages, facts, notes, now)

    def _made(
        self, pages: Sequence[Page], facts: Sequence[Fact], notes: Sequence[Note], now: datetime
    ) -> DaySummary:
        language = language_of(pages)
        told, mood, health = _HEADS.get(language, _HEADS["en"])
        parts = [
            (told, most_telling(pages)),
            (mood, _noted(notes, NoteKind.MOOD)),
            (health, _noted(notes, NoteKind.SAFETY)),
        ]
        lines = [head + "／".join(texts) for head, texts in parts if texts]
        return _summary(
            pages, " ".join(lines), follow_ups(facts, notes, pages[0].at.date()), Origin.RULES, now
        )


class ModelSummarizer:
    """Lets a language model write the summary, and checks that it names nobody who did not occur."""

    def __init__(self, llm: Llm, prompts: Prompts) -> None:
        self._llm = llm
        self._prompts = prompts

    async def summarize(
        self, pages: Sequence[Page], facts: Sequence[Fact], notes: Sequence[Note], now: datetime
    ) -> DaySummary:
        """Ask the model once; see `DaySummarizer.summarize`."""
        language = language_of(pages)
        talk = "\n".join(f"{page.at:%H:%M} {page.said}\n    → {page.heard}" for page in pages)
        prompt = Prompt(
            self._prompts.in_language("summarize_day", language),
            (Message("user", talk[-_LONGEST_TALK:]),),
            language,
            Decoding(temperature=0.0, max_tokens=500, background=True),
        )
        text, asked = _read(await self._answer(prompt))
        whole = checked_summary(text, pages, language, LONGEST_SUMMARY)
        if not whole:
            raise OmoideError("summary-malformed", "The model's answer was no summary of the day.")
        checked = (checked_summary(one, pages, language, _LONGEST_FOLLOW_UP) for one in asked)
        known = follow_ups(facts, notes, pages[0].at.date())
        united = tuple(dict.fromkeys([*filter(None, checked), *known]))
        return _summary(pages, whole, united, Origin.MODEL, now)

    async def _answer(self, prompt: Prompt) -> str:
        answer = ""
        async with aclosing(self._llm.stream(prompt)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    answer += event.text
                if len(answer) > _LONGEST_ANSWER:
                    raise OmoideError("summary-malformed", "The model's answer does not end.")
        return answer


def language_of(pages: Sequence[Page]) -> str:
    """Return the language that most of a day was spoken in."""
    spoken = [page.language for page in pages]
    return max(dict.fromkeys(spoken), key=spoken.count)


def most_telling(pages: Sequence[Page]) -> list[str]:
    """Return the statements of a day that are worth most, in the order in which they were made."""
    found = [
        (page.language, sentence.strip())
        for page in pages
        for sentence in sentences(page.said)
        if is_statement(sentence, page.language)
    ]
    worth = {sentence: _worth(sentence, language) for language, sentence in found}
    best = sorted(worth, key=lambda sentence: -worth[sentence])[:_MOST_SENTENCES]
    return [plain_line(sentence, _LONGEST_SENTENCE) for sentence in worth if sentence in best]


def follow_ups(facts: Sequence[Fact], notes: Sequence[Note], day: date) -> tuple[str, ...]:
    """Return what to ask about after a day: what was noted for that, then plans of the days that follow."""
    noted = _noted(notes, NoteKind.FOLLOW_UP)
    planned = [
        bare(fact.text)
        for fact in facts
        if fact.current and fact.event_from is not None and day < fact.event_from <= day + _SOON
    ]
    lines = (plain_line(text, _LONGEST_FOLLOW_UP) for text in (*noted, *planned))
    return tuple(dict.fromkeys(filter(None, lines)))[:_MOST_FOLLOW_UPS]


def _worth(sentence: str, language: str) -> float:
    terms = plain_analysis(sentence, language).terms
    rank = _RANK[importance_of(sentence, language, Kind.OTHER)]
    return rank * min(6.0, sum(term.weight for term in terms))


def _noted(notes: Sequence[Note], kind: NoteKind) -> list[str]:
    return list(dict.fromkeys(note.text for note in notes if note.kind is kind))[:_MOST_SENTENCES]


def _summary(
    pages: Sequence[Page], text: str, asked: tuple[str, ...], origin: Origin, now: datetime
) -> DaySummary:
    return DaySummary(
        person=pages[0].person,
        day=pages[0].at.date(),
        language=language_of(pages),
        text=text[:LONGEST_SUMMARY],
        follow_ups=asked[:_MOST_FOLLOW_UPS],
        origin=origin,
        made_at=now,
        sources=tuple(page.id for page in pages),
    )


def _read(answer: str) -> tuple[str, list[str]]:
    """Return summary and follow-ups of an answer in JSON, fenced or not; of one in prose all of it as the summary."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        told: Any = json.loads(answer[start : end + 1], strict=False)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        return ("", []) if "{" in answer else (answer.strip(), [])
    asked = told.get("follow_ups", [])
    texts = [one for one in asked if isinstance(one, str)] if isinstance(asked, list) else []
    text = told.get("summary", "")
    return (text if isinstance(text, str) else "", texts)
