"""One turn and its neighbours, in virtual time: order of commands, pacing, interruptions, failures."""

from typing import Any

import anyio
import pytest

from firmware_bridge.events import (
    Aborted,
    PlayAudio,
    SentenceStarted,
    ShowEmotion,
    ShowTranscript,
    SpeechStopped,
    TextSaid,
)
from server.config import Config
from server.turn import Transcript
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, FakeLlm, FakeTts, silence, voice
from tests.talks import talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def house(
    *replies: list[Any], asr: FakeAsr | None = None, tts: FakeTts | None = None, **config: Any
) -> FakeHouse:
    scripts = replies or (["はい。", "そうですね。"],)
    return FakeHouse(
        asr or FakeAsr("おはよう", "元気ですか", "ありがとう"),
        FakeLlm(*scripts),
        tts or FakeTts(),
        Config(**config),
    )


def kinds(device: FakeDevice) -> list[str]:
    return [type(command).__name__ for command in device.commands()]


async def test_a_turn_reads_listen_transcript_face_sentences_stop() -> None:
    home, device = house(["[happy]おはよう", "ございます。", "いい天気ですね。"]), FakeDevice()
    async with talking(home, device):
        await device.hear(silence(0.5), voice(1.0), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert kinds(device) == [
        "ShowTranscript",
        "SpeechStarted",
        "ShowEmotion",
        "SentenceStarted",
        "SentenceStarted",
        "SpeechStopped",
    ]
    assert device.commands(ShowTranscript) == [ShowTranscript("おはよう")]
    assert [face.emotion for face in device.commands(ShowEmotion)] == ["happy"]  # type: ignore[union-attr]
    assert device.commands(SentenceStarted) == [
        SentenceStarted("おはようございます。"),
        SentenceStarted("いい天気ですね。"),
    ]
    [turn] = home.recent.list()
    assert turn.heard == "おはようございます。いい天気ですね。"
    assert turn.emotion == "happy"
    assert turn.prompt_tokens == 100
    assert {"listening", "endpoint", "llm-first-token", "llm-first-sentence", "tts-first-audio"} < {
        str(stage) for stage in turn.stages_ms
    }
    assert list(dict.fromkeys(str(event.happening) for event in turn.events)) == [
        "turn-start",
        "listening-end",
        "asr-end",
        "recall-end",
        "llm-first-token",
        "sentence",
        "tts-first-audio",
        "playback-start",
        "turn-end",
    ]
    times = [event.at_ms for event in turn.events]
    assert times == sorted(times)


async def test_tts_stop_comes_after_the_last_frame_has_been_played() -> None:
    home, device = house(["あ" * 60 + "。"]), FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: bool(device.times(SpeechStopped)))
    [stopped] = device.times(SpeechStopped)
    frames = device.times(PlayAudio)
    assert stopped >= frames[0] + len(frames) * 0.06


async def test_thirty_seconds_never_run_the_device_dry_nor_over() -> None:
    home, device = (
        house(["あ" * 100 + "。", 0.5, "い" * 100 + "。", "う" * 100 + "。"]),
        FakeDevice(),
    )
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: bool(device.times(SpeechStopped)), 60)
    times = device.times(PlayAudio)
    assert len(times) >= 500
    ends = times[0]
    for at in times:
        assert at <= ends, "the device ran dry"
        ends += 0.06
        assert (ends - at) / 0.06 <= 40, "the device's queue is full"


async def test_a_barge_in_silences_the_old_reply_and_keeps_what_was_heard() -> None:
    home = house(["あ" * 50 + "。"], ["わかりました。"])
    device = FakeDevice(mode="realtime")
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: len(device.times(PlayAudio)) > 20)
        await device.hear(voice(1.0), silence(1.0))
        await until(lambda: len(device.times(SpeechStopped)) == 2)
    first, second = device.speeches()
    assert first[-1].command == SpeechStopped(interrupted=True)
    assert second[-1].command == SpeechStopped(interrupted=False)
    old = home.recent.list()[0]
    assert old.interrupted
    assert 0 < len(old.heard) < 30
    assert old.heard == "あ" * len(old.heard)
    assert home.llm.prompts[1].messages[-2].content == old.heard + "…"
    assert home.llm.open_streams == home.tts.open_streams == 0


