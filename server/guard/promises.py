"""What the robot says of its own memory: promises to remember that nobody keeps, and things it never was told."""

from server.guard.foods import allergens_in
from server.guard.lines import Spoken, folded, has, signs
from server.memory.standing import StandingKind, read_matter
from server.memory.terms import read_as


def promises_to_remember(sentence: Spoken) -> bool:
    """Say whether a sentence says that something will be remembered, or has been noted down."""
    if not has("promise", "made", sentence):
        return False
    if sentence.is_question and not has("promise", "rhetorical", sentence):
        return False
    return not has("promise", "unmade", sentence)


def confirms_unheard_allergy(sentence: Spoken, known: frozenset[str]) -> bool:
    """Say whether a sentence tells somebody of an allergy of theirs that nobody ever spoke of.

    Args:
        sentence: Of the robot.
        known: Groups of `lexicon/foods.yaml` that memory speaks of in any way.
    """
    if sentence.is_question or has("claim", "open", sentence):
        return False
    sign = signs("claim", sentence.language)["allergy"]
    told = {
        group
        for found in sign.finditer(sentence.text)
        for part in found.groups()
        if part
        for group in allergens_in(part, sentence.language)
    }
    if not told or told & known:
        return False
    return not _tells_of_allergy(sentence) or told.isdisjoint(
        allergens_in(folded(sentence.question), sentence.language)
    )


def _tells_of_allergy(sentence: Spoken) -> bool:
    """Say whether the person has just told of an allergy, and not asked for one."""
    asked = folded(sentence.question)
    if asked.rstrip().endswith(("?", "？", "か", "かな", "吗", "っけ")):
        return False
    matter = read_matter(asked, read_as(asked, sentence.language))
    return matter is not None and matter.kind is StandingKind.ALLERGY
