"""A server that speaks as much of Qdrant's REST protocol as the index uses, and keeps points in the client's own memory."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models


@dataclass
class QdrantStandIn:
    """The running server."""

    url: str = ""
    key: str = ""
    """Which key it wants; empty for none."""
    created: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests that made collections and payload indexes."""
    client: QdrantClient = field(default_factory=lambda: QdrantClient(":memory:"))

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Any:
        match method, path.strip("/").split("/"):
            case "GET", ["collections"]:
                return self.client.get_collections().model_dump()
            case "GET", ["collections", name, "exists"]:
                return {"exists": self.client.collection_exists(name)}
            case "PUT", ["collections", name]:
                self.created.append(body)
                shape = models.CreateCollection.model_validate(body)
                assert shape.vectors is not None
                return self.client.create_collection(
                    name, shape.vectors, sparse_vectors_config=shape.sparse_vectors
                )
            case "PUT", ["collections", _, "index"]:
                self.created.append(body)
                return _done()
            case "DELETE", ["collections", name]:
                return self.client.delete_collection(name)
            case _, ["collections", name, "points", *action]:
                return self._points(name, action[0] if action else "", body)
        raise LookupError(path)

    def _points(self, name: str, action: str, body: dict[str, Any]) -> Any:
        match action:
            case "":
                points = models.PointsList.model_validate(body).points
                self.client.upsert(name, points)
                return _done()
            case "delete":
                chosen = models.PointIdsList if "points" in body else models.FilterSelector
                self.client.delete(name, chosen.model_validate(body))
                return _done()
            case "count":
                count = models.CountRequest.model_validate(body)
                return self.client.count(name, count.filter).model_dump()
            case "scroll":
                scroll = models.ScrollRequest.model_validate(body)
                points_found, offset = self.client.scroll(
                    name, scroll.filter, limit=scroll.limit or 10, offset=scroll.offset
                )
                found = [each.model_dump() for each in points_found]
                return {"points": found, "next_page_offset": offset}
            case "query":
                asked = models.QueryRequest.model_validate(body)
                assert isinstance(asked.query, models.NearestQuery | list | models.SparseVector)
                answer = self.client.query_points(
                    name,
                    query=asked.query,
                    using=asked.using,
                    query_filter=asked.filter,
                    limit=asked.limit or 10,
                )
                return answer.model_dump()
        raise LookupError(action)


def _done() -> dict[str, Any]:
    return {"operation_id": 1, "status": "completed"}


@contextmanager
def qdrant_stand_in() -> Iterator[QdrantStandIn]:
    """Serve on a free port of loopback until the block ends."""
    server = QdrantStandIn()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            if self.headers.get("api-key", "") != server.key:
                self._send(401, {"status": {"error": "wrong key"}})
                return
            try:
                result = server.answer(self.command, urlsplit(self.path).path, body)
            except LookupError:
                self._send(404, {"status": {"error": "not found"}})
            else:
                self._send(200, {"result": result, "status": "ok", "time": 0.0})

        do_GET = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 - the names are the library's

        def _send(self, status: int, answer: dict[str, Any]) -> None:
            payload = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_port}"
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
            server.client.close()
