"""A memory that a dialogue was put into, page by page, and what it finds for the questions about it."""

import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from server.commands.dialogues import Dialogue, DialogueQuestion
from server.config import Config
from server.memory.page_recall import PageFindings, PageReader
from server.memory.page_shelves import PageShelves
from server.memory.page_weights import PageWeights
from server.memory.speakers import Speakers, in_first_person
from server.memory.store import Store
from server.memory.wording import Aligned
from server.memory.writer import Writer
from server.ports import Embedder, TextKind, Vectors

_BATCH = 32


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
    """Ids of turns, best first."""
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
        turns = tuple(self._turns[one.page, one.role] for one in findings.candidates)
        return Found(turns, findings, spent)


@asynccontextmanager
async def remembered(
    dialogue: Dialogue, config: Config, embedder: KnownVectors
) -> AsyncGenerator[Callable[[PageWeights], DialogueMemory]]:
    """Put a dialogue into a store of its own, which is gone after the block.

    Yields:
        What makes a memory that ranks by given weights.
    """
    pages = dialogue.pages()
    turns = {(page.id, int(role)): turn for page, roles in pages for role, turn in roles.items()}
    section = config.retrieval
    with tempfile.TemporaryDirectory(prefix="omoide-dialogue-") as folder:
        store = Store(Path(folder) / "memory.db")
        writer = Writer(store)
        try:
            shelves = PageShelves(store, writer, embedder, Aligned(), section.week_start)
            for page, _ in pages:
                writer.add_page(page)
            await writer.settle()
            await shelves.make_lines(dialogue.name)
            await shelves.embed_missing()

            def ranking(weights: PageWeights) -> DialogueMemory:
                reader = PageReader(
                    shelves,
                    embedder,
                    Aligned(),
                    section.pages,
                    weights,
                    week_start=section.week_start,
                )
                return DialogueMemory(dialogue, reader, turns, embedder)

            yield ranking
        finally:
            writer.close()
            store.close()
