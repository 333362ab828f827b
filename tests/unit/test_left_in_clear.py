"""Whoever encrypts the memory is told what beside it is not."""

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from server.app import open_app
from server.config import Config
from server.conversation import Engines
from server.left_in_clear import left_in_clear
from tests.fakes import FakeAsr, FakeEmbedder, FakeLlm, FakeTts, FakeVad

ENCRYPTED = {"store": {"encryption": "sqlcipher"}}
IN_MEMORY = {"index": {"engine": "qdrant", "url": ":memory:"}}


@pytest.mark.parametrize(
    ("sections", "found"),
    [
        ({"recording": {"keep_turns": True}}, set()),
        (ENCRYPTED, {"index"}),
        (ENCRYPTED | {"index": {"engine": "qdrant"}}, {"index"}),
        (ENCRYPTED | IN_MEMORY, set()),
        (ENCRYPTED | IN_MEMORY | {"recording": {"keep_audio": True}}, {"recordings"}),
    ],
)
def test_it_is_what_the_configuration_keeps_elsewhere(
    tmp_path: Path, sections: dict[str, Any], found: set[str]
) -> None:
    config = Config.model_validate(sections)
    assert set(left_in_clear(config, tmp_path)) == found
    day = tmp_path / "recordings" / "hana.1f" / "2026-05-03"
    day.mkdir(parents=True)
    (day / "151200-x.json").write_text("what was said before it was encrypted")
    wanted = found | {"recordings"} if config.store.encryption != "off" else set()
    assert set(left_in_clear(config, tmp_path)) == wanted


async def test_the_server_says_so_when_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_MEMORY_KEY", "correct horse battery staple")
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["x"]), FakeTts())
    with capture_logs() as logged:
        async with open_app(Config.model_validate(ENCRYPTED), tmp_path, engines, FakeEmbedder()):
            pass
    assert [line["what"] for line in logged if line["event"] == "left-in-clear"] == ["index"]
