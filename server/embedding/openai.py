"""Any endpoint that speaks the OpenAI embedding protocol: OpenAI, DashScope, ModelScope, Ollama, vLLM and their kin."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import openai
from anyio import fail_after
from numpy.typing import ArrayLike

from server.config import OpenAiEmbeddingSection
from server.embedding.checking import check
from server.embedding.texts import clean
from server.endpoint import MOST_ANSWER_BYTES, open_client, redirect_of, short_code, without_secrets
from server.ports import EmbeddingError, TextKind, Vectors

_MOST_NUMBERS, _NUMBER_BYTES = 8192, 32
"""Of one vector, as text. Some servers send a whole one, however many dimensions are asked for."""
_BLAMES_TEXTS = frozenset({400, 413, 422})
_HARMLESS = "Hello."


class OpenAiEmbedder:
    """A model behind HTTP. All calls share one pool of connections."""

    def __init__(self, section: OpenAiEmbeddingSection) -> None:
        """Remember the settings. Nothing is called yet; a missing model or key is reported by `embed`."""
        self._own = section
        self._where = without_secrets(section.address())
        self._takes_dimensions = True
        self.name = f"openai {section.model or '(no model)'} at {self._where}"
        self.model = section.model
        self.dimensions = section.dimensions
        self._client = openai.AsyncOpenAI(
            # Local servers want no key, but the client insists on one.
            api_key=section.key() or "not-needed",
            base_url=section.address(),
            max_retries=1,
            timeout=section.timeout_seconds,
            http_client=open_client(
                section.timeout_seconds, self._too_long, _most_bytes(section.batch_texts)
            ),
        )

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Return one vector for each text; see `ports.Embedder`.

        A request that the endpoint refuses is cut in halves until the texts at fault are found. All others have been
        embedded then for nothing, but can be asked for again without those.
        """
        self._check_configured()
        own = self._own
        prefix = own.query_prefix if kind == "query" else own.passage_prefix
        cleaned = [prefix + clean(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        faults: list[EmbeddingError] = []
        for start in range(0, len(texts), own.batch_texts):
            whole = range(start, min(start + own.batch_texts, len(texts)))
            await self._embed_part(cleaned, whole, vectors, faults)
        if faults:
            first = faults[0]
            positions = sorted(position for fault in faults for position in fault.positions)
            raise EmbeddingError(first.code, str(first), positions=positions)
        return vectors

    async def warm_up(self) -> None:
        """Open a connection by embedding a word.

        Raises:
            EmbeddingError: The endpoint can't be used.
        """
        await self.embed([_HARMLESS], "query")

    async def aclose(self) -> None:
        """Close all connections; calls that are running end with an error."""
        await self._client.close()

    def _check_configured(self) -> None:
        own = self._own
        if own.model and (own.key() or own.base_url):
            return
        missing = "a key" if own.model else "a model"
        raise EmbeddingError(
            "embedding-unconfigured",
            f"The embedding endpoint lacks {missing}. Set embedding.openai.model, and embedding.openai.base_url or a key in "
            f"the variable {own.api_key_env}; or set embedding.engine to e5.",
        )

    async def _embed_part(
        self, texts: Sequence[str], part: range, into: Vectors, faults: list[EmbeddingError]
    ) -> None:
        """Embed the texts at `part`; collect which of them can't be. Raises what has nothing to do with the texts."""
        try:
            into[part.start : part.stop] = await self._ask([texts[i] for i in part])
        except EmbeddingError as error:
            if not error.positions:
                raise
            if error.code == "embedding-invalid" or len(part) == 1:
                positions = [part[position] for position in error.positions]
                faults.append(EmbeddingError(error.code, str(error), positions=positions))
                return
            if not faults:
                await self._ask([_HARMLESS])  # raises if it is not the texts
            middle = part.start + len(part) // 2
            await self._embed_part(texts, range(part.start, middle), into, faults)
            await self._embed_part(texts, range(middle, part.stop), into, faults)

    async def _ask(self, texts: list[str]) -> Vectors:
        try:
            with fail_after(self._own.timeout_seconds):
                rows = await self._request(texts)
        except TimeoutError as error:
            raise self._fault("embedding-timeout", "took too long.") from error
        except openai.APIError as error:
            raise self._explain(error, len(texts), harmless=texts == [_HARMLESS]) from error
        return check(rows, len(texts), self.dimensions, self.name)

    async def _request(self, texts: list[str]) -> list[ArrayLike]:
        request: dict[str, Any] = {
            "model": self._own.model,
            "input": texts,
            "encoding_format": "float",
        }
        if self._takes_dimensions:
            request["dimensions"] = self.dimensions
        create: Any = self._client.embeddings.create
        try:
            return _rows(await create(**request))
        except (TypeError, AttributeError, ValueError) as error:
            # The client checks nothing: whatever JSON a server sends arrives here.
            raise self._fault(
                "embedding-failed",
                "does not speak the OpenAI protocol. Check embedding.openai.base_url.",
            ) from error
        except openai.APIStatusError as error:
            if not (self._takes_dimensions and _refuses_dimensions(error)):
                raise
            self._takes_dimensions = False  # its vectors are cut here instead
            return await self._request(texts)

    def _explain(self, error: openai.APIError, count: int, *, harmless: bool) -> EmbeddingError:
        """Return the error for the rest of the program. What the server wrote is left out: it may quote what was said."""
        positions: Sequence[int] = ()
        match error:
            case openai.APITimeoutError():
                code, what = "embedding-timeout", "took too long."
            case openai.APIConnectionError():
                code = "embedding-unreachable"
                what = "can't be reached. Check that it runs, the network, and embedding.openai.base_url."
            case openai.APIStatusError(status_code=status):
                code, what = self._explain_status(error)
                positions = range(count) if status in _BLAMES_TEXTS and not harmless else ()
            case _:
                code, what = "embedding-failed", f"broke off its answer{short_code(error)}."
        return self._fault(code, what, positions=positions)

    def _explain_status(self, error: openai.APIStatusError) -> tuple[str, str]:
        """Return the code, and what the endpoint does."""
        own, status = self._own, error.status_code
        if elsewhere := redirect_of(error.response):
            return "embedding-failed", (
                f"has moved to {elsewhere}. What was said is sent nowhere but to the configured address: if you trust "
                "the new one, set embedding.openai.base_url to it."
            )
        match status:
            case 401 | 403:
                return "embedding-refused", (
                    f"refuses the key. Check embedding.openai.api_key or the variable {own.api_key_env}."
                )
            case 404:
                return "embedding-failed", (
                    f"knows no model {own.model!r}, or not this path. Check embedding.openai.model and base_url."
                )
            case 429:
                return "embedding-rate-limited", (
                    "asks for less: too many requests, or the account is used up."
                )
            case _ if status in _BLAMES_TEXTS:
                return "embedding-refused", (
                    f"refuses a text with HTTP status {status}{short_code(error)}."
                )
            case _:
                return "embedding-failed", f"answered with HTTP status {status}{short_code(error)}."

    def _too_long(self, what: str) -> EmbeddingError:
        return self._fault("embedding-failed", f"{what} Check embedding.openai.base_url.")

    def _fault(self, code: str, what: str, *, positions: Sequence[int] = ()) -> EmbeddingError:
        message = f"The embedding endpoint at {self._where} {what}"
        return EmbeddingError(code, message, positions=positions)


def _rows(answer: Any) -> list[ArrayLike]:
    """Return the vectors in the order of the texts; some servers answer in another one."""
    items = sorted(answer.data, key=lambda item: item.index or 0)
    return [item.embedding for item in items]


def _refuses_dimensions(error: openai.APIStatusError) -> bool:
    return error.status_code in _BLAMES_TEXTS and "dimension" in str(error).lower()


def _most_bytes(texts: int) -> int:
    return MOST_ANSWER_BYTES + texts * _MOST_NUMBERS * _NUMBER_BYTES
