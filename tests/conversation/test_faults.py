"""Engines that fail in a turn: never silence, never history, and as much of the reply as there is. In virtual time."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from firmware_bridge.events import (
    Alert,
    PlayAudio,
    SentenceStarted,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
)
from server.audio import Audio
from server.errors import AsrError, LlmError, TtsError
from server.ports import Speech, Voice
from server.speaking import LONGEST_SENTENCE_SECONDS
from server.turn import Transcript
from tests.fakes import FakeAsr, FakeDevice, FakeTts, silence, voice
from tests.talks import check_states, make_house, shown, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend

FILLER = "ええと"


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


LLM_FAULTS = [
    LlmError("llm-unreachable", "no"),
    LlmError("llm-timeout", "no"),
    LlmError("llm-refused", "no"),
    RuntimeError("a bug"),
]


@pytest.mark.parametrize("fault", LLM_FAULTS, ids=lambda fault: getattr(fault, "code", "bug"))
async def test_a_failing_model_is_excused_aloud_and_never_becomes_history(fault: Exception) -> None:
    house, device = make_house([fault], ["はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("今日は何日"))
        await until(lambda: SpeechStopped() in device.commands())
        device.put(TextSaid("もしもし"))
        await until(lambda: len(device.times(SpeechStopped)) == 2)
    assert device.commands(SentenceStarted)[0].text.startswith("ごめんなさい")  # type: ignore[union-attr]
    assert device.times(PlayAudio)
    failed = house.recent.list()[0]
    assert failed.error == getattr(fault, "code", "internal-error")
    assert failed.heard == ""
    assert len(house.llm.prompts[1].messages) == 1


async def test_a_model_that_dies_in_mid_reply_lets_finished_sentences_be_heard() -> None:
    house, device = (
        make_house(["最初の文。", "二番目の", LlmError("llm-failed", "no")]),
        FakeDevice(),
    )
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts[0] == "最初の文。"
    assert texts[-1] == "ごめんなさい、続きがうまく言えませんでした。"
    assert len(device.times(SpeechStarted)) == len(device.times(SpeechStopped)) == 1


async def test_an_empty_reply_is_excused() -> None:
    house, device = make_house(["<think>長い考え"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    assert house.recent.list()[0].error == "llm-empty"
    assert device.times(PlayAudio)


async def test_a_voice_that_fails_is_excused_from_stock() -> None:
    house, device = make_house(["はい。"]), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    house.tts.fails = lambda text: TtsError("tts-failed", "no")
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    assert device.times(PlayAudio)
    assert not device.commands(Alert)


async def test_a_voice_that_never_worked_gives_an_alert_instead_of_silence() -> None:
    house, device = make_house(["はい。"]), FakeDevice()
    house.tts.fails = lambda text: TtsError("tts-failed", "no")
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.commands(Alert)))
    assert device.commands(SpeechStarted, SpeechStopped) == []


@pytest.mark.parametrize("bad", [0, 1, 2])
async def test_one_sentence_without_sound_does_not_take_the_others_along(bad: int) -> None:
    sentences = ["一つ目。", "二つ目。", "三つ目。"]
    house, device = make_house(sentences), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    house.tts.fails = lambda text: (
        TtsError("tts-timeout", "no") if text.startswith(sentences[bad][:2]) else None
    )
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts[:2] == [text for text in sentences if text != sentences[bad]]
    assert len(device.times(SpeechStopped)) == 1
    assert house.recent.list()[0].error == "tts-timeout"


async def test_failed_recognition_is_excused_aloud() -> None:
    house = make_house(["はい。"], hears=FakeAsr(AsrError("asr-failed", "no")))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: SpeechStopped() in device.commands())
    assert house.recent.list()[0].error == "asr-failed"


async def test_a_voice_with_a_bug_spares_the_other_sentences() -> None:
    house, device = make_house(["一つ目。", "二つ目。", "三つ目。"]), FakeDevice()
    await house.phrasebook.prepare(("ja",))

    def fail(text: str) -> None:
        if text.startswith("二"):
            raise ZeroDivisionError

    house.tts.fails = fail
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts[:2] == ["一つ目。", "三つ目。"]
    assert house.recent.list()[0].error == "tts-failed"


class StuckTts(FakeTts):
    """Gives so many pieces for a sentence with the word "最後", and then nothing any more."""

    def __init__(self, pieces: int) -> None:
        super().__init__()
        self.pieces = pieces

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        if "最後" not in text:
            async for piece in super().synthesize(text, voice_):
                yield piece
            return
        self.open_streams += 1
        try:
            for _ in range(self.pieces):
                yield Audio(voice(0.5, rate=48_000), 48_000)
            await anyio.sleep_forever()
        finally:
            self.open_streams -= 1


@pytest.mark.parametrize("pieces", [0, 2])
@pytest.mark.parametrize("before", [[], ["一つ目の文。"]], ids=["alone", "behind another"])
async def test_a_voice_that_hangs_ends_the_reply_with_what_was_said_and_an_apology(
    before: list[str], pieces: int
) -> None:
    house = make_house([*before, "最後の文。", "もう来ない文。"], voice=StuckTts(pieces))
    device = FakeDevice()
    await house.phrasebook.prepare(("ja",))
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    check_states(device)
    said = [*before, *(["最後の文。"] if pieces else [])]
    assert [text for text in shown(device) if not text.startswith(FILLER)][:-1] == said
    assert shown(device)[-1].startswith("ごめんなさい")
    assert "もう来ない文。" not in [text for text, _ in house.tts.spoken]
    assert house.recent.list()[0].error == "tts-stalled"
    assert house.tts.open_streams == 0


async def test_a_phrase_that_the_voice_hangs_on_is_replaced_by_one_from_stock() -> None:
    house, device = make_house(["最後の文。"], voice=StuckTts(0)), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    house.phrasebook._phrases._known["ja"].phrases["tts-stalled"] = "これが最後です。"
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    assert shown(device)[-1].startswith("ごめんなさい")


async def test_a_voice_that_never_ends_is_cut_off() -> None:
    house, device = make_house(["最後の文。"], voice=StuckTts(10_000)), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.times(SpeechStopped)), 300)
    assert house.recent.list()[0].error == "tts-endless"
    assert len(device.times(PlayAudio)) * 0.06 < LONGEST_SENTENCE_SECONDS + 10


async def test_one_piece_of_sound_without_end_is_not_played() -> None:
    house, device = make_house(["一つ目の文。", "長い文。"]), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    house.tts.seconds_per_char = 100.0
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    assert house.recent.list()[0].error == "tts-endless"
    assert shown(device)[-1].startswith("ごめんなさい")


async def test_a_voice_with_a_bug_in_the_apology_itself_gives_an_alert() -> None:
    house, device = make_house(["はい。"]), FakeDevice()

    def fail(text: str) -> None:
        raise ZeroDivisionError

    house.tts.fails = fail
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.commands(Alert)))
        device.put(TextSaid("もう一度"))
        await until(lambda: len(device.commands(Alert)) == 2)


class StrangeAsr(FakeAsr):
    """Returns what no recogniser should."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        await super().transcribe(speech, language)
        return self.result  # type: ignore[return-value]


