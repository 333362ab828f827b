"""Composing the prompt: persona, memory, history, time and question, in the order that keeps a prefix cache alive.

Stable parts come first (persona and rules, what changes once a day, then the history), volatile ones last (the time,
what was recalled, the question): what a model server has read before, it need not read again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import structlog
import yaml

from server.config import PersonaSection
from server.errors import ConfigError
from server.memory import Page
from server.memory.layers.composing import compact_text, full_text
from server.memory.layers.document import Document
from server.memory.layers.persona import Persona, PersonaReader
from server.months import MONTHS
from server.ports import LlmTraits
from server.quoting import (
    MOST_COMPACT_MEMORY_TOKENS,
    MOST_DAYS_TOKENS,
    MOST_MEMORY_TOKENS,
    MOST_PORTRAIT_TOKENS,
    MOST_RULES_TOKENS,
    MOST_STANDING_TOKENS,
    Block,
    ask_reminding,
    days_block,
    estimate_tokens,
    memory_block,
    pages_block,
    portrait_block,
    rules_block,
    standing_block,
    tokens_of,
    told_once,
    without_words,
    words_of,
)
from server.turn import Message, Prompt, Recalled, Recollection

log = structlog.get_logger(__name__)

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
"""The prompts that come with the project."""

WEEKDAYS = {
    "ja": ("月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}


@dataclass(frozen=True, slots=True)
class _Read:
    stamp: tuple[int, int]
    text: str


class PromptFiles:
    """The texts in `prompts/`, read again when they change on disk.

    A file that vanishes or can't be read after it was read once keeps its last text: an editor that is writing it must not
    end a talk.
    """

    def __init__(self, folder: Path = PROMPTS, section: PersonaSection | None = None) -> None:
        self.folder = folder
        self._read: dict[str, _Read] = {}
        read = PersonaReader(self, section or PersonaSection()).read
        self.persona: Callable[[], Persona] = partial(read, Document())
        """Returns Soul and Identity as they hold now; a server puts in what knows the changes made by hand."""

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            ConfigError: It can't be read and never was; the message names the path.
        """
        path = self.folder / name
        known = self._read.get(name)
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if known is None or known.stamp != stamp:
                known = _Read(stamp, path.read_text(encoding="utf-8").strip())
                self._read[name] = known
        except (OSError, UnicodeDecodeError) as error:
            if known is None:
                raise ConfigError(
                    f"{path} can't be read ({error}). Restore the file or set persona.prompts to another folder.",
                    code="prompt-missing",
                ) from error
            log.warning("prompt-file-unreadable", file=str(path))
        return known.text

    def check(self, language: str) -> None:
        """Read what no answer in a language can do without.

        Raises:
            ConfigError: ``prompt-missing``, ``prompt-broken`` or ``persona-invalid``.
        """
        self.persona()
        for stem in ("reply", "remember", "off_record", "compact"):
            self.in_language(stem, language)
        Phrases(self).get("apology", language)

    def in_language(self, stem: str, language: str, suffix: str = "md") -> str:
        """Return ``STEM.LANGUAGE.SUFFIX``, or the English one where there is none for the language."""
        return self.text(self.name_of(stem, language, suffix))

    def name_of(self, stem: str, language: str, suffix: str = "md") -> str:
        """Return the name of the file that `in_language` reads."""
        name = f"{stem}.{language}.{suffix}"
        known = name in self._read or (self.folder / name).exists()
        return name if known else f"{stem}.en.{suffix}"


@dataclass(frozen=True, slots=True)
class _Phrases:
    source: str
    phrases: dict[str, str]


def _parse_phrases(source: str) -> dict[str, str] | None:
    try:
        parsed: Any = yaml.safe_load(source)
    except (
        yaml.YAMLError,
        ValueError,
        RecursionError,
    ):  # also a date that is none, or brackets without an end
        return None
    if not isinstance(parsed, dict) or not parsed.get("apology"):
        return None
    if any(isinstance(words, (dict, list)) for words in parsed.values()):
        return None
    return {str(key): str(words) for key, words in parsed.items() if words}


