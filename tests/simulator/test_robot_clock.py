"""The robot's clock, in virtual time, on a line that goes nowhere."""

import anyio
import numpy as np
import pytest

from firmware_bridge.events import Audio as AudioFrame
from firmware_bridge.events import DeviceCommand, DeviceEvent, Welcome
from server.audio import LISTENING_RATE, Audio, from_pcm
from server.simulator.habits import Habits
from server.simulator.line import Line
from server.simulator.robot import Robot
from tests.simulator.fake_server import tone
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


class DeadLine(Line):
    """Keeps what is sent, with the time, and answers nothing."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, tuple[DeviceEvent, ...]]] = []

    async def send(self, *events: DeviceEvent) -> None:
        self.sent.append((anyio.current_time(), events))

    async def receive(self) -> list[DeviceCommand]:
        await anyio.sleep_forever()
        return []

    def frames(self) -> list[tuple[float, list[AudioFrame]]]:
        """What was sent of the microphone: when, and the frames that left together."""
        groups = [
            (at, [event for event in events if isinstance(event, AudioFrame)])
            for at, events in self.sent
        ]
        return [(at, frames) for at, frames in groups if frames]


async def run_for(seconds: float, habits: Habits, question: Audio | None = None) -> DeadLine:
    line = DeadLine()
    robot = Robot(line, Welcome("session"), habits)
    await robot.begin()
    if question is not None:
        robot.speak(question)
    with anyio.move_on_after(seconds):
        await robot.keep_time()
    return line


async def test_a_frame_leaves_when_its_last_sample_has_been_made() -> None:
    began = anyio.current_time()
    line = await run_for(1.0, Habits(frame_ms=40))
    assert [at - began for at, _ in line.frames()] == pytest.approx(
        [0.04 * count for count in range(1, 25)]
    )


async def test_the_sound_arrives_whole_and_in_order() -> None:
    question = Audio(tone(0.5, LISTENING_RATE), LISTENING_RATE)
    line = await run_for(1.0, Habits(), question)
    pcm = b"".join(frame.pcm for _, frames in line.frames() for frame in frames)
    assert np.array_equal(from_pcm(pcm)[: len(question.samples)], question.samples)
    assert not from_pcm(pcm)[len(question.samples) :].any()


async def test_frames_can_leave_in_bursts() -> None:
    line = await run_for(2.0, Habits(burst_frames=5))
    assert [len(frames) for _, frames in line.frames()] == [5] * 6
