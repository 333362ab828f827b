"""Checks a sentence before it is spoken against what is known for certain. Pure: no clock, no I/O."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from server.guard.assent import Sought, assents, sought_in
from server.guard.contradictions import Stated, contradicted, stated_in, stays_up
from server.guard.danger import plays_down, signs_in
from server.guard.foods import Forbidden, allergens_in, forbidden_by, offered
from server.guard.hits import Hit, HitKind
from server.guard.lines import Spoken, read_line, spoken
from server.guard.losses import Loss, losses_of, spoken_of_as_living, without_living
from server.guard.orders import calls_so, names_in
from server.guard.persona import Persona, leaves_persona
from server.guard.promises import confirms_unheard_allergy, promises_to_remember
from server.guard.topics import Topic, brought_up, topics_of
from server.memory.safety.models import SignalKind
from server.memory.standing import StandingKind, read_matter
from server.memory.statements import statements
from server.turn import Recalled, Recollection

ALL_KINDS = frozenset(HitKind)


@dataclass(frozen=True, slots=True)
class HardFacts:
    """What no sentence of one reply may go against."""

    question: str = ""
    """What the person said."""
    now: datetime | None = None
    """In the person's zone."""
    forbidden: tuple[Forbidden, ...] = ()
    sought: Sought | None = None
    """What of it the person asks for."""
    losses: tuple[Loss, ...] = ()
    stated: tuple[Stated, ...] = ()
    topics: tuple[Topic, ...] = ()
    allergens: frozenset[str] | None = None
    """Groups of `lexicon/foods.yaml` that memory speaks of; None if memory has not come, so nothing follows from it."""
    dangers: frozenset[SignalKind] = frozenset()
    """Of what danger signs the person has just told."""
    unagreed: tuple[str, ...] = ()
    """Names by which an order that nobody has agreed to bids to call the person."""
    unkept: str = ""
    """Why nothing of this turn will be remembered; empty if it will."""
    persona: Persona = field(default_factory=Persona)


def gather(
    recalled: Recollection,
    question: str,
    language: str,
    *,
    now: datetime | None = None,
    unkept: str = "",
    unagreed: Sequence[str] = (),
    persona: Persona | None = None,
) -> HardFacts:
    """Read what memory offers for a turn, once, before its first sentence.

    Args:
        recalled: What stands counts, and what was recalled with a time or a number.
        question: What the person said.
        language: Two-letter code of it.
        now: In the person's zone.
        unkept: See `HardFacts.unkept`.
        unagreed: Orders in the question that nobody has agreed to.
        persona: What is fixed of the robot itself.
    """
    just_told = _just_told(question, language, now)
    told = _once((*recalled.standing, *recalled.lines, *recalled.knowledge, *just_told))
    read = {one.id or one.text: _read(one.id, one.text, language) for one in told if not one.about}
    losses = [loss for each in read.values() for loss in each.losses]
    mourning = {loss.fact for loss in losses}
    others = [(one.text, one.at) for one in told if one.id not in mourning]
    forbidden = tuple(one for each in read.values() for one in each.forbidden)
    return HardFacts(
        question=question,
        now=now,
        forbidden=forbidden,
        sought=sought_in(question, language, forbidden),
        losses=without_living(losses, others, {one.id: one.at for one in told}),
        stated=tuple(one for each in read.values() for one in each.stated),
        topics=tuple(one for each in read.values() for one in each.topics),
        allergens=_spoken_of(recalled, told, language),
        dangers=signs_in(question, language, now),
        unagreed=names_in(unagreed, language),
        unkept=unkept,
        persona=persona or Persona(),
    )


def check(
    sentence: str,
    facts: HardFacts,
    language: str,
    *,
    said: str = "",
    kinds: frozenset[HitKind] = ALL_KINDS,
) -> Hit | None:
    """Return why a sentence must not be spoken; None if it may.

    Args:
        sentence: Of the robot; a whole one is judged best.
        facts: Of the turn.
        language: Two-letter code; the script of the sentence wins where they disagree.
        said: What the reply has said before it.
        kinds: What is looked for.
    """
    read = spoken(sentence, language, facts.question, said)
    return next((hit for hit in _hits(read, facts) if hit.kind in kinds), None)


def warm_up() -> None:
    """Read the expressions of all languages, so that no reply waits for it. Blocks for about a second."""
    long_ago = datetime.fromtimestamp(0, UTC)
    for language, (allergy, loss, bedtime, sentence) in _FIRST.items():
        told = (Recalled(text, long_ago, 1.0, {}, text) for text in (allergy, loss, bedtime))
        facts = gather(Recollection(standing=tuple(told)), sentence, language, now=long_ago)
        check(sentence, facts, language)


