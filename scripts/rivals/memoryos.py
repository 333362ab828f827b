"""Driver of memoryos-pro: its pages are known by their time and text, its lines of knowledge by the time in them.

A page stands for both of its turns, in the order in which they were said. Pages come first, as the system ranks them, then
lines of knowledge. Two settings are those of its authors' own evaluation on LoCoMo: a short-term memory of one page, so
that none is kept out of the search, and ten pages for each question.
"""

import re
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from scripts.rivals.protocol import PASSAGE, QUERY, SCRIPTED, Exchange, Settings, first, serve

_PERSON = "somebody"
_NOTHING = "-"
"""Said by whoever said nothing: the system throws away pages with an empty half."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


class Encoder:
    """Stands in for the model that the system would fetch from a model hub."""

    base_url = ""
    kind = PASSAGE

    def __init__(self, name: str) -> None:
        self.name = name
        self._client: Any = import_module("openai").OpenAI(api_key="none", base_url=self.base_url)
        self._numpy: Any = import_module("numpy")

    def encode(self, texts: list[str], **_: object) -> Any:
        """Return a row for each text, as `SentenceTransformer.encode` does."""
        answer = self._client.embeddings.create(
            model=self.kind, input=texts, encoding_format="float"
        )
        return self._numpy.array([one.embedding for one in answer.data], "float32")


class MemoryOs:
    """The system with its files in the folder that it is given."""

    def __init__(self, settings: Settings) -> None:
        Encoder.base_url = settings.base_url
        stand_in: Any = ModuleType("sentence_transformers")
        stand_in.SentenceTransformer = Encoder
        sys.modules["sentence_transformers"] = stand_in
        self._memory: Any = import_module("memoryos").Memoryos(
            user_id=_PERSON,
            openai_api_key="none",
            openai_base_url=settings.base_url,
            data_storage_path=settings.folder,
            short_term_capacity=1,
            retrieval_queue_capacity=10,
            llm_model=SCRIPTED,
        )
        self._by_time: dict[str, dict[str, str]] = {}

    def add(self, exchange: Exchange) -> None:
        """Add a page; the system moves it into its mid-term memory at once."""
        texts = {turn.role: turn.text for turn in exchange.turns}
        self._by_time[exchange.at] = {turn.role: turn.id for turn in exchange.turns}
        self._memory.add_memory(
            user_input=texts.get("user", _NOTHING),
            agent_response=texts.get("assistant", _NOTHING),
            timestamp=exchange.at,
        )

    def settle(self) -> None:
        """Everything was written as it came."""

    def ask(self, question: str, limit: int) -> list[str]:
        """Return the turns of the pages and of the lines of knowledge that would reach a prompt."""
        Encoder.kind = QUERY
        try:
            found = self._memory.retriever.retrieve_context(question, _PERSON)
        finally:
            Encoder.kind = PASSAGE
        ids = [
            turn
            for page in found["retrieved_pages"]
            for turn in self._by_time[page["timestamp"]].values()
        ]
        for role in ("user", "assistant"):
            for line in found[f"retrieved_{role}_knowledge"]:
                ids += self._source(line["knowledge"], role)
        return first(ids, limit)

    def _source(self, line: str, role: str) -> list[str]:
        times = _TIME.findall(line)
        turns = self._by_time.get(times[-1], {}) if times else {}
        return [turns[role]] if role in turns else list(turns.values())


if __name__ == "__main__":
    serve("memoryos-pro", MemoryOs)
