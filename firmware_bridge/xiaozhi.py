"""The xiaozhi-esp32 WebSocket protocol: JSON texts and Opus packets, for the server and for the robot.

Robot to server:

| text | event |
| --- | --- |
| `hello` (version, features, audio_params) | `Hello` |
| `listen` state `start` (mode) / `stop` | `ListenStarted` / `ListenStopped` |
| `listen` state `detect` (text) | `WakeWord` or `TextSaid`, see `wake_words` |
| `abort` (reason) | `Aborted` |
| `mcp` (payload) | `ToolReplied` |
| `goodbye` | `Closed` |
| `ping` (some third-party clients) | `Pinged` |

Server to robot: `hello` (`Welcome`), `stt` (`ShowTranscript`), `tts` state `start`, `sentence_start`, `stop`
(`SpeechStarted`, `SentenceStarted`, `SpeechStopped`), `llm` (`ShowEmotion`), `mcp` (`CallTool`), `alert`, `system`
(`Reboot`), `pong`. Every other text is ignored and counted, on both sides (`iot` of old firmware, for one).

Binary messages hold one Opus packet each, framed as in `framing`. A WebSocket delivers messages whole, so a bad one
says nothing about the next: whatever arrives in binary can be dropped and counted, but never ends the connection.
"""

from collections.abc import Iterable, Mapping

from firmware_bridge.codec import ProtocolError, WireMessage
from firmware_bridge.events import (
    Audio,
    DeviceCommand,
    DeviceEvent,
    Hello,
    ListeningMode,
    ListenStarted,
    ListenStopped,
    PlayAudio,
    SentenceStarted,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
    Welcome,
)
from firmware_bridge.framing import FRAMING_VERSIONS, Frame, FramingVersion, unwrap, wrap
from firmware_bridge.opus import (
    FRAME_DURATIONS_MS,
    OPUS_RATES,
    OpusDecoder,
    OpusEncoder,
    OpusError,
)
from firmware_bridge.wake_words import WAKE_WORDS, WakeWordJudge
from firmware_bridge.wire import (
    read_choice,
    read_features,
    read_mapping,
    read_object,
    read_text,
    write_object,
)
from firmware_bridge.xiaozhi_messages import (
    describe_audio,
    describe_command,
    describe_event,
    read_command,
    read_signal,
)

_UPLINK_RATE = 16_000
_DOWNLINK_RATE = 24_000
_FRAME_MS = 60
_LISTENING_MODES: dict[str, ListeningMode] = {
    "auto": "auto",
    "manual": "manual",
    "realtime": "realtime",
}


