"""People and animals who have died: whom somebody told of, and whether a sentence speaks of them as of the living."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from server.guard.lines import Line, Spoken, filled, folded, has, signs
from server.memory.lexicon.expressions import expressions
from server.memory.standing import StandingKind
from server.memory.terms import TermKind, analyse, read_as
from server.query import normalize

_PETS = frozenset({"dog", "cat", "rabbit", "hamster", "bird", "fish", "horse", "turtle"})
_AGED_EN = re.compile(
    r"\b(?:(older|elder|big)|(younger|little|baby|kid)) (sister|brother)\b", re.IGNORECASE
)
_BY_NAME_ONLY = frozenset({"friend", "family"})
"""Classes of which people have many: one of them is known by the name alone."""
_PET_NAME = {
    "ja": re.compile(
        r"(?:犬|猫|ねこ|いぬ|インコ|文鳥|ハムスター|うさぎ|ウサギ|金魚|ペット|愛犬|愛猫)の([ァ-ヶー]{2,8}|[一-龠]{1,3}|[ぁ-ん]{2,5}?)(?:ちゃん|くん|君|さん)?(?=[がはをもとに、])"
        r"|([ァ-ヶー]{2,8}|[一-龠]{1,3})(?:という|って(?:いう|言う)?)(?:名前の|名の)?(?:犬|猫|インコ|文鳥|ハムスター|うさぎ|ウサギ)"
    ),
    "en": re.compile(
        r"\b(?:dog|cat|puppy|kitten|rabbit|hamster|parrot|budgie|bird|horse|pony|goldfish|tortoise|pet)s?,? (?:called |named )?((?-i:[A-Z])[\w'-]+)|((?-i:[A-Z])[\w'-]+),? (?:my|our) (?:\w+ )?(?:dog|cat|rabbit|hamster|parrot|bird|horse)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:狗狗?|猫(?:咪(?!咪))?|兔子|仓鼠|鹦鹉|乌龟|金鱼)((?:(?![春夏秋冬昨今前去上刚])[\u4e00-\u9fff]){2,3}?)(?=[春夏秋冬]|刚|去年|前年|今年|上个?[周月]|昨[天晚]|已经|前几天|在|死|走|没|不在|去世|过世|病)"
        r"|叫([\u4e00-\u9fff]{1,3}?)的(?:小)?(?:狗|猫|兔子|仓鼠|鹦鹉)"
    ),
}
_HONORIFIC = "(?:さん|ちゃん|くん|君|様)?"
_OWNERS_JA = (
    "さん",
    "ちゃん",
    "くん",
    "様",
    "隣",
    "近所",
    "友達",
    "友だち",
    "友人",
    "同僚",
    "先生",
    "彼",
    "彼女",
    "方",
)
_NOT_OWNED = {
    "ja": "".join(f"(?<!{owner}の)(?<!{owner}の[おご])" for owner in _OWNERS_JA),
    "zh": "(?:[你您]们?家?里?的?|(?<=爱的)|(?<!的))",
}
"""Before a word for somebody, so that it is nobody else's: お隣のおばあちゃん, 隔壁的奶奶."""
_ADJECTIVES_EN = r"(?:dear |lovely |sweet |beloved |old |poor )?"


@dataclass(frozen=True, slots=True)
class Loss:
    """Somebody who has died."""

    fact: str
    """Id of the fact that says so."""
    people: frozenset[str]
    """Classes of `person` in `lexicon/guarding.yaml` by which one speaks of them."""
    names: frozenset[str]


def losses_of(line: Line) -> list[Loss]:
    """Return whom a fact mourns; at most one, with all that it says of who it was."""
    if line.matter is None or line.matter.kind is not StandingKind.BEREAVEMENT:
        return []
    mourned = expressions("standing", line.language)["bereavement"].values()
    told = (
        " ".join(found.group() for sign in mourned for found in sign.finditer(line.text))
        or line.text
    )
    meaning = analyse(normalize(told), line.language)
    people = {_aged(person, told) for person in meaning.persons - _BY_NAME_ONLY}
    if "parents" in people:
        people |= {"mother", "father"}
    if not meaning.persons:  # 老伴: nobody whose sex or place in the family memory knows
        people |= {
            name for name in signs("person", line.language) if _names(name, told, line.language)
        }
    if not people:
        people |= _PETS & {kind.partition("/")[2] for kind in meaning.kinds}
    names = _names_of(told, line.language)
    names |= {
        part.removesuffix("'s")
        for found in _PET_NAME[line.language].finditer(line.text)
        for part in found.groups()
        if part
    }
    if line.language == "en":
        names = _as_written(names, line.text)
    return [Loss(line.id, frozenset(people), frozenset(names))]


def without_living(
    losses: Iterable[Loss], others: Sequence[tuple[str, datetime]], told: dict[str, datetime]
) -> tuple[Loss, ...]:
    """Leave a dead person only the name where another one of the kind is known: a new dog, a sister of another name.

    Args:
        losses: Of one person.
        others: All that is known beside them, and when it was said.
        told: When each loss was told, by the id of its fact.
    """
    kept = []
    for loss in losses:
        people = frozenset(
            person
            for person in loss.people
            if not any(_is_another(person, text, loss, at > told[loss.fact]) for text, at in others)
        )
        kept.append(Loss(loss.fact, people, loss.names))
    return tuple(one for one in kept if one.people or one.names)


