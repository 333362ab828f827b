"""What was said, read a second time for danger signs: by likeness, when facts are drawn from it."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from server.embedding.universal import universal
from server.memory.harvest import Harvest
from server.memory.models import Origin
from server.memory.safety.likeness import Likeness, load_likeness
from server.memory.safety.models import Severity, SignalKind
from server.memory.safety.second_reading import SecondReading
from server.memory.safety.signals import find_signals, of_speaker_now
from server.ports import EmbeddingError, TextKind, Vectors
from tests.memory.remembering import NOON, page

DATA = Path(__file__).parents[2] / "data" / "safety"


class WordEmbedder:
    """Stands for an embedder: one number for each of three words, or out of order."""

    name = model = "words"
    dimensions = 3

    def __init__(self, error: EmbeddingError | None = None) -> None:
        self.read: list[str] = []
        self._error = error

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        if self._error:
            raise self._error
        self.read += texts
        words = ("wobbly", "razor", "tea")
        return np.array([[float(word in text) for word in words] for text in texts], np.float32)

    async def warm_up(self) -> None: ...

    async def aclose(self) -> None: ...


def of_words() -> Likeness:
    """Return a model to which wobbly sounds like a symptom, a razor like self-harm, and tea like nothing."""
    return Likeness(
        ("none", "self-harm", "symptom"),
        np.zeros(3, np.float32),
        1.0,
        np.array([[0, 0, 9], [0, 9, 0], [9, 0, 0]], np.float32),
        np.array([1, 0, 0], np.float32),
    )


async def test_signs_that_the_rules_do_not_know_are_found_by_their_likeness() -> None:
    embedder = WordEmbedder()
    reading = SecondReading(of_words(), embedder)
    told = page("I had tea. It was all wobbly inside me. I looked at the razor.", language="en")
    harvest = await reading.add_to(Harvest(), [told])
    assert [(one.kind, one.severity, one.quote, one.origin) for one in harvest.events] == [
        (SignalKind.SYMPTOM, Severity.WATCH, "It was all wobbly inside me.", Origin.MODEL),
        (SignalKind.SELF_HARM, Severity.CONCERN, "I looked at the razor.", Origin.MODEL),
    ]


async def test_what_the_rules_heard_and_what_is_not_of_the_speaker_is_not_read_again() -> None:
    embedder = WordEmbedder()
    told = page(
        "My head hurts. My sister is wobbly. Is a wobbly table bad? I was wobbly when I was ten.",
        language="en",
    )
    harvest = await SecondReading(of_words(), embedder).add_to(Harvest(), [told])
    assert (embedder.read, harvest.events) == ([], ())


@pytest.mark.parametrize("is_known", [True, False])
async def test_facts_do_not_wait_for_an_embedder_that_fails_or_is_not_known(is_known: bool) -> None:
    failing = WordEmbedder(EmbeddingError("embedding-failed", "It is out of order."))
    reading = SecondReading(of_words() if is_known else None, failing)
    harvest = Harvest(chain_summary="of tea")
    assert await reading.add_to(harvest, [page("It was wobbly.", language="en")]) == harvest


def test_a_blend_is_read_by_its_part_and_other_vectors_not_at_all() -> None:
    alone = load_likeness("use-multilingual-v3 6-bit 1.0")
    blended = load_likeness("blend(0.25 use-multilingual-v3 6-bit 1.0, multilingual-e5-small)")
    assert alone is not None
    assert blended is not None
    some = np.random.default_rng(1).normal(size=(40, 512)).astype(np.float32)
    joined = np.hstack([some * 0.5, np.ones((40, 384), np.float32)])
    assert blended.kinds(joined) == alone.kinds(some)
    assert len(set(alone.kinds(some))) > 1
    assert load_likeness("qwen3-embedding") is None


def read(name: str) -> list[dict[str, str]]:
    lines = (DATA / f"{name}.unseen.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def heard(rows: Sequence[dict[str, str]]) -> int:
    """Count the sentences in which the rules or the second reading hear something."""
    likeness, embedder = load_likeness(universal().model), universal()
    assert likeness is not None
    left = [row for row in rows if not find_signals(row["text"], row["language"], NOON)]
    read_again = [row["text"] for row in left if of_speaker_now(row["text"], row["language"], NOON)]
    kinds = likeness.kinds(await embedder.embed(read_again, "passage"))
    await embedder.aclose()
    return len(rows) - len(left) + sum(kind is not None for kind in kinds)


async def test_two_readings_hear_four_in_five_of_what_nothing_was_learnt_from() -> None:
    signals, harmless = read("signals"), read("harmless")
    assert await heard(signals) >= 0.8 * len(signals)
    assert await heard(harmless) <= 0.17 * len(harmless)
