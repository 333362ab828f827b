"""Tables for people, in columns that also line up when there is Japanese in them."""

import unicodedata
from collections.abc import Sequence

from server.commands.report import Tell


def tell_table(rows: Sequence[Sequence[str]], tell: Tell) -> None:
    """Print rows of equal length; the first one holds the headings."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)]
        tell("  ".join(cells).rstrip())


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
