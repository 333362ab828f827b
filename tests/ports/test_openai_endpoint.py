"""The OpenAI-compatible client against an endpoint that means harm, or has moved."""

import gzip
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from server.config import LlmSection, OpenAiLlmSection
from server.endpoint import MOST_ANSWER_BYTES, is_near
from server.errors import ConfigError, LlmError
from server.llm.openai import OpenAiLlm
from server.turn import Message, Prompt
from tests.ports.openai_stand_in import Line, StandIn, raw, reply, stand_in, status, texts

PROMPT = Prompt("You are a robot.", (Message("user", "Hello, my cat is called Miso."),), "en")


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    async with stand_in(reply("Hello.")) as running:
        yield running


def client(server: StandIn, **openai: Any) -> OpenAiLlm:
    own = {"base_url": server.url, "model": "tiny-2", "api_key": "sk-hush", **openai}
    return OpenAiLlm(LlmSection(openai=OpenAiLlmSection.model_validate(own)))


async def ask(server: StandIn) -> str:
    llm = client(server)
    try:
        async with aclosing(llm.stream(PROMPT)) as events:
            return texts([event async for event in events])
    finally:
        await llm.aclose()


async def fail(server: StandIn) -> LlmError:
    with pytest.raises(LlmError) as caught:
        await ask(server)
    return caught.value


def packed(body: bytes, **headers: str) -> Any:
    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.begin(**headers)
        await line.send_bytes(body)
        await line.stream.send(b"0\r\n\r\n")

    return behave


async def test_answers_are_asked_for_unpacked(server: StandIn) -> None:
    await ask(server)
    assert server.headers[0]["accept-encoding"] == "identity"


async def test_an_answer_that_is_packed_nevertheless_is_read(server: StandIn) -> None:
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "Hi."}}]}\n\ndata: [DONE]\n\n'
    server.play(packed(gzip.compress(event), content_encoding="gzip"))
    assert await ask(server) == "Hi."


async def test_a_packed_answer_that_is_huge_is_given_up(server: StandIn) -> None:
    bomb = gzip.compress(b"x" * (2 * MOST_ANSWER_BYTES))
    assert len(bomb) < MOST_ANSWER_BYTES // 100
    server.play(packed(bomb, content_encoding="gzip"))
    assert "8 MB" in str(await fail(server))


async def test_an_answer_that_never_ends_a_line_is_given_up(server: StandIn) -> None:
    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.begin()
        while True:
            await line.send_bytes(b"x" * 100_000)

    server.play(behave)
    assert "8 MB" in str(await fail(server))


async def test_a_huge_complaint_is_given_up_too(server: StandIn) -> None:
    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.send_status(400, "x" * (MOST_ANSWER_BYTES + 1))

    server.play(behave)
    assert "8 MB" in str(await fail(server))


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_what_was_said_does_not_follow_to_another_address(code: int, server: StandIn) -> None:
    async with stand_in(reply("Tell me more.")) as elsewhere:
        server.play(status(code, location=f"{elsewhere.url}/chat/completions?said=Miso"))
        error = await fail(server)
        assert elsewhere.requests == []
    assert elsewhere.url.removesuffix("/v1") in str(error)
    assert "llm.openai.base_url" in str(error)
    assert "Miso" not in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://user:pw@elsewhere.example/v1", "https://elsewhere.example."),
        ("//elsewhere.example:8443/v1", "http://elsewhere.example:8443."),
        ("http://[", "another address."),
        ("http://Miso the cat/", "another address."),
    ],
)
async def test_the_new_address_is_told_by_its_host_alone(
    location: str, told: str, server: StandIn
) -> None:
    server.play(status(307, location=location))
    assert f"has moved to {told}" in str(await fail(server))


async def test_an_endpoint_that_has_moved_is_noticed_at_the_start(server: StandIn) -> None:
    server.play(status(308, location="https://elsewhere.example/v1/models"))
    llm = client(server)
    with pytest.raises(LlmError, match=r"moved to https://elsewhere\.example\."):
        await llm.warm_up()
    await llm.aclose()


@pytest.mark.parametrize("code", ["うちの猫", "Miso the cat", "x" * 61, "kätzchen"])
async def test_only_a_short_code_of_the_server_is_repeated(code: str, server: StandIn) -> None:
    server.play(raw(f'{{"error": {{"message": "no", "code": "{code}"}}}}'))
    assert code not in str(await fail(server))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ('"code": 502', "answer (502)."),
        ('"type": 502', "answer (502)."),
        ('"type": ["x"]', "answer."),
    ],
)
async def test_a_code_may_be_of_any_kind(fields: str, told: str, server: StandIn) -> None:
    server.play(raw(f'{{"error": {{"message": "no", {fields}}}}}'))
    assert str(await fail(server)).endswith(told)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("model 'tiny-2' not found", "llm-model-missing"),
        ("404 page not found", "llm-failed"),
        ("tiny-20 is another model", "llm-failed"),
    ],
)
async def test_a_model_that_is_not_there_is_told_from_a_wrong_path(
    message: str, expected: str, server: StandIn
) -> None:
    server.play(status(404, message))
    assert (await fail(server)).code == expected


async def test_a_key_from_the_environment_that_can_not_be_sent_is_refused_before_anything_is_sent(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-geheim\u3042")
    with pytest.raises(ConfigError, match="MY_KEY"):
        client(server, api_key="", api_key_env="MY_KEY")
    assert server.requests == []


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.20:11434/v1", True),
        ("http://ollama:11434/v1", True),
        ("http://gpu-box.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("http://[broken", False),
    ],
)
def test_a_model_in_the_house_is_told_from_one_far_away(url: str, near: bool) -> None:
    assert is_near(url) is near
