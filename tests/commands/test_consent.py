"""`omoide memory consent` on a data folder."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import Result

from server.commands.consent import read_decision
from server.errors import OmoideError
from server.memory import Page
from server.memory.consents import Pending
from server.memory.private import Category
from server.memory.store import Store

Omoide = Callable[..., Result]
NOON = datetime.fromisoformat("2026-09-27T12:00:00+09:00")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    store = Store(folder / "memory.db")
    waiting = Pending("p1", "hana", "robot", "My pension is small.", "en", Category.MONEY, NOON)
    store.consents.wait([waiting])
    store.pages.add(Page("I have a cat.", "", NOON, "en", id="page", person="hana"))
    store.close()
    return tmp_path


def test_consent_is_shown_and_decided(data: Path, omoide: Omoide) -> None:
    place = ("--data", str(data))
    shown = omoide("memory", "consent", "hana", *place)
    assert "hana is remembered." in shown.stdout
    assert "p1  money  My pension is small." in shown.stdout
    changed = omoide("memory", "consent", "hana", "--memory", "off", "--accept", "p1", *place)
    assert "is not remembered" in changed.stdout
    store = Store(data / "memory" / "memory.db")
    try:
        assert [page.said for page in store.pages.of("hana")] == [
            "I have a cat.",
            "My pension is small.",
        ]
    finally:
        store.close()


def test_a_policy_that_makes_no_sense_is_refused_with_what_is_possible(
    data: Path, omoide: Omoide
) -> None:
    answer = omoide("memory", "consent", "hana", "--set", "weather=keep", "--data", str(data))
    assert answer.exit_code != 0
    assert "religion, politics, sexuality, money, others" in answer.output


def test_a_state_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(OmoideError, match="--memory with one of on, off, talk"):
        read_decision("of", [], [], [])
