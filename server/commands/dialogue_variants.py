"""Memory without one of its parts, to see what each is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from server.memory.page_weights import PageWeights
from server.memory.postings import REACH


@dataclass(frozen=True, slots=True)
class Variant:
    """What memory ranks by, and which parts it has."""

    weights: PageWeights
    reach: int = REACH
    """How many utterances away what a neighbour says counts as said here."""
    has_vectors: bool = True
    is_chained: bool = True
    is_plain: bool = False
    """Whether turns are ranked by `PlainBm25` instead; then the rest says nothing."""
    has_portrait: bool = True
    """Whether a prompt tells who the person is (long-term memory). Turns are ranked without it."""
    has_pages: bool = True
    """Whether a prompt tells what was found."""


FULL = "full"
ALONE: Mapping[str, tuple[str, ...]] = {"window only": ("words",), "dense only": ("dense",)}
"""Variants that rank by these signs alone."""
WITHOUT: Mapping[str, frozenset[str]] = {
    "no dates": frozenset({"dated", "day_near", "day_told"}),
    "no speaker": frozenset({"speaker"}),
    "no MTM": frozenset({"topic"}),
}
"""Variants that go without these."""
OF_NEIGHBOURS = frozenset({"after_question", "dense_near"})
"""Signs that come from the utterance before or after."""


def ranked_variants(weights: PageWeights) -> dict[str, Variant]:
    """Return what `--ablate` asks for turns, the whole first; what is gone counts nothing.

    Without LPM, turns are ranked as in the whole: what that is worth, `dialogue_prompts` tells.
    """
    found = {
        FULL: Variant(weights),
        "no vectors": Variant(weights, has_vectors=False),
        "BM25 only": Variant(weights, is_plain=True),
    }
    for name, alone in ALONE.items():
        found[name] = Variant(replace(weights, with_vectors=dict.fromkeys(alone, 1.0)))
    for name, gone in WITHOUT.items():
        found[name] = Variant(_without(weights, gone))
    found["no neighbours"] = Variant(_without(weights, OF_NEIGHBOURS), reach=0)
    found["no chain"] = Variant(weights, is_chained=False)
    return found


def answered_variants(weights: PageWeights) -> dict[str, Variant]:
    """Return what `--ablate` lets a model answer from: the whole, and the paper's four."""
    ranked = ranked_variants(weights)
    kept = {name: ranked[name] for name in (FULL, "no MTM", "no chain")}
    return kept | {
        "no LPM": Variant(weights, has_portrait=False),
        "no memory": Variant(weights, has_portrait=False, has_pages=False),
    }


def _without(weights: PageWeights, gone: frozenset[str]) -> PageWeights:
    left = {sign: worth for sign, worth in weights.with_vectors.items() if sign not in gone}
    return replace(weights, with_vectors=left)
