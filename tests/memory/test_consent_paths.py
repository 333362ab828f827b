"""By no path is anything kept of who does not want it: turns that are cut, words handed on, talks that are over, work under way."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from server.config import Config, Policy
from server.errors import StoreError
from server.memory import Memory
from server.memory.consent import agrees
from server.memory.consents import Remembering
from server.memory.dossier import dossier_of
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import Page
from server.memory.private import Category
from server.turn import Transcript, Turn
from server.web.described import describe_dossier
from tests.memory.lived_in import Home, Said, Visit, home
from tests.memory.reading_model import Work
from tests.memory.remembering import opened, turn
from tests.virtual_time import VIRTUAL_TIME, Backend

PENSION = "My pension is too small."


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def english(said: str, id_: str = "t1", heard: str = "I see.") -> Turn:
    finished = turn(said, language="en", id_=id_)
    finished.heard = heard
    return finished


def asking(said: Turn, earlier: str) -> Turn:
    """Let a turn answer, too, what an earlier one left unanswered."""
    assert said.transcript is not None
    said.asked = Transcript(f"{earlier} {said.transcript.text}", "en")
    said.answers = ("t0",)
    return said


async def waiting_of(memory: Memory, person: str = "hana") -> list[str]:
    return [one.text for one in (await memory.consenting.standing(person)).pending]


@pytest.mark.parametrize("words", ["Stop remembering me.", "Let's talk off the record."])
async def test_a_wish_in_a_turn_that_was_cut_at_once_holds(words: str, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.consenting.judge(english(words, heard=""))
        assert room.memory.consenting.withholds("hana")


@pytest.mark.parametrize("words", ["Stop remembering me.", "Let's talk off the record.", PENSION])
async def test_a_guest_leaves_neither_a_decision_nor_what_waits_for_one(
    words: str, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        said = english(words)
        said.is_guest = True
        room.memory.consenting.judge(said)
        assert await waiting_of(room.memory) == []
        store, writer = room.memory.kept_in
        await writer.settle()
        assert list(store.consents.states()) == []


async def test_a_wish_that_was_granted_is_not_granted_once_more_at_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        consenting = room.memory.consenting
        stop = english("Stop remembering me.")
        await consenting.heed(stop)
        await consenting.set("hana", Remembering.ON, "api")
        consenting.judge(stop)
        assert not consenting.withholds("hana")


async def test_words_handed_to_the_next_turn_are_not_shown_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        first, second = english(PENSION, "t0", ""), asking(english("Nice day.", "t2"), PENSION)
        room.memory.consenting.judge(first)
        room.memory.consenting.judge(second)
        assert not second.may_be_shown
        assert await waiting_of(room.memory) == [PENSION], "once, though it was handed on"
        third = asking(english("Nice day.", "t3"), "Don't remember this.")
        room.memory.consenting.judge(third)
        assert third.off_record


async def test_what_is_said_while_memory_is_off_stays_unsaid_if_it_is_put_on_before_the_end(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        consenting = room.memory.consenting
        await consenting.set("hana", Remembering.OFF, "api")
        said = english("I robbed a bank.")
        await consenting.heed(said)
        await consenting.set("hana", Remembering.ON, "api")
        consenting.judge(said)
        assert said.off_record


async def test_a_question_that_nobody_heard_has_no_answer_and_is_asked_again(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        consenting = room.memory.consenting
        cut = english(PENSION, heard="")
        assert (await consenting.heed(cut)).after
        cut.interrupted = True
        consenting.judge(cut)
        yes = english("Yes.", "t2")
        assert not (await consenting.heed(yes)).instead
        assert await waiting_of(room.memory) == [PENSION]
        assert (await consenting.heed(english(PENSION, "t3"))).after


@pytest.mark.parametrize(
    "text",
    [
        "Okay, what is the weather like?",
        "Sure is hot today.",
        "Fine weather we are having.",
        "No idea what you said, what's the time?",
        "はい、電気をつけて",
        "いやあ今日は暑いね",
        "好冷啊",
        "对了，明天几点起床",
        "行李在哪里",
        "不知道今天下不下雨",
        "别忘了买牛奶",
        "Thanks.",
        "Thank you, dear.",
        "谢谢",
        "你",
        "それは、",
        "Yes, but only today.",
        "Not now.",
        "No problem with my knee today",
    ],
)
def test_what_only_begins_like_an_answer_is_none(text: str) -> None:
    assert agrees(text) is None


@pytest.mark.parametrize(
    ("text", "agreed"),
    [
        ("Yes, you may, I don't mind.", True),
        ("yeah go ahead", True),
        ("Sure. Of course.", True),
        ("No thank you.", False),
        ("no please don't do that", False),
        ("I'd rather not.", False),
        ("はい、お願いします", True),
        ("ええ、いいですよ", True),
        ("うん、覚えておいて", True),
        ("いいえ、結構です", False),
        ("だめだよ", False),
        ("好的，你记吧", True),
        ("可以啊", True),
        ("不要记", False),
        ("别记了吧", False),
        ("不用了，谢谢", False),
        ("I'm fine with that", True),
        ("はーい", True),
        ("请记住吧", True),
        ("いや、いいです", False),
        ("No, forget it.", False),
        ("ノー", False),
        ("还是不要了", False),
    ],
)
def test_a_plain_answer_is_one(text: str, *, agreed: bool) -> None:
    assert agrees(text) is agreed


async def test_who_is_forgotten_has_decided_nothing_of_private_matters(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        memory, consenting = room.memory, room.memory.consenting
        consenting.judge(english("From now on always call me Captain.", "t0"))
        [order] = (await consenting.standing("hana")).pending
        await consenting.settle("hana", [order.id], "api", accept=True)
        await consenting.heed(english(PENSION))
        consenting.judge(english(PENSION))
        await memory.archive.forget_person("hana")
        after = await consenting.standing("hana")
        assert (list(after.pending), list(after.rules), consenting.rules("hana")) == ([], [], ())
        assert not (await consenting.heed(english("Yes.", "t2"))).instead
        assert (await consenting.heed(english(PENSION, "t3"))).after, "it is asked for anew"
        await memory.consenting.choose("hana", Category.MONEY, Policy.KEEP, "api")
        await memory.archive.forget_person("hana")
        assert consenting.policy("hana", Category.MONEY) == "ask"


async def test_what_was_decided_and_what_waits_is_exported(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        consenting = room.memory.consenting
        for number, said in enumerate(("From now on always call me Captain.", PENSION)):
            consenting.judge(english(said, f"t{number}"))
        order, _ = (await consenting.standing("hana")).pending
        await consenting.settle("hana", [order.id], "api", accept=True)
        await consenting.choose("hana", Category.POLITICS, Policy.DROP, "api")
        await consenting.set("hana", Remembering.OFF, "api")
        dossier = dossier_of(room.memory._store, "hana")
        told = describe_dossier(dossier, Config().fading)["consent"]
        assert told["memory"] == "off"
        assert told["policies"] == {"politics": "drop"}
        assert [one["text"] for one in told["pending"]] == [PENSION]
        assert [one["text"] for one in told["rules"]] == ["From now on always call me Captain."]


async def test_off_the_record_is_not_promised_to_end_for_who_is_never_remembered(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        consenting = room.memory.consenting
        await consenting.set("hana", Remembering.OFF, "api")
        heeded = await consenting.heed(english("Let's talk off the record."))
        assert heeded.instead == "consent-stop"


async def say(lived_in: Home, *texts: str) -> list[Turn]:
    visit = Visit("hana", "en", lived_in.clock.moment, [Said(text) for text in texts])
    return await lived_in.visit(visit)


async def test_a_talk_off_the_record_is_out_of_mind_in_the_next_one(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        await say(lived_in, "Let's talk off the record.", "I robbed a bank.")
        lived_in.clock.pass_time(hours=1)
        await say(lived_in, "Hello!", "What have I done?")
        later = lived_in.model.prompts[Work.REPLY][-1]
        assert not [one for one in later.messages if "robbed" in one.content]


async def test_earlier_talks_are_out_of_mind_of_who_is_not_remembered(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        await say(lived_in, "I have a cat called Tama.")
        await lived_in.memory.consenting.set("hana", Remembering.OFF, "api")
        lived_in.clock.pass_time(hours=1)
        await say(lived_in, "Hello!", "What is my cat called?")
        later = lived_in.model.prompts[Work.REPLY][-1]
        assert not [one for one in later.messages if "Tama" in one.content]


class Meanwhile(RulesExtractor):
    """Draws facts while something else happens."""

    def __init__(self) -> None:
        super().__init__()
        self.happens: Callable[[], Awaitable[None]] | None = None

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        """Draw facts, and let the other thing happen."""
        harvest = await super().extract(pages, attempt)
        if self.happens is not None:
            await self.happens()
        return harvest


async def test_what_was_being_drawn_when_memory_was_put_off_is_not_stored(tmp_path: Path) -> None:
    extractor = Meanwhile()
    with opened(tmp_path, extractor) as room:
        room.tell("猫を飼い始めたんだ。")

        async def put_off() -> None:
            await room.memory.consenting.set("hana", Remembering.OFF, "api")

        extractor.happens = put_off
        assert await room.memory.extract() == []
        assert await room.memory.archive.facts("hana") == []


@pytest.mark.parametrize("way", ["voice", "api"])
async def test_what_can_not_be_stored_after_a_yes_still_waits(tmp_path: Path, way: str) -> None:
    """Nothing half: neither the choice without what waits for it, nor what waited taken away and kept nowhere."""
    with opened(tmp_path) as room:
        memory, consenting = room.memory, room.memory.consenting
        asked = english(PENSION)
        assert (await consenting.heed(asked)).after
        consenting.judge(asked)
        [waiting] = (await consenting.standing("hana")).pending
        refuse_exchanges(memory, refused=True)
        answer: Awaitable[object] = (
            consenting.heed(english("Yes.", "t2"))
            if way == "voice"
            else consenting.settle("hana", [waiting.id], "api", accept=True)
        )
        with pytest.raises(StoreError):
            await answer
        assert await waiting_of(memory) == [PENSION]
        assert consenting.policy("hana", Category.MONEY) == "ask"
        refuse_exchanges(memory, refused=False)
        assert await consenting.settle("hana", [waiting.id], "api", accept=True) == 1
        assert [page.said for page in await memory.archive.pages("hana")] == [PENSION]


def refuse_exchanges(memory: Memory, *, refused: bool) -> None:
    """Let the database take no exchange, as when the disk is full, or take them again."""
    with memory._store._database.writing() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON pages BEGIN SELECT RAISE(ABORT, 'full'); END"
            if refused
            else "DROP TRIGGER full"
        )


async def test_a_yes_to_another_robot_answers_something_else(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        consenting = room.memory.consenting
        asked = english(PENSION)
        assert (await consenting.heed(asked)).after
        consenting.judge(asked)
        elsewhere = english("Yes.", "t2")
        elsewhere.device = "kitchen"
        assert not (await consenting.heed(elsewhere)).instead
        assert await waiting_of(room.memory) == [PENSION]
        again = english("My pension shrinks.", "t3")
        again.device = "kitchen"
        assert not (await consenting.heed(again)).after, "it is asked once"
        assert (await consenting.heed(english("Yes.", "t4"))).instead == "consent-kept"
