"""What a robot makes of servers that are silent, broken or gone, over a real socket."""

import socket

import anyio
import pytest

from firmware_bridge.events import Alert
from server.simulator import Habits, Identity, open_robot
from server.simulator.line import LineError
from tests.patience import SECONDS
from tests.simulator.fake_server import Connection, running_server

ME = Identity("02:00:00:00:00:01")


async def test_a_server_that_says_nothing_is_an_error_of_the_answer() -> None:
    async def script(connection: Connection, text: str) -> None:
        pass

    async with running_server(script) as server:
        habits = Habits(mode="manual", patience_seconds=0.2)
        async with open_robot(server.url, ME, habits) as robot:
            answer = await robot.write("Hello?")
    assert answer.error is not None
    assert answer.error.code == "no-answer"
    assert answer.first_audio_ms is None


async def test_a_reply_without_an_end_is_an_error_of_the_answer() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.reply("And then", 0.2, stop=False)

    async with running_server(script) as server:
        habits = Habits(mode="manual", patience_seconds=0.3)
        async with open_robot(server.url, ME, habits) as robot:
            answer = await robot.write("Hello?")
    assert answer.error is not None
    assert answer.error.code == "reply-unfinished"
    assert answer.reply == "And then"


async def test_an_alert_is_an_error_of_the_answer() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.send(Alert("Error", "The voice is broken."))

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="manual")) as robot,
    ):
        answer = await robot.write("Hello?")
    assert answer.error is not None
    assert "The voice is broken." in str(answer.error)


async def test_a_server_that_hangs_up_says_why() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.socket.close(4001, "too many robots")

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="manual")) as robot,
    ):
        answer = await robot.write("Hello?")
    assert answer.error is not None
    assert answer.error.code == "connection-closed"
    assert "4001" in str(answer.error)
    assert "too many robots" in str(answer.error)


async def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(LineError, match=str(port)) as caught:
        async with open_robot(f"ws://127.0.0.1:{port}", ME):
            pass
    assert caught.value.code == "server-unreachable"


async def test_an_address_that_is_none_is_refused_before_anything_is_tried() -> None:
    with pytest.raises(LineError) as caught:
        async with open_robot("192.168.1.10:8003", ME):
            pass
    assert caught.value.code == "url-invalid"


async def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    async with running_server() as server:
        with pytest.raises(ZeroDivisionError):
            async with open_robot(server.url, ME):
                raise ZeroDivisionError


async def test_what_a_server_says_in_another_protocol_ends_the_talk() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.socket.send("<html>")

    async with running_server(script) as server:
        async with open_robot(server.url, ME, Habits(mode="manual")) as robot:
            answer = await robot.write("Hello?")
            with anyio.fail_after(SECONDS):
                await server.connections[0].socket.wait_closed()
        assert answer.error is not None
        assert "broke the protocol" in str(answer.error)
