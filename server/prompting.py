"""Composing the prompt: persona, history, time, memory and question, in the order that keeps a prefix cache alive.

Stable parts come first (persona and rules, then the history), volatile ones last (the time, what was recalled, the
question): what a model server has read before, it need not read again.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
import yaml

from server.errors import ConfigError
from server.memory import Page
from server.memory.wording import without_frame
from server.months import MONTHS
from server.ports import LlmTraits
from server.turn import Message, Prompt, Recalled, Recollection

log = structlog.get_logger(__name__)

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
"""The prompts that come with the project."""

WEEKDAYS = {
    "ja": ("月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}

MOST_FACTS = 3
"""Facts in a prompt, whatever memory offers."""
MOST_MEMORY_TOKENS = 800
MOST_COMPACT_MEMORY_TOKENS = 150
"""A small model reads some two hundred tokens a second, and nothing is heard meanwhile."""
_LONGEST_LINE, _LONGEST_COMPACT_LINE = 300, 120
"""Characters of a fact; of a longer one the beginning is quoted."""

_REMINDER, _MARKS, _ASSENT = "前に話したことです。{}", "「{}」", "そうでしたね。"
"""How a person reminds the Japanese model of something, the marks around each thing, and what it answers to that."""
_NOTES = {"zh": "（备注：{}）{}", "en": "(Note: {}) {}"}
"""How a question to the other small model carries what was recalled."""
_HARMLESS = str.maketrans(dict.fromkeys("<＜﹤", "‹") | dict.fromkeys(">＞﹥", "›"))
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class _Read:
    stamp: tuple[int, int]
    text: str


class PromptFiles:
    """The texts in `prompts/`, read again when they change on disk.

    A file that vanishes or can't be read after it was read once keeps its last text: an editor that is writing it must not
    end a talk.
    """

    def __init__(self, folder: Path = PROMPTS) -> None:
        self.folder = folder
        self._read: dict[str, _Read] = {}

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


def compose(
    files: PromptFiles,
    *,
    question: str,
    recalled: Recollection,
    history: Sequence[Page],
    now: datetime,
    language: str,
    traits: LlmTraits,
) -> Prompt:
    """Build the prompt of one turn.

    Args:
        files: The texts of the persona.
        question: What the person said, as transcribed.
        recalled: What memory offers. What is least relevant is left out if the budget of `traits` is exceeded.
        history: The last exchanges, oldest first; the oldest are left out next.
        now: The present moment in the person's zone.
        language: Language to answer in.
        traits: What the model can be asked.
    """
    make = _compose_compact if traits.compact else _compose_full
    system, asked = make(files, question, recalled, now, language, traits.prompt_budget_tokens)
    budget = traits.prompt_budget_tokens - _tokens(asked)
    if traits.compact:
        history = [page for page in history if page.language == language]  # it knows one only
    else:
        budget -= estimate_tokens(system)
    kept = _newest_within(history, budget)
    dialogue = [message for page in kept for message in _messages(page)]
    return Prompt(system, (*dialogue, *asked), language)


def _compose_full(
    files: PromptFiles,
    question: str,
    recalled: Recollection,
    now: datetime,
    language: str,
    budget: int,
) -> tuple[str, tuple[Message, ...]]:
    rules = files.in_language("reply", language)
    system = "\n\n".join((files.text("soul.md"), files.text("identity.md"), rules))
    time = f"<now>{time_line(now, language)}</now>\n"
    left = budget - estimate_tokens(system) - estimate_tokens(time + question)
    memory = memory_block(recalled, min(left, MOST_MEMORY_TOKENS))
    return system, (Message("user", f"{time}{memory}{question}"),)


def _compose_compact(
    files: PromptFiles,
    question: str,
    recalled: Recollection,
    now: datetime,
    language: str,
    budget: int,
) -> tuple[str, tuple[Message, ...]]:
    # Tiny models repeat what stands beside the question: the date stays away from it, without minutes, so that it
    # belongs to the stable part for an hour.
    system = f"{files.in_language('compact', language)}\n{short_time_line(now, language)}"
    left = min(budget - estimate_tokens(question), MOST_COMPACT_MEMORY_TOKENS)
    return system, ask_reminding(question, recalled, language, left)


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


def memory_block(recalled: Recollection, budget: int = MOST_MEMORY_TOKENS) -> str:
    """Quote what was recalled, the newest first, a dated line for each fact; nothing for an empty recollection.

    Stored text can't close the block.

    Args:
        recalled: Best first.
        budget: How many tokens the block may have; what is least relevant is left out.
    """
    form = "<retrieved_memory>\n{}\n</retrieved_memory>\n"

    def block(lines: Sequence[Recalled]) -> str:
        dated = (f"- {line.at:%Y-%m-%d} {_quoted(line.text, _LONGEST_LINE)}" for line in lines)
        return form.format("\n".join(dated))

    lines = _most_relevant(recalled, lambda lines: estimate_tokens(block(lines)) <= budget)
    return block(lines) if lines else ""


def ask_reminding(
    question: str, recalled: Recollection, language: str, budget: int
) -> tuple[Message, ...]:
    """Ask a small model something, with what was recalled in the one form that it makes use of.

    The base model takes it as an exchange before the question, the instruct model as a note in it; measured, each does
    worse with the other's. The example in ``prompts/compact.*.md`` has the same words.

    Args:
        question: What the person said.
        recalled: Best first.
        language: Two-letter code of the talk; it says which model answers.
        budget: How many tokens memory may have; what is least relevant is left out.
    """
    write = _as_exchange if language == "ja" else _as_note
    alone = (Message("user", question),)

    def asked(lines: Sequence[Recalled]) -> tuple[Message, ...]:
        return write(question, lines, language) if lines else alone

    most = _tokens(alone) + budget
    return asked(_most_relevant(recalled, lambda lines: _tokens(asked(lines)) <= most))


def _as_exchange(question: str, lines: Sequence[Recalled], language: str) -> tuple[Message, ...]:
    said = (
        _MARKS.format(_quoted(without_frame(line.text), _LONGEST_COMPACT_LINE)) for line in lines
    )
    return (
        Message("user", _REMINDER.format("".join(said))),
        Message("assistant", _ASSENT),
        Message("user", question),
    )


def _as_note(question: str, lines: Sequence[Recalled], language: str) -> tuple[Message, ...]:
    said = " ".join(_quoted(line.text, _LONGEST_COMPACT_LINE) for line in lines)
    return (Message("user", _NOTES.get(language, _NOTES["en"]).format(said, question)),)


def _most_relevant(
    recalled: Recollection, fits: Callable[[Sequence[Recalled]], bool]
) -> list[Recalled]:
    """Return as many of the best lines as fit, each fact once, the newest first."""
    once = {line.id or line.text: line for line in reversed(recalled.lines)}
    best = list(reversed(once.values()))[:MOST_FACTS]
    while best:
        newest_first = sorted(best, key=lambda line: line.at, reverse=True)
        if fits(newest_first):
            return newest_first
        best.pop()
    return []


def estimate_tokens(text: str) -> int:
    """Estimate, on the high side, how many tokens a model makes of `text`."""
    wide = len(re.findall(r"[\u2e80-\uffef]", text))
    return wide + (len(text) - wide) // 3 + 1


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate_tokens(message.content) for message in messages)


def _quoted(text: str, longest: int) -> str:
    """Make stored text a line that nothing can be read from but text: no tags in any width, no control characters."""
    plain = text.translate(_HARMLESS)
    plain = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cs", "Cn", "Co"))
    plain = " ".join(_CONTROLS.sub(" ", plain).split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def _messages(page: Page) -> tuple[Message, Message]:
    heard = page.heard + ("…" if page.interrupted else "")
    return Message("user", page.said), Message("assistant", heard)


def _newest_within(history: Sequence[Page], budget: int) -> list[Page]:
    kept: list[Page] = []
    for page in reversed(history):
        budget -= estimate_tokens(page.said + page.heard)
        if budget < 0:
            break
        kept.insert(0, page)
    return kept
