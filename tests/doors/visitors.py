"""Robots at the door as `Access` sees them, without any socket."""

from collections.abc import Callable

import pytest

from server.access import Access
from server.admission import Admission
from server.callers import Caller
from server.claims import Claim
from server.errors import AccessError
from tests.doors.premises import ROBOT

HERE = Caller("127.0.0.1", is_local=True)
AFAR = Caller("192.168.1.9", is_local=False)
OWN = "person-aa-bb-cc-dd-ee-ff"
"""The person that `ROBOT` gets when it is new."""

Open = Callable[..., Access]


def robot(client_id: str = "first", token: str = "", **more: str) -> Claim:
    return Claim(ROBOT, client_id, token, **more)


def refusal(access: Access, claim: Claim, caller: Caller = AFAR) -> str:
    with pytest.raises(AccessError) as caught:
        access.admit(claim, caller)
    return caught.value.code


def who(admission: Admission) -> tuple[str, bool]:
    return admission.person, admission.is_guest
