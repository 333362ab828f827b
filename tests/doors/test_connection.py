import json
from pathlib import Path

import anyio
import anyio.lowlevel
import numpy as np
from structlog.testing import capture_logs

from firmware_bridge import (
    Aborted,
    Audio,
    Hello,
    ListenStarted,
    PlayAudio,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
)
from firmware_bridge.xiaozhi import XiaozhiDeviceCodec
from server.audio import from_pcm
from server.connection import COMMANDS, Allowance
from server.ports import Device
from tests.doors.premises import (
    HELLO,
    ROBOT,
    ask,
    end_of,
    frames,
    greet,
    hear,
    keep_sending,
    listen_for_ever,
    open_doors,
    say,
    until,
)

# From the robot to the conversation


async def test_events_reach_the_conversation_in_order_without_pings(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        await greet(line)
        assert await ask(line, {"type": "ping"}) == {"type": "pong"}
        for fields in ({"type": "listen", "state": "start"}, {"type": "abort", "reason": "touch"}):
            await line.send(json.dumps(fields))
        await line.send(bytes(640))
        await say(line, "hi")
        assert doors.app.heard == [
            Hello(),
            ListenStarted("auto"),
            Aborted("touch"),
            Audio(bytes(640), 16_000),
            TextSaid("hi"),
        ]


async def test_sound_from_before_the_hello_is_not_lost(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        for _ in range(30):
            await line.send(bytes(640))
        await greet(line)
        await say(line, "hi")
        assert doors.app.heard[:30] == [Audio(bytes(640), 16_000)] * 30


async def test_sound_at_any_rate_arrives_at_sixteen_kilohertz(tmp_path: Path) -> None:
    seconds, hertz = 1.0, 440
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        await ask(line, {"type": "hello", "rate": 48_000})
        wave = np.sin(2 * np.pi * hertz * np.arange(int(48_000 * seconds)) / 48_000) * 8000
        for piece in np.array_split(wave.astype("<i2"), 50):
            await line.send(piece.tobytes())
        await say(line, "done")
        sound = [event for event in doors.app.heard if isinstance(event, Audio)]
    samples = np.concatenate([from_pcm(piece.pcm) for piece in sound])
    assert {piece.rate for piece in sound} == {16_000}
    assert abs(len(samples) - 16_000) < 800
    spectrum = np.abs(np.fft.rfft(samples[:16_000], 16_000))
    assert abs(int(spectrum.argmax()) - hertz) <= 1


async def test_a_robot_of_the_other_protocol_is_understood_too(tmp_path: Path) -> None:
    codec = XiaozhiDeviceCodec()
    async with open_doors(tmp_path) as doors, doors.robot("/xiaozhi/v1/") as line:
        for event in (Hello(version=3, features=frozenset({"aec"})), Audio(bytes(1920), 16_000)):
            for message in codec.send(event):
                await line.send(message)
        await until(lambda: len(doors.app.heard) == 2)
        device = doors.app.devices[0]
        assert (device.echo_cancelled, device.playback_rate, device.frame_samples) == (
            True,
            24_000,
            1440,
        )
        assert [type(event) for event in doors.app.heard] == [Hello, Audio]


async def test_a_small_board_gets_sound_at_the_rate_that_it_sends(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        welcome = await ask(line, {"type": "hello", "rate": 8000})
        assert welcome["rate"] == 8000
        await until(lambda: bool(doors.app.devices))
        device = doors.app.devices[0]
        assert (device.playback_rate, device.frame_samples) == (8000, 480)
        assert not device.echo_cancelled


async def test_a_repeated_hello_is_answered_but_changes_nothing(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        first = await greet(line)
        again = await ask(line, {"type": "hello", "rate": 48_000, "features": ["aec"]})
        await say(line, "hi")
        assert again == first
        assert doors.app.heard == [Hello(), TextSaid("hi")]
        assert doors.app.devices[0].playback_rate == 16_000


async def test_the_robot_may_say_good_bye(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        await greet(line)
        await line.send(json.dumps({"type": "bye"}))
        assert await end_of(line) == (1000, "the robot said good-bye")


# From the conversation to the robot


async def test_commands_leave_in_order_and_sound_can_be_taken_back(tmp_path: Path) -> None:
    async def talk(device: Device) -> None:
        device.send(SpeechStarted())
        for frame in frames(5):
            device.send(frame)
        device.drop_audio()
        device.send(SpeechStopped(interrupted=True))
        await listen_for_ever(device)

    async with open_doors(tmp_path, talk) as doors, doors.robot() as line:
        await greet(line)
        assert await hear(line) == {"type": "speech", "state": "start"}
        assert await hear(line) == {"type": "speech", "state": "stop", "interrupted": True}


async def test_what_was_said_last_still_leaves_when_the_conversation_ends(tmp_path: Path) -> None:
    long_enough_to_wait_for_the_line = "x" * 50_000

    async def talk(device: Device) -> None:
        for number in range(300):
            device.send(ShowTranscript(f"{number} {long_enough_to_wait_for_the_line}"))

    async with open_doors(tmp_path, talk) as doors, doors.robot() as line:
        await greet(line)
        for number in range(300):
            assert (await hear(line))["text"].startswith(f"{number} ")
        assert await end_of(line) == (1000, "the conversation is over")


async def test_a_command_on_a_dead_line_is_dropped_without_a_fuss(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        async with doors.robot() as line:
            await greet(line)
        await until(lambda: ROBOT not in doors.app.access.presence)
        for frame in frames(COMMANDS * 3):
            doors.app.devices[0].send(frame)
        doors.app.devices[0].drop_audio()


async def test_sound_in_the_wrong_format_ends_the_connection_not_the_server(tmp_path: Path) -> None:
    async def talk(device: Device) -> None:
        device.send(PlayAudio(bytes(960), 44_100))
        await listen_for_ever(device)

    async with open_doors(tmp_path, talk) as doors, doors.robot() as line:
        await greet(line)
        assert (await end_of(line))[0] == 1011


async def test_a_robot_that_reads_nothing_is_given_up(tmp_path: Path) -> None:
    async def talk(device: Device) -> None:
        while True:
            device.send(ShowTranscript("x" * 4000))
            await anyio.lowlevel.checkpoint()

    async with open_doors(tmp_path, talk) as doors, doors.robot(max_queue=1) as line:
        await line.send(HELLO)
        with capture_logs() as logs:
            await until(lambda: ROBOT in doors.app.access.presence)
            line.transport.pause_reading()
            await until(lambda: any(entry["event"] == "device-left" for entry in logs))
        left = [entry for entry in logs if entry["event"] == "device-left"]
        assert (left[0]["code"], left[0]["reason"]) == (1013, "too slow: commands piled up")
        line.transport.abort()


# Limits


async def test_a_robot_that_sends_too_fast_is_hung_up_on(tmp_path: Path) -> None:
    limits = {"messages_per_second": 20}
    async with open_doors(tmp_path, limits=limits) as doors, doors.robot() as line:
        await greet(line)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_sending, line, bytes(2), 0.0)
            assert await end_of(line) == (1008, "too many messages a second")
            tasks.cancel_scope.cancel()


async def test_the_burst_after_a_stall_of_the_radio_link_is_welcome(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        await greet(line)
        for _ in range(300):
            await line.send(bytes(640))
        assert await say(line, "hi") == "hi"
        assert sum(isinstance(event, Audio) for event in doors.app.heard) == 300


def test_the_allowance_comes_back_with_time_but_does_not_pile_up() -> None:
    allowance = Allowance(20)
    assert all(allowance.take(0.0) for _ in range(100))
    assert not allowance.take(0.0)
    assert [allowance.take(1.0) for _ in range(20)] == [True] * 19 + [False]
    assert [allowance.take(3600.0) for _ in range(101)] == [True] * 100 + [False]
