from collections.abc import Mapping
from typing import Any

import pytest

from server.callers import Caller, Callers, fold_headers, read_host
from server.config import Config
from server.errors import AccessError


def callers(public_url: str = "", **access: Any) -> Callers:
    return Callers(Config(access=access, server={"public_url": public_url}))


HERE, AFAR = "127.0.0.1", "192.168.1.9"


def refusal(known: Callers, peer: str, headers: Mapping[str, str]) -> str:
    """Return why a web page may be behind a request; empty if it may not."""
    caller = known.identify(peer, headers)
    try:
        known.check_browser(caller)
    except AccessError as error:
        assert not caller.is_local
        return error.code
    assert caller.is_local is (peer == HERE)
    return ""


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_a_loopback_address_is_local(peer: str) -> None:
    assert callers().identify(peer, {"host": "localhost"}).is_local


@pytest.mark.parametrize("peer", ["192.168.1.9", "fe80::1%eth0", "::ffff:192.168.1.9", "", "lo"])
def test_any_other_address_is_not(peer: str) -> None:
    assert not callers().identify(peer, {"host": "localhost"}).is_local


def test_on_request_nobody_is_local() -> None:
    caller = callers(trust_loopback=False).identify("127.0.0.1", {"host": "localhost"})
    assert caller == Caller("127.0.0.1", is_local=False)


@pytest.mark.parametrize(
    "name",
    [
        *("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded"),
        *("forwarded", "forwarded-for", "x-http-forwarded-for", "x-original-forwarded-for"),
        *("x-real-ip", "via", "x-client-ip", "client-ip", "x-cluster-client-ip", "true-client-ip"),
        *("x-envoy-external-address", "x-original-host", "x-azure-clientip", "fastly-client-ip"),
        *("x-remote-addr", "x-remote-ip", "cdn-loop", "tailscale-user-login", "cf-connecting-ip"),
        *("cf-ray", "x-proxyuser-ip", "x-scheme", "front-end-https", "x-amzn-trace-id"),
        *("x-appengine-user-ip", "do-connecting-ip", "fly-client-ip", "wl-proxy-client-ip"),
    ],
)
@pytest.mark.parametrize("trusted", [(), ("127.0.0.1",)])
def test_a_forwarded_request_is_never_local(name: str, trusted: tuple[str, ...]) -> None:
    caller = callers(trusted_proxies=trusted).identify(
        "127.0.0.1", {"host": "localhost", name: "127.0.0.1"}
    )
    assert not caller.is_local


@pytest.mark.parametrize(
    "name",
    [
        *("client-id", "device-id", "protocol-version", "user-agent", "accept", "omoide-person"),
        *("authorization", "x-request-id", "sec-websocket-key", "serial-number", "host", "cookie"),
    ],
)
def test_headers_of_robots_and_browsers_do_not_look_like_those_of_proxies(name: str) -> None:
    headers = {"host": "localhost", name: "localhost"}
    assert callers().identify("127.0.0.1", headers).is_local


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.168.1.9", "192.168.1.10", False),
        ("::ffff:192.168.1.9", "192.168.1.9", True),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("127.0.0.1", "::1", True),
        ("127.0.0.1", "192.168.1.9", False),
        ("unix", "socket", False),
    ],
)
def test_addresses_that_one_machine_can_take_at_will_count_as_one(
    one: str, other: str, is_same: bool
) -> None:
    households = [Caller(address, is_local=False).household for address in (one, other)]
    assert (households[0] == households[1]) is is_same


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
    assert refusal(callers(), HERE, {"host": host}) == ""


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
    assert refusal(callers(), HERE, {"host": host}) == "host-foreign"


def test_configured_names_are_own_names() -> None:
    known = callers(allowed_hosts=["Robot.lan"], public_url="https://talk.example:8443/omoide")
    for host in ("robot.lan:8003", "talk.example"):
        assert refusal(known, HERE, {"host": host}) == ""


def test_robots_may_call_the_server_by_any_name() -> None:
    assert refusal(callers(), AFAR, {"host": "whatever.lan:8000"}) == ""


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
@pytest.mark.parametrize("peer", [HERE, AFAR])
def test_own_pages_may_call(host: str, origin: str, peer: str) -> None:
    known = callers(allowed_hosts=["robot.lan"])
    assert refusal(known, peer, {"host": host, "origin": origin}) == ""


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://localhost:9999",
        "http://localhost.evil.example:8003",
        "http://[:::",
    ],
)
@pytest.mark.parametrize("peer", [HERE, AFAR])
def test_pages_from_elsewhere_may_not(origin: str, peer: str) -> None:
    headers = {"host": "localhost:8003", "origin": origin}
    assert refusal(callers(), peer, headers) == "origin-foreign"


def test_hobby_boards_that_claim_to_be_a_file_may_come_from_elsewhere_only() -> None:
    assert refusal(callers(), AFAR, {"host": "192.168.1.5:8000", "origin": "file://"}) == ""
    assert refusal(callers(), HERE, {"host": "localhost:8000", "origin": "file://"}) != ""


def test_a_page_that_points_its_own_name_here_is_refused_from_anywhere() -> None:
    headers = {"host": "evil.example", "origin": "http://evil.example"}
    assert refusal(callers(), AFAR, headers) == "host-foreign"


@pytest.mark.parametrize(
    ("site", "mode", "reason"),
    [
        ("cross-site", "no-cors", "origin-foreign"),
        ("same-site", "no-cors", "origin-foreign"),
        ("cross-site", "navigate", ""),
        ("same-origin", "cors", ""),
        ("none", "navigate", ""),
    ],
)
@pytest.mark.parametrize("peer", [HERE, AFAR])
def test_what_a_page_from_elsewhere_embeds_is_refused_but_links_may_be_followed(
    site: str, mode: str, reason: str, peer: str
) -> None:
    headers = {"host": "localhost:8003", "sec-fetch-site": site, "sec-fetch-mode": mode}
    assert refusal(callers(), peer, headers) == reason


def test_the_real_ports_count_once_the_doors_are_open() -> None:
    known = callers()
    known.device_port, known.http_port = 1111, 2222
    own = {"host": "localhost:1111", "origin": "http://localhost:2222"}
    assert refusal(known, HERE, own) == ""
    assert refusal(known, HERE, {**own, "origin": "http://localhost:8003"}) == "origin-foreign"


def test_repeated_headers_are_joined_under_one_lower_case_name() -> None:
    assert fold_headers([("Host", "a"), ("HOST", "b"), ("X", "1")]) == {"host": "a, b", "x": "1"}


@pytest.mark.parametrize(
    "header", ["a, b", "a\r\nb", "a/b", "user@a", "a:b", "a:70000", "[::1", "-a", "a" * 300]
)
def test_a_host_header_that_is_none_is_told(header: str) -> None:
    assert read_host(header) is None
