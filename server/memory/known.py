"""What is known of a person and may be told to them aloud: neither losses nor what is not to be mentioned, as trivia."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from anyio import to_thread

from server.config import FadingSection
from server.memory.fading import has_faded
from server.memory.grave import grave_matters
from server.memory.knowledge import knowledge
from server.memory.lately import Lately
from server.memory.models import Fact
from server.memory.selecting import Selector, select
from server.memory.standing import StandingKind, standing_kind
from server.memory.store import Store
from server.memory.writer import Writer

_UNTOLD = frozenset({"death", "wish_to_die", "violence", "sex", "crime"})
"""Groups of `lexicon/grave.yaml` of which nobody is told in passing."""


@dataclass(frozen=True, slots=True)
class Known:
    """Facts of a person, as far as they are asked for."""

    facts: tuple[Fact, ...] = ()
    """That may be told, the most lasting first."""
    silent: tuple[Fact, ...] = ()
    """What asks not to be mentioned."""
    losses: tuple[Fact, ...] = ()


class Knowing:
    """Looks into the store, and into what waits for facts to be drawn from it."""

    def __init__(self, store: Store, writer: Writer, lately: Lately, fading: FadingSection) -> None:
        """Say where it is looked.

        Args:
            store: Keeps the facts.
            writer: Is waited for: what was said a moment ago counts, too.
            lately: Reads what was said since by rules.
            fading: When a fact is known no longer.
        """
        self._store = store
        self._writer = writer
        self._lately = lately
        self._fading = fading

    async def of(self, person: str, now: datetime, words: str = "", language: str = "") -> Known:
        """Return what is known of a person.

        Args:
            person: Whose memory.
            now: Aware.
            words: What it has to be about, found as it is for forgetting; empty for all.
            language: Two-letter code of the words.

        Raises:
            StoreError: The store can't be read.
        """
        await self._writer.settle()
        read = partial(self._of, person, now, words, language)
        return await to_thread.run_sync(read, abandon_on_cancel=True)

    def _of(self, person: str, now: datetime, words: str, language: str) -> Known:
        drawn = self._store.facts_of(person)
        held = [fact for fact in drawn if fact.current and not has_faded(fact, now, self._fading)]
        sources = {page for fact in drawn for page in fact.sources}
        waiting = self._lately.facts(person, now)
        held += [fact for fact in waiting if sources.isdisjoint(fact.sources)]
        silent = [fact for fact in held if standing_kind(fact) is StandingKind.DO_NOT_MENTION]
        if words:
            held = self._about(held, person, words, language)
        told = [fact for fact in held if not fact.about and not _is_grave(fact)]
        first = knowledge(told, len(told))
        ids = {fact.id for fact in first}
        rest = [fact for fact in reversed(told) if fact.id not in ids]
        losses = [fact for fact in held if standing_kind(fact) is StandingKind.BEREAVEMENT]
        return Known((*first, *rest), tuple(silent), tuple(losses))

    def _about(self, held: Sequence[Fact], person: str, words: str, language: str) -> list[Fact]:
        """Return the facts that would be forgotten with these words."""
        selected = select(self._store, Selector(person, words=words, language=language))
        ids = {fact.id for fact in selected.facts}
        pages = {page.id for page in selected.pages}
        return [fact for fact in held if fact.id in ids or not pages.isdisjoint(fact.sources)]


def _is_grave(fact: Fact) -> bool:
    if standing_kind(fact) in (StandingKind.DO_NOT_MENTION, StandingKind.BEREAVEMENT):
        return True
    return not _UNTOLD.isdisjoint(grave_matters(fact.text, fact.language))
