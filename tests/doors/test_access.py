from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.access import Access
from server.callers import Caller
from server.claims import Claim, parse_bearer
from server.config import Config
from server.errors import AccessError
from tests.doors.premises import ROBOT, FixedClock
from tests.doors.visitors import AFAR, HERE, OWN, Open, refusal, robot, who

# A new device


def test_a_new_device_is_welcomed_as_a_new_person(access: Access) -> None:
    assert who(access.admit(robot(), AFAR)) == (OWN, False)
    assert who(access.admit(Claim("other", "x"), AFAR)) == ("person-other", False)


def test_a_stale_token_from_another_server_does_not_shut_a_new_device_out(access: Access) -> None:
    assert who(access.admit(robot(token="test-token"), AFAR)) == (OWN, False)


@pytest.mark.parametrize(
    "spelling", ["AA:BB:CC:DD:EE:FF", "aa-bb-cc-dd-ee-ff", " aa:bb:cc:dd:ee:ff "]
)
def test_a_device_is_the_same_in_any_spelling(access: Access, spelling: str) -> None:
    access.admit(robot(), AFAR)
    assert access.admit(Claim(spelling, "first"), AFAR).device == ROBOT
    assert len(access.devices()) == 1


@pytest.mark.parametrize(
    "device_id",
    ["a b", "a/b", "../x", "a\r\nb", "é", "思い出", "a" * 65, "aa~bb", ":", "a,b", "a\0"],
)
@pytest.mark.parametrize("caller", [HERE, AFAR])
def test_what_is_no_device_id_is_refused(access: Access, device_id: str, caller: Caller) -> None:
    assert refusal(access, Claim(device_id, "x"), caller) == "device-id-invalid"
    assert access.devices() == []


def test_a_robot_without_a_name_is_refused(access: Access) -> None:
    assert refusal(access, Claim("", "x")) == "device-id-missing"


def test_a_program_on_this_machine_needs_no_name(access: Access) -> None:
    assert access.admit(Claim(""), HERE).device == "local"
    one, other = (access.admit(Claim("", client), HERE).device for client in ("a", "b"))
    assert one != other


# Tokens


def test_ota_hands_out_the_same_token_again_even_after_a_restart(open_access: Open) -> None:
    tokens = {open_access().visit(robot(), AFAR) for _ in range(3)}
    assert len(tokens) == 1
    assert len(tokens.pop()) > 40


def test_tokens_differ_by_device_by_client_and_by_server(tmp_path: Path) -> None:
    servers = [Access(Config(), tmp_path / name, FixedClock()) for name in ("one", "two")]
    claims = [robot(), robot("second"), Claim("other", "first")]
    assert len({server.visit(claim, AFAR) for server in servers for claim in claims}) == 6


def test_a_token_stays_bound_to_its_client_even_if_the_registry_is_lost(
    open_access: Open, tmp_path: Path
) -> None:
    before = open_access().visit(robot(), AFAR)
    (tmp_path / "devices.json").unlink()
    assert open_access().visit(robot("second"), AFAR) != before


def test_the_token_from_ota_opens_the_door(access: Access) -> None:
    token = access.visit(robot(), AFAR)
    assert who(access.admit(robot(token=token), AFAR)) == (OWN, False)
    assert access.proves_itself(robot(token=token))


def test_an_old_client_that_sends_no_client_id_gets_in_with_its_token(access: Access) -> None:
    token = access.visit(robot(), AFAR)
    assert who(access.admit(robot("", token), AFAR)) == (OWN, False)


@pytest.mark.parametrize("caller", [HERE, AFAR])
def test_the_token_of_another_device_opens_nothing(access: Access, caller: Caller) -> None:
    access.visit(robot(), AFAR)
    other = access.visit(Claim("other", "first"), AFAR)
    assert refusal(access, robot(token=other), caller) == "token-wrong"
    assert not access.proves_itself(robot(token=other))


def test_a_device_that_got_a_token_must_bring_it(access: Access) -> None:
    access.visit(robot(), AFAR)
    assert refusal(access, robot()) == "token-missing"
    assert refusal(access, robot(token="x")) == "token-wrong"
    assert refusal(access, robot(token="é")) == "token-wrong"


def test_a_token_does_not_work_for_another_client(access: Access) -> None:
    token = access.visit(robot(), AFAR)
    assert refusal(access, robot("second", token)) == "token-wrong"


def test_programs_on_this_machine_need_no_token(access: Access) -> None:
    access.visit(robot(), AFAR)
    assert who(access.admit(robot("anything"), HERE)) == (OWN, False)


