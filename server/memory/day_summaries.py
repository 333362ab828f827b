"""What a person talked about on a day, in a few sentences: the bridge between days.

A summary is for continuity, not a record: what looks like a symptom or a sign of danger is kept apart as a note, in the
person's own words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

from anyio import to_thread

from server.errors import OmoideError
from server.memory.answer_forms import DAY
from server.memory.answers import read_day
from server.memory.background import ask
from server.memory.checks import checked_summary, plain_line
from server.memory.extract import Prompts, says_who_the_robot_is
from server.memory.importance import importance_of
from server.memory.models import DaySummary, Fact, Importance, Kind, Note, NoteKind, Origin, Page
from server.memory.passages import passages
from server.memory.recent_days import may_be_asked_about
from server.memory.statements import statements
from server.memory.unmentioned import asks_for_silence
from server.memory.wording import bare, plain_analysis, quoted
from server.ports import Llm

LONGEST_SUMMARY = 500
_LONGEST_FOLLOW_UP = 120
_MOST_FOLLOW_UPS = 3
_LONGEST_TALK = 12_000
"""Characters of a day that a model is shown; of a longer one what the person said, and of that the end."""
_MOST_TOKENS = 500
_MOST_SENTENCES = 4
_LONGEST_SENTENCE = 100
_SOON = timedelta(days=7)
_RANK = {Importance.LASTING: 2.0, Importance.ORDINARY: 1.0, Importance.FLEETING: 0.3}
_HEADS = {
    "ja": ("気分：{}。", "体のこと：{}。"),
    "zh": ("心情：{}。", "身体：{}。"),
    "en": (" Mood: {}.", " Health: {}."),
}


@dataclass(frozen=True, slots=True)
class DayTalk:
    """What is known of one day of a person."""

    day: date
    pages: Sequence[Page]
    """All of that day, oldest first; at least one."""
    facts: Sequence[Fact] = ()
    """What was drawn from them."""
    notes: Sequence[Note] = ()
    """What was noted in them."""

    @property
    def language(self) -> str:
        """The language that most of the day was spoken in."""
        spoken = [page.language for page in self.pages]
        return max(dict.fromkeys(spoken), key=spoken.count)


class DaySummarizer(Protocol):
    """Makes the summary of a day."""

    @property
    def gives_way(self) -> bool:
        """Whether its work makes an answer slower, so that it has to stop when somebody talks."""

    async def summarize(self, talk: DayTalk, attempt: int, now: datetime) -> DaySummary:
        """Return the summary of a day; its text is empty if nothing worth telling was said.

        Args:
            talk: Of that day.
            attempt: How often it has been tried in vain.
            now: The present moment.

        Raises:
            OmoideError: It can't be made this time.
        """


class RulesSummarizer:
    """Puts together what the person said that is worth most: needs no model and invents nothing."""

    gives_way = False

    async def summarize(self, talk: DayTalk, attempt: int, now: datetime) -> DaySummary:
        """Return the most telling sentences of the day, the moods and symptoms that were noted, and plans to ask about."""
        return await to_thread.run_sync(self._made, talk, now)

    def _made(self, talk: DayTalk, now: datetime) -> DaySummary:
        is_spaced = talk.language not in ("ja", "zh")
        between = "; " if is_spaced else "；" if talk.language == "zh" else "、"
        told = [quoted(sentence, talk.language) for sentence in most_telling(talk.pages)]
        noted = [
            head.format(between.join(text.rstrip("。.") for text in texts))
            for head, kind in zip(
                _HEADS.get(talk.language, _HEADS["en"]),
                (NoteKind.MOOD, NoteKind.SAFETY),
                strict=True,
            )
            if (texts := _noted(talk.notes, kind))
        ]
        text = f"{' ' if is_spaced else ''}".join(told) + "".join(noted)
        return _summary(talk, text.strip(), follow_ups(talk), Origin.RULES, now)


class ModelSummarizer:
    """Lets a language model write the summary, and checks that it names nobody who did not occur."""

    def __init__(self, llm: Llm, prompts: Prompts) -> None:
        self._llm = llm
        self._prompts = prompts

    @property
    def gives_way(self) -> bool:
        """Whether the model is one of the house; a service far away answers and sums up at the same time."""
        return self._llm.traits("en").local

    async def summarize(self, talk: DayTalk, attempt: int, now: datetime) -> DaySummary:
        """Ask the model once; see `DaySummarizer.summarize`.

        Raises:
            OmoideError: ``summary-malformed``: the answer is none, is in another language, or names somebody new.
        """
        answer = await ask(
            self._llm,
            self._prompts.in_language("summarize_day", talk.language),
            _dialogue(talk.pages),
            talk.language,
            attempt,
            schema=DAY.schema(),
            most_tokens=_MOST_TOKENS,
            code="summary-malformed",
        )
        return await to_thread.run_sync(self._checked, answer, talk, now)

    def _checked(self, answer: str, talk: DayTalk, now: datetime) -> DaySummary:
        """Return what may be kept of an answer. Blocks."""
        told = read_day(answer)
        whole = checked_summary(told.summary, talk.pages, talk.language, LONGEST_SUMMARY)
        if not whole:
            raise OmoideError("summary-malformed", "The model's answer was no summary of the day.")
        checked = (
            checked_summary(one, talk.pages, talk.language, _LONGEST_FOLLOW_UP)
            for one in told.follow_ups
        )
        united = tuple(dict.fromkeys([*filter(None, checked), *follow_ups(talk)]))
        return _summary(talk, whole, united, Origin.MODEL, now)


def most_telling(pages: Sequence[Page]) -> list[str]:
    """Return the statements of a day that are worth most, in the order in which they were made."""
    found = [
        (page.language, sentence.strip())
        for page in passages(pages)
        for sentence in statements(page.said, page.language)
        if not asks_for_silence(sentence) and not says_who_the_robot_is(sentence, page.language)
    ]
    worth = {sentence: _worth(sentence, language) for language, sentence in found}
    best = sorted(worth, key=lambda sentence: -worth[sentence])[:_MOST_SENTENCES]
    return [plain_line(sentence, _LONGEST_SENTENCE) for sentence in worth if sentence in best]


def follow_ups(talk: DayTalk) -> tuple[str, ...]:
    """Return what to ask about after a day: what was noted for that, then the person's plans of the days that follow."""
    noted = _noted(talk.notes, NoteKind.FOLLOW_UP)
    planned = [
        bare(fact.text)
        for fact in talk.facts
        if fact.current
        and not fact.about
        and fact.event_from is not None
        and talk.day < fact.event_from <= talk.day + _SOON
    ]
    lines = (
        plain_line(text, _LONGEST_FOLLOW_UP)
        for text in (*noted, *planned)
        if may_be_asked_about(text, talk.language)
    )
    return tuple(dict.fromkeys(filter(None, lines)))[:_MOST_FOLLOW_UPS]


