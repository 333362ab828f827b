"""Texts that are too long, from people and from models: cut, shown so, and never in the way of others. In virtual time."""

from collections.abc import AsyncGenerator

import anyio
import pytest
from structlog.testing import capture_logs

from firmware_bridge.events import Aborted, ShowTranscript, TextSaid
from server.ports import LlmEvent, TextDelta
from server.sentences import LONGEST_REPLY
from server.turn import Prompt
from tests.fakes import FakeAsr, FakeDevice, FakeTts, silence, voice
from tests.talks import make_house, shown, stops, talking
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def shown_questions(device: FakeDevice) -> list[str]:
    return [command.text for command in device.commands(ShowTranscript)]  # type: ignore[union-attr]


@pytest.mark.parametrize("way", ["typed", "spoken"])
async def test_of_a_question_that_is_too_long_the_end_counts(way: str) -> None:
    text = "あ" * 20_000 + "これは何"
    house, device = (
        make_house(["はい。"], hears=FakeAsr(text), limits={"text_chars": 100}),
        FakeDevice(),
    )
    async with talking(house, device):
        if way == "typed":
            device.put(TextSaid(text))
        else:
            await device.hear(voice(6.0), silence(1.0))
        await stops(device)
        device.put(TextSaid("次"))
        await stops(device, 2)
    asked = shown_questions(device)[0]
    assert asked == "あ" * 96 + "これは何"
    assert house.llm.prompts[0].messages[-1].content.endswith("</now>\n" + asked)
    assert house.llm.prompts[1].messages[0].content == asked
    assert len(house.recent.list()[0].query) <= 100


async def test_a_long_question_that_is_never_answered_is_not_kept_whole_either() -> None:
    house, device = make_house([5.0, "はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("あ" * 20_000))
        device.put(Aborted())
        await anyio.sleep(1)
    [turn] = house.recent.list()
    assert turn.transcript is not None
    assert len(turn.transcript.text) == 1000


async def test_the_length_of_a_question_is_a_setting() -> None:
    house, device = make_house(["はい。"], limits={"text_chars": 100}), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("a" * 200))
        await stops(device)
    assert shown_questions(device) == ["a" * 100]


async def test_a_question_that_was_cut_is_told_to_the_house_without_a_word_of_it() -> None:
    house, device = make_house(["はい。"], limits={"text_chars": 100}), FakeDevice()
    with capture_logs() as logs:
        async with talking(house, device):
            for text in ("a" * 100, "b" * 200):
                device.put(TextSaid(text))
                await stops(device, len(house.llm.prompts) + 1)
    [entry] = [entry for entry in logs if entry["event"] == "text-cut"]
    assert (entry["chars"], entry["hint"]) == (200, "limits.text_chars")
    assert "b" * 10 not in str(entry)


async def test_questions_that_pile_up_without_an_answer_stay_within_the_limit() -> None:
    house, device = make_house([1.0, "はい。"]), FakeDevice()
    async with talking(house, device):
        for number in range(50):
            device.put(TextSaid(f"{number:02}" + "あ" * 300))
            await anyio.sleep(0.1)
        await stops(device)
    assert max(map(len, shown_questions(device))) == 1000
    assert shown_questions(device)[-1].endswith("49" + "あ" * 300)


async def test_a_reply_without_an_end_stops_behind_a_sentence_and_says_so_in_the_trace() -> None:
    house = make_house(["これはどこまでも続く長い話の文です。"] * 400, voice=FakeTts(0.0, 0.01))
    device = FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    [turn] = house.recent.list()
    assert 2000 <= len(turn.reply) < 2020
    assert turn.heard == turn.reply
    assert turn.reply.endswith("。")
    assert (turn.error, turn.interrupted) == ("", False)
    assert [str(event.happening) for event in turn.events].count("reply-cut") == 1
    assert house.llm.open_streams == 0


async def test_a_reply_of_an_ordinary_length_is_not_marked() -> None:
    house, device = make_house(["はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    assert "reply-cut" not in [str(event.happening) for event in house.recent.list()[0].events]


@pytest.mark.parametrize("piece", ["", "😀" * 50, "<think>", " " * 50, "！" * 500])
async def test_a_model_that_never_says_anything_is_given_up(piece: str) -> None:
    house, device = make_house([""]), FakeDevice()
    sent = 0

    async def stream(prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        nonlocal sent
        while sent < 10 * LONGEST_REPLY:
            sent += max(1, len(piece))
            yield TextDelta(piece)

    house.llm.stream = stream  # type: ignore[method-assign]
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    assert house.recent.list()[0].error == "llm-empty"
    assert sent < 1.1 * LONGEST_REPLY


async def test_one_huge_piece_of_a_reply_is_spoken_like_many_small_ones() -> None:
    sentences = [f"これは{number}番目の文です。" for number in range(100)]
    house = make_house(["".join(sentences)], sentences, voice=FakeTts(0.0, 0.01))
    device = FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("一"))
        await stops(device)
        device.put(TextSaid("二"))
        await stops(device, 2)
    assert shown(device) == sentences * 2
