"""A memory that a dialogue was put into as it went on, with its topics and chains, and what it finds for the questions about it."""

import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from server.commands.dialogues import Dialogue, DialogueQuestion
from server.config import Config, ExtractionSection, RetrievalSection
from server.memory import Page
from server.memory.extract import RulesExtractor
from server.memory.page_recall import PageFindings, PageReader
from server.memory.page_shelves import PageShelves
from server.memory.page_weights import PageWeights
from server.memory.postings import REACH
from server.memory.priming import Primer, Priming
from server.memory.sorting import Sorter
from server.memory.speakers import Speakers, in_first_person
from server.memory.store import Store
from server.memory.wording import Aligned
from server.memory.writer import Writer
from server.ports import Embedder, TextKind, Vectors

_BATCH = 32
PATIENCE_SECONDS = 600.0
"""Without a vector a question would be measured as if there were no embedder."""


class KnownVectors:
    """An embedder that embeds every text once: what is measured around it is not embedding."""

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.name = embedder.model, embedder.name
        self.dimensions = embedder.dimensions
        self._embedder = embedder
        self._known: dict[tuple[TextKind, str], Vectors] = {}
        self.seconds = 0.0
        """Spent on embedding."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Return the vectors of texts."""
        started = perf_counter()
        new = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        for start in range(0, len(new), _BATCH):
            some = new[start : start + _BATCH]
            for text, row in zip(some, await self._embedder.embed(some, kind), strict=True):
                self._known[kind, text] = row
        self.seconds += perf_counter() - started
        return np.stack([self._known[kind, text] for text in texts])

    async def warm_up(self) -> None:
        """Make the model ready."""
        await self._embedder.warm_up()

    async def aclose(self) -> None:
        """Let go of it."""
        await self._embedder.aclose()


@dataclass(frozen=True, slots=True)
class Found:
    """What memory found for a question."""

    turns: tuple[str, ...]
    """Ids of turns, best first, each once."""
    findings: PageFindings
    seconds: float
    """Without embedding the question."""


class DialogueMemory:
    """Asks a memory that holds a dialogue."""

    def __init__(
        self,
        dialogue: Dialogue,
        reader: PageReader,
        turns: Mapping[tuple[str, int], str],
        embedder: KnownVectors,
    ) -> None:
        self.dialogue = dialogue
        self._reader = reader
        self._turns = turns
        self._embedder = embedder

    async def embed(self, questions: Sequence[DialogueQuestion]) -> None:
        """Embed questions ahead, in batches."""
        speakers, language = self.dialogue.speakers, self.dialogue.language
        wording = Aligned()
        texts = [
            wording.of_query(in_first_person(one.text, language, speakers)) for one in questions
        ]
        if texts:
            await self._embedder.embed(texts, "query")

    async def ask(self, question: DialogueQuestion, speakers: Speakers | None = None) -> Found:
        """Return what is found for a question; that of another dialogue names other `speakers`."""
        dialogue = self.dialogue
        before = self._embedder.seconds
        started = perf_counter()
        findings = await self._reader.find(
            dialogue.name,
            question.text,
            dialogue.language,
            question.asked_at,
            speakers or dialogue.speakers,
        )
        spent = perf_counter() - started - (self._embedder.seconds - before)
        turns = dict.fromkeys(self._turns[one.page, one.role] for one in findings.candidates)
        return Found(tuple(turns), findings, spent)


