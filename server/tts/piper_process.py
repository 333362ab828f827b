"""A running Piper process: starting it, asking it, and staying in step with it.

Piper is under the GPL and therefore lives in a process of its own; see `server.tts.piper_child` for what is spoken on
the pipes.
"""

import json
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process

from server.audio import Audio, from_pcm
from server.errors import EngineMissing, TtsError

CHILD = Path(__file__).with_name("piper_child.py")
_HEADER_BYTES = 5


class PiperGone(TtsError):  # noqa: N818 - it names a state
    """The child has ended."""


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: str
    payload: bytes


class PiperProcess:
    """One child process with one voice. For one caller at a time.

    A caller that is cancelled leaves an answer half read; the next `speak` reads the rest of it first.
    """

    def __init__(self, process: Process) -> None:
        """Take over a child that has just been started; see `start_piper`."""
        if process.stdin is None or process.stdout is None:
            raise ValueError("the child must have been started with pipes")
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._unread = bytearray()
        self._is_answering = False
        self._rate = 0

    @property
    def is_alive(self) -> bool:
        """Whether the child still runs, as far as is known."""
        return self._process.returncode is None

    @property
    def is_ready(self) -> bool:
        """Whether the voice is loaded."""
        return self._rate > 0

    async def wait_until_ready(self) -> None:
        """Wait until the voice is loaded.

        Raises:
            EngineMissing: It can't be.
            PiperGone: The child ended before it said why.
        """
        frame = await self._read_frame()
        if frame.kind != "R":
            raise EngineMissing(
                f"The English voice can't be loaded ({frame.payload.decode(errors='replace')}). Install it with: "
                "pip install piper-tts"
            )
        self._rate = int(frame.payload)

    async def catch_up(self) -> None:
        """Read what is left of an answer that nobody waits for any more."""
        while self._is_answering:
            await self._read_answer()

    async def speak(self, text: str, speed: float) -> list[Audio]:
        """Return the sound of a sentence. Call `catch_up` before.

        Raises:
            TtsError: Piper could not speak it.
            PiperGone: The child has ended; it can't be used any more.
        """
        request = json.dumps({"text": text, "speed": speed}) + "\n"
        self._is_answering = True
        try:
            # A caller cancelled by now would send nothing, and `catch_up` would wait for an answer that never comes.
            with anyio.CancelScope(shield=True):
                await self._stdin.send(request.encode())
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise _gone() from error
        pieces: list[Audio] = []
        while (frame := await self._read_answer()).kind == "A":
            pieces.append(Audio(from_pcm(frame.payload), self._rate))
        if frame.kind == "E":
            name = frame.payload.decode(errors="replace")
            raise TtsError("tts-failed", f"Piper can't speak a sentence ({name}).")
        return [piece for piece in pieces if len(piece.samples)]

    def kill(self) -> None:
        """End the child at once. A caller that waits for it gets an error."""
        if self.is_alive:
            self._process.kill()

    async def aclose(self) -> None:
        """End the child and wait until it is gone."""
        self.kill()
        with anyio.CancelScope(shield=True):
            await self._process.aclose()

    async def _read_answer(self) -> _Frame:
        frame = await self._read_frame()
        self._is_answering = frame.kind == "A"
        return frame

    async def _read_frame(self) -> _Frame:
        """Return the next frame. Cancelled in the middle of one, it loses nothing: all that came stays in the buffer."""
        while (frame := self._take_frame()) is None:
            try:
                self._unread += await self._stdout.receive()
            except (
                OSError,
                anyio.EndOfStream,
                anyio.BrokenResourceError,
                anyio.ClosedResourceError,
            ) as error:
                raise _gone() from error
        return frame

    def _take_frame(self) -> _Frame | None:
        if len(self._unread) < _HEADER_BYTES:
            return None
        kind, length = struct.unpack_from(">cI", self._unread)
        end = _HEADER_BYTES + length
        if len(self._unread) < end:
            return None
        payload = bytes(self._unread[_HEADER_BYTES:end])
        del self._unread[:end]
        return _Frame(kind.decode("latin-1"), payload)


async def start_piper(voice: Path, child: Path = CHILD) -> PiperProcess:
    """Start a child that loads `voice`; wait for it with `PiperProcess.wait_until_ready`.

    Raises:
        EngineMissing: The operating system won't start it.
    """
    # Without -P, Python would put the folder of the script first in its path and take our piper.py for the engine.
    command = [sys.executable, "-P", str(child), str(voice)]
    try:
        process = await anyio.open_process(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise EngineMissing(
            f"The process of the English voice can't be started ({error})."
        ) from error
    return PiperProcess(process)


def _gone() -> PiperGone:
    return PiperGone(
        "tts-failed",
        "The process of the English voice has ended. It is started again for the next sentence.",
    )
