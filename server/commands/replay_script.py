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
  - extract: true                  # draw facts from what was said, now
  - text: What is my cat called?
    recalls: タマ                   # stands in a fact that was recalled; "nothing": none was
```
"""

from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from server.clock import within_reach
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


NOTHING_RECALLED = "nothing"
"""What `ScriptTurn.recalls` says of a question that shall bring nothing to mind."""


class ScriptTurn(Section):
    """Something that is said and what is expected to come back, or something that is done between two turns."""

    text: str = ""
    wav: str = ""
    extract: bool = False
    """Draw facts from all that was said before."""
    restart: bool = False
    """Stop the server and start it again on the same data."""
    as_text: bool = False
    pause_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    device: str = ""
    person: str = ""
    language: Language | None = None
    expect_transcript_contains: Expected = ()
    expect_reply_contains: Expected = ()
    recalls: Expected = ()
    """Texts that each stand in some fact that was recalled; `NOTHING_RECALLED` alone if none may be."""

    @property
    def is_step(self) -> bool:
        """Whether nothing is said."""
        return self.extract or self.restart

    @model_validator(mode="after")
    def _says_one_thing(self) -> "ScriptTurn":
        if self.is_step:
            if len(self.model_fields_set) > 1:
                raise ValueError("'extract: true' and 'restart: true' stand alone")
            return self
        if bool(self.text.strip()) == bool(self.wav):
            raise ValueError(
                "a turn needs either 'text' or 'wav', or is 'extract: true' or 'restart: true'"
            )
        if self.as_text and self.wav:
            raise ValueError("'as_text' needs 'text', not 'wav'")
        return self


def _not_empty(turns: tuple[ScriptTurn, ...]) -> tuple[ScriptTurn, ...]:
    if all(turn.is_step for turn in turns):
        raise ValueError("a talk needs at least one turn")
    return turns


class Script(Section):
    """A talk."""

    device: str = DEVICE
    person: str = ""
    language: Language | None = None
    protocol: ProtocolName = "xiaozhi"
    at: Annotated[datetime, AfterValidator(within_reach)] | None = None
    """When the talk begins, for a server that is started for it; without a zone of its own, in that of the server."""
    turns: Annotated[tuple[ScriptTurn, ...], AfterValidator(_not_empty)]

    @property
    def sittings(self) -> list[list[ScriptTurn]]:
        """The turns and steps between one start of the server and the next."""
        found: list[list[ScriptTurn]] = [[]]
        for turn in self.turns:
            if turn.restart:
                found.append([])
            else:
                found[-1].append(turn)
        return found


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
