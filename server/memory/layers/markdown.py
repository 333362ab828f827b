"""Soul and Identity as their readable form: a Markdown file with a heading for each field."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from server.memory.layers.fields import TITLES, FieldKey, LayerName, fields_of
from server.memory.layers.normalizing import check_room, checked

_HEADING = re.compile(r"^\s{0,3}#{2,6}\s+(?P<title>.*?)[\s#]*$")
_ENTRY = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a file says."""

    values: Mapping[FieldKey, tuple[str, ...]] = field(default_factory=dict)
    free: str = ""
    """What stands under no heading of a field, as it was written."""

    @property
    def is_free(self) -> bool:
        """Whether it has no heading of a field at all: it is one text, as the owner wrote it."""
        return not self.values


def read_sheet(text: str, layer: LayerName) -> Sheet:
    """Read a file.

    Lines under a heading that names a field of the layer, in any language, belong to it; a paragraph is one line, and so is
    each entry of a list. What stands under other headings is kept as free text. A text without any such heading is free
    text from its first sign to its last.

    Raises:
        OmoideError: ``layer-too-long`` or ``layer-too-many``.
    """
    headings = _headings_of(layer)
    parts: dict[FieldKey, list[str]] = {}
    free: list[str] = []
    into = free
    for line in text.splitlines():
        heading = _HEADING.match(line)
        key = headings.get(_plain_title(heading["title"])) if heading else None
        if key is not None:
            into = parts.setdefault(key, [])
            continue
        if heading is not None:
            into = free
        into.append(line)
    if not parts:
        return Sheet(free=text.strip())
    values: dict[FieldKey, tuple[str, ...]] = {}
    for one in fields_of(layer):
        key = FieldKey(one.key)
        if key in parts:
            lines = checked(one, _lines_of(parts[key]))
            check_room(one, lines, [each for others in values.values() for each in others])
            values[key] = lines
    return Sheet(values, _without_title("\n".join(free)))


def write_sheet(layer: LayerName, values: Mapping[FieldKey, Sequence[str]], free: str = "") -> str:
    """Return the file that `read_sheet` reads again as it is."""
    parts = [f"# {layer.title()}"]
    for one in fields_of(layer):
        key = FieldKey(one.key)
        if lines := values.get(key, ()):
            told = lines if one.most == 1 else [f"- {line}" for line in lines]
            parts.append("\n".join((f"## {TITLES[key]['en'][0]}", "", *told)))
    if free:
        parts.append(free if free.lstrip().startswith("#") else f"## More\n\n{free}")
    return "\n\n".join(parts) + "\n"


def _headings_of(layer: LayerName) -> Mapping[str, FieldKey]:
    return {
        _plain_title(title): FieldKey(one.key)
        for one in fields_of(layer)
        for titles in TITLES[FieldKey(one.key)].values()
        for title in titles
    }


def _plain_title(title: str) -> str:
    return " ".join(title.casefold().replace("-", " ").replace("_", " ").split())


def _lines_of(lines: Sequence[str]) -> list[str]:
    """Join what belongs together: a paragraph, or an entry of a list with what is indented below it."""
    found: list[str] = []
    is_open = False
    for line in lines:
        if not line.strip():
            is_open = False
        elif _ENTRY.match(line):
            found.append(_ENTRY.sub("", line))
            is_open = True
        elif is_open:
            found[-1] = f"{found[-1]} {line.strip()}"
        else:
            found.append(line.strip())
            is_open = True
    return found


def _without_title(text: str) -> str:
    """Leave out the title of the file."""
    return re.sub(r"\A\s*#\s[^\n]*\n?", "", text).strip()
