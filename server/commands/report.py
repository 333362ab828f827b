"""What a command leaves behind: plain data for programs, lines for people, and whether all went well."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TextIO, TypeAlias

from server.called import as_called
from server.errors import OmoideError

Tell: TypeAlias = Callable[[str], None]
"""Prints a line for people: on standard output, or on standard error if that belongs to a JSON object."""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a command."""

    data: Mapping[str, object]
    """What ``--json`` prints."""
    ok: bool = True
    """Whether the exit code is 0."""


def counted(number: int, one: str, more: str = "") -> str:
    """Return a number with what it counts, in the singular for 1; `more` where the plural is not made by an s."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def describe_error(error: OmoideError | None) -> Mapping[str, str] | None:
    """Return an error as data; None for none."""
    return None if error is None else {"code": error.code, "message": as_called(str(error))}


def find_error(error: BaseException) -> OmoideError | None:
    """Return the expected error in what came out of a task group; None if anything unexpected is in it."""
    if isinstance(error, OmoideError):
        return error
    if isinstance(error, BaseExceptionGroup):
        expected, unexpected = error.split(OmoideError)
        if expected is not None and unexpected is None:
            return find_error(expected.exceptions[0])
    return None


def write_json(report: Report, out: TextIO) -> None:
    """Write the data as one JSON object and a line end."""
    json.dump(report.data, out, ensure_ascii=False, indent=2)
    out.write("\n")
    out.flush()


def _open(descriptor: int) -> TextIO:
    # An unpaired surrogate becomes an escape that JSON knows, too.
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace")


@contextmanager
def reserved_stdout() -> Iterator[TextIO]:
    """Keep standard output for what is written to the stream that is yielded; everything else goes to standard error.

    That holds for `print` and for native libraries and child processes that write to file descriptor 1 themselves.
    """
    reserved, elsewhere = sys.stdout, sys.stderr
    saved: int | None = None
    sys.stdout.flush()
    with suppress(OSError, ValueError):  # a stream in memory has no descriptor, and needs none
        saved = os.dup(reserved.fileno())
        os.dup2(elsewhere.fileno(), reserved.fileno())
    out = reserved if saved is None else _open(os.dup(saved))
    sys.stdout = elsewhere
    try:
        yield out
    finally:
        sys.stdout = reserved
        if saved is not None:
            out.close()
            os.dup2(saved, reserved.fileno())
            os.close(saved)
