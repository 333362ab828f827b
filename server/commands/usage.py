"""Command lines that can't be understood: with ``--json``, these too leave a JSON object behind."""

import sys
from collections.abc import Mapping
from typing import Any

from typer import Context
from typer._click.exceptions import UsageError  # nowhere public
from typer.core import TyperGroup

from server.commands import bench, devices, doctor, replay, talk
from server.commands.report import Report, write_json

_NOTHING: Mapping[str, Mapping[str, object]] = {
    "talk": talk.NOTHING,
    "say": talk.NOTHING,
    "replay": replay.NOTHING,
    "turn": bench.NOTHING,
    "doctor": doctor.NOTHING,
    "list": devices.NOTHING,
    "accept": devices.NOTHING,
    "forget": devices.NOTHING,
}
"""The shape of each command's JSON object when nothing came of it."""
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
    command = (error.ctx or ctx).info_name or ""
    told = {"code": "usage-invalid", "message": error.format_message()}
    return Report({**_NOTHING.get(command, {}), "error": told}, ok=False)
