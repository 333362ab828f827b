"""The form in which the lines of a field are kept: one line each, of which nothing can be read but text."""

import re
import unicodedata
from collections.abc import Sequence

from server.errors import OmoideError
from server.lettering import as_it_looks, in_plain_letters
from server.memory.layers.fields import MOST_LAYER_CHARS, TITLES, Field, FieldKey

_TAGS = str.maketrans({"<": "‹", ">": "›", "﹤": "‹", "﹥": "›", "≮": "‹", "≯": "›"})
_NO_TEXT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Kinds of characters that are not seen: controls, directions, joiners, halves of others."""
_OPENING = re.compile(r"^(?:[\s#>*+=_|~`-]|\d+[.)]\s)+")
"""What makes a heading, a list, a quotation or a rule of a line."""
_WITHIN = re.compile(r"#{2,}|`{2,}|~{3,}|={3,}|-{3,}|\*{2,}|\[/?(?:INST|SYS)\]", re.IGNORECASE)
"""What would open or close a section in the middle of one."""
_LABELS = {
    "".join(filter(str.isalnum, label.casefold())): key
    for key, by_language in TITLES.items()
    for labels in by_language.values()
    for label in labels
}
_GAP = r"[\W_]{0,2}"
"""What may stand between two letters of a label: "N a m e", "Response_style"."""
_ONE_LABEL = "|".join(
    _GAP.join(map(re.escape, label)) for label in sorted(_LABELS, key=len, reverse=True)
)
_BRACKETS = r"[(（\[【「『〈《‹{][^()（）\[\]【】「」『』〈〉《》‹›{}]{1,30}[)）\]】」』〉》›}]"
_CLOSING = r"[*_`\"'“”’)\]】」』〉》›]"
_LABELLED = re.compile(
    rf"(?<![a-z0-9])(?P<label>{_ONE_LABEL})\s*{_CLOSING}{{0,3}}\s*(?:{_BRACKETS}\s*){{0,3}}(?:[:：=＝꞉∶ː︰→⇒⟶➜]|[-=]+[›>])"
    rf"|[【〈《\[](?P<heading>{_ONE_LABEL})[】〉》\]]",
    re.IGNORECASE,
)
"""How a field begins in a prompt, or may look to: a value must not look like the next one."""


def normalized(lines: str | Sequence[str]) -> tuple[str, ...]:
    """Return lines as they are kept: each once, without markup, signs that are not seen, and needless blanks.

    A text with line ends is as many lines.
    """
    given = [lines] if isinstance(lines, str) else lines
    # Marks of fullwidth and other forms become plain ones first, so that none is overlooked.
    plain = (_plain(part) for line in given for part in str(line).splitlines())
    return tuple(dict.fromkeys(line for line in plain if line))


def checked(field: Field, lines: Sequence[str]) -> tuple[str, ...]:
    """Return normalized lines that a field can hold.

    Raises:
        OmoideError: ``layer-too-long`` or ``layer-too-many``.
    """
    kept = normalized(lines)
    if len(kept) > field.most:
        raise OmoideError(
            "layer-too-many",
            f"{field.key} holds {field.most} lines at the most, and these are {len(kept)}.",
        )
    longest = max(map(len, kept), default=0)
    if longest > field.longest:
        raise OmoideError(
            "layer-too-long",
            f"{field.key} holds lines of {field.longest} characters at the most, and one has {longest}.",
        )
    return kept


def check_room(field: Field, lines: Sequence[str], others: Sequence[str]) -> None:
    """See that a layer does not grow too large.

    Args:
        field: That has new lines.
        lines: These.
        others: The lines of all its neighbours.

    Raises:
        OmoideError: ``layer-too-long``.
    """
    spare = MOST_LAYER_CHARS - sum(map(len, (*lines, *others)))
    if spare < 0:
        raise OmoideError(
            "layer-too-long",
            f"All fields of {field.layer} hold {MOST_LAYER_CHARS} characters together; that would be {-spare} too many.",
        )


def labels_in(line: str) -> set[FieldKey]:
    """Return the fields that a line names as a prompt does: "Name:"."""
    matches = _LABELLED.finditer(as_it_looks(line))
    found = ((match["label"] or match["heading"]).casefold() for match in matches)
    return {_LABELS["".join(filter(str.isalnum, label))] for label in found}


def _plain(line: str) -> str:
    text = in_plain_letters(unicodedata.normalize("NFKC", line.encode("utf-8", "ignore").decode()))
    seen = "".join(" " if sign in "\t\v\f" else sign for sign in text)
    seen = "".join(sign for sign in seen if unicodedata.category(sign) not in _NO_TEXT)
    seen = _WITHIN.sub(" ", seen.translate(_TAGS))
    return " ".join(_OPENING.sub("", seen).split())
