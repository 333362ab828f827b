"""Reads and writes the JSON texts of robots, trusting neither their form nor their size."""

import json
from collections.abc import Collection, Mapping
from math import isfinite

from firmware_bridge.codec import ProtocolError

NAME_CHARACTERS = 128
"""Longest session id, reason or name that is kept; the rest is cut off."""
_FEATURES = 32


def read_object(text: str) -> dict[str, object]:
    """Parse one text message.

    Numbers that are no numbers (`NaN`, `1e999`, thousands of digits) and nesting deeper than the interpreter can follow
    count as "not JSON". Half surrogate pairs, which JSON can escape but UTF-8 can't hold, become question marks.

    Raises:
        ProtocolError: `text-not-json` or `text-not-object`.
    """
    try:
        value: object = json.loads(text, parse_float=_read_float, parse_constant=_refuse)
        if "\\ud" in text.lower():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(
            "text-not-json", "A text message must be one JSON object; this one can't be parsed."
        ) from error
    if not isinstance(value, dict):
        raise ProtocolError("text-not-object", "A text message must be a JSON object.")
    return value


def write_object(fields: Mapping[str, object]) -> str:
    """Write one text message, without blanks and with readable Unicode (robots have little memory).

    Raises:
        ValueError: A number in it is not finite.
    """
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode(errors="replace").decode()


def read_text(fields: Mapping[str, object], key: str, limit: int | None = NAME_CHARACTERS) -> str:
    """Return the string under `key`, cut to `limit` characters; empty if it is missing or no string."""
    value = fields.get(key)
    return value[:limit] if isinstance(value, str) else ""


def read_choice(
    fields: Mapping[str, object], key: str, choices: Collection[int], default: int
) -> int:
    """Return the number under `key` if it is one of `choices`, else `default`."""
    value = fields.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool) and value in choices:
        return int(value)
    return default


def read_mapping(fields: Mapping[str, object], key: str) -> dict[str, object] | None:
    """Return the object under `key`; None if it is missing or something else."""
    value = fields.get(key)
    return value if isinstance(value, dict) else None


def read_features(value: object) -> frozenset[str]:
    """Return the names of the switched-on features, from `{"mcp": true}` or `["mcp"]`."""
    names: list[object] = []
    if isinstance(value, dict):
        names = [name for name, is_on in value.items() if is_on]
    elif isinstance(value, list):
        names = value
    known = [name for name in names if isinstance(name, str) and len(name) <= NAME_CHARACTERS]
    return frozenset(known[:_FEATURES])


def _read_float(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("number too large")
    return number


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
