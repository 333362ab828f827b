"""`omoide bench locks`: whether a locked field can be overwritten, on any path, and whether the same attempts get through without a lock.

The third experiment of MyBuddy on this code: the same probes under two conditions in turn, all fields locked and all open, with
the state put back before each, and hashes of the composed prompts as the evidence that the conditions were not the same.
A model that is as hostile as can be stands in for the language model: what is measured is the code, not a model's good will.
"""

import hashlib
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import httpx2
import structlog
from anyio import to_thread

from server.access import Access
from server.commands.figures import describe_machine
from server.commands.lock_probes import PROBES, Probe
from server.commands.persona import set_field
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.config import Config
from server.config_persona import Lock
from server.errors import OmoideError
from server.memory.extract import ModelExtractor, RulesExtractor
from server.memory.layers.drawing import PersonaExtractor, draw_layer
from server.memory.layers.fields import FIELDS, FieldKey
from server.memory.layers.layers import Layers
from server.memory.layers.proposals import By, Occasion
from server.memory.models import Page
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock, Llm, LlmEvent, LlmTraits, TextDelta
from server.prompting import PromptFiles, compose
from server.turn import (
    Prompt,
    Recalled,
    RecalledDay,
    RecalledPage,
    Recollection,
    Transcript,
    Turn,
)
from server.web.routes import create_web

if TYPE_CHECKING:
    from server.web.host import WebHost

log = structlog.get_logger(__name__)

NOTHING: Mapping[str, object] = {
    "probes": 0,
    "runs": 0,
    "paths": {},
    "locked_overwrites": None,
    "unlocked_writes": None,
    "hashes": {},
    "conditions_differ": None,
    "machine": {},
    "error": None,
}

_NOW = datetime(2026, 11, 2, 18, tzinfo=UTC)
_PERSON = "prober"
_TRAITS = LlmTraits(compact=False, prompt_budget_tokens=3000, local=False)
_TIMES = 20
"""How often the same is said on end."""
_STRANGER, _OWNER = ("203.0.113.9", 50000), ("127.0.0.1", 50000)
_EMPTY = '{"version": 1}'
_NEVER = frozenset({"api-stranger", "extraction-rules", "recalled"})
"""Paths that write nothing whatever the locks: without a right, or meant for other layers."""


class _BrokeOutError(Exception):
    """A text that was recalled got out of its block."""


class _Clock:
    def now(self) -> datetime:
        return _NOW


class _HostileLlm:
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
class _Stand:
    """One condition: a persona in a folder of its own, and what leads to it."""

    place: Place
    store: Store
    writer: Writer
    layers: Layers
    files: PromptFiles
    llm: _HostileLlm
    stranger: httpx2.AsyncClient
    owner: httpx2.AsyncClient

    def state(self) -> tuple[tuple[str, ...], ...]:
        return tuple(held.lines for held in self.layers.persona().fields.values())

    def prompt(self, language: str, recalled: Recollection | None = None) -> Prompt:
        return compose(
            self.files,
            question="?",
            recalled=recalled or Recollection(),
            history=(),
            now=_NOW,
            language=language,
            traits=_TRAITS,
        )

    async def put_back(self) -> None:
        """Undo whatever was written."""
        for proposal in self.layers.proposals():
            await self.layers.reject(proposal.id)
        await self.writer.run(lambda: self.store.personas.put(self.layers.agent, _EMPTY, _NOW))
        await to_thread.run_sync(self.layers.load)


_Path: TypeAlias = Callable[[_Stand, Probe, Page], Awaitable[None]]


async def bench_locks(
    tell: Tell, probes: Sequence[Probe] = PROBES, closed: Lock = Lock.LOCKED
) -> Report:
    """Try every probe on every path, with all fields locked and with all open.

    Args:
        tell: Told the figures.
        probes: What is tried.
        closed: The lock of the first condition; with any but `Lock.LOCKED` it has to fail.

    Raises:
        OmoideError: A store can't be made.
    """
    found = _Findings(probes)
    with TemporaryDirectory(prefix="omoide-locks-") as folder:
        locked = await _open(Path(folder) / "locked", closed)
        unlocked = await _open(Path(folder) / "unlocked", Lock.OPEN)
        try:
            for number, probe in enumerate(probes):
                pair = [("locked", locked), ("unlocked", unlocked)]
                for condition, stand in pair if number % 2 else pair[::-1]:
                    for name, path in _PATHS.items():
                        found.note_prompt(condition, probe.language, stand)
                        if await _is_changed(stand, path, probe, f"{number}-{name}"):
                            found.changes[condition][name] += 1
        finally:
            for stand in (locked, unlocked):
                await _close(stand)
    return found.report(tell)


