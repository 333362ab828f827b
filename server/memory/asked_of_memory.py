"""Finds the question what is remembered: "what do you know about me?", 妹について何を覚えてる？ and the like."""

from dataclasses import dataclass

from server.memory.lexicon.expressions import expressions
from server.memory.statements import sentences
from server.memory.terms import read_as


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """What somebody asks memory."""

    topic: str = ""
    """What it is about, in the person's words; empty for themselves."""


def memory_question(said: str, language: str) -> MemoryQuestion | None:
    """Return what a person asks of what is remembered; None if they ask nothing of that kind.

    Args:
        said: All that was said in a turn; the last sentence counts.
        language: Two-letter code of it.
    """
    spoken = [one.replace("’", "'").strip() for one in sentences(said)]
    if not spoken:
        return None
    lists = expressions("asked_of_memory", read_as(spoken[-1], language))
    found = lists["about"]["any"].search(spoken[-1])
    topic = next((part for part in found.groups() if part), "").strip() if found else ""
    if topic and not lists["self"]["any"].fullmatch(topic):
        return MemoryQuestion(topic)
    return MemoryQuestion() if lists["me"]["any"].search(spoken[-1]) else None
