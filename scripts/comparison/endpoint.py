"""An OpenAI-compatible endpoint on this machine: our embedder and a scripted language model, both with counters."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from time import perf_counter
from typing import Any, TypeAlias

from anyio import to_thread
from anyio.from_thread import BlockingPortal

from scripts.comparison.scripted import answer
from scripts.rivals.protocol import QUERY
from server.ports import Embedder, Vectors

Route: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(slots=True)
class Counters:
    """What was asked of the endpoint so far."""

    chats: int = 0
    """Calls of the language model."""
    refused: list[str] = field(default_factory=list)
    """Why requests of either kind failed; a system may go on as if nothing had happened, and its figures are worth nothing."""
    embedding_seconds: float = 0.0
    """During which at least one text was being embedded."""
    clock: Callable[[], float] = perf_counter
    _embedding: int = 0
    _since: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def count_chat(self) -> None:
        """Count a call of the language model."""
        with self._lock:
            self.chats += 1

    @contextmanager
    def embedding(self) -> Iterator[None]:
        """Measure the block; time that several share counts once."""
        with self._lock:
            self._since = self._since if self._embedding else self.clock()
            self._embedding += 1
        try:
            yield
        finally:
            with self._lock:
                self._embedding -= 1
                if not self._embedding:
                    self.embedding_seconds += self.clock() - self._since


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running endpoint."""

    base_url: str
    dimensions: int
    embedder: str
    """The model that makes the vectors."""
    counters: Counters


@asynccontextmanager
async def serve_models(embedder: Embedder) -> AsyncGenerator[Endpoint]:
    """Serve an embedder and the scripted model until the block ends.

    The model names ``passage`` and ``query`` embed what is kept and what is asked; every other name embeds passages.
    """
    counters = Counters()
    async with BlockingPortal() as portal:

        def embed(texts: Sequence[str], model: str) -> Vectors:
            with counters.embedding():
                return portal.call(embedder.embed, texts, "query" if model == QUERY else "passage")

        routes: dict[str, Route] = {
            "/v1/embeddings": lambda request: _embed(request, embed),
            "/v1/chat/completions": lambda request: _chat(request, counters),
        }
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(routes, counters))
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/v1"
            yield Endpoint(url, embedder.dimensions, embedder.model, counters)
        finally:
            await to_thread.run_sync(server.shutdown)
            server.server_close()


def _embed(
    request: Mapping[str, Any], embed: Callable[[Sequence[str], str], Vectors]
) -> dict[str, Any]:
    given = request["input"]
    rows = embed([given] if isinstance(given, str) else given, request["model"])
    data = [
        {"object": "embedding", "index": place, "embedding": row.tolist()}
        for place, row in enumerate(rows)
    ]
    return {"object": "list", "model": request["model"], "data": data, "usage": _usage()}


def _chat(request: Mapping[str, Any], counters: Counters) -> dict[str, Any]:
    counters.count_chat()
    message = {"role": "assistant", "content": answer(request["messages"])}
    return {
        "id": f"chat-{counters.chats}",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {**_usage(), "completion_tokens": 0},
    }


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 0, "total_tokens": 0}


def _handler(routes: Mapping[str, Route], counters: Counters) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = (
            True  # head and body are two writes; the second would wait for 40 ms
        )

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                status, answered = 200, routes[self.path](json.loads(body))
            except Exception as error:  # a client that is told nothing would wait for an answer
                message = f"{type(error).__name__}: {error}"
                counters.refused.append(message)
                status, answered = 400, {"error": {"message": message, "type": "invalid"}}
            content = json.dumps(answered).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

    return Handler
