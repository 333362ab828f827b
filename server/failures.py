"""Saying in one line what went wrong, without a word of what people said."""

import errno
import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)

_SHORTAGES = {
    errno.EMFILE: "too-many-open-files",
    errno.ENFILE: "too-many-open-files",
    errno.ENOBUFS: "out-of-memory",
    errno.ENOMEM: "out-of-memory",
    errno.ENOSPC: "disk-full",
}
_QUIET_SECONDS = 60.0
_KINDS = 100
"""How many kinds of trouble are remembered: messages of libraries could be of ever new kinds."""


def describe_failure(error: BaseException) -> tuple[str, str]:
    """Return the code of a failure and the place where it happened.

    The text of the exception is left out: it may quote what was said.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    code = getattr(error, "code", None) or _SHORTAGES.get(getattr(error, "errno", None) or 0)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    known = code if isinstance(code, str) else "unexpected"
    return known, f"{type(error).__name__} {place}".strip()


def log_fault(event: str, error: BaseException, **about: object) -> None:
    """Log an error that nobody expected: what and where, and at debug level the way there."""
    _, where = describe_failure(error)
    log.error(event, where=where, **about)
    way = [
        f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)
    ]
    log.debug("traceback", of=event, frames=way)


def quieten(
    logger_name: str, event: str, now: Callable[[], float] = time.monotonic
) -> logging.Logger:
    """Turn what a library logs at warning level or above into one line of ours, named `event`, without a traceback.

    The same trouble is told once a minute at most, with the number of times that it was left out: what strangers cause by
    the thousand must not fill the disk.

    Args:
        logger_name: The logger of the library.
        event: The name of the line.
        now: Seconds of a clock that never goes back. Libraries log from threads, too, which have no event loop.
    """
    logger = logging.getLogger(logger_name)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    logger.handlers = [_OneLine(event, now)]
    return logger


class _OneLine(logging.Handler):
    def __init__(self, event: str, now: Callable[[], float]) -> None:
        super().__init__()
        self._event = event
        self._now = now
        self._told: dict[tuple[str, str], float] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        # Lines after the first are for developers, and quote what nobody should read in a log.
        kind = (str(record.msg).strip().partition("\n")[0], type(error).__name__)
        if self._now() - self._told.get(kind, float("-inf")) < _QUIET_SECONDS:
            self._left_out[kind] += 1
            return
        if len(self._told) >= _KINDS:
            self._told.clear()
            self._left_out.clear()
        self._told[kind] = self._now()
        code, where = describe_failure(error) if error else ("", "")
        log.warning(
            self._event,
            what=record.getMessage().strip().partition("\n")[0],
            **({"code": code, "where": where} if error else {}),
            **({"left_out": self._left_out.pop(kind)} if kind in self._left_out else {}),
        )
