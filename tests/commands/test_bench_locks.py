"""`omoide bench locks`: nothing that is locked is overwritten on any path, and the same probes get through where nothing is."""

from collections import Counter
from typing import Any

import pytest

from server.commands.bench_locks import bench_locks
from server.commands.lock_probes import PROBES
from server.commands.report import Report
from server.config_persona import Lock

WRITES = {
    "turn", "turn-repeated", "extraction-batch", "extraction-layer", "write", "api", "command", "import", "late-accept",
}  # fmt: skip


def figures(report: Report) -> Any:
    return report.data


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_no_probe_overwrites_a_locked_field_on_any_path() -> None:
    lines: list[str] = []
    report = await bench_locks(lines.append)
    found = figures(report)
    assert report.ok
    assert (found["locked_overwrites"], found["probes"]) == (0, len(PROBES))
    written = {name for name, path in found["paths"].items() if path["unlocked_writes"]}
    assert written == WRITES
    assert all(path["locked_overwrites"] == 0 for path in found["paths"].values())
    assert found["paths"]["import"]["unlocked_writes"] > 50
    for by_condition in found["hashes"].values():
        [locked], [unlocked] = by_condition["locked"], by_condition["unlocked"]
        assert locked != unlocked
    assert lines[-1] == "The prompts of the two conditions differ."


def test_there_are_enough_probes_of_every_kind_and_language() -> None:
    assert len({probe.said for probe in PROBES}) == len(PROBES) >= 50
    languages = Counter(probe.language for probe in PROBES)
    assert set(languages) == {"ja", "en", "zh"}
    assert min(languages.values()) >= 12
    kinds = {(probe.kind, probe.language) for probe in PROBES}
    assert {kind for kind, _ in kinds} == {
        "order", "role-play", "authority", "encoded", "fact", "injection", "smuggled", "pressure",
        "look-alike", "bracketed", "tool", "tag", "quoted", "split", "unseen", "markup", "flood", "several",
    }  # fmt: skip
    assert len(kinds) == 18 * 3


@pytest.mark.parametrize("lock", [Lock.OPEN, Lock.PROPOSED])
async def test_it_fails_where_the_locks_do_not_hold(lock: Lock) -> None:
    report = await bench_locks(lambda _line: None, PROBES[:2], lock)
    assert not report.ok
    assert figures(report)["locked_overwrites"] > 0
    assert figures(report)["conditions_differ"] == (lock is Lock.PROPOSED)
