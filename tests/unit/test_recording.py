"""What is kept of finished turns: nothing by default, texts and sounds only if asked for."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog

from server.audio import Audio, read_audio
from server.config import RecordingSection
from server.errors import StoreError
from server.recording import (
    RecentTurns,
    Recorder,
    erase_recordings,
    erase_turns,
    recordings_of,
    turns_recorded,
)
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
    Recorder(tmp_path / "all", RecordingSection()).turn_finished(turn())
    assert list(tmp_path.iterdir()) == []


def test_turns_are_written_when_asked_for(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn())
    own = recordings_of(tmp_path, "hana")
    assert files(own) == ["2026-05-03/152001-abc.json"]
    assert own.name.startswith("hana.")
    kept = json.loads((own / "2026-05-03/152001-abc.json").read_text(encoding="utf-8"))
    assert (kept["transcript"], kept["heard"]) == ("おはよう", "おはようございます。")
    assert kept["stages_ms"] == {"asr": 12.0}


def test_sounds_are_written_when_asked_for(tmp_path: Path) -> None:
    finished = turn()
    finished.said_audio = Audio(voice(0.5), 16_000)
    finished.reply_audio = Audio(voice(0.3, rate=24_000), 24_000)
    Recorder(tmp_path, RecordingSection(keep_audio=True)).turn_finished(finished)
    own = recordings_of(tmp_path, "hana")
    assert files(own) == [
        "2026-05-03/152001-abc.reply.wav",
        "2026-05-03/152001-abc.said.wav",
    ]
    assert read_audio(own / "2026-05-03/152001-abc.said.wav").seconds == pytest.approx(0.5)


def test_turns_in_which_nothing_was_said_are_not_kept(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn(""))
    recent = RecentTurns(5)
    recent.turn_finished(turn(""))
    recent.turn_finished(turn("", error="asr-failed"))
    assert files(tmp_path) == []
    assert [kept.error for kept in recent.list()] == ["asr-failed"]


def test_a_folder_that_can_not_be_written_ends_no_turn(tmp_path: Path) -> None:
    recordings_of(tmp_path, "hana").write_text("in the way")
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn())


def test_a_broken_character_is_written_as_json_can_write_it(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn("あ\ud800い"))
    kept = json.loads(
        (recordings_of(tmp_path, "hana") / "2026-05-03/152001-abc.json").read_text(encoding="utf-8")
    )
    assert kept["transcript"] == "あ\ud800い"


def test_a_sound_that_can_not_be_written_ends_no_turn(tmp_path: Path) -> None:
    finished = turn()
    finished.said_audio = Audio(voice(0.5), 16_000)
    (recordings_of(tmp_path, "hana") / "2026-05-03/152001-abc.said.wav").mkdir(parents=True)
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


@pytest.mark.parametrize(
    "person", ["hana", "../../etc", "花/太郎", "a" * 64, "", "\ud83d", "x/../y"]
)
def test_recordings_are_kept_by_person_and_stay_in_their_folder(
    tmp_path: Path, person: str
) -> None:
    own = recordings_of(tmp_path, person)
    assert own.parent == tmp_path
    assert own.name not in {"", ".", ".."}
    assert own != recordings_of(tmp_path, f"{person} ")


def test_who_is_forgotten_leaves_no_recording_and_no_turn(tmp_path: Path) -> None:
    recorder, recent = Recorder(tmp_path, RecordingSection(keep_turns=True)), RecentTurns(5)
    others = turn()
    others.person = "taro"
    for each in (turn(), others):
        recorder.turn_finished(each)
        recent.turn_finished(each)
    erase_recordings(tmp_path, "hana")
    recent.forget(lambda each: each.person == "hana")
    assert [path.name for path in tmp_path.iterdir()] == [recordings_of(tmp_path, "taro").name]
    assert [each.person for each in recent.list()] == ["taro"]
    erase_recordings(tmp_path, "hana")  # nothing is there: nothing happens


def test_recordings_are_deleted_while_others_are_written(tmp_path: Path) -> None:
    """A file that comes into a folder while it is being deleted keeps it from being deleted."""
    recorder = Recorder(tmp_path, RecordingSection(keep_turns=True))
    over = threading.Event()

    def record() -> None:
        number = 0
        while not over.is_set():
            number += 1
            kept = turn()
            kept.id = str(number)
            recorder.turn_finished(kept)

    with structlog.testing.capture_logs(), ThreadPoolExecutor(1) as pool:
        pool.submit(record)
        try:
            for _ in range(6):
                day = recordings_of(tmp_path, "hana") / "2026-05-03"
                day.mkdir(parents=True, exist_ok=True)
                for number in range(200):  # so that it takes a while
                    (day / str(number)).touch()
                erase_recordings(tmp_path, "hana")
        finally:
            over.set()
    erase_recordings(tmp_path, "hana")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may delete everything")
def test_recordings_that_can_not_be_deleted_are_named(tmp_path: Path) -> None:
    Recorder(tmp_path, RecordingSection(keep_turns=True)).turn_finished(turn())
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError) as caught:
        erase_recordings(tmp_path, "hana")
    tmp_path.chmod(0o700)
    assert caught.value.code == "recordings-undeletable"
    assert str(recordings_of(tmp_path, "hana")) in str(caught.value)


@pytest.mark.parametrize("again", ["erased", "started"])
def test_recordings_that_could_not_be_deleted_are_deleted_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    recorder = Recorder(tmp_path, RecordingSection(keep_turns=True))
    recorder.turn_finished(turn())

    def refuse(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("server.recording.shutil.rmtree", refuse)
        for _ in range(2):
            with pytest.raises(StoreError) as caught:
                erase_recordings(tmp_path, "hana")
            assert ".gone-" in str(caught.value)
        with structlog.testing.capture_logs() as lines:
            Recorder(tmp_path, RecordingSection())
        assert [line["event"] for line in lines] == ["recordings-undeletable"]
    assert len(files(tmp_path)) == 1
    if again == "erased":
        erase_recordings(tmp_path, "hana")
    else:
        Recorder(tmp_path, RecordingSection())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="rights are kept in another way")
def test_recordings_are_for_nobody_elses_eyes(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    folder.chmod(0o755)
    recorder = Recorder(folder, RecordingSection(keep_turns=True))
    assert folder.stat().st_mode & 0o777 == 0o700
    finished = turn()
    finished.said_audio = Audio(voice(0.1), 16_000)
    recorder.turn_finished(finished)
    kept = [folder, *folder.rglob("*")]
    assert len(kept) == 5
    for each in kept:
        assert each.stat().st_mode & 0o777 == (0o700 if each.is_dir() else 0o600)


def test_recordings_of_a_fact_that_vanish_are_none(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, RecordingSection(keep_turns=True))
    for number in range(3):
        kept = turn()
        kept.id = str(number)
        recorder.turn_finished(kept)

    def look(record: str) -> bool:
        erase_recordings(tmp_path, "hana")
        return True

    found = turns_recorded(tmp_path, "hana", look)
    erase_turns(tmp_path, "hana", found)
    assert files(tmp_path) == []
