"""Why a server that a command asks can't be reached, as a sentence that says what to do."""

import ssl

from server.errors import OmoideError

_TLS_OF = {"http": "https", "ws": "wss"}


def why_unreachable(url: str, error: Exception) -> str:
    """Return that sentence.

    Args:
        url: Where the server was looked for.
        error: What came of it.
    """
    reason = str(error) or type(error).__name__
    scheme, _, rest = url.partition("://")
    chain = [error, error.__cause__, error.__context__]
    if (
        any(isinstance(each, ssl.SSLCertVerificationError) for each in chain)
        or "CERTIFICATE_VERIFY" in reason
    ):
        hint = "Its certificate is not trusted: name the file of one that you made yourself in SSL_CERT_FILE."
    elif scheme in ("https", "wss") and ("WRONG_VERSION" in reason or "record layer" in reason):
        plain = {tls: name for name, tls in _TLS_OF.items()}[scheme]
        hint = f"Something answers there without TLS: write {plain}://{rest}, or set server.tls."
    elif scheme in _TLS_OF and not _is_nobody_there(error):
        hint = (
            f"Something takes the connection and hangs up. If it has a certificate (server.tls), write {_TLS_OF[scheme]}://{rest}; "
            "else see whether the port is right."
        )
    else:
        hint = "Is `omoide serve` running there, and is the port right?"
    return f"{url} can't be reached ({reason}). {hint}"


def _is_nobody_there(error: Exception) -> bool:
    """Whether no connection came about at all."""
    if isinstance(error, ConnectionRefusedError | TimeoutError | OmoideError):
        return True
    name = type(error).__name__
    hung_up = isinstance(error, ConnectionResetError | EOFError)
    return not hung_up and (
        isinstance(error, OSError) or name in ("ConnectError", "ConnectTimeout")
    )
