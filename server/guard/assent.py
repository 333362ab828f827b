"""What the person asks to have and must not, and whether a sentence says yes to it without naming it."""

from dataclasses import dataclass

from server.guard.foods import Forbidden, is_free_of, mention, warns
from server.guard.lines import Spoken, folded, has, signs
from server.memory.statements import sentences
from server.memory.terms import read_as


@dataclass(frozen=True, slots=True)
class Sought:
    """Something forbidden that the person asks for, or is about to have."""

    fact: str
    """Id of the fact that rules it out."""
    is_denied: bool = False
    """Whether they ask if it is so that they must not: a bare "yes" confirms that."""


def sought_in(question: str, language: str, forbidden: tuple[Forbidden, ...]) -> Sought | None:
    """Return what a person asks for that they must not have; None if it is nothing of the kind.

    Args:
        question: All that was said in the turn.
        language: Two-letter code of it.
        forbidden: What must not be offered.
    """
    if not forbidden:
        return None
    named = ""
    for sentence in sentences(folded(question)):
        asked = Spoken(sentence, read_as(sentence, language))
        named = _named(asked, forbidden) or (named if has("food", "seeks_it", asked) else "")
        if named and has("food", "seeks", asked):
            return Sought(named, _is_denied(asked))
    return None


def assents(sentence: Spoken, sought: Sought | None) -> bool:
    """Say whether a sentence grants what was asked for. What has been warned of before is granted by no mere "yes"."""
    if sought is None:
        return False
    text = sentence.text
    if sought.is_denied:  # "No, go ahead"
        text = signs("food", sentence.language)["refusal"].sub("", text)
    if warns(sentence, text) or has("food", "redirects", sentence, text):
        return False
    if has("food", "permits", sentence, text):
        return True
    is_yes = has("food", "assents", sentence, text) and not sought.is_denied
    return is_yes and not _has_warned(sentence)


def _named(asked: Spoken, forbidden: tuple[Forbidden, ...]) -> str:
    """Return the id of the fact that rules out what a sentence names, and not as what is left out of it."""
    for one in forbidden:
        pattern = mention(frozenset({(one.group, one.word)}), asked.language)
        if pattern and any(not is_free_of(asked, found) for found in pattern.finditer(asked.text)):
            return one.fact
    return ""


def _is_denied(asked: Spoken) -> bool:
    hopes = signs("food", asked.language)["hopes"]
    return has("food", "denies", asked, hopes.sub("·", asked.text))


def _has_warned(sentence: Spoken) -> bool:
    return any(
        warns(sentence, one) or has("food", "redirects", sentence, one)
        for one in sentences(folded(sentence.said))
    )
