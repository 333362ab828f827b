"""Wire protocols of desk robots: bytes in, events out, and back. No sockets, no clock, no knowledge of the server."""

from collections.abc import Iterable, Mapping

from firmware_bridge.codec import Codec, DeviceCodec, ProtocolError, WireMessage
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

__all__ = [
    "Aborted",
    "Alert",
    "Audio",
    "CallTool",
    "Closed",
    "Codec",
    "DeviceCodec",
    "DeviceCommand",
    "DeviceEvent",
    "Hello",
    "ListenStarted",
    "ListenStopped",
    "ListeningMode",
    "Pinged",
    "PlayAudio",
    "Pong",
    "ProtocolError",
    "Reboot",
    "SentenceStarted",
    "ShowEmotion",
    "ShowTranscript",
    "SpeechStarted",
    "SpeechStopped",
    "TextSaid",
    "ToolReplied",
    "WakeWord",
    "Welcome",
    "WireMessage",
    "negotiate",
]


def negotiate(
    path: str,
    headers: Mapping[str, str],
    query: Mapping[str, str],
    *,
    wake_words: Iterable[str] | None = None,
) -> Codec:
    """Return a new codec for a connection, chosen by the path that the robot asked for.

    Args:
        path: Path of the request; a query string behind it is ignored.
        headers: Headers of the request, names in any case. `Protocol-Version` is the framing of a xiaozhi robot.
        query: The query string, taken apart. Browsers can't set headers, so it may hold them instead, in lower case.
        wake_words: Texts that a xiaozhi robot sends for its wake word, instead of the well-known ones.

    Raises:
        ProtocolError: `unknown-path`.
    """
    match path.partition("?")[0].removesuffix("/"):
        case "/xiaozhi/v1":
            # Codecs are imported where they are chosen: Opus is not needed to speak pcm.
            from firmware_bridge.framing import FRAMING_VERSIONS  # noqa: PLC0415
            from firmware_bridge.wake_words import WAKE_WORDS  # noqa: PLC0415
            from firmware_bridge.xiaozhi import XiaozhiCodec  # noqa: PLC0415

            announced = _find(headers, "protocol-version") or query.get("protocol-version", "")
            names = {str(number): version for number, version in FRAMING_VERSIONS.items()}
            version = names.get(announced.strip(), 1)
            return XiaozhiCodec(
                version, wake_words=WAKE_WORDS if wake_words is None else wake_words
            )
        case "/pcm":
            from firmware_bridge.pcm import PcmCodec  # noqa: PLC0415

            return PcmCodec()
        case _:
            raise ProtocolError(
                "unknown-path", "No robot protocol lives here; use /xiaozhi/v1/ or /pcm."
            )


def _find(headers: Mapping[str, str], wanted: str) -> str:
    """Return the header whose name is `wanted` in any case; empty if it is missing or was sent more than once."""
    for name in headers:
        if name.lower() == wanted:
            try:
                return headers[name]
            except LookupError:
                return ""
    return ""
