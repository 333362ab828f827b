"""One GGUF model on llama.cpp, in this process: loading it, and one answer at a time that can be stopped."""

import asyncio
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from anyio import ClosedResourceError, EndOfStream, Event, create_memory_object_stream

from server.errors import EngineMissing, LlmError

Body: TypeAlias = dict[str, Any]
"""A request in the shape of the OpenAI API, with llama.cpp's additions."""

_BATCH_TOKENS = 32
"""How much of a prompt is read at once. A reader can only be stopped between two batches: this is some 100 ms on two
cores, and reads at nine tenths of the speed of large batches."""
_PREFIX_CACHE_MIB = 128
"""Memory for prompts of other talks: the next turn of each finds its beginning already read."""
_REUSED_TOKENS = 8
"""The shortest stretch of a prompt that is kept when something before it falls away. The oldest exchange does so every
turn; reading the ones behind it again would cost as much as the whole answer."""
_HEADER_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Piece:
    """What the model has to say at one moment."""

    text: str = ""
    usage: Mapping[str, Any] | None = None
    timings: Mapping[str, Any] | None = None


class Completer(Protocol):
    """A model as an answer needs it."""

    @property
    def is_chat_model(self) -> bool:
        """Whether it takes chat messages; a base model can only continue a text."""

    def complete(self, body: Body, on_event: Callable[[Body], bool]) -> None:
        """Answer; blocks until the answer is complete.

        Args:
            body: With ``messages`` for a chat model, with ``prompt`` for a text to be continued.
            on_event: Called in this thread for every token and every batch of the prompt; True stops the model.
        """


class GgufModel:
    """A loaded model. Built in a thread, because that blocks for about a second."""

    def __init__(self, path: Path, *, threads: int, context_tokens: int) -> None:
        """Load the file.

        Args:
            path: A GGUF file.
            threads: How many processor cores to use.
            context_tokens: How long prompt and answer may be together.

        Raises:
            EngineMissing: xllamacpp is not installed, or the file can't be loaded.
        """
        try:
            import xllamacpp  # noqa: PLC0415 - an optional package
        except ImportError as error:
            raise EngineMissing(
                "The embedded language model needs the package xllamacpp. Install it with: pip install xllamacpp - or set "
                "llm.openai to an endpoint."
            ) from error
        try:
            self._server: Any = xllamacpp.Server(
                _parameters(xllamacpp, path, threads, context_tokens)
            )
        except RuntimeError as error:
            raise EngineMissing(
                f"{path} can't be loaded as a GGUF model. Check that the file is whole and that llama.cpp knows its "
                "architecture.",
                code="weights-damaged",
            ) from error
        # Only instruct models come with a template for chat messages.
        self.is_chat_model = _has_chat_template(path)

    def complete(self, body: Body, on_event: Callable[[Body], bool]) -> None:
        """Answer; see `Completer`."""
        ask = (
            self._server.handle_chat_completions
            if "messages" in body
            else self._server.handle_completions
        )
        ask(
            {
                **body,
                "stream": True,
                "return_progress": True,
                "stream_options": {"include_usage": True},
            },
            on_event,
        )


class Answer:
    """One answer, computed in a thread of its own as soon as the model is free.

    The thread holds `turn` until the model has really stopped, so that two answers never meet in it.
    """

    def __init__(self, model: Completer, body: Body, turn: threading.Lock) -> None:
        """Queue for the model, and start computing when it is free.

        Args:
            model: Answers one body at a time.
            body: See `Completer.complete`.
            turn: The right to use the model. The thread takes it and gives it back, whatever becomes of the event loop.
        """
        self.began = Event()
        """Set when the model starts on this answer."""
        self._send, self._pieces = create_memory_object_stream[Piece | LlmError](float("inf"))
        self._stopped = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._turn = turn
        threading.Thread(
            target=self._compute, args=(model, body), name="llm-answer", daemon=True
        ).start()

    async def next(self) -> Piece | None:
        """Wait for the next piece; None when the answer is complete.

        Raises:
            LlmError: The model failed.
        """
        try:
            piece = await self._pieces.receive()
        except EndOfStream:
            return None
        if isinstance(piece, LlmError):
            raise piece
        return piece

    def stop(self) -> None:
        """Make the model stop within one batch or token. Harmless when it has ended already."""
        self._stopped.set()
        self._pieces.close()
        self._send.close()

    def preempt(self) -> None:
        """Stop as in `stop`; whoever waits for this answer gets an `LlmError` with the code ``llm-preempted``."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        error = LlmError("llm-preempted", "Somebody talks, and is answered first. Try again later.")
        with suppress(ClosedResourceError):  # it is complete, only not read to its end
            self._send.send_nowait(error)
        self._send.close()
        self.began.set()

    def _compute(self, model: Completer, body: Body) -> None:
        with self._turn:
            if self._stopped.is_set():
                return
            self._soon(self.began.set)
            try:
                model.complete(body, self._take)
            except (
                Exception
            ) as error:  # native code may raise anything, and nobody would see it in this thread
                self._tell(LlmError("llm-failed", f"The embedded model failed: {error}"))
        self._soon(self._send.close)

    def _take(self, event: Body) -> bool:
        if not self._stopped.is_set():
            self._tell(_read(event))
        return self._stopped.is_set()

    def _tell(self, piece: Piece | LlmError | None) -> None:
        if piece is not None:
            self._soon(self._pass_on, piece)

    def _pass_on(self, piece: Piece | LlmError) -> None:
        if not self._stopped.is_set():
            self._send.send_nowait(piece)

    def _soon(self, call: Callable[..., None], *values: Piece | LlmError) -> None:
        """Let the event loop do something. Doesn't wait for it: a loop that is closing would never come to it."""
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(call, *values)


def _read(event: Body) -> Piece | LlmError | None:
    if "error" in event:
        return _fault(event["error"])
    text = "".join(_text(choice) for choice in event.get("choices", ()))
    usage, timings = event.get("usage"), event.get("timings")
    return Piece(text, usage, timings) if text or usage else None


def _text(choice: Mapping[str, Any]) -> str:
    return choice.get("text") or choice.get("delta", {}).get("content") or ""


def _fault(error: Mapping[str, Any]) -> LlmError:
    if error.get("type") == "exceed_context_size_error":
        return LlmError(
            "llm-failed",
            f"The prompt has {error.get('n_prompt_tokens')} tokens, more than the {error.get('n_ctx')} of "
            "llm.embedded.context_tokens. Raise that, or shorten the persona.",
        )
    return LlmError("llm-failed", f"The embedded model failed: {error.get('message')}")


def _parameters(xllamacpp: Any, path: Path, threads: int, context_tokens: int) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = _BATCH_TOKENS
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = _PREFIX_CACHE_MIB
    # Gemma looks back 512 tokens only; without the rest in memory, no prefix could be kept.
    parameters.swa_full = True
    parameters.n_cache_reuse = _REUSED_TOKENS
    parameters.verbosity = -1
    # llama.cpp opens a port on loopback whether it is used or not. A random key keeps web pages and neighbours out.
    parameters.api_keys = [secrets.token_hex(16)]
    parameters.ui = parameters.endpoint_slots = False
    parameters.n_threads_http = 1
    return parameters


def _has_chat_template(path: Path) -> bool:
    with path.open("rb") as file:
        return b"tokenizer.chat_template" in file.read(_HEADER_BYTES)
