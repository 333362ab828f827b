"""A danger sign on its whole way: said to a robot, answered with the line, kept, and told to whom it concerns."""

import json
from pathlib import Path

import anyio

from firmware_bridge.events import TextSaid
from server.conversation import Engines
from server.memory.safety.models import Severity
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeDevice, FakeLlm, FakeTts, FakeVad
from tests.patience import SECONDS
from tests.talks import shown, stops

SAID = "胸が締めつけられるように苦しいの"


async def test_an_urgent_sign_is_answered_kept_and_told(tmp_path: Path) -> None:
    told: list[bytes] = []

    async def receive(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            request = b""
            while not request.endswith(b"}}"):
                request += await stream.receive()
            told.append(request)
            await stream.send(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    webhooks = {"nurse": {"url": f"http://127.0.0.1:{port}/hook"}}
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["はい、どうも。"]), FakeTts())
    async with (
        listener,
        running(tmp_path, engines, safety={"webhooks": webhooks}) as server,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, receive)
        device = FakeDevice()
        tasks.start_soon(server.app.converse, device)
        device.put(TextSaid(SAID))
        await stops(device)
        with anyio.fail_after(SECONDS):
            while not told:
                await anyio.sleep(0.01)
        [event] = await server.app.memory.desk.find("hana")
        device.hang_up()
        await anyio.sleep(0.05)
        device.close()
        tasks.cancel_scope.cancel()
    assert "".join(shown(device)) == server.app.config.safety.escalation.ja
    assert (event.severity, event.quote) == (Severity.URGENT, SAID)
    assert json.loads(told[0].split(b"\r\n\r\n", 1)[1])["event"]["quote"] == SAID