class XiaozhiCodec:
    """The server's side of one connection.

    Sound is decoded at the rate that the hello announced if Opus knows it, else at 16 kHz; `Audio.rate` and
    `Hello.audio_rate` say which. A hello may also announce `"format": "pcm"` (xiaozhi-sdk can): then the packets that
    arrive hold raw samples. What is sent is always Opus.

    In framing 2, the n-th frame sent (from 1) carries the stamp n * frame_ms, which a robot with echo
    cancellation on the server sends back with what it heard meanwhile; a stamp of 0 arrives as None.

    Args:
        version: Framing from the request header; the hello's own `version`, if valid, takes its place.
        wake_words: Texts of `listen detect` that are never typed lines.
        bitrate: Bits per second of the speech that is sent.
    """

    name = "xiaozhi"

    def __init__(
        self,
        version: FramingVersion = 1,
        *,
        wake_words: Iterable[str] = WAKE_WORDS,
        bitrate: int = 32_000,
    ) -> None:
        self._version: FramingVersion = version
        self._judge = WakeWordJudge(wake_words)
        self._bitrate = bitrate
        self._ignored = 0
        self._session_id = ""
        self._decoder: OpusDecoder | None = OpusDecoder(_UPLINK_RATE)
        self._rate = _UPLINK_RATE
        self._encoder: OpusEncoder | None = None
        self._frame_ms = _FRAME_MS
        self._frames_sent = 0

    @property
    def ignored(self) -> int:
        """How many messages were dropped: unknown, empty, or not decodable."""
        return self._ignored

    def receive(self, message: WireMessage) -> list[DeviceEvent]:
        """Translate one message of the robot.

        Raises:
            ProtocolError: A text that is not a JSON object.
        """
        if isinstance(message, str):
            event = self._receive_text(message)
        else:
            event = self._receive_binary(message)
        if event is None:
            self._ignored += 1
            return []
        return [event]

    def send(self, command: DeviceCommand) -> list[WireMessage]:
        """Translate one command.

        Raises:
            ValueError: A `Welcome` with a rate or frame that Opus doesn't know, a `PlayAudio` before it, or one that
                is not exactly the announced frame.
        """
        match command:
            case Welcome():
                return [self._welcome(command)]
            case PlayAudio():
                return [self._play(command)]
            case SpeechStarted() if self._encoder:
                self._encoder.reset()  # the robot resets its decoder at this message
        return [write_object({"session_id": self._session_id, **describe_command(command)})]

    def _receive_binary(self, message: bytes) -> DeviceEvent | None:
        frame = unwrap(message, self._version)
        if frame is None:
            return None
        if frame.is_json:
            return self._receive_binary_text(frame)
        pcm = self._decode(frame.payload)
        if not pcm:
            return None
        self._judge.hear(len(pcm) * 500 / self._rate)
        return Audio(pcm, self._rate, frame.timestamp_ms or None)

    def _receive_binary_text(self, frame: Frame) -> DeviceEvent | None:
        try:
            return self._receive_text(frame.payload.decode())
        except (UnicodeDecodeError, ProtocolError):
            return None

    def _decode(self, packet: bytes) -> bytes:
        if self._decoder is None:
            return packet[: len(packet) // 2 * 2]
        try:
            return self._decoder.decode(packet)
        except OpusError:
            return b""

    def _receive_text(self, text: str) -> DeviceEvent | None:
        fields = read_object(text)
        match fields.get("type"):
            case "hello":
                return self._greet(fields)
            case "listen":
                return self._listen(fields)
            case _:
                return read_signal(fields)

    def _greet(self, fields: Mapping[str, object]) -> Hello:
        version = read_choice(fields, "version", FRAMING_VERSIONS, self._version)
        self._version = FRAMING_VERSIONS[version]
        audio = read_mapping(fields, "audio_params") or {}
        self._rate = read_choice(audio, "sample_rate", OPUS_RATES, _UPLINK_RATE)
        is_raw = read_text(audio, "format") == "pcm"
        self._decoder = None if is_raw else OpusDecoder(self._rate)
        self._judge.close_microphone()
        return Hello(
            version=self._version,
            features=read_features(fields.get("features")),
            audio_rate=self._rate,
            frame_ms=read_choice(audio, "frame_duration", FRAME_DURATIONS_MS, _FRAME_MS),
        )

    def _listen(self, fields: Mapping[str, object]) -> DeviceEvent | None:
        match fields.get("state"):
            case "start":
                self._judge.open_microphone()
                return ListenStarted(_LISTENING_MODES.get(read_text(fields, "mode"), "auto"))
            case "stop":
                self._judge.close_microphone()
                return ListenStopped()
            case "detect":
                text = read_text(fields, "text", limit=None)
                if self._judge.is_wake_word(text):
                    return WakeWord(read_text(fields, "text"))
                return TextSaid(text)
            case _:
                return None

    def _welcome(self, command: Welcome) -> str:
        self._encoder = OpusEncoder(
            command.audio_rate, command.frame_ms, bitrate=self._bitrate, application="audio"
        )
        self._frame_ms = command.frame_ms
        self._session_id = command.session_id
        return write_object(
            {
                "type": "hello",
                "transport": "websocket",
                "session_id": command.session_id,
                "audio_params": describe_audio(command.audio_rate, command.frame_ms),
            }
        )

    def _play(self, command: PlayAudio) -> bytes:
        if self._encoder is None:
            raise ValueError("Send Welcome before PlayAudio: it announces the rate.")
        packet = _encode(self._encoder, command.pcm, command.rate)
        self._frames_sent += 1
        return wrap(packet, self._version, self._frames_sent * self._frame_ms)


class XiaozhiDeviceCodec:
    """The robot's side of one connection.

    `send(Hello(...))` sets the framing, the rate and the frame of everything after it; until then they are 1, 16 kHz and
    60 ms. Only translates: that a robot drops sound which comes before `tts start` is for the simulator to do.

    Args:
        dtx: Send packets of 1 or 2 bytes while it is quiet, as robots do.
    """

    name = "xiaozhi"

    def __init__(self, *, dtx: bool = True) -> None:
        self._dtx = dtx
        self._version: FramingVersion = 1
        self._ignored = 0
        self._session_id = ""
        self._encoder = self._open_encoder(_UPLINK_RATE, _FRAME_MS)
        self._decoder = OpusDecoder(_DOWNLINK_RATE)

    @property
    def ignored(self) -> int:
        """How many messages were dropped: unknown, empty, or not decodable."""
        return self._ignored

    def receive(self, message: WireMessage) -> list[DeviceCommand]:
        """Translate one message of the server.

        Raises:
            ProtocolError: A text that is not a JSON object, or a hello for another transport.
        """
        if isinstance(message, str):
            command = self._receive_text(message)
        else:
            command = self._receive_binary(message)
        if command is None:
            self._ignored += 1
            return []
        return [command]

    def send(self, event: DeviceEvent) -> list[WireMessage]:
        """Translate one event. `Hello` names neither session nor person: the protocol has no word for them.

        Raises:
            ValueError: A `Hello` with a framing, rate or frame that doesn't exist, or an `Audio` that is not exactly
                one frame of it.
        """
        match event:
            case Hello():
                return [self._greet(event)]
            case Audio():
                packet = _encode(self._encoder, event.pcm, event.rate)
                return [wrap(packet, self._version, event.timestamp_ms or 0)]
        return [write_object({"session_id": self._session_id, **describe_event(event)})]

    def _open_encoder(self, rate: int, frame_ms: int) -> OpusEncoder:
        return OpusEncoder(
            rate, frame_ms, bitrate=24_000, complexity=0, application="voip", dtx=self._dtx
        )

    def _greet(self, event: Hello) -> str:
        if event.version not in FRAMING_VERSIONS:
            raise ValueError(f"There is no framing version {event.version}.")
        self._encoder = self._open_encoder(event.audio_rate, event.frame_ms)
        self._version = FRAMING_VERSIONS[event.version]
        return write_object(
            {
                "type": "hello",
                "version": event.version,
                "features": dict.fromkeys(sorted(event.features), True),
                "transport": "websocket",
                "audio_params": describe_audio(event.audio_rate, event.frame_ms),
            }
        )

    def _receive_binary(self, message: bytes) -> DeviceCommand | None:
        frame = unwrap(message, self._version)
        if frame is None or frame.is_json:
            return None
        try:
            return PlayAudio(self._decoder.decode(frame.payload), self._decoder.rate)
        except OpusError:
            return None

    def _receive_text(self, text: str) -> DeviceCommand | None:
        fields = read_object(text)
        match fields.get("type"):
            case "hello":
                return self._enter(fields)
            case "tts":
                return self._follow_speech(fields)
            case _:
                return read_command(fields)

    def _enter(self, fields: Mapping[str, object]) -> Welcome:
        if fields.get("transport") != "websocket":
            raise ProtocolError(
                "hello-transport", 'The hello of the server must say "transport": "websocket".'
            )
        audio = read_mapping(fields, "audio_params") or {}
        rate = read_choice(audio, "sample_rate", OPUS_RATES, _DOWNLINK_RATE)
        self._decoder = OpusDecoder(rate)
        self._session_id = read_text(fields, "session_id")
        frame_ms = read_choice(audio, "frame_duration", FRAME_DURATIONS_MS, _FRAME_MS)
        return Welcome(self._session_id, rate, frame_ms)

    def _follow_speech(self, fields: Mapping[str, object]) -> DeviceCommand | None:
        match fields.get("state"):
            case "start":
                self._decoder.reset()
                return SpeechStarted()
            case "sentence_start":
                return SentenceStarted(read_text(fields, "text", limit=None))
            case "stop":
                return SpeechStopped()
            case _:
                return None


def _encode(encoder: OpusEncoder, pcm: bytes, rate: int) -> bytes:
    if rate != encoder.rate:
        raise ValueError(f"The hello announced {encoder.rate} Hz, not {rate}.")
    return encoder.encode(pcm)
