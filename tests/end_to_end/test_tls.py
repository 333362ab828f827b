"""Both doors over TLS, with a certificate that was signed by nobody."""

import ssl
import subprocess
from pathlib import Path

import anyio
import httpx2
import pytest
from pydantic import ValidationError

from server.config import Config, TlsSection
from server.conversation import Engines
from server.errors import ConfigError
from server.simulator import Habits, Identity, open_robot
from server.simulator.line import LineError
from server.tls import server_context
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad
from tests.patience import SECONDS

ROBOT = Identity("aa:bb:cc:00:11:22")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("tls")
    paths = {"certificate": str(folder / "server.pem"), "key": str(folder / "server.key")}
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=omoide"]  # fmt: skip
    command += ["-addext", names, "-keyout", paths["key"], "-out", paths["certificate"]]
    subprocess.run(command, check=True, capture_output=True)
    return paths


def engines() -> Engines:
    return Engines(FakeVad(), FakeAsr(), FakeLlm(["はい。"]), FakeTts(0.01, 0.01))


@pytest.mark.parametrize("protocol", ["xiaozhi", "pcm"])
async def test_a_robot_finds_the_server_and_talks_over_tls(
    tmp_path: Path, certificate: dict[str, str], monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certificate["certificate"])
    async with running(tmp_path, engines(), server={"tls": certificate}) as server:
        url = f"https://127.0.0.1:{server.http_port}"
        async with open_robot(url, ROBOT, Habits(protocol=protocol, mode="manual")) as robot:  # type: ignore[arg-type]
            assert (await robot.write("こんにちは。")).reply == "はい。"


async def test_the_ota_answer_names_tls_addresses_for_both_ports(
    tmp_path: Path, certificate: dict[str, str]
) -> None:
    (tmp_path / "firmware").mkdir()
    (tmp_path / "firmware" / "board_9.0.0.bin").write_bytes(b"firmware")
    trusted = ssl.create_default_context(cafile=certificate["certificate"])
    headers = {"Device-Id": ROBOT.device, "Client-Id": "first", "User-Agent": "board/1.0.0"}
    for public in ("", "https://localhost:{port}"):
        section = {"tls": certificate, "http_port": 0}
        async with running(tmp_path, engines(), server=section) as server:
            port = server.http_port
            if public:
                update = {"public_url": public.format(port=port)}
                config = server.app.config
                changed = config.server.model_copy(update=update)
                server.app.config = config.model_copy(update={"server": changed})
            async with httpx2.AsyncClient(verify=trusted, trust_env=False, timeout=SECONDS) as web:
                answer = await web.post(
                    f"https://localhost:{port}/xiaozhi/ota/", json={}, headers=headers
                )
                told = answer.json()
                assert (
                    told["websocket"]["url"] == f"wss://localhost:{server.device_port}/xiaozhi/v1/"
                )
                assert told["firmware"]["url"].startswith(f"https://localhost:{port}/")
                assert (await web.get(told["firmware"]["url"])).content == b"firmware"


async def test_nothing_goes_over_the_line_without_tls(
    tmp_path: Path, certificate: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, engines(), server={"tls": certificate}) as server:
        async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as web:
            with pytest.raises(httpx2.HTTPError):
                await web.get(f"http://127.0.0.1:{server.http_port}/health")
        for url in (
            server.http_url,
            f"ws://127.0.0.1:{server.device_port}",
            f"wss://127.0.0.1:{server.device_port}",
        ):
            with pytest.raises(LineError):
                async with open_robot(url, ROBOT, Habits(protocol="pcm")):
                    pass


def test_what_is_older_than_tls_1_2_is_not_spoken(certificate: dict[str, str]) -> None:
    context = server_context(TlsSection(**certificate))
    assert context is not None
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_key_alone_is_no_tls_and_stops_the_start() -> None:
    with pytest.raises(ValidationError, match=r"server\.tls\.certificate"):
        Config.model_validate({"server": {"tls": {"key": "server.key"}}})


@pytest.mark.parametrize("broken", ["missing", "no certificate", "no key", "wrong key"])
def test_a_certificate_that_is_none_stops_the_start_with_what_to_do(
    tmp_path: Path, certificate: dict[str, str], broken: str
) -> None:
    section = dict(certificate)
    other = tmp_path / "other.pem"
    other.write_text("nothing")
    match broken:
        case "missing":
            section["certificate"] = str(tmp_path / "nowhere.pem")
        case "no certificate":
            section["certificate"] = str(other)
        case "no key":
            section["key"] = ""
        case "wrong key":
            section["key"] = str(other)
    with pytest.raises(ConfigError, match="PEM") as caught:
        server_context(Config.model_validate({"server": {"tls": section}}).server.tls)
    assert caught.value.code == "tls-unusable"


async def test_who_connects_and_makes_no_handshake_is_hung_up_on(
    tmp_path: Path, certificate: dict[str, str]
) -> None:
    limits = {"http_patience_seconds": 0.2}
    async with (
        running(tmp_path, engines(), server={"tls": certificate}, limits=limits) as server,
        await anyio.connect_tcp("127.0.0.1", server.http_port) as silent,
    ):
        with anyio.fail_after(10), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await silent.receive()
