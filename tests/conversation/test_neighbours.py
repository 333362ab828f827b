"""Turns that meet: wake words, typed text, aborts and failures in the middle of something else."""

import shutil
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from firmware_bridge.events import (
    Aborted,
    Alert,
    ListenStarted,
    PlayAudio,
    SentenceStarted,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
)
from server.audio import Audio
from server.config import Config
from server.errors import AsrError, ConfigError, EngineMissing, TtsError
from server.ports import Speech, VadSession
from server.prompting import PROMPTS, Phrases, PromptFiles
from server.turn import Transcript
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, FakeLlm, FakeTts, FakeVad, silence, voice
from tests.talks import check_states, make_house, shown, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


@pytest.mark.parametrize("mode", ["auto", "realtime"])
async def test_a_command_in_one_breath_with_a_wake_word_during_listening_is_answered(
    mode: str,
) -> None:
    house = make_house(["はい。"], hears=FakeAsr("ハイスタックチャン", "明日の天気は"))
    device = FakeDevice(mode=mode)
    async with talking(house, device):
        await device.hear(silence(0.5), voice(0.7))
        device.put(Aborted("wake_word_detected"))
        device.put(ListenStarted(mode))  # type: ignore[arg-type]
        await device.hear(voice(0.8), silence(1.0))
        await until(lambda: bool(device.times(PlayAudio)))
        await stops(device, 2)
    assert device.commands(ShowTranscript) == [ShowTranscript("明日の天気は")]
    check_states(device)


async def test_a_wake_word_without_an_abort_stops_the_voice() -> None:
    house, device = make_house(["あ" * 50 + "。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: len(device.times(PlayAudio)) > 20)
        device.put(WakeWord("Hi StackChan"))
        await anyio.sleep(0.01)
        assert device.commands(SpeechStopped) == [SpeechStopped(interrupted=True)]
        sent = len(device.sent)
        await anyio.sleep(5)
        assert len(device.sent) == sent


async def test_a_wake_word_in_silence_tells_the_device_nothing() -> None:
    house, device = make_house(["はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(WakeWord("Hi StackChan"))
        await anyio.sleep(1)
    assert device.sent == []


async def test_nothing_is_shown_of_a_turn_that_was_aborted_during_recognition() -> None:
    house, device = make_house(["はい。"], hears=FakeAsr("一", seconds=2.0)), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        device.put(Aborted())
        await anyio.sleep(5)
    assert device.commands() == [SpeechStopped(interrupted=True)]
    assert house.llm.prompts == []


async def test_an_abort_reaches_the_turns_that_are_still_being_recognised() -> None:
    asr = FakeAsr("一", AsrError("asr-failed", "no"), "三", seconds=2.0)
    house, device = make_house(["はい。"], hears=asr), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.8), voice(0.6), silence(0.7))
        device.put(Aborted())
        await anyio.sleep(6)
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: bool(device.commands(ShowTranscript)))
    assert device.commands(ShowTranscript) == [ShowTranscript("三")]


async def test_typed_text_does_not_wait_for_noise_to_end() -> None:
    house, device = make_house(["はい。"], hears=FakeAsr("")), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(3.0))  # goes on and on
        device.put(TextSaid("今何時"))
        asked = anyio.current_time()
        await until(lambda: bool(device.times(SpeechStarted)))
        assert anyio.current_time() - asked < 2


async def test_the_robot_is_still_deaf_right_after_typed_text_cut_it_short() -> None:
    house, device = make_house(["あ" * 50 + "。"], [3.0, "はい。"]), FakeDevice(mode="auto")
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: len(device.times(PlayAudio)) > 20)
        device.put(TextSaid("別の話"))
        await device.hear(voice(0.18), silence(1.0))  # the tail of its own voice
        await anyio.sleep(1)
    assert house.asr.heard == []


async def test_a_barge_in_after_the_last_word_leaves_the_reply_whole() -> None:
    house, device = make_house(["はい、そうです。"]), FakeDevice(mode="realtime")
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.times(PlayAudio)))
        await anyio.sleep(0.9)
        assert not device.times(SpeechStopped)
        device.put(TextSaid("次"))
        await anyio.sleep(0.1)
    assert [turn.interrupted for turn in house.recent.list()[:1]] == [False]
    assert house.recent.list()[0].heard == "はい、そうです。"


class HangingAsr(FakeAsr):
    """Takes everything in and never answers."""

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        async for _ in speech.chunks():
            pass
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_recogniser_that_hangs_is_given_up_with_an_apology() -> None:
    house = make_house(["はい。"], hears=HangingAsr(), asr={"timeout_seconds": 5})
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(4.0), silence(1.0))
        asked = anyio.current_time()
        await stops(device)
        assert anyio.current_time() - asked < 5 + 5
        device.put(TextSaid("もしもし"))
        await stops(device, 2)
    assert house.recent.list()[0].error == "asr-timeout"
    assert shown(device)[0].startswith("ごめんなさい")
    assert shown(device)[-1] == "はい。"


class MissingVad(FakeVad):
    def session(self) -> VadSession:
        raise EngineMissing("no model")


