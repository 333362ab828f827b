"""Getting at what is decided about remembering people: of a running server, over its API, or in the data folder."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeAlias

from anyio import to_thread

from server.clock import SystemClock
from server.commands.api import api_of, path_of
from server.commands.open_store import open_store
from server.commands.reach import Place
from server.errors import OmoideError
from server.memory.consenting import Consenting
from server.web.consent import Decision, carry_out, describe_standing

Row: TypeAlias = Mapping[str, Any]
"""How it stands with a person, as the API describes it."""


async def decide(place: Place, person: str, decision: Decision | None) -> Row:
    """Carry out what is decided about remembering a person, if anything, and return how it stands.

    Raises:
        OmoideError: It can't be had, e.g. as a server works in the data folder.
    """
    if place.url is not None:
        path = path_of("/api/memory", person, "consent")
        api = api_of(place)
        if decision is None:
            return dict(await api.ask("GET", path))
        body = decision.model_dump(mode="json", exclude_defaults=True)
        return dict(await api.ask("PUT", path, body=body))
    async with _open(place) as consenting:
        if decision is not None:
            await carry_out(consenting, person, decision, "cli")
        return describe_standing(person, await consenting.standing(person))


@asynccontextmanager
async def _open(place: Place) -> AsyncIterator[Consenting]:
    file, config = place.data / "memory" / "memory.db", place.config
    if not file.exists():
        raise OmoideError("memory-missing", f"There is no memory in {place.data} yet.")
    async with open_store(place) as (store, writer):
        window = timedelta(minutes=config.history.window_minutes)
        clock = place.clock or SystemClock(config.server.timezone)
        consenting = Consenting(store, writer, config.consent, config.secrecy, window, clock)
        await to_thread.run_sync(consenting.load)
        yield consenting
