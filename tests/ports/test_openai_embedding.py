"""The embedder behind HTTP, against endpoints that answer in their own ways, or not."""

from contextlib import suppress
from typing import Any

import anyio
import numpy as np
import pytest

from server.config import OpenAiEmbeddingSection
from server.embedding.openai import OpenAiEmbedder
from server.ports import EmbeddingError
from tests.ports.embedding_stand_in import (
    DIMENSIONS,
    embedder_at,
    letters,
    refusing,
    remote,
    vectors,
)
from tests.ports.openai_stand_in import Behaviour, Line, stall, stand_in, status


async def test_an_endpoint_may_answer_in_any_order() -> None:
    texts = ["one", "two", "three"]
    async with remote(vectors(backwards=True)) as (embedder, server):
        found = await embedder.embed(texts, "passage")
        for text, vector in zip(texts, found, strict=True):
            expected = np.asarray(letters(text)) / np.linalg.norm(letters(text))
            assert vector == pytest.approx(expected, abs=1e-5)
        assert server.requests[0]["dimensions"] == DIMENSIONS
        assert server.requests[0]["encoding_format"] == "float"


async def test_an_endpoint_gets_no_more_texts_at_once_than_it_takes() -> None:
    async with remote(vectors(), batch_texts=3, query_prefix="q: ") as (embedder, server):
        await embedder.embed([str(number) for number in range(7)], "passage")
        await embedder.embed(["猫"], "query")
    assert [request["input"] for request in server.requests] == [
        ["0", "1", "2"],
        ["3", "4", "5"],
        ["6"],
        ["q: 猫"],
    ]


async def test_an_endpoint_that_knows_no_dimensions_is_asked_without_and_cut_here() -> None:
    refuse, answer = status(400, "unknown field dimensions"), vectors(lambda t: letters(t) * 2)

    async def behave(line: Line, request: dict[str, Any]) -> None:
        await (refuse if "dimensions" in request else answer)(line, request)

    async with remote(behave) as (embedder, server):
        for _ in range(2):
            assert (await embedder.embed(["猫"], "query")).shape == (1, DIMENSIONS)
    assert ["dimensions" in request for request in server.requests] == [True, False, False]


async def test_the_texts_that_an_endpoint_refuses_are_found() -> None:
    texts = [f"text {number}" for number in range(13)]
    texts[2] = texts[11] = "bad"
    async with remote(refusing("bad")) as (embedder, _):
        with pytest.raises(EmbeddingError) as caught:
            await embedder.embed(texts, "passage")
        assert (caught.value.code, caught.value.positions) == ("embedding-refused", (2, 11))
        good = [text for text in texts if text != "bad"]
        assert len(await embedder.embed(good, "passage")) == 11


async def test_an_endpoint_that_refuses_everything_blames_no_text() -> None:
    async with remote(status(400)) as (embedder, server):
        with pytest.raises(EmbeddingError) as caught:
            await embedder.embed([f"text {number}" for number in range(10)], "passage")
        assert (caught.value.code, caught.value.positions) == ("embedding-refused", ())
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (status(401), "embedding-refused"),
        (status(404), "embedding-failed"),
        (status(429, **{"retry-after-ms": "1"}), "embedding-rate-limited"),
        (status(503, **{"retry-after-ms": "1"}), "embedding-failed"),
        (stall(begin=False), "embedding-timeout"),
    ],
)
async def test_faults_of_an_endpoint_have_codes(behaviour: Behaviour, code: str) -> None:
    async with remote(behaviour, timeout_seconds=0.5) as (embedder, _):
        with pytest.raises(EmbeddingError) as caught:
            await embedder.embed(["私の秘密"], "query")
        assert caught.value.code == code
        assert "秘密" not in str(caught.value)


@pytest.mark.parametrize("body", [{}, {"data": None}, {"data": [{}]}, {"data": 3}, []])
async def test_an_answer_that_is_none_is_an_error(body: object) -> None:
    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.send_status(200, body)

    async with remote(behave) as (embedder, _):
        with pytest.raises(EmbeddingError):
            await embedder.embed(["猫"], "query")


async def test_an_endpoint_that_is_not_there_says_where_it_was_looked_for() -> None:
    async with stand_in(vectors()) as server:
        pass
    embedder = embedder_at(server)
    with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1") as caught:
        await embedder.warm_up()
    assert caught.value.code == "embedding-unreachable"
    await embedder.aclose()


async def test_an_endpoint_without_a_model_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for section in (OpenAiEmbeddingSection(base_url="http://x"), OpenAiEmbeddingSection(model="m")):
        embedder = OpenAiEmbedder(section)
        with pytest.raises(EmbeddingError) as caught:
            await embedder.embed(["猫"], "query")
        assert caught.value.code == "embedding-unconfigured"
        await embedder.aclose()


async def test_what_was_said_does_not_follow_an_endpoint_that_has_moved() -> None:
    async with stand_in(vectors()) as elsewhere:
        moved = status(307, location=f"{elsewhere.url}/embeddings")
        async with remote(moved) as (embedder, server):
            with pytest.raises(EmbeddingError, match="has moved to http://127") as caught:
                await embedder.embed(["猫のミケ"], "passage")
            assert caught.value.code == "embedding-failed"
            assert len(server.requests) == 1
        assert elsewhere.requests == []


async def test_an_answer_that_does_not_end_is_broken_off() -> None:
    async def flood(line: Line, request: dict[str, Any]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await line.begin()
            while True:
                await line.send_bytes(bytes(1 << 20))

    async with remote(flood, batch_texts=1) as (embedder, _server):
        with pytest.raises(EmbeddingError, match=r"sent more than \d+ MB") as caught:
            await embedder.embed(["猫"], "query")
        assert caught.value.code == "embedding-failed"


async def test_a_server_whose_error_codes_are_numbers_is_understood() -> None:
    async def refuse(line: Line, request: dict[str, Any]) -> None:
        await line.send_status(500, {"error": {"message": "no", "code": 1234, "type": None}})

    async with remote(refuse) as (embedder, _server):
        with pytest.raises(EmbeddingError, match=r"HTTP status 500 \(1234\)"):
            await embedder.embed(["猫"], "query")