class Phrases:
    """What the robot says when it has no reply: apologies and fillers, by language."""

    def __init__(self, files: PromptFiles) -> None:
        self._files = files
        self._known: dict[str, _Phrases] = {}

    def get(self, key: str, language: str) -> str:
        """Return a phrase; for an error code without one of its own, the general apology.

        Raises:
            ConfigError: The file of phrases is missing or broken, and was never whole.
        """
        phrases = self._read(language)
        return phrases.get(key) or phrases["apology"]

    def find(self, key: str, language: str) -> str | None:
        """Return a phrase if there is one.

        Raises:
            ConfigError: As in `get`.
        """
        return self._read(language).get(key)

    def _read(self, language: str) -> dict[str, str]:
        """Read the file of a language; one that was broken by an edit keeps what it last said."""
        name = self._files.name_of("phrases", language, "yaml")
        source = self._files.text(name)
        known = self._known.get(language)
        if known is not None and known.source == source:
            return known.phrases
        phrases = _parse_phrases(source)
        if phrases is None and known is None:
            raise ConfigError(
                f"{self._files.folder}: {name} needs a key 'apology' and no more than words for each key.",
                code="prompt-broken",
            )
        if phrases is None:
            log.warning("phrases-broken", file=name)
        phrases = phrases or (known.phrases if known else {})
        self._known[language] = _Phrases(source, phrases)
        return phrases


@dataclass(frozen=True, slots=True)
class _Talk:
    """What is asked, and after what."""

    question: str
    history: Sequence[Page]
    now: datetime
    language: str
    correction: str = ""
    """What stands before the question once it is asked again; with a line end behind it."""


def compose(
    files: PromptFiles,
    *,
    question: str,
    recalled: Recollection,
    history: Sequence[Page],
    now: datetime,
    language: str,
    traits: LlmTraits,
    correction: str = "",
) -> Prompt:
    """Build the prompt of one turn.

    Args:
        files: The texts of the persona.
        question: What the person said, as transcribed.
        recalled: What memory offers; `Prompt.told` says what of it is in the prompt.
        history: The last exchanges, oldest first.
        now: The present moment in the person's zone.
        language: Language to answer in.
        traits: What the model can be asked. Where its budget is short, what matters least is left out: see the body of
            `_compose_full`.
        correction: What was wrong with the first answer, with a line end behind it; a small model is not told of it.
    """
    make = _compose_compact if traits.compact else _compose_full
    talk = _Talk(question, history, now, language, correction)
    return make(files, talk, recalled, traits.prompt_budget_tokens)


def _compose_full(files: PromptFiles, talk: _Talk, recalled: Recollection, budget: int) -> Prompt:
    manner = files.in_language("reply", talk.language)
    about = files.in_language("remember" if recalled.is_allowed else "off_record", talk.language)
    persona = "\n\n".join((full_text(files.persona(), talk.language), manner, about))
    time = f"<now>{time_line(talk.now, talk.language)}</now>\n"
    left = (
        budget - estimate_tokens(persona) - estimate_tokens(time + talk.correction + talk.question)
    )
    # Whoever comes first here gets what is left of the budget.
    standing = standing_block(recalled.standing, min(left, MOST_STANDING_TOKENS))
    left -= standing.tokens
    others = _untold(recalled.lines, standing)
    room = min(left, MOST_MEMORY_TOKENS)
    facts = memory_block(others, room)
    left -= facts.tokens
    known = _untold([*recalled.standing, *recalled.knowledge], standing)
    portrait = portrait_block(recalled.portrait, known, min(left, MOST_PORTRAIT_TOKENS))
    left -= portrait.tokens
    rules = rules_block(recalled.rules, min(left, MOST_RULES_TOKENS))
    left -= rules.tokens
    # One line for each fact: the portrait keeps its own, since what changes there has all that follows read again.
    facts = memory_block(_untold(others, portrait), min(room, facts.tokens))
    portrayed = [line for line in others if line.id in portrait.told]
    history = _newest_within(talk.history, left)
    left -= sum(map(_tokens_of_page, history))
    # What changes with the question takes nothing out of the days: all that follows them would be read again.
    held = _words_told(known, portrait) | _words_told(recalled.standing, standing)
    days = days_block(
        without_words(recalled.days, held), talk.language, min(left, MOST_DAYS_TOKENS)
    )
    left -= days.tokens
    drawn_from = {page for line in portrayed for page in line.sources}
    told_of = standing.sources | facts.sources | drawn_from | {page.id for page in history}
    said = held | _words_told(told_once(others), facts) | {words_of(page.said) for page in history}
    unknown = [
        page
        for page in recalled.pages
        if page.id not in told_of and words_of(page.said) not in said
    ]
    pages = pages_block(unknown, talk.language, min(left, MOST_MEMORY_TOKENS - facts.tokens))
    stable = (persona, rules.text, portrait.text, days.text)
    system = "\n\n".join(filter(None, (part.rstrip() for part in stable)))
    asked = f"{time}{standing.text}{facts.text}{pages.text}{talk.correction}{talk.question}"
    told = (*standing.told, *facts.told, *(line.id for line in portrayed), *pages.told)
    messages = (*_dialogue(history), Message("user", asked))
    return Prompt(system, messages, talk.language, told=told)