async def test_a_missing_voice_detector_is_spoken_of() -> None:
    house = FakeHouse(FakeAsr(), FakeLlm(["はい。"]), FakeTts(), Config(), MissingVad())
    device = FakeDevice()
    async with talking(house, device):
        await stops(device)
    assert shown(device) == ["ごめんなさい、必要な部品がまだ入っていません。"]


async def test_where_no_voice_speaks_the_language_the_persona_apologises_in_its_own() -> None:
    house, device = make_house(["你好。"]), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    device.language = "zh"
    house.tts.fails = lambda text: TtsError("tts-language-missing", "no")
    async with talking(house, device):
        device.put(TextSaid("你好"))
        await stops(device)
    assert shown(device) == [
        "ごめんなさい、今うまく答えられませんでした。もう一度お願いできますか。"
    ]
    assert not device.commands(Alert)


async def test_phrases_that_an_edit_broke_keep_what_they_last_said(tmp_path: Path) -> None:
    shutil.copytree(PROMPTS, tmp_path / "prompts")
    phrases = Phrases(PromptFiles(tmp_path / "prompts"))
    before = phrases.get("apology", "ja")
    file = tmp_path / "prompts" / "phrases.ja.yaml"
    for broken in (
        "apology: [",
        "- a list",
        "filler: x",
        "",
        "apology: x\nfiller: 2026-13-45",
        "apology: " + "[" * 5000,
        "apology: x\nfiller: [1, 2]",
    ):
        file.write_text(broken, encoding="utf-8")
        assert phrases.get("apology", "ja") == before
    file.write_text("apology: だめでした。", encoding="utf-8")
    assert phrases.get("apology", "ja") == "だめでした。"
    assert phrases.find("filler", "ja") is None


async def test_a_house_without_phrases_has_a_word_of_its_own(tmp_path: Path) -> None:
    house, device = make_house([RuntimeError("bug")]), FakeDevice()
    house.phrasebook._phrases = Phrases(PromptFiles(tmp_path))
    with pytest.raises(ConfigError):
        await house.phrasebook.prepare(("ja",))
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
        house.tts.fails = lambda text: TtsError("tts-failed", "no")
        device.put(TextSaid("もう一度"))
        await stops(device, 2)
    assert all(text.startswith("ごめんなさい、何と言えば") for text in shown(device))
    assert len(shown(device)) == 2
    assert not device.commands(Alert)


async def test_an_alert_tells_nobody_where_the_server_keeps_its_files(tmp_path: Path) -> None:
    house, device = make_house([RuntimeError("bug")]), FakeDevice()
    house.phrasebook._phrases = Phrases(PromptFiles(tmp_path))
    house.house = replace(house.house, prompts=PromptFiles(tmp_path))
    house.tts.fails = lambda text: TtsError("tts-failed", "no")
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.commands(Alert)))
        device.put(TextSaid("もう一度"))
        await until(lambda: len(device.commands(Alert)) == 2)
    assert [turn.error for turn in house.recent.list()] == ["prompt-missing"] * 2
    assert str(tmp_path) not in str(device.commands())


async def test_a_filler_is_not_the_first_sound_of_the_reply() -> None:
    house, device = make_house([10.0, "はい。"]), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    assert len(device.commands(SentenceStarted)) == 2
    first_audio_ms = house.recent.list()[0].first_audio_ms
    assert first_audio_ms is not None
    assert first_audio_ms >= 10_000


async def test_a_voice_piece_by_piece_is_closed_where_it_was_interrupted() -> None:
    class Piecewise(FakeTts):
        async def synthesize(self, text: str, voice_: object):  # type: ignore[no-untyped-def]
            self.open_streams += 1
            try:
                for _ in range(100):
                    await anyio.sleep(0.05)
                    yield Audio(voice(0.2, rate=24_000), 24_000)
            finally:
                self.open_streams -= 1

    house, device = make_house(["長い文です。"], voice=Piecewise()), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: len(device.times(PlayAudio)) > 5)
        device.put(Aborted())
        await anyio.sleep(0.1)
        assert house.tts.open_streams == 0


async def test_sound_is_kept_only_if_asked_for() -> None:
    for keeps in (False, True):
        house = make_house(["はい。"], recording={"keep_audio": keeps})
        device = FakeDevice()
        async with talking(house, device):
            await device.hear(silence(0.3), voice(0.6), silence(1.0))
            await stops(device)
        [turn] = house.recent.list()
        assert (turn.said_audio is not None, turn.reply_audio is not None) == (keeps, keeps)
        if turn.said_audio and turn.reply_audio:
            assert turn.said_audio.seconds >= 0.6
            assert turn.reply_audio.seconds == pytest.approx(len(device.times(PlayAudio)) * 0.06)


async def test_what_was_said_before_a_person_was_forgotten_is_not_handed_on_to_the_next_turn() -> (
    None
):
    house, device = make_house([5.0, "はい。"], ["うん。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("秘密の話"))
        await until(lambda: len(house.llm.prompts) == 1)
        with house.house.turns.forgetting(lambda turn: turn.person == device.person):
            pass
        device.put(TextSaid("次の話"))
        await stops(device)
    assert [turn.transcript.text for turn in house.recent.list() if turn.transcript] == ["次の話"]
    assert "秘密" not in house.llm.prompts[-1].messages[-1].content