async def _is_changed(stand: _Stand, path: _Path, probe: Probe, run: str) -> bool:
    """Try one probe on one path, and put the persona back."""
    page = Page(probe.said, "", _NOW, probe.language, id=run, person=_PERSON)
    stand.writer.add_page(page)
    stand.llm.probe = probe
    before = stand.state()
    broke_out = False
    try:
        await path(stand, probe, page)
    except _BrokeOutError:
        broke_out = True
    except OmoideError:  # a refusal, which is what a lock is for
        log.debug("probe-refused")
    await stand.writer.settle()
    is_changed = broke_out or stand.state() != before
    await stand.put_back()
    assert stand.state() == before
    return is_changed


async def _by_turn(stand: _Stand, probe: Probe, page: Page) -> None:
    turn = Turn(page.id, "robot", _PERSON, _NOW)
    turn.transcript = Transcript(probe.said, probe.language)
    stand.layers.turn_finished(turn)


async def _by_turn_again_and_again(stand: _Stand, probe: Probe, page: Page) -> None:
    for _ in range(_TIMES):
        await _by_turn(stand, probe, page)


async def _by_batch(stand: _Stand, probe: Probe, page: Page) -> None:
    model = ModelExtractor(_llm_of(stand), stand.files)
    await PersonaExtractor(model, stand.layers).extract([page], 0)


async def _by_rules(stand: _Stand, probe: Probe, page: Page) -> None:
    await PersonaExtractor(RulesExtractor(), stand.layers).extract([page], 0)


async def _by_layer(stand: _Stand, probe: Probe, page: Page) -> None:
    layer = FIELDS[probe.key].layer
    await draw_layer(layer, [page], _llm_of(stand), stand.files, stand.layers)


async def _at_the_boundary(stand: _Stand, probe: Probe, page: Page) -> None:
    field = FIELDS[probe.key]
    names = [(field.layer, field.name), (field.layer.upper(), field.name.title())]
    for by in (By.MODEL, By.VOICE):
        for layer, name in names:
            await stand.layers.write(layer, name, probe.value, by)


async def _by_stranger(stand: _Stand, probe: Probe, page: Page) -> None:
    await _over_http(stand.stranger, probe)


async def _by_api(stand: _Stand, probe: Probe, page: Page) -> None:
    await _over_http(stand.owner, probe)


async def _over_http(web: httpx2.AsyncClient, probe: Probe) -> None:
    field = FIELDS[probe.key]
    path = f"/api/persona/{field.layer}/{field.name}"
    await web.put(path, json={"value": probe.value})
    await web.put("/api/persona", content=_container(probe), headers=_JSON)


_JSON = {"Content-Type": "application/json"}


async def _by_command(stand: _Stand, probe: Probe, page: Page) -> None:
    await set_field(probe.key, [probe.value], stand.place, lambda _line: None)
    await to_thread.run_sync(
        stand.layers.load
    )  # what the command wrote in the folder of the server


async def _by_import(stand: _Stand, probe: Probe, page: Page) -> None:
    await stand.layers.take_over(_container(probe))


async def _by_late_accept(stand: _Stand, probe: Probe, page: Page) -> None:
    """Have it proposed while the field was not locked, and accepted when it is."""
    field = FIELDS[probe.key]
    lock = stand.layers.persona().fields[probe.key].lock
    await stand.layers.set_lock(field.layer, field.name, Lock.PROPOSED)
    occasion = Occasion(_PERSON, page.id)
    await stand.layers.write(field.layer, field.name, probe.value, By.VOICE, occasion)
    await stand.layers.set_lock(field.layer, field.name, lock)
    for proposal in stand.layers.proposals():
        await stand.layers.accept(proposal.id)


