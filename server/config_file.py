"""Reading the YAML file so that every complaint can name the file, the line and the nearest right name."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, get_args

import yaml
from pydantic import BaseModel, SecretStr, ValidationError

from server.errors import ConfigError

Location: TypeAlias = tuple[str | int, ...]

RESERVED_VARIABLES = ("CONFIG", "DATA")
"""Variables with our prefix that name files instead of configuration keys."""


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
    """Read a YAML mapping.

    Raises:
        ConfigError: The file can't be read, is no YAML, holds a key twice, or is not a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} can't be read ({error}). Give another file with --config."
        ) from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        _keep_keys_as_written(root)
        values = yaml.SafeLoader("").construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: this is not valid YAML: {error.problem}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: this is not valid YAML: {error}.") from error
    if root is None:
        return ConfigFile(str(path), {}, {})
    if not isinstance(root, yaml.MappingNode) or not isinstance(values, dict):
        raise ConfigError(f"{path}:1: expected sections such as 'llm:', found something else.")
    lines: dict[Location, int] = {}
    _collect_lines(root, (), lines, path)
    return ConfigFile(str(path), _without_empty(values), lines)


def _keep_keys_as_written(node: yaml.Node | None) -> None:
    """Make every key a text: YAML takes a MAC address of decimal digits for a number to the base of 60."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag.endswith((":int", ":float")):
                key.tag = "tag:yaml.org,2002:str"
            _keep_keys_as_written(value)


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


def reject_unknown_variables(
    environment: Mapping[str, str], prefix: str, model: type[BaseModel]
) -> None:
    """Complain about environment variables with our prefix that name no section.

    Raises:
        ConfigError: Names the variable and the nearest right one.
    """
    sections = [name.upper() for name in model.model_fields]
    for name in environment:
        if not name.upper().startswith(prefix):
            continue
        section = name.upper().removeprefix(prefix).split("__")[0]
        if section not in sections and section not in RESERVED_VARIABLES:
            raise ConfigError(
                f"environment variable {name}: there is no section {section.lower()!r}."
                + _suggest(section, sections)
            )


def explain(error: Exception, file: ConfigFile, prefix: str, model: type[BaseModel]) -> ConfigError:
    """Turn the library's error into lines that say where and what to write instead."""
    if not isinstance(error, ValidationError):
        return ConfigError(f"environment: {error}.")
    complaints = [
        f"{_place(tuple(item['loc']), file, prefix)}: {_complaint(item, model)}"
        for item in error.errors(include_url=False)
    ]
    return ConfigError("\n".join(dict.fromkeys(complaints)))


def _place(location: Location, file: ConfigFile, prefix: str) -> str:
    key = ".".join(map(str, location))
    line = file.line_of(location)
    exact = location in file.lines
    if line is not None and exact:
        return f"{file.name}:{line}: {key}"
    variable = prefix + "__".join(str(part).upper() for part in location)
    if line is not None:
        return f"{file.name}:{line}: {key} (or environment variable {variable})"
    return f"environment variable {variable}"


def _complaint(item: Mapping[str, Any], model: type[BaseModel]) -> str:
    location: Location = tuple(item["loc"])
    if item["type"] == "extra_forbidden":
        allowed = _allowed_keys(model, location[:-1])
        return "there is no such key." + _suggest(str(location[-1]), allowed)
    if item["type"] == "literal_error":
        allowed = [
            part.strip("'")
            for part in str(item["ctx"]["expected"]).replace(" or ", ", ").split(", ")
        ]
        return f"{item['input']!r} is not one of {', '.join(allowed)}." + _suggest(
            str(item["input"]), allowed
        )
    found = "a secret" if _is_secret(model, location) else repr(item["input"])
    return f"{str(item['msg']).removeprefix('Value error, ')} (found {found})."


def _is_secret(model: type[BaseModel], location: Location) -> bool:
    section = model
    for part in location[:-1]:
        field = section.model_fields.get(str(part))
        section = (_section_of(field.annotation) if field else None) or section
    named = section.model_fields.get(str(location[-1]))
    return named is not None and named.annotation is SecretStr


def _suggest(wrong: str, allowed: list[str]) -> str:
    nearest = difflib.get_close_matches(wrong, allowed, n=1, cutoff=0.5)
    if nearest:
        return f" Did you mean {nearest[0]!r}?"
    return f" Possible here: {', '.join(sorted(allowed))}." if allowed else ""


def _allowed_keys(model: type[BaseModel], location: Location) -> list[str]:
    """Return the keys of the section at `location`; empty if it is no section."""
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None:
            continue  # the name of a device or person: the section below it is already `model`
        nested = _section_of(field.annotation)
        if nested is None:
            return []
        model = nested
    return list(model.model_fields)


def _section_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _section_of(part))), None)
