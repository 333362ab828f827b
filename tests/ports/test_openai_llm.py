"""The OpenAI-compatible client against a server that behaves badly in every way that was reported of real ones."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from server.config import LlmSection, OpenAiLlmSection
from server.errors import LlmError
from server.llm.openai import OpenAiLlm
from server.ports import LlmEvent, TextDelta, Usage
from server.turn import AnswerSchema, Decoding, Message, Prompt
from tests.ports.openai_stand_in import (
    Behaviour,
    Line,
    StandIn,
    drop,
    endless,
    raw,
    reply,
    stall,
    stand_in,
    status,
    texts,
)

PROMPT = Prompt("You are a robot.", (Message("user", "Hello, my cat is called Miso."),), "en")
KEY = "sk-very-secret"


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    async with stand_in(reply("Hel", "lo.")) as running:
        yield running


def client(server: StandIn | str, **settings: Any) -> OpenAiLlm:
    url = server if isinstance(server, str) else server.url
    openai = {"base_url": url, "model": "tiny", "api_key": KEY, **settings.pop("openai", {})}
    times = {"first_token_seconds": 2.0, "idle_seconds": 2.0, "total_seconds": 5.0, **settings}
    return OpenAiLlm(LlmSection(openai=OpenAiLlmSection.model_validate(openai), **times))


async def ask(
    llm: OpenAiLlm, received: list[LlmEvent] | None = None, prompt: Prompt = PROMPT
) -> list[LlmEvent]:
    """Return all events; those that came before an error are in `received`."""
    received = [] if received is None else received
    async with aclosing(llm.stream(prompt)) as events:
        async for event in events:
            received.append(event)
    return received


async def fail(llm: OpenAiLlm) -> LlmError:
    with pytest.raises(LlmError) as caught:
        await ask(llm)
    await llm.aclose()
    return caught.value


async def test_streams_text_and_then_what_it_cost(server: StandIn) -> None:
    llm = client(server)
    assert await ask(llm) == [TextDelta("Hel"), TextDelta("lo."), Usage(20, 2, 15)]
    await llm.aclose()


async def test_sends_the_prompt_and_the_configured_options(server: StandIn) -> None:
    own = {
        "enable_thinking": False,
        "web_search": True,
        "extra_body": {"top_k": 20},
        "temperature": 0.3,
        "max_tokens": 50,
    }
    llm = client(server, openai=own)
    await ask(llm)
    await llm.aclose()
    request = server.requests[0]
    assert request["messages"] == [
        {"role": "system", "content": "You are a robot."},
        {"role": "user", "content": "Hello, my cat is called Miso."},
    ]
    assert request["model"] == "tiny"
    assert request["stream"] is True
    assert (request["enable_thinking"], request["enable_search"], request["top_k"]) == (
        False,
        True,
        20,
    )
    assert (request["temperature"], request["max_tokens"]) == (0.3, 50)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_decoding_of_a_prompt_goes_before_the_configuration(server: StandIn) -> None:
    own = {"web_search": True, "extra_body": {"top_k": 20}, "temperature": 0.3, "max_tokens": 50}
    llm = client(server, openai=own)
    decoding = Decoding(temperature=0.8, max_tokens=1200, background=True)
    async with aclosing(llm.stream(replace(PROMPT, decoding=decoding))) as events:
        assert texts([event async for event in events]) == "Hello."
    await llm.aclose()
    request = server.requests[0]
    assert (request["temperature"], request["max_tokens"]) == (0.8, 1200)
    assert request["top_k"] == 20
    assert "enable_search" not in request


async def test_options_that_were_not_set_are_not_sent(server: StandIn) -> None:
    llm = client(server)
    await ask(llm)
    await llm.aclose()
    assert not {"enable_thinking", "enable_search"} & set(server.requests[0])


async def test_what_a_model_thinks_is_no_part_of_its_answer(server: StandIn) -> None:
    async def think(line: Line, request: dict[str, Any]) -> None:
        await line.begin()
        await line.send_text(None, reasoning_content="The user greets me.")
        await line.send_text("Hi.")
        await line.end()

    server.play(think)
    llm = client(server)
    assert texts(await ask(llm)) == "Hi."
    await llm.aclose()


async def test_the_connection_is_used_again(server: StandIn) -> None:
    llm = client(server)
    for _ in range(3):
        await ask(llm)
    assert server.connections == 1
    await llm.aclose()
    await server.wait_for_connections(0)


@pytest.mark.parametrize("cancelled", [False, True])
async def test_200_interrupted_replies_leave_no_connection(
    cancelled: bool, server: StandIn
) -> None:
    server.play(endless("and so on "))
    llm = client(server)
    for _ in range(200):
        with anyio.CancelScope() as barge_in:
            async with aclosing(llm.stream(PROMPT)) as events:
                await anext(events)
                if cancelled:
                    barge_in.cancel()
                    await anyio.sleep(1)
    await server.wait_for_connections(0)
    assert server.connections == 200
    server.play(reply("fine"))
    assert texts(await ask(llm)) == "fine"
    await llm.aclose()


async def test_a_reply_that_is_cancelled_before_its_first_token_leaves_no_connection(
    server: StandIn,
) -> None:
    server.play(stall(begin=False))
    llm = client(server)
    for _ in range(20):
        with anyio.move_on_after(0.02):
            await ask(llm)
    await server.wait_for_connections(0)
    await llm.aclose()


@pytest.mark.parametrize("begin", [False, True])
async def test_no_first_token_is_a_timeout(begin: bool, server: StandIn) -> None:
    server.play(stall(begin=begin))
    error = await fail(client(server, first_token_seconds=0.2))
    assert error.code == "llm-timeout"
    assert "first_token_seconds" in str(error)
    await server.wait_for_connections(0)


async def test_thinking_without_end_is_a_timeout(server: StandIn) -> None:
    async def think(line: Line, request: dict[str, Any]) -> None:
        await line.begin()
        while True:
            await line.send_text(None, reasoning_content="Hmm. ")
            await anyio.sleep(0.02)

    server.play(think)
    assert (await fail(client(server, first_token_seconds=0.3))).code == "llm-timeout"


async def test_a_stall_is_a_timeout_after_what_was_received(server: StandIn) -> None:
    server.play(stall("The answer ", "is"))
    llm = client(server, idle_seconds=0.2)
    received: list[LlmEvent] = []
    with pytest.raises(LlmError, match="idle_seconds") as caught:
        await ask(llm, received=received)
    assert caught.value.code == "llm-timeout"
    assert texts(received) == "The answer is"
    await server.wait_for_connections(0)
    await llm.aclose()


async def test_an_endless_answer_ends(server: StandIn) -> None:
    server.play(endless("more "))
    error = await fail(client(server, total_seconds=0.4))
    assert error.code == "llm-timeout"
    assert "total_seconds" in str(error)


@pytest.mark.parametrize("code", [408, 409, 429, 500, 503])
async def test_a_fault_that_may_pass_is_tried_once_more(code: int, server: StandIn) -> None:
    server.play(status(code), reply("Second try."))
    llm = client(server)
    assert texts(await ask(llm)) == "Second try."
    assert len(server.requests) == 2
    await llm.aclose()


@pytest.mark.parametrize(
    ("code", "expected"),
    [(429, "llm-rate-limited"), (500, "llm-failed"), (503, "llm-failed")],
)
async def test_a_fault_that_stays_is_told_after_two_tries(
    code: int, expected: str, server: StandIn
) -> None:
    server.play(status(code))
    assert (await fail(client(server))).code == expected
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("code", "expected", "hint"),
    [
        (401, "llm-refused", "api_key"),
        (403, "llm-refused", "api_key"),
        (404, "llm-failed", "llm.openai.model"),
        (418, "llm-failed", "418"),
    ],
)
async def test_a_fault_of_the_set_up_is_told_at_once(
    code: int, expected: str, hint: str, server: StandIn
) -> None:
    server.play(status(code))
    error = await fail(client(server))
    assert error.code == expected
    assert hint in str(error)
    assert server.url in str(error)
    assert len(server.requests) == 1


async def test_a_server_that_asks_to_wait_too_long_is_not_asked_again(server: StandIn) -> None:
    server.play(status(429, retry_after="60"))
    assert (await fail(client(server))).code == "llm-rate-limited"
    assert len(server.requests) == 1


async def test_there_is_no_second_try_without_time_for_it(server: StandIn) -> None:
    server.play(status(500))
    await fail(client(server, first_token_seconds=1.0))
    assert len(server.requests) == 1


async def test_an_answer_that_has_begun_is_not_started_again(server: StandIn) -> None:
    server.play(drop("Half an"))
    llm = client(server)
    received: list[LlmEvent] = []
    with pytest.raises(LlmError) as caught:
        await ask(llm, received=received)
    assert caught.value.code == "llm-unreachable"
    assert texts(received) == "Half an"
    assert len(server.requests) == 1
    await llm.aclose()


async def test_a_server_that_is_not_there_is_named() -> None:
    error = await fail(client("http://127.0.0.1:9/v1", first_token_seconds=5.0))
    assert error.code == "llm-unreachable"
    assert "http://127.0.0.1:9/v1" in str(error)


async def test_an_address_that_does_not_exist_is_an_error_of_the_reply() -> None:
    assert (await fail(client("http://no-such-host.invalid/v1"))).code == "llm-unreachable"


@pytest.mark.parametrize(
    "data", ["{broken", "null", "[]", '{"choices": 3}', '{"choices": [{"delta": null}]}', "{}"]
)
async def test_garbage_is_an_error_and_no_crash(data: str, server: StandIn) -> None:
    server.play(raw(data))
    assert (await fail(client(server))).code == "llm-failed"


async def test_a_web_page_instead_of_an_answer_is_an_error(server: StandIn) -> None:
    """As in 78/xiaozhi-mqtt-gateway#3."""

    async def page(line: Line, request: dict[str, Any]) -> None:
        await line.send_status(200, "<html><body>Log in</body></html>")

    server.play(page)
    assert (await fail(client(server))).code == "llm-failed"


