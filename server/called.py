"""How this program was called: messages name its commands as whoever reads them types them."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Final

_NAMED_BY: Final = "OMOIDE_COMMAND"
"""What a script that starts the program for somebody is called."""
_COMMANDS: Final = (
    "access", "backup", "bench", "calibrate", "devices", "doctor", "extract", "memory", "persona", "recall-test", "replay",
    "restore", "safety", "say", "serve", "talk",
)  # fmt: skip
_MENTIONED: Final = re.compile(rf"(?<![\w./-])omoide(?= (?:{'|'.join(_COMMANDS)})\b|`)")
_OWN_NAME: Final = "omoide"


def command() -> str:
    """Return what is typed for `omoide`."""
    if named := os.environ.get(_NAMED_BY, "").strip():
        return named
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{Path(sys.executable).name} -m server"
    if called.stem != _OWN_NAME or shutil.which(_OWN_NAME) is not None:
        return _OWN_NAME
    return str(called)


def as_called(text: str) -> str:
    """Return a text with the commands that it names as they are called here."""
    own = command()
    return text if own == _OWN_NAME else _MENTIONED.sub(lambda _: own, text)
