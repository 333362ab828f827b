"""Public fault reports, group 11: clock, time zone and language, through whole turns. In virtual time."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import pytest

from firmware_bridge.events import ShowTranscript, TextSaid
from server.app import open_app
from server.config import Config
from server.conversation import Engines
from server.errors import LlmError
from server.ports import Speech
from server.prompting import time_line
from server.turn import Transcript
from tests.fakes import (
    FakeAsr,
    FakeDevice,
    FakeEmbedder,
    FakeHouse,
    FakeLlm,
    FakeTts,
    FakeVad,
    silence,
    voice,
)
from tests.talks import make_house, shown, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


@pytest.fixture
def set_machine_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Change the time zone of the machine, as a container does."""

    def set_zone(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no time zone in TZ")
@pytest.mark.parametrize("machine", ["UTC", "America/New_York"])
async def test_the_model_is_told_the_time_of_the_configured_zone(
    machine: str, set_machine_zone: Callable[[str], None], tmp_path: Path
) -> None:
    """X#1041, F#1676, F#2098: the clock was 8 h off where the machine runs in UTC."""
    set_machine_zone(machine)
    llm = FakeLlm(["三時です。"])
    engines = Engines(FakeVad(), FakeAsr(), llm, FakeTts())
    config = Config(server={"timezone": "Asia/Tokyo"})
    async with (
        open_app(config, tmp_path, engines, FakeEmbedder()) as app,
        anyio.create_task_group() as tasks,
    ):
        device = FakeDevice()
        tasks.start_soon(app.converse, device)
        before = datetime.now(ZoneInfo("Asia/Tokyo"))  # noqa: TID251 - the program reads the same clock
        device.put(TextSaid("今何時ですか"))
        await stops(device)
        after = datetime.now(ZoneInfo("Asia/Tokyo"))  # noqa: TID251
        device.hang_up()
    device.close()
    told = llm.prompts[0].messages[-1].content
    assert time_line(before, "ja") in told or time_line(after, "ja") in told


class ZonedClock:
    """Wall time in a zone, from a fixed moment on, with the loop's clock."""

    def __init__(self, start: datetime) -> None:
        self.start = start.astimezone(UTC)
        self.zone = start.tzinfo
        self.began = anyio.current_time()

    def now(self) -> datetime:
        passed = timedelta(seconds=anyio.current_time() - self.began)
        return (self.start + passed).astimezone(self.zone)


NEW_YORK = ZoneInfo("America/New_York")


def in_new_york(house: FakeHouse, moment: str) -> None:
    clock = ZonedClock(datetime.fromisoformat(moment).replace(tzinfo=NEW_YORK))
    house.house = replace(house.house, clock=clock)
    house.house.turns._clock = clock


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("2026-03-08T01:59", "It is 03:00 (America/New_York)"),
        ("2026-11-01T01:59", "It is 01:00 (America/New_York)"),
    ],
)
async def test_the_time_jumps_with_the_clocks_of_the_zone(start: str, told: str) -> None:
    """X PR#225, X PR#3195."""
    house, device = make_house(["It is late."]), FakeDevice()
    in_new_york(house, start)
    async with talking(house, device):
        await anyio.sleep(61)
        device.put(TextSaid("What time is it now?"))
        await stops(device)
    content = house.llm.prompts[0].messages[-1].content
    assert told in content
    assert "Today is Sunday" in content
    assert "tomorrow is Monday" in content


@pytest.mark.parametrize(
    ("start", "pause_minutes", "remembered"),
    [
        ("2026-03-08T01:58", 5, True),
        ("2026-03-08T01:58", 15, False),
        ("2026-11-01T01:58", 5, True),
        ("2026-11-01T01:58", 15, False),
    ],
)
async def test_the_talk_goes_on_for_ten_minutes_even_while_clocks_change(
    start: str, pause_minutes: int, remembered: bool
) -> None:
    """X PR#225: wall time is no measure of a pause."""
    house, device = make_house(["はい。"]), FakeDevice()
    in_new_york(house, start)
    async with talking(house, device):
        device.put(TextSaid("一"))
        await stops(device)
        await anyio.sleep(60 * pause_minutes)
        device.put(TextSaid("二"))
        await stops(device, 2)
    assert (len(house.llm.prompts[1].messages) == 3) is remembered


@pytest.mark.parametrize("text", ["", "。", " ", "\n", "…", "！？", "ーー", "♪♪", "(music)"])
async def test_a_recogniser_that_finds_no_word_ends_the_turn_quietly(text: str) -> None:
    """X PR#1498, X#1471: an empty result broke the flow."""
    house, device = make_house(["はい。"], hears=FakeAsr(text, "おはよう")), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.4))
        assert device.sent == []
        await device.hear(voice(0.6), silence(1.0))
        await stops(device)
    assert device.commands(ShowTranscript) == [ShowTranscript("おはよう")]
    assert len(house.llm.prompts) == 1


@pytest.mark.parametrize("text", ["はい", "OK", "うん"])
async def test_a_fixed_language_holds_for_short_speech(text: str) -> None:
    """X#3246, SenseVoice#72 and #252: a short word was taken for another language."""
    house, device = make_house(["OK。"], hears=FakeAsr(text)), FakeDevice()
    device.language = "ja"
    async with talking(house, device):
        await device.hear(voice(0.4), silence(1.0))
        await stops(device)
    assert house.asr.languages == ["ja"]
    assert house.llm.prompts[0].language == "ja"
    assert {language for _, language in house.tts.spoken} == {"ja"}


class EnglishAsr(FakeAsr):
    """Hears that English is spoken."""

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        return replace(await super().transcribe(speech, language), language="en")


@pytest.mark.parametrize("by", ["voice", "text"])
async def test_who_asks_in_english_is_answered_in_english_even_in_a_japanese_household(
    by: str,
) -> None:
    """X#2109."""
    question = "What can you do for me?"
    house = make_house(["I can talk."], hears=EnglishAsr(question))
    device = FakeDevice()
    async with talking(house, device):
        if by == "voice":
            await device.hear(voice(0.6), silence(1.0))
        else:
            device.put(TextSaid(question))
        await stops(device)
    assert house.llm.prompts[0].language == "en"
    assert "Use spoken English" in house.llm.prompts[0].system
    assert house.tts.spoken == [("I can talk.", "en")]


async def test_an_apology_is_in_the_language_of_the_question() -> None:
    """X#2109."""
    house = make_house([LlmError("llm-failed", "no")], hears=EnglishAsr("What time is it?"))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: bool(shown(device)))
        await stops(device)
    assert shown(device)[0].startswith("Sorry")
    assert {language for _, language in house.tts.spoken} == {"en"}
