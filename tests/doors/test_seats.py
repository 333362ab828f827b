"""Who said that it is them who speaks with a robot: for how long that holds, and for whom."""

from datetime import timedelta

from server.access import Access, take_seat
from tests.doors.premises import ROBOT, FixedClock
from tests.doors.visitors import AFAR, HERE, OWN, Open, robot

HOME = {"households": {"home": {"devices": [ROBOT], "persons": ["carol"]}}}


def person(access: Access) -> str:
    return access.admit(robot(), AFAR).person


def test_it_holds_over_connections_until_nothing_was_said_for_long(
    open_access: Open, clock: FixedClock
) -> None:
    access = open_access(**HOME)
    assert person(access) == OWN
    access.seats.take(ROBOT, "carol")
    for _ in range(3):
        clock.moment += timedelta(minutes=20)
        assert person(access) == "carol"
        access.seats.keep(ROBOT)
    clock.moment += timedelta(minutes=31)
    assert person(access) == OWN
    access.seats.keep(ROBOT)
    assert person(access) == OWN, "a talk of its own person does not bring the other back"


def test_a_guest_stays_one_and_the_household_is_told_to_nobody_else(open_access: Open) -> None:
    access = open_access(**HOME)
    assert tuple(access.admit(robot(), AFAR).household) == (OWN, "carol")
    assert not access.admit(robot("second"), AFAR).household
    access.seats.take(ROBOT, "")
    admission = access.admit(robot(), AFAR)
    assert admission.is_guest
    assert "carol" in admission.household, "or nobody could come back"
    assert admission.device == ROBOT


def test_they_are_heard_and_spoken_to_as_is_configured_for_them(open_access: Open) -> None:
    persons = {"carol": {"language": "en", "voice": "joe"}}
    access = open_access(**HOME, persons=persons)
    before = access.admit(robot(), AFAR)
    assert (before.language, before.voice) == (None, "")
    access.seats.take(ROBOT, "carol")
    after = access.admit(robot(), AFAR)
    assert (after.language, after.voice) == ("en", "joe")
    fixed = open_access(**HOME, persons=persons, devices={ROBOT: {"language": "zh"}})
    fixed.seats.take(ROBOT, "carol")
    assert fixed.admit(robot(), AFAR).language == "zh"


def test_whoever_may_name_a_person_gets_that_one_whoever_spoke_last(open_access: Open) -> None:
    access = open_access(**HOME)
    person(access)
    access.seats.take(ROBOT, "carol")
    assert access.admit(robot(person="taro"), HERE).person == "taro"


def test_somebody_who_left_the_household_is_not_gone_on_with(open_access: Open) -> None:
    access = open_access()
    person(access)
    access.seats.take(ROBOT, "carol")
    assert person(access) == OWN


def test_a_robot_that_is_given_to_somebody_is_theirs_whoever_sat_there(
    open_access: Open,
) -> None:
    access = open_access(**HOME)
    beside = open_access(**HOME)  # as a command does it, beside the server
    for owner in ("hana", "hana"):  # to the same once more, too
        person(access)
        take_seat(access, ROBOT, "carol")
        assert person(access) == "carol"
        beside.accept(ROBOT, owner)
        assert person(access) == owner
    take_seat(access, ROBOT, "carol")
    assert person(access) == "carol"
