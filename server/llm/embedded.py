"""The packaged language models in this process: no key, no network, two processor cores.

They are tiny. The English one is an instruct model and gets the talk as chat messages; the Japanese one is a base model
that can only continue a text, so its persona is written as a talk and it gets to write the next line.
"""

import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from anyio import to_thread

from server.config import EmbeddedLlmSection, LlmSection
from server.errors import EngineMissing
from server.llm.gguf import Answer, Body, Completer, GgufModel, Piece
from server.llm.patience import patience_for
from server.llm.precedence import Precedence
from server.ports import LlmEvent, LlmTraits, TextDelta, Usage
from server.threads import Lazy, cores
from server.trace import stage
from server.turn import Decoding, Prompt, Stage
from server.weights import GEMMA, SMOLLM2, Weights, obtain

log = structlog.get_logger(__name__)

_MOST_THREADS = 4
_UNMEASURED_TOKENS_PER_SECOND = 185.0
"""What two slow cores do; until the model has been measured."""
_ENDS, _WIDE_ENDS, _CLOSERS = ".!?", "。！？", "」』）"
_STOP_SECONDS = 2.0
_LEAST_MEASURED_TOKENS = 60
_PROBE = "The quick brown fox jumps over the lazy dog and runs home. " * 8

_LABELS = {
    "ja": ("人", "ロボ"),
    "zh": ("人", "机器人"),
    "en": ("Person", "Robot"),
}
"""How the lines of a talk begin that a base model continues. The persona's example lines use the same words."""


class _Member:
    """One of the two models: where its file is, and whose turn it is to use it."""

    def __init__(self, config: EmbeddedLlmSection, path: str, weights: Weights, data: Path) -> None:
        self.weights = weights
        self.title = Path(path).stem if path else weights.name
        self.turn = threading.Lock()
        self.tokens_per_second = _UNMEASURED_TOKENS_PER_SECOND
        self.model: Lazy[Completer] = Lazy(partial(_load, config, path, weights, data))

    def note_speed(self, timings: Mapping[str, Any] | None) -> None:
        """Learn from a prompt how fast the model reads. At start others load beside it: the first talk shows the truth."""
        # A second time there is next to nothing left to read of a prompt, and nothing to learn from it.
        if timings and timings["prompt_n"] >= _LEAST_MEASURED_TOKENS:
            self.tokens_per_second = float(timings["prompt_per_second"])


class EmbeddedLlm:
    """The two packaged models, each loaded when its language is first used. One answer at a time per model."""

    def __init__(self, config: LlmSection, languages: Sequence[str], data: Path) -> None:
        """Remember the settings.

        Args:
            config: Paths, limits and time-outs.
            languages: Two-letter codes of the languages that `warm_up` prepares.
            data: Where joined model files are kept.
        """
        self._config = config
        self._languages = languages
        self._precedence = Precedence()
        own = config.embedded
        self._ja = _Member(own, own.ja_path, GEMMA, data)
        self._en = _Member(own, own.en_path, SMOLLM2, data)
        self.name = "embedded " + " + ".join(member.title for member in self._wanted())

    def traits(self, language: str) -> LlmTraits:
        """Return the traits of the model for `language`; the budget is a guess until `warm_up` has measured it."""
        own = self._config.embedded
        tokens = int(self._member(language).tokens_per_second * own.read_seconds)
        budget = min(max(tokens, own.least_prompt_tokens), own.most_prompt_tokens)
        return LlmTraits(compact=True, prompt_budget_tokens=budget, local=True)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        """Answer piece by piece; see `ports.Llm`. Closing the generator stops the model within a token or a batch.

        Raises:
            LlmError: Also ``llm-preempted``: this was background work, and somebody wants a reply.
        """
        member = self._member(prompt.language)
        model = await member.model.get(Stage.LLM_LOAD)
        is_reply = prompt.decoding is None or not prompt.decoding.background
        if not is_reply:
            await self._precedence.wait_for_quiet()
        with self._precedence.reply() if is_reply else nullcontext():
            answer = Answer(model, self._body(model, prompt), member.turn)
            with nullcontext() if is_reply else self._precedence.background(answer):
                async with aclosing(self._events(prompt, answer, member)) as events:
                    async for event in events:
                        yield event

    async def _events(
        self, prompt: Prompt, answer: Answer, member: _Member
    ) -> AsyncGenerator[LlmEvent, None]:
        """Pass an answer on while it is written."""
        patience = patience_for(prompt, self._config, f"The embedded model {member.title}")
        sentences = self._config.embedded.max_sentences if prompt.decoding is None else None
        reply = _Reply(sentences)
        try:
            with stage(Stage.LLM_QUEUE):
                await patience.wait(answer.began.wait)
            while (piece := await patience.wait(answer.next)) is not None:
                patience.begin()
                if text := reply.take(piece.text):
                    yield TextDelta(text)
                if piece.usage or (reply.is_over and piece.timings):
                    member.note_speed(piece.timings)
                    yield _usage(piece)
                if reply.is_over:
                    return
        finally:
            answer.stop()

    async def warm_up(self) -> None:
        """Load the models of the configured languages, and measure how fast each reads."""
        for member in self._wanted():
            model = await member.model.get()
            answer = Answer(model, {"prompt": _PROBE, "max_tokens": 1}, member.turn)
            try:
                while (piece := await answer.next()) is not None:
                    member.note_speed(piece.timings)
            finally:
                answer.stop()
            log.info(
                "llm-loaded",
                model=member.title,
                read_tokens_per_second=round(member.tokens_per_second),
            )

    async def aclose(self) -> None:
        """Let go of the models, as soon as each has really stopped: it may not compute while the program ends."""
        for member in (self._ja, self._en):
            if await to_thread.run_sync(member.turn.acquire, True, _STOP_SECONDS):
                member.turn.release()
            member.model.drop()

    def _member(self, language: str) -> _Member:
        return self._ja if language == "ja" else self._en

    def _wanted(self) -> list[_Member]:
        return list(dict.fromkeys(self._member(language) for language in self._languages))

    def _body(self, model: Completer, prompt: Prompt) -> Body:
        own = self._config.embedded
        # llama.cpp could hold the answer to decoding.schema, but models of this size then fill it with dots without end.
        decoding = prompt.decoding or Decoding(own.temperature, own.max_tokens)
        body: Body = {
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            # What is no talk, such as JSON, repeats itself for good reasons.
            "repeat_penalty": own.repeat_penalty if prompt.decoding is None else 1.0,
            "cache_prompt": True,
            "timings_per_token": True,
        }
        if model.is_chat_model:
            return {**body, "messages": as_chat(prompt)}
        person, _ = _labels(prompt.language)
        stops = ["\n"] if prompt.decoding is None else []
        return {**body, "prompt": as_dialogue(prompt), "stop": [*stops, f"{person}:"]}


