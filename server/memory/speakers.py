"""Who of the two that talk a question is about, and the question as that one would put it.

What people say of themselves is in the first person. A question that names them finds lines *about* them, which are the
other one's; put into the first person it finds their own.
"""

import re
from dataclasses import dataclass

from server.memory.lines import Role
from server.memory.terms import words_of

_OF_ROBOT = {
    "ja": re.compile(
        r"(?:(?<![一-龠ァ-ヶー])君|きみ|あなた|お前|おまえ|そっち|ロボット)(?:は|が|の|も|って|、)|(?:勧め|すすめ|薦め|教え|紹介し|約束し|提案し|歌っ|話し)てくれた"
        r"|(?:言っ|おっしゃっ)て(?:くれ|まし)た"
    ),
    "en": re.compile(
        r"\b(?:did|have|had|were|are) you\b(?! (?:remember|recall|know))"
        r"|\b(?:would|could|can) you\b(?! (?:please )?(?:remember|recall|know|tell me|say|remind))"
        r"|\byou (?:said|told|recommended|suggested|promised|mentioned|gave|sang|advised)\b|\byour\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?<![跟和对给向诉])你(?:说|推荐|建议|告诉|给|答应|叫|是|的)"),
}
_LETTER = "a-zA-Z\u00c0-\u024f"
_BEHIND_NAME = {
    "ja": "(?:さん|くん|ちゃん|先生|君|様)?(?:は|が|の|って)?",
    "en": r"(?P<of>['’][sS]\b|(?<=[sS])['’](?!\w))?",
    "zh": "(?:先生)?的?",
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
        return frozenset(
            part
            for name in map(str.casefold, names)
            for part in (name, *re.split(r"[\s・·-]+", name))
        )


def asked_role(text: str, language: str, speakers: Speakers) -> Role | None:
    """Return whose lines are likely to hold the answer; None if both are named."""
    person, other = (
        any(_mentions(name, text, language) for name in names)
        for names in (speakers.person, speakers.other)
    )
    if person or other:
        return None if person and other else (Role.SAID if person else Role.HEARD)
    return Role.HEARD if _OF_ROBOT.get(language, _OF_ROBOT["en"]).search(text) else Role.SAID


def in_first_person(text: str, language: str, speakers: Speakers) -> str:
    """Return a question as the one that it names would put it."""
    for name in sorted((*speakers.person, *speakers.other), key=len, reverse=True):
        for mention in reversed(_mentions(name, text, language)):
            first_person = "" if language in ("ja", "zh") else "my" if mention["of"] else "I"
            text = text[: mention.start()] + first_person + text[mention.end() :]
    return text.strip()


def _mentions(name: str, text: str, language: str) -> list[re.Match[str]]:
    """Return where a name stands, with what belongs to it, and not as a part of a longer word; a blank one nowhere."""
    if not name.strip():
        return []
    bare = rf"(?<![{_LETTER}])(?P<name>(?i:{re.escape(name.strip())}))(?![{_LETTER}])"
    found = [*re.finditer(bare + _BEHIND_NAME.get(language, _BEHIND_NAME["en"]), text)]
    if language == "ja" and found:
        words = words_of(text)
        begins, ends = {word.begin() for word in words}, {word.end() for word in words}
        found = [
            each for each in found if each.start("name") in begins and each.end("name") in ends
        ]
    return found
