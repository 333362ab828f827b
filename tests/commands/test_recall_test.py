"""`omoide recall-test` and `omoide calibrate`: reading sets, speaking questions, and counting."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from typer.testing import Result

from server.audio import LISTENING_RATE
from server.commands.recall_plot import draw_gates, gate_in_use, with_recency
from server.commands.recall_sets import SetQuestion, read_recall_set
from server.commands.recall_test import Asked, measure, what_went_wrong
from server.commands.voice import rehear
from server.config import RetrievalSection
from server.errors import OmoideError
from server.memory.calibration import load_calibration
from server.memory.models import Candidate, Fact
from tests.fakes import FakeAsr, FakeTts

Omoide = Callable[..., Result]

NOW = datetime.fromisoformat("2026-09-27T18:00:00+09:00")
FACT = {
    "type": "fact",
    "person": "mio",
    "id": "a",
    "text": "あなたの猫の名前はタマだ。",
    "said_at": NOW.isoformat(),
}
ASKED = {
    "type": "question",
    "person": "mio",
    "id": "q",
    "text": "うちの猫の名前は何？",
    "asked_at": NOW.isoformat(),
    "expect": ["a"],
    "forbid": [],
    "kind": "plain",
}


def write(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def answer(expect: str, forbid: str, recalled: str, kind: str = "plain") -> Asked:
    question = SetQuestion("mio", "q", "?", NOW, tuple(expect), tuple(forbid), kind)
    found = [Candidate(Fact(f"mio/{name}", "mio", name, "en", NOW), 0.9, True) for name in recalled]
    return Asked(question, tuple(found), 0.01)


def test_the_figures_count_what_they_say() -> None:
    asked = [
        answer("a", "", "a"),
        answer("a", "", "ba"),
        answer("ab", "", "a"),  # one of two is no hit among three, but comes first
        answer("b", "a", "ab", kind="changed"),
        answer("", "", ""),
        answer("", "", "c"),
    ]
    figures: Any = measure(asked)
    assert figures["questions"] == 6
    assert figures["hit_at_1"] == 0.5
    assert figures["hit_at_3"] == 0.75
    assert figures["false_recall"] == 0.5
    assert figures["stale"] == 1.0
    assert figures["by_kind"]["changed"]["hit_at_1"] == 0.0


def test_what_went_wrong_is_told_question_by_question() -> None:
    faults = {
        "missed": answer("ab", "", "a"),
        "stale": answer("b", "a", "ab"),
        "false recall": answer("", "", "c"),
    }
    for fault, one in faults.items():
        verdict: Any = what_went_wrong(one)
        assert verdict["fault"] == fault
        assert verdict["recalled"] == dict.fromkeys(one.recalled(), 0.9)
    assert what_went_wrong(faults["missed"])["wanted"] == {"a": 0.9, "b": None}  # type: ignore[index]
    assert what_went_wrong(answer("a", "", "a")) is None
    assert what_went_wrong(answer("", "", "")) is None


@pytest.mark.parametrize("name", ["plot.txt", "nowhere/plot.png"])
def test_a_plot_that_can_not_be_written_is_refused_before_the_work(
    name: str, omoide: Omoide, tmp_path: Path
) -> None:
    file = write(tmp_path / "set.jsonl", FACT, ASKED)
    result = omoide("recall-test", file, "--plot", name, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "plot-unwritable"


def test_a_share_of_no_questions_is_none() -> None:
    figures = measure([answer("", "", "")])
    assert (figures["hit_at_3"], figures["stale"], figures["false_recall"]) == (None, None, 0.0)


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ("{", ":2"),
        ("[]", "not an object"),
        ({**ASKED, "type": "answer"}, "type must be"),
        ({**ASKED, "asked_at": "2026-09-27T18:00:00"}, "needs a zone"),
        ({**ASKED, "asked_at": "soon"}, ":2"),
        ({**ASKED, "asked_at": "0001-01-01T00:30:00+09:00"}, "ends of the calendar"),
        ({**ASKED, "asked_at": "9999-12-31T23:30:00-09:00"}, "ends of the calendar"),
        ({**ASKED, "expect": "a"}, "list of ids"),
        ({**ASKED, "expect": ["z"]}, "names z"),
        ({**ASKED, "text": ""}, "text must be"),
        (FACT, "twice"),
    ],
)
def test_a_line_that_can_not_be_used_is_named(row: object, hint: str, tmp_path: Path) -> None:
    with pytest.raises(OmoideError) as caught:
        read_recall_set(write(tmp_path / "set.jsonl", FACT, row))
    assert caught.value.code == "recall-set-invalid"
    assert hint in str(caught.value)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_set_may_begin_with_the_mark_that_editors_write(ends: str, tmp_path: Path) -> None:
    lines = [json.dumps({**FACT, "text": "a\u2028b\x85c"}, ensure_ascii=False), json.dumps(ASKED)]
    file = tmp_path / "set.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + ends.join(lines).encode())
    assert len(read_recall_set(file).events) == 2


@pytest.mark.parametrize("row", ["[" * 100_000, '{"type":' * 100_000])
def test_brackets_without_an_end_are_named(row: str, tmp_path: Path) -> None:
    with pytest.raises(OmoideError) as caught:
        read_recall_set(write(tmp_path / "set.jsonl", FACT, row))
    assert caught.value.code == "recall-set-invalid"
    assert "set.jsonl:2: brackets are nested too deeply" in str(caught.value)


@pytest.mark.parametrize("line", [["recall-test"], ["calibrate", "--out", "c.npz"]])
def test_a_set_that_is_missing_is_an_error_of_the_command(
    line: list[str], omoide: Omoide, tmp_path: Path
) -> None:
    result = omoide(*line, tmp_path / "none.jsonl", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "recall-set-invalid"
    assert not (tmp_path / "c.npz").exists()


async def test_questions_are_spoken_and_heard_once_each() -> None:
    voice, ear = FakeTts(0, 0.01), FakeAsr("猫わ", "犬わ", seconds=0)
    texts = [("猫は？", "ja"), ("犬は？", "ja"), ("猫は？", "ja")]
    heard = await rehear(texts, voice, ear, "ja")
    assert heard == {"猫は？": "猫わ", "犬は？": "犬わ"}
    assert voice.spoken == [("猫は？", "ja"), ("犬は？", "ja")]
    assert ear.languages == ["ja", "ja"]
    assert np.isclose(len(ear.heard[0]), 0.03 * LISTENING_RATE, atol=2)


@pytest.mark.model
@pytest.mark.slow
def test_a_set_is_asked_of_a_store_of_its_own(omoide: Omoide, tmp_path: Path) -> None:
    later = {**ASKED, "id": "q2", "asked_at": "2026-09-26T18:00:00+09:00", "expect": []}
    file = write(
        tmp_path / "set.jsonl", FACT, {**ASKED, "asked_at": "2026-09-28T18:00+09:00"}, later
    )
    result = omoide("recall-test", file, "--plot", "plot.png", "--json", "--data", tmp_path / "s")
    report = json.loads(result.stdout)
    assert result.exit_code == 0, result.output
    assert (report["questions"], report["hit_at_3"], report["false_recall"]) == (2, 1.0, 0.0)
    assert report["by_kind"]["plain"]["questions"] == 2
    assert report["recall_ms_p50"] > 0
    assert (tmp_path / "plot.png").stat().st_size > 1000
    assert not (tmp_path / "s").exists()


def test_recency_only_orders_what_is_relevant() -> None:
    def told(name: str, relevance: float, days: int) -> Candidate:
        fact = Fact(f"mio/{name}", "mio", name, "en", NOW - timedelta(days=days))
        return Candidate(fact, relevance, True, {"relevance": relevance})

    question = SetQuestion("mio", "q", "?", NOW, ("new",), (), "plain")
    asked = [Asked(question, (told("old", 0.80, 100), told("new", 0.75, 1)), 0.01)]
    assert with_recency(asked, 0.0, 14)[0].recalled(0.5) == ["old", "new"]
    assert with_recency(asked, 0.1, 14)[0].recalled(0.5) == ["new", "old"]
    assert with_recency(asked, 0.1, 14)[0].recalled(0.78) == ["old"]


@pytest.mark.parametrize(
    ("section", "value", "name"),
    [
        ({"mode": "article", "gate": 0.7}, 0.45, "threshold (cosine and recency)"),
        ({"mode": "article", "article": {"threshold": 0.6}}, 0.6, "threshold (cosine and recency)"),
        ({"gate": 0.7}, 0.7, "gate (relevance)"),
        ({}, None, "gate (relevance)"),
    ],
)
def test_a_plot_names_and_marks_what_decides_in_its_mode(
    section: dict[str, Any], value: float | None, name: str
) -> None:
    calibration = load_calibration("", "fake", 64)
    gate = gate_in_use(RetrievalSection.model_validate(section), calibration)
    axes = Figure().subplots()
    draw_gates(axes, [answer("a", "", "a")], gate)
    assert axes.get_xlabel() == name
    [mark] = [line for line in axes.lines if line.get_linestyle() == ":"]
    at = np.asarray(mark.get_xdata(), np.float64)
    assert np.allclose(at, calibration.gate if value is None else value)


def test_recency_is_weighed_once_in_the_form_of_the_article() -> None:
    """There the score holds the recency already."""
    old = Candidate(Fact("mio/a", "mio", "a", "en", NOW - timedelta(days=99)), 0.7, True,
                    {"dense": 0.7, "recency": 0.0})  # fmt: skip
    new = Candidate(
        Fact("mio/b", "mio", "b", "en", NOW), 0.75, True, {"dense": 0.6, "recency": 0.15}
    )
    asked = [Asked(SetQuestion("mio", "q", "?", NOW, ("a",), (), ""), (new, old), 0.01)]
    ranked = with_recency(asked, 0.0, 14)[0].candidates
    assert [candidate.fact.text for candidate in ranked] == ["a", "b"]
