"""`omoide bench interrupt`: what is reckoned from what passes on the line, and one trial of each way for real."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firmware_bridge.events import Aborted, PlayAudio, SpeechStarted, SpeechStopped
from firmware_bridge.events import Audio as AudioFrame
from server.audio import to_pcm
from server.commands.bench_interrupt import Plan, Trial, _sum_up, bench_interrupt
from server.commands.overheard import Overheard, Packet
from server.commands.reach import Place
from server.config import Config
from server.errors import ConfigError
from tests.fakes import silence, voice


async def test_what_passes_is_written_down_with_its_pitch() -> None:
    log = Overheard()
    log.note_sent(AudioFrame(to_pcm(silence(0.06)), 16_000))
    log.note_sent(AudioFrame(to_pcm(voice(0.06)), 16_000))
    log.note_sent(Aborted())
    for command in (
        SpeechStarted(),
        PlayAudio(to_pcm(voice(0.06, 440, 24_000)), 24_000),
        PlayAudio(to_pcm(voice(0.06, 880, 24_000)), 24_000),
        SpeechStopped(),
    ):
        log.note_received(command)
    assert (len(log.voiced), len(log.aborts), len(log.starts), len(log.stops)) == (1, 1, 1, 1)
    assert [packet.hertz for packet in log.packets] == pytest.approx([440, 880], rel=0.05)


async def test_packets_that_come_at_once_are_heard_one_after_the_other() -> None:
    log = Overheard(
        packets=[Packet(1.0, 0.06, 440), Packet(1.0, 0.06, 440), Packet(5.0, 0.06, 440)]
    )
    heard = [(begins, ends) for _, begins, ends in log.heard()]
    np.testing.assert_allclose(heard, [(1.0, 1.06), (1.06, 1.12), (5.0, 5.06)])


def test_one_leak_one_stop_too_many_and_one_wrong_history_are_counted() -> None:
    right = Trial(50.0, 10.0, 0, one_stop=True, history_right=True)
    wrong = Trial(500.0, 400.0, 3, one_stop=False, history_right=False)
    row = _sum_up("playing", "voice", [right] * 9 + [wrong])
    assert (row["trials"], row["leaked"], row["one_stop"], row["history_right"]) == (10, 3, 9, 9)
    assert row["silent_ms_p50"] == 50.0
    assert row["silent_ms_p99"] > 400


async def test_a_stage_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="recognition"):
        await bench_interrupt(Place(Config(), tmp_path), Plan(1, ("dancing",)), lambda line: None)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dictionary.create:DeprecationWarning")
async def test_a_trial_while_a_reply_is_played(tmp_path: Path) -> None:
    lines: list[str] = []
    report = await bench_interrupt(Place(Config(), tmp_path), Plan(1, ("playing",)), lines.append)
    assert report.ok
    rows: Any = report.data["rows"]
    assert [row["way"] for row in rows] == ["voice", "abort"]
    assert "playing" in "\n".join(lines)
