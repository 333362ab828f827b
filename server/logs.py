"""Logging: structured lines on standard error, without what people said.

A key with the segment ``pii`` (``text_pii``, ``pii_name``) marks words of a person. Such fields are dropped, unless somebody
asked for a debug log on a console: a log file that is kept or shipped never holds them.
"""

import logging
import re
import sys
from io import StringIO
from typing import Literal, TextIO, TypeAlias

import structlog
from structlog.types import EventDict, ExcInfo, Processor, WrappedLogger

from server.called import as_called

Level: TypeAlias = Literal["debug", "info", "warning", "error"]
Format: TypeAlias = Literal["console", "json"]

_PRIVATE = "pii"
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What would steer a terminal, break a line in two or turn the writing around: much that is logged comes from strangers."""


def configure(level: Level = "info", form: Format = "console") -> None:
    """Set logging up for the whole process; may be called again.

    Libraries that use the standard library's logging come through the same way, but only from warnings up: in their debug
    output they write down whole requests.
    """
    threshold = logging.getLevelNamesMapping()[level.upper()]
    shows_private = level == "debug" and form == "console"
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        name_commands,
        *([] if shows_private else [drop_private]),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    output = logging.StreamHandler(sys.stderr)
    output.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(form),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [output]
    root.setLevel(max(threshold, logging.WARNING))
    for own in ("server", "firmware_bridge"):
        logging.getLogger(own).setLevel(threshold)


def name_commands(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Name the commands in a hint as they are called here. A structlog processor."""
    if isinstance(hint := event.get("hint"), str):
        event["hint"] = as_called(hint)
    return event


def drop_private(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Take out every field whose key has the segment ``pii``. A structlog processor."""
    return {key: value for key, value in event.items() if _PRIVATE not in key.split("_")}


def _renderers(form: Format) -> list[Processor]:
    if form == "json":
        return [structlog.processors.format_exc_info, _render_json]
    # The default traceback of structlog shows local variables, and with them what people said.
    return [
        _escape_values,
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=_write_traceback
        ),
    ]


def _render_json(logger: WrappedLogger, method: str, event: EventDict) -> str:
    line = structlog.processors.JSONRenderer(ensure_ascii=False)(logger, method, event)
    return _escape(str(line))


def _escape_values(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    return {
        key: _escape(value) if isinstance(value, str) else value for key, value in event.items()
    }


def _write_traceback(output: TextIO, exc_info: ExcInfo) -> None:
    plain = StringIO()
    structlog.dev.plain_traceback(plain, exc_info)
    output.write("\n".join(map(_escape, plain.getvalue().split("\n"))))


def _escape(text: str) -> str:
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
