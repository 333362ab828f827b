"""Getting at a persona: that of a running server, over its API, or the one in the data folder, without a server."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from anyio import to_thread

from server.clock import SystemClock
from server.commands.api import Api, api_of, path_of
from server.commands.open_store import open_store
from server.commands.reach import Place
from server.config_persona import Lock
from server.errors import OmoideError
from server.memory.layers.layers import Layers
from server.memory.layers.proposals import By, Proposal
from server.memory.store import Store
from server.memory.writer import Writer
from server.prompting import PROMPTS, PromptFiles
from server.web.persona_described import describe_persona, describe_proposal

Row: TypeAlias = Mapping[str, Any]
"""A persona or a proposal as the API describes it."""


class PersonaAccess(Protocol):
    """What the commands need of a persona. Every method raises `OmoideError` if it can't be had, or as `Layers` does."""

    async def show(self) -> Row:
        """Return every field with its lock, and the proposals that wait."""

    async def write(self, layer: str, field: str, lines: Sequence[str]) -> str:
        """Put lines into a field; return what became of it."""

    async def propose(self, layer: str, field: str, lines: Sequence[str]) -> str:
        """Propose lines for a field; return what became of it."""

    async def decide(self, proposal_id: str, *, accept: bool) -> Row:
        """Accept or reject a proposal; return it."""

    async def set_lock(self, layer: str, field: str, lock: Lock) -> None:
        """Say who may change a field."""

    async def container(self) -> Row:
        """Return what was set by hand, to be kept or taken over elsewhere."""

    async def take_over(self, text: str) -> Mapping[str, str]:
        """Write each field of a container; return what became of each."""


@asynccontextmanager
async def open_persona(place: Place) -> AsyncIterator[PersonaAccess]:
    """Open the persona at a place, for the block. In a data folder nobody else may be at work.

    Raises:
        OmoideError: A server is running there, or the folder can't be used.
    """
    if place.url is not None:
        yield RemotePersona(api_of(place))
        return
    async with open_store(place) as (store, writer):
        yield await _folder_persona(place, store, writer)


async def _folder_persona(place: Place, store: Store, writer: Writer) -> "FolderPersona":
    section = place.config.persona
    files = PromptFiles(Path(section.prompts) if section.prompts else PROMPTS, section)
    clock = place.clock or SystemClock(place.config.server.timezone)
    layers = Layers(files, section, store, writer, clock)
    await to_thread.run_sync(layers.load)
    return FolderPersona(layers)


class FolderPersona:
    """The persona in a data folder. See `PersonaAccess`."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    async def show(self) -> Row:
        """Return every field."""
        proposals = await to_thread.run_sync(self._layers.proposals)
        return describe_persona(self._layers.agent, self._layers.persona(), proposals)

    async def write(self, layer: str, field: str, lines: Sequence[str]) -> str:
        """Write."""
        return await self._layers.write(layer, field, lines, By.OWNER)

    async def propose(self, layer: str, field: str, lines: Sequence[str]) -> str:
        """Propose."""
        return await self._layers.propose(layer, field, lines, By.OWNER)

    async def decide(self, proposal_id: str, *, accept: bool) -> Row:
        """Decide."""
        return describe_proposal(await self._decided(proposal_id, accept=accept))

    async def _decided(self, proposal_id: str, *, accept: bool) -> Proposal:
        return await (self._layers.accept if accept else self._layers.reject)(proposal_id)

    async def set_lock(self, layer: str, field: str, lock: Lock) -> None:
        """Lock or unlock."""
        await self._layers.set_lock(layer, field, lock)

    async def container(self) -> Row:
        """Return the container."""
        container: Row = json.loads(self._layers.container)
        return container

    async def take_over(self, text: str) -> Mapping[str, str]:
        """Take a container over."""
        return await self._layers.take_over(text)


class RemotePersona:
    """The persona of a running server. See `PersonaAccess`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def show(self) -> Row:
        """Return every field."""
        return await self._api.ask("GET", "/api/persona")

    async def write(self, layer: str, field: str, lines: Sequence[str]) -> str:
        """Write."""
        return str((await self._send("PUT", _path(layer, field), lines))["outcome"])

    async def propose(self, layer: str, field: str, lines: Sequence[str]) -> str:
        """Propose."""
        return str((await self._send("POST", _path(layer, field, "propose"), lines))["outcome"])

    async def decide(self, proposal_id: str, *, accept: bool) -> Row:
        """Decide."""
        path = _path("proposals", proposal_id, "accept" if accept else "reject")
        return await self._api.ask("POST", path)

    async def set_lock(self, layer: str, field: str, lock: Lock) -> None:
        """Lock or unlock."""
        await self._api.ask("PUT", _path(layer, field, "lock"), body={"lock": str(lock)})

    async def container(self) -> Row:
        """Return the container."""
        return await self._api.ask("GET", "/api/persona/container")

    async def take_over(self, text: str) -> Mapping[str, str]:
        """Take a container over."""
        try:
            body = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise OmoideError("layers-damaged", "This is no persona: it is no JSON.") from error
        answer = await self._api.ask("PUT", "/api/persona", body=body)
        return dict(answer["fields"])

    async def _send(self, method: str, path: str, lines: Sequence[str]) -> Row:
        return await self._api.ask(method, path, body={"value": list(lines)})


def _path(*parts: str) -> str:
    return path_of("/api/persona", *parts)
