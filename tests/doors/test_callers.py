from collections.abc import Mapping
from typing import Any

import pytest

from server.callers import Caller, Callers, fold_headers, read_host
from server.config import Config
from server.errors import AccessError, ConfigError


def callers(public_url: str = "", **access: Any) -> Callers:
    return Callers(Config(access=access, server={"public_url": public_url}))


HERE = Caller("127.0.0.1", is_local=True)
AFAR = Caller("192.168.1.9", is_local=False)


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_a_loopback_address_is_local(peer: str) -> None:
    assert callers().identify(peer, {}).is_local


@pytest.mark.parametrize("peer", ["192.168.1.9", "fe80::1%eth0", "::ffff:192.168.1.9", "", "lo"])
def test_any_other_address_is_not(peer: str) -> None:
    assert not callers().identify(peer, {}).is_local


@pytest.mark.parametrize(
    "name",
    ["x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-host", "x-forwarded-proto", "via"],
)
@pytest.mark.parametrize("trusted", [(), ("127.0.0.1",)])
def test_a_forwarded_request_is_never_local(name: str, trusted: tuple[str, ...]) -> None:
    caller = callers(trusted_proxies=trusted).identify("127.0.0.1", {name: "127.0.0.1"})
    assert not caller.is_local


def test_forwarding_headers_of_strangers_say_nothing() -> None:
    caller = callers(trusted_proxies=["10.0.0.1"]).identify(
        "10.0.0.2", {"x-forwarded-for": "1.2.3.4"}
    )
    assert caller == Caller("10.0.0.2", is_local=False)


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ({"x-forwarded-for": "6.6.6.6, 1.2.3.4"}, "1.2.3.4"),
        ({"x-forwarded-for": "6.6.6.6, 1.2.3.4, 10.0.0.9"}, "1.2.3.4"),
        ({"x-forwarded-for": "1.2.3.4:5678"}, "1.2.3.4"),
        ({"x-forwarded-for": "10.0.0.9, 10.0.0.8"}, "10.0.0.9"),
        ({"x-forwarded-for": "1.2.3.4, nonsense"}, "10.0.0.1"),
        ({"x-real-ip": "1.2.3.4"}, "1.2.3.4"),
        ({"forwarded": 'for=6.6.6.6;proto=http, For="[2001:db8::1]:4711"'}, "2001:db8::1"),
        ({"forwarded": "proto=https"}, "10.0.0.1"),
    ],
)
def test_the_right_most_untrusted_address_is_the_client(
    headers: Mapping[str, str], address: str
) -> None:
    caller = callers(trusted_proxies=["10.0.0.0/24"]).identify("10.0.0.1", headers)
    assert caller == Caller(address, is_local=False)


def test_a_wrong_proxy_in_the_configuration_is_named() -> None:
    with pytest.raises(ConfigError, match="trusted_proxies: 'my-proxy'"):
        callers(trusted_proxies=["my-proxy"])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8003",
        "127.0.0.1:8003",
        "192.168.1.5:8000",
        "[::1]:8003",
        "x.localhost",
    ],
)
def test_programs_here_may_call_the_server_by_address_or_localhost(host: str) -> None:
    callers().check_browser({"host": host}, HERE)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8003",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "a b",
        "localhost:99999",
    ],
)
def test_a_foreign_name_for_this_machine_is_refused(host: str) -> None:
    with pytest.raises(AccessError) as caught:
        callers().check_browser({"host": host}, HERE)
    assert caught.value.code == "host-foreign"


def test_configured_names_are_own_names() -> None:
    known = callers(allowed_hosts=["Robot.lan"], public_url="https://talk.example:8443/omoide")
    known.check_browser({"host": "robot.lan:8003"}, HERE)
    known.check_browser({"host": "talk.example"}, HERE)


def test_robots_may_call_the_server_by_any_name() -> None:
    callers().check_browser({"host": "whatever.lan:8000"}, AFAR)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8003", "http://localhost:8003"),
        ("localhost:8000", "http://localhost:8003"),
        ("192.168.1.5:9", "http://192.168.1.5:9"),
        ("localhost", "http://localhost"),
        ("localhost", "https://localhost"),
        ("127.0.0.1:8003", "https://robot.lan"),
        ("127.0.0.1:8003", "https://robot.lan:1234"),
    ],
)
@pytest.mark.parametrize("caller", [HERE, AFAR])
def test_own_pages_may_call(host: str, origin: str, caller: Caller) -> None:
    callers(allowed_hosts=["robot.lan"]).check_browser({"host": host, "origin": origin}, caller)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://localhost:9999",
        "http://localhost.evil.example:8003",
        "file://",
        "http://[:::",
    ],
)
@pytest.mark.parametrize("caller", [HERE, AFAR])
def test_pages_from_elsewhere_may_not(origin: str, caller: Caller) -> None:
    with pytest.raises(AccessError) as caught:
        callers().check_browser({"host": "localhost:8003", "origin": origin}, caller)
    assert caught.value.code == "origin-foreign"


def test_a_page_that_points_its_own_name_here_is_refused_from_anywhere() -> None:
    with pytest.raises(AccessError) as caught:
        callers().check_browser({"host": "evil.example", "origin": "http://evil.example"}, AFAR)
    assert caught.value.code == "host-foreign"


def test_the_real_ports_count_once_the_doors_are_open() -> None:
    known = callers()
    known.device_port, known.http_port = 1111, 2222
    known.check_browser({"host": "localhost:1111", "origin": "http://localhost:2222"}, HERE)
    with pytest.raises(AccessError):
        known.check_browser({"host": "localhost:1111", "origin": "http://localhost:8003"}, HERE)


def test_repeated_headers_are_joined_under_one_lower_case_name() -> None:
    assert fold_headers([("Host", "a"), ("HOST", "b"), ("X", "1")]) == {"host": "a, b", "x": "1"}


@pytest.mark.parametrize(
    "header", ["a, b", "a\r\nb", "a/b", "user@a", "a:b", "a:70000", "[::1", "-a", "a" * 300]
)
def test_a_host_header_that_is_none_is_told(header: str) -> None:
    assert read_host(header) is None