async def test_an_error_in_the_middle_of_the_stream_is_told(server: StandIn) -> None:
    server.play(raw('{"error": {"message": "overloaded", "code": "overloaded"}}'))
    error = await fail(client(server))
    assert error.code == "llm-failed"
    assert "overloaded" in str(error)


async def test_an_answer_without_a_word_is_an_error(server: StandIn) -> None:
    server.play(reply())
    assert "max_tokens" in str(await fail(client(server)))


@pytest.mark.parametrize(
    ("message", "gone", "instead"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options", None),
        ("bad request", "stream_options", None),
        ("Unsupported parameter: 'max_tokens'", "max_tokens", "max_completion_tokens"),
        ("temperature does not support 0.7 with this model", "temperature", None),
    ],
)
async def test_an_option_that_a_server_refuses_is_left_out_from_then_on(
    message: str, gone: str, instead: str | None, server: StandIn
) -> None:
    async def strict(line: Line, request: dict[str, Any]) -> None:
        behave = status(400, message) if gone in request else reply("Fine.")
        await behave(line, request)

    server.play(strict)
    llm = client(server)
    assert texts(await ask(llm)) == "Fine."
    assert texts(await ask(llm)) == "Fine."
    assert [gone in request for request in server.requests] == [True, False, False]
    assert instead is None or instead in server.requests[-1]
    await llm.aclose()


