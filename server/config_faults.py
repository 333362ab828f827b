"""What is wrong with a configuration, in words: where it stands, and what to write instead."""

import difflib
from collections.abc import Mapping
from typing import Any, Protocol, get_args

from pydantic import BaseModel, SecretStr, ValidationError

from server.config_file import ConfigFile, Location

_WORDS = {
    "missing": "this key is needed",
    "int_parsing": "write a whole number",
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "float_parsing": "write a number",
    "float_type": "write a number",
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "string_type": "write a text; a number needs quotation marks to be one",
    "string_too_short": "write something; it may not be empty",
    "dict_type": "write keys with values below it",
    "model_type": "write keys with values below it",
    "greater_than": "write a number above {gt:g}",
    "greater_than_equal": "write a number of at least {ge:g}",
    "less_than": "write a number below {lt:g}",
    "less_than_equal": "write a number of at most {le:g}",
}
"""What to say instead of the library's message, by its kind of error; the braces hold the library's figures."""


class Setters(Protocol):
    """Where values come from that win over the file."""

    def place_of(self, location: Location) -> str | None:
        """Return what sets a key; None if the file does, or nothing."""


def explain(
    error: ValidationError,
    model: type[BaseModel],
    file: ConfigFile,
    setters: Setters | None = None,
) -> str:
    """Turn the library's error into lines that say where and what to write instead.

    Args:
        error: What the library found.
        model: What was to be read.
        file: Knows the line of each key.
        setters: What may have set a key instead of the file.
    """
    complaints = []
    for item in error.errors(include_url=False):
        location: Location = tuple(item["loc"])
        setter = setters.place_of(location) if setters else None
        complaint = _complaint(item, model, is_json=setter is not None)
        complaints.append(f"{setter or _place(location, file)}: {complaint}")
    return "\n".join(dict.fromkeys(complaints))


def suggest(wrong: str, allowed: list[str]) -> str:
    """Return a sentence that names the nearest allowed name, or all; it begins with a blank."""
    nearest = difflib.get_close_matches(wrong, allowed, n=1, cutoff=0.5)
    if nearest:
        return f" Did you mean {nearest[0]!r}?"
    return f" Possible here: {', '.join(sorted(allowed))}." if allowed else ""


def _place(location: Location, file: ConfigFile) -> str:
    key = ".".join(map(str, location))
    line = file.line_of(location)
    if line is not None:
        return f"{file.name}:{line}: {key}"
    return f"{file.name}: {key}" if file.name else key


def _complaint(item: Mapping[str, Any], model: type[BaseModel], *, is_json: bool) -> str:
    location: Location = tuple(item["loc"])
    if item["type"] == "extra_forbidden":
        allowed = _allowed_keys(model, location[:-1])
        return "there is no such key." + suggest(str(location[-1]), allowed)
    if item["type"] == "literal_error":
        allowed = [
            part.strip("'")
            for part in str(item["ctx"]["expected"]).replace(" or ", ", ").split(", ")
        ]
        return f"{item['input']!r} is not one of {', '.join(allowed)}." + suggest(
            str(item["input"]), allowed
        )
    said = _words(item, is_json=is_json)
    if item["type"] == "missing" or _is_secret(model, location):
        return f"{said}."
    return f"{said} (found {item['input']!r})."


def _words(item: Mapping[str, Any], *, is_json: bool) -> str:
    if item["type"] == "tuple_type":
        found = item["input"] if isinstance(item["input"], str) else "..."
        return (
            f'write a list as JSON, such as ["{found}"]'
            if is_json
            else f"write a list, such as [{found}]"
        )
    words = _WORDS.get(item["type"])
    if words is None:
        return str(item["msg"]).removeprefix("Value error, ").removesuffix(".")
    return words.format_map(item.get("ctx", {}))


def _is_secret(model: type[BaseModel], location: Location) -> bool:
    """Whether a value must not be repeated: it is a secret, or may hold one."""
    section = model
    for part in location[:-1]:
        field = section.model_fields.get(str(part))
        section = (_section_of(field.annotation) if field else None) or section
    named = section.model_fields.get(str(location[-1]))
    return named is not None and (named.annotation is SecretStr or not named.repr)


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
