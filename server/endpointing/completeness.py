"""Whether a text sounds finished: read by its end, as a listener does who waits for their turn."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


class Completeness(StrEnum):
    """What the end of a text promises."""

    FINISHED = "finished"
    UNFINISHED = "unfinished"
    UNKNOWN = "unknown"
    """Either may be; or there is no text."""


_LAST_CHARS = 120
"""How much of a text is read: its last sentence decides."""
_FULL_STOPS = re.compile(r"[。.!！?？]+[\"'”’」』)）]*\s+|[。！？]+[\"'”’」』)）]*")
_MARKS = " \t\r\n\"'“”‘’「」『』()（）。.!！?？,，、…‥~〜～-—–:：;；"
_TRAILING_OFF = ("…", "...", "、", ",", "，", "-", "—", "–", "‥", "~", "〜", "～")
_QUESTION = re.compile(r"[?？][\"'”’」』)）]*$")


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is known of one language; see phrases.yaml."""

    spaced: bool
    question_mark_tells: bool
    whole: re.Pattern[str]
    asked: re.Pattern[str]
    certain: re.Pattern[str]
    doubtful: re.Pattern[str]
    hesitating: re.Pattern[str]
    unfinished: re.Pattern[str]
    finished: re.Pattern[str]
    number: re.Pattern[str]
    first_number: re.Pattern[str]


def completeness(text: str, language: str) -> Completeness:
    """Judge a text by its last sentence.

    A recogniser puts a full stop behind whatever it is given, so full stops say nothing; a comma, a dash or dots at the
    end say that more was to come, a question mark that it was not.

    Args:
        text: What a recogniser made of an utterance so far.
        language: Two-letter code; of another one than Japanese, English and Chinese nothing is known.
    """
    rules = _rules().get(language)
    text = text.strip()
    if rules is None or not text.strip(_MARKS):
        return Completeness.UNKNOWN
    if text.rstrip("\"'”’」』)）").endswith(_TRAILING_OFF):
        return Completeness.UNFINISHED
    said = _last_sentence(text, rules)
    if _is_count(text, rules):
        return Completeness.UNFINISHED
    return _judge(said, rules, is_question=bool(_QUESTION.search(text)))


def _judge(said: str, rules: _Rules, *, is_question: bool) -> Completeness:
    """Look the end of a sentence up, from what says most to what says least."""
    wants_more = rules.unfinished.search(said)
    verdicts = (
        (rules.whole.fullmatch(said), Completeness.FINISHED),
        (rules.hesitating.search(said), Completeness.UNFINISHED),
        (rules.certain.search(said), Completeness.FINISHED),
        (rules.doubtful.search(said), Completeness.UNKNOWN),
        (wants_more and is_question and rules.question_mark_tells, Completeness.UNKNOWN),
        (wants_more, Completeness.UNFINISHED),
        (rules.finished.search(said), Completeness.FINISHED),
        (is_question and rules.asked.search(said), Completeness.FINISHED),
    )
    return next((verdict for found, verdict in verdicts if found), Completeness.UNKNOWN)


def _last_sentence(text: str, rules: _Rules) -> str:
    """Return the end of a text without the marks around it; in lower case."""
    tail = text[-_LAST_CHARS:].rstrip(_MARKS)
    said = _FULL_STOPS.split(tail)[-1].strip(_MARKS).lower()
    if not rules.spaced:
        return re.sub(r"\s+", "", said)
    return re.sub(r"[,;:]", "", re.sub(r"\s+", " ", said.replace("’", "'")))


def _is_count(text: str, rules: _Rules) -> bool:
    """Say whether somebody counts, or tells the digits of a number: there is always a next one."""
    numbers = [part for part in re.split(rf"[\s{re.escape(_MARKS)}]+", text.lower()) if part]
    if not rules.spaced:
        numbers = [digit for part in numbers for digit in _numbers_in(part, rules)]
    if not numbers or not all(rules.number.fullmatch(number) for number in numbers):
        return False
    return len(numbers) > 1 or rules.first_number.fullmatch(numbers[0]) is not None


def _numbers_in(part: str, rules: _Rules) -> Sequence[str]:
    """Cut a text without spaces into numbers; what is none comes back as it is."""
    found = [number.group() for number in rules.number.finditer(part)]
    return found if "".join(found) == part else [part]


@cache
def _rules() -> Mapping[str, _Rules]:
    content: Any = yaml.safe_load((files(__package__) / "phrases.yaml").read_text(encoding="utf-8"))
    return {language: _compile(rules) for language, rules in content.items()}


def _compile(rules: Mapping[str, Any]) -> _Rules:
    spaced = bool(rules["spaced"])
    start = r"(?<![\w'])" if spaced else ""

    def ends(name: str) -> re.Pattern[str]:
        return re.compile(f"{start}(?:{'|'.join(rules[name]) or '(?!)'})$")

    def whole(name: str) -> re.Pattern[str]:
        return re.compile("|".join(rules[name]) or "(?!)")

    return _Rules(
        spaced,
        bool(rules["question_mark_tells"]),
        whole("whole"),
        re.compile(f"^(?:{'|'.join(rules['asked'])})"),
        ends("certain"),
        ends("doubtful"),
        ends("hesitating"),
        ends("unfinished"),
        ends("finished"),
        whole("number"),
        whole("first_number"),
    )
