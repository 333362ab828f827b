"""Work for the language model in the background, as much as drawing facts from a long talk makes."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress

import anyio

from server.errors import OmoideError
from server.memory import Memory
from server.memory.harvest import Harvest
from server.memory.models import Page, Trait
from server.ports import Llm
from server.turn import Decoding, Message, Prompt

SECONDS = 30.0
_DECODING = Decoding(temperature=0.8, max_tokens=1_200, background=True)


class BusyExtractor:
    """Keeps a language model writing for half a minute, and finds no fact."""

    gives_way = True
    asks_a_model = True

    def __init__(self, llm: Llm, language: str, seconds: float = SECONDS) -> None:
        self._llm = llm
        self._language = language
        self._seconds = seconds
        self.began = anyio.Event()
        """Set with the first word that the model writes."""

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        """Let the model write until the time is over; see `server.memory.extract.Extractor`."""
        talk = "\n".join(f"{page.said}\n{page.heard}" for page in pages)
        prompt = Prompt(talk, (Message("user", talk),), self._language, _DECODING)
        with anyio.move_on_after(self._seconds):
            while True:
                async with aclosing(self._llm.stream(prompt)) as events:
                    async for _event in events:
                        self.began.set()
        return Harvest()

    async def portray(self, pages: Sequence[Page], known: Sequence[Trait], attempt: int) -> Harvest:
        """Find nothing."""
        return Harvest()

    @asynccontextmanager
    async def at_work(self, memory: Memory) -> AsyncIterator[None]:
        """Draw facts from everything that waits, from before this block is entered; what remains of it ends with the block."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._work, memory)
            await self.began.wait()
            yield
            tasks.cancel_scope.cancel()

    async def _work(self, memory: Memory) -> None:
        with suppress(OmoideError):  # put off: somebody talks
            await memory.extract()
        self.began.set()  # nothing waited
