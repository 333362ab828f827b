"""Which language model is taken."""

from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from server.config import Config
from server.llm import build


@pytest.mark.parametrize(
    ("settings", "environment", "expected"),
    [
        ({}, {}, "embedded"),
        ({"openai": {"model": "m"}}, {}, "embedded"),
        ({"openai": {}}, {"OPENAI_API_KEY": "k"}, "embedded"),
        ({"openai": {"model": "m"}}, {"OPENAI_API_KEY": "k"}, "openai"),
        ({"openai": {"base_url": "http://localhost:1/v1", "model": "m"}}, {}, "openai"),
        ({"engine": "embedded", "openai": {"base_url": "http://localhost:1/v1"}}, {}, "embedded"),
        ({"engine": "openai"}, {}, "openai"),
    ],
)
async def test_auto_takes_a_configured_endpoint_and_says_so(
    settings: dict[str, Any],
    environment: dict[str, str],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    structlog.reset_defaults()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with capture_logs() as logs:
        llm = build(Config(llm=settings), tmp_path)
    assert [entry["engine"] for entry in logs if entry["event"] == "llm-engine"] == [expected]
    warned = any(entry["event"] == "llm-half-configured" for entry in logs)
    assert warned == ("model" in settings.get("openai", {}) and expected == "embedded")
    assert llm.name.startswith(expected)
    await llm.aclose()