def _compose_compact(
    files: PromptFiles, talk: _Talk, recalled: Recollection, budget: int
) -> Prompt:
    # Tiny models repeat what stands beside the question: the date stays away from it, without minutes, so that it
    # belongs to the stable part for an hour.
    time = short_time_line(talk.now, talk.language)
    template = files.in_language("compact", talk.language)
    system = f"{compact_text(files.persona(), template, talk.language)}\n{time}"
    left = min(budget - estimate_tokens(talk.question), MOST_COMPACT_MEMORY_TOKENS)
    asked, told = ask_reminding(talk.question, recalled, talk.language, left)
    understood = [page for page in talk.history if page.language == talk.language]  # it knows one
    history = _newest_within(understood, budget - tokens_of(asked))
    return Prompt(system, (*_dialogue(history), *asked), talk.language, told=told)


def time_line(now: datetime, language: str) -> str:
    """Say the time, today and tomorrow with weekdays, in `language`; models miscount weekdays on their own."""
    tomorrow = now + timedelta(days=1)
    zone = str(now.tzinfo)
    today, next_day = _date(now, language), _date(tomorrow, language)
    if language == "ja":
        return f"今日は{today}、明日は{next_day}。今は{now:%H:%M}（{zone}）。"
    if language == "zh":
        return f"今天是{today}，明天是{next_day}。现在{now:%H:%M}（{zone}）。"
    return f"Today is {today}; tomorrow is {next_day}. It is {now:%H:%M} ({zone})."


def short_time_line(now: datetime, language: str) -> str:
    """Say the same to the hour, in as few tokens as possible."""
    tomorrow = _weekday(now + timedelta(days=1), language)
    if language == "ja":
        return f"（{_date(now, language)}、{now.hour}時ごろ。明日は{tomorrow}。）"
    if language == "zh":
        return f"（{_date(now, language)}，{now.hour}点左右。明天是{tomorrow}。）"
    return f"Today is {_date(now, language)}, about {now:%H}:00. Tomorrow is {tomorrow}."


def _date(day: datetime, language: str) -> str:
    if language in ("ja", "zh"):
        return f"{day.year}年{day.month}月{day.day}日{_weekday(day, language)}"
    return f"{_weekday(day, language)}, {MONTHS[day.month - 1]} {day.day}, {day.year}"


def _weekday(day: datetime, language: str) -> str:
    return WEEKDAYS.get(language, WEEKDAYS["en"])[day.weekday()]


def _untold(lines: Sequence[Recalled], block: Block) -> list[Recalled]:
    """Return the lines without an id, and those that a block does not tell."""
    return [line for line in lines if line.id not in block.told]


def _words_told(lines: Sequence[Recalled], block: Block) -> set[str]:
    """Return the words of the lines that a block tells."""
    return {words_of(line.text) for line in lines if line.id and line.id in block.told}


def _dialogue(history: Sequence[Page]) -> list[Message]:
    return [message for page in history for message in _messages(page)]


def _messages(page: Page) -> tuple[Message, Message]:
    heard = page.heard + ("…" if page.interrupted else "")
    return Message("user", page.said), Message("assistant", heard)


def _newest_within(history: Sequence[Page], budget: int) -> list[Page]:
    kept: list[Page] = []
    for page in reversed(history):
        budget -= _tokens_of_page(page)
        if budget < 0:
            break
        kept.insert(0, page)
    return kept


def _tokens_of_page(page: Page) -> int:
    return estimate_tokens(page.said + page.heard)
