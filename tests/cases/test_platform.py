"""Public fault reports, group 12: addresses, settings and platforms. A whole server on loopback."""

import asyncio
import shutil
import time
from pathlib import Path

import anyio
import httpx2
import pytest

from server.conversation import Engines
from server.prompting import PROMPTS
from server.simulator import Identity, open_robot
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad
from tests.patience import SECONDS

ROBOT = Identity("aa:bb:cc:00:11:22")


def engines() -> Engines:
    return Engines(FakeVad(), FakeAsr(), FakeLlm(["はい。"]), FakeTts(0.0, 0.02))


class LoopWithoutSignals(asyncio.SelectorEventLoop):
    """An event loop as on Windows."""

    def add_signal_handler(self, *_: object) -> None:
        raise NotImplementedError


def test_a_server_starts_talks_and_stops_on_a_loop_without_signals(tmp_path: Path) -> None:
    """websockets#1378, rosbridge_suite#1321, MLServer#361: NotImplementedError on Windows."""

    async def main() -> None:
        async with (
            running(tmp_path, engines()) as server,
            open_robot(server.http_url, ROBOT) as robot,
        ):
            answer = await robot.write("話して")
        assert (answer.reply, answer.error) == ("はい。", None)

    anyio.run(main, backend_options={"loop_factory": LoopWithoutSignals})


async def test_a_changed_prompt_counts_from_the_next_turn_of_a_talk_that_goes_on(
    tmp_path: Path,
) -> None:
    """X#2333, X#2687, X#1127: a changed setting was not read, or ended the talks."""
    prompts = tmp_path / "prompts"
    shutil.copytree(PROMPTS, prompts)
    house = engines()
    persona = {"prompts": str(prompts)}
    async with (
        running(tmp_path / "data", house, persona=persona) as server,
        open_robot(server.http_url, ROBOT) as robot,
    ):
        await robot.write("一")
        (prompts / "identity.md").write_text("Your name is Momo.", encoding="utf-8")
        await robot.write("二")
        assert robot.closed is None
    assert isinstance(house.llm, FakeLlm)
    first, second = house.llm.prompts
    assert "Momo" not in first.system
    assert "Your name is Momo." in second.system
    assert [message.content for message in second.messages[:2]] == ["一", "はい。"]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no time zone in TZ")
async def test_a_robot_is_told_an_address_that_it_can_reach_and_the_time_of_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X#1937, #1870, #2228, #2359, #1088, J#136, #114, #118: an address of the container. X#1041: its clock, too."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        async with (
            running(tmp_path, engines(), server={"timezone": "Asia/Tokyo"}) as server,
            httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as web,
        ):
            headers = {**ROBOT.headers(), "Host": "192.168.1.50:8003"}
            url = f"{server.http_url}/xiaozhi/ota/"
            answer = (await web.post(url, json={}, headers=headers)).json()
            now = server.app.clock.now()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert answer["websocket"]["url"] == f"ws://192.168.1.50:{server.device_port}/xiaozhi/v1/"
    told = answer["server_time"]
    assert told["timezone_offset"] == 540
    assert abs(told["timestamp"] / 1000 - now.timestamp()) < 60
