"""The persona as it holds at a moment: every field of Soul and Identity, where it comes from, and who may change it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import structlog

from server.config_persona import Lock, PersonaSection
from server.errors import ConfigError, OmoideError
from server.memory.layers.document import Document
from server.memory.layers.fields import DEFAULTS, FIELDS, FieldKey, LayerName
from server.memory.layers.markdown import Sheet, read_sheet

log = structlog.get_logger(__name__)

FILES: Mapping[LayerName, str] = {LayerName.SOUL: "soul.md", LayerName.IDENTITY: "identity.md"}
NAME_MARK = "$name"
"""Stands in the files for the configured name."""
_READINGS = {"Omo": "Omo (オモ)"}
"""How the name that Omoide comes with is written in Japanese."""
_FORMS = re.compile(r"[()（）/／,、]")
_KANA_OR_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Origin(StrEnum):
    """Where the lines of a field come from."""

    HAND = "hand"
    """Set through the API or the command line, or asked for in a talk."""
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Held:
    """A field as it holds."""

    lines: tuple[str, ...]
    lock: Lock
    origin: Origin

    @property
    def text(self) -> str:
        """Its lines as one."""
        return " ".join(self.lines)


@dataclass(frozen=True, slots=True)
class Persona:
    """Soul and Identity."""

    fields: Mapping[FieldKey, Held]
    """All of them, in the order in which they stand in a prompt."""
    free: Mapping[LayerName, str] = field(default_factory=dict)
    """What a file says beside its fields, as it was written."""

    @property
    def name(self) -> str:
        """What the robot is called, as it is written: "Omo (オモ)"."""
        return self.fields[FieldKey.NAME].text

    @property
    def names(self) -> tuple[str, ...]:
        """The forms of its name, each alone: Omo, オモ."""
        return tuple(dict.fromkeys(filter(None, map(str.strip, _FORMS.split(self.name)))))

    def name_in(self, language: str) -> str:
        """Return its name in the script of a language, or as it is."""
        wanted = language in ("ja", "zh")
        fitting = (one for one in self.names if bool(_KANA_OR_HAN.search(one)) == wanted)
        return next(fitting, self.names[0] if self.names else self.name)

    def is_free(self, layer: LayerName) -> bool:
        """Say whether the file of a layer has no headings: its text is the layer, whatever it says."""
        own = (held for key, held in self.fields.items() if FIELDS[key].layer is layer)
        is_labelled = any(held.origin is Origin.FILE for held in own)
        return bool(self.free.get(layer)) and not is_labelled


class Files(Protocol):
    """Where the text of a file is found."""

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            ConfigError: It can't be read.
        """


class PersonaReader:
    """Puts a persona together from the files, the configuration, and what was set by hand.

    The files are read again when they change. One that an edit has made unreadable keeps what it last said.
    """

    def __init__(self, files: Files, section: PersonaSection) -> None:
        self._files = files
        self._section = section
        self._sheets: dict[LayerName, tuple[str, Sheet]] = {}
        self._made: tuple[tuple[Sheet, Sheet], Document, Persona] | None = None

    def read(self, document: Document) -> Persona:
        """Return what holds now.

        Raises:
            ConfigError: ``prompt-missing`` or ``persona-invalid``; the message names the file.
        """
        sheets = (self._sheet(LayerName.SOUL), self._sheet(LayerName.IDENTITY))
        made = self._made
        if made is not None and made[0] == sheets and made[1] is document:
            return made[2]
        by_layer = dict(zip(FILES, sheets, strict=True))
        fields = {key: self._held(key, by_layer[FIELDS[key].layer], document) for key in FIELDS}
        persona = Persona(fields, {layer: sheet.free for layer, sheet in by_layer.items()})
        self._made = sheets, document, persona
        return persona

    def _held(self, key: FieldKey, sheet: Sheet, document: Document) -> Held:
        field_ = FIELDS[key]
        lock = document.locks.get(key) or self._section.locks.of(field_.layer, field_.name)
        if lines := document.values.get(key):
            return Held(lines, lock, Origin.HAND)
        if lines := sheet.values.get(key):
            named = tuple(line.replace(NAME_MARK, self._name) for line in lines)
            return Held(named, lock, Origin.FILE)
        if key is FieldKey.NAME:
            return Held((self._name,), lock, Origin.DEFAULT)
        # The owner's own text says what it says; nothing is put beside it.
        return Held(() if sheet.is_free and sheet.free else DEFAULTS[key], lock, Origin.DEFAULT)

    @property
    def _name(self) -> str:
        return _READINGS.get(self._section.name, self._section.name)

    def _sheet(self, layer: LayerName) -> Sheet:
        name = FILES[layer]
        text = self._files.text(name)
        known = self._sheets.get(layer)
        if known is not None and known[0] == text:
            return known[1]
        try:
            sheet = read_sheet(text, layer)
        except OmoideError as error:
            if known is None:
                raise ConfigError(f"{name}: {error} Shorten it.", "persona-invalid") from error
            log.warning("persona-file-invalid", file=name, code=error.code)
            sheet = known[1]
        self._sheets[layer] = (text, sheet)
        return sheet
