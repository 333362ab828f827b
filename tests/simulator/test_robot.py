"""The robot against a server that answers by script, over a real socket."""

from collections.abc import Sequence

import anyio
import numpy as np
import pytest

from firmware_bridge.events import (
    Aborted,
    DeviceEvent,
    Hello,
    ListenStarted,
    ListenStopped,
    SentenceStarted,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
)
from firmware_bridge.events import Audio as AudioFrame
from server.audio import LISTENING_RATE, Audio, from_pcm, level_dbfs
from server.simulator import Habits, Identity, LinkStalls, open_robot
from server.simulator.line import LineError
from tests.simulator.fake_server import Connection, answer_plainly, running_server, tone

ME = Identity("02:00:00:00:00:01")
QUESTION = Audio(tone(0.3, LISTENING_RATE), LISTENING_RATE)


def kinds(events: Sequence[DeviceEvent]) -> list[type[DeviceEvent]]:
    """What kinds came, repetitions left out."""
    found: list[type[DeviceEvent]] = []
    for event in events:
        if not found or found[-1] is not type(event):
            found.append(type(event))
    return found


def sound_of(connection: Connection) -> np.ndarray:
    frames = [event for event in connection.events if isinstance(event, AudioFrame)]
    return np.concatenate([from_pcm(frame.pcm) for frame in frames])


@pytest.mark.parametrize(
    "habits",
    [
        Habits(),
        Habits(framing=2),
        Habits(framing=3, frame_ms=20),
        Habits(frame_ms=40, dtx=False),
        Habits(protocol="pcm"),
    ],
    ids=["xiaozhi", "framing-2", "framing-3-20ms", "40ms-without-dtx", "pcm"],
)
async def test_a_robot_says_something_and_hears_the_answer(habits: Habits) -> None:
    async with running_server() as server:
        async with open_robot(server.url, ME, habits) as robot:
            answer = await robot.say(QUESTION)
        heard = sound_of(server.connections[0])
    assert answer.error is None
    assert answer.transcript == "a tone"
    assert answer.reply == "Hello there."
    assert answer.emotion == "happy"
    assert answer.audio.seconds == pytest.approx(0.3)
    assert (answer.underruns, answer.overflows, answer.strays, answer.stops) == (0, 0, 0, 1)
    assert answer.first_audio_ms is not None
    assert level_dbfs(heard) > -40


async def test_the_time_to_the_answer_counts_from_the_last_voiced_sample() -> None:
    """The silence by which the server knows the end is part of it, the silence in the file is not."""
    padded = np.concatenate([QUESTION.samples, np.zeros(3 * LISTENING_RATE, np.int16)])
    async with (
        running_server() as server,
        open_robot(server.url, ME, Habits(protocol="pcm")) as robot,
    ):
        answer = await robot.say(Audio(padded, LISTENING_RATE))
    assert answer.first_audio_ms is not None
    assert 4 * 60 < answer.first_audio_ms < 2_900


async def test_a_text_is_answered_too() -> None:
    async with running_server() as server:
        async with open_robot(server.url, ME, Habits(protocol="pcm", mode="manual")) as robot:
            answer = await robot.write("How are you?")
        events = server.connections[0].events
    assert answer.transcript == "How are you?"
    assert answer.first_audio_ms is not None
    assert kinds(events) == [Hello, TextSaid]


async def test_the_wait_for_each_sentence_is_measured() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.send(SpeechStarted(), SentenceStarted("Let me think."))
        await connection.play(2)
        await connection.send(SentenceStarted("Without a sound."))
        await anyio.sleep(0.2)
        await connection.send(SentenceStarted("Yes."))
        await connection.play(2)
        await connection.send(SpeechStopped())

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="manual")) as robot,
    ):
        answer = await robot.write("Well?")
    assert len(answer.sentences_ms) == 2
    assert answer.sentences_ms[0] == answer.first_audio_ms
    # The first may reach a busy robot late, when the server has already begun to wait with the next.
    assert answer.sentences_ms[1] >= max(200, answer.sentences_ms[0])


async def test_in_auto_mode_the_microphone_is_shut_while_the_robot_speaks() -> None:
    async with running_server() as server:
        async with open_robot(server.url, ME) as robot:
            await robot.say(QUESTION)
            await robot.say(QUESTION)
        events = server.connections[0].events
    assert kinds(events)[:5] == [Hello, ListenStarted, AudioFrame, ListenStarted, AudioFrame]
    assert len(server.connections) == 1


