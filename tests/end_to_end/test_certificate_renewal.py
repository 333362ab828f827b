"""A certificate is taken up when it is renewed, and its owner is told when its time is over."""

import shutil
import ssl
import subprocess
from pathlib import Path

import anyio
import httpx2
import pytest
from structlog.testing import capture_logs

from server import tls
from server.commands.checks_protection import check_protection
from server.config import Config, TlsSection
from server.conversation import Engines
from server.tls import find_date_trouble
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad

SECONDS = 10


def make(folder: Path, name: str, days: int = 2) -> dict[str, str]:
    """Make a certificate that signs itself; with less than a day it has expired."""
    key, request, certificate = (str(folder / f"{name}.{end}") for end in ("key", "csr", "pem"))
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    asked = ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-addext", names]  # fmt: skip
    signed = ["x509", "-req", "-in", request, "-signkey", key, "-days", str(days), "-copy_extensions", "copy"]  # fmt: skip
    for command in ([*asked, "-keyout", key, "-out", request], [*signed, "-out", certificate]):
        subprocess.run(["openssl", *command], check=True, capture_output=True)
    return {"certificate": certificate, "key": key}


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "_LOOK_SECONDS", 0.02)


async def is_served(url: str, certificate: str) -> bool:
    trusted = ssl.create_default_context(cafile=certificate)
    async with httpx2.AsyncClient(verify=trusted, trust_env=False) as web:
        try:
            await web.get(url)
        except httpx2.ConnectError:
            return False
        return True


async def test_a_renewed_certificate_is_taken_up_at_both_doors_and_half_of_one_is_not(
    tmp_path: Path,
) -> None:
    section, renewed = make(tmp_path, "first"), make(tmp_path, "second")
    kept = str(shutil.copy(section["certificate"], tmp_path / "kept.pem"))
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["はい。"]), FakeTts(0.01, 0.01))
    with capture_logs() as logged:
        async with running(tmp_path / "data", engines, server={"tls": section}) as server:
            urls = [f"https://localhost:{port}/health" for port in (server.device_port, server.http_port)]  # fmt: skip
            shutil.copy(renewed["certificate"], section["certificate"])
            with anyio.fail_after(SECONDS):
                while sum(line["event"] == "certificate-not-renewed" for line in logged) < 2:
                    await anyio.sleep(0.01)
            assert [await is_served(url, kept) for url in urls] == [True, True], "the old one holds"
            shutil.copy(renewed["key"], section["key"])
            with anyio.fail_after(SECONDS):
                while sum(line["event"] == "certificate-renewed" for line in logged) < 2:
                    await anyio.sleep(0.01)
            assert [await is_served(url, kept) for url in urls] == [False, False]
            assert [await is_served(url, renewed["certificate"]) for url in urls] == [True, True]


def test_a_certificate_that_has_expired_is_told_of(tmp_path: Path) -> None:
    expired, good = make(tmp_path, "expired", days=-1), make(tmp_path, "good")
    assert "has expired" in find_date_trouble(TlsSection(**expired))
    assert find_date_trouble(TlsSection(**good)) == ""
    assert find_date_trouble(TlsSection()) == ""
    for section, state in ((expired, "fail"), (good, "ok")):
        config = Config.model_validate({"server": {"tls": section}})
        [finding] = check_protection(config, tmp_path)
        assert (finding.name, finding.state) == ("tls", state)


async def test_a_server_with_one_that_has_expired_says_so_in_its_log(tmp_path: Path) -> None:
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["はい。"]), FakeTts(0.01, 0.01))
    section = make(tmp_path, "expired", days=-1)
    with capture_logs() as logged:
        async with running(tmp_path / "data", engines, server={"tls": section}):
            with anyio.fail_after(SECONDS):
                while not any(line["event"] == "certificate-out-of-date" for line in logged):
                    await anyio.sleep(0.01)
