"""The closed vocabulary that every robot protocol is translated into, in both directions.

`DeviceEvent` is what a robot tells the server, `DeviceCommand` what the server tells a robot. A codec turns
wire messages into these and back; nothing else in the program knows a wire format. Audio is always mono PCM,
signed 16 bit, little endian, with its rate in hertz: Opus, framing and base64 end at the codec.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ListeningMode = Literal["auto", "manual", "realtime"]
"""`auto`: the server ends the turn and the microphone is closed while the robot speaks. `manual`: the person
ends the turn (push to talk). `realtime`: the robot cancels its own echo, so the microphone stays open."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The robot opens the conversation and says what it can do."""

    version: int = 1
    """Version of the binary framing the robot will use."""
    features: frozenset[str] = frozenset()
    """Names of the features that the robot switched on, e.g. ``mcp``, ``aec``."""
    audio_rate: int = 16_000
    """Hertz of the audio that the robot sends."""
    frame_ms: int = 60
    """Milliseconds of audio in one packet that the robot sends."""


@dataclass(frozen=True, slots=True)
class Audio:
    """A piece of what the microphone heard. Its length is whatever one packet held."""

    pcm: bytes
    rate: int
    timestamp_ms: int | None = None
    """Playback time that the robot attached (framing 2), for echo cancellation on the server."""


@dataclass(frozen=True, slots=True)
class ListenStarted:
    """The robot opened its microphone."""

    mode: ListeningMode


@dataclass(frozen=True, slots=True)
class ListenStopped:
    """The person let go of the button: the utterance ends here."""


@dataclass(frozen=True, slots=True)
class WakeWord:
    """The robot heard its wake word. Audio of it may already have been sent."""

    text: str


@dataclass(frozen=True, slots=True)
class TextSaid:
    """An utterance that arrived as text instead of sound."""

    text: str


@dataclass(frozen=True, slots=True)
class Aborted:
    """The person cut the robot short (button, touch or wake word)."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolReplied:
    """A JSON-RPC message from the tools on the robot: an answer, an error or a notification."""

    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Closed:
    """The robot said good-bye; nothing follows."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pinged:
    """The robot asks whether the server is still there; answer with `Pong`."""


DeviceEvent = (
    Hello
    | Audio
    | ListenStarted
    | ListenStopped
    | WakeWord
    | TextSaid
    | Aborted
    | ToolReplied
    | Closed
    | Pinged
)


@dataclass(frozen=True, slots=True)
class Welcome:
    """Answer to `Hello`: the session and the format of the audio that will be sent to the robot."""

    session_id: str
    audio_rate: int = 24_000
    frame_ms: int = 60


@dataclass(frozen=True, slots=True)
class ShowTranscript:
    """What the robot understood the person to say."""

    text: str


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The robot is about to speak. Audio sent before this is lost on xiaozhi robots."""


@dataclass(frozen=True, slots=True)
class SentenceStarted:
    """The sentence whose audio follows."""

    text: str


@dataclass(frozen=True, slots=True)
class PlayAudio:
    """One frame to play, exactly as long and at the rate that `Welcome` announced."""

    pcm: bytes
    rate: int


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """The robot has finished, or was cut short; it may listen again."""

    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class ShowEmotion:
    """The face for what follows: a name of the robot's own vocabulary, and an emoji where it can draw one."""

    emotion: str
    emoji: str = ""


@dataclass(frozen=True, slots=True)
class CallTool:
    """A JSON-RPC message for the tools on the robot."""

    payload: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alert:
    """A message on the robot's screen with a sound: the last resort when the robot can't speak."""

    status: str
    message: str
    emotion: str = "sad"


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to `Pinged`."""


@dataclass(frozen=True, slots=True)
class Reboot:
    """Restart the robot. The connection ends without a good-bye."""


DeviceCommand = (
    Welcome
    | ShowTranscript
    | SpeechStarted
    | SentenceStarted
    | PlayAudio
    | SpeechStopped
    | ShowEmotion
    | CallTool
    | Alert
    | Pong
    | Reboot
)
