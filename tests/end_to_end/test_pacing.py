"""A long answer through the whole server to a robot that models its play queue."""

from pathlib import Path

import pytest

from server.conversation import Engines
from server.simulator import Habits, Identity, open_robot
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad, Step


@pytest.mark.slow
async def test_thirty_seconds_reach_the_robot_without_a_gap_or_a_lost_packet(
    tmp_path: Path,
) -> None:
    reply: list[Step] = ["あ" * 100 + "。", 0.3, "い" * 100 + "。", "う" * 100 + "。"]
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(reply), FakeTts(0.1, 0.1))
    identity = Identity("aa:bb:cc:00:11:22")
    async with (
        running(tmp_path, engines) as server,
        open_robot(server.http_url, identity, Habits()) as robot,
    ):
        answer = await robot.write("長い話をして")
    assert answer.audio.seconds >= 30
    assert (answer.underruns, answer.overflows) == (0, 0)
    assert answer.early_stop_ms == 0
    assert answer.error is None
