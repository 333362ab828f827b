"""What is left of an exchange once some of the facts that were drawn from it hold no longer, or matter no longer."""

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from server.memory.models import Fact, Page
from server.memory.redaction import cut_out
from server.memory.statements import sentences


@dataclass(frozen=True, slots=True)
class Lapsed:
    """The facts that were drawn from one exchange, at least one of which is over."""

    over: Sequence[Fact]
    """Those that hold, or matter, no longer."""
    held: Sequence[Fact] = ()
    """The others."""

    def rest_of(self, page: Page) -> Page | None:
        """Return the exchange without the sentences that only facts that are over were drawn from.

        The answer goes with them, unless something that holds was drawn from it.

        Returns:
            The rest, in which nothing may be said any more; None if it can't be told which sentences those are.
        """
        spoken = sentences(page.said)
        gone: set[str] = set()
        for fact in self.over:
            cut = cut_out(page.said, [fact.quote])
            if not cut and not fact.about:
                if len(spoken) > 1:
                    return None
                cut = spoken
            gone.update(cut)
        gone -= {one for fact in self.held for one in cut_out(page.said, [fact.quote])}
        left = [one for one in spoken if one not in gone]
        said = page.said if len(left) == len(spoken) else " ".join(left)
        is_answer_over = said != page.said or any(fact.about for fact in self.over)
        is_answer_held = any(fact.about for fact in self.held)
        heard = "" if is_answer_over and not is_answer_held else page.heard
        return replace(page, said=said, heard=heard)


def lapsed(facts: Sequence[Fact], over: Set[str]) -> dict[str, Lapsed]:
    """Return, by page, what facts were drawn from it, for the pages that any fact that is over was drawn from.

    Args:
        facts: All of one person.
        over: Ids of those that hold, or matter, no longer.
    """
    by_page: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        for page in fact.sources:
            by_page[page].append(fact)
    return {
        page: Lapsed(
            tuple(fact for fact in drawn if fact.id in over),
            tuple(fact for fact in drawn if fact.id not in over),
        )
        for page, drawn in by_page.items()
        if any(fact.id in over for fact in drawn)
    }
