"""Talks that are remembered: `say --at`, and scripts with extraction, expectations and restarts, with fake engines."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from server.commands import memory, replay, talk
from server.commands.moment import StartedClock, parse_moment
from server.commands.reach import Place
from server.commands.report import Report
from server.config import Config
from server.conversation import Engines
from server.errors import ConfigError
from server.simulator import Habits, Identity
from tests.fakes import FakeAsr, FakeEmbedder, FakeLlm, FakeTts, FakeVad

Omoide = Callable[..., Result]

MIO = Identity("02:00:00:00:00:01", person="Mio")
TYPED = Habits(mode="manual")


def place_of(data: Path) -> Place:
    """Return a place whose gate is open: the fake embedder says little about what is relevant."""
    config = Config.model_validate({"extraction": {"engine": "rules"}, "retrieval": {"gate": 0.0}})
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["はい。"]), FakeTts(0.01, 0.01))
    return Place(config, data, engines=engines, embedder=FakeEmbedder())


def rows(report: Report, key: str) -> list[dict[str, Any]]:
    found = report.data[key]
    assert isinstance(found, list)
    return found


def quietly(line: str) -> None:
    pass


def write(folder: Path, text: str) -> Path:
    path = folder / "talk.yaml"
    path.write_text(text, encoding="utf-8")
    return path


async def test_what_is_said_at_a_time_is_remembered_as_said_then(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    at = "2026-09-27T18:00"
    said = await talk.say("来週の土曜に箱根に行くんだ。", place, MIO, TYPED, quietly, at)
    await memory.extract("", place, quietly)
    lines: list[str] = []
    asked = await talk.say("箱根はいつ？", place, MIO, TYPED, lines.append, at)
    (fact,) = rows(await memory.list_facts("Mio", False, place, quietly), "facts")
    (recalled,) = rows(asked, "recalled")
    assert said.data["recalled"] == []
    assert fact["said_at"].startswith("2026-09-27T18:00")
    assert fact["event_from"] == "2026-10-03"
    assert recalled.keys() == {"id", "text", "scores"}
    assert recalled["id"] == fact["id"]
    assert "final" in recalled["scores"]
    assert any(line.strip().startswith("recalled") and fact["text"] in line for line in lines)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["--at", "2026-09-27", "--url", "http://127.0.0.1:1"], "own-server-needed"),
        (["--at", "tomorrow"], "time-invalid"),
    ],
)
def test_a_time_that_can_not_be_had_is_refused(line: list[str], code: str, omoide: Omoide) -> None:
    result = omoide("say", "hello", *line, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == code


async def test_a_script_draws_facts_and_expects_what_is_recalled_across_a_restart(
    tmp_path: Path,
) -> None:
    script = write(
        tmp_path,
        """
at: 2026-09-27T18:00:00+09:00
person: Mio
turns:
  - {text: 来週の土曜に箱根に行くんだ。, as_text: true, recalls: nothing}
  - extract: true
  - {text: 箱根はいつ？, as_text: true, recalls: [箱根, 土曜]}
  - {text: 箱根はいつ？, as_text: true, recalls: nothing}
  - restart: true
  - {text: 箱根はいつ？, as_text: true, recalls: 箱根}
  - {text: 箱根はいつ？, as_text: true, recalls: 京都}
""",
    )
    lines: list[str] = []
    report = await replay.replay(script, place_of(tmp_path / "state"), lines.append)
    turns = rows(report, "turns")
    (extracted,) = rows(report, "extracted")
    assert [turn["passed"] for turn in turns] == [True, True, False, True, False]
    assert "nothing should have been" in turns[2]["failures"][0]
    assert turns[4]["failures"] == ["the recalled memory does not contain '京都'"]
    assert extracted["after_turns"] == 1
    assert "2026年10月3日" in extracted["stored"][0]["text"]
    assert any("started again" in line for line in lines)


async def test_a_script_draws_facts_on_a_server_elsewhere(tmp_path: Path) -> None:
    from tests.end_to_end.running import running  # noqa: PLC0415

    place = place_of(tmp_path)
    script = write(
        tmp_path,
        "person: Mio\nturns:\n  - {text: 私は犬を飼っています。, as_text: true}\n  - extract: true\n",
    )
    sections: dict[str, Any] = {"extraction": {"engine": "rules"}}
    async with running(tmp_path / "state", place.engines, **sections) as server:
        there = replace(place, url=server.http_url, engines=None, embedder=None)
        report = await replay.replay(script, there, quietly)
    assert report.ok, report.data
    assert rows(report, "extracted")[0]["stored"][0]["quote"] == "私は犬を飼っています。"


def test_a_moment_without_a_zone_is_one_of_the_configuration() -> None:
    plain = parse_moment("2026-09-27T18:00", "Asia/Tokyo")
    elsewhere = parse_moment("2026-09-27T09:00Z", "Asia/Tokyo")
    assert plain.isoformat() == elsewhere.isoformat() == "2026-09-27T18:00:00+09:00"


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-01", "0001-01-01T00:00Z", "0001-01-02T08:00", "9999-12-31T23:00"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_moment(text, "America/New_York")
    assert caught.value.code == "time-invalid"


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Europe/Berlin", "UTC"])
@pytest.mark.parametrize("start", ["2026-03-29T01:59:59Z", "2026-11-01T06:30:00Z"])
def test_a_clock_that_was_started_somewhere_shows_that_moment(zone: str, start: str) -> None:
    moment = datetime.fromisoformat(start)
    shown = StartedClock(moment, zone).now()
    assert 0 <= (shown - moment).total_seconds() < 5
    assert str(shown.tzinfo) == zone
