import stat
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from server.access import Access
from server.claims import Claim, name_person, tidy_device_id
from server.config import Config
from server.errors import AccessError, ConfigError
from tests.doors.premises import ROBOT, FixedClock
from tests.doors.visitors import AFAR, HERE, OWN, Open, refusal, robot

# Persons, languages, voices


def test_the_configuration_names_the_person_of_a_device(open_access: Open) -> None:
    access = open_access(
        devices={"AA-BB-CC-DD-EE-FF": {"person": "hanako", "voice": "v1"}},
        persons={"hanako": {"language": "ja", "voice": "v2"}},
    )
    admission = access.admit(robot(), AFAR)
    assert (admission.person, admission.language, admission.voice) == ("hanako", "ja", "v1")
    assert access.admit(robot("second"), AFAR).person != "hanako"


def test_only_programs_here_and_the_api_token_may_choose_a_person(open_access: Open) -> None:
    access = open_access(access={"api_token": "master"}, persons={"taro": {"language": "en"}})
    assert access.admit(robot(person="taro"), AFAR).person == OWN
    assert access.admit(robot(token="master", person="taro"), AFAR).person == "taro"
    chosen = access.admit(robot(person="taro"), HERE)
    assert (chosen.person, chosen.language) == ("taro", "en")
    assert access.admit(robot(), AFAR).person == OWN
    assert refusal(access, robot(person="x" * 65), HERE) == "person-invalid"


def test_the_profile_follows_from_the_board_unless_it_is_configured(open_access: Open) -> None:
    access = open_access()
    access.visit(robot(board="m5stack-stack-chan/2.2.4"), AFAR)
    assert access.admit(robot(), HERE).profile == "stackchan"
    assert access.admit(Claim("other"), HERE).profile == "xiaozhi"
    configured = open_access(devices={ROBOT: {"profile": "vrm"}})
    assert configured.admit(robot(), HERE).profile == "vrm"


@given(st.lists(st.text("ab:-._@1", min_size=1, max_size=6), unique_by=tidy_device_id, min_size=2))
@settings(max_examples=200)
def test_no_two_devices_share_a_person(ids: list[str]) -> None:
    macs = ["aa:bb:cc:dd:ee:ff", "aabbccddeeff", "aa.bb.cc.dd.ee.ff", "aa:bb:cc:dd:ee:ff-2"]
    named = {tidy_device_id(one) for one in (*ids, *macs)}
    names = [name_person(one, generation) for one in named for generation in range(3)]
    assert len(set(names)) == len(names)


# What is kept on disk


def test_last_seen_moves_but_is_not_written_every_time(
    access: Access, clock: FixedClock, tmp_path: Path
) -> None:
    access.admit(robot(), AFAR)
    written = (tmp_path / "devices.json").stat().st_ino
    clock.moment += timedelta(minutes=5)
    access.admit(robot(), AFAR)
    assert (tmp_path / "devices.json").stat().st_ino == written
    for come in (access.admit, access.visit):
        clock.moment += timedelta(minutes=11)
        come(robot(), AFAR)
        assert access.devices()[0].last_seen == clock.moment
    assert access.devices()[0].first_seen < clock.moment


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such bits")
def test_secrets_are_readable_by_their_owner_alone(access: Access, tmp_path: Path) -> None:
    for name in ("secret", "api-token"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert len((tmp_path / "secret").read_bytes()) == 32


def test_the_api_token_is_made_once_and_opens_the_api(open_access: Open, tmp_path: Path) -> None:
    token = [open_access(), (tmp_path / "api-token").read_text().strip()][1]
    assert isinstance(token, str)
    open_access().check_api(AFAR, token)
    assert (tmp_path / "api-token").read_text().strip() == token


def test_the_api_is_for_programs_here_and_for_the_token(open_access: Open, tmp_path: Path) -> None:
    access = open_access(access={"api_token": "master"})
    assert not (tmp_path / "api-token").exists()
    access.check_api(HERE, "")
    access.check_api(AFAR, "master")
    for caller, token in ((AFAR, ""), (AFAR, "wrong"), (HERE, "wrong")):
        with pytest.raises(AccessError):
            access.check_api(caller, token)


def test_the_api_tells_a_page_from_elsewhere_why_it_is_refused(open_access: Open) -> None:
    access = open_access(access={"api_token": "master"})
    page = access.callers.identify("127.0.0.1", {"host": "evil.example"})
    with pytest.raises(AccessError) as caught:
        access.check_api(page, "")
    assert caught.value.code == "host-foreign"
    access.check_api(page, "master")


@pytest.mark.parametrize("content", ["påss", "one\ntwo", "a\0b", b"\xff\xfe"])
def test_an_api_token_that_cannot_be_sent_stops_the_start(
    open_access: Open, tmp_path: Path, content: str | bytes
) -> None:
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "api-token").write_bytes(raw)
    with pytest.raises(ConfigError, match="api-token must hold one line"):
        open_access()


def test_a_damaged_secret_is_replaced(open_access: Open, tmp_path: Path) -> None:
    before = open_access().visit(robot(), AFAR)
    (tmp_path / "secret").write_bytes(b"short")
    with capture_logs() as logs:
        assert open_access().visit(robot(), AFAR) != before
    assert [entry["event"] for entry in logs] == ["secret-broken"]


def test_a_folder_that_cannot_be_used_stops_the_start_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="--data"):
        Access(Config(), tmp_path / "file" / "data", FixedClock())
