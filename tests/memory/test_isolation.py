"""Nothing of one person is ever read in another's name, on whatever way memory is read."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from server.memory.models import (
    Chain,
    DaySummary,
    Level,
    Note,
    NoteKind,
    Origin,
    ProfileEntry,
    ProfileField,
    Segment,
    Trait,
)
from server.memory.private import Category
from server.memory.speakers import Speakers
from server.memory.store import Store
from server.memory.terms import analyse
from server.memory.tiers import Sorting
from tests.memory.reading_paths import (
    ReadingPath,
    arguments,
    reading_methods,
    reading_paths,
    written_out,
)
from tests.memory.remembering import NOON, Room, fact, opened, page

PACKAGE = "server.memory"
EXPECTED = {"Store.facts_of", "Pages.of", "Memory.recall", "Memory.search", "Archive.dossier", "EdgeIndex.ids"}  # fmt: skip
"""Some that the search through the code must find, or it finds nothing at all."""
OF_EVERYBODY = {
    "Archive.fact", "Archive.persons", "Archive.said_in", "Audit.entries",
    "Consents.choices", "Consents.rules", "Consents.states", "Consents.unsettled",
    "Cuts.counts", "Cuts.pages_telling",
    "Erasures.unfinished", "Erasures.would_erase",
    "FactVectors.missing_in", "FactVectors.owners",
    "Pages.after", "Pages.before", "Pages.find", "Pages.since",
    "PersonaTable.document", "PersonaTable.proposals", "Portrait.not_in_summary",
    "Queue.attempts", "Queue.overdue",
    "Deliveries.due", "Deliveries.next_due", "Deliveries.standings", "Ids.events", "Ids.facts", "Ids.pages", "Ids.proposals",
    "SafetyEvents.get", "SafetyEvents.named", "Store.fact", "Store.persons",
    "StoredLines.pages_without_vectors", "Tiers.chain_summary",
}  # fmt: skip
"""Reads of the store that name no person: by an id that a caller was given, or for work in the background on everybody."""
OTHER_WAYS: list[dict[str, Any]] = [
    {"index": {"engine": "qdrant", "url": ":memory:"}},
    {"retrieval": {"mode": "article"}},
]
"""Sections of the configuration that put other parts in the place of those that read by default."""
OF_NO_MEMORY = {"EventRow.as_event"}
"""Takes a person and reads nothing: it fills in a record that is being read in."""
WRITES = {
    "add", "add_all", "add_facts", "agree", "backup", "bring_forward", "bring_in", "close", "delivered", "drop",
    "drop_vectors", "end", "erase", "expire", "finish", "forget", "leave_unread", "post", "propose", "reject",
    "review", "wait",
    "put", "put_off", "put_summary", "put_vectors", "scrub_again", "visit",
}  # fmt: skip
names = st.sampled_from(
    [
        "hana",
        "Hana",
        "hana%",
        "hana_",
        "../hana",
        "facts",
        "花",
        "はな",
        "' OR 1=1 --",
        "person",
        "HANA",
    ]
)


def live(room: Room, person: str, mark: str) -> None:
    """Let somebody say, and be known for, something that only they have a word for."""
    said = (
        f"私の猫の名前は{mark}だよ。",
        f"I am allergic to {mark}.",
        f"明日は{mark}と映画に行く。",
        f"我最喜欢的茶是{mark}。",
    )
    for number, text in enumerate(said):
        room.memory._writer.add_page(
            page(text, NOON + timedelta(minutes=number), person, id_=f"{mark} page {number}")
        )
    own = f"{mark} page 0"
    summary = DaySummary(
        person,
        NOON.date(),
        "en",
        f"About {mark}.",
        (f"Ask of {mark}.",),
        Origin.MODEL,
        NOON,
        (own,),
    )
    known = (
        fact(f"You have a cat called {mark}.", person=person, sources=(own,)),
        fact(f"You are allergic to {mark}.", person=person, sources=(f"{mark} page 1",)),
        replace(fact(f"Omo promised {mark} to sing.", person=person, sources=(own,)), about="Omo"),
    )
    segment = Segment(
        f"{mark} segment", person, "ja", f"{mark} の話", frozenset({mark}), NOON, NOON
    )

    def store() -> None:
        room.memory._store.add_facts(
            known,
            NOON,
            profile=(ProfileEntry(person, ProfileField.HEALTH, f"allergy: {mark}", NOON, (own,)),),
            traits=(Trait(person, f"{mark} trait", Level.HIGH, NOON, (own,)),),
            notes=(
                Note(f"{mark} note", person, NoteKind.SAFETY, f"{mark} hurts", mark, NOON, own),
            ),
            sorting=Sorting(
                (segment,),
                (Chain(f"{mark} chain", person, f"Talk of {mark}"),),
                {own: segment.id},
                {own: f"{mark} chain"},
            ),
        )
        room.memory._store.portrait.put_summary(summary)

    room.memory._writer._thread.submit(store).result()


def given_to(room: Room, person: str, other: str) -> Mapping[str, Any]:
    """Return what each parameter of a reading path is called with: in the name of one, after what the other said."""
    embedder = room.memory._shelves._embedder
    question = f"What is {other}? {other}とは何？"
    terms = analyse(question, "ja")
    stamp = room.memory._shelves.stamp
    return {
        "person": person,
        "query": question,
        "text": question,
        "language": "ja",
        "at": None,
        "now": room.clock.now(),
        "moment": NOON - timedelta(days=1),
        "as_of": False,
        "speakers": Speakers((other,), ("Omo",)),
        "chain": f"{other} chain",
        "segment": f"{other} segment",
        "last": 9,
        "most": 9,
        "limit": 9,
        "day": NOON.date(),
        "after": None,
        "since": None,
        "due": None,
        "stamp": stamp,
        "version": "",
        "ids": [f"{other} waits"],
        "words": other,
        "page_ids": [f"{other} page {number}" for number in range(4)],
        "vector": np.ones(embedder.dimensions, np.float32),
        "weights": dict.fromkeys(range(2000), 1.0),
        "terms": terms,
        "put_off": True,
        "state": None,
        "category": Category.MONEY,
        "actor": "api",
        "this_talk": False,
    }


async def read(path: ReadingPath, given: Mapping[str, Any]) -> list[str]:
    """Return every text that a reading path gives out."""
    if path.name.endswith((".recollect", ".candidates", ".find", ".get")):
        given = {**given, "at": given["now"]}
    if path.name == "Shelves.find":
        shelf = await path.call.__self__.get(given["person"], given["now"])
        given = {**given, "shelf": shelf}
    found = path.call(**arguments(path.call, given))
    return list(written_out(await found if inspect.isawaitable(found) else found))


@pytest.mark.slow
@pytest.mark.timeout(180)
@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # two names are small enough
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(pair=st.tuples(names, names).filter(lambda pair: pair[0] != pair[1]))
def test_no_way_of_reading_gives_one_what_is_anothers(
    tmp_path_factory: Any, pair: tuple[str, str]
) -> None:
    anyio.run(look, tmp_path_factory.mktemp("isolation"), pair, {})


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("sections", OTHER_WAYS, ids=str)
async def test_nor_does_any_that_another_configuration_reads_by(
    tmp_path: Path, sections: dict[str, Any]
) -> None:
    await look(tmp_path, ("hana", "Hana"), sections)


async def look(folder: Path, pair: tuple[str, str], sections: dict[str, Any]) -> None:
    """Read in the name of each of two persons by every way that there is, and look for what is of the other."""
    marks = dict(zip(pair, ("zqalphaqz", "zqbetaqz"), strict=True))
    with opened(folder, **sections) as room:
        for person, mark in marks.items():
            live(room, person, mark)
        room.memory.load()
        await room.memory.catch_up()
        paths = reading_paths(room.memory, PACKAGE)
        assert sections or {path.name for path in paths} >= EXPECTED
        told: dict[str, bool] = {}
        for person, own in marks.items():
            other = next(mark for mark in marks.values() if mark != own)
            for path in paths:
                given = given_to(room, person, other)
                texts = await read(path, given)
                leaked = [text for text in texts if other in text and text != given["query"]]
                assert leaked == [], (path.name, person)
                told[path.name] = told.get(path.name, False) or any(own in text for text in texts)
        silent = {name for name, is_told in told.items() if not is_told}
        assert {"Store.facts_of", "Pages.of", "Archive.dossier"}.isdisjoint(silent)
        assert sections or "Memory.recall" not in silent


async def test_every_way_of_reading_in_the_code_is_tried(tmp_path: Path) -> None:
    tried: set[str] = set()
    for number, sections in enumerate(({}, *OTHER_WAYS)):
        with opened(tmp_path / str(number), **sections) as room:
            tried |= {path.name for path in reading_paths(room.memory, PACKAGE)}
    assert reading_methods(PACKAGE) - tried <= OF_NO_MEMORY


def test_whoever_reads_the_store_names_a_person_or_is_known_not_to(tmp_path: Path) -> None:
    store = Store(tmp_path / "memory.db")
    try:
        parts = [
            store,
            *(each for each in vars(store).values() if type(each).__module__.startswith(PACKAGE)),
        ]
        nameless = {
            f"{type(part).__name__}.{name}"
            for part in parts
            if type(part).__name__ != "Database"
            for name, function in inspect.getmembers(type(part), inspect.isfunction)
            if not name.startswith("_")
            and name not in WRITES
            and "person" not in inspect.signature(function).parameters
        }
    finally:
        store.close()
    assert nameless <= OF_EVERYBODY


async def test_what_one_agent_told_or_did_is_not_told_as_anothers(tmp_path: Path) -> None:
    promise = "{} promised hana to sing {}."
    with opened(tmp_path, persona={"name": "Omo"}, retrieval={"gate": 0.0}) as room:
        for agent, mark in (("Omo", "zqalphaqz"), ("Annie", "zqbetaqz")):
            told = fact(promise.format(agent, mark), language="en", id_=mark)
            await room.memory.add([replace(told, about=agent)])
        for asked in ("What did you promise?", "Did Annie promise to sing zqbetaqz?"):
            found = list(written_out(await room.memory.recall("hana", asked, "en")))
            found += written_out(await room.memory.search("hana", asked, "en"))
            assert any("zqalphaqz" in text for text in found)
            assert not any("zqbetaqz" in text for text in found)
    with opened(tmp_path, persona={"name": "Annie"}, retrieval={"gate": 0.0}) as room:
        found = list(written_out(await room.memory.search("hana", "What did you promise?", "en")))
        assert any("zqbetaqz" in text for text in found)
        assert not any("zqalphaqz" in text for text in found)
