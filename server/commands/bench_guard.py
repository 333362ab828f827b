"""`omoide bench guard`: what the reply guard costs a sentence, what it stops, and what it stops in error."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from server.commands.figures import describe_machine
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.errors import ConfigError
from server.guard import HardFacts, Persona, check, gather, warm_up
from server.turn import Recalled, Recollection

NOTHING: Mapping[str, object] = {"languages": {}, "machine": {}, "error": None}
_LANGUAGES = ("en", "ja", "zh")
_ROUNDS = 5
"""Each sentence is timed so often, and its shortest time counts: the machine may be busy."""
_ZONE = ZoneInfo("Asia/Tokyo")
_AFTERNOON = datetime(2026, 9, 29, 15, 0, tzinfo=_ZONE)
_LATE = datetime(2026, 9, 29, 22, 45, tzinfo=_ZONE)


@dataclass(frozen=True, slots=True)
class _Set:
    """The sentences of one language, and the facts that they are checked against."""

    language: str
    facts: Sequence[str]
    harmless: Sequence[str]
    asked: Sequence[tuple[str, str]]
    """What was asked, and what may be answered to it."""
    faults: Mapping[str, Sequence[Mapping[str, Any]]]
    """By the file that they come from."""

    def known(self, asked: str = "", *, late: bool = False) -> HardFacts:
        """Return what is known in a turn in which nothing is kept."""
        standing = (
            Recalled(text, _AFTERNOON, 1.0, {}, str(number))
            for number, text in enumerate(self.facts)
        )
        return gather(
            Recollection(standing=tuple(standing)),
            asked,
            self.language,
            now=_LATE if late else _AFTERNOON,
            unkept="bench",
            persona=Persona(("Omo", "オモ", "奥莫")),
        )


def bench_guard(folder: Path, tell: Tell) -> Report:
    """Check sentences from files and report times, false alarms and what was caught.

    Args:
        folder: Holds ``facts.yaml``, ``harmless.*LANGUAGE.txt``, perhaps ``harmless.asked*.yaml``, and ``hits.*.yaml``, as ``tests/data/guard`` does.
        tell: Told about each language, each false alarm and each miss.

    Raises:
        ConfigError: ``guard-set-unreadable``.
    """
    warm_up()
    data = {one.language: _measure(one, tell) for one in _read(folder)}
    _tell(data, tell)
    return Report({"languages": data, "machine": describe_machine(), "error": None})


def _read(folder: Path) -> list[_Set]:
    try:
        facts = yaml.safe_load((folder / "facts.yaml").read_text("utf-8"))
        faults = {
            file.name.removeprefix("hits.").removesuffix(".yaml"): yaml.safe_load(
                file.read_text("utf-8")
            )
            for file in sorted(folder.glob("hits.*.yaml"))
        }
        asked = [
            yaml.safe_load(file.read_text("utf-8"))
            for file in sorted(folder.glob("harmless.asked*.yaml"))
        ]
        return [
            _Set(
                language,
                facts[language],
                [
                    line
                    for file in sorted(folder.glob(f"harmless.*{language}.txt"))
                    for line in file.read_text("utf-8").splitlines()
                ],
                [
                    (said, says)
                    for kinds in asked
                    for rows in kinds[language].values()
                    for said, says in rows
                ],
                {name: rows[language] for name, rows in faults.items()},
            )
            for language in _LANGUAGES
        ]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{folder} is no set for the guard ({error}). Give a folder like tests/data/guard.",
            "guard-set-unreadable",
        ) from error


def _measure(one: _Set, tell: Tell) -> dict[str, Any]:
    began = time.perf_counter()
    facts = one.known("How are you?")
    first_ms = (time.perf_counter() - began) * 1000
    began = time.perf_counter()
    one.known("How are you?")
    again_ms = (time.perf_counter() - began) * 1000
    times = dict.fromkeys(one.harmless, inf)
    for _ in range(_ROUNDS):
        for text in times:
            began = time.perf_counter()
            check(text, facts, one.language)
            times[text] = min(times[text], (time.perf_counter() - began) * 1000)
    alarms = [
        text
        for text in one.harmless
        if any(check(text, one.known(late=late), one.language) for late in (False, True))
    ]
    alarms += [says for asked, says in one.asked if check(says, one.known(asked), one.language)]
    for text in alarms:
        tell(f"stopped in error: {text}")
    spent = list(times.values())
    return {
        "sentences": len(one.harmless) + len(one.asked),
        "check_ms_p50": _share(spent, 0.5),
        "check_ms_p95": _share(spent, 0.95),
        "check_ms_max": _share(spent, 1.0),
        "gather_first_ms": round(first_ms, 1),
        "gather_again_ms": round(again_ms, 1),
        "false_alarms": len(alarms),
        "caught": {name: _caught(one, rows, tell) for name, rows in one.faults.items()},
    }


def _caught(one: _Set, rows: Sequence[Mapping[str, Any]], tell: Tell) -> list[int]:
    """Return how many faults are found to be what they are, and of how many."""
    caught = 0
    for row in rows:
        facts = one.known(row.get("asked", ""), late=bool(row.get("late")))
        hit = check(row["says"], facts, one.language)
        if hit is not None and hit.kind == row["kind"]:
            caught += 1
        else:
            tell(f"missed ({row['kind']}): {row['says']}")
    return [caught, len(rows)]


def _share(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of all lie, in microseconds' precision: most are far below one millisecond."""
    ordered = sorted(values) or [0.0]
    return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)], 3)


def _tell(data: Mapping[str, Mapping[str, Any]], tell: Tell) -> None:
    rows = [
        [
            "language",
            "sentences",
            "p50 ms",
            "p95 ms",
            "max ms",
            "facts ms",
            "again ms",
            "in error",
            "caught",
        ]
    ]
    for language, one in data.items():
        caught = ", ".join(
            f"{name} {some} of {all_}" for name, (some, all_) in one["caught"].items()
        )
        times = [f"{one[f'check_ms_{name}']:.3f}" for name in ("p50", "p95", "max")]
        rows.append(
            [
                language,
                str(one["sentences"]),
                *times,
                f"{one['gather_first_ms']:.1f}",
                f"{one['gather_again_ms']:.1f}",
                str(one["false_alarms"]),
                caught,
            ]
        )
    tell_table(rows, tell)
