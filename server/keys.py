"""The secrets of this server: what tokens are derived from, and what opens the API and how far."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from pathlib import Path

import structlog

from server.api_keys import ApiKeys
from server.claims import is_equal
from server.config import AccessSection
from server.errors import ConfigError
from server.grants import EVERYTHING, Grant
from server.registry import KnownDevice, write_private

log = structlog.get_logger(__name__)

_SECRET_BYTES = 32


class Keys:
    """Read from ``secret``, ``api-token`` and ``api-keys.json`` in the data folder; the first two are made if missing.

    Raises:
        ConfigError: The folder can't be used.
    """

    def __init__(self, section: AccessSection, data: Path) -> None:
        configured = section.api_token.get_secret_value()
        try:
            self._secret = _keep_secret(data / "secret")
            self._api_token = configured or _keep_token(data / "api-token")
            self._named = ApiKeys(section.keys, data)
        except OSError as error:
            raise ConfigError(
                f"{data} can't be used ({error}). Give another folder with --data.",
                code="data-unusable",
            ) from error

    def token_of(self, device: KnownDevice) -> str:
        """Return the token of a device, derived from its id, its generation and its Client-Id: the same every time."""
        text = f"{device.id}|{device.token_generation}|{device.client_id or ''}"
        digest = hmac.new(self._secret, text.encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    def grant_of(self, token: str) -> Grant | None:
        """Return what a token of the API, or a named key, allows; None if it is neither."""
        if is_equal(token, self._api_token):
            return EVERYTHING
        return self._named.grant_of(token) if token else None


def _keep_secret(path: Path) -> bytes:
    secret = _read(path)
    if len(secret) == _SECRET_BYTES:
        return secret
    if secret:
        log.warning(
            "secret-broken", file=str(path), hint="Robots get new tokens when they restart."
        )
    secret = secrets.token_bytes(_SECRET_BYTES)
    write_private(path, secret)
    return secret


def _keep_token(path: Path) -> str:
    token = _read(path).decode(errors="replace").strip()
    if not token:
        token = secrets.token_urlsafe(24)
        write_private(path, f"{token}\n".encode())
    if not (token.isascii() and token.isprintable()):
        raise ConfigError(
            f"{path} must hold one line of ASCII letters, digits and signs, as it is sent in an HTTP header. Remove the "
            "file to have a new token made.",
            code="data-unusable",
        )
    return token


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
