"""Puts sentences together again that a pause cut in two, or that the next one corrects, before facts are drawn from them.

A pause in mid-sentence ends a turn, and the next one answers both halves. Each is stored for itself: that is certain. What
was a whole sentence stays apart from the next one, or a question and a statement would become one thing that nobody said.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from server.memory.amended import amends
from server.memory.models import Page
from server.memory.statements import (
    is_hypothetical,
    is_order,
    is_question,
    is_statement,
    sentences,
)
from server.memory.terms import words_of

_ONE_BREATH = timedelta(seconds=45)
"""From the beginning of a sentence to that of its last piece: the longest utterance, and a pause."""
_SOON = timedelta(minutes=3)
"""From the beginning of a sentence to that of what corrects it, an answer in between."""
_LONGEST_END = 40
"""Characters from which the part of speech of the last word is told."""
_LINKING_PARTS = {"格助詞", "係助詞", "読点"}
"""Particles and the comma: a Japanese sentence goes on after them."""
_LINKING_END = {
    "en": re.compile(
        r"(?:,|\b(?:and|but|or|nor|because|unless|although|than|a|an|the|my|your|our|their|its|every|i|i'm|we're))\s*$",
        re.IGNORECASE,
    ),
    # A short one is a word of its own behind whom or when it links: 我和, 明天和, and neither 温和 nor 棉被.
    "zh": re.compile(
        r"(?:[，、]|(?<=[我你您他她它咱们天妈爸哥姐弟妹友事])[和跟把被从]|因为|但是|所以|如果|然后|还有)\s*$"
    ),
}
_COMMA_AT_END = re.compile(r"[,，、]\s*$")


def passages(pages: Sequence[Page]) -> list[Page]:
    """Return the pages, those that begin a sentence joined to the one that goes on with it. Blocks.

    Args:
        pages: Of one person, oldest first.
    """
    joined: list[Page] = []
    for page in pages:
        begun = joined[-1] if joined else None
        if begun is not None and _goes_on(begun, page):
            joined[-1] = _join(begun, page)
        else:
            joined.append(page)
    return joined


def _join(begun: Page, page: Page) -> Page:
    return replace(
        page,
        said=f"{begun.said}{_blank(page.language)}{page.said}",
        at=begun.at,
        begun_in=(*begun.begun_in, begun.id),
    )


def _blank(language: str) -> str:
    return "" if language in ("ja", "zh") else " "


def _goes_on(begun: Page, page: Page) -> bool:
    """Say whether a page was cut off by the next one in the middle of a sentence, or is put right by it."""
    if (begun.device, begun.language) != (page.device, page.language):
        return False
    if page.at - begun.at <= _SOON and _is_put_right(begun.said, page.said, page.language):
        return True
    return (
        begun.interrupted
        and not begun.heard
        and page.at - begun.at <= _ONE_BREATH
        and is_unfinished(begun.said, begun.language)
        and not _stands_apart(begun.said, page.said, page.language)
    )


def _is_put_right(said: str, correction: str, language: str) -> bool:
    told = sentences(said)
    return (
        bool(told) and is_statement(told[-1], language) and amends(told[-1], correction, language)
    )


def _stands_apart(begun: str, said: str, language: str) -> bool:
    """Say whether what was said next is no end to what was begun: it would take away what that tells.

    "My new job is from next month" may be all, where a comma or a particle promises more. A question or an order behind
    it is one of its own.
    """
    openings = sentences(said)
    if not openings or not is_statement(last := sentences(begun)[-1], language):
        return False
    first = openings[0]
    if is_question(f"{_COMMA_AT_END.sub('', last)}, {first}"):
        return True
    # A Japanese order shows at its end, and so in the whole. In front of others a verb may also go on: "Tomorrow I | call".
    if language != "ja" and _COMMA_AT_END.search(last) and is_order(first):
        return True
    whole = f"{last}{_blank(language)}{first}"
    return not (is_statement(whole, language) or is_hypothetical(whole))


def is_unfinished(text: str, language: str) -> bool:
    """Say whether the last sentence of a text ends in a word that another one has to follow.

    In doubt it counts as finished.
    """
    if is_question(text):
        return False
    if language == "ja":
        words = words_of(text[-_LONGEST_END:])
        return bool(words) and words[-1].part_of_speech()[1] in _LINKING_PARTS
    linking = _LINKING_END.get(language)
    return linking is not None and linking.search(text) is not None


def batches(pages: Sequence[Page], most: int) -> list[list[Page]]:
    """Cut what waits into batches of one language: instructions, topics and summaries are in one. Blocks.

    Args:
        pages: Of one person, oldest first.
        most: How many sentences put together again (`passages`) a batch has at most.
    """
    found: list[list[Page]] = []
    for page in passages(pages):
        last = found[-1] if found else []
        if not last or len(last) == most or last[-1].language != page.language:
            found.append([page])
        else:
            last.append(page)
    return found
