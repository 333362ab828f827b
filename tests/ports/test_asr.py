"""What every recogniser must do."""

from pathlib import Path

import anyio
import numpy as np
import pytest

from server.asr import build
from server.audio import LISTENING_RATE, Audio, Samples
from server.config import Config
from server.ports import Asr
from server.tts.openjtalk import tame
from tests.ports.said import Said

# Open JTalk's own use of its dictionary package.
pytestmark = pytest.mark.filterwarnings("ignore:Dictionary.create:DeprecationWarning")

ENGINES = ("whisper",)


@pytest.fixture(scope="module", params=ENGINES)
def asr(request: pytest.FixtureRequest, models: Path) -> Asr:
    return build(Config(asr={"engine": request.param}), models)


@pytest.mark.model
async def test_recognises_and_detects_japanese(asr: Asr, japanese: Samples) -> None:
    transcript = await asr.transcribe(Said(japanese), None)
    assert transcript.text.rstrip("。") == "明日の天気を教えてください"
    assert transcript.language == "ja"


@pytest.mark.model
async def test_recognises_and_detects_english(asr: Asr, english: Samples) -> None:
    transcript = await asr.transcribe(Said(english), None)
    assert "weather going to be like tomorrow" in transcript.text
    assert transcript.language == "en"


@pytest.mark.model
async def test_a_given_language_is_kept(asr: Asr, japanese: Samples) -> None:
    assert (await asr.transcribe(Said(japanese), "ja")).language == "ja"
    assert (await asr.transcribe(Said(japanese), "en")).language == "en"


def _hiss(level: float, seconds: float = 2.0) -> Samples:
    noise = np.random.default_rng(3).normal(0, level, int(seconds * LISTENING_RATE))
    return np.clip(noise, -32768, 32767).astype(np.int16)


def _tone(hertz: float) -> Samples:
    times = np.arange(2 * LISTENING_RATE) / LISTENING_RATE
    return (3000 * np.sin(times * 2 * np.pi * hertz)).astype(np.int16)


TALK = (
    ("東京", "昨日は東京の友達に会いに行きました。"),
    ("電車", "電車がとても混んでいて大変でした。"),
    ("カレー", "お昼には駅の前でカレーを食べました。"),
    ("公園", "そのあと大きな公園をゆっくり散歩しました。"),
    ("写真", "花がきれいだったので写真をたくさん撮りました。"),
    ("コーヒー", "疲れたので喫茶店でコーヒーを飲みました。"),
    ("映画", "来週の土曜日には映画を見る予定です。"),
    ("仕事", "明日の朝は早いので今日は仕事を休みます。"),
    ("犬", "隣の家の犬がよく鳴いています。"),
    ("天気", "明日の天気を教えてください。"),
    ("音楽", "音楽を少し小さくしてください。"),
    ("ありがとう", "いつも話を聞いてくれてありがとう。"),
)
TALK_WORDS = [word for word, _ in TALK]


@pytest.fixture(scope="module")
def talk() -> list[Samples]:
    import pyopenjtalk  # noqa: PLC0415 - only the tests of real models need it

    waves = [pyopenjtalk.tts(sentence) for _, sentence in TALK]
    return [Audio(tame(wave, rate), rate).at(LISTENING_RATE).samples for wave, rate in waves]


NOISES: dict[str, Samples] = {
    "silence": np.zeros(2 * LISTENING_RATE, np.int16),
    "faint-hiss": _hiss(10),
    "hiss": _hiss(300),
    "loud-hiss": _hiss(6000),
    "short-hiss": _hiss(300, 0.6),
    "long-hiss": _hiss(3000, 8),
    "hum": _tone(50),
    "tone": _tone(440),
    "knocks": np.where(np.arange(32000) % 8000 < 200, _hiss(9000), 0).astype(np.int16),
    "click": np.concatenate([np.zeros(8000), [32767], np.zeros(16000)]).astype(np.int16),
    "nothing": np.zeros(0, np.int16),
    "an-instant": np.ones(100, np.int16),
}


@pytest.mark.model
@pytest.mark.parametrize("noise", NOISES)
async def test_nobody_is_heard_in_noise(noise: str, asr: Asr) -> None:
    transcript = await asr.transcribe(Said(NOISES[noise]), None)
    assert not transcript, transcript.text


@pytest.mark.model
@pytest.mark.parametrize("level", [1.0, 0.02])
async def test_the_silence_at_the_end_does_not_matter(
    level: float, asr: Asr, japanese: Samples
) -> None:
    quiet = (japanese * level).astype(np.int16)
    spoken = np.concatenate((quiet, np.zeros(10000, np.int16)))
    transcript = await asr.transcribe(Said(spoken, 10000), None)
    assert transcript.text.rstrip("。") == "明日の天気を教えてください"


@pytest.mark.model
@pytest.mark.parametrize("level", [1.0, 0.1, 0.005])
async def test_quiet_speech_is_understood_as_well(
    level: float, asr: Asr, japanese: Samples, english: Samples
) -> None:
    quiet = [(samples * level).astype(np.int16) for samples in (japanese, english)]
    transcripts = [await asr.transcribe(Said(samples), None) for samples in quiet]
    assert "天気を教えて" in transcripts[0].text
    assert "weather going to be like tomorrow" in transcripts[1].text


@pytest.mark.model
@pytest.mark.parametrize("count", [3, 6, 12])
async def test_a_long_talk_is_heard_to_its_end(count: int, asr: Asr, talk: list[Samples]) -> None:
    """Up to 45 seconds: one window, a full one, and two."""
    gap = np.zeros(LISTENING_RATE // 2, np.int16)
    spoken = np.concatenate([piece for sentence in talk[:count] for piece in (sentence, gap)])
    transcript = await asr.transcribe(Said(spoken), None)
    assert transcript.language == "ja"
    found = [word in transcript.text for word in TALK_WORDS[:count]]
    assert sum(found) >= count - 1, transcript.text
    assert len(transcript.text) < 25 * count


@pytest.mark.model
async def test_speakers_at_the_same_time_get_their_own_words(
    asr: Asr, japanese: Samples, english: Samples
) -> None:
    texts: dict[str, str] = {}

    async def transcribe(language: str, samples: Samples) -> None:
        texts[language] = (await asr.transcribe(Said(samples), None)).text

    async with anyio.create_task_group() as speakers:
        speakers.start_soon(transcribe, "ja", japanese)
        speakers.start_soon(transcribe, "en", english)
    assert "天気" in texts["ja"]
    assert "weather" in texts["en"]


@pytest.mark.model
async def test_warming_up_while_in_use_and_closing(models: Path, japanese: Samples) -> None:
    engine = build(Config(), models)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.warm_up)
        assert await engine.transcribe(Said(japanese), None)
    await engine.aclose()
