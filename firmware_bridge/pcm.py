"""Omoide's own small protocol: JSON texts and raw sound, for the browser page, simulators and hobby boards.

Connect to `/pcm`, send `hello`, wait for `welcome`, then talk. Every text message is one JSON object with a `type`; unknown
types and fields are ignored. Every binary message is sound: mono, signed 16 bit, little endian, whole samples, any
number of them; a stray last byte is dropped.

Client to server:

| type | fields | |
| --- | --- | --- |
| `hello` | `rate` 8000 to 48000 (16000 if left out), `features` list of names | first; the rate of what the client sends |
| `listen` | `state` `start`, `mode` `auto` (if left out), `manual` or `realtime` | the microphone is open |
| `listen` | `state` `stop` | the utterance ends here |
| `text` | `text` | an utterance that was typed |
| `wake` | `text` | the wake word was heard |
| `abort` | `reason` | stop talking |
| `tool` | `payload`, JSON-RPC | answer of a tool on the robot |
| `ping` | | answered by `pong` |
| `bye` | `reason` | nothing follows |
| binary | | what the microphone heard |

Features that mean something: `aec` (the client cancels its own echo), `mcp` (it has tools).

Server to client:

| type | fields | |
| --- | --- | --- |
| `welcome` | `session_id`, `rate`, `frame_ms` | format of the sound that will be sent |
| `transcript` | `text` | what was understood |
| `emotion` | `emotion`, `emoji` | the face for what follows |
| `speech` | `state` `start` | sound follows |
| `sentence` | `text` | the sentence whose sound follows |
| binary | | one frame of `frame_ms`, to be played after those before it |
| `speech` | `state` `stop`, `interrupted` true or false | the answer is over; if interrupted, throw away what was not played |
| `alert` | `status`, `message`, `emotion` | something to show |
| `tool` | `payload`, JSON-RPC | call of a tool on the robot |
| `pong` | | |
"""

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from firmware_bridge.codec import ProtocolError, WireMessage
from firmware_bridge.events import (
    Aborted,
    Alert,
    Audio,
    CallTool,
    Closed,
    DeviceCommand,
    DeviceEvent,
    Hello,
    ListeningMode,
    ListenStarted,
    ListenStopped,
    Pinged,
    PlayAudio,
    Pong,
    Reboot,
    SentenceStarted,
    ShowEmotion,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    ToolReplied,
    WakeWord,
    Welcome,
)
from firmware_bridge.wire import (
    read_choice,
    read_features,
    read_mapping,
    read_object,
    read_text,
    write_object,
)

_RATES = range(8_000, 48_001)
_FRAMES_MS = range(1, 1_001)
_RATE = 16_000
_MODES: dict[str, ListeningMode] = {"manual": "manual", "realtime": "realtime"}

_Talk: TypeAlias = ListenStarted | ListenStopped | TextSaid | WakeWord | Aborted
_Signal: TypeAlias = ToolReplied | Pinged | Closed
_Speech: TypeAlias = SpeechStarted | SentenceStarted | SpeechStopped | ShowEmotion
_Notice: TypeAlias = ShowTranscript | Alert | CallTool | Pong


class PcmCodec:
    """The server's side of one connection."""

    name = "pcm"

    def __init__(self) -> None:
        self._ignored = 0
        self._uplink_rate = _RATE
        self._downlink_rate: int | None = None

    @property
    def ignored(self) -> int:
        """How many messages were dropped: unknown, or without a single sample."""
        return self._ignored

    def receive(self, message: WireMessage) -> list[DeviceEvent]:
        """Translate one message of the client.

        Raises:
            ProtocolError: A text that is not a JSON object, or a hello with a rate out of range: any other guess at
                the pitch would be worse.
        """
        event: DeviceEvent | None
        if isinstance(message, str):
            event = self._receive_text(message)
        else:
            pcm = _keep_whole_samples(message)
            event = Audio(pcm, self._uplink_rate) if pcm else None
        if event is None:
            self._ignored += 1
            return []
        return [event]

    def send(self, command: DeviceCommand) -> list[WireMessage]:
        """Translate one command; `Reboot` has no word here.

        Raises:
            ValueError: A `PlayAudio` before `Welcome`, or at another rate than it announced.
        """
        match command:
            case Welcome():
                self._downlink_rate = command.audio_rate
                return [_write_welcome(command)]
            case PlayAudio():
                if command.rate != self._downlink_rate:
                    raise ValueError(f"Welcome announced {self._downlink_rate} Hz.")
                return [command.pcm]
            case Reboot():
                return []
            case SpeechStarted() | SentenceStarted() | SpeechStopped() | ShowEmotion():
                return [write_object(_describe_speech(command))]
            case _:
                return [write_object(_describe_notice(command))]

    def _receive_text(self, text: str) -> DeviceEvent | None:
        fields = read_object(text)
        if fields.get("type") == "hello":
            self._uplink_rate = _read_rate(fields)
            features = read_features(fields.get("features"))
            return Hello(features=features, audio_rate=self._uplink_rate)
        return _read_talk(fields)


