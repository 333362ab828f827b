"""A call of the language model in the background, whose answer is JSON: behind everybody who talks, and never without end."""

from contextlib import aclosing

from server.errors import OmoideError
from server.ports import Llm, TextDelta
from server.turn import AnswerSchema, Decoding, Message, Prompt

TEMPERATURES = (0.0, 0.4, 0.8)
"""By attempt: the same decoding that failed once never recovers."""
MOST_CHARS_PER_TOKEN = 12
"""A model that has written more than that for each token that it may write heeds no limit: it is in a loop."""


async def ask(
    llm: Llm,
    system: str,
    talk: str,
    language: str,
    attempt: int,
    *,
    schema: AnswerSchema,
    most_tokens: int,
    code: str,
) -> str:
    """Return all that a model writes.

    Args:
        llm: The model.
        system: What it is told to do.
        talk: What it is to look at.
        language: Two-letter code of both.
        attempt: How often this has been tried in vain.
        schema: Of the answer; not every model holds to it.
        most_tokens: How long the answer may be.
        code: Of the error, if it does not end.

    Raises:
        OmoideError: `code`, or the model failed.
    """
    temperature = TEMPERATURES[min(attempt, len(TEMPERATURES) - 1)]
    decoding = Decoding(temperature, most_tokens, background=True, schema=schema)
    prompt = Prompt(system, (Message("user", talk),), language, decoding)
    answer = ""
    async with aclosing(llm.stream(prompt)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                answer += event.text
            if len(answer) > MOST_CHARS_PER_TOKEN * most_tokens:
                raise OmoideError(code, "The model's answer does not end.")
    return answer
