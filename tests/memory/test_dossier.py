"""Whoever asks what is kept of them sees everything, and what it is."""

import json
from contextlib import closing
from pathlib import Path

from server.config import FadingSection
from server.memory.dossier import dossier_of
from server.memory.store import Store
from server.web.described import describe_dossier
from tests.memory.test_erasure import tell


def test_a_dossier_holds_what_every_table_holds_of_a_person_and_of_nobody_else(
    tmp_path: Path,
) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        tell(store, "hana", "himitsu", 0)
        tell(store, "taro", "koukai", 0)
        described = describe_dossier(dossier_of(store, "hana"), FadingSection())
    assert described.pop("person") == "hana"
    consent = described.pop("consent")
    assert (consent["memory"], consent["policies"]) == ("on", {"money": "ask"})
    assert [len(consent["pending"]), len(consent["rules"])] == [1, 1]
    assert "himitsu" in consent["pending"][0]["text"] + consent["rules"][0]["text"]
    assert {name: len(rows) for name, rows in described.items()} == {
        "facts": 1, "pages": 1, "chains": 1, "segments": 1, "profile": 2, "traits": 1, "notes": 1, "safety": 1, "days": 1, "proposals": 1,
    }  # fmt: skip
    for name, rows in described.items():
        assert all("himitsu" in json.dumps(row, ensure_ascii=False) for row in rows), name
    assert "koukai" not in json.dumps([described, consent], ensure_ascii=False)
    assert described["pages"][0]["segment"] == described["segments"][0]["id"]
    assert described["notes"][0]["kind"] == "safety"
