"""What an embedder is given: text of a bearable length that every tokenizer can read."""

import re
from typing import Final

MOST_CHARACTERS: Final = 1000
"""A fact has 30 to 60 characters, an exchange some hundreds. The time of a model grows with the square of the length."""

_SILENT: Final = "."
"""Stands for a text that says nothing; some services refuse an empty one."""

_UNREADABLE = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"[\x00-\x20\x7f-\x9f]+")


def clean(text: str) -> str:
    """Return `text` without lone surrogates, control characters and what goes beyond `MOST_CHARACTERS`."""
    readable = _UNREADABLE.sub("", text)
    return _BLANKS.sub(" ", readable)[:MOST_CHARACTERS].strip() or _SILENT
