"""Several robots of a household hear the same wake word. In virtual time."""

from collections.abc import Mapping, Sequence

import anyio
import pytest

from server.arbitration import Arbiter
from server.config import HouseholdSection
from tests.virtual_time import VIRTUAL_TIME, Backend

KITCHEN, HALL, ALONE = "aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02", "aa:bb:cc:00:00:03"
HOME = HouseholdSection(devices=(KITCHEN.upper(), HALL.replace(":", "-")))


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


Call = tuple[float, str, float | None]
"""When, which robot, and how loud."""


async def call(arbiter: Arbiter, calls: Sequence[Call]) -> Mapping[str, bool]:
    """Return which robots answer."""
    answers: dict[str, bool] = {}

    async def hear(at: float, device: str, level: float | None) -> None:
        await anyio.sleep(at)
        answers[device] = await arbiter.chooses(device, level)

    async with anyio.create_task_group() as tasks:
        for one in calls:
            tasks.start_soon(hear, *one)
    return answers


@pytest.mark.parametrize(
    ("calls", "chosen"),
    [
        ([(0.0, HALL, None), (0.2, KITCHEN, None)], HALL),
        ([(0.0, HALL, -40.0), (0.2, KITCHEN, -30.0)], KITCHEN),
        ([(0.0, HALL, -40.0), (0.2, KITCHEN, -39.0)], HALL),
        ([(0.0, HALL, None), (0.2, KITCHEN, -10.0)], HALL),
        ([(0.0, HALL, -40.0), (0.6, KITCHEN, -10.0)], HALL),
    ],
    ids=["arrival", "level", "about-as-loud", "level-unknown", "late"],
)
async def test_one_of_two_robots_answers(calls: list[Call], chosen: str) -> None:
    """Willow README."""
    answers = await call(Arbiter({"home": HOME}), calls)
    assert [device for device, answers_it in answers.items() if answers_it] == [chosen]


async def test_who_was_talked_to_last_goes_on_if_it_hears_as_well() -> None:
    arbiter = Arbiter({"home": HOME})
    assert await arbiter.chooses(KITCHEN, -30.0)
    await anyio.sleep(60)
    answers = await call(arbiter, [(0.0, HALL, -30.0), (0.1, KITCHEN, -31.0)])
    assert answers == {HALL: False, KITCHEN: True}
    await anyio.sleep(60)
    assert (await call(arbiter, [(0.0, HALL, -20.0), (0.1, KITCHEN, -31.0)]))[HALL]


async def test_a_robot_alone_answers_and_one_without_a_household_at_once() -> None:
    arbiter = Arbiter({"home": HOME})
    began = anyio.current_time()
    assert await arbiter.chooses(ALONE, -30.0)
    assert anyio.current_time() == began
    assert await arbiter.chooses(HALL, -30.0)
    assert anyio.current_time() - began == pytest.approx(0.3)


async def test_it_can_be_switched_off() -> None:
    arbiter = Arbiter({"home": HOME.model_copy(update={"wake_window_ms": 0})})
    answers = await call(arbiter, [(0.0, HALL, None), (0.2, KITCHEN, None)])
    assert answers == {HALL: True, KITCHEN: True}


@pytest.mark.parametrize("gone", [HALL, KITCHEN])
async def test_a_robot_that_hangs_up_meanwhile_leaves_the_answer_to_the_other(gone: str) -> None:
    arbiter = Arbiter({"home": HOME})
    answers: dict[str, bool] = {}

    async def hear(device: str, patience: float) -> None:
        with anyio.move_on_after(patience):
            answers[device] = await arbiter.chooses(device, None)

    async with anyio.create_task_group() as tasks:
        for device in (HALL, KITCHEN):
            tasks.start_soon(hear, device, 0.1 if device == gone else 9.0)
            await anyio.sleep(0.01)
    [stayed] = {HALL, KITCHEN} - {gone}
    assert answers == {stayed: True}


@pytest.mark.parametrize("next_one", [HALL, KITCHEN])
async def test_a_call_of_which_the_robot_is_gone_takes_the_answer_from_nobody(
    next_one: str,
) -> None:
    """A robot whose line breaks as it wakes up calls again a moment later, or another one of the household does."""
    arbiter = Arbiter({"home": HOME})
    with anyio.move_on_after(0.1):
        await arbiter.chooses(HALL, None)
    await anyio.sleep(0.5)
    assert await arbiter.chooses(next_one, None)
