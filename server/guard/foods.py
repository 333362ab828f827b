"""Food and medicine that somebody must not have: what they told of it, and whether a sentence offers it all the same."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from server.guard.lines import Line, Spoken, folded, has, signs
from server.memory.lexicon.expressions import expressions
from server.memory.standing import StandingKind
from server.memory.statements import sentences
from server.memory.terms import read_as

_DIETS = {
    "vegetarian": ("meat", "fish", "shellfish", "squid", "pork", "beef", "chicken"),
    "vegan": ("meat", "fish", "shellfish", "squid", "pork", "beef", "chicken", "egg", "milk", "honey", "gelatin"),
    "halal": ("pork", "alcohol"),
    "kosher": ("pork", "shellfish"),
    "gluten": ("wheat",),
    "alcohol": ("alcohol",),
    "grapefruit": ("grapefruit",),
}  # fmt: skip
"""Matters of a diet in `lexicon/standing.yaml`, and the groups of `lexicon/foods.yaml` that they rule out."""
_GOALS = {"alcohol": "alcohol", "coffee": "coffee"}
"""Goals that rule something out altogether if the person means to stop, and not only to have less."""
_FREE_EN = re.compile(
    r"\b(?:without|no|not|never|free (?:of|from)|instead of|rather than|skip(?:ping)?|avoid(?:ing)?|minus|except|other than|hold)(?: any| the| all| of| some| your| using| eating| drinking)*(?: [\w-]+){0,1} $",
    re.IGNORECASE,
)
_FREE_BEHIND = re.compile(
    r"^(?:[- ]?free\b|[- ]?less\b|抜き|なし|無し|フリー|不使用|以外|の代わり|ではな|じゃな)"
)
_COMMA = re.compile(r"[,;:–—、。，；]")
_ENDS_JA = re.compile(r"(?:から|ので|けど|けれども?|のに|が)、?$")
"""What ends a Japanese clause that another one only follows."""
_CONTRAST = re.compile(
    r"^(?:but|although|though|however|でも|しかし|但是?|可是|不过|ですが|ますが|けど|けれど)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Something that must not be offered."""

    fact: str
    """Id of the fact that says so."""
    group: str
    """Of `lexicon/foods.yaml`; empty for what stands in no list."""
    word: str = ""
    """What it is called where it stands in no list."""


def forbidden_by(line: Line) -> list[Forbidden]:
    """Return what a fact rules out to be offered; nothing for one that does not."""
    if line.matter is None:
        return []
    match line.matter.kind:
        case StandingKind.ALLERGY:
            return [*_called(line, "")] or [*_unlisted(line, "allergen")]
        case StandingKind.DIET:
            of_diet = [group for name in line.matter.about for group in _DIETS.get(name, ())]
            named = [*_called(line, "cannot")] or [*_unlisted(line, "barred")]
            return [*(Forbidden(line.id, group) for group in of_diet), *named]
        case StandingKind.MEDICINE:
            return [*_called(line, "cannot")] or [*_unlisted(line, "barred")]
        case StandingKind.GOAL if has("food", "quit", line):
            goals = (_GOALS[name] for name in line.matter.about if name in _GOALS)
            return [Forbidden(line.id, group) for group in goals]
        case _:
            return []


@lru_cache(maxsize=4_000)
def allergens_in(text: str, language: str) -> frozenset[str]:
    """Return the groups that a text calls by their name."""
    lists = expressions("foods", read_as(text, language))
    return frozenset(group for group, sorts in lists.items() if sorts["named"].search(text))


def offered(sentence: Spoken, forbidden: tuple[Forbidden, ...]) -> str | None:
    """Return the id of the fact against which a sentence offers something; None if it offers nothing of the kind."""
    if not forbidden:
        return None
    any_of = mention(frozenset((one.group, one.word) for one in forbidden), sentence.language)
    if any_of is None or not any_of.search(sentence.text):
        return _of_which(sentence, forbidden) if _holds_out(sentence) else None
    for one in forbidden:
        pattern = mention(frozenset({(one.group, one.word)}), sentence.language)
        if pattern is not None and _is_offered(sentence, pattern, one):
            return one.fact
    return None


