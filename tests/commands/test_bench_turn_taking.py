"""The benchmarks of turn taking: short runs, with the real voices and ears."""

from pathlib import Path

import pytest

from server.commands import bench_echo, bench_noise, bench_pacing
from server.commands.reach import Place
from server.config import Config

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(Config(), tmp_path)


async def test_a_robot_that_hears_itself_is_told_from_who_talks_over_it(place: Place) -> None:
    plan = bench_echo.Plan(minutes=0.5, interruptions=2)
    report = await bench_echo.bench_echo(place, plan, lambda _: None)
    assert (report.data["self_turns"], report.data["heard"]) == (0, 2)


async def test_without_the_guard_it_answers_itself(place: Place) -> None:
    plan = bench_echo.Plan(minutes=0.5, interruptions=0, guarded=False)
    report = await bench_echo.bench_echo(place, plan, lambda _: None)
    assert int(str(report.data["self_turns"])) > 0


async def test_noises_are_no_turns_and_words_are(place: Place) -> None:
    report = await bench_noise.bench_noise(place, bench_noise.Plan(20), lambda _: None)
    assert report.data["false_turns"] == 0
    # One of them, うん of the embedded voice, is taken for a breath by Whisper base.
    assert (report.data["words_heard"], report.data["words"]) == (11, 12)


async def test_a_weak_link_is_told_from_a_good_one(place: Place) -> None:
    report = await bench_pacing.bench_pacing(place, bench_pacing.Plan(replies=1), lambda _: None)
    links = report.data["links"]
    assert isinstance(links, dict)
    assert links["good"]["underruns"] == links["good"]["overflows"] == 0
    assert links["weak"]["gap_ms_p99"] > links["good"]["gap_ms_p99"]
