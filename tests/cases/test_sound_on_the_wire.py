"""Public fault reports, groups 2, 3, 4 and 6, as far as the wire has a part in them. A whole server on loopback."""

import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect

from firmware_bridge.events import Audio as HeardAudio
from firmware_bridge.events import Hello, ListenStarted
from firmware_bridge.xiaozhi import XiaozhiDeviceCodec
from server.audio import LISTENING_RATE, Audio, to_pcm
from server.conversation import Engines
from server.ports import Voice
from server.simulator import Answer, Habits, Identity, LinkStalls, open_robot
from tests.end_to_end.running import Running, running
from tests.fakes import FRAME, FakeAsr, FakeLlm, FakeTts, FakeVad, silence, voice
from tests.patience import SECONDS
from tests.talks import pitch

ROBOT = Identity("aa:bb:cc:00:11:22")


class ToneTts(FakeTts):
    """Speaks each text as a tone of its own, at any rate, in small pieces."""

    def __init__(self, hertz: dict[str, float], rate: int = 48_000, seconds: float = 1.0) -> None:
        super().__init__()
        self.hertz = hertz
        self.rate = rate
        self.length = seconds

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        tone = voice(self.length, self.hertz.get(text, 220.0), self.rate)
        step = self.rate // 50
        for start in range(0, len(tone), step):
            yield Audio(tone[start : start + step], self.rate)


def engines(
    *texts: str, replies: list[list[str]] | None = None, tts: FakeTts | None = None
) -> Engines:
    llm = FakeLlm(*(replies or [["はい。"]]))
    return Engines(FakeVad(), FakeAsr(*texts, seconds=0.05), llm, tts or FakeTts(0.02, 0.05))


async def test_a_link_that_stalls_is_caught_up_with_and_nothing_is_lost(tmp_path: Path) -> None:
    """X#2600: stuttering after every stall of the link. Here 400 ms in every second."""
    habits = Habits(stalls=LinkStalls(every_ms=1000, length_ms=400))
    long = engines(replies=[["あ" * 60 + "。"]])
    async with (
        running(tmp_path, long) as server,
        open_robot(server.http_url, ROBOT, habits) as robot,
    ):
        answer = await robot.write("長い話をして")
    assert answer.audio.seconds > 3
    assert (answer.underruns, answer.overflows, answer.early_stop_ms) == (0, 0, 0)
    assert answer.error is None


async def test_eight_robots_at_once_all_hear_a_whole_reply(tmp_path: Path) -> None:
    """J#138: sound lagged and jumped under load."""
    answers: list[Answer] = []

    async def ask(server: Running, number: int) -> None:
        async with open_robot(server.http_url, Identity(f"aa:bb:cc:00:22:{number:02}")) as robot:
            answers.append(await robot.write("話して"))

    reply = ["あ" * 32 + "。"]
    async with running(tmp_path, engines(replies=[reply])) as server:
        await each(partial(ask, server), range(8))
    assert len(answers) == 8
    for answer in answers:
        assert answer.audio.seconds > 1.6
        assert (answer.underruns, answer.overflows, answer.error) == (0, 0, None)


async def test_after_an_abort_no_frame_of_the_old_reply_is_heard(tmp_path: Path) -> None:
    """X#2352: the old answer went on after the interruption. Old and new are tones of different pitch."""
    tts = ToneTts({"古い。": 400.0, "新しい。": 1500.0}, seconds=1.0)
    house = engines(replies=[["古い。", "古い。", "古い。"], ["新しい。"]], tts=tts)
    async with (
        running(tmp_path, house) as server,
        open_robot(server.http_url, ROBOT, Habits(abort_after_ms=400)) as robot,
    ):
        old = await robot.write("一")
        new = await robot.write("二")
    assert old.interrupted
    assert old.stops == 1
    window = 2400
    heard = new.audio.samples
    pitches = [
        pitch(heard[start : start + window], new.audio.rate)
        for start in range(0, len(heard) - window, window)
        if np.abs(heard[start : start + window]).max() > 1000
    ]
    assert len(pitches) >= 4
    assert all(1400 < hertz < 1600 for hertz in pitches)
    assert new.strays == 0


