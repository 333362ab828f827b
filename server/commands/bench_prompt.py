"""`omoide bench prompt`: what the place of memory in a prompt is worth, in time to the first token over a talk.

What a model has read of one prompt it need not read again in the next that begins like it. Two layouts are compared: the
one that is used, and one in which what was recalled comes first; each with the same memory at every turn, with other facts
recalled, and after an update of the portrait and of the days, which stand before the talk.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import takewhile
from typing import Any, TypeAlias

import anyio

from server import llm
from server.commands.bench import WHO, with_embedded_engines
from server.commands.bench_facts import seed_facts
from server.commands.bench_sentences import SENTENCES
from server.commands.figures import describe_machine, percentile
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.errors import ConfigError
from server.memory import Page
from server.ports import Llm, LlmTraits, Usage
from server.prompting import PromptFiles, compose
from server.quoting import MOST_COMPACT_MEMORY_TOKENS, MOST_FACTS, estimate_tokens, memory_block
from server.turn import Decoding, Prompt, Recalled, RecalledDay, Recollection

TURNS = 6
NOTHING: Mapping[str, object] = {"language": "", "runs": [], "machine": {}, "error": None}

_BEGAN = datetime(2026, 11, 2, 18, tzinfo=UTC)
_BETWEEN_TURNS = timedelta(seconds=20)
_PATIENCE_SECONDS = 600.0
_ONE_TOKEN = Decoding(temperature=0.0, max_tokens=1)
_SPARE_TOKENS = 400
"""What a long prompt leaves free of the model's context: its length is only estimated."""

_ANSWERS = {
    "ja": "いいですね。もう少し聞かせてください。",
    "en": "That is nice. Tell me a little more.",
}
_PORTRAITS = {
    "ja": ("あなたの名前は花子。", "あなたは小学校の先生。", "あなたは犬より猫が好き。"),
    "en": ("Your name is Hanako.", "You teach science.", "You like cats better than dogs."),
}
_LEARNT = {
    "ja": ("あなたは朝が苦手。", "あなたの姉は仙台に住んでいる。", "あなたはそばが食べられない。", "あなたは山歩きが趣味。", "あなたは来年五十歳になる。"),
    "en": ("You are no early riser.", "Your sister lives in Leeds.", "You can't eat nuts.", "You hike a lot.", "You turn fifty next year."),
}  # fmt: skip
"""What the portrait gains, one line after the other."""
_DAYS = {
    "ja": ("引っ越しの準備と、猫の具合の話をした。", "猫は元気になったか"),
    "en": ("You talked about moving and about a cat that was ill.", "Is the cat well again?"),
}


