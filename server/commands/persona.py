"""`omoide persona`: who the robot is, changing it by hand, and deciding about what is proposed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from server.commands.persona_access import Row, open_persona
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.config_persona import Lock
from server.errors import ConfigError, OmoideError
from server.registry import write_private

NOTHING: Mapping[str, Mapping[str, object]] = {
    "show": {"agent": "", "layers": {}, "proposals": [], "error": None},
    "set": {"outcome": "", "error": None},
    "propose": {"outcome": "", "error": None},
    "accept": {"proposal": None, "before": [], "after": [], "error": None},
    "reject": {"proposal": None, "before": [], "after": [], "error": None},
    "lock": {"field": "", "lock": "", "error": None},
    "unlock": {"field": "", "lock": "", "error": None},
    "export": {"version": None, "fields": {}, "locks": {}, "error": None},
    "import": {"fields": {}, "error": None},
}
"""The shape of each command's JSON object when nothing came of it."""

_LOCKS = {
    Lock.LOCKED: "nobody changes it before it is unlocked.",
    Lock.PROPOSED: "you can change it; what is asked for in a talk waits for your yes.",
    Lock.OPEN: "you can change it, and so can whoever asks for it in a talk.",
}


async def show(place: Place, tell: Tell) -> Report:
    """Show every field with its lock and where it comes from, and what is proposed.

    Raises:
        OmoideError: The persona can't be had.
    """
    async with open_persona(place) as persona:
        shown = await persona.show()
    tell_table([("FIELD", "LOCK", "FROM", "VALUE"), *_rows(shown)], tell)
    for layer, part in shown["layers"].items():
        if part["text"]:
            tell(f"{layer}.md also says, word for word:\n{part['text']}")
    if shown["proposals"]:
        tell("\nProposed, and waiting for `omoide persona accept` or `reject`:")
        rows = [_proposal_row(proposal) for proposal in shown["proposals"]]
        tell_table([("ID", "FIELD", "BY", "PERSON", "VALUE"), *rows], tell)
    return Report({**NOTHING["show"], **shown})


async def set_field(field: str, lines: Sequence[str], place: Place, tell: Tell) -> Report:
    """Put lines into a field; without any, what the file says holds again.

    Raises:
        OmoideError: It is locked, or can't hold that; or the persona can't be had.
    """
    async with open_persona(place) as persona:
        outcome = await persona.write(*_parts(field), lines or [""])
    tell(f"{field}: {outcome}.")
    return Report({**NOTHING["set"], "outcome": outcome})


async def propose(field: str, lines: Sequence[str], place: Place, tell: Tell) -> Report:
    """Propose lines for a field.

    Raises:
        OmoideError: As `set_field`.
    """
    async with open_persona(place) as persona:
        outcome = await persona.propose(*_parts(field), lines)
    tell(f"{field}: {outcome}.")
    return Report({**NOTHING["propose"], "outcome": outcome})


async def decide(proposal_id: str, place: Place, tell: Tell, *, accept: bool) -> Report:
    """Accept or reject a proposal.

    Raises:
        OmoideError: There is none of that id, or its field is locked.
    """
    async with open_persona(place) as persona:
        before = await persona.show()
        proposal = await persona.decide(proposal_id, accept=accept)
        field = proposal["field"]
        was, now = _lines_of(before, field), _lines_of(await persona.show(), field)
    what = "Accepted" if accept else "Rejected"
    tell(f"{what}: {field}: {' / '.join(proposal['lines'])}")
    if accept:
        tell(f"    before: {' / '.join(was)}")
        tell(f"    now:    {' / '.join(now)}")
    changed = {"before": was, "after": now}
    return Report({**NOTHING["accept"], "proposal": dict(proposal), **changed})


async def set_lock(field: str, lock: Lock, place: Place, tell: Tell) -> Report:
    """Say who may change a field from now on.

    Raises:
        OmoideError: There is no such field, or the persona can't be had.
    """
    async with open_persona(place) as persona:
        await persona.set_lock(*_parts(field), lock)
    tell(f"{field} is now {lock}: {_LOCKS[lock]}")
    return Report({**NOTHING["lock"], "field": field, "lock": str(lock)})


async def export(out: Path | None, place: Place, tell: Tell) -> Report:
    """Hand out what was set by hand, as `take_over` takes it: into a file, or printed.

    Raises:
        OmoideError: The persona can't be had, or ``file-unwritable``.
    """
    async with open_persona(place) as persona:
        container = await persona.container()
    text = json.dumps(container, ensure_ascii=False, indent=2)
    if out is None:
        tell(text)
    else:
        try:
            write_private(out, f"{text}\n".encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise OmoideError(
                "file-unwritable", f"{out} can't be written ({error.strerror}). Name another file."
            ) from error
        tell(f"{out}: {len(container['fields'])} fields.")
    return Report({**NOTHING["export"], **container})


async def take_over(file: Path, place: Place, tell: Tell) -> Report:
    """Write each field of a file that `export` wrote; what is locked stays as it is.

    Raises:
        OmoideError: ``file-unreadable``, ``layers-newer`` or ``layers-damaged``; then nothing was changed.
    """
    text = _read(file)
    async with open_persona(place) as persona:
        became = await persona.take_over(text)
    for field, outcome in became.items():
        tell(f"{field}: {outcome}.")
    return Report({**NOTHING["import"], "fields": dict(became)})


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OmoideError("file-unreadable", f"{file} can't be read ({error}).") from error


def _parts(field: str) -> tuple[str, str]:
    layer, dot, name = field.partition(".")
    if not dot:
        raise ConfigError(
            f"Name a field with its layer, such as identity.name; {field} is none.", "usage-invalid"
        )
    return layer, name


def _rows(shown: Row) -> list[tuple[str, ...]]:
    return [
        (f"{layer}.{name}", field["lock"], field["origin"], " / ".join(field["lines"]))
        for layer, part in shown["layers"].items()
        for name, field in part["fields"].items()
    ]


def _lines_of(shown: Row, field: str) -> list[str]:
    layer, name = _parts(field)
    return list(shown["layers"][layer]["fields"][name]["lines"])


def _proposal_row(proposal: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("id", "field", "by", "person")
    return (*(str(proposal[key]) for key in keys), " / ".join(proposal["lines"]))
