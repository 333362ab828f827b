"""One turn and its neighbours, in virtual time: order of commands, pacing, interruptions, failures."""

from typing import Any

import anyio
import pytest

from firmware_bridge.events import (
    Aborted,
    Alert,
    PlayAudio,
    SentenceStarted,
    ShowEmotion,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
)
from server.config import Config
from server.errors import AsrError, LlmError, TtsError
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


async def test_a_barge_in_is_silent_within_120_ms_of_speech() -> None:
    home, device = house(["あ" * 80 + "。"]), FakeDevice(mode="realtime")
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: len(device.times(PlayAudio)) > 20)
        began = anyio.current_time() - device._began
        await device.hear(voice(0.6))
    assert device.times(SpeechStopped)[0] - began <= 0.12 + 0.06  # plus the frame it arrived in


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
    assert home.recent.list()[-1].transcript.text == "明日の予定は何"  # type: ignore[union-attr]


async def test_a_cough_before_the_answer_does_not_lose_the_question() -> None:
    home, device = house([1.0, "はい。"], asr=FakeAsr("明日の予定は", "")), FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(0.9), voice(0.2), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("明日の予定は")


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


LLM_FAULTS = [
    LlmError("llm-unreachable", "no"),
    LlmError("llm-timeout", "no"),
    LlmError("llm-refused", "no"),
    RuntimeError("a bug"),
]


@pytest.mark.parametrize("fault", LLM_FAULTS, ids=lambda fault: getattr(fault, "code", "bug"))
async def test_a_failing_model_is_excused_aloud_and_never_becomes_history(fault: Exception) -> None:
    home, device = house([fault], ["はい。"]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("今日は何日"))
        await until(lambda: SpeechStopped() in device.commands())
        device.put(TextSaid("もしもし"))
        await until(lambda: len(device.times(SpeechStopped)) == 2)
    assert device.commands(SentenceStarted)[0].text.startswith("ごめんなさい")  # type: ignore[union-attr]
    assert device.times(PlayAudio)
    failed = home.recent.list()[0]
    assert failed.error == getattr(fault, "code", "internal-error")
    assert failed.heard == ""
    assert len(home.llm.prompts[1].messages) == 1


async def test_a_model_that_dies_in_mid_reply_lets_finished_sentences_be_heard() -> None:
    home, device = house(["最初の文。", "二番目の", LlmError("llm-failed", "no")]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts[0] == "最初の文。"
    assert texts[-1] == "ごめんなさい、続きがうまく言えませんでした。"
    assert len(device.times(SpeechStarted)) == len(device.times(SpeechStopped)) == 1


async def test_an_empty_reply_is_excused() -> None:
    home, device = house(["<think>長い考え"]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    assert home.recent.list()[0].error == "llm-empty"
    assert device.times(PlayAudio)


async def test_a_voice_that_fails_is_excused_from_stock() -> None:
    home, device = house(["はい。"]), FakeDevice()
    await home.phrasebook.prepare(("ja",))
    home.tts.fails = lambda text: TtsError("tts-failed", "no")
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.times(PlayAudio)
    assert not device.commands(Alert)


async def test_a_voice_that_never_worked_gives_an_alert_instead_of_silence() -> None:
    home, device = house(["はい。"]), FakeDevice()
    home.tts.fails = lambda text: TtsError("tts-failed", "no")
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.commands(Alert)))
    assert device.commands(SpeechStarted, SpeechStopped) == []


@pytest.mark.parametrize("bad", [0, 1, 2])
async def test_one_sentence_without_sound_does_not_take_the_others_along(bad: int) -> None:
    sentences = ["一つ目。", "二つ目。", "三つ目。"]
    home, device = house(sentences), FakeDevice()
    await home.phrasebook.prepare(("ja",))
    home.tts.fails = lambda text: (
        TtsError("tts-timeout", "no") if text.startswith(sentences[bad][:2]) else None
    )
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts[:2] == [text for text in sentences if text != sentences[bad]]
    assert len(device.times(SpeechStopped)) == 1
    assert home.recent.list()[0].error == "tts-timeout"


