"""Command lines that can't be understood: with ``--json``, these too leave a JSON object behind."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from typer import Context
from typer._click.exceptions import UsageError  # nowhere public
from typer.core import TyperGroup

from server.commands.report import Report, write_json

_MODULES: Mapping[str, str] = {
    "talk": "talk",
    "say": "talk",
    "replay": "replay",
    "bench turn": "bench",
    "bench memory": "bench_memory",
    "bench prompt": "bench_prompt",
    "bench guard": "bench_guard",
    "bench locks": "bench_locks",
    "bench endpoint": "bench_endpoint",
    "bench interrupt": "bench_interrupt",
    "bench echo": "bench_echo",
    "bench noise": "bench_noise",
    "bench pacing": "bench_pacing",
    "doctor": "doctor",
    "devices list": "devices",
    "devices accept": "devices",
    "devices revoke": "devices",
    "devices forget": "devices",
    "access keys list": "access",
    "access keys new": "access",
    "access keys revoke": "access",
    "memory list": "memory",
    "memory search": "memory",
    "memory show": "memory",
    "memory correct": "memory",
    "memory forget": "forget",
    "memory audit": "forget",
    "memory consent": "consent",
    "memory export": "memory",
    "memory import": "memory",
    "memory reindex": "memory",
    "safety list": "safety",
    "safety show": "safety",
    "safety webhooks": "safety",
    "safety webhook-test": "safety",
    "safety ack": "safety",
    "safety close": "safety",
    "safety export": "safety",
    "memory encrypt": "encryption",
    "memory decrypt": "encryption",
    "persona show": "persona",
    "persona set": "persona",
    "persona propose": "persona",
    "persona accept": "persona",
    "persona reject": "persona",
    "persona lock": "persona",
    "persona unlock": "persona",
    "persona export": "persona",
    "persona import": "persona",
    "extract": "memory",
    "backup": "backup",
    "restore": "restore",
    "recall-test": "recall_test",
    "calibrate": "calibrate",
    "calibrate-pages": "calibrate_pages",
}
"""Where the shape of each command's JSON object stands. Read only when it is needed: some take a second to import."""
_WANTS_JSON = "omoide.json"


class Commands(TyperGroup):
    """The commands of `omoide`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command; note whether JSON is asked for behind it."""
        ctx.meta[_WANTS_JSON] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Carry out the command; what is wrong with its line goes to standard output as JSON, too, if that is asked for."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            if ctx.meta[_WANTS_JSON]:
                write_json(_describe(error, ctx), sys.stdout)
            raise


def _describe(error: UsageError, ctx: Context) -> Report:
    told = {"code": "usage-invalid", "message": error.format_message()}
    return Report({**shape_of(_name(error.ctx or ctx)), "error": told}, ok=False)


def _name(ctx: Any) -> str:
    """Return the words behind ``omoide`` that name a command."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, ctx.info_name or "")
        ctx = ctx.parent
    return " ".join(words)


def shape_of(command: str) -> Mapping[str, object]:
    """Return the shape of a command's JSON object when nothing came of it; empty for one that is unknown."""
    if command not in _MODULES:
        return {}
    nothing = import_module(f"server.commands.{_MODULES[command]}").NOTHING
    shape: Mapping[str, object] = nothing.get(command.rpartition(" ")[2], nothing)
    return shape