def _holds_out(sentence: Spoken) -> bool:
    """Say whether a sentence bids somebody eat or drink what it does not name."""
    return has("food", "them", sentence) and not warns(sentence, sentence.text)


def _of_which(sentence: Spoken, forbidden: tuple[Forbidden, ...]) -> str | None:
    """Return the id of the fact that rules out what "them" means: the last thing that the reply or the person spoke of."""
    last = next(iter(reversed(sentences(sentence.said))), "")
    for talk in (folded(last), folded(sentence.question)):
        code = read_as(talk, sentence.language)
        rest = signs("food", code)["rest"]
        for one in forbidden:
            pattern = mention(frozenset({(one.group, one.word)}), code)
            found = [*pattern.finditer(talk)] if pattern else []
            if found and rest.search(talk[found[-1].end() :]):
                return one.fact
    return None


def _called(line: Line, needed: str) -> Iterator[Forbidden]:
    """Return what a fact names, clause by clause, without what it says is fine."""
    lists = expressions("foods", line.language)
    clauses = [clause for sentence in line.sentences for clause in _clauses(sentence, line)]
    for place, clause in enumerate(clauses):
        if has("food", "fine", line, clause) and not has("food", "cannot", line, clause):
            continue
        if needed and not any(
            has("food", needed, line, near) for near in clauses[place : place + 2]
        ):
            continue
        for group, sorts in lists.items():
            if sorts["named"].search(clause):
                yield Forbidden(line.id, group)


def _unlisted(line: Line, sort: str) -> Iterator[Forbidden]:
    """Return what somebody is allergic to, or must not take, by its own name: what stands in no list."""
    for found in signs("food", line.language)[sort].finditer(line.text):
        word = next((part for part in found.groups() if part), "")
        if word and not has("food", "no_food", line, word):
            yield Forbidden(line.id, "", word)


@cache
def mention(wanted: frozenset[tuple[str, str]], language: str) -> re.Pattern[str] | None:
    """Return what matches any food of some groups, or any of the words that stand in no list."""
    lists = expressions("foods", language)
    patterns = [
        sorts[sort].pattern
        for group, _ in sorted(wanted)
        if (sorts := lists.get(group))
        for sort in ("named", "in")
        if sort in sorts
    ]
    for _, word in sorted(wanted):
        if word and read_as(word, language) == language:
            patterns.append(rf"\b{re.escape(word)}s?\b" if word.isascii() else re.escape(word))
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _is_offered(sentence: Spoken, pattern: re.Pattern[str], one: Forbidden) -> bool:
    safe = expressions("foods", sentence.language).get(one.group, {}).get("safe")
    unharmful = [found.span() for found in safe.finditer(sentence.text)] if safe else []
    clauses = _spans(sentence.text, sentence)
    return any(
        _is_offer(sentence, found, clauses)
        for found in pattern.finditer(sentence.text)
        if not any(start <= found.start() < end for start, end in unharmful)
        and not is_free_of(sentence, found)
    )


def is_free_of(sentence: Spoken, found: re.Match[str]) -> bool:
    """Say whether a sentence speaks of a food as of what is left out."""
    lead, behind = sentence.text[: found.start()], sentence.text[found.end() :]
    if sentence.language == "en" and _FREE_EN.search(_without_offers(sentence, lead)):
        return True
    return _FREE_BEHIND.match(behind) is not None


