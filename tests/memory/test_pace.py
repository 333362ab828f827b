"""How many facts of a person may be stored in an hour."""

from datetime import timedelta
from pathlib import Path

from server.memory.pace import Pace
from tests.memory.remembering import NOON, fact, opened


def test_no_more_than_so_many_an_hour_and_then_again() -> None:
    pace = Pace(3)
    facts = [fact(f"{number}") for number in range(5)]
    assert pace.let(facts[:2], NOON) == facts[:2]
    assert pace.let(facts[2:], NOON) == facts[2:3]
    assert pace.let([fact("x", person="taro")], NOON) == [fact("x", person="taro")]
    assert pace.let(facts, NOON + timedelta(minutes=61)) == facts[:3]
    assert Pace(0).let(facts, NOON) == facts


async def test_what_is_above_stays_in_the_exchanges(tmp_path: Path) -> None:
    with opened(tmp_path, extraction={"facts_per_hour": 1}) as room:
        room.tell("猫を飼い始めたんだ。", "来週箱根に行くんだ。")
        assert len(await room.memory.extract()) == 1
        assert len(room.memory._store.pages.of("hana")) == 2
