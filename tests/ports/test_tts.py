"""What every voice must do, and how the process of Piper is kept in step."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from server.audio import Audio, join
from server.config import Config, TtsSection
from server.errors import EngineMissing, TtsError
from server.ports import Tts, Voice
from server.trace import Turns
from server.tts import build
from server.tts.embedded import EmbeddedTts
from server.tts.openjtalk import OpenJTalk, tame
from server.tts.piper import Piper
from server.turn import Stage

# Open JTalk's own use of its dictionary package.
pytestmark = pytest.mark.filterwarnings("ignore:Dictionary.create:DeprecationWarning")

FAKE_PIPER = Path(__file__).with_name("fake_piper.py")
ENGLISH = Voice("en")


async def say(engine: Tts | Piper | OpenJTalk, text: str, voice: Voice) -> Audio:
    async with aclosing(engine.synthesize(text, voice)) as pieces:
        spoken = [piece async for piece in pieces]
    assert len({piece.rate for piece in spoken}) == 1
    return join(spoken, spoken[0].rate)


def fake_piper(tmp_path: Path, voice: str = "voice", first_audio_seconds: float = 20) -> Piper:
    path = tmp_path / f"{voice}.onnx"
    path.write_bytes(b"")
    Path(f"{path}.json").write_text('{"language": {"family": "en"}}')
    config = TtsSection(piper_voice=str(path), first_audio_seconds=first_audio_seconds)
    return Piper(config, tmp_path, FAKE_PIPER)


@pytest.fixture
async def piper(tmp_path: Path) -> AsyncIterator[Piper]:
    engine = fake_piper(tmp_path)
    yield engine
    await engine.aclose()


def lengths(audio: Audio) -> list[int]:
    return [len(audio.samples), *set(audio.samples.tolist())]


def pid(engine: Piper) -> int:
    assert engine._process is not None
    return engine._process._process.pid


async def test_the_process_is_kept_between_sentences(piper: Piper) -> None:
    assert lengths(await say(piper, "first one", ENGLISH)) == [9, 9]
    first = pid(piper)
    assert lengths(await say(piper, "second sentence", ENGLISH)) == [15, 15]
    assert pid(piper) == first


@pytest.mark.parametrize(
    "text", ['He said "no"', "two\nlines\r\n", "{}", "日本語 \U0001f600", "a\\", "\0"]
)
async def test_no_text_can_break_the_protocol(text: str, piper: Piper) -> None:
    assert lengths(await say(piper, text, ENGLISH)) == [len(text), len(text)]
    assert lengths(await say(piper, "next", ENGLISH)) == [4, 4]


async def test_a_process_that_dies_costs_one_sentence(piper: Piper) -> None:
    await say(piper, "alive", ENGLISH)
    first = pid(piper)
    with pytest.raises(TtsError, match="ended"):
        await say(piper, "die", ENGLISH)
    assert lengths(await say(piper, "again", ENGLISH)) == [5, 5]
    assert pid(piper) != first


async def test_a_process_that_died_unseen_is_replaced(piper: Piper) -> None:
    await say(piper, "alive", ENGLISH)
    assert piper._process is not None
    piper._process._process.kill()
    await piper._process._process.wait()
    assert lengths(await say(piper, "again", ENGLISH)) == [5, 5]


async def test_a_sentence_that_fails_leaves_the_process_running(piper: Piper) -> None:
    await say(piper, "alive", ENGLISH)
    first = pid(piper)
    with pytest.raises(TtsError, match="ValueError"):
        await say(piper, "fail", ENGLISH)
    assert lengths(await say(piper, "again", ENGLISH)) == [5, 5]
    assert pid(piper) == first


async def test_a_cancelled_sentence_is_not_heard_in_the_next(piper: Piper) -> None:
    await say(piper, "alive", ENGLISH)
    first = pid(piper)
    for _ in range(3):
        with anyio.move_on_after(0.05) as scope:
            await say(piper, "slow sentence that nobody wants any more", ENGLISH)
        assert scope.cancelled_caught
    assert lengths(await say(piper, "wanted", ENGLISH)) == [6, 6]
    assert pid(piper) == first


async def test_a_sentence_that_is_cancelled_before_it_is_sent_holds_up_no_other(
    piper: Piper,
) -> None:
    await say(piper, "alive", ENGLISH)
    first = pid(piper)
    assert piper._process is not None
    with anyio.CancelScope() as scope:
        scope.cancel()
        await piper._process.speak("nobody wants this one", 1.0)
    assert scope.cancelled_caught
    assert lengths(await say(piper, "wanted", ENGLISH)) == [6, 6]
    assert pid(piper) == first


async def test_a_caller_that_is_cancelled_while_the_voice_loads_spoils_nothing(
    piper: Piper,
) -> None:
    with anyio.move_on_after(0.001):
        await say(piper, "too early", ENGLISH)
    assert lengths(await say(piper, "now", ENGLISH)) == [3, 3]


async def test_a_process_that_hangs_is_replaced(tmp_path: Path) -> None:
    piper = fake_piper(tmp_path, first_audio_seconds=5)
    await say(piper, "alive", ENGLISH)
    first = pid(piper)
    with pytest.raises(TtsError, match="first_audio_seconds") as caught:
        await say(piper, "hang", ENGLISH)
    assert caught.value.code == "tts-timeout"
    assert lengths(await say(piper, "again", ENGLISH)) == [5, 5]
    assert pid(piper) != first
    await piper.aclose()


async def test_closing_ends_the_process_and_the_sentence(tmp_path: Path) -> None:
    piper = fake_piper(tmp_path)
    await say(piper, "alive", ENGLISH)
    assert piper._process is not None
    process = piper._process._process

    async def hang() -> None:
        with pytest.raises(TtsError):
            await say(piper, "hang", ENGLISH)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hang)
        await anyio.wait_all_tasks_blocked()
        await piper.aclose()
    assert process.returncode is not None
    with pytest.raises(TtsError, match="closed"):
        await say(piper, "after the end", ENGLISH)


@pytest.mark.parametrize("voice", ["broken", "mute"])
async def test_a_voice_that_cannot_be_loaded_is_an_error_each_time(
    voice: str, tmp_path: Path
) -> None:
    piper = fake_piper(tmp_path, voice)
    for _ in range(2):
        with pytest.raises((EngineMissing, TtsError)):
            await piper.warm_up()
    await piper.aclose()


async def test_a_missing_voice_file_is_named(tmp_path: Path) -> None:
    piper = Piper(TtsSection(piper_voice=str(tmp_path / "none.onnx")), tmp_path, FAKE_PIPER)
    assert piper.language() is None
    with pytest.raises(EngineMissing, match=r"none\.onnx"):
        await piper.warm_up()


async def test_sentences_of_several_devices_wait_for_each_other(piper: Piper) -> None:
    class WallClock:
        def now(self) -> datetime:
            return datetime(2026, 5, 3, tzinfo=UTC)

    heard: list[list[int]] = []
    waits: list[float] = []

    async def speak(text: str) -> None:
        with Turns(WallClock()).record("device", "person") as turn:
            heard.append(lengths(await say(piper, text, ENGLISH)))
        waits.append(turn.stages_ms[Stage.TTS_QUEUE])

    await say(piper, "alive", ENGLISH)
    async with anyio.create_task_group() as devices:
        devices.start_soon(speak, "slow one")
        devices.start_soon(speak, "slow and the second")
    assert sorted(heard) == [[8, 8], [19, 19]]
    assert max(waits) >= 200


def test_no_part_of_this_process_imports_the_gpl_engine() -> None:
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    program = (
        "import sys; from pathlib import Path; from server.config import Config; from server.tts import build\n"
        "build(Config(), Path('x')).languages(); print([m for m in sys.modules if m.startswith('piper')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


@given(
    arrays.arrays(
        np.float64,
        st.integers(0, 3000),
        elements=st.floats(allow_nan=True, allow_infinity=True) | st.floats(-60000, 60000),
    )
)
def test_no_wave_overflows(wave: np.ndarray) -> None:
    samples = tame(wave, 48000)
    assert samples.dtype == np.int16
    assert len(samples) == len(wave)
    assert not len(samples) or np.abs(samples.astype(int)).max() <= 32000


def test_a_wave_that_fits_is_not_touched() -> None:
    wave = 20000 * np.sin(np.arange(4800) / 20)
    assert np.array_equal(tame(wave, 48000), wave.astype(np.int16))


def test_a_filter_that_ran_away_becomes_silent_and_the_rest_stays() -> None:
    wave = 10000 * np.sin(np.arange(48000) / 20)
    wave[24000:24480] *= 1e60
    tamed = tame(wave, 48000)
    assert not tamed[24000:24480].any()
    assert np.array_equal(tamed[:22000], wave[:22000].astype(np.int16))
    assert np.array_equal(tamed[26000:], wave[26000:].astype(np.int16))


async def test_a_language_without_a_voice_is_refused(tmp_path: Path) -> None:
    engine = build(Config(), tmp_path)
    with pytest.raises(TtsError) as caught:
        await say(engine, "안녕하세요", Voice("ko"))
    assert caught.value.code == "tts-language-missing"
    await engine.aclose()


def test_a_voice_file_decides_which_language_piper_speaks(tmp_path: Path) -> None:
    path = tmp_path / "huayan.onnx"
    path.write_bytes(b"")
    Path(f"{path}.json").write_text('{"language": {"family": "zh"}}')
    engine = EmbeddedTts(TtsSection(piper_voice=str(path)), ["ja"], tmp_path)
    assert engine.languages() == ("ja", "zh")


SENTENCES = {
    "ja": ("明日の天気は晴れです。", "日本の首都は東京です。とても大きな町です。"),
    "en": ("It will be sunny tomorrow.", "The capital is Tokyo. It is a very big town."),
}


@pytest.fixture(scope="module", params=list(SENTENCES))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def tts(models: Path) -> AsyncIterator[Tts]:
    engine = build(Config(), models)
    yield engine
    await engine.aclose()


@pytest.mark.model
async def test_speaks_each_of_its_languages(tts: Tts, language: str) -> None:
    assert language in tts.languages()
    short, long = SENTENCES[language]
    spoken = [await say(tts, text, Voice(language)) for text in (short, long)]
    assert 0.8 < spoken[0].seconds < spoken[1].seconds < 8
    assert all(np.abs(audio.samples.astype(int)).max() > 5000 for audio in spoken)


@pytest.mark.model
async def test_speed_changes_the_length(tts: Tts, language: str) -> None:
    text = SENTENCES[language][1]
    fast = await say(tts, text, Voice(language, speed=1.5))
    slow = await say(tts, text, Voice(language, speed=0.75))
    assert fast.seconds < 0.7 * slow.seconds


@pytest.mark.model
async def test_a_sentence_after_a_cancelled_one_is_whole(tts: Tts, language: str) -> None:
    short, long = SENTENCES[language]
    whole = await say(tts, short, Voice(language))
    with anyio.move_on_after(0.01):
        await say(tts, long * 3, Voice(language))
    again = await say(tts, short, Voice(language))
    assert again.seconds == pytest.approx(whole.seconds, rel=0.2)


@pytest.mark.model
async def test_warming_up_may_be_repeated(tts: Tts) -> None:
    await tts.warm_up()
    await tts.warm_up()


@pytest.mark.model
async def test_speakers_at_the_same_time_get_their_own_sentence(tts: Tts, language: str) -> None:
    spoken: dict[str, float] = {}

    async def speak(text: str) -> None:
        spoken[text] = (await say(tts, text, Voice(language))).seconds

    short, long = SENTENCES[language]
    async with anyio.create_task_group() as devices:
        for text in (short, long):
            devices.start_soon(speak, text)
    assert spoken[short] < spoken[long]


@pytest.mark.model
@pytest.mark.parametrize(
    "text", ["ああああああああああああああ！", "Pythonとラブが好きです。", "a" * 60]
)
async def test_the_japanese_voice_survives_what_makes_its_filter_run_away(text: str) -> None:
    audio = await say(OpenJTalk(20), text, Voice("ja"))
    assert audio.rate == 48000
    loud = np.abs(audio.samples.astype(int)) >= 31900
    assert loud.mean() < 0.05


@pytest.mark.model
async def test_a_sentence_without_a_sound_is_an_error() -> None:
    with pytest.raises(TtsError) as caught:
        await say(OpenJTalk(20), "…", Voice("ja"))
    assert caught.value.code == "tts-empty"


@pytest.mark.model
async def test_english_without_piper_is_read_by_the_japanese_voice(tmp_path: Path) -> None:
    config = TtsSection(piper_voice=str(tmp_path / "missing.onnx"))
    engine = EmbeddedTts(config, ["ja", "en"], tmp_path)
    assert engine.languages() == ("ja",)
    with pytest.raises(EngineMissing, match=r"missing\.onnx"):
        await engine.warm_up()  # so that the owner hears of it
    assert (await say(engine, "Hello, I love you.", ENGLISH)).seconds > 0.5
