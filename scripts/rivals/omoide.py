"""Driver of Omoide: exchanges are drawn from as a server would, batch by batch and after silence, and days summed up as they end."""

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from anyio.from_thread import BlockingPortal, start_blocking_portal
from openai import AsyncOpenAI

from scripts.rivals.protocol import SCRIPTED, Exchange, Settings, first, serve
from server.config import Config, load_config
from server.errors import OmoideError
from server.memory import Memory, Page
from server.memory.day_summaries import ModelSummarizer
from server.memory.extract import ModelExtractor
from server.memory.lines import Role
from server.memory.opening import open_memory
from server.memory.page_recall import PageReader
from server.memory.page_shelves import PageShelves
from server.memory.page_weights import load_page_weights
from server.memory.speakers import Speakers
from server.memory.store import Store
from server.memory.wording import Aligned
from server.memory.writer import Writer
from server.ports import LlmEvent, LlmTraits, TextDelta, TextKind, Vectors
from server.prompting import PromptFiles
from server.turn import Prompt

_PERSON = "somebody"
_ROLES = {"user": Role.SAID, "assistant": Role.HEARD}
_PATIENCE_SECONDS = 600.0


class _Clock:
    """Shows the time of the dialogue."""

    def __init__(self) -> None:
        self.moment = datetime(1970, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


class _EndpointEmbedder:
    """The embedder behind the endpoint."""

    def __init__(self, client: AsyncOpenAI, settings: Settings) -> None:
        self.model = self.name = settings.embedder
        self.dimensions = settings.dimensions
        self._client = client

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        answered = await self._client.embeddings.create(
            model=kind, input=list(texts), encoding_format="float"
        )
        return np.array([one.embedding for one in answered.data], np.float32)

    async def warm_up(self) -> None:
        """It is ready."""

    async def aclose(self) -> None:
        """The client is somebody else's."""


class _EndpointLlm:
    """The scripted model behind the endpoint."""

    name = SCRIPTED

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client

    def traits(self, language: str) -> LlmTraits:
        return LlmTraits(compact=False, prompt_budget_tokens=3_000, local=False)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        answered = await self._client.chat.completions.create(
            model=SCRIPTED,
            messages=[
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.messages[-1].content},
            ],
        )
        yield TextDelta(answered.choices[0].message.content or "")

    async def warm_up(self) -> None:
        """It is ready."""

    async def aclose(self) -> None:
        """The client is somebody else's."""


class Omoide:
    """Omoide's memory with the model that draws facts, and the search in what was said."""

    def __init__(
        self, settings: Settings, config: Config, portal: BlockingPortal, stack: ExitStack
    ) -> None:
        self._settings = settings
        self._config = config
        self._portal = portal
        self._stack = stack
        self._clock = _Clock()
        client = AsyncOpenAI(api_key="none", base_url=settings.base_url, max_retries=0)
        self._embedder = _EndpointEmbedder(client, settings)
        self._llm = _EndpointLlm(client)
        self._turns: dict[tuple[str, int], str] = {}
        self._names: dict[Role, str] = {}
        self._waiting = 0
        self._memory: Memory | None = portal.call(self._open)
        self._store = Store(Path(settings.folder) / "memory.db")
        self._reader: PageReader | None = None

    def _open(self) -> Memory:
        prompts = PromptFiles()
        memory = open_memory(
            self._config,
            Path(self._settings.folder),
            self._embedder,
            ModelExtractor(self._llm, prompts, self._config.retrieval.week_start),
            self._clock,
        )
        memory.diary.summarizer = ModelSummarizer(self._llm, prompts)
        return memory

    def add(self, exchange: Exchange) -> None:
        """Store an exchange; draw facts if enough waits, or if there was a silence before it."""
        at = datetime.fromisoformat(exchange.at).replace(tzinfo=UTC)
        section = self._config.extraction
        if self._waiting and at - self._clock.moment > timedelta(minutes=section.silence_minutes):
            self._draw()
            self._portal.call(self._opened.consolidator.keep_up)  # what was put off
        is_new_day = at.date() != self._clock.moment.date()
        self._clock.moment = at
        if is_new_day:
            self._portal.call(self._opened.diary.keep_up)
        self._store.pages.add(self._page_of(exchange, at))
        self._waiting += 1
        if self._waiting == section.turns:
            self._draw()

    def settle(self) -> None:
        """Draw from what waits, sum up the last day, embed what has no vector, and close everything."""
        self._draw()
        for _ in range(self._config.extraction.attempts):
            self._draw(put_off=True)
        self._clock.moment += timedelta(days=1, hours=1)
        self._portal.call(self._opened.diary.keep_up)
        self._portal.call(self._opened.catch_up)
        self._opened.close()
        self._memory = None
        self._store.close()

    def ask(self, question: str, limit: int) -> list[str]:
        """Return the turns that are found."""
        if self._reader is None:
            self._reader = self._open_reader()
        named = [(self._names[role],) if role in self._names else () for role in Role]
        found = self._portal.call(
            self._reader.find,
            _PERSON,
            question,
            self._settings.language,
            self._clock.moment,
            Speakers(*named),
        )
        return first((self._turns[one.page, one.role] for one in found.candidates), limit)

    @property
    def _opened(self) -> Memory:
        assert self._memory is not None
        return self._memory

    def _draw(self, *, put_off: bool = False) -> None:
        """Draw from what waits; as in a server, what fails waits for another attempt."""
        self._waiting = 0
        with suppress(OmoideError):
            self._portal.call(partial(self._opened.consolidator.extract, put_off=put_off))

    def _page_of(self, exchange: Exchange, at: datetime) -> Page:
        words = dict.fromkeys(Role, "")
        id_ = exchange.turns[0].id
        for turn in exchange.turns:
            role = _ROLES[turn.role]
            self._names[role], _, words[role] = turn.text.partition(": ")
            self._turns[id_, int(role)] = turn.id
        return Page(
            words[Role.SAID],
            words[Role.HEARD],
            at,
            self._settings.language,
            id=id_,
            person=_PERSON,
        )

    def _open_reader(self) -> PageReader:
        section = self._config.retrieval
        store = Store(Path(self._settings.folder) / "memory.db")
        self._stack.callback(store.close)
        writer = Writer(store)
        self._stack.callback(writer.close)
        shelves = PageShelves(store, writer, self._embedder, Aligned(), section.week_start)
        return PageReader(
            shelves,
            self._embedder,
            Aligned(),
            section.pages,
            load_page_weights(section.pages.calibration),
            week_start=section.week_start,
            embed_seconds=_PATIENCE_SECONDS,
        )


def main() -> None:
    """Answer; the only argument, if there is one, is the configuration file."""
    config = load_config(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        serve("omoide", lambda settings: Omoide(settings, config, portal, stack))


if __name__ == "__main__":
    main()
