"""Two robots of one household in one room, through the whole server."""

from pathlib import Path

import anyio
import pytest

from server.audio import LISTENING_RATE, Audio
from server.conversation import Engines
from server.simulator import Habits, Identity, Robot, open_robot
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad, voice

KITCHEN, HALL = "aa:bb:cc:00:22:01", "aa:bb:cc:00:22:02"


def habits(level: float) -> Habits:
    """Return a robot that heard its wake word at some level, and sends the sound of it."""
    heard = (voice(1.0) * level).astype("int16")
    return Habits(wake_word="Hi StackChan", wake_sound=Audio(heard, LISTENING_RATE))


async def is_sent_away(robot: Robot) -> bool:
    with anyio.move_on_after(1.5):
        while robot.closed is None:
            await anyio.sleep(0.02)
    return robot.closed is not None and "4002" in str(robot.closed)


@pytest.mark.parametrize("one_answers", [True, False])
async def test_two_robots_hear_the_wake_word_and_the_nearer_one_answers(
    tmp_path: Path, one_answers: bool
) -> None:
    """Willow README."""
    home = {"devices": [KITCHEN, HALL], "wake_window_ms": 600 if one_answers else 0}
    asr = FakeAsr("何時ですか", "何時ですか")
    engines = Engines(FakeVad(), asr, FakeLlm(["三時です。"]), FakeTts(0.01, 0.05))
    said = Audio(voice(0.8), LISTENING_RATE)
    async with (
        running(tmp_path, engines, households={"home": home}) as server,
        open_robot(server.xiaozhi_url, Identity(HALL), habits(0.05)) as hall,
        open_robot(server.xiaozhi_url, Identity(KITCHEN), habits(0.5)) as kitchen,
    ):
        hall.speak(said)
        answer = await kitchen.say(said)
        assert answer.reply == "三時です。"
        assert await is_sent_away(hall) is one_answers
        assert kitchen.closed is None
    assert len(asr.heard) == (1 if one_answers else 2)
