"""Short ways to say, in the tests of the calendar, when something was said and what it should mean."""

from datetime import datetime
from zoneinfo import ZoneInfo

from server.memory.temporal import TimeSpan, find_times

TOKYO = ZoneInfo("Asia/Tokyo")
SUNDAY = datetime(2026, 9, 27, 14, 0, tzinfo=TOKYO)
"""The day of the article's test."""

FORMATS = {10: "%Y-%m-%d", 16: "%Y-%m-%dT%H:%M"}


def read(text: str, language: str, said_at: datetime = SUNDAY) -> list[str]:
    """Return what was found, each as "phrase = days"."""
    return [f"{span.phrase} = {written(span)}" for span in find_times(text, language, said_at)]


def written(span: TimeSpan) -> str:
    """Return a span as one day, as "first..last" for whole days, as a minute, or as "since..until"."""
    since, until = span.since.replace(tzinfo=None), span.until.replace(tzinfo=None)
    whole_days = (
        since.time() == until.time() == datetime.min.time() and span.granularity != "moment"
    )
    if not whole_days:
        return f"{since:%Y-%m-%dT%H:%M}" + (
            "" if span.granularity == "moment" else f"..{until:%Y-%m-%dT%H:%M}"
        )
    days = (until - since).days
    last = datetime.fromordinal(until.toordinal() - 1)
    return f"{since:%Y-%m-%d}" if days == 1 else f"{since:%Y-%m-%d}..{last:%Y-%m-%d}"
