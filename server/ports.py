"""The seams of the program: what a conversation needs from engines, devices and the clock.

Read this, `turn` and `conversation`, and you have understood Omoide. Engines are built by
`server.{vad,asr,llm,tts,embedding}.build` from the configuration; `app` opens and closes them. Every engine is ready to be
*called* at once: a model is loaded in the background or at the first use, and the wait for it is a stage of the turn.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firmware_bridge.events import DeviceCommand, DeviceEvent
from server.audio import Audio, Samples
from server.errors import OmoideError
from server.turn import Prompt, Transcript, Turn


class Clock(Protocol):
    """Wall time. Durations are measured with `anyio.current_time`."""

    def now(self) -> datetime:
        """Return the present moment, aware, in the zone of the configuration."""


class Engine(Protocol):
    """What all engines share: a life that `app` controls."""

    @property
    def name(self) -> str:
        """Name of engine and model for logs, traces and `omoide doctor`."""

    async def warm_up(self) -> None:
        """Load the model and make one dry run, so that the first turn is as fast as the others.

        May be called while the engine is already in use, and more than once.

        Raises:
            OmoideError: The engine can't work; the message says what to install or change.
        """

    async def aclose(self) -> None:
        """Free what the engine holds. Calls that are still running end with an error of the engine."""


class VadSession(Protocol):
    """Voice activity of one microphone. Not safe to share between streams: it has a memory of the sound before."""

    def speech_probability(self, frame: Samples) -> float:
        """Return the probability from 0 to 1 that `frame` (`Vad.frame_samples` long, 16 kHz) holds speech."""

    def reset(self) -> None:
        """Forget the sound so far, as after a gap."""


class Vad(Engine, Protocol):
    """Voice activity detection at 16 kHz. Fast enough to be called in the event loop."""

    @property
    def frame_samples(self) -> int:
        """How many samples `VadSession.speech_probability` takes."""

    def session(self) -> VadSession:
        """Start on a new microphone.

        Raises:
            OmoideError: The model can't be loaded.
        """


@dataclass(frozen=True, slots=True)
class SpeechChunk:
    """A piece of an utterance on its way to the recogniser."""

    samples: Samples
    """16 kHz mono."""
    silence_samples: int
    """Length of the silence at the end of everything sent so far: a recogniser may start at a pause and throw the
    result away if speech goes on."""


class Speech(Protocol):
    """One utterance while it is being spoken."""

    def chunks(self) -> AsyncIterator[SpeechChunk]:
        """Iterate over the sound from the pre-roll to the endpoint; ends when the utterance ends.

        Several may listen at once, each from the beginning.
        """

    def expect_text(self) -> None:
        """Say that all that was heard so far is being recognised, and that its text will be there soon.

        The end of the utterance is decided when it is: call this only if that will be sooner than anybody goes on.
        """

    def read_text(self, text: Transcript | None, samples: int) -> None:
        """Tell what was said so far, for the end of the utterance; see `expect_text`.

        Args:
            text: None if it could not be recognised.
            samples: How much sound it is the text of; it is ignored if there was a voice after that.
        """

    def take_hint(self, probability: float, samples: int) -> None:
        """Tell how probable it is, by the sound of the voice, that the speaker has finished.

        Args:
            probability: From 0 to 1.
            samples: How much sound that was judged by; it is ignored if there was a voice after that.
        """


class TurnEndHint(Engine, Protocol):
    """Hears by melody and pace of a voice whether it has finished. A hint beside the words, never an end by itself."""

    async def probability(self, samples: Samples) -> float:
        """Return how probable it is that the speaker has finished.

        Args:
            samples: What was said so far, 16 kHz, with the beginning of the pause.

        Raises:
            OmoideError: The engine can't work, or failed.
        """


class Asr(Engine, Protocol):
    """Speech recognition."""

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        """Turn an utterance into text.

        Consumes `speech` to its end. Cancellation abandons a running computation.

        Args:
            speech: The utterance; may still be growing.
            language: Two-letter code, or None to detect it among the configured ones.

        Returns:
            The transcript; its text is empty if nothing was said (silence, noise, an invented phrase).

        Raises:
            AsrError: The engine failed.
        """


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the call cost. Comes last, if the engine knows."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    """Prompt tokens that a prefix cache made free."""


LlmEvent: TypeAlias = TextDelta | Usage


@dataclass(frozen=True, slots=True)
class LlmTraits:
    """What a model can be asked, for the composer of prompts."""

    compact: bool
    """True for a small model: short persona, no instructions it can't follow."""
    prompt_budget_tokens: int
    """How many tokens a prompt may have so that reading it does not delay the answer."""
    local: bool
    """Whether it computes in the house, where an answer is slower while the model also works at something else."""


