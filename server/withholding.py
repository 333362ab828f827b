"""Keeps a language model that is too small to mean what it says from telling of deaths and violence that nobody spoke of."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from server.errors import LlmError
from server.memory.grave import grave_matters
from server.sentences import Sentence
from server.trace import mark
from server.turn import Happening

_FRIGHTENING = frozenset({"death", "wish_to_die", "violence"})
"""Of `lexicon/grave.yaml`: what nobody who lives alone should hear of their family from a machine that made it up."""


async def withhold_frightening(
    sentences: AsyncGenerator[Sentence, None], told: Iterable[str], language: str
) -> AsyncGenerator[Sentence, None]:
    """Pass a reply on up to the sentence that tells of a frightening matter that was not spoken of; the rest builds on it.

    Args:
        sentences: The reply.
        told: What the person said, and what came to mind for it.
        language: Two-letter code of the reply.

    Raises:
        LlmError: ``llm-withheld``: nothing of the reply is left.
    """
    spoken_of = frozenset[str]().union(*(grave_matters(text, language) for text in told))
    has_begun = False
    async with aclosing(sentences):
        async for sentence in sentences:
            if (grave_matters(sentence.text, language) & _FRIGHTENING) - spoken_of:
                mark(Happening.REPLY_CUT)
                break
            has_begun = True
            yield sentence
        else:
            return
    if not has_begun:
        raise LlmError(
            "llm-withheld",
            "The model told of a death or of violence that nobody had spoken of. A larger one is less likely to: see llm.openai.",
        )
