"""Replies that go against what is known: stopped before they are spoken, tried once more, else replaced. In virtual time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.events import PlayAudio, SpeechStopped, TextSaid
from server.errors import LlmError
from server.guard import HitKind
from server.ports import LlmTraits
from server.prompting import Phrases, PromptFiles
from server.recording import describe
from server.telemetry import Metrics
from server.turn import Happening, Recalled, Recollection, Stopped, Turn
from tests.fakes import PROMPTS, FakeClock, FakeDevice, FakeHouse, Step, silence, voice
from tests.memory.remembering import HandClock, opened
from tests.talks import make_house, shown, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend

PEANUTS = "You are allergic to peanuts."
COOKIE = "How about a peanut butter cookie?"
APPLE = "How about an apple?"
ASKED = "What should I have for a snack?"


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def known(*texts: str) -> Recollection:
    """Return what memory offers where these facts stand; the id of each is its number."""
    lines = (
        Recalled(text, FakeClock().now() - timedelta(days=1), 1.0, {}, f"fact-{number}")
        for number, text in enumerate(texts)
    )
    standing = tuple(lines)
    return Recollection(standing=standing, touched=tuple(one.id for one in standing))


def line(kind: str, language: str = "en") -> str:
    return Phrases(PromptFiles(PROMPTS)).get(f"guard-{kind}", language)


async def answer(house: FakeHouse, *asked: str, language: str = "en") -> list[Turn]:
    """Ask the robot one thing after another; return the turns."""
    device = FakeDevice()
    device.language = language
    async with talking(house, device):
        for number, text in enumerate(asked, 1):
            device.put(TextSaid(text))
            await stops(device, number)
    return house.recent.list()


def house_knowing(recollection: Recollection, *replies: Sequence[Step], **config: Any) -> FakeHouse:
    house = make_house(*map(list, replies), **config)
    house.memory.recollection = recollection
    return house


@dataclass(frozen=True)
class Case:
    """What MyBuddy's phone did, with every fact stored and shown to the model."""

    name: str
    fact: str
    asked: str
    reply: str
    kind: str
    language: str = "en"
    better: str = "All right."
    hour: int = 15


MYBUDDY = [
    Case("nuts in a fruit salad", PEANUTS, "Can you suggest a snack?", "A fruit salad with apples, bananas and nuts.", "food"),
    Case("peanut butter", PEANUTS, ASKED, COOKIE, "food"),
    Case("a game at a quarter to eleven", "You want to be in bed before eleven.", "I'm bored.", "Let's play a game!", "goal", hour=22),
    Case("1pm for 11pm", "You want to sleep before 11pm.", "What was my goal?", "Your goal is to sleep before 1pm.", "figure"),
    Case("an allergy nobody spoke of", PEANUTS, "Am I allergic to shellfish?", "Yes, you are allergic to shellfish.", "claim"),
    Case("out of its role", PEANUTS, "Who are you?", "I'm Alexa.", "persona"),
    Case("ナッツ入りのサラダ", "あなたはピーナッツアレルギーがある。", "おやつは何がいい？", "ナッツ入りのフルーツサラダはどうですか？", "food", "ja", "りんごはどうですか？"),
    Case("11時が13時に", "夜11時までに寝ることが目標だ。", "私の目標は何だった？", "13時までに寝るのが目標でしたね。", "figure", "ja", "11時までに寝ることでしたね。"),
    Case("花生饼干", "你对花生过敏。", "吃点什么零食好？", "来点花生酱饼干吧。", "food", "zh", "来个苹果吧。"),
    Case("一点说成十一点", "我想晚上十一点之前睡觉。", "我的目标是什么？", "你的目标是一点之前睡觉。", "figure", "zh", "你想十一点之前睡觉。"),
]  # fmt: skip


