"""Who of the two that talk a question is about, and the question as that one would put it.

What people say of themselves is in the first person. A question that names them finds lines *about* them, which are the
other one's; put into the first person it finds their own.
"""

import re
from dataclasses import dataclass

from server.memory.lines import Role

_OF_ROBOT = {
    "ja": re.compile(
        r"(?:君|きみ|あなた|お前|おまえ|そっち|ロボット)(?:は|が|の|も|って|、)|(?:勧め|すすめ|薦め|教え|紹介し|約束し|提案し|歌っ|話し)てくれた"
        r"|(?:言っ|おっしゃっ)て(?:くれ|まし)た"
    ),
    "en": re.compile(
        r"\b(?:did|have|had|were|are|would|could|can) you\b(?! (?:remember|recall|know|tell me|say|remind))"
        r"|\byou (?:said|told|recommended|suggested|promised|mentioned|gave|sang|advised)\b|\byour\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"你(?!记得|还记得|知道)(?:说|推荐|建议|告诉|给|答应|叫|是|的)"),
}


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
        return frozenset(part for name in names for part in (name.casefold(), *name.casefold().split()))


def asked_role(text: str, language: str, speakers: Speakers) -> Role | None:
    """Return whose lines are likely to hold the answer; None if both are named."""
    person, other = _names_any(text, speakers.person), _names_any(text, speakers.other)
    if person or other:
        return None if person and other else (Role.SAID if person else Role.HEARD)
    return Role.HEARD if _OF_ROBOT.get(language, _OF_ROBOT["en"]).search(text) else Role.SAID


def in_first_person(text: str, language: str, speakers: Speakers) -> str:
    """Return a question as the one that it names would put it."""
    for name in sorted((*speakers.person, *speakers.other), key=len, reverse=True):
        if language in ("ja", "zh"):
            text = re.sub(rf"{re.escape(name)}(?:さん|くん|ちゃん|先生)?(?:は|が|の|って)?", "", text)
        else:
            text = re.sub(rf"\b{re.escape(name)}['’]s\b", "my", text, flags=re.IGNORECASE)
            text = re.sub(rf"\b{re.escape(name)}\b", "I", text, flags=re.IGNORECASE)
    return text.strip()


def _names_any(text: str, names: tuple[str, ...]) -> bool:
    folded = text.casefold()
    return any(
        re.search(rf"(?<![a-z]){re.escape(name.casefold())}(?![a-z])", folded) for name in names
    )
