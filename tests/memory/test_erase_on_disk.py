"""What is forgotten stands in no file of the data folder any more, whatever it was named by; everything else stays."""

import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest

from server.config import RecordingSection
from server.forgetting import Forgetting
from server.memory.audit import Actor
from server.memory.dossier import dossier_of
from server.memory.selecting import Selector
from server.recording import RECORDINGS, RecentTurns, Recorder
from server.trace import Turns
from server.turn import Recalled, RecalledPage, Recollection
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, HandClock, Room, opened, turn
from tests.memory.tiers import summary
from tests.on_disk import bytes_of

pytestmark = pytest.mark.no_cover  # others run the same lines, and counting them doubles the time

WORDS = {
    "ja": ("蜜柑山荘", "琥珀時計", "夜光茸", "渡り鳥橋", "鉄砲百合", "雪割草園", "瑠璃鶲", "水琴窟", "木通籠", "朧月亭"),
    "en": (
        "kumquat", "zephyrine", "oxbowlane", "quillwort", "marlinspike", "tanagers", "halyard", "bergamot", "okapi", "vellichor",
    ),
    "zh": ("青瓷小镇", "望潮楼", "枇杷巷", "砚台街", "萤火谷", "乌篷渡", "桂雨亭", "鹤羽山", "松烟墨", "竹影轩"),
}  # fmt: skip
SENTENCES = {
    "ja": "友達の家は{}にあります。",
    "en": "My friend lives at {} street.",
    "zh": "我的朋友住在{}。",
}
ANSWERS = {"ja": "{}ですね。", "en": "Oh, {}!", "zh": "{}啊！"}
MARKERS = [(code, word) for code, words in WORDS.items() for word in words]


def left_of(folder: Path, words: Sequence[str]) -> list[str]:
    """Return the words that stand in any file, as they are or as JSON writes them."""
    everything = b"\0".join(filter(None, bytes_of(folder).split(bytes(64))))
    names = "\n".join(path.as_posix() for path in folder.rglob("*"))
    return [
        word
        for word in words
        for form in (word, json.dumps(word)[1:-1], json.dumps(word)[1:-1].upper())
        if form.encode() in everything or form.encode("utf-16-le") in everything or form in names
    ]


@dataclass
class Lived:
    """A data folder in which people have talked."""

    folder: Path
    room: Room
    forgetting: Forgetting
    recent: RecentTurns
    recorder: Recorder
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def say(
        self,
        said: str,
        heard: str,
        *,
        person: str = "hana",
        language: str = "en",
        id_: str = "",
        recalled: Recollection | None = None,
        hours: float = 1.0,
    ) -> str:
        """Finish a turn; return its id."""
        id_ = id_ or f"t{next(self.numbers)}"
        finished = turn(said, self.room.clock.now(), person, language, id_)
        finished.heard = finished.reply = heard
        finished.recalled = recalled or Recollection()
        finished.query = said
        for observer in (self.room.memory, self.recent, self.recorder):
            observer.turn_finished(finished)
        self.room.clock.pass_time(hours=hours)
        return finished.id

    async def settle(self) -> None:
        """Draw facts, sum the days up, and make vectors and lines of everything."""
        await self.room.memory.extract()
        await self.room.memory.catch_up()
        store = self.room.memory._store
        for person in store.persons():
            pages = store.pages.of(person)
            for day in {page.at.date() for page in pages}:
                of_day = [page for page in pages if page.at.date() == day]
                told = " ".join(page.said for page in of_day)
                ids = [page.id for page in of_day]
                made = summary(of_day[0].at, *ids, text=told, person=person)
                assert store.portrait.put_summary(made)
            await self.room.recalled("?", person)
            await self.room.memory._recollector.prepare(person, self.room.clock.now())

    def counts(self, person: str) -> dict[str, int]:
        dossier = dossier_of(self.room.memory._store, person)
        rows = ("facts", "pages", "chains", "segments", "profile", "traits", "notes", "days")
        return {name: len(getattr(dossier, name)) for name in rows}


@asynccontextmanager
async def lived(folder: Path, clock: HandClock | None = None) -> AsyncIterator[Lived]:
    with opened(folder / "memory", clock=clock or HandClock(), embedder=FakeEmbedder()) as room:
        recent = RecentTurns(50)
        forgetting = Forgetting(room.memory.archive, folder, recent, Turns(room.clock))
        recorder = Recorder(folder / RECORDINGS, RecordingSection(keep_turns=True))
        yield Lived(folder, room, forgetting, recent, recorder)


async def test_after_a_person_is_forgotten_no_file_has_any_of_thirty_phrases(
    tmp_path: Path,
) -> None:
    words = [word for _, word in MARKERS]
    async with lived(tmp_path) as home:
        for code, word in MARKERS:
            said, heard = SENTENCES[code].format(word), ANSWERS[code].format(word)
            home.say(said, heard, language=code)
        for number in range(5):
            home.say(f"I have {number} boats.", "Fine.", person="taro")
        await home.settle()
        before = home.counts("taro")
        assert len(set(left_of(tmp_path, words))) == 30, "they were all kept"
        gone = await home.forgetting.forget(Selector("hana"), Actor.COMMAND)
        assert (gone.counts["exchanges"], gone.counts["answers"]) == (30, 30)
        assert left_of(tmp_path, words) == []
        assert home.counts("taro") == before
        assert sum(home.counts("hana").values()) == 0
        clock = home.room.clock
    assert left_of(tmp_path, words) == []
    async with lived(tmp_path, clock) as again:
        assert await again.room.memory.extract() == []
        assert await again.forgetting.finish_begun() == 0
        assert again.counts("taro") == before
        assert (await again.room.memory.archive.persons()) == ["taro"]
    assert left_of(tmp_path, words) == []


