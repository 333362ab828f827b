"""Writes the calendar date in brackets behind the phrases that name it: "next Saturday (October 3, 2026)"."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from server.memory.temporal.finding import find_readings, language_code
from server.memory.temporal.reading import Reading
from server.memory.temporal.scanning import word_end
from server.memory.temporal.spans import Granularity, Tense, TimeSpan, require_aware
from server.months import MONTHS

_PASSES: Final = 4
"""A date that is written in may set free a phrase behind it that was glued to the one before."""

_OF_ONE_DAY: Final = frozenset({Granularity.MOMENT, Granularity.DAYPART, Granularity.DAY})


def annotate(
    text: str,
    language: str,
    said_at: datetime,
    *,
    week_start: int = 0,
    tense: Tense | None = None,
    leave: Callable[[TimeSpan], bool] = lambda span: False,
) -> str:
    """Return the text with the date in brackets behind every phrase that needs one.

    Phrases stay as they are. A date with its year needs nothing, nor does what has a date in brackets behind it
    already, so writing twice changes nothing; "lately" gets none. What is written can be read again at any other time
    and means the same days. Languages other than ja, en and zh are returned as they are.

    Args:
        text: What was said.
        language: As in `find_times`.
        said_at: When it was said.
        week_start: First day of the week, 0 is Monday.
        tense: Overrides what the words around each phrase say.
        leave: Says of which times nothing is to be written.

    Raises:
        ValueError: `said_at` has no zone, or `week_start` is no day of the week.
    """
    require_aware(said_at)
    style = _STYLES.get(language_code(language))
    if style is None:
        return text
    for _ in range(_PASSES):
        before = text
        found = find_readings(text, language, said_at, week_start, tense)
        text = _with_dates(text, style, [each for each in found if not leave(each.span)])
        if text == before:
            break
    return text


def _with_dates(text: str, style: "_Style", readings: Sequence[Reading]) -> str:
    pieces, end = [], 0
    for reading in readings:
        if not _needs_date(reading, style):
            continue
        behind = word_end(text, reading.span.end)
        pieces += [text[end:behind], style.bracket(_written(reading, style))]
        end = behind
    return "".join([*pieces, text[end:]])


@dataclass(frozen=True, slots=True)
class _Style:
    """How a language writes dates."""

    bracket: Callable[[str], str]
    day: Callable[[date], str]
    days: Callable[[date, date], str]
    month: Callable[[date], str]
    year: Callable[[int], str]
    moment: Callable[[datetime], str]
    dash: str
    years: range
    """Years that are read again as such; what lies beyond is not written."""


def _needs_date(reading: Reading, style: _Style) -> bool:
    span = reading.span
    if reading.spelled or span.granularity is Granularity.RECENT:
        return False
    return span.since.year in style.years and span.until.year in style.years


def _written(reading: Reading, style: _Style) -> str:
    span = reading.span
    if span.granularity in _OF_ONE_DAY:
        return _written_day(reading, style)
    first, last = span.first_day, span.last_day
    if span.granularity is Granularity.YEAR and first.month == 1:
        return style.year(first.year)
    if first.day == 1 and (last + timedelta(days=1)).day == 1:
        months = [style.month(first)]
        if (first.year, first.month) != (last.year, last.month):
            months.append(style.month(last))
        return style.dash.join(months)
    return style.day(first) if first == last else style.days(first, last)


def _written_day(reading: Reading, style: _Style) -> str:
    """Write the day; with the time where the day that the words name is not the one that is meant, or none is named."""
    since = reading.span.since
    if reading.timed:
        return style.moment(since)
    last = reading.span.last_day
    if reading.ranged and last != reading.day:
        return style.days(reading.day, last)
    return style.day(reading.day)


def _english_day(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def _english_days(first: date, last: date) -> str:
    month = MONTHS[first.month - 1]
    if first.year != last.year:
        return f"{_english_day(first)} – {_english_day(last)}"
    if first.month != last.month:
        return f"{month} {first.day} – {_english_day(last)}"
    return f"{month} {first.day}–{last.day}, {last.year}"


def _eastern_day(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _eastern_days(dash: str) -> Callable[[date, date], str]:
    def days(first: date, last: date) -> str:
        if first.year != last.year:
            return _eastern_day(first) + dash + _eastern_day(last)
        if first.month != last.month:
            return f"{_eastern_day(first)}{dash}{last.month}月{last.day}日"
        return f"{_eastern_day(first)}{dash}{last.day}日"

    return days


def _eastern_style(dash: str, hour: str) -> _Style:
    return _Style(
        bracket=lambda written: f"（{written}）",
        day=_eastern_day,
        days=_eastern_days(dash),
        month=lambda day: f"{day.year}年{day.month}月",
        year=lambda year: f"{year}年",
        moment=lambda moment: (
            f"{_eastern_day(moment.date())}{moment.hour:02}{hour}{moment.minute:02}分"
        ),
        dash=dash,
        years=range(1000, 3000),
    )


_STYLES: Final = {
    "ja": _eastern_style("〜", "時"),
    "zh": _eastern_style("至", "点"),
    "en": _Style(
        bracket=lambda written: f" ({written})",
        day=_english_day,
        days=_english_days,
        month=lambda day: f"{MONTHS[day.month - 1]} {day.year}",
        year=str,
        moment=lambda moment: f"{_english_day(moment.date())}, {moment:%H:%M}",
        dash=" – ",
        years=range(1800, 2100),
    ),
}
