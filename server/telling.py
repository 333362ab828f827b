"""Answers what the robot remembers of a person, from what is stored and in fixed words: a small model makes things up."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from server.guard.lines import read_line, spoken
from server.guard.topics import brought_up, topics_of
from server.memory.asked_of_memory import MemoryQuestion, memory_question
from server.memory.known import Knowing, Known
from server.memory.models import Fact
from server.memory.terms import read_as
from server.memory.wording import bare, without_dates
from server.turn import Recalled, Recollection, Transcript, Turn

_MOST = 4
"""Facts that are told; nobody listens to more."""
_LONGEST = {"en": 120, "ja": 60, "zh": 50}
"""Characters of one; a longer one is counted, and not told."""
_JOINTS = {"en": "; ", "ja": "、", "zh": "；"}
_SECOND_PERSON = {
    "en": tuple(
        (re.compile(rf"\b{first}\b", re.IGNORECASE), second)
        for first, second in (
            ("i am", "you are"),
            ("i'm", "you're"),
            ("i was", "you were"),
            ("am i", "are you"),
            ("i", "you"),
            ("me", "you"),
            ("my", "your"),
            ("mine", "yours"),
            ("myself", "yourself"),
        )
    ),
    "zh": ((re.compile("我"), "你"), (re.compile("[咱俺]"), "你")),
}
"""From the words of the person to those of who answers. Japanese leaves both out, and is quoted."""
_OWN_JA = re.compile(r"^(?:あなた|私|僕|俺|わたし|ぼく|おれ|あたし)(?:は|の|が|も)、?")
_STARTS_SMALL = re.compile(r"^(?:you|your|yours|the|a|an|we|our|it|there|on|in|every)\b", re.I)
_MY = re.compile(r"^(?:my|our)\b", re.IGNORECASE)
_OF_MINE = re.compile(
    r"^(?:my|our|the)\s+|^我们?(?:家)?的?|^(?:私|僕|俺|わたし|ぼく|おれ|あたし|うち)の", re.I
)


class VoiceTelling:
    """Listens for such questions."""

    def __init__(
        self,
        knowing: Knowing,
        withholds: Callable[[str], bool],
        phrase: Callable[[str, str], str],
        now: Callable[[], datetime],
    ) -> None:
        """Say where it is looked.

        Args:
            knowing: Knows what may be told.
            withholds: Says of whom nothing may be recalled.
            phrase: Returns the words of a key in a language.
            now: Tells the time.
        """
        self._knowing = knowing
        self._withholds = withholds
        self._phrase = phrase
        self._now = now

    async def heed(self, turn: Turn) -> str:
        """Return what is to be said to a question what is remembered; empty if it is none.

        What was told is noted in the turn, so that the answer goes if it is forgotten.

        Raises:
            StoreError: The store can't be read.
        """
        asked = turn.question
        question = memory_question(asked.text, asked.language) if asked else None
        if asked is None or question is None:
            return ""
        if turn.is_guest:
            return self._phrase("told-guest", asked.language)
        if self._withholds(turn.person):
            return self._phrase("told-off", asked.language)
        words = _OF_MINE.sub("", question.topic) or question.topic
        known = await self._knowing.of(turn.person, self._now(), words, asked.language)
        return self._told(turn, asked, question, known)

    def _told(self, turn: Turn, asked: Transcript, question: MemoryQuestion, known: Known) -> str:
        language = asked.language
        if question.topic and _is_silent(question.topic, known, language):
            return self._phrase("told-silent", language)
        open_ = [one for one in known.facts if not _is_silent(bare(one.text), known, one.language)]
        told = _first(open_, language)
        losses = known.losses if question.topic else ()
        turn.recalled = Recollection(lines=tuple(_recalled(fact) for fact in (*told, *losses)))
        turn.told = tuple(fact.id for fact in (*told, *losses))
        topic = _MY.sub("your", question.topic)
        topic = topic.replace("我", "你") if read_as(topic, language) == "zh" else topic
        said = [self._phrase("told-loss", language)] if losses else []
        if told:
            listed = _JOINTS.get(language, "; ").join(_in_words(one, language) for one in told)
            key = "told-topic" if question.topic else "told-most"
            said.append(self._phrase(key, language).replace("{topic}", topic).replace("{}", listed))
            said += self._rest(len(open_) - len(told), language)
        elif not losses:
            key = "told-topic-nothing" if question.topic else "told-nothing"
            said.append(self._phrase(key, language).replace("{topic}", topic))
        return " ".join(said)

    def _rest(self, count: int, language: str) -> list[str]:
        more = {0: "", 1: "told-one-more"}.get(count, "told-more")
        words = [self._phrase(more, language).replace("{}", str(count))] if more else []
        return [*words, self._phrase("told-forget", language)]


def _is_silent(text: str, known: Known, language: str) -> bool:
    """Say whether a text is about something that is not to be mentioned."""
    topics = [
        topic
        for fact in known.silent
        for topic in topics_of(read_line(fact.id, bare(fact.text), fact.language))
    ]
    return brought_up(spoken(text, language), tuple(topics)) is not None


def _first(facts: Sequence[Fact], language: str) -> list[Fact]:
    """Return those that are told: in the language of the question, unless there are none."""
    short = [fact for fact in facts if len(bare(fact.text)) <= _LONGEST.get(language, 120)]
    same = [fact for fact in short if read_as(bare(fact.text), fact.language) == language]
    return (same or short)[:_MOST]


def _in_words(fact: Fact, language: str) -> str:
    """Return a fact as a part of a sentence to the person."""
    text = bare(fact.text).strip().rstrip(".。!！")
    code = read_as(text, fact.language)
    is_quoted = without_dates(fact.text) != bare(fact.text)
    if code == "ja":
        return f"「{text}」" if is_quoted else _OWN_JA.sub("", text)
    if is_quoted:
        for first, second in _SECOND_PERSON.get(code, ()):
            text = first.sub(second, text.replace("’", "'"))
    return text[0].lower() + text[1:] if _STARTS_SMALL.match(text) else text


def _recalled(fact: Fact) -> Recalled:
    return Recalled(bare(fact.text), fact.last_said_at, 1.0, {}, fact.id, fact.sources, fact.about)
