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

import difflib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from server.commands.talk import DEVICE
from server.config import Language, Section
from server.config_file import ConfigFile, read_config_file
from server.errors import ConfigError
from server.simulator.habits import ProtocolName


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


class Script(Section):
    """A talk."""

    device: str = DEVICE
    person: str = ""
    language: Language | None = None
    protocol: ProtocolName = "xiaozhi"
    turns: Annotated[tuple[ScriptTurn, ...], Field(min_length=1)]


def read_script(path: Path) -> Script:
    """Read a script.

    Raises:
        ConfigError: It can't be read, or it is wrong; the message names file and line.
    """
    file = read_config_file(path)
    try:
        return Script(**file.values)
    except ValidationError as error:
        complaints = [_complain(file, item) for item in error.errors(include_url=False)]
        raise ConfigError("\n".join(complaints), code="script-invalid") from error


def _complain(file: ConfigFile, item: Any) -> str:
    location = tuple(item["loc"])
    place = f"{file.name}:{file.line_of(location) or 1}"
    if item["type"] == "extra_forbidden":
        model: type[BaseModel] = ScriptTurn if location[0] == "turns" else Script
        allowed = list(model.model_fields)
        wrong = str(location[-1])
        nearest = difflib.get_close_matches(wrong, allowed, n=1, cutoff=0.5)
        hint = f"Did you mean {nearest[0]!r}?" if nearest else f"Possible: {', '.join(allowed)}."
        return f"{place}: there is no key {wrong!r}. {hint}"
    key = ".".join(map(str, location))
    return f"{place}: {key}: {str(item['msg']).removeprefix('Value error, ')}."
