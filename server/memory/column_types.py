"""How times, days and lists of texts stand in the tables of the store, and are read back."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from server.errors import StoreError
from server.memory.keeping import storable

T = TypeVar("T")


def _read(value: Any, parse: Callable[[Any], T], form: str) -> T | None:
    """Return a value of a row; one that no program has written there says where it is to be looked for."""
    try:
        return None if value is None else parse(value)
    except (ValueError, TypeError):
        raise StoreError(
            "store-damaged",
            f"A row of the store holds something that is not {form}: it was changed from outside, or the file is damaged. "
            "Nothing was changed. Put it right with `sqlite3`, or run `omoide restore` with your last backup.",
        ) from None  # what was read may be what somebody said


class Moment(TypeDecorator[datetime]):
    """An aware time, kept as UTC text of fixed width: every database sorts it alike."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Write an aware time; a naive one is a fault of the program."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone can't be stored")
        moment = value.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(timespec="microseconds") + "Z"

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Read it back, in UTC."""
        return _read(value, datetime.fromisoformat, "a time")


class Day(TypeDecorator[date]):
    """A calendar day, kept as ``YYYY-MM-DD``."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: date | None, dialect: Dialect) -> str | None:
        """Write a day."""
        return None if value is None else value.isoformat()

    def process_result_value(self, value: Any, dialect: Dialect) -> date | None:
        """Read it back."""
        return _read(value, date.fromisoformat, "a day")


class Texts(TypeDecorator[tuple[str, ...]]):
    """A list of texts, kept as JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Iterable[str] | None, dialect: Dialect) -> str | None:
        """Write a list; a set is sorted by the caller."""
        if value is None:
            return None
        return json.dumps([storable(text) for text in value], ensure_ascii=False)

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[str, ...] | None:
        """Read it back."""
        return _read(value, lambda text: tuple(json.loads(text)), "a list of texts")
