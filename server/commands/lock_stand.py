"""A persona in a folder of its own, with a hostile model and two callers, for `omoide bench locks`."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx2
from anyio import to_thread

from server.access import Access
from server.commands.lock_probes import PROBES
from server.commands.reach import Place
from server.config import Config
from server.config_persona import Lock
from server.memory.layers.fields import FIELDS, FieldKey
from server.memory.layers.layers import Layers
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock, LlmEvent, LlmTraits, TextDelta
from server.prompting import PromptFiles, compose
from server.turn import Prompt, Recollection
from server.web.routes import create_web

if TYPE_CHECKING:
    from server.web.host import WebHost

NOW = datetime(2026, 11, 2, 18, tzinfo=UTC)

_TRAITS = LlmTraits(compact=False, prompt_budget_tokens=3000, local=False)
_STRANGER, _OWNER = ("203.0.113.9", 50000), ("127.0.0.1", 50000)
_EMPTY = '{"version": 1}'


class _Clock:
    def now(self) -> datetime:
        return NOW


class HostileLlm:
    """Writes whatever would overwrite the persona, in every part of an answer."""

    name = "hostile"

    def __init__(self) -> None:
        self.probe = PROBES[0]

    def traits(self, language: str) -> LlmTraits:
        """Say that it can be asked anything."""
        return _TRAITS

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def aclose(self) -> None:
        """Nothing to free."""

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        """Write the answer."""
        probe = self.probe
        said = {"turn": 1, "quote": probe.said[:200]}
        own = f'You: "{probe.value}"'
        names = [probe.key, *FieldKey, "user.name", probe.key.partition(".")[2], "__class__"]
        answer = {
            "facts": [{**said, "text": f"Your name is {probe.value}.", "kind": "profile"}],
            "agent": [{**said, "text": f"Omo is called {probe.value} now."}],
            "profile": [{**said, "field": str(key), "value": probe.value} for key in names],
            "notes": [{**said, "kind": "follow-up", "text": own}],
            "persona": [{**said, "field": str(key), "value": probe.value} for key in names],
        }
        yield TextDelta(json.dumps(answer, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class Stand:
    """One condition: a persona in a folder of its own, and what leads to it."""

    place: Place
    store: Store
    writer: Writer
    layers: Layers
    files: PromptFiles
    llm: HostileLlm
    stranger: httpx2.AsyncClient
    owner: httpx2.AsyncClient

    def state(self) -> tuple[tuple[str, ...], ...]:
        """Return what every field holds."""
        return tuple(held.lines for held in self.layers.persona().fields.values())

    def prompt(self, language: str, recalled: Recollection | None = None) -> Prompt:
        """Return what a model would be told."""
        return compose(
            self.files,
            question="?",
            recalled=recalled or Recollection(),
            history=(),
            now=NOW,
            language=language,
            traits=_TRAITS,
        )

    async def put_back(self) -> None:
        """Undo whatever was written."""
        for proposal in self.layers.proposals():
            await self.layers.reject(proposal.id)
        await self.writer.run(lambda: self.store.personas.put(self.layers.agent, _EMPTY, NOW))
        await to_thread.run_sync(self.layers.load)


async def open_stand(folder: Path, lock: Lock) -> Stand:
    """Make a persona all of whose fields have one lock."""
    locks: dict[str, dict[str, Lock]] = {}
    for field in FIELDS.values():
        locks.setdefault(field.layer, {})[field.name] = lock
    config = Config.model_validate({"persona": {"locks": locks}})
    clock: Clock = _Clock()
    store = await to_thread.run_sync(Store, folder / "memory" / "memory.db")
    writer = Writer(store)
    files = PromptFiles(section=config.persona)
    layers = Layers(files, config.persona, store, writer, clock)
    files.persona = layers.persona
    host = _Host(config, Access(config, folder, clock), layers)
    web = create_web(cast("WebHost", host))
    stranger, owner = (
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=cast("Any", web), client=client),
            base_url=f"http://127.0.0.1:{config.server.http_port}",
        )
        for client in (_STRANGER, _OWNER)
    )
    place = Place(config, folder, clock=clock)
    stand = Stand(place, store, writer, layers, files, HostileLlm(), stranger, owner)
    await stand.put_back()
    return stand


@dataclass(frozen=True, slots=True)
class _Host:
    """As much of a server as the routes of the persona ask for."""

    config: Config
    access: Access
    layers: Layers


async def close_stand(stand: Stand) -> None:
    """Let go of what it holds."""
    await stand.stranger.aclose()
    await stand.owner.aclose()
    await to_thread.run_sync(stand.writer.close)
    await to_thread.run_sync(stand.store.close)
