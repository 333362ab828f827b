"""Public fault reports, groups 2 and 5: a robot that hears itself, and one behind a weak link. In virtual time."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import anyio
import numpy as np
import pytest

from firmware_bridge.xiaozhi import XiaozhiCodec
from server.admission import Admission
from server.audio import LISTENING_RATE, Audio
from server.connection import Connection
from server.conversation import Conversation
from server.ports import Voice
from server.simulator import Habits, Robot
from server.simulator.noises import make_noises
from server.simulator.trial import robot_on_wire
from server.simulator.wire import GOOD, WEAK, Link, WireEnd
from server.telemetry import Metrics
from tests.babble import babble
from tests.fakes import FakeAsr, FakeHouse, FakeTts
from tests.talks import make_house
from tests.virtual_time import VIRTUAL_TIME, Backend

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

ADMISSION = Admission(
    entry="robot",
    device="robot",
    person="hana",
    is_guest=False,
    is_nameless=False,
    is_known=True,
    language="ja",
    voice="",
    profile="xiaozhi",
)
TALE = "海のそばの村に、年を取った時計屋がいました。" * 5


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


class BabblingTts(FakeTts):
    """Speaks babble, as long as the text, another one for each."""

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        await anyio.lowlevel.checkpoint()
        self.spoken.append((text, voice_.language))
        yield Audio(babble(0.1 * len(text), 24_000, seed=len(self.spoken)), 24_000)


def make_talkative(*heard: str) -> FakeHouse:
    return make_house([TALE], hears=FakeAsr(*heard), voice=BabblingTts())


@asynccontextmanager
async def robot_of(house: FakeHouse, habits: Habits, link: Link = GOOD) -> AsyncIterator[Robot]:
    async def serve(end: WireEnd) -> None:
        socket = cast("ServerConnection", end)
        connection = Connection(socket, XiaozhiCodec(), ADMISSION, house.config, Metrics())
        await connection.run(lambda device: Conversation(device, house.house).converse())

    async with robot_on_wire(serve, habits, link) as (robot, _):
        yield robot


ECHO = Habits(echo_db=-20.0, echo_delay_ms=90, echo_room=0.2, closes_microphone=False)
MODES = {
    "auto": ECHO,
    "auto-aec": replace(ECHO, features=frozenset({"aec"})),
    "realtime": replace(ECHO, mode="realtime"),
}


@pytest.mark.parametrize("mode", MODES)
async def test_a_robot_that_hears_itself_does_not_answer_itself(mode: str) -> None:
    """X#1664, X#2280, F#919, PC#188, py-xiaozhi PR#302, kimjammer/Neuro#8, xiaozhi-android-client#9."""
    house = make_talkative("もしもし")
    async with robot_of(house, MODES[mode]) as robot:
        answer = await robot.write("話して")
        await anyio.sleep(2)
    assert answer.audio.seconds > 9
    assert not answer.interrupted
    assert house.asr.heard == [], "nothing that could be a turn"
    assert len(house.llm.prompts) == 1


@pytest.mark.parametrize("mode", ["auto-aec", "realtime"])
async def test_who_talks_over_it_still_interrupts_it(mode: str) -> None:
    house = make_talkative("ちょっと待って")
    async with robot_of(house, MODES[mode]) as robot:
        await robot.hint("話して")
        await anyio.sleep(6)
        began = anyio.current_time()
        robot.speak(Audio(babble(1.2, LISTENING_RATE, seed=77), LISTENING_RATE))
        assert await robot.until_quiet() - began < 0.4
        await anyio.sleep(2.5)
    assert len(house.asr.heard) == 1
    [_, second] = house.llm.prompts
    assert second.messages[-1].content.endswith("ちょっと待って")


async def test_a_robot_without_echo_cancellation_hears_nobody_until_it_has_played_its_last_frame() -> (
    None
):
    """alexxit/streamassist#11: with its microphone open all the time, and an echo as loud as the voice."""
    house = make_talkative("もしもし")
    loud = replace(ECHO, echo_db=0.0, echo_delay_ms=150)
    async with robot_of(house, loud) as robot:
        await robot.write("話して")
        assert house.asr.heard == []
        await anyio.sleep(0.6)
        robot.speak(Audio(babble(1.2, LISTENING_RATE, seed=77), LISTENING_RATE))
        await anyio.sleep(2.5)
    assert len(house.asr.heard) == 1


async def test_what_repeats_the_robot_while_it_speaks_is_no_turn_whatever_let_it_in() -> None:
    """PC#188: an echo so much louder than what is played that no guard takes it for one."""
    house = make_talkative("年を取った時計屋がいました")
    loud = replace(ECHO, mode="realtime", echo_db=30.0)
    async with robot_of(house, loud) as robot:
        await robot.hint("話して")
        await anyio.sleep(12)
    assert len(house.asr.heard) >= 1
    assert len(house.llm.prompts) == 1


async def test_a_chime_of_the_robot_before_it_listens_does_not_become_the_command() -> None:
    """alexxit/streamassist#11."""
    chime = next(clip for clip in make_noises() if clip.kind == "chime" and clip.level_db == -12)
    house = make_talkative("もしもし")
    sound = Audio(chime.samples[: LISTENING_RATE // 2], LISTENING_RATE)
    async with robot_of(house, Habits(wake_word="Hi StackChan", wake_sound=sound)) as robot:
        await anyio.sleep(0.5)
        robot.speak(Audio(babble(1.0, LISTENING_RATE, seed=3), LISTENING_RATE))
        await anyio.sleep(2.5)
    [heard] = house.asr.heard
    assert len(heard) < 2.3 * LISTENING_RATE, "the command with what is before and behind it"


async def test_a_link_that_stands_still_every_five_seconds_costs_nothing() -> None:
    """X#2600, hide3tu's CoreS3 probe: 40 KiB/s, 400 ms of standstill."""
    house = make_talkative()
    link = Link(WEAK.bytes_per_second, WEAK.latency_ms, WEAK.stall_every_ms, WEAK.stall_ms)
    async with robot_of(house, Habits(), link) as robot:
        answer = await robot.write("話して")
    assert answer.error is None
    assert answer.audio.seconds > 9
    assert (answer.underruns, answer.overflows) == (0, 0)
    assert max(answer.arrivals_ms) > 300, "it did stand still"
    assert np.percentile(answer.arrivals_ms, 97) < 80