async def test_in_realtime_mode_it_goes_on_listening() -> None:
    frames_while_speaking = 0

    async def script(connection: Connection, text: str) -> None:
        nonlocal frames_while_speaking
        before = len(connection.heard(AudioFrame))
        await connection.reply("Hello.", 0.4)
        frames_while_speaking = len(connection.heard(AudioFrame)) - before

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="realtime")) as robot,
    ):
        await robot.say(QUESTION)
    assert frames_while_speaking >= 4


async def test_in_manual_mode_the_button_frames_the_sound() -> None:
    async with running_server() as server:
        async with open_robot(server.url, ME, Habits(mode="manual")) as robot:
            answer = await robot.say(QUESTION)
        events = server.connections[0].events
    assert answer.reply == "Hello there."
    assert kinds(events) == [Hello, ListenStarted, AudioFrame, ListenStopped]


async def test_the_sound_of_the_wake_word_goes_before_it() -> None:
    habits = Habits(wake_word="Hi StackChan", wake_sound=Audio(tone(0.9, 16_000), 16_000))
    async with running_server() as server:
        async with open_robot(server.url, ME, habits):
            await anyio.sleep(0.2)
        events = server.connections[0].events
    assert kinds(events) == [Hello, AudioFrame, WakeWord, ListenStarted, AudioFrame]


async def test_quiet_frames_are_sent_as_packets_of_a_byte_or_two() -> None:
    sizes: list[int] = []

    async def script(connection: Connection, text: str) -> None:
        await connection.reply("Hello.", 0.1)

    async with running_server(script) as server, open_robot(server.url, ME) as robot:
        receive = server.connections[0]._codec.receive

        def measure(message: bytes | str) -> list[DeviceEvent]:
            if isinstance(message, bytes):
                sizes.append(len(message))
            return receive(message)

        server.connections[0]._codec.receive = measure  # type: ignore[method-assign]
        await anyio.sleep(0.5)
        await robot.say(QUESTION)
    assert min(sizes) <= 2
    assert max(sizes) > 20


async def test_a_link_that_stands_still_delays_but_loses_nothing() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.reply("Hello.", 1.8, ahead_seconds=1.0)

    habits = Habits(stalls=LinkStalls(every_ms=700, length_ms=300))
    async with running_server(script) as server, open_robot(server.url, ME, habits) as robot:
        answer = await robot.say(QUESTION)
    assert answer.reply == "Hello."
    assert answer.overflows == 0
    assert answer.audio.seconds >= 1.8
    assert max(answer.arrivals_ms) > 200


def test_a_stall_begins_after_its_period_and_lasts_its_length() -> None:
    stalls = LinkStalls(every_ms=5000, length_ms=400)
    assert stalls.seconds_left(0.1) == 0
    assert stalls.seconds_left(4.9) == 0
    assert stalls.seconds_left(5.1) == pytest.approx(0.3)
    assert stalls.seconds_left(5.5) == 0
    assert stalls.seconds_left(10.3) == pytest.approx(0.1)


async def test_a_server_that_sends_too_much_at_once_overflows_the_queue() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.send(SpeechStarted(), SentenceStarted("Too much."))
        await connection.play(50)
        await connection.send(SpeechStopped())

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="manual")) as robot,
    ):
        answer = await robot.write("Go on.")
    assert answer.overflows == 9
    assert answer.early_stop_ms > 2000
    assert answer.audio.seconds == pytest.approx(41 * 0.06)


async def test_a_server_that_pauses_makes_the_robot_stutter() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.send(SpeechStarted(), SentenceStarted("Well"))
        await connection.play(2)
        await anyio.sleep(0.5)
        await connection.play(2)
        await anyio.sleep(0.3)
        await connection.send(SpeechStopped())

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="manual")) as robot,
    ):
        answer = await robot.write("Go on.")
    assert answer.underruns == 1
    assert answer.early_stop_ms == 0


async def test_sound_outside_of_a_reply_is_lost_and_counted() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.play(3)
        await connection.reply("Hello.", 0.2)

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="manual")) as robot,
    ):
        answer = await robot.write("Hello?")
    assert answer.audio.seconds == pytest.approx(0.18)
    assert answer.strays == 3


