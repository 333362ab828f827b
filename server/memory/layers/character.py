"""The persona in a form that replies can be checked against: its names, how it calls itself, what it does not speak about."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from server.config_persona import Lock
from server.memory.layers.fields import FieldKey
from server.memory.layers.persona import Persona

_SELF = re.compile(
    r"一人称(?:は|には|を|に)?、?[「『“]?(?P<ja>[ぁ-んァ-ヶ一-龠]{1,4}?)[」』”]?(?:だ|です|を|と|で|。|$)"
    r"|(?:自分のこと|自分)を[「『“]?(?P<own>[ぁ-んァ-ヶ一-龠]{1,4}?)[」』”]?(?:と|って)(?:呼|言|いう)"
    r"|\b(?:call|refer to) yourself (?:as )?[\"'“「]?(?P<en>[^\s\"'”」.,;]{1,20})"
    r"|\bfirst person(?: is|:)? [\"'“「]?(?P<first>[^\s\"'”」.,;]{1,20})"
    r"|自称(?:是|为)?[“「]?(?P<zh>[\u4e00-\u9fff]{1,4}?)[”」]?(?:[，。]|$)",
    re.IGNORECASE,
)
_TOPICS = re.compile(
    r"\b(?:(?:never|not|don't|no) (?:\w+ )?(?:talk|speak|chat|joke)(?:ing)? (?:about|of)|never (?:mention|discuss)|(?:do not|don't) (?:mention|discuss)|not (?:mention|discuss)) (?P<en>[^.;]{2,80})"
    r"|(?P<ja>[^。、「」]{1,30}?)(?:について|のこと|の話題?)?(?:は|を|には)?(?:話さない|語らない|触れない|話題にしない|言わない|しゃべらない|(?<=話は)しない|(?<=話題は)避ける)"
    r"|(?:不谈论?|不提|不讨论|不说|别谈)(?P<zh>[^。，；]{1,30})",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r",|;|、|，|\bor\b|\band\b|\bnor\b|や|および|及び|和|或|与", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Character:
    """What a reply must not contradict."""

    names: tuple[str, ...]
    """Each form of its name."""
    first_person: tuple[str, ...]
    """How it calls itself, by its voice and rules; empty where they don't say."""
    forbidden_topics: tuple[str, ...]
    """What its boundaries and rules say it does not speak about."""
    locks: Mapping[FieldKey, Lock]
    """Who may change what: what is locked must hold in every reply."""

    def is_fixed(self, key: FieldKey) -> bool:
        """Say whether a field is locked."""
        return self.locks[key] is Lock.LOCKED


def character_of(persona: Persona) -> Character:
    """Return what replies are checked against; take it from `Layers.persona` at every turn, as it may change."""
    fields = persona.fields
    about_itself = [line for key in (FieldKey.VOICE, FieldKey.RULES) for line in fields[key].lines]
    bounds = [line for key in (FieldKey.BOUNDARIES, FieldKey.RULES) for line in fields[key].lines]
    texts = [text for text in persona.free.values() if text]
    topics = _found(_TOPICS, [*bounds, *texts])
    return Character(
        persona.names,
        tuple(dict.fromkeys(_found(_SELF, [*about_itself, *texts]))),
        tuple(dict.fromkeys(topic for many in topics for topic in _parts(many))),
        {key: held.lock for key, held in fields.items()},
    )


def _found(form: re.Pattern[str], texts: Iterable[str]) -> list[str]:
    matches = (match for text in texts for match in form.finditer(text))
    return [value.strip() for match in matches for value in match.groups() if value]


def _parts(topics: str) -> list[str]:
    return [part.strip() for part in _BETWEEN.split(topics) if part.strip()]