SCHEMA = AnswerSchema("cats", {"type": "object", "properties": {"cat": {"type": "string"}}})
IN_JSON = replace(PROMPT, decoding=Decoding(0.0, 100, background=True, schema=SCHEMA))
REFUSALS = [
    (400, "Unknown parameter: 'response_format'"),
    (422, "response_format.type: Input should be 'text'"),
    (400, "this model: json_schema is not available"),
    (400, "Structured outputs are not supported."),
    (400, "not supported"),
    (400, "bad request"),
]


def formats(server: StandIn) -> list[str]:
    """Return how each request asked for JSON."""
    return [(request.get("response_format") or {}).get("type", "") for request in server.requests]


def takes(*kinds: str, code: int = 400, message: str = "no response_format") -> Behaviour:
    """Answer to requests in these formats only; "" stands for none."""

    async def strict(line: Line, request: dict[str, Any]) -> None:
        kind = (request.get("response_format") or {}).get("type", "")
        behave = reply("{}") if kind in kinds else status(code, message)
        await behave(line, request)

    return strict


async def test_an_answer_in_json_is_asked_for_by_its_schema_and_a_reply_is_not(
    server: StandIn,
) -> None:
    llm = client(server)
    await ask(llm, prompt=IN_JSON)
    await ask(llm)
    await llm.aclose()
    assert server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "cats", "strict": True, "schema": SCHEMA.schema},
    }
    assert "response_format" not in server.requests[1]


@pytest.mark.parametrize(("code", "message"), REFUSALS)
async def test_a_server_that_takes_no_schema_is_asked_for_json(
    code: int, message: str, server: StandIn
) -> None:
    server.play(takes("", "json_object", code=code, message=message))
    llm = client(server)
    with capture_logs() as logs:
        for _ in range(2):
            assert texts(await ask(llm, prompt=IN_JSON)) == "{}"
    await llm.aclose()
    assert formats(server) == ["json_schema", "json_object", "json_object"]
    assert "stream_options" in server.requests[-1]
    told = [line["option"] for line in logs if line["event"] == "llm-option-refused"]
    assert told == ["json_schema"]


@pytest.mark.parametrize(("code", "message"), REFUSALS)
async def test_a_server_that_takes_no_format_is_asked_without_one(
    code: int, message: str, server: StandIn
) -> None:
    server.play(takes("", code=code, message=message))
    llm = client(server)
    for _ in range(2):
        assert texts(await ask(llm, prompt=IN_JSON)) == "{}"
    assert texts(await ask(llm)) == "{}"
    await llm.aclose()
    assert formats(server) == ["json_schema", "json_object", "", "", ""]


