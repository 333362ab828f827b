"""`omoide memory consent`: whether a person is remembered, and what of private matters."""

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from server.commands.consent_access import decide
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.config import Policy
from server.errors import OmoideError
from server.memory.private import Category
from server.web.consent import Decision

NOTHING: Mapping[str, object] = {
    "person": "",
    "memory": "on",
    "policies": {},
    "pending": [],
    "rules": [],
    "error": None,
}
_STATES = {
    "on": "is remembered",
    "off": "is not remembered: nothing is stored, nothing is recalled",
    "talk": "is not remembered until this talk is over",
}


def read_decision(
    memory: str, policies: Sequence[str], accept: Sequence[str], reject: Sequence[str]
) -> Decision:
    """Return the decision that stands on the command line.

    Raises:
        OmoideError: ``consent-invalid``; the message says what is possible.
    """
    pairs = dict(part.partition("=")[::2] for part in policies)
    try:
        return Decision.model_validate(
            {"memory": memory or None, "policies": pairs, "accept": accept, "reject": reject}
        )
    except ValidationError as error:
        raise OmoideError(
            "consent-invalid",
            f"Write --memory with one of {', '.join(_STATES)}; --set e.g. as money=keep: one of "
            f"{', '.join(Category)}, then one of {', '.join(Policy)}.",
        ) from error


async def consent(person: str, decision: Decision, place: Place, tell: Tell) -> Report:
    """Carry a decision out, if there is one, and show how it stands.

    Raises:
        OmoideError: The memory can't be had.
    """
    is_decided = decision != Decision()
    standing = await decide(place, person, decision if is_decided else None)
    tell(f"{person} {_STATES[standing['memory']]}.")
    for category, policy in standing["policies"].items():
        tell(f"  {category + ':':12}{policy}")
    for one in standing["pending"]:
        tell(f"waits  {one['id']}  {one['category']}  {one['text']}")
    for rule in standing["rules"]:
        tell(f"holds  {rule['id']}  {rule['text']}")
    if standing["pending"]:
        tell("To have them remembered or deleted: --accept ID, --reject ID.")
    return Report({**NOTHING, **standing})
