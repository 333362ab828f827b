"""Saying in one line what went wrong, without a word of what people said."""

import logging
import traceback

import structlog

log = structlog.get_logger(__name__)


def describe_failure(error: BaseException) -> tuple[str, str]:
    """Return the code of a failure and the place where it happened.

    The text of the exception is left out: it may quote what was said.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    code = getattr(error, "code", None)
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


def quieten(logger_name: str, event: str) -> logging.Logger:
    """Turn what a library logs at warning level or above into one line of ours, named `event`, without a traceback."""
    logger = logging.getLogger(logger_name)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    logger.handlers = [_OneLine(event)]
    return logger


class _OneLine(logging.Handler):
    def __init__(self, event: str) -> None:
        super().__init__()
        self._event = event

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        where = describe_failure(error)[1] if error else ""
        log.warning(self._event, what=record.getMessage().strip(), where=where)
