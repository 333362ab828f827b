"""What goes wrong in the middle of a stream: a rule that raises, a fault in either attempt, a model without an end. In virtual time."""

from typing import Any

import pytest

from server.guard.checking import check
from tests.conversation.test_guard import ASKED, COOKIE, PEANUTS, answer, house_knowing, known, line
from tests.fakes import FakeTts
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def test_a_rule_that_raises_in_the_middle_silences_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[str] = []

    def fails_once(sentence: str, *args: Any, **more: Any) -> Any:
        checked.append(sentence)
        if len(checked) == 2:
            raise RuntimeError
        return check(sentence, *args, **more)

    monkeypatch.setattr("server.guard.watching.check", fails_once)
    house = house_knowing(
        known(PEANUTS), ["Let me see. ", "The sun is out. ", COOKIE], ["An apple."]
    )
    (turn,) = await answer(house, ASKED)
    assert turn.heard == "Let me see. The sun is out. An apple."
    assert [one.attempt for one in turn.stopped] == [1]
    assert not turn.error


async def test_a_fault_in_the_middle_of_both_attempts_ends_in_one_safe_line() -> None:
    house = house_knowing(
        known(PEANUTS),
        ["Let me see. ", COOKIE, " Yum."],
        ["I have an idea. ", COOKIE, " And more."],
    )
    (turn,) = await answer(house, ASKED)
    assert turn.heard == f"Let me see. I have an idea. {line('food')}"
    assert len(house.llm.prompts) == 2


@pytest.mark.parametrize("piece", ["and on and on ", "うん", "Well. ", "\n", "…"])
async def test_a_model_without_an_end_comes_to_one(piece: str) -> None:
    house = house_knowing(known(PEANUTS), [piece] * 20_000, voice=FakeTts(0.01, 0.002))
    (turn,) = await answer(house, ASKED)
    assert turn.heard or turn.error
    assert len(turn.reply) <= 1.5 * house.config.sentences.max_reply_chars
    assert house.llm.open_streams == 0


async def test_yes_to_what_must_not_be_had_is_never_heard() -> None:
    house = house_knowing(known(PEANUTS), ["Yes, of course. ", "Enjoy!"], ["Sure!"])
    (turn,) = await answer(house, "Can I have a peanut butter sandwich?")
    assert turn.heard == line("food")


async def test_a_danger_played_down_is_never_heard() -> None:
    house = house_knowing(known(), ["You're fine! "], ["Where does it hurt?"])
    (turn,) = await answer(house, "I fell in the bathroom, my hip hurts.")
    assert turn.heard == "Where does it hurt?"
    assert [one.kind for one in turn.stopped] == ["danger"]
