"""Safety events in the store: reviewed by people, and forgotten with the words that they quote."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.memory.models import Origin
from server.memory.safety.models import Review, SafetyEvent, Severity, SignalKind, State
from server.memory.safety.noticing import make_event, notice
from server.memory.store import Store
from tests.memory.remembering import NOON, fact, modelled, opened, page, turn
from tests.on_disk import bytes_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened_store:
        yield opened_store


def event(
    said: str = "今朝から胸が痛いのよ。", person: str = "hana", page_id: str = "p1"
) -> SafetyEvent:
    return make_event(
        page(said, person=person, id_=page_id),
        SignalKind.SYMPTOM,
        Severity.URGENT,
        said,
        Origin.RULES,
    )


def test_an_event_comes_back_as_it_was_kept_also_after_a_restart(tmp_path: Path) -> None:
    [kept] = notice(page("今朝から胸が痛いのよ。", id_="p1"))
    with closing(Store(tmp_path / "memory.db")) as store:
        store.safety.add([kept])
    with closing(Store(tmp_path / "memory.db")) as store:
        assert store.safety.find() == [kept]
        assert store.safety.get(kept.id) == kept
        assert store.persons() == ["hana"]


def test_adding_the_same_page_and_kind_again_changes_nothing(store: Store) -> None:
    store.safety.add([event()])
    store.safety.add([event("別の言葉で胸が痛い。")])
    assert [one.quote for one in store.safety.find()] == ["今朝から胸が痛いのよ。"]


def test_a_review_says_who_and_when_and_what_is_closed_stays_closed(store: Store) -> None:
    one = event()
    store.safety.add([one])
    later, latest = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
    seen = store.safety.review(one.id, Review(State.ACKNOWLEDGED, "Nurse Ito", later))
    assert seen is not None
    assert seen.state is State.ACKNOWLEDGED
    store.safety.review(one.id, Review(State.CLOSED, "Dr Sato", latest, "ECG normal"))
    store.safety.review(one.id, Review(State.ACKNOWLEDGED, "somebody", latest))
    store.safety.review(one.id, Review(State.CLOSED, "somebody", latest))
    closed = store.safety.get(one.id)
    assert closed is not None
    assert closed.state is State.CLOSED
    assert [(each.by, each.at, each.note) for each in closed.reviews] == [
        ("Nurse Ito", later, ""),
        ("Dr Sato", latest, "ECG normal"),
    ]
    assert store.safety.find(state=State.OPEN) == []
    assert store.safety.find("hana", State.CLOSED) == [closed]
    assert store.safety.review("nothing", Review(State.CLOSED, "x", later)) is None


def test_a_person_is_forgotten_with_events_and_reviews_and_webhooks_wait_for_no_words(
    tmp_path: Path,
) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        mine, other = event("胸が痛くて眠れないの。"), event("頭が痛いんだよ。", "ken", "p2")
        store.safety.add([mine, other])
        store.deliveries.post(lambda _: ["nurse"], NOON)
        store.safety.review(mine.id, Review(State.ACKNOWLEDGED, "Ito", NOON, "markermarker"))
        store.forget_person("hana")
        assert store.safety.find() == [other]
        due = {one.event.person: one for one in store.deliveries.due("nurse", NOON, 9)}
        assert due["ken"].event == other
        assert due["hana"].is_erased
        assert (due["hana"].event.quote, due["hana"].event.reviews) == ("", ())
    everything = bytes_of(tmp_path)
    assert "胸が痛くて眠れない".encode() not in everything
    assert b"markermarker" not in everything


def test_forgetting_a_fact_takes_the_events_of_its_page_and_those_that_quote_it(
    store: Store,
) -> None:
    said = page("胸が痛いのよ。", id_="p1")
    store.pages.add(said)
    stored = fact("あなたは胸が痛い。", id_="f1")
    store.add_facts([replace(stored, quote="胸が痛いのよ。", sources=("p1",))], NOON)
    store.safety.add([event("胸が痛いのよ。", page_id="p1"), event("足が痛い。", page_id="p3")])
    store.forget(["f1"])
    assert [one.page for one in store.safety.find()] == ["p3"]


async def test_an_event_outlives_the_fading_of_what_it_was_said_beside(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("昨日テレビで野球を見た。")
        await room.memory.extract()
        store = room.memory._store
        [page_id] = [one.id for one in store.pages.of("hana")]
        store.safety.add([event(page_id=page_id)])
        facts = store.facts_of("hana")
        store.end([one.id for one in facts], [], room.clock.now())
        assert store.pages.of("hana") == []
        assert [one.page for one in store.safety.find()] == [page_id]


def test_the_outbox_holds_what_is_wanted_until_it_is_delivered(store: Store) -> None:
    one, two = event(page_id="p1"), event("転んだの。", page_id="p2")
    store.safety.add([one])
    store.deliveries.post(lambda _: ["nurse"], NOON)
    store.safety.add([two])
    store.deliveries.post(lambda each: ["nurse", "son"] if each.id == two.id else [], NOON)
    assert {d.event.page for d in store.deliveries.due("nurse", NOON, 9)} == {"p1", "p2"}
    [to_son] = store.deliveries.due("son", NOON, 9)
    later = NOON + timedelta(minutes=1)
    store.deliveries.put_off(to_son, later)
    assert store.deliveries.due("son", NOON, 9) == []
    assert store.deliveries.due("son", later, 9)[0].attempts == 1
    assert store.deliveries.next_due("son") == later
    store.deliveries.delivered(to_son)
    assert store.deliveries.next_due("son") is None
    store.deliveries.post(lambda _: ["son"], NOON)
    assert store.deliveries.due("son", later, 9) == []  # each event is posted once


async def test_what_a_model_notices_is_kept_with_the_facts_and_what_the_rules_kept_stays(
    tmp_path: Path,
) -> None:
    def sign(number: int, kind: str, quote: str) -> dict[str, object]:
        return {"kind": kind, "text": quote, "turn": number, "quote": quote}

    notes = [sign(1, "symptom", "ご飯の味がしない"), sign(2, "symptom", "胸が痛い")]
    extractor, _ = modelled([json.dumps({"facts": [], "notes": notes}, ensure_ascii=False)])
    with opened(tmp_path, extractor) as room:
        for said in ("この頃ね、ご飯の味がしないの。", "今朝から胸が痛いの。"):
            told = turn(said, room.clock.now())
            room.memory.safety.heed(told)
            room.memory.turn_finished(told)
            room.clock.pass_time(minutes=1)
        await room.memory.extract()
        first, second = await room.memory.desk.find("hana")
    assert (first.origin, first.quote) == (Origin.MODEL, "ご飯の味がしない")
    assert (second.origin, second.severity) == (Origin.RULES, Severity.URGENT)
