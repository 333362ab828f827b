"""Writes what passes on the way from the model to the voice into the record of the turn."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from server.punctuation import join_sentences
from server.sentences import Sentence
from server.speaking import Part
from server.trace import Laps
from server.turn import Stage, Turn


async def noted(
    sentences: AsyncGenerator[Sentence, None], turn: Turn, laps: Laps
) -> AsyncGenerator[Sentence, None]:
    """Write the reply into the turn while it passes."""
    async with aclosing(sentences):
        async for sentence in sentences:
            laps.reach(Stage.LLM_FIRST_SENTENCE)
            if not turn.reply and sentence.emotion is not None:
                turn.emotion = sentence.emotion
            turn.reply = join_sentences((turn.reply, sentence.text))
            yield sentence


async def timed(parts: AsyncGenerator[Part, None], laps: Laps) -> AsyncGenerator[Part, None]:
    """Note when the first sound passes."""
    async with aclosing(parts):
        async for part in parts:
            laps.reach(Stage.TTS_FIRST_AUDIO)
            yield part
