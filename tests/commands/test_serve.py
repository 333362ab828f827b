import socket
from pathlib import Path

import pytest

from server.commands.serve import describe_doors, find_addresses, serve
from server.config import Config
from server.errors import OmoideError


def test_robots_are_pointed_at_every_address_of_the_machine() -> None:
    lines = describe_doors(Config(), 8000, 8003, ["192.168.1.10", "10.0.0.5"])
    text = "\n".join(lines)
    assert "http://192.168.1.10:8003/xiaozhi/ota/" in text
    assert "http://10.0.0.5:8003/xiaozhi/ota/" in text
    assert "8000" in text


def test_a_fixed_host_and_a_public_address_are_told_instead() -> None:
    config = Config.model_validate(
        {"server": {"host": "192.168.1.10", "public_url": "wss://robots.example"}}
    )
    text = "\n".join(describe_doors(config, 8000, 8003, ["10.0.0.5"]))
    assert "http://192.168.1.10:8003/xiaozhi/ota/" in text
    assert "10.0.0.5" not in text
    assert "wss://robots.example" in text


async def test_a_port_that_is_taken_is_told_before_anything_is_built(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = Config.model_validate(
            {"server": {"host": "127.0.0.1", "device_port": 0, "http_port": port}}
        )
        with pytest.raises(OmoideError) as caught:
            await serve(config, tmp_path / "state", lambda line: None)
    assert caught.value.code == "port-unusable"
    assert not (tmp_path / "state").exists()


def test_there_is_always_an_address() -> None:
    assert find_addresses()
