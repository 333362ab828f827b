"""What somebody asked not to be spoken to about, and whether a sentence brings it up."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from server.guard.lines import Line, Spoken, folded, has, signs
from server.memory.standing import StandingKind, meant
from server.memory.terms import HONORIFICS, read_as, stem
from server.memory.wording import plain_analysis

_LONGEST = 6
"""Words of a topic; a request that says more is about something else as well."""
_NOISE_EN = frozenset({"my", "our", "the", "that", "his", "her", "their", "your", "a", "an", "of", "and", "or", "i", "me", "about", "what", "happen", "thing", "name"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that is not to be mentioned."""

    fact: str
    """Id of the fact that says so."""
    words: frozenset[str]
    """In English stems, else pieces as they are written; all of them, or most of more than two, make the topic."""
    people: frozenset[str]
    """Classes of `person` in `lexicon/guarding.yaml`, where it is somebody and nothing beside."""
    language: str


def topics_of(line: Line) -> list[Topic]:
    """Return what a fact asks not to be mentioned."""
    if line.matter is None or line.matter.kind is not StandingKind.DO_NOT_MENTION:
        return []
    return [topic for phrase in _phrases(line) if (topic := _topic(phrase, line))]


def brought_up(sentence: Spoken, topics: tuple[Topic, ...]) -> str | None:
    """Return the id of the fact that asks not to speak of what a sentence is about; None if it is about nothing of the kind.

    Whoever speaks of it themselves may be answered.
    """
    for topic in topics:
        if not _is_about(sentence.text, topic, sentence.language) or has(
            "topic", "refrains", sentence
        ):
            continue
        if not _is_about(
            folded(sentence.question), topic, read_as(sentence.question, sentence.language)
        ):
            return topic.fact
    return None


def _phrases(line: Line) -> Iterator[str]:
    sign = signs("topic", line.language)["of"]
    for found in sign.finditer(line.text):
        if phrase := next((part for part in reversed(found.groups()) if part), ""):
            yield phrase.strip()


def _topic(phrase: str, line: Line) -> Topic | None:
    people = frozenset(
        name for name, sign in _people(line.language).items() if sign.search(phrase) is not None
    )
    words = _words(phrase, line.language)
    if line.language == "en":
        rest = [word for word in words if not _is_person(word)]
        words = frozenset(rest)
    elif people:
        words = frozenset(
            word
            for word in words
            if not any(
                sign.search(word) or word in sign.pattern
                for sign in _people(line.language).values()
            )
        )
    if not words and not people:
        return None
    return Topic(line.id, words, people, line.language) if len(words) <= _LONGEST else None


def _is_about(text: str, topic: Topic, language: str) -> bool:
    if topic.people and not any(
        sign.search(text) for name, sign in _people(language).items() if name in topic.people
    ):
        return False
    if not topic.words:
        return bool(topic.people)
    if language != topic.language:
        return False
    if language == "en":
        spoken = {stem(word.casefold()) for word in re.findall(r"[^\W\d_]+", text)}
        shared = len(topic.words & spoken)
    else:
        shared = sum(word in text for word in topic.words)
    return shared == len(topic.words) if len(topic.words) <= 2 else shared * 2 > len(topic.words)


@cache
def _people(language: str) -> dict[str, re.Pattern[str]]:
    return dict(signs("person", language))


def _is_person(word: str) -> bool:
    return any(sign.fullmatch(word) for sign in _people("en").values())


def _words(phrase: str, language: str) -> frozenset[str]:
    if language == "en":
        stems = {stem(word.casefold()) for word in re.findall(r"[^\W\d_]{2,}", phrase)}
        return frozenset(stems - _NOISE_EN)
    if language == "zh":
        return frozenset({re.sub(r"^[我你他她的]+|的$", "", phrase)} - {""})
    terms = meant(plain_analysis(phrase, language), language)
    return frozenset(
        term.key for term in terms if term.key in phrase and term.key not in HONORIFICS
    )
