"""Carrying out a command: its configuration and log, where its output goes, its errors and exit codes."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TypeAlias

import anyio

from server import logs
from server.called import as_called
from server.commands.report import (
    Report,
    Tell,
    describe_error,
    find_error,
    reserved_stdout,
    write_json,
)
from server.config import Config, load_config
from server.errors import ConfigError, OmoideError
from server.private_folder import owner_only

DEFAULT_CONFIG = Path("config.yaml")
FAILED, MISUSED, INTERRUPTED = 1, 2, 130
"""Exit codes."""

Work: TypeAlias = Callable[[Tell], Awaitable[Report]]
ConfiguredWork: TypeAlias = Callable[[Config, Tell], Awaitable[Report] | Report]


def find_config(given: Path | None) -> Path | None:
    """Return the configuration file to read: the one that was named, else `config.yaml` if there is one here."""
    if given is not None:
        return given
    return DEFAULT_CONFIG if DEFAULT_CONFIG.exists() else None


def with_config(work: ConfiguredWork, given: Path | None, *, is_service: bool = False) -> Work:
    """Let a command read the configuration and set its log up first.

    Args:
        work: The command.
        given: The configuration file that was named, if any.
        is_service: Whether the log is what the program is watched by. Other commands only log what goes wrong.
    """

    async def configured(tell: Tell) -> Report:
        config = load_config(find_config(given))
        level = config.logging.level
        quiet = level == "info" and not is_service
        logs.configure("warning" if quiet else level, config.logging.format)
        outcome = work(config, tell)
        return await outcome if inspect.isawaitable(outcome) else outcome

    return configured


def carry_out(
    work: Work, *, nothing: Mapping[str, object], as_json: bool = False, is_service: bool = False
) -> int:
    """Do the work and return the exit code.

    Expected errors end in one line ``error[code]: message`` on standard error, never in a traceback.

    Args:
        work: The command.
        nothing: The shape of its JSON object when nothing came of it; an error is put into it.
        as_json: Print the JSON object on standard output, and everything else on standard error.
        is_service: Whether being interrupted is its proper end.
    """
    logs.configure("warning")
    with owner_only(), reserved_stdout() if as_json else nullcontext(sys.stdout) as out:

        def tell(line: str) -> None:
            print(as_called(line), file=sys.stderr if as_json else out, flush=True)

        try:
            report, code = _attempt(work, tell, nothing)
        except KeyboardInterrupt:
            if is_service:
                return 0
            stopped = {"code": "interrupted", "message": "Stopped before it was finished."}
            report, code = Report({**nothing, "error": stopped}, ok=False), INTERRUPTED
        if as_json:
            write_json(report, out)
    return code


def _attempt(work: Work, tell: Tell, nothing: Mapping[str, object]) -> tuple[Report, int]:
    try:
        report = anyio.run(work, tell)
    except (OmoideError, BaseExceptionGroup) as raised:
        error = find_error(raised)
        if error is None:
            raise
        print(f"error[{error.code}]: {as_called(str(error))}", file=sys.stderr, flush=True)
        report = Report({**nothing, "error": describe_error(error)}, ok=False)
        return report, MISUSED if isinstance(error, ConfigError) else FAILED
    return report, 0 if report.ok else FAILED
