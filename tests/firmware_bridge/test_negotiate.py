"""Which codec a connection gets, and that none of them drags in what it must not."""

import subprocess
import sys

import pytest
from websockets.datastructures import Headers

from firmware_bridge import Audio, ProtocolError, TextSaid, WakeWord, negotiate
from firmware_bridge.framing import wrap
from firmware_bridge.opus import OpusEncoder
from tests.firmware_bridge.sounds import make_tone

PACKET = OpusEncoder(16_000, 60).encode(make_tone(440, 16_000, 0.06))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/xiaozhi/v1/", "xiaozhi"),
        ("/xiaozhi/v1", "xiaozhi"),
        ("/xiaozhi/v1/?device-id=x", "xiaozhi"),
        ("/pcm", "pcm"),
        ("/pcm/", "pcm"),
    ],
)
def test_the_path_chooses_the_protocol(path: str, name: str) -> None:
    assert negotiate(path, {}, {}).name == name


@pytest.mark.parametrize(
    "path",
    ["", "/", "/xiaozhi", "/xiaozhi/v2/", "/pcm/x", "pcm", "/PCM", "/xiaozhi/v1//", "x" * 9_999],
)
def test_any_other_path_is_refused(path: str) -> None:
    with pytest.raises(ProtocolError) as error:
        negotiate(path, {}, {})
    assert error.value.code == "unknown-path"
    assert len(str(error.value)) < 200


def understands(version: int, headers: dict[str, str] | Headers, query: dict[str, str]) -> bool:
    codec = negotiate("/xiaozhi/v1/", headers, query)
    framing = {1: wrap(PACKET, 1), 2: wrap(PACKET, 2), 3: wrap(PACKET, 3)}
    return bool(codec.receive(framing[version]))


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("name", ["Protocol-Version", "protocol-version", "PROTOCOL-VERSION"])
def test_the_header_chooses_the_framing(version: int, name: str) -> None:
    assert understands(version, {name: str(version)}, {})
    assert understands(version, {name: f" {version} "}, {})
    assert understands(version, Headers({name: str(version)}), {})
    assert not understands(1 + version % 3, {name: str(version)}, {})


@pytest.mark.parametrize("junk", ["", "0", "4", "１", "1.0", "-1", "x", "9" * 5_000])
def test_a_framing_that_does_not_exist_is_framing_1(junk: str) -> None:
    assert understands(1, {"Protocol-Version": junk}, {})


def test_a_header_sent_twice_counts_as_not_sent() -> None:
    headers = Headers([("Protocol-Version", "2"), ("protocol-version", "3")])
    assert understands(1, headers, {})


def test_a_browser_says_the_framing_in_the_query() -> None:
    assert understands(3, {}, {"protocol-version": "3"})
    assert understands(2, {"Protocol-Version": "2"}, {"protocol-version": "3"})


def test_the_hello_overrules_the_header_if_it_is_valid() -> None:
    codec = negotiate("/xiaozhi/v1/", {"Protocol-Version": "3"}, {})
    codec.receive('{"type":"hello","version":8}')
    codec.receive('{"type":"hello","version":true}')
    assert isinstance(codec.receive(wrap(PACKET, 3))[0], Audio)
    codec.receive('{"type":"hello","version":1}')
    assert isinstance(codec.receive(PACKET)[0], Audio)


def test_wake_words_can_be_configured() -> None:
    said = '{"type":"listen","state":"detect","text":"Omoide!"}'
    assert negotiate("/xiaozhi/v1/", {}, {}).receive(said) == [TextSaid("Omoide!")]
    codec = negotiate("/xiaozhi/v1/", {}, {}, wake_words=["omoide"])
    assert codec.receive(said) == [WakeWord("Omoide!")]


def test_speaking_pcm_needs_neither_opus_nor_any_module_that_waits_or_connects() -> None:
    program = (
        "import sys; import firmware_bridge, firmware_bridge.ota; "
        "firmware_bridge.negotiate('/pcm', {}, {}); "
        "print(*{'av', 'numpy', 'asyncio', 'anyio', 'socket', 'threading', 'websockets', 'server'}"
        " & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
