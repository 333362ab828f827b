"""The kinds of values in the configuration: each says what to write when it is given something else."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, SecretStr

_LANGUAGE = re.compile(r"[a-z]{2}")
_LOCALE = re.compile(r"([A-Za-z]{2})([-_].*)?")
_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?\.?")
_ONLY_DIGITS = re.compile(r"[0-9.]+")
_PRINTABLE = re.compile(r"[ -~]*")
_WITHOUT_BLANKS = re.compile(r"[!-~]*")
_HASH = re.compile(r"[0-9a-f]{64}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_PUBLIC_SCHEMES = ("", "http", "https", "ws", "wss")


def _check_language(code: str) -> str:
    if _LANGUAGE.fullmatch(code):
        return code
    locale = _LOCALE.fullmatch(code)
    hint = f" Did you mean {locale[1].lower()!r}?" if locale else ""
    raise ValueError(f"write a language as two letters, such as ja or en.{hint}")


def _check_language_or_auto(code: str) -> str:
    if code == "auto":
        return code
    try:
        return _check_language(code)
    except ValueError as error:
        raise ValueError(
            str(error).replace("such as ja or en", "such as ja or en, or auto")
        ) from error


def _check_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a folder of zones is no zone
        raise ValueError(
            f"no time zone is called {name!r}; use a name such as Asia/Tokyo"
        ) from error
    return name


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_host(text: str) -> bool:
    """Whether this is an address or can be a name: one of digits and dots alone is a misspelt address."""
    if _is_address(text):
        return True
    return _HOST_NAME.fullmatch(text) is not None and not _ONLY_DIGITS.fullmatch(text)


def _check_listening_host(host: str) -> str:
    if host and not _is_host(host):
        raise ValueError(
            "write an address of this machine such as 192.168.1.10, 0.0.0.0 for all of them, or 127.0.0.1 for none but "
            "this machine"
        )
    return host


def _check_host(name: str) -> str:
    name = name.strip()
    if not _is_host(name):
        raise ValueError("write the name of a host without scheme and port, such as robot.lan")
    return name


def _check_network(text: str) -> str:
    try:
        ipaddress.ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise ValueError(
            "write an address such as 192.168.1.2 or a network such as 172.16.0.0/12"
        ) from error
    return text.strip()


def _split(url: str) -> SplitResult | None:
    """Take a URL apart; None if it is none, or holds a blank, or a port that can't be."""
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 and _WITHOUT_BLANKS.fullmatch(url) else None
    except ValueError:
        return None


def _check_public_url(url: str) -> str:
    url = url.strip()
    parts = _split(url if "://" in url else f"//{url}")
    is_whole = (
        parts is not None
        and parts.scheme in _PUBLIC_SCHEMES
        and _is_host(parts.hostname or "")
        and not (parts.query or parts.fragment or "@" in parts.netloc)
    )
    if url and not is_whole:
        raise ValueError(
            "write the address under which robots reach this server, such as https://voice.example.org or "
            "http://192.168.1.10:8000"
        )
    return url


def _check_service_url(url: str) -> str:
    url = url.strip()
    parts = _split(url)
    is_whole = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    if url and not is_whole:
        raise ValueError(
            "write the whole address with http:// or https:// in front, such as http://127.0.0.1:11434/v1"
        )
    return url


def _check_variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError(
            "write the name of an environment variable, in capital letters, such as OPENAI_API_KEY. The key itself "
            "belongs into that variable"
        )
    return name


def check_key(key: str) -> str:
    """Return a key as it can be sent: without blanks and line ends around it.

    Raises:
        ValueError: It holds what no key holds, and no HTTP header can; the message does not repeat it.
    """
    key = key.strip()
    if not _WITHOUT_BLANKS.fullmatch(key):
        raise ValueError(
            "a key holds ASCII letters, digits and signs only, without blanks. Copy it once more"
        )
    return key


def _check_hash(digest: str) -> str:
    digest = digest.strip().lower()
    if not _HASH.fullmatch(digest):
        raise ValueError(
            "write the 64 hexadecimal digits that `omoide access keys new` prints, never the key itself"
        )
    return digest


def _check_token(token: str) -> str:
    token = token.strip()
    if not _PRINTABLE.fullmatch(token):
        raise ValueError("write ASCII letters, digits and signs only: it is sent in an HTTP header")
    return token


@dataclass(frozen=True, slots=True)
class SecretPath:
    """Marks an address of which only scheme and host are shown: whoever knows its path may use it."""


def _within_secret(check: Callable[[str], str]) -> Callable[[SecretStr], SecretStr]:
    return lambda secret: SecretStr(check(secret.get_secret_value()))


Probability = Annotated[float, Field(ge=0, le=1)]
Milliseconds = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0)]
Minutes = Annotated[float, Field(gt=0, le=525_600)]
"""At most a year: the calendar has an end."""
Port = Annotated[int, Field(ge=0, le=65535)]
Temperature = Annotated[float, Field(ge=0, le=2)]
"""How freely a language model picks its words; services refuse more than 2."""
Zone = Annotated[str, AfterValidator(_check_zone)]
Language = Annotated[str, AfterValidator(_check_language)]
LanguageOrAuto = Annotated[str, AfterValidator(_check_language_or_auto)]
ListeningHost = Annotated[str, AfterValidator(_check_listening_host)]
Host = Annotated[str, AfterValidator(_check_host)]
Network = Annotated[str, AfterValidator(_check_network)]
PublicUrl = Annotated[str, AfterValidator(_check_public_url)]
ServiceUrl = Annotated[str, AfterValidator(_check_service_url), Field(repr=False)]
"""May hold a user and a password, so a complaint does not repeat it."""
VariableName = Annotated[str, AfterValidator(_check_variable), Field(repr=False)]
"""A key that was pasted here by mistake is not repeated either."""
Sha256 = Annotated[str, AfterValidator(_check_hash), Field(repr=False)]
ApiKey = Annotated[SecretStr, AfterValidator(_within_secret(check_key))]
Token = Annotated[SecretStr, AfterValidator(_within_secret(_check_token))]