@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100, 48_000])
async def test_a_voice_of_any_rate_keeps_its_pitch_and_length(tmp_path: Path, rate: int) -> None:
    """A downlink at another rate than announced sounds slow or fast."""
    house = engines(tts=ToneTts({"はい。": 1000.0}, rate, seconds=0.36))
    async with running(tmp_path, house) as server, open_robot(server.http_url, ROBOT) as robot:
        answer = await robot.write("話して")
    assert answer.audio.rate == 24_000
    loud = np.flatnonzero(np.abs(answer.audio.samples) > 1000)
    tone = answer.audio.samples[loud[0] : loud[-1]]
    assert len(tone) / 24_000 == pytest.approx(0.36, abs=0.05)  # Opus rings out
    assert pitch(tone, 24_000) == pytest.approx(1000, abs=10)


async def test_packets_of_any_length_are_heard_with_pauses_of_one_byte(tmp_path: Path) -> None:
    """X#554: the buffer fitted frames of one length only. X#2116: DTX packets of one byte were taken for voice."""
    answers: list[Answer] = []

    async def say(server: Running, frame_ms: int) -> None:
        habits = Habits(frame_ms=frame_ms, dtx=True)
        async with open_robot(server.http_url, Identity(f"robot-{frame_ms}"), habits) as robot:
            answers.append(await robot.say(Audio(voice(0.3), LISTENING_RATE)))

    house = engines("おはよう", "おはよう", "おはよう")
    async with running(tmp_path, house) as server:
        await each(partial(say, server), (20, 40, 60))
    assert [(answer.transcript, answer.error) for answer in answers] == [("おはよう", None)] * 3
    assert isinstance(house.asr, FakeAsr)
    for heard in house.asr.heard:
        voiced = np.count_nonzero(np.abs(heard) > 1000) / LISTENING_RATE
        assert voiced == pytest.approx(0.3, abs=0.05)


async def each(act: Callable[[int], Coroutine[Any, Any, None]], numbers: Iterable[int]) -> None:
    """Do something for all numbers at once."""
    async with anyio.create_task_group() as tasks:
        for number in numbers:
            tasks.start_soon(act, number)


async def test_garbage_between_good_packets_costs_nothing_but_itself(tmp_path: Path) -> None:
    """X#667, X#2116: one packet that could not be decoded ended the session."""
    house = engines("おはよう")
    garbage = [b"", b"\x00", b"\xff", np.random.default_rng(2).bytes(120), b"{", bytes(4000)]
    async with (
        running(tmp_path, house) as server,
        connect(server.xiaozhi_url, additional_headers=ROBOT.headers(), proxy=None) as line,
    ):
        codec = XiaozhiDeviceCodec()
        await line.send(codec.send(Hello())[0])
        codec.receive(await line.recv())
        await line.send(codec.send(ListenStarted("auto"))[0])
        sound = np.concatenate([silence(0.3), voice(0.6), silence(1.02)])
        for index, start in enumerate(range(0, len(sound) - FRAME + 1, FRAME)):
            frame = HeardAudio(to_pcm(sound[start : start + FRAME]), LISTENING_RATE)
            for packet in codec.send(frame):
                await line.send(packet)
            await line.send(garbage[index % len(garbage)])
        assert await hear_transcript(line) == "おはよう"
    assert isinstance(house.asr, FakeAsr)
    loud, said = (np.count_nonzero(np.abs(one) > 1000) for one in (house.asr.heard[0], voice(0.6)))
    assert loud > 0.9 * said


async def hear_transcript(line: ClientConnection) -> str:
    with anyio.fail_after(SECONDS):
        while True:
            message = await line.recv()
            if isinstance(message, str) and json.loads(message)["type"] == "stt":
                text: str = json.loads(message)["text"]
                return text
