"""`omoide bench locks`: whether a locked field can be overwritten, on any path, and whether the same attempts get through without a lock.

The third experiment of MyBuddy on this code: the same probes under two conditions in turn, all fields locked and all open, with
the state put back before each, and hashes of the composed prompts as the evidence that the conditions were not the same.
A model that is as hostile as can be stands in for the language model: what is measured is the code, not a model's good will.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, cast

import httpx2
import structlog
from anyio import to_thread

from server.commands.figures import describe_machine
from server.commands.lock_probes import PROBES, Probe
from server.commands.lock_stand import NOW, Stand, close_stand, open_stand
from server.commands.persona import set_field
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.config_persona import Lock
from server.errors import OmoideError
from server.memory.extract import ModelExtractor, RulesExtractor
from server.memory.layers.drawing import PersonaExtractor, draw_layer
from server.memory.layers.fields import FIELDS, FieldKey
from server.memory.layers.proposals import By, Occasion
from server.memory.models import Page
from server.ports import Llm
from server.turn import (
    Recalled,
    RecalledDay,
    RecalledPage,
    Recollection,
    Transcript,
    Turn,
)

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

_PERSON = "prober"
_TIMES = 20
"""How often the same is said on end."""
_NEVER = frozenset({"api-stranger", "extraction-rules", "recalled"})
"""Paths that write nothing whatever the locks: without a right, or meant for other layers."""


class _BrokeOutError(Exception):
    """A text that was recalled got out of its block."""


_Path: TypeAlias = Callable[[Stand, Probe, Page], Awaitable[None]]


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
        locked = await open_stand(Path(folder) / "locked", closed)
        unlocked = await open_stand(Path(folder) / "unlocked", Lock.OPEN)
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
                await close_stand(stand)
    return found.report(tell)


async def _is_changed(stand: Stand, path: _Path, probe: Probe, run: str) -> bool:
    """Try one probe on one path, and put the persona back."""
    page = Page(probe.said, "", NOW, probe.language, id=run, person=_PERSON)
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


async def _by_turn(stand: Stand, probe: Probe, page: Page) -> None:
    turn = Turn(page.id, "robot", _PERSON, NOW)
    turn.transcript = Transcript(probe.said, probe.language)
    stand.layers.turn_finished(turn)


async def _by_turn_again_and_again(stand: Stand, probe: Probe, page: Page) -> None:
    for _ in range(_TIMES):
        await _by_turn(stand, probe, page)


async def _by_batch(stand: Stand, probe: Probe, page: Page) -> None:
    model = ModelExtractor(_llm_of(stand), stand.files)
    await PersonaExtractor(model, stand.layers).extract([page], 0)


async def _by_rules(stand: Stand, probe: Probe, page: Page) -> None:
    await PersonaExtractor(RulesExtractor(), stand.layers).extract([page], 0)


async def _by_layer(stand: Stand, probe: Probe, page: Page) -> None:
    layer = FIELDS[probe.key].layer
    await draw_layer(layer, [page], _llm_of(stand), stand.files, stand.layers)


async def _at_the_boundary(stand: Stand, probe: Probe, page: Page) -> None:
    field = FIELDS[probe.key]
    names = [(field.layer, field.name), (field.layer.upper(), field.name.title())]
    for by in By:
        for layer, name in names:
            with suppress(OmoideError):  # refused; the next may not be
                await stand.layers.write(layer, name, probe.value, by)


async def _by_stranger(stand: Stand, probe: Probe, page: Page) -> None:
    await _over_http(stand.stranger, probe)


async def _by_api(stand: Stand, probe: Probe, page: Page) -> None:
    await _over_http(stand.owner, probe)


async def _over_http(web: httpx2.AsyncClient, probe: Probe) -> None:
    field = FIELDS[probe.key]
    path = f"/api/persona/{field.layer}/{field.name}"
    await web.put(path, json={"value": probe.value})
    await web.put("/api/persona", content=_container(probe), headers=_JSON)


_JSON = {"Content-Type": "application/json"}


async def _by_command(stand: Stand, probe: Probe, page: Page) -> None:
    await set_field(probe.key, [probe.value], stand.place, lambda _line: None)
    await to_thread.run_sync(
        stand.layers.load
    )  # what the command wrote in the folder of the server


async def _by_import(stand: Stand, probe: Probe, page: Page) -> None:
    await stand.layers.take_over(_container(probe))


async def _by_late_accept(stand: Stand, probe: Probe, page: Page) -> None:
    """Have it proposed while the field was not locked, and accepted when it is."""
    field = FIELDS[probe.key]
    lock = stand.layers.persona().fields[probe.key].lock
    await stand.layers.set_lock(field.layer, field.name, Lock.PROPOSED)
    occasion = Occasion(_PERSON, page.id)
    await stand.layers.write(field.layer, field.name, probe.value, By.VOICE, occasion)
    await stand.layers.set_lock(field.layer, field.name, lock)
    for proposal in stand.layers.proposals():
        await stand.layers.accept(proposal.id)


async def _by_recalled_text(stand: Stand, probe: Probe, page: Page) -> None:
    """Have memory tell it in every block of a prompt; a prompt that it breaks out of counts as overwritten."""
    line = Recalled(probe.said, NOW, 1.0, id="line")
    recalled = Recollection(
        lines=(line,),
        pages=(RecalledPage("page", probe.said, probe.said, NOW, 1.0),),
        standing=(Recalled(f"{probe.said} !", NOW, 1.0, id="standing"),),
        portrait=(probe.said,),
        days=(RecalledDay(NOW.date(), probe.said, (probe.said,)),),
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


class _Findings:
    """What the probes led to."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self._probes = probes
        self.changes = {"locked": Counter[str](), "unlocked": Counter[str]()}
        """By condition and path, how often a field was changed."""
        self._hashes: dict[str, dict[str, set[str]]] = {}

    def note_prompt(self, condition: str, language: str, stand: Stand) -> None:
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


def _llm_of(stand: Stand) -> Llm:
    return cast("Llm", stand.llm)
