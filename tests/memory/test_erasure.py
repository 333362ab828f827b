"""What is forgotten stands in no file any more, in whatever table it was."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from server.config import Policy
from server.memory.consents import Pending, Rule
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest, Topic
from server.memory.layers.fields import FieldKey
from server.memory.layers.proposals import By, Occasion, Proposal
from server.memory.models import Fact, Grounds, Level, Origin, Page, ProfileField
from server.memory.page_shelves import PageShelves
from server.memory.private import Category
from server.memory.safety.models import Review, Severity, SignalKind, State
from server.memory.safety.noticing import make_event
from server.memory.schema import audit, changes, consents, erasures, forgotten, personas, tables
from server.memory.store import Store
from server.memory.stored_lines import StoredLine
from server.memory.tiers import Sorting
from server.memory.wording import Aligned
from server.memory.writer import Writer
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, fact, opened, page, turn
from tests.memory.tiers import chain, entry, note, segment, summary, trait
from tests.on_disk import bytes_of


def tell(store: Store, person: str, word: str, number: int) -> None:
    """Say something, and let it get into every table."""
    said, id_ = f"{word} {number} " * (1 + number * 7), f"{person} {number}"
    vector = np.full(64, 0.123, np.float32)
    grounds = Grounds(frozenset({id_}), frozenset({frozenset({f"{person} other"})}))
    store.pages.add(replace(page(said, person=person, id_=id_), grounds=grounds))
    store.add_facts(
        [fact(said, person=person, id_=f"{person}-{number}", sources=(id_,))],
        NOON,
        drawn_from=[id_],
        vectors_by_fact={f"{person}-{number}": vector},
        stamp="m",
        sorting=Sorting(
            [segment(f"{person} s{number // 4}", said, said, word, person=person)],
            [chain(f"{person} c{number // 8}", said, person)],
            {id_: f"{person} s{number // 4}"},
            {id_: f"{person} c{number // 8}"},
        ),
        profile=[
            entry(ProfileField.NAME, said, NOON, id_, person=person),
            entry(ProfileField.FAMILY, said, NOON, id_, person=person),
        ],
        traits=[trait(f"{word} {number % 3}", Level.HIGH, NOON, id_, person=person)],
        notes=[note(id_, said, person=person)],
    )
    store.lines.put([StoredLine(id_, role, "1", said.encode()) for role in (0, 1)])
    store.lines.put_vectors({(id_, 0): vector}, "m")
    sign = make_event(
        store.pages.find([id_])[id_], SignalKind.FALL, Severity.WATCH, said, Origin.RULES
    )
    store.safety.add([replace(sign, id=id_)])
    store.deliveries.post(lambda _: ["nurse"], NOON)
    store.safety.review(id_, Review(State.ACKNOWLEDGED, word, NOON, said))
    store.portrait.put_summary(summary(NOON, id_, text=said, person=person))
    asked = Proposal(id_, FieldKey.NAME, (said,), By.VOICE, Occasion(person, id_), NOON)
    store.personas.propose("Omo", asked)
    waiting = Pending(f"{id_}-0", person, "robot", said, "en", Category.MONEY, NOON)
    store.consents.choose(person, Category.MONEY, Policy.ASK, NOON, "api")
    store.consents.wait([waiting])
    store.consents.agree([Rule(f"{id_}-0", person, said, "en", NOON, "api")])


NOBODYS = {audit.name, consents.name, erasures.name, forgotten.name}
"""Tables that say what was erased, by numbers, or who does not want to be remembered: empty, or they stay when a person goes."""


def counts(file: Path, word: str = "%") -> dict[str, int]:
    """Return how many rows of each table hold a word in any column."""
    with closing(sqlite3.connect(file)) as connection:
        return {
            table.name: connection.execute(
                f"SELECT count(*) FROM {table.name} WHERE "
                + " OR ".join(f"CAST({column.name} AS TEXT) LIKE ?" for column in table.c),
                [word] * len(table.c),
            ).fetchone()[0]
            for table in tables.sorted_tables
            if table.name not in NOBODYS
        }


def test_nothing_of_a_forgotten_person_is_left_in_any_file(tmp_path: Path) -> None:
    """Row 66: SQLite keeps deleted text in free pages, and in the write-ahead log."""
    with closing(Store(tmp_path / "memory.db")) as store:
        for person, word in (("hana", "himitsu"), ("taro", "koukai"), ("jun", "himitsu")):
            for number in range(40):
                tell(store, person, word, number)
        filled = counts(tmp_path / "memory.db", "%hana%")
        assert filled.pop(personas.name) == 0, "what the robot is called is nobody's"
        assert all(filled.values()), "a table is not filled"
        before = counts(tmp_path / "memory.db", "%taro%")
        assert b"himitsu" in bytes_of(tmp_path)
        assert store.forget_person("hana") == 40
        assert store.forget([f"jun-{number}" for number in range(40)]) == 40
        assert b"himitsu" not in bytes_of(tmp_path)
        for delivery in store.deliveries.due("nurse", NOON, 1000):
            if delivery.is_erased:  # told without the words; nothing of it is left then
                store.deliveries.delivered(delivery)
        assert b"hana" not in bytes_of(tmp_path)
        assert counts(tmp_path / "memory.db", "%taro%") == before
        assert store.change_count("hana") == 0
        assert store.persons() == ["taro"]
    assert b"himitsu" not in bytes_of(tmp_path)


def test_a_forgotten_fact_leaves_nothing_of_its_page_in_any_table(tmp_path: Path) -> None:
    """The pages around it stay, and so does what was drawn from them."""
    with closing(Store(tmp_path / "memory.db")) as store:
        for number, word in enumerate(("koukai", "himitsu", "koukai")):
            tell(store, "hana", word, number)
        store.forget(["hana-1"])
        left = counts(tmp_path / "memory.db", "%himitsu%")
        assert left == dict.fromkeys(left, 0)
        assert b"himitsu" not in bytes_of(tmp_path)
        assert [each.id for each in store.pages.of("hana")] == ["hana 0", "hana 2"]
        assert len(store.portrait.profile_of("hana")) == 4, (
            "a name and one of the family, of each of both"
        )


def test_every_table_but_the_counters_is_somebodys_or_goes_with_what_is(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        tell(store, "hana", "himitsu", 1)
        store.forget_person("hana")
        [untold] = store.deliveries.due("nurse", NOON, 9)
        store.deliveries.delivered(untold)
    assert counts(tmp_path / "memory.db") == dict.fromkeys(tables.tables.keys() - NOBODYS, 0)
    assert changes.name in tables.tables


SECRET = "My code word is himitsu."
BOAT = "I have a boat called Marie."


def drawn(quote: str, *sources: str, about: str = "") -> Fact:
    made = fact(f"You said: {quote}", sources=sources, language="en")
    return replace(made, quote=quote, about=about)


def talk(store: Store, *said: str) -> None:
    """Say things, one exchange each, and answer with the same words."""
    for number, text in enumerate(said):
        at = NOON + timedelta(minutes=number)
        told = page(text, at, id_=str(number), language="en")
        store.pages.add(replace(told, heard=f"Is it? {text}"))


def vectors_left(store: Store) -> set[str]:
    return {id_ for id_, _ in store.lines.vectors_of("hana", "m")}


def make_of_all(store: Store, *facts: Fact) -> None:
    """Make all that is made of exchanges; what is made of the second tells what was said in it."""
    ids = [each.id for each in store.pages.of("hana")]
    said = store.pages.of("hana")[1].said
    store.add_facts(
        facts,
        NOON,
        drawn_from=ids,
        sorting=Sorting(
            [segment("s", said, "himitsu", unread=3)],
            [chain("c", said)],
            dict.fromkeys(ids, "s"),
            dict.fromkeys(ids, "c"),
        ),
        profile=[
            entry(ProfileField.NAME, "himitsu", NOON, "1"),
            entry(ProfileField.HEALTH, "a boat", NOON, "1"),
            entry(ProfileField.FAMILY, "my son Ken", NOON, "2"),
        ],
        traits=[trait("himitsu", Level.HIGH, NOON, "1"), trait("open", Level.LOW, NOON, "2")],
        notes=[note("1", said), replace(note("2", "Told it again: himitsu."), quote=SECRET)],
    )
    store.lines.put([StoredLine(id_, role, "1", said.encode()) for id_ in "1" for role in (0, 1)])
    vector = np.ones(4, np.float32)
    store.lines.put_vectors({(id_, role): vector for id_ in ids for role in (0, 1)}, "m")
    store.portrait.put_summary(summary(NOON, *ids, text=said))


def test_nothing_that_was_made_of_a_page_that_stays_tells_what_was_forgotten(
    tmp_path: Path,
) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        talk(store, "Good morning to you.", f"{BOAT} {SECRET}", "My son Ken is ten.", "Good night.")
        secret, boat = drawn(SECRET, "1"), drawn(BOAT, "1")
        told = drawn("Is it? himitsu", "1", about="Omo")
        make_of_all(store, secret, boat, told)
        before = counts(tmp_path / "memory.db", "%himitsu%")
        full = {"pages", "facts", "lines", "segments", "chains", "profile", "traits", "notes"}
        assert {table for table, count in before.items() if count} >= full | {"day_summaries"}
        store.forget([secret.id])
        left = counts(tmp_path / "memory.db", "%himitsu%")
        assert left == dict.fromkeys(left, 0)
        assert b"himitsu" not in bytes_of(tmp_path)
        # The line after an answer is embedded with it.
        assert vectors_left(store) == {"0", "3"}
        assert [each.said for each in store.pages.of("hana")][1] == BOAT
        assert [each.id for each in store.facts_of("hana")] == [boat.id]


def test_what_is_still_told_by_the_rest_of_a_page_stays_in_the_profile(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        talk(store, "Good morning.", f"{BOAT} {SECRET}", "My son Ken is ten.")
        secret, boat = drawn(SECRET, "1"), drawn(BOAT, "1")
        make_of_all(store, secret, boat)
        store.forget([secret.id])
        assert {one.value for one in store.portrait.profile_of("hana")} == {"a boat", "my son Ken"}
        assert [one.dimension for one in store.portrait.traits_of("hana")] == ["open"]


def test_an_answer_that_is_deleted_costs_nothing_that_rests_on_what_was_said(
    tmp_path: Path,
) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        talk(store, "Good morning.", SECRET, "My son Ken is ten.", "Good night.")
        secret, ken = drawn(SECRET, "1"), drawn("My son Ken is ten.", "2")
        told = drawn("Is it? My son Ken is ten.", "2", about="Omo")
        make_of_all(store, secret, ken, told)
        store.forget([secret.id], ["1", "2"])
        assert {one.id: one.heard for one in store.pages.of("hana")} == {
            "0": "Is it? Good morning.",
            "2": "",
            "3": "Is it? Good night.",
        }
        assert [one.value for one in store.portrait.profile_of("hana")] == ["my son Ken"]
        assert [one.dimension for one in store.portrait.traits_of("hana")] == ["open"]
        assert [one.id for one in store.facts_of("hana")] == [ken.id]
        assert store.portrait.notes_of("hana") == []
        assert store.portrait.summaries_of("hana", 3) == []
        assert vectors_left(store) == {"0"}


def word(store: Store, batch: str, *others: str) -> None:
    """Let a model tell of pages what was said in the first: in their segments, their chains, their notes."""
    for id_ in (batch, *others):
        store.add_facts(
            [fact(f"fact of {id_}", id_=id_, sources=(id_,))],
            NOON,
            sorting=Sorting(
                [segment(f"s{id_}", SECRET, "himitsu")],
                [chain(f"c{id_}", SECRET)],
                {id_: f"s{id_}"},
                {id_: f"c{id_}"},
            ),
            notes=[replace(note(id_, SECRET), quote=f"words of {id_}")],
        )
    store.add_facts([], NOON, drawn_from=[batch, *others], is_worded=True)


@pytest.mark.parametrize("is_answer", [True, False])
def test_what_a_model_worded_from_several_pages_goes_with_each_of_them_and_the_rest_stays(
    tmp_path: Path, is_answer: bool
) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        talk(store, SECRET, "My son Ken is ten.", "Good morning.", "Good night.")
        word(store, "0", "1")
        word(store, "2", "3")
        for id_ in "13":
            at = NOON + timedelta(days=int(id_))
            store.portrait.put_summary(summary(at, id_, text=f"{id_}: {SECRET}"))
        store.forget([] if is_answer else ["0"], ["0"] if is_answer else [])
        left = {f"s{id_}" for id_ in ("0123" if is_answer else "123")}
        told = {one.id: one.summary for one in store.tiers.segments_of("hana")}
        assert told == dict.fromkeys(left, "") | {"s2": SECRET, "s3": SECRET}
        assert {one.summary for one in store.tiers.chains_of("hana") if one.id < "c2"} == {""}
        assert {one.summary for one in store.tiers.chains_of("hana") if one.id > "c2"} <= {SECRET}
        assert {one.page: one.text for one in store.portrait.notes_of("hana")} == {
            **({"0": "words of 0"} if is_answer else {}),
            "1": "words of 1",
            "2": SECRET,
            "3": SECRET,
        }
        assert [one.sources for one in store.portrait.summaries_of("hana")] == [("3",)]
        assert len(store.facts_of("hana")) == (4 if is_answer else 3)


class Worded(RulesExtractor):
    """Tells of every page what was said in the first."""

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        harvest = await super().extract(pages, attempt)
        topics = [Topic(frozenset({one.said}), pages[0].said, (one.id,)) for one in pages]
        return replace(harvest, topics=tuple(topics))


@pytest.mark.parametrize(
    ("extractor", "left"), [(RulesExtractor(), ["猫のタマを飼い始めたんだ。"]), (Worded(), [""])]
)
async def test_what_rules_tell_of_a_page_stays_when_another_of_its_batch_goes(
    tmp_path: Path, extractor: RulesExtractor, left: list[str]
) -> None:
    with opened(tmp_path, extractor, segments={"similarity": 2.0}) as room:
        for number, said in enumerate(("母は胃がんです。", "猫のタマを飼い始めたんだ。")):
            at = NOON + timedelta(hours=number)
            room.memory.turn_finished(turn(said, at, id_=str(number)))
        secret, _ = await room.memory.extract()
        await room.memory.archive.forget([secret.id])
        segments = room.memory._store.tiers.segments_of("hana")
        assert [each.summary for each in segments] == left
        assert "胃がん".encode() not in bytes_of(tmp_path)


async def test_search_in_pages_notices_that_something_was_cut_out(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "memory.db")) as store, closing(Writer(store)) as writer:
        talk(store, "Good morning.", f"{BOAT} {SECRET}", "Good night.")
        secret, boat = drawn(SECRET, "1"), drawn(BOAT, "1")
        store.add_facts([secret, boat], NOON, drawn_from=["0", "1", "2"])
        shelves = PageShelves(store, writer, FakeEmbedder(), Aligned())
        await shelves.make_lines("hana")
        shelf = await shelves.get("hana")
        assert shelf.rarity("himitsu") < 1
        store.forget([secret.id])
        shelf = await shelves.get("hana")
        assert shelf.rarity("himitsu") == 1
