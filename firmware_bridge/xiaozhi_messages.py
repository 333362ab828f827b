"""The JSON texts of the xiaozhi protocol that mean the same in every state of the connection."""

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from firmware_bridge.events import (
    Aborted,
    Alert,
    CallTool,
    Closed,
    DeviceCommand,
    DeviceEvent,
    ListenStarted,
    ListenStopped,
    Pinged,
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
)
from firmware_bridge.wire import read_mapping, read_text

_Spoken: TypeAlias = SpeechStarted | SentenceStarted | SpeechStopped
_Shown: TypeAlias = ShowTranscript | ShowEmotion | CallTool | Alert | Pong | Reboot
_Heard: TypeAlias = ListenStarted | ListenStopped | WakeWord | TextSaid
_Signalled: TypeAlias = Aborted | ToolReplied | Closed | Pinged


def describe_audio(rate: int, frame_ms: int) -> dict[str, object]:
    """Return the `audio_params` of a hello; some clients need all four."""
    return {"format": "opus", "sample_rate": rate, "channels": 1, "frame_duration": frame_ms}


def describe_command(command: _Spoken | _Shown) -> dict[str, object]:
    """Return what a server says for a command that is text."""
    match command:
        case SpeechStarted():
            return {"type": "tts", "state": "start"}
        case SentenceStarted():
            return {"type": "tts", "state": "sentence_start", "text": command.text}
        case SpeechStopped():
            return {"type": "tts", "state": "stop"}
        case _:
            return _describe_shown(command)


def _describe_shown(command: _Shown) -> dict[str, object]:
    match command:
        case ShowTranscript():
            return {"type": "stt", "text": command.text}
        case ShowEmotion():
            return {"type": "llm", "emotion": command.emotion, "text": command.emoji}
        case CallTool():
            return {"type": "mcp", "payload": command.payload}
        case Alert(status, message, emotion):
            return {"type": "alert", "status": status, "message": message, "emotion": emotion}
        case Pong():
            return {"type": "pong"}
        case Reboot():
            return {"type": "system", "command": "reboot"}
    assert_never(command)


def describe_event(event: _Heard | _Signalled) -> dict[str, object]:
    """Return what a robot says for an event that is text."""
    match event:
        case ListenStarted():
            return {"type": "listen", "state": "start", "mode": event.mode}
        case ListenStopped():
            return {"type": "listen", "state": "stop"}
        case WakeWord() | TextSaid():
            return {"type": "listen", "state": "detect", "text": event.text}
        case _:
            return _describe_signal(event)


def _describe_signal(event: _Signalled) -> dict[str, object]:
    match event:
        case Aborted():
            return {"type": "abort", "reason": event.reason}
        case ToolReplied():
            return {"type": "mcp", "payload": event.payload}
        case Closed():
            return {"type": "goodbye", "reason": event.reason}
        case Pinged():
            return {"type": "ping"}
    assert_never(event)


def read_signal(fields: Mapping[str, object]) -> DeviceEvent | None:
    """Return the event of a robot's text that is neither hello nor listen; None if it has no meaning here."""
    match fields.get("type"):
        case "abort":
            return Aborted(read_text(fields, "reason"))
        case "mcp":
            payload = read_mapping(fields, "payload")
            return None if payload is None else ToolReplied(payload)
        case "goodbye":
            return Closed(read_text(fields, "reason"))
        case "ping":
            return Pinged()
        case _:
            return None


def read_command(fields: Mapping[str, object]) -> DeviceCommand | None:
    """Return the command of a server's text that is neither hello nor tts; None if a robot would ignore it."""
    match fields.get("type"):
        case "stt":
            return ShowTranscript(read_text(fields, "text", limit=None))
        case "llm":
            return ShowEmotion(read_text(fields, "emotion"), read_text(fields, "text"))
        case _:
            return _read_order(fields)


def _read_order(fields: Mapping[str, object]) -> DeviceCommand | None:
    match fields.get("type"):
        case "mcp":
            payload = read_mapping(fields, "payload")
            return None if payload is None else CallTool(payload)
        case "alert":
            return _read_alert(fields)
        case "system" if fields.get("command") == "reboot":
            return Reboot()
        case "pong":
            return Pong()
        case _:
            return None


def _read_alert(fields: Mapping[str, object]) -> Alert | None:
    """Return the alert if it is complete; a robot ignores one that is not."""
    parts = [fields.get(key) for key in ("status", "message", "emotion")]
    texts = [part for part in parts if isinstance(part, str)]
    return Alert(*texts) if len(texts) == len(parts) else None
