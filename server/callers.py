"""Who is at the door: the address behind a request, and whether it really comes from this machine.

Programs on this machine need no token. Three things could abuse that, and each has its rule here: a proxy that makes
strangers look local (forwarding headers), a web page that points its own name at this machine (`Host`), and a web page
that sends requests across sites (`Origin`). `Callers.identify` applies all of them, so whoever is local may be trusted.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from server.config import Config
from server.errors import AccessError

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_FORWARDING = re.compile(
    r"^via$|^cdn-|^cf-|^fastly-|^tailscale-|^x-(envoy|azure|original|amz|amzn|appengine|scheme|proxy)"
    r"|forwarded|(client|connecting|real|user|remote|source)-?(ip|addr)|^x-host$|^front-end-https$"
)
"""Headers that proxies, tunnels and content networks add: one of them, and the request comes from elsewhere."""
_HOST = re.compile(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?\.?)"
    r"(:(?P<port>[0-9]{1,5}))?"
)
_FORWARDED_FOR = re.compile(r'for="?(?P<node>\[[^\]]*\]|[^;,"]*)', re.IGNORECASE)
_DOUBTS = {
    "host-foreign": "This server does not go by that name. Call it by its IP address or localhost, add the name to "
    "access.allowed_hosts, or send a token.",
    "origin-foreign": "Web pages from elsewhere may not call this server. Add the host of the page to "
    "access.allowed_hosts, or send a token.",
}
_IPV6_HOUSEHOLD_BITS = 64
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a request comes from."""

    address: str
    """For the log."""
    is_local: bool
    """Whether it was made by a program on this machine: no proxy in between, and no web page from elsewhere."""
    doubt: str = ""
    """Why it may be the work of a web page from elsewhere: a code for `Callers.check_browser`; empty if it is not."""

    @property
    def household(self) -> str:
        """Whom to count it for: one machine may take any address in an IPv6 network. Empty for this machine."""
        address = _read_address(self.address)
        if address is None or address.is_loopback:
            return "" if address else self.address
        return (
            str(address)
            if address.version == 4
            else str(_network_of((address, _IPV6_HOUSEHOLD_BITS)))
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A host and, if one was given, a port."""

    name: str
    """Lower case; an IPv6 address without its brackets."""
    port: int | None


class Callers:
    """Tells callers on this machine from all others, by the rules of the configuration.

    Attributes:
        device_port: Where robots connect; whoever opens the door replaces 0 by the real port.
        http_port: Where the HTTP API is; likewise. A web page of one port may talk to the other.
    """

    def __init__(self, config: Config) -> None:
        self.device_port = config.server.device_port
        self.http_port = config.server.http_port
        self._trusts_loopback = config.access.trust_loopback
        self._proxies = tuple(map(_network_of, config.access.trusted_proxies))
        names = {name.strip().lower() for name in config.access.allowed_hosts}
        public = _read_url(config.server.public_url)
        self._names = frozenset(names | ({public.name} if public else set()))

    def identify(self, peer: str, headers: Mapping[str, str]) -> Caller:
        """Say who calls.

        A web page from elsewhere in a browser on this machine is not local, whatever it brings along.

        Args:
            peer: The address at the other end of the connection.
            headers: Names in lower case, values of repeated ones joined by commas.
        """
        address = _read_address(peer)
        is_forwarded = any(_FORWARDING.search(name) for name in headers)
        is_here = not is_forwarded and address is not None and address.is_loopback
        doubt = self._find_doubt(headers, is_here=is_here)
        return Caller(
            self._see_through(peer, address, headers) if is_forwarded else peer,
            is_local=is_here and self._trusts_loopback and not doubt,
            doubt=doubt,
        )

    def check_browser(self, caller: Caller) -> None:
        """Refuse what only a web page of somebody else would send. Not for requests with a valid token.

        Raises:
            AccessError: `host-foreign` or `origin-foreign`.
        """
        if caller.doubt:
            raise AccessError(caller.doubt, _DOUBTS[caller.doubt])

    def is_own_host(self, header: str) -> bool:
        """Whether a `Host` header names this server in a way that nobody else can point here."""
        return self._is_own(read_host(header))

    def _find_doubt(self, headers: Mapping[str, str], *, is_here: bool) -> str:
        host = read_host(headers.get("host", ""))
        origin = headers.get("origin")
        if origin == _NO_PAGE and not is_here:
            origin = None
        if (is_here or origin is not None) and not self._is_own(host):
            return "host-foreign"
        if origin is not None and not self._may_come_from(_read_url(origin), host):
            return "origin-foreign"
        if origin is None and _is_fetched_from_elsewhere(headers):
            return "origin-foreign"
        return ""

    def _see_through(self, peer: str, address: _Address | None, headers: Mapping[str, str]) -> str:
        """Return the right-most address that no trusted proxy has: what stands left of it anybody can make up."""
        if address is None or not self._is_trusted(address):
            return peer
        seen = peer
        for node in reversed(_read_chain(headers)):
            forwarded = _read_address(node)
            if forwarded is None:
                return seen
            seen = str(forwarded)
            if not self._is_trusted(forwarded):
                return seen
        return seen

    def _is_trusted(self, address: _Address) -> bool:
        return any(
            address.version == network.version and address in network for network in self._proxies
        )

    def _is_own(self, host: Place | None) -> bool:
        if host is None:
            return False
        # A name can be pointed here by whoever owns it; an address can't.
        is_fixed = _read_address(host.name) is not None or host.name in ("localhost", "localhost.")
        return is_fixed or host.name.endswith(".localhost") or host.name in self._names

    def _may_come_from(self, page: Place | None, host: Place | None) -> bool:
        if page is None or host is None:
            return False
        if page.name in self._names:
            return True
        ports = {host.port} if host.port else set(_DEFAULT_PORTS.values())
        return page.name == host.name and page.port in {*ports, self.device_port, self.http_port}


_NO_PAGE = "file://"
"""What a much used WebSocket library for hobby boards sends; browsers say ``null`` for pages without a site."""


def fold_headers(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers with names in lower case; values of one that came several times are joined by commas."""
    folded: dict[str, str] = {}
    for name, value in items:
        key = name.lower()
        folded[key] = f"{folded[key]}, {value}" if key in folded else value
    return folded


def _is_fetched_from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that another site's page asked for this, other than by a link that somebody clicked."""
    is_link = headers.get("sec-fetch-mode") == "navigate"
    return not is_link and headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def read_host(header: str) -> Place | None:
    """Read a `Host` header; None if it is missing or could not be one."""
    match = _HOST.fullmatch(header.strip())
    if match is None:
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and port > 65535:
        return None
    return Place(match["name"].strip("[]").lower(), port)


def _read_url(url: str) -> Place | None:
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
        return Place(parts.hostname.lower(), port) if parts.hostname else None
    except ValueError:
        return None


def _read_chain(headers: Mapping[str, str]) -> list[str]:
    """Return the addresses that the request is said to have passed, the client first."""
    if "x-forwarded-for" in headers:
        return [part.strip() for part in headers["x-forwarded-for"].split(",")]
    if "forwarded" in headers:
        return [match["node"].strip() for match in _FORWARDED_FOR.finditer(headers["forwarded"])]
    return [headers["x-real-ip"].strip()] if "x-real-ip" in headers else []


def _read_address(text: str) -> _Address | None:
    """Read an address, perhaps in brackets or with a port; None if it is none."""
    place = read_host(text)
    bare = place.name if place else text.strip().partition("%")[0]
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _network_of(spec: str | tuple[_Address, int]) -> _Network:
    return ipaddress.ip_network(spec, strict=False)
