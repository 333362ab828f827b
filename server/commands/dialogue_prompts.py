"""What a prompt holds for the questions about a dialogue, with long-term memory and without: how much of the evidence, and the answer.

Long-term memory holds no turns, so it shows nowhere in how turns are ranked: it is the facts that come to mind, what
stands, and who the person is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from server.clock import SystemClock
from server.commands.answer_scores import tokens_of
from server.commands.dialogue_memory import PATIENCE_SECONDS, KnownVectors, RememberedDialogue
from server.commands.dialogues import DialogueQuestion
from server.commands.evidence import ADVERSARIAL
from server.config import Config, IndexSection
from server.memory.extract import RulesExtractor
from server.memory.lines import Role
from server.memory.opening import open_memory
from server.memory.priming import Priming
from server.memory.speakers import Speakers, in_first_person
from server.ports import LlmTraits
from server.prompting import PromptFiles, compose
from server.quoting import estimate_tokens
from server.turn import Prompt, Recollection

PARTS: Mapping[str, Callable[[Recollection], Recollection]] = {
    "full": lambda recalled: recalled,
    "no LPM": lambda recalled: replace(recalled, lines=(), standing=(), portrait=(), knowledge=()),
    "LPM alone": lambda recalled: replace(recalled, pages=()),
}
"""What of memory a prompt is made with."""
_BLOCK = re.compile(
    r"<(standing_facts|retrieved_memory|earlier_talk|about_the_person|recent_days)>\n.*?</\1>\n?",
    re.DOTALL,
)

_BEGINNING = 100
"""Characters by which a line of a portrait is known: the end of a long one is left out."""


@dataclass(frozen=True, slots=True)
class Held:
    """What one prompt holds for a question."""

    evidence: float
    """Share of its turns that are told word for word, or that something told was drawn from."""
    has_answer: bool | None
    """Whether every word of the right answer stands there; None if there is none."""
    tokens: int
    """Of memory."""


async def look_into_prompts(
    held: RememberedDialogue,
    config: Config,
    embedder: KnownVectors,
    questions: Sequence[DialogueQuestion],
) -> dict[str, list[Held]]:
    """Return by `PARTS` what the prompts hold in which a large model would be asked the questions.

    Questions are put as the person would put them. Those that are asked before the dialogue ends are left out: facts and
    portrait are those of its end.

    Raises:
        OmoideError: The store, the index or the embedder fails.
    """
    dialogue, section = held.dialogue, config.retrieval
    person = Speakers(dialogue.speakers.person)
    agent = dialogue.speakers.other[0] if dialogue.speakers.other else config.persona.name
    patience = dict.fromkeys(("deadline_seconds", "embed_timeout_seconds"), PATIENCE_SECONDS)
    own = config.model_copy(
        update={
            "retrieval": section.model_copy(update=patience),
            "persona": config.persona.model_copy(update={"name": agent}),
            "index": IndexSection(),
        }
    )
    clock = SystemClock(config.server.timezone)
    memory = open_memory(own, held.folder, embedder, RulesExtractor(), clock)
    looks = _Looks(
        held, await held.priming(dialogue.utterances[-1].at), config.llm.openai.prompt_budget_tokens
    )
    found: dict[str, list[Held]] = {name: [] for name in PARTS}
    try:
        await memory.catch_up()
        for question in questions:
            if question.asked_at < dialogue.utterances[-1].at:
                continue
            asked = in_first_person(question.text, dialogue.language, person)
            recalled = await memory.recall(
                dialogue.name, asked, dialogue.language, question.asked_at
            )
            for name, part in PARTS.items():
                found[name].append(looks.of(question, asked, part(recalled)))
    finally:
        memory.close()
    return found


class _Looks:
    """Looks into the prompts about one dialogue."""

    def __init__(self, held: RememberedDialogue, priming: Priming, budget: int) -> None:
        self._held = held
        self._priming = priming
        self._traits = LlmTraits(compact=False, prompt_budget_tokens=budget, local=False)
        self._files = PromptFiles()

    def of(self, question: DialogueQuestion, asked: str, recalled: Recollection) -> Held:
        """Return what the prompt holds that is made with this."""
        language = self._held.dialogue.language
        prompt = compose(
            self._files,
            question=asked,
            recalled=recalled,
            history=(),
            now=question.asked_at,
            language=language,
            traits=self._traits,
        )
        whole = "\n".join((prompt.system, *(message.content for message in prompt.messages)))
        text = "".join(block[0] for block in _BLOCK.finditer(whole))
        turns = self._turns(prompt, recalled)
        return Held(
            len(question.evidence & turns) / len(question.evidence),
            _has_answer(question, text, language),
            estimate_tokens(text) if text else 0,
        )

    def _turns(self, prompt: Prompt, recalled: Recollection) -> set[str]:
        """Return the turns that stand in a prompt."""
        told = set(prompt.told)
        facts = (*recalled.lines, *recalled.standing)
        sources = {page for line in facts if line.id in told for page in line.sources}
        portrayed = [(entry.value, entry.sources) for entry in self._priming.profile]
        portrayed += [(line.text, line.sources) for line in recalled.knowledge]
        if recalled.portrait or recalled.knowledge:
            sources |= {
                page
                for line, pages in portrayed
                if line[:_BEGINNING] in prompt.system
                for page in pages
            }
        words = {turn for (page, _), turn in self._held.turns.items() if page in told}
        return words | {
            turn
            for (page, role), turn in self._held.turns.items()
            if page in sources and role == Role.SAID
        }


def _has_answer(question: DialogueQuestion, text: str, language: str) -> bool | None:
    wanted = tokens_of(question.answer, language)
    if question.category == ADVERSARIAL or not wanted:
        return None
    there = tokens_of(text, language)
    if language in ("ja", "zh"):  # single signs are everywhere
        return "".join(wanted) in "".join(there)
    return set(wanted) <= set(there)


def figures_of(held: Sequence[Held]) -> dict[str, object]:
    """Return how much of the evidence the prompts hold, in how many the answer stands, and how long memory is in them."""
    answers = [one.has_answer for one in held if one.has_answer is not None]
    return {
        "questions": len(held),
        "evidence_in_prompt": _mean([one.evidence for one in held], 4),
        "answer_in_prompt": _mean([float(one) for one in answers], 4),
        "memory_tokens": _mean([float(one.tokens) for one in held], 1),
    }


def _mean(values: Sequence[float], digits: int) -> float | None:
    return round(float(np.mean(values)), digits) if values else None
