"""How well pages are ranked by weights that were learnt from the other dialogues of the same set. Such weights are never kept."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from anyio import to_thread

from server.commands.calibrate_pages import Asked, ask_own, learn
from server.commands.dialogue_memory import KnownVectors, RememberedDialogue, remembered
from server.commands.dialogues import Dialogue, DialogueQuestion
from server.commands.evidence import Answered
from server.config import Config, RetrievalSection
from server.errors import ConfigError

FITTED = "fitted, one conversation left out"


def refuse_few(dialogues: Sequence[Dialogue]) -> None:
    """Refuse a set in which too few dialogues have questions to learn from the others.

    Raises:
        ConfigError: ``dialogues-few``.
    """
    usable = sum(any(one.evidence for one in dialogue.questions) for dialogue in dialogues)
    if usable < 2:
        raise ConfigError(
            f"A fit on all dialogues but one needs at least two that have questions with evidence; here are {usable}.",
            "dialogues-few",
        )


async def ask_fitted(
    asked: Sequence[tuple[Dialogue, Sequence[DialogueQuestion]]],
    config: Config,
    embedder: KnownVectors,
) -> list[Answered]:
    """Ask each dialogue by weights that were learnt, as `omoide calibrate-pages` does, from all the others.

    Args:
        asked: Dialogues, and which of their questions are learnt from and asked: ones with evidence.
        config: Retrieval, extraction, segments and history are taken from it, but no weights.
        embedder: Makes vectors.
    """
    section = config.retrieval
    async with AsyncExitStack() as stores:
        held: list[tuple[RememberedDialogue, Sequence[DialogueQuestion]]] = []
        lessons: dict[int, list[Asked]] = {}
        for place, (dialogue, questions) in enumerate(asked):
            one = await stores.enter_async_context(remembered(dialogue, config, embedder))
            held.append((one, questions))
            lessons[place] = await ask_own(one, questions, section)
        found: list[Answered] = []
        for place, (one, questions) in enumerate(held):
            found += await _ask_by_the_others(one, questions, lessons, place, section)
    return found


async def _ask_by_the_others(
    held: RememberedDialogue,
    questions: Sequence[DialogueQuestion],
    lessons: Mapping[int, Sequence[Asked]],
    left_out: int,
    section: RetrievalSection,
) -> list[Answered]:
    others = [each for place, some in lessons.items() if place != left_out for each in some]
    weights = await to_thread.run_sync(learn, others, FITTED)
    memory = held.ranked_by(weights, section)
    return [Answered(held.dialogue, one, await memory.ask(one)) for one in questions]