class Llm(Engine, Protocol):
    """A language model that streams its answer."""

    def traits(self, language: str) -> LlmTraits:
        """Say what the model that would answer in `language` can be asked."""

    def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        """Answer `prompt` piece by piece.

        Close the generator (`aclosing`) to stop the model: the connection or computation behind it ends too.

        Raises:
            LlmError: Codes ``llm-unreachable``, ``llm-refused``, ``llm-timeout`` (no first token, a stall, or too long
                altogether), ``llm-failed``, ``llm-unconfigured``. Comes after all that was received before it.
        """


@dataclass(frozen=True, slots=True)
class Voice:
    """Who speaks, and in which language."""

    language: str
    name: str = ""
    """Voice of the engine; empty for its default."""
    speed: float = 1.0


class Tts(Engine, Protocol):
    """Speech synthesis."""

    def languages(self) -> Sequence[str]:
        """Return the two-letter codes that this engine can speak; empty if it does not know."""

    def synthesize(self, text: str, voice: Voice) -> AsyncGenerator[Audio, None]:
        """Speak one sentence, in one or more pieces, all at the same rate.

        Args:
            text: Plain text that holds something to say; see `server.speakable`.
            voice: Voice and language.

        Raises:
            TtsError: The engine failed, gave no sound, or took too long.
        """


Vectors: TypeAlias = NDArray[np.float32]
"""What texts mean, shape (n, dimensions). Each row is finite and of unit length, so a dot product is a cosine."""

TextKind: TypeAlias = Literal["query", "passage"]
"""Whether a text asks or is searched; some models read the two differently."""


class EmbeddingError(OmoideError):
    """A text could not be turned into a vector.

    Attributes:
        positions: Which of the texts are at fault; empty if it was not the texts.
    """

    def __init__(self, code: str, message: str, *, positions: Sequence[int] = ()) -> None:
        super().__init__(code, message)
        self.positions = tuple(positions)


class Embedder(Engine, Protocol):
    """Turns texts into vectors of which those of like meaning are close."""

    @property
    def model(self) -> str:
        """Identity of the model, its version and its quantisation: vectors of another one can't be compared."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Return one vector for each text, in order.

        Any text is taken: lone surrogates and control characters are dropped, what goes on for pages is cut. A text
        that says nothing gets a vector that means nothing; better not to ask. Cancellation abandons the result.

        Raises:
            EmbeddingError: Codes ``embedding-invalid`` (not finite, zero, or of another length), ``embedding-unreachable``,
                ``embedding-timeout``, ``embedding-refused``, ``embedding-rate-limited``, ``embedding-unconfigured``,
                ``embedding-failed``. Nothing is returned then, but `EmbeddingError.positions` names the texts at fault, if
                it was the texts: all others can be embedded without them.
            EngineMissing: A package or the weights are not installed.
        """


class Device(Protocol):
    """One connected robot, as a conversation sees it."""

    @property
    def id(self) -> str:
        """Stable identity, e.g. the MAC address."""

    @property
    def person(self) -> str:
        """Whose memory and history belong to this conversation."""

    @property
    def is_guest(self) -> bool:
        """Whether nothing of what is said may be kept, and nothing is to be recalled."""

    @property
    def household(self) -> Sequence[str]:
        """Who may say that it is them who speaks now; nobody on a guest's device."""

    def become(self, person: str) -> None:
        """Go on with the memory of somebody of the household; with an empty name as a guest of it."""

    @property
    def language(self) -> str | None:
        """Fixed language, or None to detect it."""

    @property
    def voice(self) -> str:
        """Fixed voice, or empty."""

    @property
    def profile(self) -> str:
        """Name of the device profile, for faces and limits, e.g. ``stackchan``."""

    @property
    def echo_cancelled(self) -> bool:
        """Whether the device said that it removes its own voice from what it hears."""

    @property
    def playback_rate(self) -> int:
        """Hertz of the frames to play."""

    @property
    def frame_samples(self) -> int:
        """Samples in one frame to play."""

    def events(self) -> AsyncIterator[DeviceEvent]:
        """Iterate over what the device sends, in order, until it hangs up. `Audio` is at 16 kHz.

        Waiting for the next event may be cancelled without losing one (a memory stream, not an async generator).
        """

    def send(self, command: DeviceCommand) -> None:
        """Queue a command. Never blocks and never fails: on a dead line commands are dropped."""

    def touch(self) -> None:
        """Say that somebody is talking: the line is in use, and not to be closed as idle."""

    def said_between(self, start: float, end: float) -> Sequence[str]:
        """Return the sentences of which the device may have heard an echo between two moments of `anyio.current_time`."""

    def drop_audio(self) -> None:
        """Take back the audio that has not left the server yet."""


class TurnObserver(Protocol):
    """Somebody who reads finished turns: memory, metrics, recording, the console."""

    def turn_finished(self, turn: Turn) -> None:
        """Take note of a finished turn. Must return at once and must not raise."""