async def test_a_reply_is_cut_short_after_a_while() -> None:
    async def script(connection: Connection, text: str) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: connection.reply("A long story.", 5.0, stop=False))
            while not connection.heard(Aborted):
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        await connection.send(SpeechStopped(interrupted=True))

    habits = Habits(protocol="pcm", mode="manual", abort_after_ms=300)
    async with running_server(script) as server:
        async with open_robot(server.url, ME, habits) as robot:
            answer = await robot.write("Tell me a story.")
        assert len(server.connections[0].heard(Aborted)) == 1
    assert answer.error is None
    assert answer.interrupted
    assert answer.stops == 1
    assert 0.2 < answer.audio.seconds < 2.0


async def test_a_robot_that_loses_its_connection_comes_back_under_the_same_name() -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.reply("A long story.", 2.0)

    async with running_server(script) as server:
        async with open_robot(server.url, ME, Habits(mode="manual", drop_after_ms=200)) as robot:
            answer = await robot.write("Tell me a story.")
            with pytest.raises(LineError):
                await robot.write("Are you there?")
        async with open_robot(server.url, ME, Habits(mode="manual")) as robot:
            again = await robot.write("Go on.")
        requests = [connection.socket.request for connection in server.connections]
    assert answer.error is not None
    assert answer.error.code == "connection-lost"
    assert answer.reply == "A long story."
    assert again.error is None
    names = [
        (request.headers["Device-Id"], request.headers["Client-Id"])
        for request in requests
        if request
    ]
    assert len(names) == 2
    assert names[0] == names[1]


async def test_somebody_who_talks_into_a_reply_gets_the_answer_to_the_last_question() -> None:
    questions = 0

    async def script(connection: Connection, text: str) -> None:
        nonlocal questions
        questions += 1
        number = questions
        await connection.send(ShowTranscript(f"question {number}"))
        if number == 1:
            await connection.reply("Old news.", 5.0, stop=False)
        else:
            await connection.send(SpeechStopped())
            await connection.reply("Good news.", 0.3)

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="realtime")) as robot,
    ):
        robot.speak(QUESTION)
        while questions == 0:
            await anyio.sleep(0.05)
        robot.speak(QUESTION)
        answer = await robot.answer()
    assert answer.transcript == "question 2"
    assert answer.reply == "Good news."
    assert answer.audio.seconds < 1.0


async def test_an_answer_in_the_middle_of_the_question_is_not_the_end_of_it() -> None:
    questions = 0

    async def script(connection: Connection, text: str) -> None:
        nonlocal questions
        questions += 1
        await connection.reply("Too early." if questions == 1 else "Now.", 0.2)

    pause = np.zeros(3 * LISTENING_RATE, np.int16)
    question = np.concatenate([QUESTION.samples, pause, QUESTION.samples])
    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="realtime")) as robot,
    ):
        answer = await robot.say(Audio(question, LISTENING_RATE))
    assert answer.error is None
    assert answer.reply == "Too early. Now."
    assert answer.stops == 2
    assert answer.first_audio_ms is not None
    assert answer.first_audio_ms > 0


async def test_a_robot_hears_its_own_voice_as_softly_as_told() -> None:
    heard: list[float] = []

    async def script(connection: Connection, text: str) -> None:
        before = len(connection.heard(AudioFrame))
        await connection.reply("Hello.", 0.6)
        levels = [
            level_dbfs(from_pcm(event.pcm))
            for event in connection.events
            if isinstance(event, AudioFrame)
        ]
        heard.extend(levels[before:])

    habits = Habits(protocol="pcm", echo_db=-20, closes_microphone=False)
    async with running_server(script) as server, open_robot(server.url, ME, habits) as robot:
        await robot.write("Hello?")
    assert max(heard) == pytest.approx(level_dbfs(tone(0.06, 24_000)) - 20, abs=1.0)


@pytest.mark.parametrize("pongs", [True, False])
async def test_pings_are_answered_or_not(pongs: bool) -> None:
    answered = False

    async def script(connection: Connection, text: str) -> None:
        nonlocal answered
        pong = await connection.socket.ping()
        with anyio.move_on_after(0.3):
            await pong
            answered = True
        await answer_plainly(connection, text)

    async with (
        running_server(script) as server,
        open_robot(server.url, ME, Habits(mode="manual", pongs=pongs)) as robot,
    ):
        answer = await robot.write("Hello?")
    assert answer.error is None
    assert answered is pongs


async def test_frames_in_one_packet_are_whole_whatever_the_rate_of_the_file() -> None:
    """A codec refuses any other length, so this would end the talk."""
    async with running_server() as server, open_robot(server.url, ME) as robot:
        answer = await robot.say(Audio(tone(0.31, 44_100), 44_100))
    assert answer.error is None
