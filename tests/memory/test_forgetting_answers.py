"""An answer goes if what it was given with in mind is forgotten, however memory offered that; other answers stay."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.config import RecordingSection
from server.forgetting import Forgetting
from server.memory.models import Level, ProfileField
from server.recording import RECORDINGS, RecentTurns, Recorder
from server.trace import Turns
from server.turn import Recalled, RecalledDay, RecalledPage, Recollection
from tests.memory.remembering import NOON, Room, fact, opened, page, turn
from tests.memory.tiers import entry, summary, trait
from tests.on_disk import bytes_of

ALLERGY = "ピーナッツアレルギーがあるんだ。"
ANSWER = "ピーナッツは食べられないので、クッキーはどうですか。"
LATER = NOON + timedelta(hours=3)


def line(id_: str, *sources: str, about: str = "") -> Recalled:
    return Recalled("…", NOON, 1.0, {}, id_, sources, about)


def told_page(id_: str, said: str = "…", *, neighbour: bool = False) -> RecalledPage:
    return RecalledPage(id_, said, "", NOON, 1.0, {}, neighbour)


def day(*sources: str, ago: int = 0) -> RecalledDay:
    return RecalledDay(NOON.date() - timedelta(days=ago), "…", (), sources)


def portrayed(*ids: str) -> Recollection:
    return Recollection(portrayed=(frozenset({"other"}), frozenset(ids)))


MEANT = {
    "a line": Recollection((line("allergy"),)),
    "what stands": Recollection(standing=(line("other"), line("allergy"))),
    "what the robot told of its page": Recollection((line("robot", "said", about="Omo"),)),
    "a page": Recollection(pages=(told_page("other"), told_page("said"))),
    "a page beside": Recollection(pages=(told_page("said", neighbour=True),)),
    "a page that said it again": Recollection(pages=(told_page("again"),)),
    "the same words": Recollection(pages=(told_page("unknown", f"ねえ。{ALLERGY}"),)),
    "a record that rests on it alone": portrayed("said"),
    "a record that rests on both pages": portrayed("again", "said"),
    "knowledge": portrayed("allergy"),
    "its day": Recollection(days=(day("other"), day("other", "said"))),
}
NOT_MEANT = {
    "nothing": Recollection(),
    "another fact of its page": Recollection(
        (line("other", "said"),), standing=(line("o", "said"),)
    ),
    "a record that rests on more": portrayed("said", "other"),
    "another page": Recollection(pages=(told_page("other"),)),
    "another day": Recollection(days=(day("other", ago=1),)),
    "a record without pages": Recollection(portrayed=(frozenset(),)),
}


@pytest.mark.parametrize("recalled", MEANT.values(), ids=MEANT.keys())
async def test_an_answer_goes_with_what_memory_offered_for_it(
    tmp_path: Path, recalled: Recollection
) -> None:
    assert await answers_left(tmp_path, recalled) == ([], [], {"said", "again", "asked"})


@pytest.mark.parametrize("recalled", NOT_MEANT.values(), ids=NOT_MEANT.keys())
async def test_an_answer_to_something_else_stays(tmp_path: Path, recalled: Recollection) -> None:
    assert await answers_left(tmp_path, recalled) == (["asked"], ["asked"], {"said", "again"})


async def answers_left(
    folder: Path, recalled: Recollection
) -> tuple[list[str], list[str], set[str]]:
    """Forget an allergy that was said in two pages after a turn with this in mind.

    Returns:
        What is left among the last turns and among the recordings, and the pages without an answer.
    """
    recent, recorder = (
        RecentTurns(9),
        Recorder(folder / RECORDINGS, RecordingSection(keep_turns=True)),
    )
    with opened(folder) as room:
        store = room.memory._store
        for id_, said in (("said", f"{ALLERGY}猫がいるよ。"), ("again", f"うん。{ALLERGY}")):
            store.pages.add(page(said, id_=id_))
        asked = turn("おやつは何がいい？", LATER, id_="asked")
        asked.recalled, asked.heard = recalled, ANSWER
        room.memory.turn_finished(asked)
        recent.turn_finished(asked)
        recorder.turn_finished(asked)
        allergy = replace(fact(ALLERGY, id_="allergy", sources=("said",)), quote=ALLERGY)
        await room.memory._writer.settle()
        store.add_facts([allergy, fact("猫がいる。", id_="cat", sources=("said", "again"))], NOON)
        turns = Turns(room.clock)
        await Forgetting(room.memory.archive, folder, recent, turns).forget_facts(["allergy"])
        pages = await room.memory.archive.pages("hana")
        files = [file.stem.partition("-")[2] for file in (folder / RECORDINGS).rglob("*.json")]
        return [one.id for one in recent.list()], files, {one.id for one in pages if not one.heard}


async def test_an_answer_that_was_given_with_an_answer_in_mind_goes_with_that(
    tmp_path: Path,
) -> None:
    recent = RecentTurns(9)
    with opened(tmp_path) as room:
        first = turn("おやつは何がいい？", LATER, id_="first")
        first.recalled = Recollection((line("allergy"),))
        then = turn("さっき何て言った？", LATER + timedelta(hours=1), id_="then")
        then.recalled = Recollection(pages=(told_page("first"),))
        for each in (first, then):
            each.heard = ANSWER
            room.memory.turn_finished(each)
            recent.turn_finished(each)
        await room.memory.add([fact(ALLERGY, id_="allergy")])
        forgetting = Forgetting(room.memory.archive, tmp_path, recent, Turns(room.clock))
        await forgetting.forget_facts(["allergy"])
        assert recent.list() == []
        assert [one.heard for one in await room.memory.archive.pages("hana")] == ["", ""]


async def ask(room: Room, said: str, recent: RecentTurns) -> Recollection:
    """Ask something that is answered with all that memory offers; return that."""
    asked = turn(said, room.clock.now(), id_=f"turn at {room.clock.now()}")
    asked.recalled = await room.memory.recall("hana", said, "ja")
    asked.heard = asked.reply = ANSWER
    room.memory.turn_finished(asked)
    recent.turn_finished(asked)
    await room.memory._writer.settle()
    return asked.recalled


async def test_what_memory_offers_says_what_it_rests_on(tmp_path: Path) -> None:
    recent = RecentTurns(9)
    with opened(tmp_path) as room:
        store = room.memory._store
        store.pages.add(page(ALLERGY, id_="said"))
        store.pages.add(page("名前は花子。", id_="named"))
        allergy = replace(fact(ALLERGY, id_="allergy", sources=("said",)), quote=ALLERGY)
        store.add_facts(
            [allergy],
            NOON,
            profile=[entry(ProfileField.HEALTH, "ピーナッツ", NOON, "said")],
            traits=[trait("unknown", Level.HIGH, NOON, "named")],
        )
        store.portrait.put_summary(summary(NOON, "said", "named"))
        room.clock.pass_time(days=1)
        recalled = await ask(room, "おやつは何がいい？", recent)
        assert [one.id for one in recalled.standing] == ["allergy"]
        assert recalled.rests_on >= {
            frozenset({"allergy"}),
            frozenset({"said"}),
            frozenset({"named"}),
        }
        assert frozenset({"said"}) in recalled.portrayed
        assert frozenset({"named"}) not in recalled.portrayed, "no such dimension is told"
        forgetting = Forgetting(room.memory.archive, tmp_path, recent, Turns(room.clock))
        await forgetting.forget_facts(["allergy"])
        assert recent.list() == []
        assert "ピーナッツ".encode() not in bytes_of(tmp_path)


@pytest.mark.parametrize("is_all", [True, False])
async def test_what_was_made_ready_of_a_person_is_let_go(tmp_path: Path, is_all: bool) -> None:
    with opened(tmp_path) as room:
        room.tell(ALLERGY)
        facts = await room.memory.extract()
        assert (await room.memory.recall("hana", "おやつは？", "ja")).standing
        primer = room.memory._recollector._primer
        assert primer._known.persons() == ["hana"]
        await (
            room.memory.archive.forget_person("hana")
            if is_all
            else room.memory.archive.forget([one.id for one in facts])
        )
        assert primer._known.persons() == []
