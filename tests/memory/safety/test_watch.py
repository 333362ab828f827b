"""The watch over what is said: what it keeps at once, what it has said, and what it leaves alone."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from server.config import Config
from server.memory.safety.models import Severity, SignalKind, State
from server.memory.safety.watch import SafetyWatch
from server.memory.store import Store
from server.memory.writer import Writer
from server.turn import Kept
from tests.memory.remembering import NOON, turn
from tests.memory.test_store import full_disk

LONG = f"胸が痛い、{'あ' * 1_900}。"
"""More than the space that an empty store has left."""


@contextmanager
def watching(folder: Path, **section: Any) -> Iterator[tuple[SafetyWatch, Writer, Store]]:
    with closing(Store(folder / "memory.db")) as store:
        writer = Writer(store)
        try:
            watch = SafetyWatch(writer, Config(safety=section).safety, lambda one: one == "off")
            yield watch, writer, store
        finally:
            writer.close()


async def test_signs_are_kept_at_once_with_the_very_words_and_the_page(tmp_path: Path) -> None:
    with watching(tmp_path) as (watch, writer, store):
        said = "Good morning. My chest feels tight. I fell in the bath yesterday. Nice day."
        watch.heed(turn(said, language="en", id_="t1"))
        assert watch.noticed.is_set()
        await writer.settle()
        symptom, fall = sorted(
            store.safety.find("hana"), key=lambda event: event.kind, reverse=True
        )
    assert (symptom.kind, symptom.severity) == (SignalKind.SYMPTOM, Severity.URGENT)
    assert (symptom.quote, symptom.page, symptom.at) == ("My chest feels tight.", "t1", NOON)
    assert (fall.kind, fall.quote) == (SignalKind.FALL, "I fell in the bath yesterday.")
    assert symptom.state is State.OPEN


@pytest.mark.parametrize(
    ("watched", "urgent", "wish", "language"),
    [
        ("I fell in the bath yesterday.", "I want to die.", "Don't remember this.", "en"),
        ("I fell in the bath yesterday.", "My chest feels tight.", "Forget that.", "en"),
        ("昨日お風呂で転んだ。", "死にたい。", "これは覚えないで。", "ja"),
        ("昨日お風呂で転んだ。", "死にたい。", "それは忘れて。", "ja"),
        ("我昨天在浴室摔倒了。", "我想自杀。", "这个别记。", "zh"),
    ],
)
async def test_what_is_not_to_be_kept_is_no_event_unless_it_is_urgent(
    watched: str, urgent: str, wish: str, language: str, tmp_path: Path
) -> None:
    with watching(tmp_path) as (watch, writer, store):
        for number, said in enumerate((f"{watched} {wish}", f"{urgent} {wish}", watched)):
            told = turn(said, language=language, id_=f"t{number}")
            watch.heed(told)
            assert bool(watch.escalation(told)) == (number == 1)
        await writer.settle()
        assert {event.page for event in store.safety.find()} == {"t1", "t2"}


async def test_who_asks_to_forget_a_danger_sign_does_not_tell_of_one(tmp_path: Path) -> None:
    with watching(tmp_path) as (watch, _, _):
        for said in (
            "Forget what I told you about my chest pain.",
            "My chest hurts. Just kidding.",
        ):
            assert not watch.escalation(turn(said, language="en"))


async def test_of_one_page_and_kind_one_event_is_kept_from_the_first_sign_to_the_last(
    tmp_path: Path,
) -> None:
    with watching(tmp_path) as (watch, writer, store):
        told = turn("I'm dizzy. It is Monday. I can't breathe. Bye.", language="en", id_="t1")
        watch.heed(told)
        watch.heed(told)
        await writer.settle()
        [event] = store.safety.find()
    assert event.quote == "I'm dizzy. It is Monday. I can't breathe."
    assert event.severity is Severity.URGENT


async def test_a_full_disk_loses_no_event(tmp_path: Path) -> None:
    with watching(tmp_path) as (watch, writer, store):
        with full_disk(store):
            watch.heed(turn(LONG))
            await writer.settle()
            assert writer.trouble is not None
        await writer.settle()
        assert [event.quote for event in store.safety.find()] == [LONG]


async def test_an_event_that_could_not_be_stored_is_forgotten_with_its_person(
    tmp_path: Path,
) -> None:
    with watching(tmp_path) as (watch, writer, store):
        with full_disk(store):
            watch.heed(turn(LONG))
            await writer.settle()
            writer.give_up(lambda page: page.person == "hana")
        await writer.settle()
        assert store.safety.find() == []


async def test_nothing_is_kept_of_a_turn_that_is_being_forgotten_or_if_switched_off(
    tmp_path: Path,
) -> None:
    with watching(tmp_path) as (watch, writer, store):
        gone = turn("胸が痛い。")
        gone.kept = Kept.NOTHING
        watch.heed(gone)
        await writer.settle()
        assert store.safety.find() == []
    with watching(tmp_path, enabled=False) as (watch, writer, store):
        watch.heed(turn("胸が痛い。"))
        await writer.settle()
        assert store.safety.find() == []
        assert watch.escalation(turn("胸が痛い。")) == ""


def test_only_what_is_urgent_is_answered_with_the_line_of_its_language(tmp_path: Path) -> None:
    with watching(tmp_path, escalation={"en": "Press the red button."}) as (watch, _, _):
        assert watch.escalation(turn("I can't breathe.", language="en")) == "Press the red button."
        assert watch.escalation(turn("I have a headache.", language="en")) == ""
        assert "電話" in watch.escalation(turn("息が苦しい。"))
        assert "求助" in watch.escalation(turn("我不想活了。", language="zh"))


def test_no_line_names_a_telephone_number() -> None:
    lines = Config().safety.escalation
    assert not any(
        character.isdigit() for line in (lines.ja, lines.en, lines.zh) for character in line
    )


async def test_nothing_is_kept_of_who_does_not_want_it_but_the_answer_is_the_same(
    tmp_path: Path,
) -> None:
    with watching(tmp_path) as (watch, writer, store):
        said = turn("I want to end my life.", language="en", person="off", id_="t1")
        watch.heed(said)
        await writer.settle()
        assert store.safety.find() == []
        assert watch.escalation(said)