async def test_failed_recognition_is_excused_aloud() -> None:
    home = house(["はい。"], asr=FakeAsr(AsrError("asr-failed", "no")))
    device = FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert home.recent.list()[0].error == "asr-failed"


async def test_a_long_wait_is_filled_once_and_joined_by_the_answer() -> None:
    home, device = house([20.0, "はい。"]), FakeDevice()
    await home.phrasebook.prepare(("ja",))
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts == ["ええと、少し待ってくださいね。", "はい。"]
    assert len(device.times(SpeechStarted)) == 1
    assert home.recent.list()[0].heard == "はい。"


async def test_the_wait_counts_from_the_end_of_the_voice_recognition_included() -> None:
    home = house([20.0, "はい。"], asr=FakeAsr("話して", seconds=3.0))
    await home.phrasebook.prepare(("ja",))
    device = FakeDevice()
    async with talking(home, device):
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: bool(device.times(SpeechStarted)))
    assert device.times(SpeechStarted)[0] == pytest.approx(0.6 + 4.0, abs=0.1)


async def test_a_line_on_which_somebody_talks_is_kept_in_use() -> None:
    home, device = house(["はい。"]), FakeDevice()
    async with talking(home, device):
        await device.hear(silence(3.0), voice(2.0), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.touched[0] == pytest.approx(3.1, abs=0.1)
    assert len(device.touched) == 1


async def test_a_voice_with_a_bug_spares_the_other_sentences() -> None:
    home, device = house(["一つ目。", "二つ目。", "三つ目。"]), FakeDevice()
    await home.phrasebook.prepare(("ja",))

    def fail(text: str) -> None:
        if text.startswith("二"):
            raise ZeroDivisionError

    home.tts.fails = fail
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts[:2] == ["一つ目。", "三つ目。"]
    assert home.recent.list()[0].error == "tts-failed"


async def test_a_model_that_stalls_in_mid_reply_causes_no_stop_and_start() -> None:
    home, device = house(["一つ目の文です。", 8.0, "二つ目。"]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    assert len(device.times(SpeechStarted)) == len(device.times(SpeechStopped)) == 1
    assert len(device.commands(SentenceStarted)) == 2


async def test_a_stalled_stream_without_a_sentence_end_is_spoken_as_far_as_it_came() -> None:
    home, device = house(["今日はとても いい天気で", 15.0, "すね。"]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.times(PlayAudio)))
        assert device.times(PlayAudio)[0] < 5
        await until(lambda: SpeechStopped() in device.commands())


async def test_history_survives_a_reconnect_and_keeps_three_turns() -> None:
    home = house(["はい。"])
    for word in ("一", "二", "三", "四"):
        device = FakeDevice()
        async with talking(home, device):
            device.put(TextSaid(word))
            await until(lambda d=device: SpeechStopped() in d.commands())  # type: ignore[misc]
    said = [message.content for message in home.llm.prompts[-1].messages if message.role == "user"]
    assert said[:-1] == ["一", "二", "三"]
    assert said[-1].endswith("四")


async def test_history_is_left_out_after_ten_minutes_of_silence() -> None:
    home, device = house(["はい。"]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("一"))
        await anyio.sleep(601)
        device.put(TextSaid("二"))
        await until(lambda: len(device.times(SpeechStopped)) == 2)
    assert len(home.llm.prompts[1].messages) == 1


async def test_persons_do_not_share_history() -> None:
    home = house(["はい。"])
    for person in ("hana", "taro"):
        device = FakeDevice(person=person)
        async with talking(home, device):
            device.put(TextSaid("秘密"))
            await until(lambda d=device: SpeechStopped() in d.commands())  # type: ignore[misc]
    assert len(home.llm.prompts[1].messages) == 1


async def test_a_device_that_hangs_up_in_mid_reply_leaves_nothing_running() -> None:
    home, device = house(["あ" * 100 + "。"]), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("話して"))
        await until(lambda: len(device.times(PlayAudio)) > 40)
    assert home.llm.open_streams == home.tts.open_streams == 0
    [turn] = home.recent.list()
    assert 0 < len(turn.heard) < 40
    assert turn.interrupted