@pytest.mark.parametrize("case", MYBUDDY, ids=lambda case: case.name)
async def test_what_mybuddy_said_against_what_it_knew_is_never_heard(case: Case) -> None:
    house = house_knowing(known(case.fact), [case.reply], [case.better])
    house.house = replace(
        house.house, clock=HandClock(datetime(2026, 9, 29, case.hour, 45, tzinfo=UTC))
    )
    (turn,) = await answer(house, case.asked, language=case.language)
    assert turn.heard == turn.reply == case.better
    facts = () if case.kind in ("claim", "persona") else ("fact-0",)
    assert turn.stopped == (Stopped(case.kind, facts, 1),)
    assert len(house.llm.prompts) == 2
    assert case.reply not in "".join(text for text, _ in house.tts.spoken)


@pytest.mark.parametrize("case", MYBUDDY, ids=lambda case: case.name)
async def test_a_model_that_will_not_learn_is_replaced_by_a_safe_line(case: Case) -> None:
    house = house_knowing(known(case.fact), [case.reply])
    house.house = replace(
        house.house, clock=HandClock(datetime(2026, 9, 29, case.hour, 45, tzinfo=UTC))
    )
    (turn,) = await answer(house, case.asked, language=case.language)
    assert turn.heard == line(case.kind, case.language)
    assert [(one.kind, one.attempt) for one in turn.stopped] == [(case.kind, 1), (case.kind, 2)]
    assert len(house.llm.prompts) == 2, "there is one second call, and no third"
    assert turn.error == ""


async def test_a_reply_that_goes_against_nothing_is_asked_for_once() -> None:
    house = house_knowing(known(PEANUTS), ["Sure. ", APPLE])
    (turn,) = await answer(house, ASKED)
    assert turn.heard == f"Sure. {APPLE}"
    assert turn.stopped == ()
    assert len(house.llm.prompts) == 1


async def test_the_second_attempt_is_told_what_was_wrong_and_what_has_been_heard() -> None:
    house = house_knowing(known(PEANUTS), ["Good question! ", COOKIE, " Enjoy it!"], [APPLE])
    (turn,) = await answer(house, ASKED)
    assert turn.heard == f"Good question! {APPLE}"
    first, second = house.llm.prompts
    asked = second.messages[-1].content
    assert first.system == second.system, "what a model server has read it need not read again"
    correction = asked[asked.index("<correction>") :]
    assert "Good question!" in correction
    assert "must not eat" in correction
    assert asked.endswith(ASKED)
    assert PEANUTS in asked
    assert "<correction>" not in first.messages[-1].content


async def test_a_small_model_is_told_the_fact_as_it_is_told_what_it_recalls() -> None:
    """Its first prompt left the loss out, as nothing in a greeting touches it."""
    house = house_knowing(
        replace(known("Your sister passed away."), touched=()),
        ["How is your sister?"],
        ["How are you?"],
    )
    house.llm.traits = lambda language: LlmTraits(  # type: ignore[method-assign]
        compact=True, prompt_budget_tokens=300, local=True
    )
    (turn,) = await answer(house, "Good morning.")
    first, second = (prompt.messages[-1].content for prompt in house.llm.prompts)
    assert first == "Good morning."
    assert "Your sister passed away." in second
    assert turn.heard == "How are you?"


async def test_the_model_is_stopped_before_it_is_asked_again() -> None:
    house = house_knowing(known(PEANUTS), [COOKIE, " ", *["And more. "] * 5, 3600.0], [0.5, APPLE])
    open_at_second: list[int] = []
    stream = house.llm.stream

    def counted(prompt: Any) -> Any:
        open_at_second.append(house.llm.open_streams)
        return stream(prompt)

    house.llm.stream = counted  # type: ignore[method-assign]
    (turn,) = await answer(house, ASKED)
    assert turn.heard == APPLE
    assert open_at_second == [0, 0]
    assert house.llm.open_streams == 0


