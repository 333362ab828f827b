"""What was said is kept for memory, each utterance once and for itself, however turns are cut short. In virtual time."""

import random

import anyio
import pytest
from structlog.testing import capture_logs

from firmware_bridge.events import (
    Aborted,
    ListenStarted,
    ListenStopped,
    ShowTranscript,
    TextSaid,
    WakeWord,
)
from server.memory import Page
from server.reply import LAST_WORDS_SECONDS
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, silence, voice
from tests.talks import make_house, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def kept(house: FakeHouse) -> list[Page]:
    """Return what was kept, in the order in which memory reads it."""
    return sorted(house.memory.pages, key=lambda page: page.at)


def words(house: FakeHouse) -> list[str]:
    return [page.said for page in kept(house)]


async def test_a_device_that_hangs_up_before_the_answer_leaves_what_was_said() -> None:
    house, device = make_house([5.0, "はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("妹が亡くなりました"))
        await until(lambda: house.llm.open_streams > 0)
    assert words(house) == ["妹が亡くなりました"]


@pytest.mark.parametrize("gap", [0.0, 0.001, 0.1, 0.6])
@pytest.mark.parametrize("pause", [1e-6, 0.01, 0.5])
async def test_who_hangs_up_right_after_cutting_in_leaves_every_word(
    gap: float, pause: float
) -> None:
    house, device = make_house([5.0, "はい。"]), FakeDevice()
    async with talking(house, device):
        for text in ("猫を飼った", "犬も飼った", "鳥も飼った"):
            device.put(TextSaid(text))
            await anyio.sleep(pause)
        await anyio.sleep(gap)
    assert words(house) == ["猫を飼った", "犬も飼った", "鳥も飼った"]


async def test_what_two_turns_ask_together_is_kept_as_two_each_in_its_language_and_at_its_time() -> (
    None
):
    house, device = make_house([5.0, "はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("来週の土曜に箱根に行くんだ。"))
        await anyio.sleep(1.5)
        device.put(TextSaid("By the way my cat is called Tama."))
        await stops(device)
    asked = "来週の土曜に箱根に行くんだ。By the way my cat is called Tama."
    assert device.commands(ShowTranscript)[-1] == ShowTranscript(asked)
    first, second = kept(house)
    assert (first.said, first.language, first.heard) == ("来週の土曜に箱根に行くんだ。", "ja", "")
    assert (second.said, second.language) == ("By the way my cat is called Tama.", "en")
    assert second.heard == "はい。"
    assert (second.at - first.at).total_seconds() == pytest.approx(1.5, abs=0.01)


async def test_a_turn_names_those_that_it_answers_too() -> None:
    house, device = (
        make_house([5.0, "はい。"], [5.0, "はい。"], ["はい。"], ["うん。"]),
        FakeDevice(),
    )
    async with talking(house, device):
        for text in ("猫を飼った", "犬も飼った", "鳥も飼った"):
            device.put(TextSaid(text))
            await anyio.sleep(1.5)
        await stops(device)
        device.put(TextSaid("ありがとう"))
        await anyio.sleep(5)
    first, second, third, last = house.recent.list()
    assert (first.answers, second.answers) == ((), (first.id,))
    assert third.answers == (first.id, second.id)
    assert last.answers == ()


async def test_questions_that_pile_up_are_kept_whole_though_the_model_gets_their_end_alone() -> (
    None
):
    long = ["一" * 900, "二" * 900, "三" * 900]
    house, device = make_house([5.0, "はい。"]), FakeDevice()
    async with talking(house, device):
        for text in long:
            device.put(TextSaid(text))
            await anyio.sleep(0.1)
        await stops(device)
    assert words(house) == long
    assert house.memory.recent("hana", house.clock.now())[-1].said == "二" * 100 + "三" * 900


@pytest.mark.parametrize("after", [0.0, 1.0, 2.5, 4.5])
async def test_a_pause_in_mid_sentence_and_the_end_of_the_talk_leave_both_halves(
    after: float,
) -> None:
    asr = FakeAsr("明日は", "病院に行きます", seconds=2.0)
    house, device = make_house([9.0, "はい。"], hears=asr), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9), voice(0.6), silence(0.7))
        await anyio.sleep(after)
    assert words(house) == ["明日は", "病院に行きます"]


@pytest.mark.parametrize("mode", ["auto", "realtime", "manual"])
async def test_who_hangs_up_while_speech_is_recognised_has_said_it(mode: str) -> None:
    house = make_house(["はい。"], hears=FakeAsr("猫を飼った", seconds=3.0))
    device = FakeDevice(mode=mode)
    async with talking(house, device):
        await device.hear(voice(0.9), silence(0.9 if mode != "manual" else 0.1))
        device.put(ListenStopped())
        await anyio.sleep(0.1)
    assert words(house) == ["猫を飼った"]
    assert device.sent == []
    assert house.llm.prompts == []


async def test_what_was_said_until_the_line_broke_in_mid_sentence_is_kept() -> None:
    house, device = make_house(["はい。"], hears=FakeAsr("猫を飼")), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.9))
    assert words(house) == ["猫を飼"]


