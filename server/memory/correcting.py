"""Puts what a person wrote in the place of a fact."""

from datetime import datetime

from anyio import to_thread

from server.errors import OmoideError
from server.memory import Memory
from server.memory.facts import correction_of
from server.memory.models import Fact


async def correct(
    memory: Memory, fact_id: str, text: str, now: datetime, week_start: int
) -> Fact | None:
    """Put a sentence in the place of a fact; return the new fact, or None if there is none of that id.

    Args:
        memory: Open for writing.
        fact_id: Of a fact that holds.
        text: In the language of the fact, as the person would say it.
        now: The present moment, aware.
        week_start: First day of the week, 0 for Monday.

    Raises:
        OmoideError: ``fact-replaced``: another one holds in its place; ``usage-invalid``: it can't be a fact.
        StoreError: It can't be stored.
    """
    old = await memory.archive.fact(fact_id)
    if old is None:
        return None
    plain = memory.consenting.without_secrets(text, old.language)
    new = await to_thread.run_sync(correction_of, old, plain, now, week_start)
    if new is None:
        raise OmoideError(
            "usage-invalid",
            "Write the sentence that is right instead: at most 240 characters, none of them { } < or >.",
        )
    if not await memory.consolidator.replace(old, new):
        raise OmoideError(
            "fact-replaced", f"{fact_id} no longer holds. See `omoide memory list` for what does."
        )
    return new
