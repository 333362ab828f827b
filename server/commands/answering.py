"""Answers of the configured language model from what memory found, scored as in the tables of the MemoryOS paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from server import llm
from server.commands.answer_prompts import SCALES, Material, answer, judge
from server.commands.answer_scores import bleu_1, token_f1
from server.commands.dialogue_memory import RememberedDialogue
from server.commands.dialogue_variants import Variant
from server.commands.evidence import ADVERSARIAL, CATEGORIES, Answered
from server.commands.reach import Place
from server.memory.wording import bare
from server.quoting import MOST_KNOWN

PAGES = 10
"""Exchanges that an answer is given from (the paper's top-k on LoCoMo)."""
JUDGED_PAGES = 5
"""The same where a model judges (the paper's on GVD)."""
RECENT_PAGES = 7
"""The last exchanges, which the paper's short-term memory holds."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and its points."""

    category: int
    points: dict[str, float] | None
    """None if the judge gave none."""


class Answering:
    """Asks the language model of the configuration."""

    def __init__(self, place: Place, *, is_judged: bool) -> None:
        self._llm = place.engines.llm if place.engines else llm.build(place.config, place.data)
        self._is_judged = is_judged
        self.pages = JUDGED_PAGES if is_judged else PAGES
        """Exchanges that an answer is given from."""

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._llm.name

    async def warm_up(self) -> None:
        """Make the model ready."""
        await self._llm.warm_up()

    async def aclose(self) -> None:
        """Let go of it."""
        await self._llm.aclose()

    async def answer_all(
        self, held: RememberedDialogue, variant: Variant, found: Sequence[Answered]
    ) -> list[Answer]:
        """Answer those questions that have a right answer: the adversarial ones of LoCoMo have none.

        Raises:
            LlmError: The model does not answer.
        """
        return [
            await self._answer(held, variant, one)
            for one in found
            if one.question.category != ADVERSARIAL
        ]

    async def _answer(self, held: RememberedDialogue, variant: Variant, one: Answered) -> Answer:
        dialogue, question = held.dialogue, one.question
        ids = dict.fromkeys(each.page for each in one.found.findings.candidates)
        recalled = [held.pages[id_] for id_ in [*ids][: self.pages]] if variant.has_pages else []
        earlier = [page for page in held.pages.values() if page.at <= question.asked_at]
        recent = [page for page in earlier[-RECENT_PAGES:] if page not in recalled]
        portrait: Sequence[str] = ()
        if variant.has_portrait:
            priming = await held.priming(question.asked_at)
            known = dict.fromkeys([*priming.standing, *priming.knowledge[:MOST_KNOWN]])
            portrait = (
                *priming.portrait(dialogue.language, {}),
                *(bare(fact.text) for fact in known),
            )
        given = await answer(
            self._llm,
            question,
            Material(recalled, recent, portrait),
            dialogue.language,
            dialogue.speakers,
        )
        if self._is_judged:
            points = await judge(
                self._llm, question, recalled, given, dialogue.language, dialogue.speakers
            )
        else:
            points = {
                "f1": token_f1(given, question.answer, dialogue.language),
                "bleu_1": bleu_1(given, question.answer, dialogue.language),
            }
        return Answer(question.category, points)


def figures_of(answers: Sequence[Answer]) -> dict[str, object]:
    """Return how many answers there are, their mean points, and those by category; what was not judged is counted apart."""
    judged = [one for one in answers if one.points is not None]
    figures: dict[str, object] = {"answers": len(answers), **_means(judged)}
    if any(name in figures for name in SCALES) or len(judged) < len(answers):
        figures["unjudged"] = len(answers) - len(judged)
    parts = {
        name: [one for one in judged if one.category == number]
        for number, name in CATEGORIES.items()
    }
    by_category = {name: _means(part) for name, part in parts.items() if part}
    return {**figures, "by_category": by_category} if by_category else figures


def _means(answers: Sequence[Answer]) -> dict[str, object]:
    rows = [one.points for one in answers if one.points is not None]
    names = list(rows[0]) if rows else []
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in names}
