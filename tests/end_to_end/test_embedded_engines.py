"""First talk with the real embedded engines: spoken Japanese and English in, spoken answers out, no network."""

from pathlib import Path

import pytest

from server.audio import read_audio
from server.simulator import Habits, Identity, open_robot
from tests.end_to_end.running import running

SAMPLES = Path(__file__).resolve().parents[2] / "recordings" / "samples"

pytestmark = [pytest.mark.model, pytest.mark.slow]


async def test_japanese_and_english_are_heard_and_answered_aloud(tmp_path: Path) -> None:
    identity = Identity("aa:bb:cc:00:11:22")
    async with (
        running(tmp_path) as server,
        open_robot(server.http_url, identity, Habits()) as robot,
    ):
        assert server.app.troubles == {}
        japanese = await robot.say(read_audio(SAMPLES / "ja-weather.wav"))
        english = await robot.say(read_audio(SAMPLES / "en-name.wav"))
        turns = server.app.recent.list()
    assert "明日の天気" in japanese.transcript
    assert "your name" in english.transcript
    assert [turn.transcript.language for turn in turns if turn.transcript] == ["ja", "en"]
    for answer in (japanese, english):
        assert answer.reply
        assert answer.error is None
        assert answer.audio.seconds > 0.5
        assert (answer.underruns, answer.overflows, answer.early_stop_ms) == (0, 0, 0)
