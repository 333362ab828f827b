"""The OTA answer: the address a robot keeps, the time it shows, and no update by accident."""

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.ota import (
    Firmware,
    OtaAnswer,
    OtaRequest,
    build_answer,
    parse_request,
    read_answer,
    websocket_url,
)

PATH = "/xiaozhi/v1/"
TOKYO = datetime(2026, 11, 29, 21, 0, tzinfo=ZoneInfo("Asia/Tokyo"))
STACKCHAN_HEADERS = {
    "Activation-Version": "1",
    "Device-Id": "aa:bb:cc:dd:ee:ff",
    "Client-Id": "6f1f6d8e-0c1e-4f0b-9f43-1c8d8b8d2b11",
    "User-Agent": "m5stack-stack-chan/2.2.4",
    "Accept-Language": "ja-JP",
    "Content-Type": "application/json",
}
STACKCHAN_BODY = {
    "version": 2,
    "language": "ja-JP",
    "flash_size": 16_777_216,
    "minimum_free_heap_size": "8318916",
    "mac_address": "aa:bb:cc:dd:ee:ff",
    "uuid": "6f1f6d8e-0c1e-4f0b-9f43-1c8d8b8d2b11",
    "chip_model_name": "esp32s3",
    "application": {"name": "xiaozhi", "version": "2.2.4", "idf_version": "v5.5"},
    "partition_table": [],
    "ota": {"label": "ota_0"},
    "board": {"type": "m5stack-stack-chan", "name": "m5stack-stack-chan", "ip": "192.168.1.9"},
}
STACKCHAN = OtaRequest(
    device_id="aa:bb:cc:dd:ee:ff",
    client_id="6f1f6d8e-0c1e-4f0b-9f43-1c8d8b8d2b11",
    board="m5stack-stack-chan",
    version="2.2.4",
    language="ja-JP",
)


def answer_to(
    request: OtaRequest = STACKCHAN, now: datetime = TOKYO, firmware: Firmware | None = None
) -> dict[str, object]:
    return build_answer(
        request,
        websocket_url="ws://10.0.0.2:8000/xiaozhi/v1/",
        token="t0k",
        protocol_version=1,
        now=now,
        firmware=firmware,
    )


def test_a_robot_is_read_from_headers_and_body() -> None:
    assert parse_request(STACKCHAN_HEADERS, json.dumps(STACKCHAN_BODY).encode()) == STACKCHAN


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 99_999, b'{"board":7}']
)
def test_a_missing_or_broken_body_is_made_up_for_by_the_headers(body: bytes) -> None:
    assert parse_request(STACKCHAN_HEADERS, body) == STACKCHAN


def test_header_names_may_have_any_case() -> None:
    headers = {name.upper(): value for name, value in STACKCHAN_HEADERS.items()}
    assert parse_request(headers | {"SERIAL-NUMBER": "S1"}).serial_number == "S1"
    assert parse_request(headers).device_id == STACKCHAN.device_id


def test_the_body_makes_up_for_missing_headers() -> None:
    assert parse_request({}, json.dumps(STACKCHAN_BODY)) == STACKCHAN


def test_the_body_of_the_sdk_is_understood() -> None:
    headers = {"user-agent": "Linux node/0.5.1", "Device-Id": "00:11:22:33:44:55", "Client-Id": "c"}
    body = {"application": {"version": "0.5.1"}, "board": {"type": "xiaozhi-sdk"}}
    request = parse_request(headers | {"serial-number": ""}, json.dumps(body))
    assert request == OtaRequest("00:11:22:33:44:55", "c", "", "xiaozhi-sdk", "0.5.1")


def test_no_field_is_longer_than_a_name() -> None:
    request = parse_request(dict.fromkeys(STACKCHAN_HEADERS, "x" * 999))
    assert request.device_id == request.client_id == request.language == "x" * 128


def test_nothing_at_all_is_still_a_request() -> None:
    assert parse_request({}) == OtaRequest("")


