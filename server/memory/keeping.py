"""The forms in which texts and times are kept."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def storable(text: str) -> str:
    """Return `text` without what a database or an encoder stumbles over: lone surrogates and NUL."""
    return text.encode("utf-8", "ignore").decode("utf-8").replace("\x00", "")


def zone_name(moment: datetime) -> str:
    """Return the zone of an aware time: its name where it has one, else its offset, e.g. ``+09:00``.

    It is kept beside the moment, which is in UTC: days are counted where the person was.

    Raises:
        ValueError: The time is naive: nobody can tell later when that was.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a zone can't be stored")
    if isinstance(moment.tzinfo, ZoneInfo):
        return moment.tzinfo.key
    offset = moment.strftime("%z")
    return f"{offset[:3]}:{offset[3:5]}"


def in_zone(moment: datetime, zone: str) -> datetime:
    """Return a moment in a zone that `zone_name` named; in UTC if this machine knows no such zone."""
    try:
        if zone[:1] in "+-":
            return moment.astimezone(datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo)
        return moment.astimezone(ZoneInfo(zone))
    except (ValueError, KeyError, OSError):
        return moment.astimezone(UTC)
