"""Scripts for `omoide replay`: a talk of several turns in YAML, with what is expected of it.

```yaml
device: "02:00:00:00:00:02"   # who talks, unless a turn says otherwise
person: Mio
turns:
  - text: 私の猫の名前はタマです。     # spoken by our own voice
  - wav: question.wav              # beside the script
    pause_seconds: 3               # before it
    expect_transcript_contains: 猫
    expect_reply_contains: [タマ]
  - text: Good night.
    as_text: true                  # sent as text
```
"""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from server.commands.talk import DEVICE
from server.config import Section
from server.config_faults import explain
from server.config_file import read_mapping_file
from server.config_values import Language
from server.errors import ConfigError
from server.simulator.habits import ProtocolName

INVALID = "script-invalid"


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Expected = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
"""Texts that must all be found; a single one may stand alone."""


class ScriptTurn(Section):
    """Something that is said, and what is expected to come back."""

    text: str = ""
    wav: str = ""
    as_text: bool = False
    pause_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    device: str = ""
    person: str = ""
    language: Language | None = None
    expect_transcript_contains: Expected = ()
    expect_reply_contains: Expected = ()

    @model_validator(mode="after")
    def _says_one_thing(self) -> "ScriptTurn":
        if bool(self.text.strip()) == bool(self.wav):
            raise ValueError("a turn needs either 'text' or 'wav'")
        if self.as_text and self.wav:
            raise ValueError("'as_text' needs 'text', not 'wav'")
        return self


def _not_empty(turns: tuple[ScriptTurn, ...]) -> tuple[ScriptTurn, ...]:
    if not turns:
        raise ValueError("a talk needs at least one turn")
    return turns


class Script(Section):
    """A talk."""

    device: str = DEVICE
    person: str = ""
    language: Language | None = None
    protocol: ProtocolName = "xiaozhi"
    turns: Annotated[tuple[ScriptTurn, ...], AfterValidator(_not_empty)]


def read_script(path: Path) -> Script:
    """Read a script.

    Raises:
        ConfigError: It can't be read, or it is wrong; the message names file and line.
    """
    try:
        file = read_mapping_file(
            path, remedy="Name the file with the script.", expected="keys such as 'turns:'"
        )
    except ConfigError as error:
        raise ConfigError(str(error), code=INVALID) from error
    try:
        return Script(**file.values)
    except ValidationError as error:
        raise ConfigError(explain(error, Script, file), code=INVALID) from error
