import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import numpy as np
import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import ClientConnection

from firmware_bridge import (
    Aborted,
    Audio,
    DeviceEvent,
    Hello,
    ListenStarted,
    PlayAudio,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
)
from firmware_bridge.xiaozhi import XiaozhiDeviceCodec
from server.allowance import Allowance
from server.audio import LISTENING_RATE, from_pcm
from server.connection import COMMANDS
from server.ports import Device
from tests.doors.premises import (
    HELLO,
    ROBOT,
    Doors,
    ask,
    end_of,
    frames,
    greet,
    hear,
    keep_sending,
    listen_for_ever,
    open_doors,
    say,
)
from tests.patience import until

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


async def test_sound_from_before_the_hello_is_dropped_and_counted(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        for _ in range(30):
            await line.send(bytes(640))
        await greet(line)
        await say(line, "hi")
        assert doors.app.heard == [Hello(), TextSaid("hi")]
        assert round(dropped_seconds(doors), 3) == 0.6


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


async def test_a_long_message_is_a_few_seconds_of_sound_at_most(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        await greet(line)
        await line.send(bytes(65_536))
        assert await say(line, "hi") == "hi"
        await line.send(bytes(65_537))
        assert (await end_of(line))[0] == 1009


@pytest.mark.parametrize("protocol", ["/pcm at 16000 Hz", "/pcm at 48000 Hz", "/xiaozhi/v1/"])
async def test_robots_behind_a_bad_radio_link_lose_nothing(tmp_path: Path, protocol: str) -> None:
    """Each robot's link stands still for three seconds, again and again, and then delivers everything at once."""
    stall_seconds, stalls = 3, 4
    path, _, rest = protocol.partition(" at ")
    hello, pieces, piece_seconds = microphone(path, int(rest.split()[0]) if rest else 16_000)
    pieces_a_stall = round(stall_seconds / piece_seconds)
    async with (
        open_doors(tmp_path) as doors,
        doors.robot(path) as one,
        doors.robot(path, {"Device-Id": "two", "Client-Id": "two"}) as other,
    ):
        for line in (one, other):
            await line.send(hello)
            await line.recv()
        for _ in range(stalls):
            for line in (one, other):
                for number in range(pieces_a_stall):
                    await line.send(pieces[number % len(pieces)])
        sent = 2 * stalls * pieces_a_stall
        # What is less than a step of the echo guard (20 ms) waits for the next piece of each robot.
        whole = (sent * piece_seconds - 2 * 0.04) * LISTENING_RATE
        await until(lambda: samples_heard(doors) >= whole)
        assert dropped_seconds(doors) == 0
        for line in (one, other):
            assert (await ask(line, {"type": "ping"}))["type"] == "pong"


def samples_heard(doors: Doors) -> int:
    return sum(len(event.pcm) // 2 for event in doors.app.heard if isinstance(event, Audio))


def microphone(path: str, rate: int) -> tuple[str | bytes, Sequence[str | bytes], float]:
    """Return a hello, and messages of sound with their length in seconds."""
    if path == "/pcm":
        return json.dumps({"type": "hello", "rate": rate}), [bytes(2 * rate // 50)], 0.02
    codec = XiaozhiDeviceCodec(dtx=False)
    hello = codec.send(Hello())[0]
    return hello, [codec.send(Audio(bytes(1920), 16_000))[0] for _ in range(10)], 0.06


async def test_sound_that_comes_too_fast_is_dropped_and_counted(tmp_path: Path) -> None:
    limits = {"sound_speed": 1, "sound_burst_seconds": 5}
    async with open_doors(tmp_path, limits=limits) as doors, doors.robot() as line:
        await greet(line)
        for _ in range(9):
            await line.send(bytes(32_000))
        assert await say(line, "hi") == "hi"
        heard = sum(isinstance(event, Audio) for event in doors.app.heard)
        assert 5 <= heard < 9
        assert heard + dropped_seconds(doors) == 9


async def test_a_robot_that_goes_on_sending_too_much_sound_is_hung_up_on(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as line:
        await greet(line)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_sending, line, bytes(32_000))
            assert await end_of(line) == (1008, "too much sound")
            tasks.cancel_scope.cancel()
        assert dropped_seconds(doors) > 0


async def test_a_robot_whose_sound_nobody_takes_waits_and_loses_nothing(tmp_path: Path) -> None:
    go_on = anyio.Event()
    heard: Counter[type[DeviceEvent]] = Counter()

    async def talk(device: Device) -> None:
        await go_on.wait()
        async for event in device.events():
            heard[type(event)] += 1

    limits = {"sound_burst_seconds": 1000, "messages_per_second": 10_000}
    async with open_doors(tmp_path, talk, limits=limits) as doors, doors.robot() as line:
        await greet(line)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send_all, line, [bytes(32_000)] * 900)
            await anyio.sleep(0.3)
            assert line.transport.get_write_buffer_size() > 0
            go_on.set()
        await until(lambda: heard[Audio] == 900)
        assert dropped_seconds(doors) == 0


async def send_all(line: ClientConnection, messages: Sequence[bytes]) -> None:
    for message in messages:
        await line.send(message)


def dropped_seconds(doors: Doors) -> float:
    name = b"omoide_dropped_sound_seconds_total "
    lines = doors.app.metrics.render().splitlines()
    return float(next(line for line in lines if line.startswith(name)).removeprefix(name))


def test_a_link_that_stalls_all_day_never_overdraws_the_allowance() -> None:
    allowance = Allowance(3, 30)
    for stall in range(1, 1000):
        assert allowance.take(stall * 10.0, 10.0) >= 0


def test_the_allowance_comes_back_with_time_but_does_not_pile_up() -> None:
    allowance = Allowance(20, 100)
    assert [allowance.take(0.0) for _ in range(3)] == [99, 98, 97]
    assert allowance.take(0.0, 98) == -1
    assert allowance.take(1.0) == 18
    assert allowance.take(3600.0) == 99
