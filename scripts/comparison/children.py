"""A driver in a process of its own, which is told something in JSON lines and answers in JSON lines."""

import json
import os
import re
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 600.0
"""Longest wait for one answer."""
_LONGEST_ANSWER = 1 << 20
_UNWANTED = re.compile(r"PYTHON(PATH|HOME)|OPENAI_.*|.*_API_KEY|.*_PROXY", re.IGNORECASE)


class RivalError(Exception):
    """A system can't be installed, ended by itself, or raised an error; the message says why, for the report."""


class Child:
    """A running driver."""

    def __init__(self, process: Process, errors: Path, patience_seconds: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input = process.stdin
        self._answers = BufferedByteReceiveStream(process.stdout)
        self._errors = errors
        self._patience_seconds = patience_seconds

    async def ask(self, do: str, **more: object) -> dict[str, Any]:
        """Send an order and return the answer.

        Raises:
            RivalError: It answered with an error, took too long, or is gone.
        """
        try:
            with anyio.fail_after(self._patience_seconds):
                await self._input.send(json.dumps({"do": do, **more}).encode() + b"\n")
                line = await self._answers.receive_until(b"\n", _LONGEST_ANSWER)
        except TimeoutError as error:
            raise RivalError(f"no answer to {do} in {self._patience_seconds:g} s") from error
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
            raise RivalError(f"ended during {do}: {last_line(self._errors)}") from error
        answered: dict[str, Any] = json.loads(line)
        if "error" in answered:
            raise RivalError(f"{do}: {answered['error']}")
        return answered


@asynccontextmanager
async def started(
    command: Sequence[str | Path], folder: Path, patience_seconds: float = PATIENCE_SECONDS
) -> AsyncGenerator[Child]:
    """Run a driver until the block ends.

    Args:
        command: Program and arguments. It runs in the project's folder, so that it can import the protocol.
        folder: Its home, where it may write what it likes.
        patience_seconds: How long each answer may take.
    """
    errors = folder / "errors.txt"
    with errors.open("wb") as file:
        process = await anyio.open_process(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            cwd=ROOT,
            env=surroundings(os.environ, folder),
        )
    try:
        yield Child(process, errors, patience_seconds)
    finally:
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                process.kill()  # what was measured is known by now
            await process.aclose()


def surroundings(variables: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the environment of a driver: nothing that leads it to other packages, services or keys."""
    kept = {name: value for name, value in variables.items() if not _UNWANTED.fullmatch(name)}
    return {**kept, "HOME": str(home), "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1"}


def last_line(file: Path) -> str:
    """Return the last line of a file that holds anything."""
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
