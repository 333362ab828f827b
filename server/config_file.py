"""Reading a YAML file so that every complaint can name the file and the line."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from server.errors import ConfigError

Location: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A parsed file and the line of every key in it."""

    name: str
    values: dict[str, Any]
    lines: Mapping[Location, int]

    @classmethod
    def empty(cls) -> "ConfigFile":
        """Return what stands in for a file when there is none."""
        return cls("", {}, {})

    def line_of(self, location: Location) -> int | None:
        """Return the line of the key, or of the nearest key around it; None if the file has neither."""
        while location:
            if location in self.lines:
                return self.lines[location]
            location = location[:-1]
        return None


def read_config_file(path: Path) -> ConfigFile:
    """Read the configuration file.

    Raises:
        ConfigError: As `read_mapping_file` says.
    """
    return read_mapping_file(
        path, remedy="Give another file with --config.", expected="sections such as 'llm:'"
    )


def read_mapping_file(path: Path, *, remedy: str, expected: str) -> ConfigFile:
    """Read a YAML mapping.

    Args:
        path: The file.
        remedy: What to do if it can't be read.
        expected: What stands at its top level.

    Raises:
        ConfigError: The file can't be read, is no YAML, holds a key twice, or is not a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows begin with a mark
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read ({error}). {remedy}") from error
    lines: dict[Location, int] = {}
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        _keep_as_written(root)
        values = yaml.SafeLoader("").construct_document(root) if root else None
        if root is not None:
            _collect_lines(root, (), lines, path)
    except RecursionError as error:
        raise ConfigError(f"{path}: brackets, or keys, are nested too deeply.") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: this is not valid YAML: {error.problem}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: this is not valid YAML: {error}.") from error
    if root is None:
        return ConfigFile(str(path), {}, {})
    if not isinstance(root, yaml.MappingNode) or not isinstance(values, dict):
        raise ConfigError(f"{path}:1: expected {expected}, found something else.")
    return ConfigFile(str(path), _without_empty(values), lines)


def _keep_as_written(node: yaml.Node | None) -> None:
    """Make every key a text: YAML takes a MAC address of decimal digits for a number to the base of 60.

    Likewise `on` and `off`, `yes` and `no`, which are names of engines in places, and where they are not are understood later.
    """
    if isinstance(node, yaml.ScalarNode):
        if node.tag.endswith(":bool") and node.value.lower() not in ("true", "false"):
            node.tag = "tag:yaml.org,2002:str"
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _keep_as_written(value)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag.endswith((":int", ":float")):
                key.tag = "tag:yaml.org,2002:str"
            _keep_as_written(value)


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    """Drop keys without a value: to whoever commented everything below a key out, that means the defaults."""
    return {
        key: _without_empty(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }


def _collect_lines(
    node: yaml.Node, location: Location, lines: dict[Location, int], path: Path
) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*location, str(key.value))
            line = key.start_mark.line + 1
            if here in lines:
                raise ConfigError(
                    f"{path}:{line}: {'.'.join(map(str, here))} stands here a second time "
                    f"(first in line {lines[here]}). Remove one of them."
                )
            lines[here] = line
            _collect_lines(value, here, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[(*location, index)] = value.start_mark.line + 1
            _collect_lines(value, (*location, index), lines, path)
