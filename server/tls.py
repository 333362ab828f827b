"""TLS for both doors, and for programs of ours that knock at one."""

import ssl

from server.config import TlsSection
from server.errors import ConfigError


def server_context(section: TlsSection) -> ssl.SSLContext | None:
    """Return what a door encrypts with; None if it does not.

    Raises:
        ConfigError: `tls-unusable`.
    """
    if not section.is_on:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(section.certificate, section.key or None, lambda: "")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "strerror", "") or str(error) or "a password is needed"
        raise ConfigError(
            f"server.tls: {section.certificate} and {section.key or 'its key'} can't be used ({reason}). Name a certificate "
            "with its chain, and its key without a password, both as PEM files that this program may read.",
            code="tls-unusable",
        ) from error
    return context


def client_context() -> ssl.SSLContext:
    """Return whom a client of ours trusts: the system's authorities, or those in the file that SSL_CERT_FILE names."""
    return ssl.create_default_context()
