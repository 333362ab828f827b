"""What the sections of the configuration are made of: their base, and what all services over HTTP have in common."""

import os

from pydantic import BaseModel, ConfigDict, SecretStr

from server.config_values import ApiKey, ServiceUrl, VariableName, check_key
from server.errors import ConfigError


class Section(BaseModel):
    """Base of every section: a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EndpointSection(Section):
    """Where a service that speaks OpenAI's protocol is, and how it is paid."""

    base_url: ServiceUrl = ""
    model: str = ""
    api_key: ApiKey = SecretStr("")
    api_key_env: VariableName = "OPENAI_API_KEY"

    def address(self) -> str:
        """Return the base URL: the configured one, else that of OpenAI."""
        return self.base_url or "https://api.openai.com/v1"

    def key(self) -> str:
        """Return the API key: the configured one, else that of the environment; empty if there is none.

        Raises:
            ConfigError: What stands in the environment can't be a key.
        """
        if key := self.api_key.get_secret_value():
            return key
        try:
            return check_key(os.environ.get(self.api_key_env, ""))
        except ValueError as error:
            raise ConfigError(f"environment variable {self.api_key_env}: {error}.") from error