@given(
    headers=st.dictionaries(st.sampled_from(list(STACKCHAN_HEADERS)), st.text(max_size=400)),
    body=st.binary(max_size=80)
    | st.dictionaries(
        st.sampled_from(list(STACKCHAN_BODY)), st.text() | st.integers() | st.none()
    ).map(json.dumps),
)
def test_no_request_is_too_odd_to_be_answered(headers: dict[str, str], body: bytes | str) -> None:
    request = parse_request(headers, body)
    assert max(map(len, (request.device_id, request.board, request.version))) <= 128
    assert json.loads(json.dumps(answer_to(request))).keys() >= {"server_time", "websocket"}


def test_the_answer_is_the_one_of_the_protocol() -> None:
    assert answer_to() == {
        "server_time": {"timestamp": 1_795_953_600_000, "timezone_offset": 540},
        "websocket": {"url": "ws://10.0.0.2:8000/xiaozhi/v1/", "token": "t0k", "version": 1},
        "firmware": {"version": "2.2.4", "url": ""},
    }


@pytest.mark.parametrize(
    ("zone", "utc", "offset"),
    [
        ("Asia/Tokyo", datetime(2026, 7, 1, tzinfo=UTC), 540),
        ("America/New_York", datetime(2026, 3, 8, 6, 59, 59, tzinfo=UTC), -300),
        ("America/New_York", datetime(2026, 3, 8, 7, 0, tzinfo=UTC), -240),
        ("America/New_York", datetime(2026, 11, 1, 5, 59, 59, tzinfo=UTC), -240),
        ("America/New_York", datetime(2026, 11, 1, 6, 0, tzinfo=UTC), -300),
        ("Asia/Kathmandu", datetime(2026, 7, 1, tzinfo=UTC), 345),
        ("UTC", datetime(2026, 7, 1, tzinfo=UTC), 0),
    ],
)
def test_the_robot_shows_the_clock_on_the_wall(zone: str, utc: datetime, offset: int) -> None:
    now = utc.astimezone(ZoneInfo(zone))
    read = read_answer(answer_to(now=now))
    assert (read.timestamp_ms, read.timezone_offset_minutes) == (utc.timestamp() * 1_000, offset)
    assert read.timestamp_ms is not None
    shown = datetime(1970, 1, 1) + timedelta(milliseconds=read.timestamp_ms, minutes=offset)  # noqa: DTZ001
    assert shown == now.replace(tzinfo=None)


def test_a_time_without_a_zone_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="zone"):
        answer_to(now=datetime(2026, 7, 1))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("running", "offered", "is_newer"),
    [
        ("2.2.4", "2.2.5", True),
        ("2.2.4", "2.10.0", True),
        ("2.9.9", "2.10", True),
        ("2.2", "2.2.0", True),  # as the firmware compares
        ("2.2.4", "2.2.4", False),
        ("2.2.4", "2.2.3", False),
        ("2.10.0", "2.9.0", False),
        ("2.2.4", "9.9-beta", False),
        ("2.2.4", "99999999999", False),
        ("2.2.4", "", False),
    ],
)
def test_an_update_is_offered_only_if_it_is_newer(
    running: str, offered: str, is_newer: bool
) -> None:
    request = OtaRequest("aa", version=running)
    answer = answer_to(request, firmware=Firmware(offered, "http://10.0.0.2/fw.bin"))
    expected = {"version": offered, "url": "http://10.0.0.2/fw.bin"}
    assert answer["firmware"] == (expected if is_newer else {"version": running, "url": ""})


@pytest.mark.parametrize(
    "version", ["", "1.2.3-beta", "v1.2", "1..2", "１.2", "1.2 x", "4294967296", "1." * 9 + "1"]
)
def test_a_version_that_would_crash_a_robot_is_not_sent_back(version: str) -> None:
    body = json.dumps({"application": {"version": version}})
    request = parse_request({"Device-Id": "aa", "User-Agent": f"board/{version}"}, body)
    assert request.version == ""
    assert "firmware" not in answer_to(request, firmware=Firmware("9.9.9", "http://x"))
    assert "firmware" not in answer_to(OtaRequest("aa", version=version))


def test_neither_mqtt_nor_activation_is_ever_sent() -> None:
    assert answer_to(OtaRequest("aa")).keys() == {"server_time", "websocket"}
    read = read_answer(answer_to())
    assert not read.prefers_mqtt
    assert not read.activation_code