async def test_the_beginning_of_a_sentence_waits_for_its_end_before_it_is_judged() -> None:
    """The first piece is spoken at its comma, and what follows it may be a warning."""
    warning = "Peanut butter cookies are lovely, but not for you, because of your allergy."
    house = house_knowing(known(PEANUTS), [warning])
    (turn,) = await answer(house, ASKED)
    assert turn.heard == warning
    assert turn.stopped == ()


async def test_no_sentence_is_begun_that_may_have_to_be_taken_back() -> None:
    """Where the talk touches what stands, half a sentence of a bad offer is not heard either."""
    reply = ["How about a nice snack, ", "say a peanut cookie?"]
    house = house_knowing(known(PEANUTS), reply, [APPLE])
    (turn,) = await answer(house, ASKED)
    assert turn.heard == APPLE


async def test_a_fault_is_found_across_the_pieces_of_a_sentence() -> None:
    house = house_knowing(
        replace(known(PEANUTS), touched=()),
        ["How about a nice snack, ", "say a peanut cookie?"],
        [APPLE],
    )
    (turn,) = await answer(house, "I'm in the mood for something.")
    assert turn.heard == f"How about a nice snack, {APPLE}"
    assert turn.stopped[0].kind == "food"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param([LlmError("llm-failed", "no")], id="fails"),
        pytest.param([], id="says nothing"),
        pytest.param([3600.0, APPLE], id="hangs"),
    ],
)
async def test_a_second_attempt_that_comes_to_nothing_is_replaced(second: list[Step]) -> None:
    house = house_knowing(known(PEANUTS), [COOKIE], second)
    (turn,) = await answer(house, ASKED)
    assert turn.heard == line("food")
    assert turn.error == ""


async def test_a_second_attempt_has_only_so_much_time_for_its_first_sentence() -> None:
    house = house_knowing(
        known(PEANUTS),
        [COOKIE],
        [2.0, APPLE, " Or a", 8.0, " pear."],
        guard={"patience_seconds": 3.0},
    )
    (turn,) = await answer(house, ASKED)
    assert turn.heard == f"{APPLE} Or a pear."


async def test_a_first_attempt_that_fails_is_excused_as_ever() -> None:
    house = house_knowing(known(PEANUTS), [LlmError("llm-unreachable", "no")])
    (turn,) = await answer(house, ASKED)
    assert turn.error == "llm-unreachable"
    assert turn.stopped == ()


async def test_a_barge_in_ends_the_second_attempt() -> None:
    house = house_knowing(
        known("あなたはピーナッツアレルギーがある。"),
        ["ピーナッツクッキーはどうですか？"],
        [30.0, "はい。"],
        ["どうぞ。"],
    )
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        device.put(TextSaid("おやつは何がいい？"))
        await until(lambda: len(house.llm.prompts) == 2)
        device.put(TextSaid("もういいよ"))
        await until(lambda: SpeechStopped() in device.commands())
    assert shown(device) == ["どうぞ。"]
    assert house.llm.open_streams == house.tts.open_streams == 0


async def test_a_barge_in_by_voice_silences_the_corrected_reply() -> None:
    facts = known("あなたはピーナッツアレルギーがある。")
    house = house_knowing(facts, ["ピーナッツはどうですか？"], ["り" * 60 + "。"], ["はい。"])
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: len(device.times(PlayAudio)) > 20)
        await device.hear(voice(1.0), silence(1.0))
        await stops(device, 2)
    first = house.recent.list()[0]
    assert first.interrupted
    assert 0 < len(first.heard) < 60


async def test_the_trace_the_record_and_the_metrics_tell_of_it_without_its_words() -> None:
    house = house_knowing(known(PEANUTS), [COOKIE])
    (turn,) = await answer(house, ASKED)
    happened = [(event.happening, event.code) for event in turn.events]
    assert happened.count((Happening.STOPPED, "food")) == 2
    assert (Happening.SAFE_LINE, "food") in happened
    assert describe(turn)["stopped"] == [
        {"kind": "food", "facts": ["fact-0"], "attempt": 1},
        {"kind": "food", "facts": ["fact-0"], "attempt": 2},
    ]
    assert "peanut butter" not in str(describe(turn))
    metrics = Metrics()
    metrics.turn_finished(turn)
    assert 'omoide_reply_stopped_total{attempt="2",kind="food"} 1.0' in metrics.render().decode()


