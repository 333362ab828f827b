"""From the tokens of a reply to its sentences: what to show, what to speak, with which face."""

import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import anyio

from server.ahead import Ahead, ahead
from server.emotions import Emotion, emotion_of_emoji
from server.markup import ReplyReader
from server.speakable import plain_text, voice_text
from server.splitter import SentenceSplitter
from server.trace import mark
from server.turn import Happening

LONGEST_REPLY = 100_000
"""Characters of a reply, with all that is never spoken, such as thoughts: beyond them a model has lost its way."""
_SLICE = 500
"""A longer piece of a reply is taken apart, so that other talks get their turn in between."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of the reply that is spoken in one go."""

    text: str
    """For the display: without tags and Markdown, emoji stay."""
    spoken: str
    """For the voice. Never empty."""
    emotion: Emotion | None
    """The face from here on; None to keep the one before."""


async def split_sentences(
    tokens: AsyncIterator[str | None],
    *,
    language: str,
    readings: Mapping[str, str] | None = None,
    max_chars: int = 120,
    first_piece_chars: int = 0,
    max_reply_chars: int = 2000,
) -> AsyncGenerator[Sentence, None]:
    """Yield the sentences of a streamed reply, each as soon as it is certain, until it has become too long.

    What has nothing to speak (thoughts, code, "…", a lone emoji) is left out; its emotion goes to the next sentence. A reply
    of nothing else yields nothing. An emotion tag colours the sentence that it stands in or before, an emoji the one that it
    stands in or behind.

    Closing the generator closes `tokens`, if that is a generator.

    Args:
        tokens: The reply in pieces of any size; None where it pauses, see `notice_pauses`.
        language: Two-letter code of the reply's language, for reading numbers.
        readings: Written form to the way to read it.
        max_chars: See `SentenceSplitter`.
        first_piece_chars: See `SentenceSplitter`.
        max_reply_chars: The sentence with which the reply has so many characters to speak is the last one. A reply that
            goes on after it is marked in the trace.

    Raises:
        Exception: What `tokens` raised, after the sentences that were whole by then; a half one is dropped.
    """
    chars = 0
    found = _find_sentences(tokens, language, readings or {}, max_chars, first_piece_chars)
    async with aclosing(found):
        async for sentence in found:
            if chars >= max_reply_chars:
                mark(Happening.REPLY_CUT)
                return
            chars += len(sentence.spoken)
            yield sentence


async def limit_length(
    tokens: AsyncGenerator[str, None], most_chars: int = LONGEST_REPLY
) -> AsyncGenerator[str, None]:
    """Pass a reply on in small pieces, and end it after so many characters, which is marked in the trace.

    Whoever reads the pieces never has much to do at once, whatever the model sends. Closing it closes `tokens`.
    """
    left = most_chars
    async with aclosing(tokens):
        async for token in tokens:
            for start in range(0, min(len(token), left), _SLICE):
                yield token[start : min(start + _SLICE, left)]
            left -= max(len(token), 1)  # a model that says nothing for ever is lost, too
            if left < 0:
                mark(Happening.REPLY_CUT)
                return


async def _find_sentences(
    tokens: AsyncIterator[str | None],
    language: str,
    readings: Mapping[str, str],
    max_chars: int,
    first_piece_chars: int,
) -> AsyncGenerator[Sentence, None]:
    reply = _Reply(
        SentenceSplitter(max_chars=max_chars, first_piece_chars=first_piece_chars),
        language,
        readings,
    )
    failure: Exception | None = None
    async with _closing(tokens):
        while failure is None:
            try:
                token = await anext(tokens)
            except StopAsyncIteration:
                break
            except Exception as error:  # raised below, after what came before it
                failure = error
                break
            for sentence in reply.take(token):
                yield sentence
    for sentence in reply.end(whole_only=failure is not None):
        yield sentence
    if failure is not None:
        raise failure


class _Reply:
    """A reply on its way through reader and splitter, with the emotions that belong to its pieces."""

    def __init__(
        self, splitter: SentenceSplitter, language: str, readings: Mapping[str, str]
    ) -> None:
        self._reader = ReplyReader()
        self._splitter = splitter
        self._language = language
        self._readings = readings
        self._emotion: Emotion | None = None
        self._next_emotion: Emotion | None = None

    def take(self, token: str | None) -> Iterator[Sentence]:
        events = self._reader.release_word() if token is None else self._reader.feed(token)
        for event in events:
            yield from self._take_event(event)
        if token is None:
            yield from self._speak(self._splitter.flush_words())

    def end(self, *, whole_only: bool) -> Iterator[Sentence]:
        for event in self._reader.close():
            yield from self._take_event(event)
        rest = self._splitter.flush_sentences() if whole_only else self._splitter.flush()
        yield from self._speak(rest)

    def _take_event(self, event: str | Emotion) -> Iterator[Sentence]:
        if not isinstance(event, Emotion):
            yield from self._speak(self._splitter.push(event))
            return
        yield from self._speak(self._splitter.flush_sentences())
        if self._emotion is not None and self._splitter.in_progress:
            self._next_emotion = event
        else:
            self._emotion = event

    def _speak(self, pieces: list[str]) -> Iterator[Sentence]:
        for piece in pieces:
            emotion = self._emotion or emotion_of_emoji(piece)
            text = plain_text(piece)
            spoken = voice_text(text, self._language, self._readings)
            if spoken:
                self._emotion, self._next_emotion = self._next_emotion, None
                yield Sentence(text, spoken, emotion)
            else:
                self._emotion = emotion


@asynccontextmanager
async def notice_pauses(
    tokens: AsyncGenerator[str, None], idle_seconds: float
) -> AsyncIterator[AsyncGenerator[str | None, None]]:
    """Read `tokens` ahead, and put None into the stream whenever nothing has come for `idle_seconds`.

    Use it around `split_sentences`, which then speaks what it has instead of waiting with the model::

        async with notice_pauses(llm_tokens, 1.5) as tokens:
            async for sentence in split_sentences(tokens, language="ja"): ...

    A time-out on the generator itself would end it. So a task reads it, and only the waiting for that task is timed: a context
    manager, because a task must not outlive the block, however that is left. Leaving it stops and closes `tokens`. What
    `tokens` raises comes out of the stream, after the tokens before it.
    """
    async with (
        ahead(tokens, math.inf) as ready,
        aclosing(_with_pauses(ready, idle_seconds)) as paced,
    ):
        yield paced


async def _with_pauses(ready: Ahead[str], idle_seconds: float) -> AsyncGenerator[str | None, None]:
    while True:
        token: str | None = None
        with anyio.move_on_after(idle_seconds) as wait:
            token = await ready.next()
        if token is None and not wait.cancelled_caught:
            return
        yield token


@asynccontextmanager
async def _closing(source: AsyncIterator[object]) -> AsyncIterator[None]:
    """Close `source` when the block is left, if it is a generator."""
    if isinstance(source, AsyncGenerator):
        async with aclosing(source):
            yield
    else:
        yield
