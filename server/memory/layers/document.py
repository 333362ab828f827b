"""The container in which Soul and Identity are kept and handed on: a JSON object with a version.

It holds what was set by hand; all else comes from the files and the configuration. An older version is brought up to the
present one step by step, a newer one is refused. In the present form::

    {"version": 1, "fields": {"identity.name": ["Momo"]}, "locks": {"identity.name": "locked"}}
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from server.config_persona import Lock
from server.errors import OmoideError
from server.memory.layers.fields import FieldKey
from server.memory.layers.normalizing import normalized

VERSION = 1
Step: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Brings a container from one version to the next; `upgraded` sets the number."""


@dataclass(frozen=True, slots=True)
class Document:
    """What was set by hand."""

    values: Mapping[FieldKey, tuple[str, ...]] = field(default_factory=dict)
    """Normalized lines; a field that is missing is as the file has it."""
    locks: Mapping[FieldKey, Lock] = field(default_factory=dict)
    """A field that is missing is as the configuration has it."""

    def with_value(self, key: FieldKey, lines: tuple[str, ...]) -> "Document":
        """Return it with other lines in a field; without lines the field is as the file has it again."""
        values = {one: kept for one, kept in self.values.items() if one is not key}
        return replace(self, values={**values, key: lines} if lines else values)

    def with_lock(self, key: FieldKey, lock: Lock) -> "Document":
        """Return it with another lock of a field."""
        return replace(self, locks={**self.locks, key: lock})


_NAMES_BEFORE = {
    "responsestyle": FieldKey.RESPONSE_STYLE,
    "style": FieldKey.RESPONSE_STYLE,
    "behaviorrules": FieldKey.RULES,
    "behaviourrules": FieldKey.RULES,
}
"""What the fields are called where nobody thought of a version, as in MyBuddy."""


def _number(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Version 0, written by hand: an object for each layer, with a text or a list in each field."""
    fields: dict[str, Any] = {}
    for layer in ("soul", "identity"):
        for name, value in dict(container.get(layer) or {}).items():
            plain = name.replace("_", "").replace(" ", "").casefold()
            fields[str(_NAMES_BEFORE.get(plain, f"{layer}.{name}"))] = value
    return {"fields": fields}


STEPS: Mapping[int, Step] = {0: _number}
"""By the version that a step starts from."""


def upgraded(
    container: Mapping[str, Any], steps: Mapping[int, Step] = STEPS, newest: int = VERSION
) -> Mapping[str, Any]:
    """Return a container in the newest version; nothing that is handed in is changed.

    Raises:
        OmoideError: ``layers-newer`` or ``layers-damaged``.
    """
    version = container.get("version", 0)
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise _damaged("its version is no number")
    if version > newest:
        raise OmoideError(
            "layers-newer",
            f"This persona was written by a newer Omoide (version {version}; this one knows {newest}). Nothing was changed. Update Omoide.",
        )
    for number in range(version, newest):
        try:
            container = {**steps[number](container), "version": number + 1}
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise _damaged(
                f"version {number} does not look like this ({type(error).__name__})"
            ) from error
    return container


def read_document(text: str) -> Document:
    """Read a container of any version.

    Raises:
        OmoideError: ``layers-newer`` or ``layers-damaged``.
    """
    try:
        container = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged("it is no JSON") from error
    if not isinstance(container, dict):
        raise _damaged("it is no object")
    whole = upgraded(container)
    try:
        values = {
            FieldKey(key): normalized(_lines(value))
            for key, value in dict(whole.get("fields", {})).items()
        }
        locks = {FieldKey(key): Lock(value) for key, value in dict(whole.get("locks", {})).items()}
    except (ValueError, TypeError) as error:
        raise _damaged(str(error)) from error
    return Document(values, locks)


def write_document(document: Document) -> str:
    """Return the container as text."""
    return json.dumps(
        {
            "version": VERSION,
            "fields": {str(key): list(lines) for key, lines in document.values.items()},
            "locks": {str(key): str(lock) for key, lock in document.locks.items()},
        },
        ensure_ascii=False,
    )


def _lines(value: Any) -> list[str]:
    lines = [value] if isinstance(value, str) else value
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise TypeError("a field is neither a text nor a list of texts")
    return lines


def _damaged(reason: str) -> OmoideError:
    return OmoideError(
        "layers-damaged", f"This is no persona that can be read: {reason}. Nothing was changed."
    )
