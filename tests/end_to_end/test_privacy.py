"""What people say, what the robot answers and which token opened the door never stand in the log."""

from pathlib import Path

import pytest

from server import logs
from server.callers import Caller
from server.claims import Claim
from server.conversation import Engines
from server.errors import LlmError
from server.simulator import Habits, Identity, open_robot
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad, Step

SAID, ANSWERED = "ひみつのはなし", "だれにもいいません"


async def test_no_word_of_a_talk_stands_in_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.configure("debug", "json")
    scripts: list[list[Step]] = [
        [ANSWERED, "。"],
        [ANSWERED, LlmError("llm-failed", "no")],
        [RuntimeError(f"a bug that quotes {ANSWERED}")],
    ]
    identity = Identity("aa:bb:cc:00:11:22")
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(*scripts), FakeTts(0.01, 0.01))
    async with (
        running(tmp_path, engines) as server,
        open_robot(server.http_url, identity, Habits()) as robot,
    ):
        answers = [await robot.write(SAID) for _ in range(3)]
        caller = Caller("127.0.0.1", is_local=True)
        token = server.app.access.visit(Claim(identity.device, identity.client), caller)
    log = "".join(capfd.readouterr())
    assert ANSWERED in answers[0].reply
    assert "turn-fault" in log, "the log was really captured"
    for word in (SAID, ANSWERED, token, (tmp_path / "api-token").read_text().strip()):
        assert word not in log
