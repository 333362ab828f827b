"""The dimensions that a person's traits are told in: reading and checking `prompts/traits.yaml`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import structlog
import yaml

from server.errors import ConfigError

log = structlog.get_logger(__name__)

FILE = "traits.yaml"
_LANGUAGES = ("en", "ja", "zh")
_ID = re.compile(r"[a-z]+(?:-[a-z]+)*")


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way in which people differ."""

    id: str
    group: str
    """Id of the group."""
    names: Mapping[str, str]
    """By two-letter code: en, ja, zh."""
    meaning: str
    """What a high level stands for, in English."""

    def name(self, language: str) -> str:
        """Return what it is called in a language, or in English where it has no name there."""
        return self.names.get(language, self.names["en"])


class Files(Protocol):
    """Where the text of the file is found."""

    def text(self, name: str) -> str:
        """Return the text of a file."""


def load_dimensions(files: Files) -> Mapping[str, Dimension]:
    """Return the dimensions among the prompt files; none, which is logged, if a folder of one's own lacks the file.

    Raises:
        ConfigError: As in `read_dimensions`.
    """
    try:
        source = files.text(FILE)
    except ConfigError as error:
        log.warning("traits-not-told", code=error.code, reason=str(error))
        return {}
    return read_dimensions(source)


@lru_cache(maxsize=4)
def read_dimensions(source: str) -> Mapping[str, Dimension]:
    """Return the dimensions in the text of the file, by id and in its order.

    Raises:
        ConfigError: ``traits-invalid``: it is no list of dimensions, an id comes twice, or there are not as many as its
            "count" says.
    """
    try:
        content: Any = yaml.safe_load(source)
        dimensions = [
            _dimension(str(group["id"]), entry)
            for group in content["groups"]
            for entry in group["dimensions"]
        ]
        count = int(content["count"])
    except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise _invalid(f"it can't be read ({type(error).__name__})") from error
    by_id = {dimension.id: dimension for dimension in dimensions}
    if len(by_id) != len(dimensions):
        raise _invalid("an id comes twice")
    if len(by_id) != count:
        raise _invalid(f"it has {len(by_id)} dimensions and says {count}")
    return by_id


def _dimension(group: str, entry: Any) -> Dimension:
    names = {language: str(entry[language]) for language in _LANGUAGES}
    dimension = Dimension(str(entry["id"]), group, names, str(entry["meaning"]))
    if _ID.fullmatch(dimension.id) is None or not all((*names.values(), dimension.meaning)):
        raise ValueError("an id or a name is missing")
    return dimension


def _invalid(reason: str) -> ConfigError:
    return ConfigError(
        f"prompts/{FILE} is not valid: {reason}. Restore the file.", code="traits-invalid"
    )