def _is_another(person: str, text: str, loss: Loss, is_newer: bool) -> bool:
    """Say whether a fact tells of one of the kind who is not the dead one, and lives."""
    code = read_as(text, "")
    if not _names(person, text, code) or _is_named(text, loss):
        return False
    if any(signs("loss", code)[sort].search(text) for sort in ("mourns", "past")):
        return False
    return is_newer or bool(loss.names and _names_of(text, code))


def _names_of(text: str, code: str) -> set[str]:
    terms = analyse(normalize(text), code).terms
    return {term.key for term in terms if term.kind is TermKind.NAME}


def spoken_of_as_living(sentence: Spoken, losses: tuple[Loss, ...]) -> str | None:
    """Return the id of the fact whose dead a sentence speaks of as of the living; None if it does not."""
    for loss in losses:
        if _is_as_living(sentence, loss):
            return loss.fact
    return None


def _is_as_living(sentence: Spoken, loss: Loss) -> bool:
    if has("loss", "mourns", sentence):
        return False
    who = _who(loss, sentence.language)
    if who and re.search(who, sentence.text, re.IGNORECASE):
        is_other = has("loss", "other", sentence) and not _is_named(sentence.text, loss)
        return not is_other and not _means_another(sentence, loss) and _has_cue(sentence, who)
    if not _is_in_talk(sentence, loss):
        return False
    return has("loss", "they", sentence) and not has("loss", "past", sentence)


def _has_cue(sentence: Spoken, who: str) -> bool:
    greets = filled("loss", "greets", sentence.language, who=who)
    if greets is not None and greets.search(sentence.text):
        return True
    lives = filled("loss", "lives", sentence.language, who=who)
    if lives is None or not lives.search(sentence.text):
        return False
    return not has("loss", "past", sentence)


def _is_in_talk(sentence: Spoken, loss: Loss) -> bool:
    """Say whether the talk is of the dead, and of nobody else, so that "she" means them."""
    talk = folded(f"{sentence.question} {sentence.said}")
    code = read_as(talk, sentence.language)
    named = {person for person in signs("person", code) if _names(person, talk, code)}
    return bool(_is_named(talk, loss) or named & loss.people) and named <= _kin(loss.people)


def _kin(people: frozenset[str]) -> set[str]:
    """Return all classes whose words mean one of these people as well."""
    sisters, brothers = "sister", "brother"
    return {
        *people,
        *(one for one in ("older_sister", "younger_sister", sisters) if sisters in people),
        *(one for one in ("older_brother", "younger_brother", brothers) if brothers in people),
    }


def _means_another(sentence: Spoken, loss: Loss) -> bool:
    """Say whether the person was just speaking of another one of the kind: "my new puppy"."""
    if _is_named(sentence.text, loss):
        return False
    code = read_as(sentence.question, sentence.language)
    other = signs("loss", code).get("other")
    asked = folded(sentence.question)
    return (
        other is not None
        and other.search(asked) is not None
        and any(_names(person, asked, code) for person in loss.people)
    )


def _is_named(text: str, loss: Loss) -> bool:
    return any(re.search(_name(name), text, re.IGNORECASE) for name in loss.names)


def _name(name: str) -> str:
    """Return a pattern for a name that is no part of another word: ポチ, but not ポチっと."""
    if name.isascii():
        return rf"\b{re.escape(name)}\b"
    return rf"(?<![ァ-ヶ]){re.escape(name)}(?![ァ-ヶっ])"


def _names(person: str, text: str, code: str) -> bool:
    sign = signs("person", code).get(person)
    return sign is not None and sign.search(text) is not None


def _aged(person: str, told: str) -> str:
    """Return the class of a sister or brother who is called older or younger."""
    aged = _AGED_EN.search(told)
    if aged is None or aged[3].casefold() != person:
        return person
    return f"{'older' if aged[1] else 'younger'}_{person}"


def _as_written(names: set[str], text: str) -> set[str]:
    """Return names as the text writes them: terms are stems."""
    words = re.findall(r"[A-Z][\w-]+", text)
    return {
        word for word in words if any(word.casefold().startswith(name.casefold()) for name in names)
    }


@cache
def _who(loss: Loss, language: str) -> str:
    """Return a pattern for how the robot names them, as an owner is not: "your sister", but not "your sister's husband"."""
    lists = signs("person", language)
    people = set(loss.people)
    if language == "en":
        people |= {"partner" for person in people if person in ("husband", "wife")}
    words = [lists[person].pattern for person in sorted(people) if person in lists]
    names = [_name(name) for name in sorted(loss.names) if read_as(name, language) == language]
    if language == "ja":
        names = [f"{name}{_HONORIFIC}" for name in names]
    if language != "en":
        words = [f"{_NOT_OWNED[language]}(?:{word})" for word in words]
    if language == "en":
        words = [f"your (?:late )?{_ADJECTIVES_EN}{word}" for word in words]
    owned = {
        "en": r"(?!\w)(?!'s (?!(?:doing|coming|fine|well|here|up|going|been|feeling)\b))",
        "zh": "",
        "ja": "",
    }
    return f"(?:{'|'.join([*words, *names])}){owned[language]}" if words or names else ""