@pytest.mark.parametrize("result", [None, "text", Transcript(None, "ja")])  # type: ignore[arg-type]
async def test_a_recogniser_that_returns_nonsense_is_excused_aloud(result: object) -> None:
    house, device = make_house(["はい。"], hears=StrangeAsr(result)), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await stops(device)
        device.put(TextSaid("もしもし"))
        await stops(device, 2)
    assert [turn.error for turn in house.recent.list()] == ["asr-failed", ""]
    assert shown(device)[0].startswith("ごめんなさい")


@pytest.mark.parametrize("language", [None, "../../../etc/passwd", "JA", ""])
async def test_a_language_that_is_none_does_not_reach_the_files(language: str) -> None:
    house = make_house(["はい。"], hears=StrangeAsr(Transcript("こんにちは", language)))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await stops(device)
    [turn] = house.recent.list()
    assert (turn.error, turn.transcript) == ("", Transcript("こんにちは", "ja"))


async def test_broken_characters_do_not_reach_the_robot() -> None:
    house = make_house(["は\ud800い。"], hears=StrangeAsr(Transcript("あ\ud800い", "ja")))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await stops(device)
        device.put(TextSaid("\udfffう"))
        await stops(device, 2)
    assert [text.text for text in device.commands(ShowTranscript)] == ["あい", "う"]  # type: ignore[union-attr]
    assert shown(device) == ["はい。", "はい。"]
