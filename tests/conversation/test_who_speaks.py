"""Somebody says who they are: the talk goes on with their memory, and a guest's with none. In virtual time."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from firmware_bridge.events import TextSaid
from server.memory import page_of
from server.trace import Turns
from server.turn import Turn
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, silence, voice
from tests.talks import make_house, shown, stops, talking
from tests.virtual_time import VIRTUAL_TIME, Backend

PERSONS = {"carol": {"names": ["Carol", "キャロル"]}}


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


class Keeper:
    """Keeps whatever it gets."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def turn_finished(self, turn: Turn) -> None:
        self.turns.append(turn)


def family(*replies: list[str]) -> tuple[FakeHouse, FakeDevice, Keeper]:
    house, keeper = make_house(*(replies or (["はい。"],)), persons=PERSONS), Keeper()
    turns = Turns(house.clock, (house.memory, keeper), (house.recent,))
    house.house = replace(house.house, turns=turns)
    device = FakeDevice(person="taro")
    device.household = ("taro", "carol")
    return house, device, keeper


async def hold(house: FakeHouse, device: FakeDevice, *said: str) -> None:
    async with talking(house, device):
        for number, text in enumerate(said, start=1):
            device.put(TextSaid(text))
            await stops(device, number)


def asked(house: FakeHouse) -> Sequence[str]:
    return [prompt.messages[-1].content for prompt in house.llm.prompts]


async def test_the_robot_says_what_it_does_and_asks_no_model_for_that() -> None:
    house, device, keeper = family()
    await hold(house, device, "This is Carol.")
    assert "Carol" in "".join(shown(device))
    assert house.llm.prompts == []
    [turn] = keeper.turns
    assert (turn.person, "Carol" in turn.heard, turn.error) == ("carol", True, "")


async def test_what_is_said_from_then_on_is_theirs_and_nothing_of_before_is_told_them() -> None:
    house, device, keeper = family()
    await hold(house, device, "ひみつの話だよ。", "キャロルです。", "何の話だっけ？")
    assert [turn.person for turn in keeper.turns] == ["taro", "carol", "carol"]
    assert [person for person, *_ in house.memory.asked] == ["taro", "carol"]
    assert not any("ひみつ" in message.content for message in house.llm.prompts[-1].messages)


async def test_a_question_behind_the_name_is_answered_at_once_as_theirs() -> None:
    house, device, keeper = family(["晴れです。"])
    await hold(house, device, "キャロルです。明日は晴れる？")
    assert "明日は晴れる" in asked(house)[0]
    assert "キャロルです" not in asked(house)[0]
    assert "".join(shown(device)).endswith("晴れです。")
    assert [turn.person for turn in keeper.turns] == ["carol"]


async def test_a_question_that_was_left_unanswered_is_not_answered_to_the_next_one() -> None:
    house, device, keeper = family()
    async with talking(house, device):
        device.put(TextSaid("ひみつの話だよ。"))
        device.put(TextSaid("キャロルです。元気？"))
        await stops(device, 1)
        await anyio.sleep(20)
    assert "ひみつ" not in asked(house)[-1]
    assert [turn.person for turn in keeper.turns][-1] == "carol"


async def test_of_a_guest_nothing_is_kept_and_nothing_recalled() -> None:
    house, device, keeper = family()
    device.is_guest, device.household = True, ()
    await hold(house, device, "ひみつの話だよ。", "キャロルです。")
    assert keeper.turns == []
    assert house.memory.asked == []
    assert len(house.llm.prompts) == 2
    turns = house.recent.list()
    assert not any(turn.question or turn.query or turn.reply or turn.heard for turn in turns)
    assert [bool(turn.stages_ms) for turn in turns] == [True, True], "figures are left"


async def test_whoever_says_that_they_are_a_guest_is_one_until_somebody_says_their_name() -> None:
    house, device, keeper = family()
    await hold(house, device, "ゲストです。", "ひみつの話だよ。", "キャロルです。", "元気？")
    assert [turn.transcript.text for turn in keeper.turns if turn.transcript] == [
        "キャロルです。",
        "元気？",
    ]
    assert {turn.person for turn in keeper.turns} == {"carol"}


async def test_speech_that_is_understood_after_somebody_else_came_stays_with_who_said_it() -> None:
    house, device, keeper = family()
    slow = FakeAsr("ひみつの話だよ。", seconds=3.0)
    house.house = replace(house.house, engines=replace(house.house.engines, asr=slow))
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        device.put(TextSaid("キャロルです。"))
        await stops(device)
        await anyio.sleep(6)
    told = {turn.transcript.text: turn.person for turn in keeper.turns if turn.transcript}
    assert told == {"ひみつの話だよ。": "taro", "キャロルです。": "carol"}


@pytest.mark.parametrize(
    "said", ["This is Bob.", "My name is Bob.", "私はボブです。", "ボブといいます。", "我叫小明。"]
)
async def test_whoever_is_unknown_here_is_told_so_and_nothing_changes(said: str) -> None:
    house, device, keeper = family()
    await hold(house, device, said)
    assert house.llm.prompts == []
    [turn] = keeper.turns
    assert (turn.person, turn.is_guest) == ("taro", False)
    assert any(name in turn.heard for name in ("Bob", "ボブ", "小明"))
    assert page_of(turn) is None


@pytest.mark.parametrize(
    "said", ["This is great.", "I'm Japanese.", "暑いです。", "我叫你过来。", "This is Monday?"]
)
async def test_what_is_no_name_goes_to_the_model(said: str) -> None:
    house, device, _ = family()
    await hold(house, device, said)
    assert len(house.llm.prompts) == 1


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("This is Carol.", ""),
        ("キャロルです。", ""),
        ("キャロルです。明日は晴れる？", "明日は晴れる？"),
    ],
)
async def test_an_introduction_is_nothing_to_be_remembered(said: str, kept: str) -> None:
    house, device, keeper = family()
    await hold(house, device, said)
    page = page_of(keeper.turns[0])
    assert (page.said if page else "") == kept


async def test_whoever_speaks_already_is_not_welcomed_for_saying_their_name() -> None:
    house, device, keeper = family(["Nice to meet you."])
    await hold(house, device, "My name is Taro.")
    assert len(house.llm.prompts) == 1
    page = page_of(keeper.turns[0])
    assert page is not None
    assert page.said == "My name is Taro."
