"""Modules, functions and classes stay small enough to be read at one sitting."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("server", "firmware_bridge", "scripts")

MODULE_LINES = 400
FUNCTION_LINES = 60
PUBLIC_METHODS = 12

TOO_LARGE: dict[str, int] = {}
"""What is over its limit today, with its size. Only ever shrinks: what has become smaller must be changed here, too."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def oversized(name: str, source: str) -> dict[str, int]:
    """Return what is too large in a module, by name, with its size."""
    lines = len(source.splitlines())
    found = {name: lines} if lines > MODULE_LINES else {}
    for path, definition in definitions(ast.parse(source), name):
        size, limit = measure(definition)
        if size > limit:
            found[path] = size
    return found


def measure(definition: Definition) -> tuple[int, int]:
    """Return size and limit: public methods of a class, lines of a function."""
    if isinstance(definition, ast.ClassDef):
        methods = [part for part in definition.body if isinstance(part, FUNCTIONS)]
        return sum(map(is_public_method, methods)), PUBLIC_METHODS
    return (definition.end_lineno or 0) - definition.lineno + 1, FUNCTION_LINES


def is_public_method(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Properties are attributes to whoever reads the class, so they do not count."""
    decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
    return not function.name.startswith("_") and "property" not in decorators


def definitions(node: ast.AST, above: str) -> Iterator[tuple[str, Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            path = f"{above}::{child.name}"
            yield path, child
            yield from definitions(child, path)
        else:
            yield from definitions(child, above)


def test_nothing_is_larger_than_it_may_be() -> None:
    found: dict[str, int] = {}
    for folder in FOLDERS:
        for file in sorted((REPOSITORY / folder).rglob("*.py")):
            name = file.relative_to(REPOSITORY).as_posix()
            found |= oversized(name, file.read_text(encoding="utf-8"))

    assert found == TOO_LARGE


def test_a_long_module_is_found() -> None:
    assert oversized("long.py", "x = 1\n" * 400) == {}
    assert oversized("long.py", "x = 1\n" * 401) == {"long.py": 401}


def test_a_long_function_is_found_wherever_it_hides() -> None:
    def nested(lines: int) -> str:
        body = "            x = 1\n" * (lines - 1)
        return f"class A:\n    if True:\n        async def f(self):\n{body}"

    assert oversized("m.py", nested(60)) == {}
    assert oversized("m.py", nested(61)) == {"m.py::A::f": 61}


def test_a_class_with_many_public_methods_is_found() -> None:
    def broad(public: int) -> str:
        names = [*(f"m{number}" for number in range(public)), "_private", "__init__"]
        methods = "".join(f"    def {name}(self): ...\n" for name in names)
        return f"class A:\n{methods}    @property\n    def size(self): ...\n"

    assert oversized("m.py", broad(12)) == {}
    assert oversized("m.py", broad(13)) == {"m.py::A": 13}