def _dialogue(pages: Sequence[Page]) -> str:
    """Write a day down for the model; of a long one only what the person said."""
    whole = "\n".join(f"{page.at:%H:%M} {page.said}\n    → {page.heard}" for page in pages)
    if len(whole) <= _LONGEST_TALK:
        return whole
    return "\n".join(f"{page.at:%H:%M} {page.said}" for page in pages)[-_LONGEST_TALK:]


def _worth(sentence: str, language: str) -> float:
    terms = plain_analysis(sentence, language).terms
    rank = _RANK[importance_of(sentence, language, Kind.OTHER)]
    return rank * min(6.0, sum(term.weight for term in terms))


def _noted(notes: Sequence[Note], kind: NoteKind) -> list[str]:
    return list(dict.fromkeys(note.text for note in notes if note.kind is kind))[:_MOST_SENTENCES]


def _summary(
    talk: DayTalk, text: str, asked: tuple[str, ...], origin: Origin, now: datetime
) -> DaySummary:
    return DaySummary(
        person=talk.pages[0].person,
        day=talk.day,
        language=talk.language,
        text=text[:LONGEST_SUMMARY],
        follow_ups=asked[:_MOST_FOLLOW_UPS],
        origin=origin,
        made_at=now,
        sources=tuple(page.id for page in talk.pages),
    )
