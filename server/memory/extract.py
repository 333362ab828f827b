"""From pages to facts and all else that is kept: by a language model that is checked, or by rules on the person's own words.

A model only proposes. What becomes a fact about a person has a quote that the person really said, is about the person's
life, and holds no name or number that was not spoken.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from string import Template
from typing import Protocol

import structlog
from anyio import to_thread

from server.config import PersonaSection
from server.config_persona import Lock
from server.errors import OmoideError
from server.memory import checks
from server.memory.answer_forms import EXTRACT, PORTRAIT, Form
from server.memory.answers import Answer, read_answer, read_portrait
from server.memory.background import TEMPERATURES, ask
from server.memory.claims import Refusal
from server.memory.corrections import without_correction
from server.memory.facts import check, check_of_agent, event_days, make_fact
from server.memory.harvest import Harvest
from server.memory.kinds import kind_of
from server.memory.layers.persona import Persona
from server.memory.layers.requests import without_requests
from server.memory.layers.sorting_out import MISFILED, sorted_out, tells_of_persona
from server.memory.models import Fact, Origin, Page, Trait
from server.memory.self_reports import self_reports
from server.memory.statements import statements
from server.memory.terms import TELLING
from server.memory.traits import load_dimensions
from server.memory.wording import plain_analysis, quoted
from server.ports import Llm

log = structlog.get_logger(__name__)

AGENT = PersonaSection().name
"""What the robot is called where the configuration does not say otherwise."""
_MOST_TOKENS = 1_600
_ALWAYS_TELLING = {"allergy", "illness", "medicine", "pet", "death"}
"""Notions of which whatever is told says something."""
_KNOWN = {"ja": "これまでにわかっていること", "zh": "已知特点"}


class Prompts(Protocol):
    """The texts that the model is instructed with, and what they say of the robot."""

    persona: Callable[[], Persona]

    def in_language(self, stem: str, language: str) -> str:
        """Return the text of a prompt file in a language."""

    def text(self, name: str) -> str:
        """Return the text of a file."""


class Extractor(Protocol):
    """Draws facts, and what else is kept, from pages."""

    @property
    def gives_way(self) -> bool:
        """Whether its work makes an answer slower, so that it has to stop when somebody talks."""

    @property
    def asks_a_model(self) -> bool:
        """Whether a call costs something, so that it pays to wait until there is more to draw from."""

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        """Return what is in `pages`, which belong to one person and follow each other.

        Args:
            pages: Oldest first; at least one.
            attempt: How often these pages have been tried in vain.

        Raises:
            OmoideError: Nothing could be drawn this time; the pages are to be tried again later.
        """

    async def portray(
        self, pages: Sequence[Page], known: Sequence[Trait], attempt: int
    ) -> Harvest | None:
        """Return what `pages` of one topic show of the person as a whole: profile, traits, and what the agent did.

        None if it can't tell what a person is like: the pages stay unread.

        Args:
            pages: Those that the profile has not been updated from yet, oldest first; at least one.
            known: The traits of the person so far.
            attempt: How often these pages have been tried in vain.

        Raises:
            OmoideError: As `extract`.
        """


class RulesExtractor:
    """Keeps the person's own statements as they were said: needs no model and invents nothing."""

    gives_way = False
    asks_a_model = False

    def __init__(self, week_start: int = 0) -> None:
        self._week_start = week_start

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        """Return one quoted, dated fact for every statement, and what the person said for the profile in a sure form."""
        return await to_thread.run_sync(self._drawn, pages)

    async def portray(
        self, pages: Sequence[Page], known: Sequence[Trait], attempt: int
    ) -> Harvest | None:
        """Return None: what a person is like can't be told by rules."""
        return None

    def stated_in(self, page: Page) -> list[Fact]:
        """Return one quoted, dated fact for every statement in one exchange. Blocks."""
        return [
            self._fact(page, sentence)
            for sentence in statements(page.said, page.language)
            if _stands_alone(sentence, page.language)
            and not says_who_the_robot_is(sentence, page.language)
        ]

    def _drawn(self, pages: Sequence[Page]) -> Harvest:
        facts = [fact for page in pages for fact in self.stated_in(page)]
        profile = self_reports(pages[0]) if pages else []
        for before, page in pairwise(pages):
            profile += self_reports(page, asked=before.heard)
        misfiled = sum(
            says_who_the_robot_is(sentence, page.language)
            for page in pages
            for sentence in statements(page.said, page.language)
        )
        left_out = {MISFILED: misfiled} if misfiled else {}
        return Harvest(facts=tuple(facts), profile=tuple(profile), misfiled=left_out)

    def _fact(self, page: Page, sentence: str) -> Fact:
        days = event_days(sentence, page.language, page.at, self._week_start)
        told = without_correction(sentence)
        kind = kind_of(told, page.language, page.at.date(), days)
        text = quoted(told, page.language)
        return make_fact(page, text, sentence, Origin.RULES, self._week_start, kind=kind)


