"""Puts what a person wrote in the place of a fact."""

from datetime import datetime

from server.errors import OmoideError
from server.memory import Memory
from server.memory.facts import correction_of
from server.memory.models import Fact


async def correct(memory: Memory, fact_id: str, text: str, now: datetime) -> Fact | None:
    """Put a sentence in the place of a fact; return the new fact, or None if there is none of that id.

    Args:
        memory: Open for writing.
        fact_id: Of a fact that holds.
        text: In the language of the fact, as the person would say it.
        now: The present moment, aware.

    Raises:
        OmoideError: ``fact-replaced``: another one holds in its place; ``usage-invalid``: nothing is said.
        StoreError: It can't be stored.
    """
    old = await memory.archive.fact(fact_id)
    if old is None:
        return None
    if not old.current:
        raise OmoideError(
            "fact-replaced",
            f"{fact_id} no longer holds. Correct the one in its place: {old.superseded_by}.",
        )
    if not text.strip():
        raise OmoideError("usage-invalid", "Write the sentence that is right instead.")
    new = correction_of(old, text, now)
    await memory.consolidator.replace(old, new)
    return new
