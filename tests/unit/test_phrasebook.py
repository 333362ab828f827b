"""Phrases: in the voice of the replies, from stock when the voice fails, and in the worst case built in."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import structlog

from server.audio import Audio
from server.config import TtsSection
from server.errors import ConfigError, TtsError
from server.phrasebook import Phrasebook
from server.ports import Voice
from server.prompting import Phrases, PromptFiles
from tests.fakes import PROMPTS, FakeTts
from tests.fakes import voice as tone

RATE = 24_000


class VoicesTts(FakeTts):
    """Speaks with every voice but those that it is told to refuse, and remembers with which."""

    def __init__(self, *refused: str) -> None:
        super().__init__()
        self.refused = refused
        self.voices: list[Voice] = []

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        if voice_.name in self.refused:
            raise TtsError("tts-language-missing", "no")
        self.voices.append(voice_)
        yield Audio(tone(0.1 + len(voice_.name) / 10, rate=RATE), RATE)


def book(tts: FakeTts, folder: Path = PROMPTS, speed: float = 1.0) -> Phrasebook:
    return Phrasebook(Phrases(PromptFiles(folder)), tts, "ja", TtsSection(speed=speed))


async def test_an_apology_has_the_voice_and_speed_of_the_replies() -> None:
    tts = VoicesTts()
    phrases = book(tts, speed=1.5)
    await phrases.prepare(("ja",))
    tts.voices.clear()
    part = await phrases.part("apology", "ja", RATE, name="mei")
    assert tts.voices == [Voice("ja", "mei", 1.5)]
    assert len(part.samples) == 0.4 * RATE


async def test_phrases_are_prepared_at_the_speed_and_in_the_voices_that_are_in_use() -> None:
    tts = VoicesTts()
    phrases = book(tts, speed=1.5)
    await phrases.prepare(("ja",), ("mei", "", "mei"))
    assert set(tts.voices) == {Voice("ja", "", 1.5), Voice("ja", "mei", 1.5)}
    count = len(tts.voices)
    filler = phrases.ready("filler", "ja", RATE, name="mei")
    assert filler is not None
    assert len(filler.samples) == 0.4 * RATE
    assert len(tts.voices) == count


async def test_a_filler_that_a_voice_never_spoke_comes_in_the_usual_one() -> None:
    tts = VoicesTts("mei")
    phrases = book(tts)
    await phrases.prepare(("ja",), ("mei",))
    filler = phrases.ready("filler", "ja", RATE, name="mei")
    assert filler is not None
    assert len(filler.samples) == 0.1 * RATE
    apology = await phrases.part("rest-missing", "ja", RATE, name="mei")
    assert apology.sentence is not None
    assert apology.sentence.text.endswith("うまく言えませんでした。")


@pytest.mark.parametrize("language", ["ja", "en", "zh", "fr"])
async def test_without_a_file_of_phrases_there_are_built_in_words_and_no_filler(
    language: str, tmp_path: Path
) -> None:
    phrases = book(FakeTts(), tmp_path)
    with pytest.raises(ConfigError):
        await phrases.prepare((language,))
    part = await phrases.part("apology", language, RATE)
    assert part.sentence is not None
    assert part.sentence.text == phrases.text("llm-timeout", language)
    assert str(tmp_path) not in part.sentence.text
    assert phrases.ready("filler", language, RATE) is None


async def test_a_broken_file_is_named_in_the_log(tmp_path: Path) -> None:
    file = tmp_path / "phrases.en.yaml"
    file.write_text("apology: Sorry.", encoding="utf-8")
    phrases = Phrases(PromptFiles(tmp_path))
    phrases.get("apology", "fr")
    file.write_text("- a list", encoding="utf-8")
    with structlog.testing.capture_logs() as lines:
        assert phrases.get("apology", "fr") == "Sorry."
    assert [line["file"] for line in lines if line["event"] == "phrases-broken"] == [file.name]