class ModelExtractor:
    """Lets a language model write everything, and checks every piece of it against what was said.

    Args:
        llm: The model.
        prompts: Holds ``extract``, ``portrait`` and ``traits.yaml``.
        week_start: First day of the week, 0 for Monday.
        agent: Name of the robot, as it stands in facts about it.
        heeds_signs: Whether danger signs become events.
    """

    asks_a_model = True

    def __init__(
        self,
        llm: Llm,
        prompts: Prompts,
        week_start: int = 0,
        agent: str = AGENT,
        *,
        heeds_signs: bool = True,
    ) -> None:
        self._llm = llm
        self._heeds_signs = heeds_signs
        self._prompts = prompts
        self._week_start = week_start
        self._agent = agent

    @property
    def gives_way(self) -> bool:
        """Whether the model is one of the house; a service far away answers and draws facts at the same time."""
        return self._llm.traits("en").local

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        """Ask the model once; see `Extractor.extract`."""
        system = self._instruction("extract", pages)
        answer = read_answer(
            await self._ask(EXTRACT, system, dialogue(pages), pages, attempt), system
        )
        if answer.cut and attempt < len(TEMPERATURES) - 1:
            raise OmoideError("extraction-malformed", "The model's answer was cut off.")
        return await to_thread.run_sync(self._checked, answer, pages)

    async def portray(self, pages: Sequence[Page], known: Sequence[Trait], attempt: int) -> Harvest:
        """Ask the model once; see `Extractor.portray`."""
        talk = f"{_known_traits(known, pages[-1].language)}{dialogue(pages)}"
        system = self._instruction("portrait", pages)
        answer = read_portrait(await self._ask(PORTRAIT, system, talk, pages, attempt), system)
        return await to_thread.run_sync(self._checked, answer, pages)

    def _checked(self, answer: Answer, pages: Sequence[Page]) -> Harvest:
        """Return what may be kept. Blocks.

        Raises:
            OmoideError: ``extraction-malformed``: nothing of all that the model wrote as facts was said.
        """
        drafts = [one for one in answer.facts if not tells_of_persona(one.text, one.quote)]
        checked = [check(draft, pages, self._week_start) for draft in drafts]
        told = [one for one in checked if isinstance(one, Fact)]
        refused = Counter(one.value for one in checked if isinstance(one, Refusal))
        if refused:
            log.info("facts-refused", kept=len(told), reasons=dict(refused))
        if drafts and not told:
            raise OmoideError("extraction-malformed", "The model wrote nothing that was said.")
        of_agent = [
            fact
            for draft in answer.agent
            if (fact := check_of_agent(draft, pages, self._agent, self._week_start))
        ]
        done = [
            fact for fact in of_agent if not tells_of_persona(fact.text, fact.quote, self._agent)
        ]
        asked, left_out = sorted_out(answer.persona, pages)
        left_out[MISFILED] += len(answer.facts) - len(drafts) + len(of_agent) - len(done)
        language = pages[-1].language
        harvest = Harvest(
            facts=(*told, *done),
            topics=checks.checked_topics(answer.topics, pages, language),
            continued=checks.checked_continued(answer.continues, pages),
            chain_summary=checks.checked_summary(answer.chain, pages, language),
            profile=checks.checked_profile(answer.profile, pages),
            traits=checks.checked_traits(answer.traits, pages, self._dimensions()),
            notes=checks.checked_notes(answer.notes, pages),
            events=checks.checked_events(answer.notes, pages) if self._heeds_signs else (),
            persona=asked,
            misfiled=+left_out,
        )
        _log_left_out(answer, harvest)
        return harvest

    def _dimensions(self) -> Sequence[str]:
        return [*load_dimensions(self._prompts)]

    def _instruction(self, stem: str, pages: Sequence[Page]) -> str:
        instruction = Template(self._prompts.in_language(stem, pages[-1].language))
        dimensions = ", ".join(self._dimensions())
        fields = self._prompts.persona().fields
        changeable = (key for key, held in fields.items() if held.lock is not Lock.LOCKED)
        return instruction.safe_substitute(
            agent=self._agent, dimensions=dimensions, persona_fields=", ".join(changeable) or "-"
        )

    async def _ask(
        self, form: Form, system: str, talk: str, pages: Sequence[Page], attempt: int
    ) -> str:
        return await ask(
            self._llm,
            system,
            talk,
            pages[-1].language,
            attempt,
            schema=form.schema(self._dimensions()),
            most_tokens=_MOST_TOKENS,
            code="extraction-malformed",
        )


