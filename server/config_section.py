"""What the sections of the configuration are made of: their base, and the way to the key of a service."""

import os

from pydantic import BaseModel, ConfigDict, SecretStr

from server.config_values import check_key
from server.errors import ConfigError


class Section(BaseModel):
    """Base of every section: a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def find_key(configured: SecretStr, variable: str) -> str:
    """Return the key of a service: the configured one, else that of an environment variable; empty if there is none.

    Raises:
        ConfigError: What stands in the environment can't be a key.
    """
    if key := configured.get_secret_value():
        return key
    try:
        return check_key(os.environ.get(variable, ""))
    except ValueError as error:
        raise ConfigError(f"environment variable {variable}: {error}.") from error