class RememberedDialogue:
    """A dialogue in a store of its own."""

    def __init__(
        self,
        dialogue: Dialogue,
        folder: Path,
        shelves: PageShelves,
        primer: Primer,
        embedder: KnownVectors,
    ) -> None:
        self.dialogue = dialogue
        self.folder = folder
        """Where the store lies."""
        pages = dialogue.pages()
        self.pages: Mapping[str, Page] = {page.id: page for page, _ in pages}
        """By id, oldest first."""
        self.turns: Mapping[tuple[str, int], str] = {
            (page.id, int(role)): turn for page, roles in pages for role, turn in roles.items()
        }
        """Ids of turns, by page and role."""
        self._shelves = shelves
        self._primer = primer
        self._embedder = embedder

    def ranked_by(
        self,
        weights: PageWeights,
        section: RetrievalSection,
        *,
        reach: int = REACH,
        has_vectors: bool = True,
    ) -> DialogueMemory:
        """Return a memory of it.

        Args:
            weights: It ranks by them.
            section: Week and gate.
            reach: How many utterances away neighbours count.
            has_vectors: Whether questions are embedded; else words and days decide.
        """
        reader = PageReader(
            self._shelves,
            self._embedder if has_vectors else None,
            Aligned(),
            section.pages,
            weights,
            week_start=section.week_start,
            embed_seconds=PATIENCE_SECONDS,
            reach=reach,
        )
        return DialogueMemory(self.dialogue, reader, self.turns, self._embedder)

    async def priming(self, at: datetime) -> Priming:
        """Return what is known of the person: profile, knowledge, standing facts, as rules draw them.

        What was said after `at` is left out; what only that replaced is not brought back.
        """
        known = await self._primer.get(self.dialogue.name, at)
        return replace(
            known,
            profile=tuple(one for one in known.profile if one.said_at <= at),
            traits=tuple(one for one in known.traits if one.seen_at <= at),
            knowledge=tuple(one for one in known.knowledge if one.said_at <= at),
            standing=tuple(one for one in known.standing if one.said_at <= at),
        )


@asynccontextmanager
async def remembered(
    dialogue: Dialogue, config: Config, embedder: KnownVectors, *, is_chained: bool = True
) -> AsyncGenerator[RememberedDialogue]:
    """Put a dialogue into a store of its own, which is gone after the block.

    It is put in batch by batch, as it would be while people talk, and sorted into segments without a language model.

    Args:
        dialogue: What is put in.
        config: Retrieval, extraction, segments and history are taken from it.
        embedder: Makes vectors.
        is_chained: Whether exchanges that follow from each other are kept together; else each is sorted by itself.
    """
    week_start = config.retrieval.week_start
    window = timedelta(minutes=config.history.window_minutes if is_chained else 0)
    with tempfile.TemporaryDirectory(prefix="omoide-dialogue-") as folder:
        store = Store(Path(folder) / "memory.db")
        writer = Writer(store)
        try:
            shelves = PageShelves(store, writer, embedder, Aligned(), week_start)
            sorter = Sorter(store, shelves, config.segments, window)
            rules = RulesExtractor(week_start)
            for batch in batches([page for page, _ in dialogue.pages()], config.extraction):
                for page in batch:
                    writer.add_page(page)
                await writer.settle()
                await _draw(batch, store, writer, sorter, rules)
            primer = Primer(store, config.summaries, config.fading, config.long_term)
            yield RememberedDialogue(dialogue, Path(folder), shelves, primer, embedder)
        finally:
            writer.close()
            store.close()


def batches(pages: Sequence[Page], section: ExtractionSection) -> Iterator[list[Page]]:
    """Cut exchanges into the batches that would be drawn from: so many turns, or what was said before a silence."""
    silence = timedelta(minutes=section.silence_minutes)
    batch: list[Page] = []
    for page in pages:
        if batch and (len(batch) == section.turns or page.at - batch[-1].at > silence):
            yield batch
            batch = []
        batch.append(page)
    if batch:
        yield batch


async def _draw(
    batch: Sequence[Page], store: Store, writer: Writer, sorter: Sorter, rules: RulesExtractor
) -> None:
    """Sort a batch and store what rules draw from it. Facts go without vectors: pages alone are searched here."""
    now = batch[-1].at
    harvest = await rules.extract(batch, 0)
    sorting = await sorter.sort(batch, harvest, now)
    await writer.run(
        partial(
            store.add_facts,
            harvest.facts,
            now,
            drawn_from=[page.id for page in batch],
            sorting=sorting,
            profile=harvest.profile,
        )
    )
