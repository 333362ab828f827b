"""Whoever loses the right to be connected while they are is hung up on, also if another process took it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from server import rights
from server.access import Access
from server.api_keys import ApiKeys
from server.claims import Claim
from server.config import Config
from server.grants import Grant, Scope
from tests.doors.premises import FROM_AFAR, ROBOT, FixedClock, end_of, greet, open_doors, say
from tests.doors.visitors import AFAR

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "_LOOK_SECONDS", 0.02)


@pytest.mark.parametrize(
    ("take", "reason"),
    [
        (lambda other: other.revoke(ROBOT), "this device was removed, or its token was revoked"),
        (lambda other: other.forget(ROBOT), "this device was removed, or its token was revoked"),
        (
            lambda other: other.accept(ROBOT, "hana"),
            "it was given to somebody: come back as theirs",
        ),
    ],
)
async def test_what_a_command_decides_about_a_robot_holds_for_its_open_connection(
    tmp_path: Path, take: Callable[[Access], object], reason: str
) -> None:
    async with open_doors(tmp_path) as doors:
        token = doors.app.access.visit(Claim(ROBOT, "first"), AFAR)
        robot = {"Device-Id": ROBOT, "Client-Id": "first", "Authorization": f"Bearer {token}"}
        bystander = {"Device-Id": "other", "Client-Id": "first"}
        async with (
            doors.robot(headers=robot | FROM_AFAR) as line,
            doors.robot(headers=bystander | FROM_AFAR) as other,
        ):
            await greet(line)
            await greet(other)
            assert await say(line, "hi") == "hi"
            take(Access(Config(), tmp_path, FixedClock()))
            assert await end_of(line) == (4001, reason)
            assert await say(other, "hi") == "hi"


async def test_a_program_whose_key_is_revoked_is_hung_up_on(tmp_path: Path) -> None:
    keys = ApiKeys({}, tmp_path)
    one, two = (
        keys.make(name, Grant(Scope.WRITE, frozenset({"hana"})), NOON) for name in ("one", "two")
    )
    async with open_doors(tmp_path) as doors:
        headers = [
            {"Client-Id": key[-8:], "Authorization": f"Bearer {key}", **FROM_AFAR}
            for key in (one, two)
        ]
        async with doors.robot(headers=headers[0]) as line, doors.robot(headers=headers[1]) as kept:
            await greet(line)
            await greet(kept)
            keys.revoke("one")
            assert await end_of(line) == (4001, "its key was revoked or changed")
            assert await say(kept, "hi") == "hi"
            await kept.send(json.dumps({"type": "bye"}))
