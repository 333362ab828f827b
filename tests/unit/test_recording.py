"""What is kept of finished turns: nothing by default, texts and sounds only if asked for."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog

from server.audio import Audio, read_audio
from server.config import RecordingSection
from server.recording import RecentTurns, Recorder
from server.turn import Stage, Transcript, Turn
from tests.fakes import voice


def turn(text: str = "おはよう", error: str = "") -> Turn:
    finished = Turn("abc", "robot", "hana", datetime(2026, 5, 3, 15, 20, 1, tzinfo=UTC))
    finished.transcript = Transcript(text, "ja")
    finished.heard = finished.reply = "おはようございます。"
    finished.error = error
    finished.stages_ms[Stage.ASR] = 12.0
    return finished


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_nothing_is_written_by_default(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection()).turn_finished(turn())
    assert files(tmp_path) == []


def test_turns_are_written_when_asked_for(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn())
    assert files(tmp_path) == ["2026-05-03/152001-abc.json"]
    kept = json.loads((tmp_path / "2026-05-03/152001-abc.json").read_text(encoding="utf-8"))
    assert (kept["transcript"], kept["heard"]) == ("おはよう", "おはようございます。")
    assert kept["stages_ms"] == {"asr": 12.0}


def test_sounds_are_written_when_asked_for(tmp_path: Path) -> None:
    finished = turn()
    finished.said_audio = Audio(voice(0.5), 16_000)
    finished.reply_audio = Audio(voice(0.3, rate=24_000), 24_000)
    Recorder(tmp_path, RecordingSection(keep_audio=True)).turn_finished(finished)
    assert files(tmp_path) == [
        "2026-05-03/152001-abc.reply.wav",
        "2026-05-03/152001-abc.said.wav",
    ]
    assert read_audio(tmp_path / "2026-05-03/152001-abc.said.wav").seconds == pytest.approx(0.5)


def test_turns_in_which_nothing_was_said_are_not_kept(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn(""))
    recent = RecentTurns(5)
    recent.turn_finished(turn(""))
    recent.turn_finished(turn("", error="asr-failed"))
    assert files(tmp_path) == []
    assert [kept.error for kept in recent.list()] == ["asr-failed"]


def test_a_folder_that_can_not_be_written_ends_no_turn(tmp_path: Path) -> None:
    (tmp_path / "2026-05-03").write_text("in the way")
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn())


def test_a_broken_character_is_written_as_json_can_write_it(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn("あ\ud800い"))
    kept = json.loads((tmp_path / "2026-05-03/152001-abc.json").read_text(encoding="utf-8"))
    assert kept["transcript"] == "あ\ud800い"


def test_a_sound_that_can_not_be_written_ends_no_turn(tmp_path: Path) -> None:
    finished = turn()
    finished.said_audio = Audio(voice(0.5), 16_000)
    (tmp_path / "2026-05-03/152001-abc.said.wav").mkdir(parents=True)
    with structlog.testing.capture_logs() as lines:
        Recorder(tmp_path, RecordingSection(keep_audio=True)).turn_finished(finished)
    assert [line["event"] for line in lines] == ["recording-failed"]


def test_only_the_last_turns_are_kept_by_device() -> None:
    recent = RecentTurns(2)
    for number in range(4):
        recent.turn_finished(turn(str(number)))
    texts = [kept.transcript.text for kept in recent.list("robot") if kept.transcript]
    assert texts == ["2", "3"]
    assert recent.list("another") == []