class Update(StrEnum):
    """What of memory is another at every turn."""

    NOTHING = "the same"
    FACTS = "other facts"
    PORTRAIT = "other portrait, days"


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn of the scripted talk."""

    question: str
    recalled: Recollection
    history: Sequence[Page]
    now: datetime
    language: str
    traits: LlmTraits


def memory_last(files: PromptFiles, asked: Asked) -> Prompt:
    """Return the prompt as a conversation sends it: what was recalled stands right before the question."""
    return compose(
        files,
        question=asked.question,
        recalled=asked.recalled,
        history=asked.history,
        now=asked.now,
        language=asked.language,
        traits=asked.traits,
    )


def memory_first(files: PromptFiles, asked: Asked) -> Prompt:
    """Return the same prompt with what was recalled in front of everything else."""
    facts = asked.recalled.lines
    most = {"budget": MOST_COMPACT_MEMORY_TOKENS} if asked.traits.compact else {}
    rest = memory_last(files, replace(asked, recalled=replace(asked.recalled, lines=())))
    return replace(rest, system=memory_block(facts, **most).text + rest.system)


_UPDATES: Mapping[str, Sequence[Update]] = {
    "short": (Update.NOTHING, Update.FACTS),  # has no portrait and no days
    "long": tuple(Update),
}
"""What is measured of each length of prompt."""

Layout: TypeAlias = Callable[[PromptFiles, Asked], Prompt]
LAYOUTS: Mapping[str, Layout] = {"memory last": memory_last, "memory first": memory_first}


async def script_talk(
    language: str, traits: LlmTraits, history_turns: int, update: Update
) -> list[Asked]:
    """Return the turns of the talk, the same at every call.

    Args:
        language: Two-letter code, one of `SENTENCES`.
        traits: What the model can be asked.
        history_turns: How many exchanges a prompt holds.
        update: What of memory changes from turn to turn.
    """
    assert WHO.person is not None
    facts = [
        Recalled(fact.text, fact.said_at, 1.0, id=fact.id)
        for fact in await seed_facts(language, WHO.person, _BEGAN)
    ]
    talk, history = [], list[Page]()
    for number, question in enumerate(SENTENCES[language][:TURNS]):
        now = _BEGAN + number * _BETWEEN_TURNS
        first = MOST_FACTS * number if update is Update.FACTS else 0
        learnt = number if update is Update.PORTRAIT else 0
        recalled = replace(
            _primed(language, learnt), lines=tuple(facts[first : first + MOST_FACTS])
        )
        talk.append(Asked(question, recalled, tuple(history), now, language, traits))
        history.append(Page(question, _ANSWERS[language], now, language, id=str(number)))
        history = history[-history_turns:]
    return talk


def _primed(language: str, learnt: int) -> Recollection:
    """Return who the person is, with so many lines more than at first, and a day whose summary was renewed as often."""
    summary, follow_up = _DAYS[language]
    told = (f"{summary} {line}".strip() for line in ("", *_LEARNT[language]))
    yesterday = RecalledDay(_BEGAN.date() - timedelta(days=1), [*told][learnt], (follow_up,))
    return Recollection(
        portrait=(*_PORTRAITS[language], *_LEARNT[language][:learnt]), days=(yesterday,)
    )


def as_text(prompt: Prompt) -> str:
    """Return a prompt as a model reads it, but for the marks of its own template."""
    messages = (f"{message.role}: {message.content}\n" for message in prompt.messages)
    return f"{prompt.system}\n{''.join(messages)}"


def common_prefix_tokens(one: Prompt, other: Prompt) -> int:
    """Estimate with how many tokens two prompts begin alike."""
    pairs = zip(as_text(one), as_text(other), strict=False)
    alike = "".join(sign for sign, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return estimate_tokens(alike) if alike else 0


async def bench_prompt(place: Place, language: str, tell: Tell) -> Report:
    """Let the embedded model read the prompts of a talk in each layout; all turns but the first one count.

    Each talk has a model of its own, that has read nothing before. ``short`` prompts are what the embedded model is sent,
    ``long`` ones what a large model is sent: the same model reads them, as one of an endpoint in the house would.

    Args:
        place: Where model files are; an address in it is not used.
        language: Two-letter code, one of `SENTENCES`.
        tell: Told the figures.

    Raises:
        OmoideError: The engine is missing or fails.
    """
    if language not in SENTENCES:
        known = ", ".join(SENTENCES)
        raise ConfigError(f"No sentences in {language!r}. Possible: {known}.", "language-unknown")
    runs = [
        await _hold_talk(place, language, length, layout, update)
        for length, updates in _UPDATES.items()
        for layout in LAYOUTS
        for update in updates
    ]
    _tell_runs(runs, tell)
    return Report({**NOTHING, "language": language, "runs": runs, "machine": describe_machine()})


async def _hold_talk(
    place: Place, language: str, length: str, layout: str, update: Update
) -> Mapping[str, Any]:
    own = place.config.llm.embedded
    # The same prompts whatever speed the model was measured to have.
    budgets = {"short": own.most_prompt_tokens, "long": own.context_tokens - _SPARE_TOKENS}
    traits = LlmTraits(length == "short", budgets[length], local=True)
    talk = await script_talk(language, traits, place.config.history.turns, update)
    files = PromptFiles()
    prompts = [LAYOUTS[layout](files, asked) for asked in talk]
    async with _fresh_llm(place, language) as model:
        read = [await _first_token(model, prompt) for prompt in prompts][1:]
    waits = [ms for ms, _ in read]
    return {
        "prompt": length,
        "layout": layout,
        "updated": update is Update.FACTS,
        "portrait_updated": update is Update.PORTRAIT,
        "first_token_ms": waits,
        "first_token_ms_p50": percentile(waits, 50),
        "prompt_tokens": [usage.prompt_tokens for _, usage in read],
        "read_tokens": [usage.prompt_tokens - usage.cached_tokens for _, usage in read],
        "common_prefix_tokens": list(map(common_prefix_tokens, prompts, prompts[1:])),
    }


@asynccontextmanager
async def _fresh_llm(place: Place, language: str) -> AsyncIterator[Llm]:
    config = with_embedded_engines(place.config)
    seconds = dict.fromkeys(("first_token_seconds", "total_seconds"), _PATIENCE_SECONDS)
    patient = config.llm.model_copy(update=seconds)
    one_language = config.asr.model_copy(update={"languages": (language,)})
    own = config.model_copy(update={"llm": patient, "asr": one_language})
    model = place.engines.llm if place.engines else llm.build(own, place.data)
    await model.warm_up()
    try:
        yield model
    finally:
        await model.aclose()


async def _first_token(model: Llm, prompt: Prompt) -> tuple[float, Usage]:
    began = anyio.current_time()
    waited, usage = None, Usage(0, 0)
    async with aclosing(model.stream(replace(prompt, decoding=_ONE_TOKEN))) as events:
        async for event in events:
            waited = waited or round((anyio.current_time() - began) * 1000, 1)
            usage = event if isinstance(event, Usage) else usage
    return waited or 0.0, usage


def _tell_runs(runs: Sequence[Mapping[str, Any]], tell: Tell) -> None:
    tell(f"Time to the first token in turns 2 to {TURNS}, and how many tokens were read for it.")
    tell("alike: with how many tokens a prompt begins as the one before it did; the median.")
    heads = ["prompt", "layout", "memory", "tokens", "alike", "p50 ms"]
    turns = [f"turn {number}" for number in range(2, TURNS + 1)]
    rows = [[*heads, *turns]]
    for run in runs:
        each = zip(run["first_token_ms"], run["read_tokens"], strict=True)
        rows.append(
            [
                run["prompt"],
                run["layout"],
                _update_of(run),
                str(run["prompt_tokens"][-1]),
                f"{percentile(run['common_prefix_tokens'], 50):.0f}",
                f"{run['first_token_ms_p50']:.0f}",
                *(f"{ms:.0f} ({tokens})" for ms, tokens in each),
            ]
        )
    tell_table(rows, tell)


def _update_of(run: Mapping[str, Any]) -> Update:
    if run["portrait_updated"]:
        return Update.PORTRAIT
    return Update.FACTS if run["updated"] else Update.NOTHING
