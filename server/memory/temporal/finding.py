"""Finds the times that a text names."""

import re
from datetime import datetime
from typing import Final

from server.memory.temporal.chinese import CHINESE
from server.memory.temporal.english import ENGLISH
from server.memory.temporal.japanese import JAPANESE
from server.memory.temporal.number_words import FOLDED
from server.memory.temporal.numeric import RULES
from server.memory.temporal.reading import Reading, read_times
from server.memory.temporal.replacing import none_replaced
from server.memory.temporal.scanning import Language
from server.memory.temporal.spans import Tense, TimeSpan
from server.memory.temporal.tenses import no_tense

_OTHER: Final = Language(
    rules=RULES,
    joint=re.compile(r"(?!)"),
    ranging=re.compile(r" ?- ?"),
    listing=re.compile(r"(?!)"),
    tense_at=no_tense,
    replaced=none_replaced,
    variants=FOLDED,
)

_LANGUAGES: Final = {"ja": JAPANESE, "en": ENGLISH, "zh": CHINESE}


def find_times(
    text: str,
    language: str,
    said_at: datetime,
    *,
    week_start: int = 0,
    tense: Tense | None = None,
) -> list[TimeSpan]:
    """Return the times that a text names, in order of place, none overlapping another.

    "next week" and 来週 are the calendar week after this one, also on its last day; "next Saturday" and 今度の土曜 the
    first such day after today. A bare weekday is placed by tense, which is read from the words around it. Days are
    those of the wall clock: they begin and end at midnight, also when clocks change.

    What recurs ("every Tuesday", 毎週火曜) is no single time and gives nothing, nor do words that only look like a time
    (三日坊主, "May I"), a time too vague for any dates (昔), or one beyond the calendar's end.

    Args:
        text: What was said; may hold any characters.
        language: ``ja``, ``en`` or ``zh``, also with a region (``zh-TW``). In any other only dates in figures are read.
        said_at: When it was said, in the zone of the one who said it.
        week_start: First day of the week, 0 is Monday.
        tense: Overrides what the words around each phrase say.

    Raises:
        ValueError: `said_at` has no zone, or `week_start` is no day of the week.
    """
    return [reading.span for reading in find_readings(text, language, said_at, week_start, tense)]


def tense_around(text: str, language: str, span: TimeSpan) -> Tense | None:
    """Return which way the words around a time look that was found in a text; None if they look neither way."""
    rules = _LANGUAGES.get(language_code(language), _OTHER)
    return rules.tense_at(text.translate(rules.variants), span.start, span.end)


def find_readings(
    text: str, language: str, said_at: datetime, week_start: int, tense: Tense | None
) -> list[Reading]:
    """Return the same with what is needed to write dates beside the phrases."""
    rules = _LANGUAGES.get(language_code(language), _OTHER)
    return read_times(text, rules, said_at, week_start, tense)


def language_code(language: str) -> str:
    """Return the language without its region: ``zh`` of ``zh-TW``."""
    return re.split("[-_]", language.lower(), maxsplit=1)[0]