def test_the_api_token_opens_every_door(open_access: Open) -> None:
    access = open_access(access={"api_token": "master"})
    access.visit(robot(), AFAR)
    assert who(access.admit(robot("anything", "master"), AFAR)) == (OWN, False)
    assert access.admit(Claim("", token="master"), AFAR).device == "local"


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer   abc ", "abc"),
        ("BEARER\tabc", "abc"),
        ("abc", "abc"),
        ("Bearer ", ""),
        ("Bearer", ""),
        ("", ""),
        ("Basic abc", ""),
    ],
)
def test_a_bearer_header_is_read_leniently(header: str, token: str) -> None:
    assert parse_bearer(header) == token


# Guests


def test_a_device_known_by_address_only_is_recognised_by_its_client_id(access: Access) -> None:
    access.admit(robot(), AFAR)
    assert who(access.admit(robot(), AFAR)) == (OWN, False)


def test_another_client_on_a_known_device_is_a_guest(access: Access) -> None:
    access.admit(robot(), AFAR)
    guest = access.admit(robot("second"), AFAR)
    assert guest.is_guest
    assert guest.person.startswith("guest-")
    assert guest.device != ROBOT
    assert access.admit(robot("second"), AFAR) == guest
    assert access.admit(robot("third"), AFAR).person != guest.person
    assert access.admit(robot(""), AFAR).is_guest


def test_the_token_of_a_guest_makes_it_a_guest_everywhere(access: Access) -> None:
    access.visit(robot(), AFAR)
    token = access.visit(robot("second"), AFAR)
    for caller in (HERE, AFAR):
        assert access.admit(robot("second", token), caller).is_guest
    assert refusal(access, robot("first", token)) == "token-wrong"


def test_another_serial_number_makes_a_guest_too(access: Access) -> None:
    first = access.visit(robot(serial="s1"), AFAR)
    second = access.visit(robot(serial="s2"), AFAR)
    assert first != second
    assert access.visit(robot(), AFAR) == first
    assert access.admit(robot(token=second), AFAR).is_guest
    assert not access.admit(robot(token=first), AFAR).is_guest


def test_an_accepted_guest_speaks_with_the_memory_of_the_owner(access: Access) -> None:
    access.visit(robot(), AFAR)
    token = access.visit(robot("second"), AFAR)
    guest = access.admit(robot("second", token), AFAR)
    access.accept(guest.device)
    accepted = access.admit(robot("second", token), AFAR)
    assert (accepted.device, accepted.person, accepted.is_guest) == (ROBOT, OWN, False)


def test_a_stranger_does_not_get_what_a_program_here_told_under_that_name(access: Access) -> None:
    access.admit(Claim(ROBOT), HERE)
    assert access.admit(robot(), AFAR).is_guest
    assert access.admit(robot(""), AFAR).is_guest
    stranger = access.visit(robot("third"), AFAR)
    assert access.admit(robot("third", stranger), AFAR).is_guest


def test_a_robot_here_may_take_a_name_that_only_programs_here_used(access: Access) -> None:
    access.admit(Claim(ROBOT), HERE)
    token = access.visit(robot(), HERE)
    assert who(access.admit(robot(token=token), AFAR)) == (OWN, False)


def test_a_flood_of_guests_stays_small_and_spares_accepted_ones(
    access: Access, clock: FixedClock
) -> None:
    access.admit(robot(), AFAR)
    kept = access.admit(robot("kept"), AFAR)
    access.accept(kept.device)
    for number in range(30):
        clock.moment += timedelta(seconds=1)
        access.admit(robot(f"flood {number}"), AFAR)
    assert len(access.devices()) == 2 + 8
    assert not access.admit(robot("kept"), AFAR).is_guest


def test_who_names_no_client_id_is_never_taken_for_another(access: Access) -> None:
    """Neither for the owner nor for the last one that named none: only the Device-Id would vouch for it."""
    access.admit(Claim(ROBOT), HERE)
    visits = [access.admit(robot(""), AFAR) for _ in range(3)]
    assert all(visit.is_guest and visit.is_nameless and not visit.is_known for visit in visits)
    assert len({OWN, *(visit.person for visit in visits)}) == 4


def test_who_names_no_client_id_owns_nothing(access: Access) -> None:
    first = access.admit(robot(""), AFAR)
    assert access.admit(robot(""), AFAR).person != first.person
    assert who(access.admit(robot(), AFAR)) == (OWN, False)
    assert access.admit(robot(""), AFAR).person not in (OWN, first.person)


def test_ota_gives_nobody_the_token_of_an_owner_for_an_empty_client_id(access: Access) -> None:
    token = access.visit(robot(""), AFAR)
    assert access.visit(robot(), AFAR) != token
    for claim in (robot("", token), robot("", access.visit(robot(""), AFAR))):
        assert access.admit(claim, AFAR).is_nameless
    assert refusal(access, robot("")) == "token-missing"


