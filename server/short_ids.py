"""Ids as people type them: the whole of it, or as much of its beginning as no other has."""

from collections.abc import Iterable

from server.errors import OmoideError

_MOST_SHOWN = 5


def whole_id(typed: str, ids: Iterable[str]) -> str | None:
    """Return the id that was meant; None if none begins like that.

    Args:
        typed: By somebody.
        ids: Of what may be meant. Those that begin otherwise don't matter.

    Raises:
        OmoideError: ``id-ambiguous``: several begin like that, and none is that.
    """
    meant = sorted({one for one in ids if typed and one.startswith(typed)})
    if typed in meant or len(meant) == 1:
        return typed if typed in meant else meant[0]
    if not meant:
        return None
    shown = ", ".join(meant[:_MOST_SHOWN]) + (", …" if len(meant) > _MOST_SHOWN else "")
    raise OmoideError(
        "id-ambiguous", f"{len(meant)} begin with {typed}: {shown}. Type more of the one you mean."
    )
