"""Who of the two that talk a question is about, and the question as that one would put it.

What people say of themselves is in the first person. A question that names them finds lines *about* them, which are the
other one's; put into the first person it finds their own.
"""

import re
from dataclasses import dataclass

from server.memory.lines import Role

_OF_ROBOT = {
    "ja": re.compile(
        r"(?:(?<![一-龠ァ-ヶー])君|きみ|あなた|お前|おまえ|そっち|ロボット)(?:は|が|の|も|って|、)|(?:勧め|すすめ|薦め|教え|紹介し|約束し|提案し|歌っ|話し)てくれた"
        r"|(?:言っ|おっしゃっ)て(?:くれ|まし)た"
    ),
    "en": re.compile(
        r"\b(?:did|have|had|were|are|would|could|can) you\b(?! (?:remember|recall|know|tell me|say|remind))"
        r"|\byou (?:said|told|recommended|suggested|promised|mentioned|gave|sang|advised)\b|\byour\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?<![跟和对给向诉])你(?:说|推荐|建议|告诉|给|答应|叫|是|的)"),
}
_LETTER = "a-zA-Z\u00c0-\u024f"


@dataclass(frozen=True, slots=True)
class Speakers:
    """The names of the two that talk."""

    person: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    """Of the robot, or of another human in a talk that was recorded elsewhere."""

    @property
    def forms(self) -> frozenset[str]:
        """All names and their parts, in lower case."""
        names = (*self.person, *self.other)
        return frozenset(
            part
            for name in map(str.casefold, names)
            for part in (name, *re.split(r"[\s・·-]+", name))
        )


def asked_role(text: str, language: str, speakers: Speakers) -> Role | None:
    """Return whose lines are likely to hold the answer; None if both are named."""
    person, other = _names_any(text, speakers.person), _names_any(text, speakers.other)
    if person or other:
        return None if person and other else (Role.SAID if person else Role.HEARD)
    return Role.HEARD if _OF_ROBOT.get(language, _OF_ROBOT["en"]).search(text) else Role.SAID


def in_first_person(text: str, language: str, speakers: Speakers) -> str:
    """Return a question as the one that it names would put it."""
    for name in sorted((*speakers.person, *speakers.other), key=len, reverse=True):
        named = _pattern(name)
        if language in ("ja", "zh"):
            text = re.sub(
                rf"{named}(?:さん|くん|ちゃん|先生|君|様)?(?:は|が|の|って|的)?", "", text
            )
        else:
            text = re.sub(rf"{named}['’]s\b", "my", text)
            text = re.sub(rf"{named}(?<=s)['’](?!\w)", "my", text)
            text = re.sub(named, "I", text)
    return text.strip()


def _names_any(text: str, names: tuple[str, ...]) -> bool:
    return any(re.search(_pattern(name), text) for name in names)


def _pattern(name: str) -> str:
    """Return what finds a name, whatever its case, but not inside a longer word in Latin letters; nothing if it is blank."""
    if not name.strip():
        return "(?!)"
    return rf"(?<![{_LETTER}])(?i:{re.escape(name.strip())})(?![{_LETTER}])"