def _is_offer(sentence: Spoken, found: re.Match[str], clauses: list[tuple[int, int]]) -> bool:
    """Say whether the food that was found is held out, and not warned of, explained or remembered."""
    here = next(place for place, (_, end) in enumerate(clauses) if found.start() < end)
    start, end = clauses[here]
    clause = sentence.text[start:end]
    if warns(sentence, clause) or _is_taken_back(sentence, clauses[here + 1 :]):
        return False
    if sentence.language == "ja":
        clause = _to_its_verb(sentence, clauses, here)
    if _offers(sentence, clause) or _is_invited(sentence, here, clauses):
        return True
    if has("food", "informs", sentence) or has("food", "past", sentence) or sentence.is_question:
        return False
    asks = signs("food", read_as(sentence.question, sentence.language))["asks"]
    return asks.search(sentence.question) is not None


def _to_its_verb(sentence: Spoken, clauses: list[tuple[int, int]], here: int) -> str:
    """Return a Japanese clause with those that go on with it: the verb comes last, and に、 or て、 is no end."""
    last = here
    while last + 1 < len(clauses) and not _ENDS_JA.search(sentence.text[: clauses[last][1]]):
        last += 1
    return sentence.text[clauses[here][0] : clauses[last][1]]


def _is_invited(sentence: Spoken, here: int, clauses: list[tuple[int, int]]) -> bool:
    """Say whether an earlier clause holds out what follows: "how about a sandwich, with peanut butter"."""
    for start, end in reversed(clauses[:here]):
        clause = sentence.text[start:end]
        if _offers(sentence, clause) and not warns(sentence, clause):
            return True
        if _CONTRAST.match(sentence.text[end:].lstrip(" ,、，")):
            return False
    # "Peanut cookies, how about those?"
    following = [sentence.text[start:end] for start, end in clauses[here + 1 : here + 2]]
    is_short = here == 0 and len(sentence.text[: clauses[0][1]].split()) <= 5
    return is_short and any(
        _offers(sentence, clause) and not _mentions_food(clause, sentence) for clause in following
    )


def _mentions_food(clause: str, sentence: Spoken) -> bool:
    """Say whether a clause names a thing of its own to be had: an offer in it is of that."""
    return len(clause.split()) > 5 if sentence.language == "en" else len(clause) > 10


def _is_taken_back(sentence: Spoken, following: list[tuple[int, int]]) -> bool:
    """Say whether the next clause warns of what was named: "… are nice, but not for you"."""
    for start, end in following[:1]:
        clause = sentence.text[start:end]
        before = sentence.text[:start].rstrip(" ,、，")
        contrasts = re.search(
            r"(?:but|although|though|but not|けど|けれど|が|でも|但是?|可是|不过)$", before, re.I
        )
        return bool(contrasts) and warns(sentence, clause) and not _offers(sentence, clause)
    return False


def _offers(sentence: Spoken, text: str) -> bool:
    return has("food", "offers", sentence, text)


def warns(sentence: Spoken, clause: str) -> bool:
    """Say whether a clause says that something is nothing for somebody, or asks what is in it."""
    return has("food", "warns", sentence, _without_offers(sentence, clause))


def _without_offers(sentence: Spoken, text: str) -> str:
    """Return a text without the offers that sound like warnings: "why don't you", 要不要."""
    polite = signs("food", sentence.language)["polite"]
    return polite.sub(lambda found: "·" * len(found.group()), text)


def _clauses(sentence: str, line: Line) -> list[str]:
    return [sentence[start:end] for start, end in _spans(sentence, line)]


def _spans(text: str, of: Line | Spoken) -> list[tuple[int, int]]:
    """Return where the clauses of a text begin and end."""
    joints = [*_COMMA.finditer(text), *signs("food", of.language)["clause"].finditer(text)]
    spans, start = [], 0
    for found in sorted(joints, key=lambda joint: joint.start()):
        if text[start : found.start()].strip():
            spans.append((start, found.end() if of.language == "ja" else found.start()))
        start = max(start, found.end())
    return [*spans, (start, max(len(text), start + 1))]
