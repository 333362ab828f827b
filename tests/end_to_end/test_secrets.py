"""What opens something never comes out: not in the log, not in a trace, not in the configuration that is shown."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel, SecretStr

from server import logs
from server.callers import Caller
from server.claims import Claim
from server.config import Config
from server.config_shown import HIDDEN, show
from server.conversation import Engines
from server.errors import LlmError
from server.simulator import Habits, Identity, open_robot
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad
from tests.patience import SECONDS

MARK = "zqsecretqz"
OPTIONS = {"llm": {"openai": {"extra_body": {"api_key": f"{MARK}-o", "nested": {"auth-token": f"{MARK}-n", "top_k": 3}}}}}  # fmt: skip
ADDRESSES = {
    "llm": {"openai": {"base_url": f"http://user:{MARK}-u@llm.example/v1?key={MARK}-q"}},
    "embedding": {"openai": {"base_url": f"https://{MARK}-u:{MARK}-p@embed.example/v1"}},
    "index": {"url": f"http://{MARK}-u:{MARK}-p@qdrant.example:6333"},
}


def secret_places(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return where in the configuration something is typed as a secret."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if kind is SecretStr:
            yield (*path, name)
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from secret_places(kind, (*path, name))


def sections_with_secrets() -> tuple[dict[str, Any], list[str]]:
    """Return sections in which every secret has a value of its own, and these values."""
    sections: dict[str, Any] = {}
    values = []
    for place in secret_places(Config):
        section = sections
        for name in place[:-1]:
            section = section.setdefault(name, {})
        section[place[-1]] = f"{MARK}-{'-'.join(place)}"
        values.append(section[place[-1]])
    return sections, values


def test_every_secret_of_the_configuration_is_hidden_where_it_is_shown() -> None:
    sections, values = sections_with_secrets()
    assert len(values) >= 4
    config = Config(**sections)
    shown = show(config)
    assert MARK not in str(shown)
    assert shown["access"]["api_token"] == HIDDEN
    assert shown["server"]["device_port"] == 8000
    assert show(Config())["access"]["api_token"] == ""
    assert MARK not in repr(config)


@pytest.mark.parametrize("sections", [OPTIONS, ADDRESSES])
def test_secrets_that_are_not_typed_as_such_are_hidden_too(sections: dict[str, Any]) -> None:
    shown = show(Config(**sections))
    assert MARK not in str(shown)
    if sections is OPTIONS:
        assert shown["llm"]["openai"]["extra_body"]["nested"]["top_k"] == 3
    else:
        assert shown["llm"]["openai"]["base_url"] == f"http://{HIDDEN}@llm.example/v1?{HIDDEN}"


async def test_no_secret_comes_out_of_a_server_that_has_much_to_complain_about(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.configure("debug", "json")
    sections, values = sections_with_secrets()
    identity = Identity("aa:bb:cc:00:11:22")
    engines = Engines(
        FakeVad(),
        FakeAsr(),
        FakeLlm(["はい。"], [LlmError("llm-failed", "no")]),
        FakeTts(0.01, 0.01),
    )
    answers = []
    async with (
        running(tmp_path, engines, **sections) as server,
        open_robot(server.http_url, identity, Habits()) as robot,
    ):
        for _ in range(2):
            await robot.write("こんにちは。")
        caller = Caller("127.0.0.1", is_local=True)
        token = server.app.access.visit(Claim(identity.device, identity.client), caller)
        right = {"Authorization": f"Bearer {sections['access']['api_token']}"}
        wrong = {"Authorization": f"Bearer {MARK}-guess", "X-Forwarded-For": "203.0.113.9"}
        async with httpx2.AsyncClient(
            base_url=server.http_url, trust_env=False, timeout=SECONDS
        ) as web:
            for path in (
                "/api/config",
                "/api/turns",
                "/api/devices",
                "/metrics",
                "/health",
                "/docs",
            ):
                answers += [
                    (await web.get(path, headers=headers)).text for headers in (right, wrong)
                ]
    secret = (tmp_path / "secret").read_bytes()
    told = "".join((*capfd.readouterr(), *answers))
    assert "turn-error" in told, "the log was really captured"
    assert '"device_port"' in told, "the configuration was really shown"
    for value in (*values, MARK, token, secret.hex()):
        assert value not in told
