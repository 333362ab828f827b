"""TLS for both doors, and for programs of ours that knock at one."""

import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from server.config import TlsSection
from server.errors import ConfigError
from server.registry import sign_file

log = structlog.get_logger(__name__)

_LOOK_SECONDS = 60.0
_DATES = {9: "is not valid yet", 10: "has expired"}
"""What OpenSSL finds wrong with the time, by its number."""


def server_context(section: TlsSection) -> ssl.SSLContext | None:
    """Return what a door encrypts with; None if it does not.

    Raises:
        ConfigError: `tls-unusable`.
    """
    if not section.is_on:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, section)
    return context


async def keep_renewed(context: ssl.SSLContext, section: TlsSection) -> None:
    """Take up a certificate that was renewed, for connections from then on; until cancelled.

    What can't be used is said once, and leaves the one before in its place.
    """
    seen = signature = await anyio.to_thread.run_sync(_sign, section)
    await anyio.to_thread.run_sync(warn_of_dates, section)
    while True:
        await anyio.sleep(_LOOK_SECONDS)
        now = await anyio.to_thread.run_sync(_sign, section)
        if now == signature:
            continue
        try:
            # Apart first: half of a renewal would take the key away from the certificate in use.
            await anyio.to_thread.run_sync(server_context, section)
            _load(context, section)
        except ConfigError as error:
            if now != seen:
                log.warning("certificate-not-renewed", reason=str(error))
            seen = now
            continue
        seen = signature = now
        log.info("certificate-renewed", file=section.certificate)
        await anyio.to_thread.run_sync(warn_of_dates, section)


def warn_of_dates(section: TlsSection) -> None:
    """Say so in the log if nobody will connect because of the time."""
    if trouble := find_date_trouble(section):
        log.warning("certificate-out-of-date", file=section.certificate, hint=trouble)


def find_date_trouble(section: TlsSection) -> str:
    """Return what whoever trusts the certificate would still have against it; empty if its time is right.

    Raises:
        ConfigError: `tls-unusable`.
    """
    server = server_context(section)
    if server is None:
        return ""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # whoever signed it
    try:
        client.load_verify_locations(section.certificate)
        _shake_hands(client, server)
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in _DATES:
            return f"The certificate {_DATES[error.verify_code]}: nobody who checks it connects. Renew it."
    except ssl.SSLError as error:
        log.debug("certificate-not-tried", reason=error.reason)
    return ""


def _shake_hands(client: ssl.SSLContext, server: ssl.SSLContext) -> None:
    """Let a client and a server meet, without a network."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(back, there).do_handshake,
        server.wrap_bio(there, back, server_side=True).do_handshake,
    ]
    while ends:
        ends = [end for end in ends if not _has_shaken(end)]


def _has_shaken(handshake: Callable[[], None]) -> bool:
    with suppress(ssl.SSLWantReadError):
        handshake()
        return True
    return False


def _sign(section: TlsSection) -> tuple[object, object]:
    return sign_file(Path(section.certificate)), sign_file(Path(section.key or section.certificate))


def _load(context: ssl.SSLContext, section: TlsSection) -> None:
    try:
        context.load_cert_chain(section.certificate, section.key or None, lambda: "")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "strerror", "") or str(error) or "a password is needed"
        raise ConfigError(
            f"server.tls: {section.certificate} and {section.key or 'its key'} can't be used ({reason}). Name a certificate "
            "with its chain, and its key without a password, both as PEM files that this program may read.",
            code="tls-unusable",
        ) from error


def client_context() -> ssl.SSLContext:
    """Return whom a client of ours trusts: the system's authorities, or those in the file that SSL_CERT_FILE names."""
    return ssl.create_default_context()
