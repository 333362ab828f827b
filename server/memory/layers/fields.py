"""The fields of Soul, Identity and User: which there are, how much each holds, and what it is called."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class LayerName(StrEnum):
    """A layer."""

    SOUL = "soul"
    """What the robot is for, and what it never does."""
    IDENTITY = "identity"
    """Who it is (MemoryOS: agent profile)."""
    USER = "user"
    """Who it talks with: a view, see `server.memory.layers.user`."""


@dataclass(frozen=True, slots=True)
class Field:
    """A place for one line, or for a few."""

    layer: LayerName
    name: str
    longest: int
    """Characters of a line."""
    most: int = 1
    """Lines."""

    @property
    def key(self) -> str:
        """Its name with that of its layer, e.g. ``identity.name``."""
        return f"{self.layer}.{self.name}"


class FieldKey(StrEnum):
    """The fields of Soul and Identity, in the order in which they stand in a prompt."""

    MISSION = "soul.mission"
    PRINCIPLES = "soul.principles"
    BOUNDARIES = "soul.boundaries"
    RESPONSE_STYLE = "soul.response_style"
    NAME = "identity.name"
    ROLE = "identity.role"
    VOICE = "identity.voice"
    RULES = "identity.rules"


_LINE = 240
_CAPS: Mapping[FieldKey, tuple[int, int]] = {
    FieldKey.MISSION: (_LINE, 1),
    FieldKey.PRINCIPLES: (_LINE, 6),
    FieldKey.BOUNDARIES: (_LINE, 8),
    FieldKey.RESPONSE_STYLE: (_LINE, 4),
    FieldKey.NAME: (40, 1),
    FieldKey.ROLE: (_LINE, 1),
    FieldKey.VOICE: (_LINE, 1),
    FieldKey.RULES: (_LINE, 8),
}
OF_MANNERS = frozenset({FieldKey.VOICE})
"""Fields of one line that tells several manners: what is asked for in a talk is written behind what stands there."""
MOST_LAYER_CHARS = 2_000
"""Of all fields of a layer together, so that a persona leaves room for memory in a prompt."""
FIELDS: Mapping[FieldKey, Field] = {
    key: Field(LayerName(key.partition(".")[0]), key.partition(".")[2], *caps)
    for key, caps in _CAPS.items()
}
TITLES: Mapping[FieldKey, Mapping[str, tuple[str, ...]]] = {
    FieldKey.MISSION: {"en": ("Mission",), "ja": ("使命",), "zh": ("使命",)},
    FieldKey.PRINCIPLES: {"en": ("Principles", "Principle"), "ja": ("信条", "原則"), "zh": ("原则",)},
    FieldKey.BOUNDARIES: {"en": ("Boundaries", "Boundary", "Limits"), "ja": ("しないこと", "境界", "限界"), "zh": ("界限", "边界", "不做的事")},
    FieldKey.RESPONSE_STYLE: {"en": ("Response style", "Style"), "ja": ("答え方", "応答の仕方"), "zh": ("回答方式", "回应风格")},
    FieldKey.NAME: {"en": ("Name",), "ja": ("名前",), "zh": ("名字",)},
    FieldKey.ROLE: {"en": ("Role",), "ja": ("役割",), "zh": ("角色",)},
    FieldKey.VOICE: {"en": ("Voice", "Tone"), "ja": ("話しぶり", "口調"), "zh": ("语气", "口吻")},
    FieldKey.RULES: {"en": ("Rules", "Behaviour rules", "Behavior rules", "Rule"), "ja": ("決まり", "行動の決まり"), "zh": ("规矩", "行为规则")},
}  # fmt: skip
"""What a field is called in a prompt, by language, and what its heading may be in a file."""
DEFAULTS: Mapping[FieldKey, tuple[str, ...]] = {
    FieldKey.MISSION: ("You keep people company, listen to them, and remember what matters to them.",),
    FieldKey.PRINCIPLES: ("You are honest about what you are and about what you do not know.",),
    FieldKey.BOUNDARIES: ("You do not diagnose, prescribe or promise.",),
    FieldKey.RESPONSE_STYLE: ("You answer briefly, in plain spoken words.",),
    FieldKey.ROLE: ("You are a small robot on a desk.",),
    FieldKey.VOICE: ("You are warm and friendly.",),
    FieldKey.RULES: ('You address the person as "you" (あなた), never as "user".',),
}  # fmt: skip
"""What holds where neither a file nor anybody says anything. The name is the configured one."""


def field_of(layer: str, name: str) -> Field | None:
    """Return a field of Soul or Identity; None if there is none of that name."""
    try:
        return FIELDS[FieldKey(f"{layer}.{name}".casefold().replace("-", "_").replace(" ", "_"))]
    except ValueError:
        return None


def fields_of(layer: LayerName) -> list[Field]:
    """Return the fields of a layer in their order; none of the User layer, which is a view."""
    return [field for field in FIELDS.values() if field.layer is layer]