_FIRST = {
    "ja": ("私は卵アレルギーです。", "妹が亡くなった。", "11時までに寝るのが目標だ。", "妹と卵を食べて11時に寝ます。"),
    "en": ("I am allergic to eggs.", "My sister died.", "I want to be in bed by 11pm.", "Your sister eats eggs in bed at 11."),
    "zh": ("我对鸡蛋过敏。", "我妹妹去世了。", "我想十一点之前睡觉。", "你妹妹十一点睡前吃鸡蛋。"),
}  # fmt: skip
"""Facts and a sentence that bring every rule to work."""


def _hits(sentence: Spoken, facts: HardFacts) -> Iterator[Hit]:
    for kind, ids in _of_facts(sentence, facts):
        if ids:
            yield Hit(kind, ids)
    for kind, is_so in _of_robot(sentence, facts):
        if is_so:
            yield Hit(kind)


def _of_facts(sentence: Spoken, facts: HardFacts) -> Iterator[tuple[HitKind, tuple[str, ...]]]:
    """Yield the facts that a sentence goes against, by kind."""
    yield HitKind.FOOD, _ids(offered(sentence, facts.forbidden))
    if facts.sought and assents(sentence, facts.sought):
        yield HitKind.FOOD, (facts.sought.fact,)
    yield HitKind.LOSS, _ids(spoken_of_as_living(sentence, facts.losses))
    yield HitKind.FIGURE, contradicted(sentence, facts.stated, facts.now)
    yield HitKind.GOAL, _ids(stays_up(sentence, facts.stated, facts.now))
    yield HitKind.TOPIC, _ids(brought_up(sentence, facts.topics))


def _of_robot(sentence: Spoken, facts: HardFacts) -> Iterator[tuple[HitKind, bool]]:
    """Yield what a sentence says amiss of the robot itself, by kind."""
    yield HitKind.PROMISE, bool(facts.unkept) and promises_to_remember(sentence)
    yield HitKind.PERSONA, leaves_persona(sentence, facts.persona)
    yield HitKind.DANGER, bool(facts.dangers) and plays_down(sentence)
    yield HitKind.ORDER, calls_so(sentence, facts.unagreed)
    known = facts.allergens
    yield HitKind.CLAIM, known is not None and confirms_unheard_allergy(sentence, known)


def _ids(fact: str | None) -> tuple[str, ...]:
    return () if fact is None else (fact,)


def _just_told(question: str, language: str, now: datetime | None) -> list[Recalled]:
    """Return what the person says in this very turn that must not be gone against."""
    at = now or datetime.fromtimestamp(0, UTC)
    return [
        Recalled(sentence, at, 1.0)
        for sentence in statements(question, language)
        if (matter := read_matter(sentence, language)) is not None and matter.kind in _AT_ONCE
    ]


_AT_ONCE = frozenset({StandingKind.ALLERGY, StandingKind.BEREAVEMENT, StandingKind.DIET})


def _once(lines: Sequence[Recalled]) -> list[Recalled]:
    known: dict[str, Recalled] = {}
    for line in lines:
        known.setdefault(line.id or line.text, line)
    return [*known.values()]


def _spoken_of(
    recalled: Recollection, told: Sequence[Recalled], language: str
) -> frozenset[str] | None:
    """Return what food memory speaks of, however it came up: of what nobody named, nobody is allergic to it."""
    if recalled.missed:
        return None
    texts = [line.text for line in told]
    texts += [page.said for page in recalled.pages]
    texts += [day.text for day in recalled.days]
    texts += recalled.portrait
    return frozenset(group for text in texts for group in allergens_in(text, language))


@dataclass(frozen=True, slots=True)
class _Read:
    """What one fact says that counts."""

    forbidden: tuple[Forbidden, ...]
    losses: tuple[Loss, ...]
    stated: tuple[Stated, ...]
    topics: tuple[Topic, ...]


@lru_cache(maxsize=4_000)
def _read(id_: str, text: str, language: str) -> _Read:
    """Read a fact; what was read is kept, as most facts are offered turn after turn."""
    line = read_line(id_, text, language)
    return _Read(
        tuple(forbidden_by(line)),
        tuple(losses_of(line)),
        tuple(stated_in(line)),
        tuple(topics_of(line)),
    )