class PcmDeviceCodec:
    """The client's side of one connection."""

    name = "pcm"

    def __init__(self) -> None:
        self._ignored = 0
        self._uplink_rate = _RATE
        self._downlink_rate = _RATE

    @property
    def ignored(self) -> int:
        """How many messages were dropped: unknown, or without a single sample."""
        return self._ignored

    def receive(self, message: WireMessage) -> list[DeviceCommand]:
        """Translate one message of the server.

        Raises:
            ProtocolError: A text that is not a JSON object, or a welcome with a rate out of range.
        """
        command: DeviceCommand | None
        if isinstance(message, str):
            command = self._receive_text(message)
        else:
            pcm = _keep_whole_samples(message)
            command = PlayAudio(pcm, self._downlink_rate) if pcm else None
        if command is None:
            self._ignored += 1
            return []
        return [command]

    def send(self, event: DeviceEvent) -> list[WireMessage]:
        """Translate one event. Of `Hello` only features and rate travel, of `Audio` only the samples.

        Raises:
            ValueError: An `Audio` at another rate than `Hello` announced.
        """
        match event:
            case Hello():
                self._uplink_rate = event.audio_rate
                features = sorted(event.features)
                hello = {"type": "hello", "rate": event.audio_rate, "features": features}
                return [write_object(hello)]
            case Audio():
                if event.rate != self._uplink_rate:
                    raise ValueError(f"The hello announced {self._uplink_rate} Hz.")
                return [event.pcm]
            case ToolReplied() | Pinged() | Closed():
                return [write_object(_describe_signal(event))]
            case _:
                return [write_object(_describe_talk(event))]

    def _receive_text(self, text: str) -> DeviceCommand | None:
        fields = read_object(text)
        if fields.get("type") == "welcome":
            self._downlink_rate = _read_rate(fields)
            frame_ms = read_choice(fields, "frame_ms", _FRAMES_MS, 60)
            return Welcome(read_text(fields, "session_id"), self._downlink_rate, frame_ms)
        return _read_speech(fields)


def _keep_whole_samples(message: bytes) -> bytes:
    return message[: len(message) // 2 * 2]


def _read_rate(fields: Mapping[str, object]) -> int:
    rate = read_choice(fields, "rate", _RATES, 0) if "rate" in fields else _RATE
    if not rate:
        raise ProtocolError("rate-invalid", '"rate" must be a whole number from 8000 to 48000.')
    return rate


def _read_talk(fields: Mapping[str, object]) -> DeviceEvent | None:
    match fields.get("type"):
        case "listen":
            return _read_listen(fields)
        case "text":
            text = read_text(fields, "text", limit=None)
            return TextSaid(text) if text.strip() else None
        case "wake":
            return WakeWord(read_text(fields, "text"))
        case "abort":
            return Aborted(read_text(fields, "reason"))
        case _:
            return _read_signal(fields)


def _read_listen(fields: Mapping[str, object]) -> DeviceEvent | None:
    match fields.get("state"):
        case "start":
            return ListenStarted(_MODES.get(read_text(fields, "mode"), "auto"))
        case "stop":
            return ListenStopped()
        case _:
            return None


def _read_signal(fields: Mapping[str, object]) -> DeviceEvent | None:
    match fields.get("type"):
        case "tool":
            payload = read_mapping(fields, "payload")
            return None if payload is None else ToolReplied(payload)
        case "ping":
            return Pinged()
        case "bye":
            return Closed(read_text(fields, "reason"))
        case _:
            return None


def _describe_talk(event: _Talk) -> dict[str, object]:
    match event:
        case ListenStarted():
            return {"type": "listen", "state": "start", "mode": event.mode}
        case ListenStopped():
            return {"type": "listen", "state": "stop"}
        case TextSaid():
            return {"type": "text", "text": event.text}
        case WakeWord():
            return {"type": "wake", "text": event.text}
        case Aborted():
            return {"type": "abort", "reason": event.reason}
    assert_never(event)


def _describe_signal(event: _Signal) -> dict[str, object]:
    match event:
        case ToolReplied():
            return {"type": "tool", "payload": event.payload}
        case Pinged():
            return {"type": "ping"}
        case Closed():
            return {"type": "bye", "reason": event.reason}
    assert_never(event)


def _write_welcome(command: Welcome) -> str:
    return write_object(
        {
            "type": "welcome",
            "session_id": command.session_id,
            "rate": command.audio_rate,
            "frame_ms": command.frame_ms,
        }
    )


def _describe_speech(command: _Speech) -> dict[str, object]:
    match command:
        case SpeechStarted():
            return {"type": "speech", "state": "start"}
        case SentenceStarted():
            return {"type": "sentence", "text": command.text}
        case SpeechStopped():
            return {"type": "speech", "state": "stop", "interrupted": command.interrupted}
        case ShowEmotion():
            return {"type": "emotion", "emotion": command.emotion, "emoji": command.emoji}
    assert_never(command)


def _describe_notice(command: _Notice) -> dict[str, object]:
    match command:
        case ShowTranscript():
            return {"type": "transcript", "text": command.text}
        case Alert(status, message, emotion):
            return {"type": "alert", "status": status, "message": message, "emotion": emotion}
        case CallTool():
            return {"type": "tool", "payload": command.payload}
        case Pong():
            return {"type": "pong"}
    assert_never(command)


def _read_speech(fields: Mapping[str, object]) -> DeviceCommand | None:
    match fields.get("type"):
        case "speech" if fields.get("state") == "start":
            return SpeechStarted()
        case "speech" if fields.get("state") == "stop":
            return SpeechStopped(interrupted=fields.get("interrupted") is True)
        case "sentence":
            return SentenceStarted(read_text(fields, "text", limit=None))
        case "emotion":
            return ShowEmotion(read_text(fields, "emotion"), read_text(fields, "emoji"))
        case _:
            return _read_notice(fields)


def _read_notice(fields: Mapping[str, object]) -> DeviceCommand | None:
    match fields.get("type"):
        case "transcript":
            return ShowTranscript(read_text(fields, "text", limit=None))
        case "alert":
            texts = [read_text(fields, key, limit=None) for key in ("status", "message", "emotion")]
            return Alert(*texts)
        case "tool":
            payload = read_mapping(fields, "payload")
            return None if payload is None else CallTool(payload)
        case "pong":
            return Pong()
        case _:
            return None
