"""The record of a turn: who gets it, and what happens if one of them fails."""

import pytest
import structlog

from server.recording import RecentTurns, describe
from server.trace import Turns
from server.turn import Recalled, Recollection, Transcript, Turn
from tests.fakes import FakeClock


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def turn_finished(self, turn: Turn) -> None:
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError("秘密"), UnicodeError("秘密"), OSError(28, "full")])
async def test_an_observer_that_fails_costs_neither_the_others_nor_the_talk(
    error: Exception,
) -> None:
    before, behind = RecentTurns(5), RecentTurns(5)
    turns = Turns(FakeClock(), (before, Failing(error), behind))
    with structlog.testing.capture_logs() as lines:
        for _ in range(2):
            with turns.record("robot", "hana") as turn:
                turn.transcript = Transcript("おはよう", "ja")
    assert len(before.list()) == len(behind.list()) == 2
    faults = [line for line in lines if line["event"] == "observer-fault"]
    assert [line["observer"] for line in faults] == ["Failing", "Failing"]
    assert "秘密" not in str(lines)


async def test_an_error_of_the_turn_itself_comes_out_and_the_turn_is_recorded() -> None:
    recent = RecentTurns(5)
    turns = Turns(FakeClock(), (Failing(RuntimeError()), recent))

    def fail() -> None:
        with turns.record("robot", "hana") as turn:
            turn.error = "internal-error"
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()
    assert len(recent.list()) == 1


async def test_a_turn_that_runs_while_its_person_is_forgotten_is_kept_by_nobody() -> None:
    recent = RecentTurns(5)
    turns = Turns(FakeClock(), (recent,))
    with turns.record("robot", "hana"), turns.record("desk", "taro") as other:
        other.error = "told"
        with turns.forgetting(lambda turn: turn.person == "hana"), turns.record("robot", "hana"):
            pass
        with turns.record("robot", "hana") as late:
            late.error = "told"
    assert [turn.person for turn in recent.list()] == ["hana", "taro"]
    assert recent.list()[0] is late


async def test_a_turn_is_kept_if_forgetting_failed() -> None:
    recent = RecentTurns(5)
    turns = Turns(FakeClock(), (recent,))
    with turns.record("robot", "hana") as turn:
        turn.error = "told"
        with pytest.raises(KeyError), turns.forgetting(lambda turn: True):
            raise KeyError
    assert recent.list() == [turn]


async def test_who_fails_to_forget_a_turn_does_not_bring_back_what_another_has_forgotten() -> None:
    recent = RecentTurns(5)
    turns = Turns(FakeClock(), (recent,))
    for fails_first in (True, False):
        with turns.record("robot", "hana") as turn:
            turn.error = "told"
            outer = turns.forgetting(lambda turn: True)
            outer.__enter__()
            if fails_first:
                with pytest.raises(KeyError), turns.forgetting(lambda turn: True):
                    raise KeyError
                outer.__exit__(None, None, None)
            else:
                with turns.forgetting(lambda turn: True):
                    pass
                assert not outer.__exit__(KeyError, KeyError(), None)
    assert recent.list() == []


async def test_of_a_turn_that_has_a_forgotten_thing_in_mind_what_was_said_is_kept() -> None:
    recent = RecentTurns(5)
    turns = Turns(FakeClock(), (recent,))
    with turns.record("robot", "hana") as turn:
        turn.transcript = Transcript("妹に子供が生まれたんだ。", "ja")
        turn.asked = Transcript("合言葉は蜜柑だよ。妹に子供が生まれたんだ。", "ja")
        turn.query, turn.answers = turn.asked.text, ("before",)
        turn.recalled = Recollection((Recalled("合言葉は蜜柑", turn.started_at, 0.9, id="f1"),))
        with turns.forgetting(lambda turn: False, lambda turn: bool(turn.recalled)):
            pass
        turn.reply = turn.heard = "蜜柑ですね。"
    [kept] = recent.list()
    assert kept.transcript == kept.question == Transcript("妹に子供が生まれたんだ。", "ja")
    assert "蜜柑" not in str(describe(kept))


async def test_of_a_turn_that_cannot_be_judged_nothing_may_be_kept_or_shown() -> None:
    seen: list[Turn] = []

    class Sees:
        def turn_finished(self, turn: Turn) -> None:
            seen.append(turn)

    def fail(turn: Turn) -> None:
        raise ValueError("a fault")

    with Turns(FakeClock(), [Sees()], judge=fail).record("robot", "hana") as turn:
        turn.transcript = Transcript("Hello", "en")
    assert [one.off_record for one in seen] == [True]
    assert not turn.may_be_shown