def test_a_robot_reads_what_was_built() -> None:
    assert read_answer(answer_to()) == OtaAnswer(
        websocket_url="ws://10.0.0.2:8000/xiaozhi/v1/",
        token="t0k",
        protocol_version=1,
        timestamp_ms=1_795_953_600_000,
        timezone_offset_minutes=540,
        firmware_version="2.2.4",
    )


def test_a_robot_reads_the_answer_of_another_server() -> None:
    answer = {
        "mqtt": {"endpoint": "x"},
        "websocket": {"url": "wss://x/", "version": 3},
        "activation": {"code": "123456"},
        "server_time": {"timestamp": 1_700_000_000_000.5, "timezone_offset": "480"},
    }
    assert read_answer(answer) == OtaAnswer(
        "wss://x/",
        "",
        3,
        1_700_000_000_000,
        None,
        "",
        "",
        prefers_mqtt=True,
        activation_code="123456",
    )


@pytest.mark.parametrize("time", [float("inf"), float("nan"), True, "1", None])
def test_a_time_that_is_none_counts_as_not_said(time: object) -> None:
    assert read_answer({"server_time": {"timestamp": time}}) == OtaAnswer()


@given(
    st.dictionaries(
        st.sampled_from(["websocket", "server_time", "firmware", "activation", "mqtt"]),
        st.none()
        | st.integers()
        | st.text()
        | st.dictionaries(
            st.sampled_from(["url", "token", "version", "timestamp", "timezone_offset", "code"]),
            st.none() | st.floats() | st.integers() | st.text() | st.lists(st.none()),
        ),
    )
)
def test_a_robot_reads_any_answer(answer: dict[str, object]) -> None:
    assert read_answer(answer).protocol_version in (1, 2, 3)


@pytest.mark.parametrize(
    ("public_url", "host", "secure", "expected"),
    [
        (None, "192.168.1.50:8003", False, "ws://192.168.1.50:8000"),
        (None, "192.168.1.50", False, "ws://192.168.1.50:8000"),
        ("", "omoide.local:8003", False, "ws://omoide.local:8000"),
        (None, "omoide.local:8003", True, "wss://omoide.local:8000"),
        (None, "[fd00::1]:8003", False, "ws://[fd00::1]:8000"),
        (None, "[fd00::1]", False, "ws://[fd00::1]:8000"),
        (None, "fd00::1", False, "ws://[fd00::1]:8000"),
        (None, "[fe80::1%eth0]:8003", False, "ws://[fe80::1]:8000"),
        ("https://talk.example.org", "172.17.0.2:8003", False, "wss://talk.example.org"),
        ("https://talk.example.org/", "x", False, "wss://talk.example.org"),
        ("https://talk.example.org:8443", "x", False, "wss://talk.example.org:8443"),
        ("wss://talk.example.org", "x", False, "wss://talk.example.org"),
        ("http://10.0.0.2", "x", False, "ws://10.0.0.2:8000"),
        ("http://10.0.0.2", "x", True, "ws://10.0.0.2:8000"),
        ("ws://10.0.0.2:80", "x", False, "ws://10.0.0.2:80"),
        ("10.0.0.2:9000", "x", False, "ws://10.0.0.2:9000"),
        ("https://[fd00::1]:444", "x", False, "wss://[fd00::1]:444"),
        ("https://example.org/robots/", "x", False, "wss://example.org/robots"),
        ("https://example.org/xiaozhi/v1/", "x", False, "wss://example.org"),
    ],
)
def test_the_robot_gets_an_address_that_it_can_reach(
    public_url: str | None, host: str, secure: bool, expected: str
) -> None:
    assert websocket_url(public_url, host, 8_000, PATH, secure) == expected + PATH


@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        "a b",
        "evil/x",
        "x@y",
        "[::1",
        "[zz]",
        "a:b",
        "a:1:2",
        "-x",
        "日本",
        "a\nb",
        ":8003",
    ],
)
def test_a_host_that_is_none_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        websocket_url(None, host, 8_000, PATH, False)


@given(host=st.text(max_size=30))
def test_an_address_never_leads_somewhere_else_than_its_host(host: str) -> None:
    try:
        url = websocket_url(None, host, 8_000, PATH, False)
    except ValueError:
        return
    assert url.endswith(f":8000{PATH}")
    assert not set(url[5:].removesuffix(PATH)) & set("/@?#\\ \r\n")