def test_acceptance_does_not_open_the_memory_of_the_owner_to_the_nameless(access: Access) -> None:
    access.admit(robot(), AFAR)
    access.admit(robot(""), AFAR)
    (guest,) = [device for device in access.devices() if device.is_guest]
    access.accept(guest.id, "taro")
    person, is_guest = who(access.admit(robot(""), AFAR))
    assert is_guest
    assert person not in (OWN, "taro")


def test_an_empty_client_id_in_an_older_registry_opens_nothing(
    open_access: Open, tmp_path: Path
) -> None:
    open_access().admit(robot(), AFAR)
    file = tmp_path / "devices.json"
    file.write_text(file.read_text().replace('"first"', '""'))
    access = open_access()
    assert access.admit(robot(""), AFAR).person != OWN


# Approval, acceptance, forgetting


def test_in_approve_mode_a_device_waits_until_it_is_accepted(open_access: Open) -> None:
    access = open_access(access={"mode": "approve"})
    token = access.visit(robot(), AFAR)
    assert refusal(access, robot(token=token)) == "device-waiting"
    assert [device.accepted for device in access.devices()] == [False]
    access.accept(ROBOT)
    assert who(access.admit(robot(token=token), AFAR)) == (OWN, False)


def test_in_approve_mode_guests_wait_and_programs_here_do_not(open_access: Open) -> None:
    access = open_access(access={"mode": "approve"})
    assert who(access.admit(robot(), HERE)) == (OWN, False)
    assert refusal(access, robot()) == "device-waiting"
    access.accept(ROBOT)
    assert refusal(access, robot("second")) == "device-waiting"


def test_a_person_can_be_chosen_at_acceptance(access: Access) -> None:
    access.admit(robot(), AFAR)
    access.accept(ROBOT, "taro")
    assert access.admit(robot(), AFAR).person == "taro"
    with pytest.raises(AccessError, match="printable"):
        access.accept(ROBOT, "ta\nro")


def test_a_forgotten_device_comes_back_as_somebody_else_and_its_token_is_void(
    access: Access,
) -> None:
    old = access.visit(robot(), AFAR)
    guest = access.visit(robot("second"), AFAR)
    assert len(access.forget(ROBOT.upper())) == 2
    assert access.devices() == []
    new = access.visit(robot(), AFAR)
    assert new != old
    assert refusal(access, robot(token=old)) == "token-wrong"
    assert refusal(access, robot("second", guest)) == "token-wrong"
    first = access.admit(robot(token=new), AFAR).person
    access.forget(ROBOT)
    second = access.admit(robot(), AFAR).person
    assert len({OWN, first, second}) == 3


def test_a_revoked_token_opens_nothing_and_the_next_one_leads_to_the_same_person(
    access: Access,
) -> None:
    old = access.visit(robot(), AFAR)
    person = access.admit(robot(token=old), AFAR).person
    access.revoke(ROBOT)
    assert refusal(access, robot(token=old)) == "token-wrong"
    new = access.visit(robot(), AFAR)
    assert (new != old, access.admit(robot(token=new), AFAR).person) == (True, person)


def test_unknown_devices_can_be_neither_accepted_nor_forgotten(access: Access) -> None:
    for decide in (access.accept, access.forget):
        with pytest.raises(AccessError) as caught:
            decide("nobody")
        assert caught.value.code == "device-unknown"


@given(
    claims=st.lists(
        st.tuples(
            st.sampled_from(["visit", "admit"]),
            st.sampled_from(["first", "second", "third", ""]),
            st.sampled_from(["", "wrong", "own", "other"]),
        ),
        max_size=12,
    ),
    came_by_ota=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_only_the_first_client_ever_reaches_the_memory_of_the_device(
    tmp_path_factory: pytest.TempPathFactory, claims: list[tuple[str, str, str]], came_by_ota: bool
) -> None:
    access = Access(Config(), tmp_path_factory.mktemp("data"), FixedClock())
    (access.visit if came_by_ota else access.admit)(robot("owner"), AFAR)
    tokens: dict[str, str] = {}
    for deed, client, which in claims:
        if deed == "visit":
            tokens[client] = access.visit(robot(client), AFAR)
            continue
        others = [token for owner, token in tokens.items() if owner != client]
        given_tokens = {"own": tokens.get(client, ""), "other": others[0] if others else ""}
        try:
            admission = access.admit(robot(client, given_tokens.get(which, which)), AFAR)
        except AccessError:
            continue
        assert admission.person != OWN
