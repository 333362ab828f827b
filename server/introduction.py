"""Who says that it is them who speaks now: "this is Carol", キャロルです, 我是小红; and what the robot answers to that."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from functools import cache
from string import Template
from typing import Final, Protocol

from server.config import PersonSection
from server.memory.lexicon import written
from server.turn import Transcript

GUEST_PHRASE: Final = "welcome-guest"
PERSON_PHRASE: Final = "welcome-person"
STRANGER_PHRASE: Final = "unknown-person"
ANSWERS: Final[Mapping[str, Mapping[str, str]]] = {
    PERSON_PHRASE: {
        "ja": "こんにちは、${name}さん。ここからは、あなたとのお話として覚えます。",
        "zh": "你好，$name。从现在起，我记在你的名下。",
        "en": "Hello, $name. From now on I talk with you, and what you say goes into your memory.",
    },
    GUEST_PHRASE: {
        "ja": "わかりました。どなたか名乗るまで、お話は何も覚えません。",
        "zh": "好的。在有人告诉我他是谁之前，我什么都不会记下来。",
        "en": "All right. Until somebody tells me who they are, I keep nothing of what is said.",
    },
    STRANGER_PHRASE: {
        "ja": "${name}さんという方は、ここでは存じません。今までどおりの方とのお話として続けます。何も覚えないほうがよければ「ゲストです」と言ってください。",
        "zh": "这里没有我认识的$name。我还是照刚才那位继续聊。如果不想让我记住，请说“我是客人”。",
        "en": 'I know nobody here called $name, so I go on as before. Say "I am a guest" if I should keep nothing.',
    },
}
"""What is said where the file of phrases has no words of its own for it."""

_GUEST: Final = frozenset({"げすと", "おきゃくさん", "客人", "guest", "a guest", "just a guest", "visitor", "a visitor"})  # fmt: skip
_NAME: Final = r"(?P<name>[^\s.,!?、。，．！？…~～〜][^.,!?、。，．！？…~～〜]{0,39}?)"
_END: Final = r"\s*(?:[.,!、。，．！…~～〜]+\s*|$)"
"""Of a statement: whoever asks "this is Carol?" does not say so."""
_HELLO: Final = r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|こんにちは|こんばんは|おはよう(?:ございます)?|ねえ|やあ|你好|您好|嗨)[\s,.!、。，！]*)?"
_AND_NOW: Final = r"(?:\s+(?:here|speaking|now))?"
_I: Final = r"(?:私|わたし|僕|ぼく|俺|おれ|うち)(?:は|、)\s*"


class _Form(StrEnum):
    """How surely it is a name that stands there."""

    NAME = auto()
    """Nothing else could."""
    SELF = auto()
    """Or how somebody is: "I'm happy"."""
    BARE = auto()
    """Or an answer to something: 雪です."""


_FORMS: Final = tuple(
    (sure, re.compile(f"{_HELLO}{form}{_END}", re.IGNORECASE))
    for sure, form in (
        (_Form.NAME, rf"(?:it['’]?s me,?|it is me,?|my name is)\s+{_NAME}{_AND_NOW}"),
        (_Form.SELF, rf"(?:this is|i['’]?m|i am)\s+{_NAME}{_AND_NOW}"),
        (_Form.NAME, rf"{_NAME}\s+(?:here|speaking)"),
        (_Form.NAME, rf"(?:{_I})?{_NAME}(?:っていいます|といいます|と申します)(?:よ|ね)?"),
        (_Form.SELF, rf"(?:{_I}){_NAME}(?:です|だよ|だ|よ)(?:よ|ね)?"),
        (_Form.BARE, rf"{_NAME}(?:です|だよ)"),
        (_Form.NAME, rf"(?:我叫|这里是)\s*{_NAME}(?:啊|呀|哦|喔)?"),
        (_Form.SELF, rf"我是\s*{_NAME}(?:啊|呀|哦|喔)?"),
    )
)
_STRANGERS: Final = tuple(
    re.compile(f"(?i:{_HELLO}){form}{_END}")
    for form in (
        r"(?:(?i:this is|my name is|my name['’]s)\s+)(?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?:\s+(?:here|speaking))?",
        rf"(?:{_I})?(?P<name>[ァ-ヶー一-鿿]{{2,10}}(?:さん|ちゃん)?)(?:っていいます|といいます|と申します)(?:よ|ね)?",
        rf"(?:{_I})(?P<name>[ァ-ヶー]{{2,10}})(?:です|だよ)",
        r"我叫\s*(?P<name>小[一-鿿]{1,2})(?:啊|呀|哦|喔)?",
    )
)
"""Of people whom the robot does not know: with a capital, or as nobody says but for a name."""
_HONORIFIC: Final = re.compile(r"(?:さん|ちゃん|くん|さま|様|君)$")
_KATAKANA: Final = re.compile("[ァ-ヶ]")


@dataclass(frozen=True, slots=True)
class Introduction:
    """Somebody said who they are."""

    person: str
    """Whose memory it shall be from now on; empty for a guest's, which is none."""
    name: str
    """As it was said, without an honorific."""
    rest: str
    """What was said behind it."""
    head: str = ""
    """The words that only say who speaks."""
    is_known: bool = True
    """Whether it is somebody who may use the robot; else nothing changes."""

    def answer(self, phrase: str | None, language: str) -> str:
        """Return what the robot says it does.

        Args:
            phrase: The words for that, of the prompts; None if there are none.
            language: Two-letter code.
        """
        built_in = ANSWERS[self.key]
        words = phrase or built_in.get(language, built_in["en"])
        return Template(words).safe_substitute(name=self.name)

    def apart(self, said: Transcript) -> Transcript:
        """Return what was said with the rest as a sentence of its own, so that it is read like one that stands alone."""
        if not self.rest or not said.text.endswith(self.rest):
            return said
        head = said.text[: -len(self.rest)].rstrip(" ,、，~～〜")
        mark = "" if head.endswith(tuple(".!?。．！？…")) else "." if head[-1:].isascii() else "。"
        return replace(said, text=f"{head}{mark} {self.rest[:1].upper()}{self.rest[1:]}")

    @property
    def key(self) -> str:
        """Of the phrase."""
        if not self.is_known:
            return STRANGER_PHRASE
        return PERSON_PHRASE if self.person else GUEST_PHRASE


