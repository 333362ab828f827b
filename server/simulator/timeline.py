"""What happens around a robot, written down as data: who says what when, what else sounds, when it is touched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import yaml

from server.audio import Audio
from server.errors import OmoideError
from server.simulator.robot import Robot

ACTIONS = ("say", "around", "write", "abort", "drop")


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing that happens."""

    at: float
    """Seconds after the beginning."""
    action: str
    """``say``: somebody speaks to the robot; ``around``: something sounds that is not meant for it; ``write``: somebody types;
    ``abort``: somebody touches it; ``drop``: its connection is lost."""
    what: str = ""
    """Name of a sound, or a text that is typed."""
    level_db: float = 0.0
    """How much louder or softer than the sound is, for ``around``."""


def read_timeline(path: Path) -> list[Cue]:
    """Read cues from a YAML file: a list of entries such as ``{at: 1.5, say: hello}`` or ``{at: 2, around: tv, db: -10}``.

    Raises:
        OmoideError: The file can't be read, or an entry is none; the message names it.
    """
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise OmoideError(
            "timeline-unreadable", f"{path} can't be read as a timeline: {error}."
        ) from error
    if not isinstance(entries, list):
        raise OmoideError("timeline-unreadable", f"{path} is no list of cues.")
    return sorted(
        (_read(entry, f"{path}, entry {number}") for number, entry in enumerate(entries, 1)),
        key=lambda cue: cue.at,
    )


async def play(cues: Sequence[Cue], robot: Robot, sounds: Mapping[str, Audio]) -> None:
    """Let everything happen to a robot in its time; returns after the last cue."""
    began = anyio.current_time()
    for cue in cues:
        await anyio.sleep_until(began + cue.at)
        match cue.action:
            case "say":
                robot.speak(sounds[cue.what])
            case "around":
                robot.microphone.surround(sounds[cue.what], cue.level_db)
            case "write":
                await robot.hint(cue.what)
            case "abort":
                await robot.abort()
            case _:
                robot.drop()


def _read(entry: Any, where: str) -> Cue:
    actions = [name for name in ACTIONS if isinstance(entry, dict) and name in entry]
    known = {"at", "db", *actions}
    if len(actions) != 1 or set(entry) != known & set(entry) or not _is_number(entry.get("at")):
        raise OmoideError(
            "timeline-unreadable",
            f"{where}: write a time and one of {', '.join(ACTIONS)}, such as {{at: 1.5, say: hello}}.",
        )
    level_db = entry.get("db", 0.0)
    if not _is_number(level_db):
        raise OmoideError("timeline-unreadable", f"{where}: db is a number, such as -10.")
    return Cue(float(entry["at"]), actions[0], str(entry[actions[0]]), float(level_db))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
