"""Does what a person asks the robot to forget, by voice or text, and says what was done."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

import anyio
import structlog

from server.forgetting import Forgetting
from server.memory.audit import Actor
from server.memory.erasing import Erased
from server.memory.forget_requests import ForgetRequest, forget_request
from server.memory.safety.models import SignalKind
from server.memory.selecting import Selector
from server.trace import Turns
from server.turn import Turn

log = structlog.get_logger(__name__)

_SAYS = {
    "ja": {
        "last": "わかりました。さっき聞いたことは忘れました。",
        "nothing": "さっき聞いたことは、もう残っていません。",
        "topic": "わかりました。{topic}のことは忘れました。{count}件です。",
        "unknown": "{topic}のことは、何も覚えていませんでした。",
        "signs": "ただ、心配なことがあったということだけは、言葉なしで伝わるかもしれません。",
    },
    "en": {
        "last": "All right, I have forgotten what you just told me.",
        "nothing": "There is nothing left of what you just told me.",
        "topic": "All right, I have forgotten what you told me about {topic}: {count} {things}.",
        "unknown": "I did not remember anything about {topic}.",
        "signs": " That there was something to worry about may still be passed on, without your words.",
    },
    "zh": {
        "last": "好的，你刚才说的我已经忘掉了。",
        "nothing": "你刚才说的，我这里已经没有了。",
        "topic": "好的，关于{topic}的事我已经忘掉了，一共{count}件。",
        "unknown": "关于{topic}，我什么都不记得。",
        "signs": "不过，有让人担心的事这一点可能还会转告，但不会带上你说的话。",
    },
}
_UNSPOKEN = frozenset({SignalKind.ABUSE})
"""Kinds of danger signs that nothing is said of aloud: whoever does it may be listening."""
_MINE = (
    (re.compile(r"^my\b", re.IGNORECASE), "your"),
    (re.compile(r"^our\b", re.IGNORECASE), "your"),
    (re.compile(r"^我们?的?"), "你的"),
    (re.compile(r"^(?:私|僕|俺|わたし|ぼく)の"), ""),
)
"""How what belongs to the speaker is called by the one who answers."""
_OWN = re.compile(r"^(?:my|our|the|a|an)\s+|^我们?的?|^(?:私|僕|俺|わたし|ぼく)の", re.IGNORECASE)
"""What stands before the words that are looked for."""


class VoiceForgetting:
    """Listens for such requests. What is asked and answered then is kept nowhere itself."""

    def __init__(
        self,
        forgetting: Forgetting,
        turns: Turns,
        now: Callable[[], datetime],
    ) -> None:
        self._forgetting = forgetting
        self._turns = turns
        self._now = now

    async def heed(self, turn: Turn) -> str | None:
        """Do what a turn asks for; return what is to be said then, or None if it asks for nothing of that kind.

        Once begun it is finished, whoever interrupts.

        Raises:
            OmoideError: Something can't be deleted.
        """
        question = turn.question
        request = forget_request(question.text, question.language) if question else None
        if question is None or request is None:
            return None
        with anyio.CancelScope(shield=True):
            with self._turns.forgetting(lambda one: one.id == turn.id):
                erased = await self._erase(turn, request)
        log.info(
            "forgotten-by-voice", kind="topic" if request.topic else "last", count=erased.total
        )
        says = _SAYS.get(question.language, _SAYS["en"])
        signs = says["signs"] if {*erased.open_signs} - _UNSPOKEN else ""
        if not request.topic:
            return says["last" if erased.total or not request.is_alone else "nothing"] + signs
        topic = request.topic
        for mine, yours in _MINE:
            topic = mine.sub(yours, topic)
        counts = erased.counts
        told = counts.get("exchanges", 0) + counts.get("cut", 0)
        count = max(counts.get("facts", 0), told)
        key = "topic" if erased.total else "unknown"
        things = "thing" if count == 1 else "things"
        return says[key].format(topic=topic, count=count, things=things) + signs

    async def _erase(self, turn: Turn, request: ForgetRequest) -> Erased:
        if request.topic:
            if not await self._forgetting.knows(turn.person):
                return Erased()
            words = _OWN.sub("", request.topic) or request.topic
            language = turn.question.language if turn.question else ""
            selector = Selector(turn.person, words=words, language=language)
            return await self._forgetting.forget(selector, Actor.VOICE)
        pages = [*turn.answers]
        if request.is_alone:
            pages += await self._last(turn.person, whole=request.is_talk)
        return await self._forgetting.forget_pages(pages, Actor.VOICE)

    async def forget_last(self, turn: Turn) -> None:
        """Forget what the person of a turn said right before it; once begun it is finished, whoever interrupts.

        Raises:
            OmoideError: Something can't be deleted.
        """
        with anyio.CancelScope(shield=True):
            pages = [*turn.answers, *await self._last(turn.person, whole=False)]
            await self._forgetting.forget_pages(pages, Actor.VOICE)

    async def _last(self, person: str, *, whole: bool) -> Sequence[str]:
        recent = await self._forgetting.said_lately(person, self._now())
        return recent if whole else recent[-1:]