async def test_another_option_that_is_named_goes_before_the_format(server: StandIn) -> None:
    async def strict(line: Line, request: dict[str, Any]) -> None:
        refuses = status(400, "temperature is not supported")
        await (refuses if "temperature" in request else reply("{}"))(line, request)

    server.play(strict)
    llm = client(server)
    assert texts(await ask(llm, prompt=IN_JSON)) == "{}"
    await llm.aclose()
    assert formats(server) == ["json_schema", "json_schema"]


async def test_a_server_that_falls_over_a_schema_is_asked_without_one_this_time(
    server: StandIn,
) -> None:
    server.play(takes("", code=500, message="internal error"))
    llm = client(server)
    for _ in range(2):
        assert texts(await ask(llm, prompt=IN_JSON)) == "{}"
    await llm.aclose()
    assert formats(server) == ["json_schema", "", "json_schema", ""]


async def test_a_server_that_fails_whatever_it_is_asked_refuses_no_format(server: StandIn) -> None:
    server.play(status(500))
    llm = client(server)
    with pytest.raises(LlmError) as caught:
        await ask(llm, prompt=IN_JSON)
    assert caught.value.code == "llm-failed"
    server.play(reply("{}"))
    await ask(llm, prompt=IN_JSON)
    await llm.aclose()
    assert formats(server) == ["json_schema", "", "json_schema"]


async def test_a_refusal_that_has_to_do_with_no_option_is_told_and_refuses_no_format(
    server: StandIn,
) -> None:
    server.play(status(400, "content filter"))
    llm = client(server)
    with pytest.raises(LlmError):
        await ask(llm, prompt=IN_JSON)
    server.play(reply("{}"))
    await ask(llm, prompt=IN_JSON)
    await llm.aclose()
    assert formats(server)[-1] == "json_schema"


async def test_the_format_can_be_fixed_in_the_configuration(server: StandIn) -> None:
    llm = client(server, openai={"extra_body": {"response_format": {"type": "text"}}})
    await ask(llm, prompt=IN_JSON)
    await llm.aclose()
    assert formats(server) == ["text"]


async def test_a_refusal_for_another_reason_leaves_the_options_alone(server: StandIn) -> None:
    server.play(status(400, "content filter"), status(400, "content filter"), reply("Fine."))
    llm = client(server)
    with pytest.raises(LlmError):
        await ask(llm)
    await ask(llm)
    assert "stream_options" in server.requests[-1]
    await llm.aclose()


@pytest.mark.parametrize("code", [400, 401, 429, 500])
async def test_neither_the_key_nor_what_was_said_gets_into_messages_and_logs(
    code: int, server: StandIn
) -> None:
    server.play(status(code, f"Incorrect key {KEY} for: Hello, my cat is called Miso."))
    with capture_logs() as logs:
        error = await fail(client(f"{server.url}?token={KEY}"))
    told = f"{error} {logs}"
    assert KEY not in told
    assert "Miso" not in told


@pytest.mark.parametrize(
    "own", [{"model": ""}, {"base_url": "", "api_key": "", "api_key_env": "OMOIDE_TEST_NO_KEY"}]
)
async def test_a_missing_model_or_key_is_told(own: dict[str, str], server: StandIn) -> None:
    llm = client(server, openai=own)
    with pytest.raises(LlmError) as caught:
        await llm.warm_up()
    assert caught.value.code == "llm-unconfigured"
    assert (await fail(llm)).code == "llm-unconfigured"
    assert server.requests == []


async def test_a_local_server_needs_no_key(server: StandIn) -> None:
    llm = client(server, openai={"api_key": "", "api_key_env": "OMOIDE_TEST_NO_KEY"})
    assert texts(await ask(llm)) == "Hello."
    await llm.aclose()


async def test_the_key_comes_from_the_named_variable(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELSCOPE_API_KEY", "from-the-environment")
    llm = client(server, openai={"api_key": "", "api_key_env": "MODELSCOPE_API_KEY"})
    await ask(llm)
    assert server.headers[0]["authorization"] == "Bearer from-the-environment"
    await llm.aclose()


async def test_warming_up_tells_what_is_wrong(server: StandIn) -> None:
    server.play(status(401))
    llm = client(server)
    with pytest.raises(LlmError) as caught:
        await llm.warm_up()
    assert caught.value.code == "llm-refused"
    server.play(status(404))
    await llm.warm_up()
    await llm.aclose()
    gone = client("http://127.0.0.1:9/v1")
    with pytest.raises(LlmError) as caught:
        await gone.warm_up()
    assert caught.value.code == "llm-unreachable"
    await gone.aclose()
