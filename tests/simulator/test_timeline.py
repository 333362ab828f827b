from pathlib import Path

import anyio
import numpy as np
import pytest

from firmware_bridge.events import Aborted, TextSaid, Welcome
from server.audio import LISTENING_RATE, Audio, from_pcm, level_dbfs
from server.errors import OmoideError
from server.simulator.habits import Habits
from server.simulator.robot import Robot
from server.simulator.timeline import Cue, play, read_timeline
from tests.simulator.fake_server import tone
from tests.simulator.test_robot_clock import DeadLine
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def write(folder: Path, text: str) -> Path:
    path = folder / "timeline.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_cues_are_read_in_the_order_of_time(tmp_path: Path) -> None:
    path = write(
        tmp_path, "- {at: 2, around: tv, db: -10}\n- {at: 0.5, say: hello}\n- {at: 3, abort: touch}"
    )
    assert read_timeline(path) == [
        Cue(0.5, "say", "hello"),
        Cue(2.0, "around", "tv", -10.0),
        Cue(3.0, "abort", "touch"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{at: 1}",
        "- {at: 1}",
        "- {say: hello}",
        "- {at: 1, sing: hello}",
        "- {at: 1, say: a, write: b}",
        "- {at: yes, say: a}",
        "- {at: 1, say: a, db: loud}",
        "- [1]",
        "- {at: 1, say: a, dp: 3}",
        "{",
    ],
)
def test_what_is_no_cue_is_named(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(OmoideError, match="timeline") as caught:
        read_timeline(path)
    assert caught.value.code == "timeline-unreadable"


async def test_everything_happens_in_its_time_and_sounds_can_overlap() -> None:
    line = DeadLine()
    robot = Robot(line, Welcome("session"), Habits())
    sounds = {
        "voice": Audio(tone(0.6, LISTENING_RATE), LISTENING_RATE),
        "tv": Audio(tone(1.2, LISTENING_RATE, hertz=1000), LISTENING_RATE),
    }
    cues = [
        Cue(0.6, "around", "tv", -20.0),
        Cue(1.2, "say", "voice"),
        Cue(2.4, "write", "hello"),
        Cue(2.7, "abort"),
    ]
    await robot.begin()
    began = anyio.current_time()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(robot.keep_time)
        await play(cues, robot, sounds)
        await anyio.sleep(0.3)
        tasks.cancel_scope.cancel()
    sound = np.concatenate([from_pcm(frame.pcm) for _, frames in line.frames() for frame in frames])
    levels = [
        level_dbfs(sound[int(start * LISTENING_RATE) : int((start + 0.35) * LISTENING_RATE)])
        for start in (0.1, 0.75, 1.35, 2.0)
    ]
    voice = level_dbfs(sounds["voice"].samples)
    assert levels == pytest.approx([-120, voice - 20, voice, -120], abs=1.0)
    texts = [
        (at - began, event)
        for at, events in line.sent
        for event in events
        if isinstance(event, TextSaid | Aborted)
    ]
    assert [event for _, event in texts] == [TextSaid("hello"), Aborted("")]
    assert [at for at, _ in texts] == pytest.approx([2.4, 2.7])
