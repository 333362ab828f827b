"""Any endpoint that speaks the OpenAI chat protocol: OpenAI, ModelScope, Ollama, vLLM, llama-server and their kin."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import openai
import structlog
from anyio import sleep

from server.config import LlmSection, OpenAiLlmSection
from server.endpoint import is_near, open_client, redirect_of, without_secrets
from server.errors import LlmError
from server.llm.openai_faults import FORMATS, explain, refused_option, retry_delay, too_long
from server.llm.patience import Patience, patience_for
from server.ports import LlmEvent, LlmTraits, TextDelta, Usage
from server.turn import AnswerSchema, Decoding, Prompt

log = structlog.get_logger(__name__)

_CHECK_SECONDS = 5.0
_SERVER_FAULT = 500

_Chunk = openai.types.chat.ChatCompletionChunk
_Chunks = openai.AsyncStream[_Chunk]


class OpenAiLlm:
    """A model behind HTTP. All replies share one pool of connections."""

    def __init__(self, config: LlmSection) -> None:
        """Remember the settings. Nothing is called yet; a missing model or key is reported by `stream`."""
        self._config = config
        self._own = config.openai
        self._where = without_secrets(self._own.address())
        self._refused: set[str] = set()
        self.name = f"openai {self._own.model or '(no model)'} at {self._where}"
        key = self._own.key()
        self._is_configured = bool(self._own.model and (key or self._own.base_url))
        self._client = openai.AsyncOpenAI(
            # Local servers want no key, but the client insists on one.
            api_key=key or "not-needed",
            base_url=self._own.address(),
            max_retries=0,
            timeout=config.total_seconds,
            http_client=open_client(config.total_seconds, too_long),
        )

    def traits(self, language: str) -> LlmTraits:
        """Return the configured budget; the same for all languages."""
        return LlmTraits(
            compact=False,
            prompt_budget_tokens=self._own.prompt_budget_tokens,
            local=is_near(self._own.address()),
        )

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        """Answer piece by piece; see `ports.Llm`. Closing the generator closes the connection.

        What a model thinks aloud in ``reasoning_content`` is no part of the answer, and does not count as its beginning.
        """
        self._check_configured()
        patience = patience_for(prompt, self._config, f"The language model at {self._where}")
        said = False
        async with await self._ask(prompt, patience) as chunks:
            while (events := await self._next(chunks, patience)) is not None:
                for event in events:
                    if isinstance(event, TextDelta):
                        patience.begin()
                        said = True
                    yield event
        if not said:
            raise LlmError(
                "llm-failed",
                f"The language model at {self._where} answered with nothing. If it thinks first, raise "
                "llm.openai.max_tokens or set llm.openai.enable_thinking to false.",
            )

    async def warm_up(self) -> None:
        """Open a connection by asking for the list of models; servers without that list pass.

        Raises:
            LlmError: There is no such endpoint, it has moved, or it refuses the key.
        """
        self._check_configured()
        try:
            await self._client.models.with_raw_response.list(timeout=_CHECK_SECONDS)
        except openai.APIStatusError as error:
            if error.status_code in (401, 403) or redirect_of(error.response):
                raise explain(error, self._where, self._own) from error
        except openai.APIConnectionError as error:
            raise explain(error, self._where, self._own) from error

    async def aclose(self) -> None:
        """Close all connections; replies that are running end with an error."""
        await self._client.close()

    def _check_configured(self) -> None:
        if not self._is_configured:
            missing = "a key" if self._own.model else "a model"
            raise LlmError(
                "llm-unconfigured",
                f"The language model lacks {missing}. Set llm.openai.model, and llm.openai.base_url or a key in the "
                f"variable {self._own.api_key_env}; or set llm.engine to embedded.",
            )

    async def _ask(self, prompt: Prompt, patience: Patience) -> _Chunks:
        """Send the request; once more if the fault may pass, and again without an option that the server refuses.

        What it refuses is left out from then on, if that helped. A server may also fall over a schema: after a failure of its
        own it is asked without one, this time only.
        """
        refused, spared = set(self._refused), set[str]()
        retried = False
        while True:
            request = self._request(prompt, refused | spared)
            try:
                chunks = await patience.wait(partial(self._send, request))
            except openai.APIError as error:
                has_format = "response_format" in request
                if option := refused_option(error, refused, has_format=has_format):
                    refused.add(option)
                    continue
                delay = retry_delay(error, patience.first_token_seconds_left)
                if retried or delay is None:
                    raise explain(error, self._where, self._own) from error
                retried = True
                if getattr(error, "status_code", 0) >= _SERVER_FAULT:
                    spared.update(FORMATS)
                log.info("llm-retry", endpoint=self._where, status=getattr(error, "status_code", 0))
                await sleep(delay)
            else:
                for option in sorted(refused - self._refused):
                    log.info("llm-option-refused", endpoint=self._where, option=option)
                self._refused |= refused
                return chunks

    async def _send(self, request: dict[str, Any]) -> _Chunks:
        create: Any = self._client.chat.completions.create
        chunks: _Chunks = await create(**request)
        return chunks

    async def _next(self, chunks: _Chunks, patience: Patience) -> list[LlmEvent] | None:
        try:
            chunk = await patience.wait(lambda: anext(chunks, None))
            return None if chunk is None else _read(chunk)
        except openai.APIError as error:
            raise explain(error, self._where, self._own) from error
        except (ValueError, TypeError, AttributeError) as error:
            # The client checks nothing: whatever JSON a server sends arrives here.
            raise LlmError(
                "llm-failed",
                f"The language model at {self._where} does not speak the OpenAI protocol. Check llm.openai.base_url.",
            ) from error

    def _request(self, prompt: Prompt, refused: set[str]) -> dict[str, Any]:
        own = self._own
        messages = [{"role": "system", "content": prompt.system}] if prompt.system else []
        messages += [{"role": m.role, "content": m.content} for m in prompt.messages]
        limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
        decoding = prompt.decoding or Decoding(own.temperature, own.max_tokens)
        request: dict[str, Any] = {
            "model": own.model,
            "messages": messages,
            "stream": True,
            limit: decoding.max_tokens,
            "extra_body": _extra_body(own, is_reply=prompt.decoding is None),
        }
        if decoding.schema is not None and (wanted := _format(decoding.schema, refused)):
            request["response_format"] = wanted
        if "temperature" not in refused:
            request["temperature"] = decoding.temperature
        if "stream_options" not in refused:
            request["stream_options"] = {"include_usage": True}
        return request


def _format(schema: AnswerSchema, refused: set[str]) -> dict[str, Any] | None:
    """Return the best way to ask for an answer in JSON that the server does not refuse."""
    if "json_schema" not in refused:
        strict = {"name": schema.name, "strict": True, "schema": schema.schema}
        return {"type": "json_schema", "json_schema": strict}
    return None if "json_object" in refused else {"type": "json_object"}


def _extra_body(own: OpenAiLlmSection, *, is_reply: bool) -> dict[str, Any]:
    """Return the fields outside OpenAI's own protocol. The names are those of DashScope and ModelScope.

    Only a reply may search the web: what is drawn from a talk has to stand in it. For others use `llm.openai.extra_body`, which wins, e.g. vLLM and llama-server with a Qwen model take
    ``chat_template_kwargs: {enable_thinking: false}``.
    """
    body: dict[str, Any] = {}
    if own.enable_thinking is not None:
        body["enable_thinking"] = own.enable_thinking
    if own.web_search:
        body["enable_search"] = True
    body |= own.extra_body
    if not is_reply:
        body.pop("enable_search", None)
    return body


def _read(chunk: _Chunk) -> list[LlmEvent]:
    deltas = [choice.delta for choice in chunk.choices or () if choice.delta]
    text = "".join(delta.content or "" for delta in deltas)
    events: list[LlmEvent] = [TextDelta(text)] if text else []
    if chunk.usage is not None:
        details = chunk.usage.prompt_tokens_details
        cached = (details.cached_tokens if details else None) or 0
        events.append(Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens, cached))
    return events
