"""The description of the API as one plain page: no script, nothing from elsewhere, so it works offline."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Omoide API</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0; } code { background: #8882; padding: 0 .3em; border-radius: .3em; }
</style></head><body>
"""


def render_docs(schema: Mapping[str, Any]) -> str:
    """Return the page for an OpenAPI document."""
    return "".join((_HEAD, *_render_body(schema), "</body></html>\n"))


def _render_body(schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h1>{escape(schema['info']['title'])} {escape(schema['info']['version'])}</h1>\n"
    yield (
        "<p>From another machine, send <code>Authorization: Bearer …</code> with the API token or a key. Errors are "
        '<code>{"error": {"code", "message"}}</code>. For programs: <a href="/openapi.json">openapi.json</a>.</p>\n'
    )
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield from _render_operation(method, path, operation)


def _render_operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2><code>{escape(method.upper())} {escape(path)}</code> {escape(operation['summary'])}</h2>\n"
    yield f"<p>{escape(operation.get('description', ''))}</p>\n"
    for parameter in operation.get("parameters", ()):
        schema = parameter.get("schema", {})
        default = f", {escape(str(schema['default']))} if left out" if "default" in schema else ""
        yield f"<p><code>{escape(parameter['name'])}</code> in the {escape(parameter['in'])}{default}</p>\n"
    if "requestBody" in operation:
        yield "<p>Takes a JSON body, see openapi.json.</p>\n"
