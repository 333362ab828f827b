"""Opening the TCP sockets behind the doors."""

import socket

from server.errors import OmoideError

_EVERYWHERE = ("", "::")


def listen(host: str, port: int) -> socket.socket:
    """Open a listening TCP socket; port 0 takes any free one.

    Raises:
        OmoideError: `port-unusable`.
    """
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0][0]
        is_dual = family is socket.AF_INET6 and host in _EVERYWHERE
        return socket.create_server(
            (host, port),
            family=family,
            backlog=128,
            dualstack_ipv6=is_dual and socket.has_dualstack_ipv6(),
        )
    except (OSError, UnicodeError) as error:
        raise OmoideError(
            "port-unusable",
            f"Port {port} on {host} can't be used ({error}). Is another server running? Choose another one under "
            "server.device_port, server.http_port or server.host.",
        ) from error
