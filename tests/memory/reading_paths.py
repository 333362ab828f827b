"""Finds every way to read of a person in memory, from the code itself, so that a new one can't be missed."""

import dataclasses
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any, NamedTuple

CHANGES = frozenset(
    {"bring_in", "choose", "drop", "end_rules", "erase", "forget", "forget_pages", "forget_person", "nothing_made", "remove", "renewed", "set", "settle", "upsert"}
)  # fmt: skip
"""Methods that take a person and change what is held of them. Everything else is a way to read."""


class ReadingPath(NamedTuple):
    """A method of an object of a running memory that takes a person."""

    name: str
    call: Any


def reading_paths(root: object, package: str) -> list[ReadingPath]:
    """Return the methods of all objects of a package that `root` holds, directly or not, that take a `person`."""
    found: dict[str, ReadingPath] = {}
    for thing in _objects(root, package, set()):
        for name, function in inspect.getmembers(type(thing), inspect.isfunction):
            if name.startswith("_") or name in CHANGES:
                continue
            if "person" in inspect.signature(function).parameters:
                path = f"{type(thing).__name__}.{name}"
                found[path] = ReadingPath(path, MethodType(function, thing))
    # What draws facts comes last: then nothing waits any more that others could give out.
    return [
        found[path] for path in sorted(found, key=lambda path: (path.endswith(".extract"), path))
    ]


def reading_methods(package: str) -> set[str]:
    """Return all methods in a package that take a `person`, also those of parts that no running memory holds."""
    found = set()
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if ".migrations" in module.name:
            continue
        for name, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
            if kind.__module__ != module.name or getattr(kind, "_is_protocol", False):
                continue
            found |= {
                f"{name}.{method}"
                for method, function in inspect.getmembers(kind, inspect.isfunction)
                if not method.startswith("_")
                and method not in CHANGES
                and "person" in inspect.signature(function).parameters
            }
    return found


def arguments(call: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what to call a reading path with.

    Raises:
        KeyError: A parameter is not among those that are given: say in the test what it is called with.
    """
    parameters = inspect.signature(call).parameters.values()
    wanted = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
    return {name: given[name] for name in wanted}


def written_out(value: object, seen: set[int] | None = None) -> Iterator[str]:
    """Return every text in something that was returned, however deep."""
    seen = set() if seen is None else seen
    if isinstance(value, str | bytes):
        yield value if isinstance(value, str) else value.decode("utf-8", "replace")
        return
    if value is None or isinstance(value, int | float | Enum | FunctionType) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from written_out(key, seen)
            yield from written_out(each, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from written_out(each, seen)
    else:
        yield from written_out(_attributes(value), seen)


def _objects(thing: object, package: str, seen: set[int]) -> Iterator[object]:
    if id(thing) in seen or isinstance(thing, type | FunctionType):
        return
    seen.add(id(thing))
    if not type(thing).__module__.startswith(package):
        return
    yield thing
    for each in _attributes(thing).values():
        yield from _objects(each, package, seen)


def _attributes(thing: object) -> dict[str, object]:
    held = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = getattr(kind, "__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name):
                held[name] = getattr(thing, name)
    if dataclasses.is_dataclass(thing):
        held |= {each.name: getattr(thing, each.name) for each in dataclasses.fields(thing)}
    return held
