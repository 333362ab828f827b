"""Times and numbers as three languages write and say them."""

import pytest

from server.guard.figures import Figure, Unit, figures_in


def clock(hour: int, minute: int = 0) -> tuple[Unit, int]:
    return Unit.CLOCK, hour * 60 + minute


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("before 11pm", "en", [clock(23)]),
        ("at a quarter to eleven", "en", [clock(10, 45)]),
        ("half past ten at night", "en", [clock(22, 30)]),
        ("by ten", "en", [clock(10)]),
        ("at 3 o'clock", "en", [clock(3)]),
        ("midnight or noon", "en", [clock(0), clock(12)]),
        ("two tablets at 8 in the morning", "en", [(Unit.TABLET, 2), clock(8)]),
        ("from 3 apples", "en", []),
        ("at 5 people", "en", []),
        ("March 3rd, the 5th of May", "en", [(Unit.DATE, 303), (Unit.DATE, 505)]),
        ("twice a day", "en", [(Unit.TIMES, 2)]),
        ("room 204 on Thursday", "en", [(Unit.ROOM, 204), (Unit.WEEKDAY, 3)]),
        ("夜11時までに", "ja", [clock(23)]),
        ("十時半", "ja", [clock(10, 30)]),
        ("3時間", "ja", []),
        ("3月5日の木曜日", "ja", [(Unit.DATE, 305), (Unit.WEEKDAY, 3)]),
        ("1錠を一日2回", "ja", [(Unit.TABLET, 1), (Unit.TIMES, 2)]),
        ("晚上十一点之前", "zh", [clock(23)]),
        ("下午三点一刻", "zh", [clock(15, 15)]),
        ("每天两次，一次一片", "zh", [(Unit.TIMES, 2), (Unit.TABLET, 1)]),
        ("早点睡，快点儿", "zh", []),
        ("首要的一点是先做足功课，多休息一点", "zh", []),
        ("一点之前睡觉", "zh", [clock(1)]),
    ],
)
def test_figures_are_read(text: str, language: str, expected: list[tuple[Unit, int]]) -> None:
    assert [(one.unit, one.value) for one in figures_in(text, language)] == expected


def test_a_time_without_its_half_of_the_day_agrees_with_either() -> None:
    (told,) = figures_in("before 11", "en")
    (late,) = figures_in("before 11pm", "en")
    (early,) = figures_in("before 11am", "en")
    (other,) = figures_in("before 1pm", "en")
    assert told.agrees(late)
    assert told.agrees(early)
    assert not late.agrees(early)
    assert not told.agrees(other)


def test_the_way_to_a_later_time_goes_round_midnight() -> None:
    assert Figure(Unit.CLOCK, 23 * 60, 0, 0).minutes_before(Figure(Unit.CLOCK, 60, 0, 0)) == 120