@pytest.mark.parametrize(
    ("stage", "after"),
    [
        ("listening", 0.3),
        ("asr", 1.4),
        ("before the first token", 1.9),
        ("first sentence", 2.55),
        ("playing", 4.0),
        ("last frame", 5.4),
        ("idle", 9.0),
    ],
)
async def test_every_abort_is_followed_by_one_stop_and_by_nothing_else(
    stage: str, after: float
) -> None:
    """huangjunsen0406/py-xiaozhi#45: without a stop, the robot hung after an abort."""
    home = house([0.5, "ああああ", 0.3, "ああああああ。", "いいいいいい。"])
    device = FakeDevice()
    async with talking(home, device):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(device.hear, voice(0.6), silence(2.0))
            await anyio.sleep(after)
            stops = len(device.times(SpeechStopped))
            device.put(Aborted())
            await anyio.sleep(0.01)
            assert len(device.times(SpeechStopped)) == stops + 1
        if stage != "listening":
            await anyio.sleep(10)
            assert len(device.times(SpeechStopped)) == stops + 1
            assert not [at for at in device.times(PlayAudio) if at > after + 0.01]
    assert home.llm.open_streams == home.tts.open_streams == 0


async def test_an_aborted_question_is_not_answered_later() -> None:
    home, device = house([2.0, "はい。"]), FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(1.5))
        device.put(Aborted())
        device.put(TextSaid("別の話"))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("別の話")


async def test_twenty_interruptions_leave_the_next_turn_whole() -> None:
    home, device = house(["あ" * 30 + "。", "終わり。"]), FakeDevice()
    async with talking(home, device):
        for index in range(20):
            device.put(TextSaid(f"{index}"))
            await anyio.sleep(0.5 + index * 0.05)
            device.put(Aborted())
            await anyio.sleep(0.1)
        before = len(device.sent)
        device.put(TextSaid("最後"))
        await until(lambda: SpeechStopped() in [sent.command for sent in device.sent[before:]])
    frames = [sent for sent in device.sent[before:] if isinstance(sent.command, PlayAudio)]
    assert len(frames) * 0.06 >= 3.4
    assert home.recent.list()[-1].heard == "あ" * 30 + "。終わり。"
    assert home.llm.open_streams == home.tts.open_streams == 0


async def test_a_pause_in_mid_sentence_joins_both_halves_into_one_question() -> None:
    home, device = house([1.0, "はい。"], asr=FakeAsr("明日の", "予定は何")), FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9), voice(0.6), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("明日の予定は何")
    assert len(device.times(SpeechStopped)) == 1
    assert home.recent.list()[-1].question == Transcript("明日の予定は何", "ja")
    assert [page.said for page in home.memory.pages] == ["明日の", "予定は何"]


async def test_a_cough_before_the_answer_does_not_lose_the_question() -> None:
    home, device = house([1.0, "はい。"], asr=FakeAsr("明日の予定は", "")), FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9), voice(0.2), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("明日の予定は")
    assert [page.said for page in home.memory.pages] == ["明日の予定は"]
    [exchange] = home.memory.recent("hana", home.clock.now())
    assert (exchange.said, exchange.heard) == ("明日の予定は", "はい。")
    assert home.recent.list()[-1].question == Transcript("明日の予定は", "ja")


async def test_three_pieces_within_one_recognition_keep_their_order() -> None:
    asr = FakeAsr("一", "二", "三", seconds=3.0)
    home, device = house(["はい。"], asr=asr), FakeDevice()
    async with talking(home, device):
        await device.hear(*[voice(0.3), silence(0.7)] * 3)
        await until(lambda: SpeechStopped() in device.commands())
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("一二三")


async def test_a_robot_without_echo_cancellation_does_not_hear_itself() -> None:
    home, device = house(["あ" * 30 + "。"]), FakeDevice(mode="auto")
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: bool(device.times(PlayAudio)))
        await device.hear(voice(3.2), silence(2.0))
        await until(lambda: bool(device.times(SpeechStopped)))
    assert len(home.asr.heard) == 1
    assert device.commands(SpeechStopped) == [SpeechStopped()]


async def test_what_is_said_after_the_reply_and_its_guard_time_is_heard() -> None:
    home, device = house(["はい。"]), FakeDevice(mode="auto")
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: bool(device.times(SpeechStopped)))
        await device.hear(silence(0.3), voice(0.6), silence(1.0))
        await until(lambda: len(device.times(SpeechStopped)) == 2)
    assert len(home.asr.heard) == 2


async def test_silence_and_noise_end_the_turn_quietly() -> None:
    home, device = house(asr=FakeAsr("")), FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(3.0))
    assert device.sent == []
    assert home.llm.prompts == []
    assert home.recent.list() == []


async def test_a_line_on_which_somebody_talks_is_kept_in_use() -> None:
    home, device = house(["はい。"]), FakeDevice()
    async with talking(home, device):
        await device.hear(silence(3.0), voice(2.0), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.touched[0] == pytest.approx(3.1, abs=0.1)
    assert len(device.touched) == 1


async def test_a_device_that_hangs_up_in_mid_reply_leaves_nothing_running() -> None:
    home, device = house(["あ" * 100 + "。"]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: len(device.times(PlayAudio)) > 40)
    assert home.llm.open_streams == home.tts.open_streams == 0
    [turn] = home.recent.list()
    assert 0 < len(turn.heard) < 40
    assert turn.interrupted