BOAT = "I have a boat called Marie."


def told_page(id_: str, said: str = "…") -> Recollection:
    return Recollection(pages=(RecalledPage(id_, said, "", NOON, 1.0),))


async def talk(home: Lived, code: str, word: str) -> dict[str, str]:
    """Say something with a word on a day of its own, and ask about it days later; return the ids by name."""
    said, heard = SENTENCES[code].format(word), ANSWERS[code].format(word)
    home.say(BOAT, "A boat!", id_="before", hours=24)
    told = home.say(said, heard, language=code, id_="told", hours=72)
    [fact] = [one for one in await home.room.memory.extract() if word in one.text]
    line = Recalled(fact.text, fact.said_at, 1.0, {}, fact.id, fact.sources)
    asked = home.say(
        {"ja": "友達の家はどこ？", "en": "Where is it?", "zh": "在哪里？"}[code],
        heard,
        language=code,
        id_="asked",
        recalled=Recollection((line,)),
        hours=72,
    )
    again = home.say(
        {"ja": "さっき何て？", "en": "What did you say?", "zh": "你说什么？"}[code],
        heard,
        language=code,
        id_="again",
        recalled=told_page(asked),
        hours=72,
    )
    held = Recollection(knowledge=(line,))
    other = home.say("Do you like boats?", "I like boats.", id_="other", recalled=held, hours=72)
    home.say(f"{BOAT} It is white.", "White!", person="taro", id_="taros")
    await home.settle()
    segment = next(
        one.segment for one in home.room.memory._store.pages.of("hana") if one.id == told
    )
    return {"fact": fact.id, "page": told, "again": again, "other": other, "segment": segment}


SELECTORS: dict[str, Callable[[dict[str, str], str], Selector]] = {
    "fact": lambda ids, word: Selector(facts=(ids["fact"],)),
    "page": lambda ids, word: Selector(page=ids["page"]),
    "day": lambda ids, word: Selector("hana", day=date(2026, 9, 28)),
    "topic": lambda ids, word: Selector("hana", topic=word),
    "topic by id": lambda ids, word: Selector("hana", topic=ids["segment"]),
    "words": lambda ids, word: Selector("hana", words=word),
}


@pytest.mark.parametrize(
    ("named", "code", "word"),
    [
        ("fact", "ja", "蜜柑山荘"),
        ("page", "zh", "青瓷小镇"),
        ("day", "ja", "琥珀時計"),
        ("topic", "en", "zephyrine"),
        ("topic by id", "ja", "夜光茸"),
        ("words", "en", "kumquat"),
        ("words", "ja", "水琴窟"),
        ("words", "zh", "萤火谷"),
    ],
)
async def test_whatever_it_is_named_by_nothing_of_it_is_left_and_the_rest_is(
    tmp_path: Path, named: str, code: str, word: str
) -> None:
    async with lived(tmp_path) as home:
        ids = await talk(home, code, word)
        before = home.counts("taro")
        selector = SELECTORS[named](ids, word)
        assert set(left_of(tmp_path, [word])) == {word}
        selected, would = await home.forgetting.look(selector)
        assert set(left_of(tmp_path, [word])) == {word}, "looking changes nothing"
        assert home.counts("taro") == before
        gone = await home.forgetting.forget(selector, Actor.COMMAND)
        assert gone == would
        assert selected.kind == named.split(maxsplit=1)[0]
        assert left_of(tmp_path, [word]) == []
        pages = {page.id: page for page in home.room.memory._store.pages.of("hana")}
        assert "told" not in pages
        assert (pages["before"].said, pages["before"].heard) == (BOAT, "A boat!")
        assert pages["other"].heard == "I like boats.", (
            "it had the fact in mind and told nothing of it"
        )
        if selected.kind != "topic":  # the questions may lie in the same one
            assert [pages["asked"].heard, pages["again"].heard] == ["", ""]
            assert pages["asked"].said, "one's own words stay"
        assert home.counts("taro") == before
        [entry] = await home.room.memory.archive.audit()
        assert (entry.actor, entry.kind, entry.count) == ("command", selected.kind, gone.total)
    assert left_of(tmp_path, [word]) == []
    async with lived(tmp_path, home.room.clock) as again:
        assert not [one for one in await again.room.memory.extract() if word in one.text]
        assert (await again.forgetting.look(SELECTORS["words"](ids, word)))[1].total == 0


async def test_answers_from_before_a_restart_go_with_the_fact(tmp_path: Path) -> None:
    async with lived(tmp_path) as home:
        ids = await talk(home, "en", "kumquat")
    async with lived(tmp_path, home.room.clock) as later:
        assert later.recent.list() == []
        await later.forgetting.forget(Selector(facts=(ids["fact"],)), Actor.VOICE)
        assert left_of(tmp_path, ["kumquat"]) == []
        heard = {page.id: page.heard for page in later.room.memory._store.pages.of("hana")}
    assert heard == {"before": "A boat!", "asked": "", "again": "", "other": "I like boats."}


async def test_words_with_a_number_are_another_thing_with_another_number(tmp_path: Path) -> None:
    async with lived(tmp_path) as home:
        for number in (12, 34):
            home.say(f"My locker has the number {number}.", "I see.", id_=f"n{number}")
        await home.settle()
        selector = Selector("hana", words="the locker with number 34")
        gone = await home.forgetting.forget(selector, Actor.COMMAND)
        assert gone.facts == 1
        assert [page.id for page in home.room.memory._store.pages.of("hana")] == ["n12"]