class Seated(Protocol):
    """A robot with somebody before it."""

    @property
    def person(self) -> str:
        """Who speaks."""

    @property
    def household(self) -> Iterable[str]:
        """Who may use it."""


def introduced_in(
    said: Iterable[Transcript], robot: Seated, persons: Mapping[str, PersonSection]
) -> Introduction | None:
    """Return the first introduction in what was said to a robot, but of who speaks with it already.

    Args:
        said: In this turn, and in those that are still unanswered.
        robot: Where it was said.
        persons: What is configured of them.
    """
    for words in said:
        met = find_introduction(words.text, robot.household, persons)
        if met is not None:
            return None if met.is_known and met.person == robot.person else met
    return None


def find_introduction(
    text: str, household: Iterable[str], persons: Mapping[str, PersonSection]
) -> Introduction | None:
    """Return who it is that speaks now, if it was said.

    A name that two have introduces nobody, and neither does one that nobody here has where something else than a name may
    stand: it is an utterance like any other.

    Args:
        text: What was said; only its beginning counts.
        household: Who may use the robot.
        persons: What is configured of them.
    """
    household = tuple(household)
    if not household:
        return None
    by_name = _by_name(household, persons)
    for sure, form in _FORMS:
        found = form.match(text.strip())
        if found is None:
            continue
        name, rest = found["name"].strip(), text.strip()[found.end() :]
        head = text.strip()[: found.end()].strip()
        folded = fold_name(name)
        if not _HONORIFIC.search(name) and folded in _taken_otherwise(sure):
            continue
        if folded in _GUEST:
            return Introduction("", name, rest, head)
        if (person := by_name.get(folded)) is not None:
            return Introduction(person, _HONORIFIC.sub("", name), rest, head)
    return _find_stranger(text.strip(), by_name) if len(household) > 1 else None


def _find_stranger(text: str, by_name: Mapping[str, str | None]) -> Introduction | None:
    """Return the introduction of somebody who may not use the robot: only what hardly is anything else."""
    for form in _STRANGERS:
        found = form.fullmatch(text)
        if found is None:
            continue
        name = _HONORIFIC.sub("", found["name"].strip())
        folded = fold_name(name)
        if folded not in by_name and folded not in _taken_otherwise(_Form.BARE) | _GUEST:
            return Introduction("", name, "", text, is_known=False)
    return None


def fold_name(name: str) -> str:
    """Return the one spelling in which names are compared: without capitals, honorifics and the difference of the two kana."""
    text = unicodedata.normalize("NFKC", name).casefold().strip()
    text = _HONORIFIC.sub("", text)
    return _KATAKANA.sub(lambda sign: chr(ord(sign[0]) - 0x60), text)


@cache
def _taken_otherwise(sure: _Form) -> frozenset[str]:
    """Return the names that are something else in such a sentence."""
    groups = {_Form.NAME: (), _Form.SELF: ("states",), _Form.BARE: ("states", "things")}[sure]
    listed = written("everyday_names")
    words = (word for group in groups for each in listed[group].values() for word in each)
    return frozenset(map(fold_name, words))


def _by_name(
    household: Iterable[str], persons: Mapping[str, PersonSection]
) -> Mapping[str, str | None]:
    found: dict[str, str | None] = {}
    for person in household:
        for name in {fold_name(one) for one in (person, *persons.get(person, _NOBODY).names)}:
            found[name] = None if name in found else person
    return found


_NOBODY: Final = PersonSection()
