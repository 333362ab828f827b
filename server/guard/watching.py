"""Watches over a whole reply: what was not spoken is dropped at the first fault, one second attempt, else a safe line."""

import re
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import TypeAlias

import anyio
import structlog
from anyio import to_thread

from server.ahead import Put
from server.config import GuardSection
from server.errors import OmoideError
from server.failures import log_fault
from server.guard.checking import HardFacts, check, gather
from server.guard.hits import Hit, HitKind
from server.guard.persona import Persona
from server.punctuation import CLOSERS, FULL_MARKS, join_sentences
from server.sentences import Sentence
from server.trace import mark
from server.turn import Happening, Stopped, Transcript, Turn

log = structlog.get_logger(__name__)

Attempt: TypeAlias = Callable[
    [Hit | None, str], AbstractAsyncContextManager[AsyncGenerator[Sentence, None]]
]
"""Asks the model: for the first time, or once more after a fault; told that, and what the person has heard by then."""

_ENDS = re.compile(rf"[{re.escape(FULL_MARKS)}.!?][{re.escape(CLOSERS)}\"'*_]*\W*$")
_LONGEST_WAIT = 200
"""Characters of a sentence beyond which it is taken for one, though no mark ends it."""
_FIRST, _SECOND = 1, 2


@dataclass(slots=True)
class ReplyGuard:
    """The guard of one reply."""

    turn: Turn
    """What was asked and recalled in it is known; it is told what was stopped."""
    section: GuardSection
    now: datetime
    """In the person's zone."""
    persona: Persona
    attempt: Attempt
    line: Callable[[str, str], str]
    """Returns a prepared line by its key, ``guard-`` and a kind, and a language."""
    _facts: HardFacts | None = None
    _passed: list[str] = field(default_factory=list)
    """What was let through, in both attempts."""

    async def watch(self, put: Put[Sentence]) -> None:
        """Let the sentences of the reply through as far as nothing speaks against them.

        Raises:
            OmoideError: The first attempt failed; behind what it had said before.
        """
        hit = await self._let_through(put, None)
        if hit is None:
            return
        self._note(hit, _FIRST)
        again = await self._try_again(put, hit)
        if again is not None:
            mark(Happening.SAFE_LINE, again.kind)
            text = self.line(f"guard-{again.kind}", self._asked.language)
            await put(Sentence(text, text, None))

    async def _try_again(self, put: Put[Sentence], hit: Hit) -> Hit | None:
        """Make the second attempt; return what is wrong with that, too, None if it has been spoken."""
        already = len(self._passed)
        with anyio.move_on_after(self.section.patience_seconds) as wait:

            async def put_in_time(sentence: Sentence) -> None:
                wait.deadline = inf
                await put(sentence)

            try:
                second = await self._let_through(put_in_time, hit)
            except OmoideError as error:
                log.warning("second-attempt-failed", turn=self.turn.id, code=error.code)
                return hit
            if second is not None:
                self._note(second, _SECOND)
                return second
        if len(self._passed) > already:
            return None
        log.warning("second-attempt-silent", turn=self.turn.id, late=wait.cancelled_caught)
        return hit

    async def _let_through(self, put: Put[Sentence], after: Hit | None) -> Hit | None:
        """Pass on the sentences of one attempt; at a fault return it, and drop the rest.

        A piece that is only the beginning of a sentence waits for the end of it, if it would be a fault, or if the question
        touches what stands: a cake that is begun must not be taken back.
        """
        begun, held = "", list[Sentence]()
        async with self.attempt(after, join_sentences(self._passed)) as sentences:
            if self._facts is None and self.section.enabled:
                # The model begins meanwhile.
                self._facts = await to_thread.run_sync(self._gather, abandon_on_cancel=True)
            hit: Hit | None = None
            async for sentence in sentences:
                whole = join_sentences((begun, *_texts(held), sentence.text))
                hit, is_whole = self._judge(whole), _is_whole(sentence.text, whole)
                if hit is not None and is_whole:
                    return hit
                held.append(sentence)
                if hit is not None or not (is_whole or self._may_begin):
                    continue
                await self._pass_on(put, held)
                begun, held = "" if is_whole else whole, []
            if hit is None:
                await self._pass_on(put, held)
        return hit

    async def _pass_on(self, put: Put[Sentence], sentences: Iterable[Sentence]) -> None:
        for sentence in sentences:
            self._passed.append(sentence.text)
            await put(sentence)

    def _judge(self, sentence: str) -> Hit | None:
        if self._facts is None:
            return None
        facts = replace(self._facts, unkept=self.turn.unkept)  # a tool may fail meanwhile
        said = join_sentences(self._passed)
        language = self._asked.language
        try:
            return check(sentence, facts, language, said=said, kinds=self._kinds())
        except Exception as error:  # a fault in a rule is no reason to fall silent
            log_fault("guard-fault", error, turn=self.turn.id)
            return None

    def _kinds(self) -> frozenset[HitKind]:
        return frozenset(kind for kind in HitKind if getattr(self.section, kind.value))

    def _note(self, hit: Hit, attempt: int) -> None:
        facts = tuple(filter(None, hit.facts))
        self.turn.stopped = (*self.turn.stopped, Stopped(hit.kind.value, facts, attempt))
        mark(Happening.STOPPED, hit.kind)
        log.info("reply-stopped", turn=self.turn.id, kind=hit.kind.value, attempt=attempt)

    @property
    def _may_begin(self) -> bool:
        """Whether a sentence may be begun before it is known how it ends."""
        return self._facts is None or not self.turn.recalled.touched

    def _gather(self) -> HardFacts | None:
        """Read what is known. Blocks: many facts that have not been read yet take some tenths of a second."""
        turn = self.turn
        try:
            return gather(
                turn.recalled,
                self._asked.text,
                self._asked.language,
                now=self.now,
                unagreed=turn.unagreed,
                persona=self.persona,
            )
        except Exception as error:
            log_fault("guard-fault", error, turn=turn.id)
            return None

    @property
    def _asked(self) -> Transcript:
        return self.turn.question or Transcript("", "en")


def _is_whole(piece: str, sentence: str) -> bool:
    """Say whether a sentence ends with its last piece, or is so long that nobody waits for the end."""
    return len(sentence) >= _LONGEST_WAIT or _ENDS.search(piece) is not None


def _texts(sentences: Iterable[Sentence]) -> Iterable[str]:
    return (sentence.text for sentence in sentences)