async def test_tokens_of_both_attempts_are_counted() -> None:
    house = house_knowing(known(PEANUTS), [COOKIE, " "], [APPLE])
    (turn,) = await answer(house, ASKED)
    assert turn.prompt_tokens >= 100


@pytest.mark.parametrize("guard", [{"enabled": False}, {"food": False}])
async def test_it_can_be_switched_off(guard: dict[str, bool]) -> None:
    house = house_knowing(known(PEANUTS), [COOKIE], guard=guard)
    (turn,) = await answer(house, ASKED)
    assert turn.heard == COOKIE
    assert len(house.llm.prompts) == 1


async def test_a_promise_to_remember_is_stopped_where_the_turn_is_not_kept() -> None:
    house = house_knowing(known(), ["I'll remember that."], ["I'm listening."])
    forgetful = house.memory.recall

    async def recall(person: str, query: str, language: str) -> Recollection:
        for turn in house.house.turns._open.values():
            turn.unkept = "consent-off"
        return await forgetful(person, query, language)

    house.memory.recall = recall  # type: ignore[method-assign]
    (turn,) = await answer(house, "I had soup today.")
    assert turn.heard == "I'm listening."
    assert turn.stopped == (Stopped("promise", (), 1),)


async def test_prompts_without_words_for_a_correction_still_end_in_a_safe_line(
    tmp_path: Path,
) -> None:
    for file in PROMPTS.glob("*"):
        if not file.name.startswith("correct."):
            (tmp_path / file.name).write_text(file.read_text("utf-8"), encoding="utf-8")
    house = house_knowing(known(PEANUTS), [COOKIE], [APPLE])
    house.house = replace(house.house, prompts=PromptFiles(tmp_path))
    (turn,) = await answer(house, ASKED)
    assert turn.heard == line("food")


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
def test_every_kind_has_its_words_in_every_language(language: str) -> None:
    phrases = Phrases(PromptFiles(PROMPTS))
    lines = {phrases.find(f"guard-{kind}", language) for kind in HitKind}
    assert len(lines) == len(HitKind)
    assert None not in lines


@pytest.mark.parametrize(
    ("language", "monday", "tuesday", "wrong", "right"),
    [
        ("en", "My sister passed away.", "Good morning.", "Good morning! How is your sister doing?", "Good morning! How are you?"),
        ("ja", "妹が亡くなったんだ。", "おはよう。", "妹さんはお元気ですか？", "おはようございます。"),
        ("zh", "我姐姐去世了。", "早上好。", "你姐姐最近好吗？", "早上好！"),
    ],
)  # fmt: skip
async def test_a_loss_told_on_monday_stands_in_tuesdays_prompt_and_nobody_is_asked_after_the_dead(
    tmp_path: Path, language: str, monday: str, tuesday: str, wrong: str, right: str
) -> None:
    house = make_house([wrong], [right])
    with opened(tmp_path) as room:
        room.tell(monday, language=language)
        await room.memory._writer.settle()
        room.clock.pass_time(days=1)
        house.house = replace(house.house, memory=room.memory, clock=room.clock)
        (turn,) = await answer(house, tuesday, language=language)
    asked = house.llm.prompts[0].messages[-1].content
    block = asked[asked.index("<standing_facts>") : asked.index("</standing_facts>")]
    assert monday.rstrip("。.") in block
    assert turn.heard.endswith(right)
    assert wrong.removeprefix("Good morning! ") not in turn.heard
    assert [one.kind for one in turn.stopped] == ["loss"]
