"""One attempt at a reply: from a prompt to the sentences that the model makes of it."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from server.config import Config
from server.ports import Llm, TextDelta, Usage
from server.sentences import Sentence, limit_length, notice_pauses, split_sentences
from server.trace import Laps
from server.turn import Prompt, Stage, Turn
from server.withholding import withhold_frightening


@asynccontextmanager
async def thinking(
    llm: Llm, prompt: Prompt, turn: Turn, laps: Laps, config: Config
) -> AsyncIterator[AsyncGenerator[Sentence, None]]:
    """Ask the model, and offer its sentences as they come; leaving the block stops it.

    Args:
        llm: The model.
        prompt: What it is asked.
        turn: Told what the model was shown and how many tokens it took.
        laps: Of the turn.
        config: How replies are cut into sentences.
    """
    tokens = limit_length(_tokens(llm, prompt, turn, laps))
    async with notice_pauses(tokens, config.sentences.idle_flush_seconds) as pieces:
        sentences = cut(pieces, prompt.language, config)
        if llm.traits(prompt.language).compact:
            told = (turn.query, *(line.text for line in turn.recalled.lines))
            sentences = withhold_frightening(sentences, told, prompt.language)
        async with aclosing(sentences):
            yield sentences


def cut(
    tokens: AsyncIterator[str | None], language: str, config: Config
) -> AsyncGenerator[Sentence, None]:
    """Cut what a model writes, or what is to be said anyway, into sentences as the configuration has it."""
    return split_sentences(
        tokens,
        language=language,
        readings=config.tts.readings,
        max_chars=config.sentences.max_chars,
        first_piece_chars=config.sentences.first_piece_chars,
        max_reply_chars=config.sentences.max_reply_chars,
    )


async def _tokens(llm: Llm, prompt: Prompt, turn: Turn, laps: Laps) -> AsyncGenerator[str, None]:
    turn.told = tuple(dict.fromkeys((*turn.told, *prompt.told)))
    async with aclosing(llm.stream(prompt)) as events:
        async for event in events:
            match event:
                case TextDelta(text):
                    laps.reach(Stage.LLM_FIRST_TOKEN)
                    yield text
                case Usage():
                    turn.prompt_tokens += event.prompt_tokens
                    turn.completion_tokens += event.completion_tokens
