"""What becomes of an attempt to write to a layer."""

from enum import StrEnum

from server.errors import OmoideError
from server.memory.layers.fields import FIELDS, Field


class Outcome(StrEnum):
    """What a write that was not refused led to."""

    WRITTEN = "written"
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    UNCHANGED = "unchanged"
    """It says so already, or it is proposed already, or that was decided."""


def is_locked(field: Field) -> OmoideError:
    """Return the refusal for a field that nobody may change."""
    return OmoideError(
        "layer-locked",
        f"{field.key} is locked. Unlock it first: omoide persona unlock {field.key}.",
    )


def is_view() -> OmoideError:
    """Return the refusal for the User layer."""
    return OmoideError(
        "layer-view",
        "What is known of a person is no layer of its own: correct or forget facts instead, see `omoide memory`.",
    )


def is_unknown(layer: str, name: str) -> OmoideError:
    """Return the refusal for a field that there is not in that layer."""
    return OmoideError(
        "layer-unknown",
        f"There is no field {layer[:40]}.{name[:40]}. There are: {', '.join(FIELDS)}.",
    )


def is_misfiled(field: Field) -> OmoideError:
    """Return the refusal for a value that speaks for another field."""
    return OmoideError(
        "layer-misfiled",
        f"This is nothing for {field.key} alone: it names another field, or writes what belongs into one.",
    )


def says_nothing(field: Field) -> OmoideError:
    """Return the refusal for a value without words."""
    return OmoideError("layer-empty", f"There is nothing to put into {field.key}.")


def is_no_proposal(proposal_id: str) -> OmoideError:
    """Return the refusal for a proposal that does not wait."""
    return OmoideError(
        "proposal-unknown", f"No proposal {proposal_id} waits. See `omoide persona show`."
    )


def is_full(most: int) -> OmoideError:
    """Return the refusal for one proposal too many."""
    return OmoideError(
        "layer-proposals-full",
        f"{most} proposals wait already. Accept or reject some: omoide persona show.",
    )
