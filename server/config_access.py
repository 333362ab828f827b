"""The sections of the configuration that say who may come in, by which doors, and who they are."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from server.config_section import Section
from server.config_values import Host, LanguageOrAuto, Network, Sha256, Token


class TlsSection(Section):
    """The certificate of this server."""

    certificate: str = ""
    key: str = ""

    @field_validator("key")
    @classmethod
    def _is_not_alone(cls, key: str, info: ValidationInfo) -> str:
        if key and not info.data.get("certificate"):
            raise ValueError("name the certificate that it belongs to under server.tls.certificate")
        return key

    @property
    def is_on(self) -> bool:
        """Whether both doors speak TLS."""
        return bool(self.certificate)


class ApiKeySection(Section):
    """One key of the API, kept as what `omoide access keys new` hashes it to."""

    sha256: Sha256
    persons: Annotated[tuple[str, ...], Field(min_length=1)]
    scope: Literal["read", "write", "admin"] = "read"


class AccessSection(Section):
    """Who may come in."""

    mode: Literal["open", "approve"] = "open"
    api_token: Token = SecretStr("")
    keys: dict[str, ApiKeySection] = Field(default_factory=dict)
    trust_loopback: bool = True
    switch_minutes: Annotated[float, Field(gt=0)] = 30.0
    trusted_proxies: tuple[Network, ...] = ()
    allowed_hosts: tuple[Host, ...] = ()


class DeviceSection(Section):
    """What is known about one device before it connects."""

    person: str = ""
    language: LanguageOrAuto = "auto"
    voice: str = ""
    profile: Literal["", "xiaozhi", "stackchan", "vrm"] = ""


class HouseholdSection(Section):
    """Who shares robots: nothing else is shared."""

    devices: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()
    wake_window_ms: Annotated[int, Field(ge=0, le=900)] = 300


class PersonSection(Section):
    """What is fixed for one person."""

    names: tuple[str, ...] = ()

    language: LanguageOrAuto = "auto"
    voice: str = ""