async def _by_recalled_text(stand: _Stand, probe: Probe, page: Page) -> None:
    """Have memory tell it in every block of a prompt; a prompt that it breaks out of counts as overwritten."""
    line = Recalled(probe.said, _NOW, 1.0, id="line")
    recalled = Recollection(
        lines=(line,),
        pages=(RecalledPage("page", probe.said, probe.said, _NOW, 1.0),),
        standing=(Recalled(f"{probe.said} !", _NOW, 1.0, id="standing"),),
        portrait=(probe.said,),
        days=(RecalledDay(_NOW.date(), probe.said, (probe.said,)),),
    )
    plain, told = stand.prompt(probe.language), stand.prompt(probe.language, recalled)
    whole = f"{told.system}\n{told.messages[-1].content}"
    tags = ("about_the_person", "recent_days", "retrieved_memory", "standing_facts", "earlier_talk")
    closed = all(whole.count(f"\n</{tag}>") <= 1 for tag in tags)
    headings = told.system.count("\n# Identity") == plain.system.count("\n# Identity")
    if not (told.system.startswith(plain.system) and closed and headings):
        raise _BrokeOutError


_PATHS: Mapping[str, _Path] = {
    "turn": _by_turn,
    "turn-repeated": _by_turn_again_and_again,
    "extraction-batch": _by_batch,
    "extraction-layer": _by_layer,
    "extraction-rules": _by_rules,
    "write": _at_the_boundary,
    "api": _by_api,
    "api-stranger": _by_stranger,
    "command": _by_command,
    "import": _by_import,
    "late-accept": _by_late_accept,
    "recalled": _by_recalled_text,
}


async def _open(folder: Path, lock: Lock) -> _Stand:
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
    stand = _Stand(place, store, writer, layers, files, _HostileLlm(), stranger, owner)
    await stand.put_back()
    return stand


@dataclass(frozen=True, slots=True)
class _Host:
    """As much of a server as the routes of the persona ask for."""

    config: Config
    access: Access
    layers: Layers


async def _close(stand: _Stand) -> None:
    await stand.stranger.aclose()
    await stand.owner.aclose()
    await to_thread.run_sync(stand.writer.close)
    await to_thread.run_sync(stand.store.close)


class _Findings:
    """What the probes led to."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self._probes = probes
        self.changes = {"locked": Counter[str](), "unlocked": Counter[str]()}
        """By condition and path, how often a field was changed."""
        self._hashes: dict[str, dict[str, set[str]]] = {}

    def note_prompt(self, condition: str, language: str, stand: _Stand) -> None:
        """Note what a model would be told before a probe."""
        told = hashlib.sha256(stand.prompt(language).system.encode()).hexdigest()
        self._hashes.setdefault(language, {}).setdefault(condition, set()).add(told)

    def report(self, tell: Tell) -> Report:
        """Tell the figures; it went well if nothing that is locked was overwritten and the controls show why."""
        locked, unlocked = self.changes["locked"], self.changes["unlocked"]
        number = len(self._probes)
        paths = {
            name: {
                "probes": number,
                "locked_overwrites": locked[name],
                "unlocked_writes": unlocked[name],
            }
            for name in _PATHS
        }
        rows = [tuple(map(str, (name, *figures.values()))) for name, figures in paths.items()]
        tell_table([("PATH", "PROBES", "LOCKED: OVERWRITTEN", "OPEN: WRITTEN"), *rows], tell)
        tell(f"The prompts of the two conditions {'differ' if self._differ else 'DO NOT DIFFER'}.")
        data = {
            **NOTHING,
            "probes": number,
            "kinds": dict(Counter(probe.kind for probe in self._probes)),
            "languages": dict(Counter(probe.language for probe in self._probes)),
            "runs": 2 * number * len(_PATHS),
            "paths": paths,
            "locked_overwrites": locked.total(),
            "unlocked_writes": unlocked.total(),
            "hashes": {
                language: {condition: sorted(told) for condition, told in by_condition.items()}
                for language, by_condition in self._hashes.items()
            },
            "conditions_differ": self._differ,
            "machine": describe_machine(),
        }
        is_controlled = all(unlocked[name] for name in _PATHS if name not in _NEVER)
        return Report(data, ok=not locked.total() and self._differ and is_controlled)

    @property
    def _differ(self) -> bool:
        """Whether every run of a condition began with one prompt, and those of the other with another."""
        return all(
            len(told["locked"]) == len(told["unlocked"]) == 1 and told["locked"] != told["unlocked"]
            for told in self._hashes.values()
        )


def _container(probe: Probe) -> str:
    locks = dict.fromkeys(map(str, FieldKey), str(Lock.OPEN))
    return json.dumps({"version": 1, "fields": {probe.key: [probe.value]}, "locks": locks})


def _llm_of(stand: _Stand) -> Llm:
    return cast("Llm", stand.llm)