@pytest.mark.parametrize("is_stopped", [False, True])
async def test_the_end_of_a_talk_has_its_limit_and_that_of_the_server_a_shorter_one(
    is_stopped: bool,
) -> None:
    house = make_house(["はい。"], hears=FakeAsr("一", "二", seconds=1000.0))
    device = FakeDevice()
    with capture_logs() as logs:
        async with talking(house, device):
            await device.hear(voice(0.6), silence(0.9), voice(0.6), silence(0.9))
            ended_at = anyio.current_time()
            if is_stopped:
                for reply in house.house.listening:
                    reply.hurry()
    limit = LAST_WORDS_SECONDS if is_stopped else house.config.asr.timeout_seconds
    assert anyio.current_time() - ended_at == pytest.approx(limit, abs=0.5)
    assert words(house) == []
    lost = [entry["code"] for entry in logs if entry["event"] == "last-words-lost"]
    assert lost == ["server-stopped" if is_stopped else "asr-timeout"] * 2
    assert not house.house.listening


async def test_a_conversation_that_is_cancelled_keeps_what_was_being_recognised() -> None:
    house = make_house(["はい。"], hears=FakeAsr("猫を飼った", seconds=1.0))
    device = FakeDevice()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.conversation(device).converse)
        await device.hear(voice(0.6), silence(0.9))
        tasks.cancel_scope.cancel()
    device.close()
    assert words(house) == ["猫を飼った"]


async def test_what_was_said_before_a_stop_is_kept_and_not_answered() -> None:
    house = make_house(["はい。"], hears=FakeAsr("猫を飼った", seconds=2.0))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        device.put(Aborted())
        await anyio.sleep(3.0)
        device.put(TextSaid("おはよう"))
        await stops(device, 2)
    assert words(house) == ["猫を飼った", "おはよう"]
    assert device.commands(ShowTranscript) == [ShowTranscript("おはよう")]


async def test_a_stop_while_the_button_is_held_takes_no_word_from_memory() -> None:
    house = make_house(["はい。"], hears=FakeAsr("猫を飼った"))
    device = FakeDevice(mode="manual")
    async with talking(house, device):
        await device.hear(voice(0.9))
        device.put(Aborted())
        device.put(ListenStopped())
        await anyio.sleep(1)
    assert words(house) == ["猫を飼った"]
    assert house.llm.prompts == []


async def test_what_a_stop_cut_off_is_kept_once() -> None:
    house, device = make_house([5.0, "はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("一"))
        await until(lambda: house.llm.open_streams > 0)
        device.put(TextSaid("二"))
        await anyio.sleep(0.5)
        device.put(Aborted())
        await anyio.sleep(0.5)
        device.put(TextSaid("三"))
        await stops(device, 2)
    assert words(house) == ["一", "二", "三"]
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("三")


async def test_a_stop_takes_back_what_was_cut_off_before_it_though_noise_came_between() -> None:
    """The noise is still being recognised when somebody says stop and then asks something else."""
    house = make_house([5.0, "はい。"], hears=FakeAsr("", "別の話", seconds=2.0))
    device = FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("一"))
        await until(lambda: house.llm.open_streams > 0)
        await device.hear(voice(0.6), silence(0.7))
        device.put(Aborted())
        await device.hear(voice(0.6), silence(0.9))
        await stops(device, 2)
    assert words(house) == ["一", "別の話"]
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("別の話")


async def test_speech_that_typed_text_overtook_is_kept_at_its_own_time() -> None:
    house = make_house(["はい。"], hears=FakeAsr("猫を飼った", seconds=6.0))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        device.put(TextSaid("今何時"))
        asked = anyio.current_time()
        await stops(device)
        assert anyio.current_time() - asked < 3
        await anyio.sleep(6)
    assert words(house) == ["猫を飼った", "今何時"]
    assert device.commands(ShowTranscript) == [ShowTranscript("今何時")]


async def test_speech_that_was_overtaken_takes_nothing_from_a_later_question() -> None:
    house = make_house([5.0, "はい。"], hears=FakeAsr("猫を飼った", seconds=2.0))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        device.put(TextSaid("明日の"))
        await anyio.sleep(1.9)
        device.put(TextSaid("予定は"))  # while this one waits, the speech is understood
        await stops(device)
    assert words(house) == ["猫を飼った", "明日の", "予定は"]
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("明日の予定は")


@pytest.mark.parametrize("seed", range(40))
async def test_whatever_happens_every_utterance_is_kept_once_and_in_order(seed: int) -> None:
    dice = random.Random(seed)
    asr = FakeAsr(seconds=dice.choice([0.05, 0.8, 2.5]))
    house = make_house([0.4, "はい。", 0.5, "そうですね。"], hears=asr)
    device = FakeDevice(mode=dice.choice(["auto", "realtime"]), echo_cancelled=True)
    said = []
    async with talking(house, device):
        for number in range(dice.randint(2, 7)):
            text = f"{number}番目の話"
            match dice.choice(["typed", "typed", "spoken", "stop", "wake"]):
                case "typed":
                    said.append(text)
                    device.put(TextSaid(text))
                case "spoken":
                    said.append(text)
                    asr.texts.append(text)
                    await device.hear(voice(0.6), silence(0.7))
                case "stop":
                    device.put(Aborted())
                case "wake":
                    device.put(WakeWord("Hi StackChan"))
                    device.put(ListenStarted("realtime"))
            await anyio.sleep(dice.choice([0, 0, 0.001, 0.3, 1.0, 3.0]))
    assert words(house) == said