class _Reply:
    """The text of an answer on its way out: without blanks in front, and with so many sentences at most, if that is limited.

    Models of this size do not find an end: after two sentences they ramble.
    """

    def __init__(self, max_sentences: int | None) -> None:
        self._left = max_sentences
        self._last = ""
        self._begun = False
        self.is_over = False

    def take(self, text: str) -> str:
        """Return what of `text` belongs to the reply."""
        said = ""
        for character in text:
            if self._left is not None and self._ended_before(character):
                self._left -= 1
                self._last = ""
                self.is_over = self._left == 0
            if self.is_over:
                return said
            self._begun = self._begun or not character.isspace()
            if self._begun:
                self._last = character
                said += character
        return said

    def _ended_before(self, character: str) -> bool:
        if self._last in _WIDE_ENDS:
            return bool(self._last) and character not in _WIDE_ENDS + _CLOSERS
        return self._last in _ENDS and character.isspace()


def as_dialogue(prompt: Prompt) -> str:
    """Write a prompt as a talk whose next line is the robot's, for a model that continues texts.

    What is said is put on one line, so that nobody can speak a line of the robot.
    """
    person, robot = _labels(prompt.language)
    lines = [prompt.system.rstrip()]
    for message in prompt.messages:
        label = robot if message.role == "assistant" else person
        lines.append(f"{label}: {' '.join(message.content.split())}")
    return "\n".join([*lines, f"{robot}:"])


def _labels(language: str) -> tuple[str, str]:
    return _LABELS.get(language, _LABELS["en"])


def as_chat(prompt: Prompt) -> list[dict[str, str]]:
    """Write a prompt as chat messages. Example lines of the persona become messages: small models follow those best."""
    person, robot = _labels(prompt.language)
    roles = {f"{person}: ": "user", f"{robot}: ": "assistant"}
    persona, messages = [], []
    for line in prompt.system.splitlines():
        label = next((label for label in roles if line.startswith(label)), None)
        if label is None:
            persona.append(line)
        else:
            messages.append((roles[label], line.removeprefix(label)))
    messages += [(message.role, message.content) for message in prompt.messages]
    system = "\n".join(persona).strip()
    return [
        # The marks that end a chat message are one token each, wherever they stand.
        {"role": role, "content": content.replace("<|", "< |")}
        for role, content in ([("system", system)] if system else []) + messages
    ]


def _usage(piece: Piece) -> Usage:
    if not piece.usage:  # stopped before the end: the model has not summed up
        timings = piece.timings or {}
        cached = int(timings.get("cache_n", 0))
        read, written = int(timings.get("prompt_n", 0)), int(timings.get("predicted_n", 0))
        return Usage(cached + read, written, cached)
    usage = piece.usage
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        int(usage.get("prompt_tokens", 0)),
        int(usage.get("completion_tokens", 0)),
        int(details.get("cached_tokens", 0)),
    )


def _load(config: EmbeddedLlmSection, path: str, weights: Weights, data: Path) -> GgufModel:
    file = Path(path).expanduser() if path else obtain(weights, data) / weights.files[0].name
    if not file.is_file():
        raise EngineMissing(
            f"llm.embedded: there is no model file {file}. Correct the path, or leave it empty for the packaged model."
        )
    return GgufModel(
        file,
        threads=config.threads or min(cores(), _MOST_THREADS),
        context_tokens=config.context_tokens,
    )