def _stands_alone(sentence: str, language: str) -> bool:
    """Say whether a sentence still means something without those around it: "I want to go again" does not.

    What it is about may be one Chinese character, which is no term: 我对虾过敏.
    """
    meaning = plain_analysis(sentence, language)
    is_of_body = language == "zh" and not meaning.notions.isdisjoint(_ALWAYS_TELLING)
    return is_of_body or any(term.weight >= TELLING for term in meaning.terms)


def dialogue(pages: Sequence[Page]) -> str:
    """Write the talk down for the model. What had been recalled is not in it: it would be drawn again."""
    names = {"ja": ("話し手", "ロボット"), "zh": ("说话人", "机器人")}
    speaker, robot = names.get(pages[-1].language, ("Speaker", "Robot"))
    return "\n".join(
        f"[{number}] {page.at:%Y-%m-%d %H:%M}\n{speaker}: {page.said}\n{robot}: {page.heard}"
        for number, page in enumerate(pages, start=1)
    )


def says_who_the_robot_is(sentence: str, language: str) -> bool:
    """Say whether a sentence asks for a change of the persona and tells nothing else."""
    rest = without_requests(sentence)
    return rest != sentence and not _stands_alone(rest, language)


def _known_traits(known: Sequence[Trait], language: str) -> str:
    """Write down what is known, in the words of the answer; nothing if nothing is."""
    if not known:
        return ""
    levels = ", ".join(f"{trait.dimension}: {trait.level}" for trait in known)
    return f"{_KNOWN.get(language, 'Known so far')}: {levels}\n\n"


def _log_left_out(answer: Answer, harvest: Harvest) -> None:
    """Tell how much of an answer could not be read or may not be kept: numbers only."""
    left_out = Counter(answer.unreadable)
    left_out["agent"] += len(answer.agent) - sum(bool(fact.about) for fact in harvest.facts)
    for part in ("topics", "profile", "traits", "notes"):
        left_out[part] += len(getattr(answer, part)) - len(getattr(harvest, part))
    counts = {part: count for part, count in left_out.items() if count}
    if counts:
        log.info("extraction-left-out", **counts)
