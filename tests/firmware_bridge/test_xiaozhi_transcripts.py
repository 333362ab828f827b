"""Golden transcripts: what real robots and clients send, word for word, and what they are told."""

import json

import pytest

from firmware_bridge.codec import Codec, DeviceCodec, ProtocolError
from firmware_bridge.events import (
    Aborted,
    Alert,
    Audio,
    CallTool,
    Closed,
    DeviceCommand,
    DeviceEvent,
    Hello,
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
    Welcome,
)
from firmware_bridge.opus import OpusEncoder
from firmware_bridge.xiaozhi import XiaozhiCodec, XiaozhiDeviceCodec
from tests.firmware_bridge.sounds import cut, make_tone

# A StackChan on firmware 2.2, woken by its wake word, in auto mode.
STACKCHAN: list[tuple[str, list[DeviceEvent]]] = [
    (
        (
            '{"type":"hello","version":1,"features":{"mcp":true,"glyph_push":false},"transport":"websocket",'
            '"text_font":{"bundle":"x","charset":"y","size":16,"bpp":1},'
            '"audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}}'
        ),
        [Hello(version=1, features=frozenset({"mcp"}), audio_rate=16_000, frame_ms=60)],
    ),
    (
        '{"session_id":"s1","type":"listen","state":"detect","text":"Hi,Stack Chan"}',
        [WakeWord("Hi,Stack Chan")],
    ),
    (
        '{"session_id":"s1","type":"listen","state":"start","mode":"auto"}',
        [ListenStarted("auto")],
    ),
    (
        '{"session_id":"s1","type":"mcp","payload":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}',
        [ToolReplied({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})],
    ),
    (
        '{"session_id":"s1","type":"abort","reason":"wake_word_detected"}',
        [Aborted("wake_word_detected")],
    ),
    ('{"session_id":"s1","type":"abort"}', [Aborted("")]),
    (
        '{"session_id":"s1","type":"listen","state":"start","mode":"manual"}',
        [ListenStarted("manual")],
    ),
    ('{"session_id":"s1","type":"listen","state":"stop"}', [ListenStopped()]),
    ('{"session_id":"s1","type":"goodbye"}', [Closed()]),
]

# xiaozhi-sdk 0.5.1: opens the microphone at once and types while it is open.
SDK: list[tuple[str, list[DeviceEvent]]] = [
    (
        (
            '{"type": "hello", "version": 1, "features": {"mcp": true, "consistent_sample_rate": false}, '
            '"transport": "websocket", "audio_params": {"format": "opus", "sample_rate": 16000, '
            '"channels": 1, "frame_duration": 60}}'
        ),
        [Hello(features=frozenset({"mcp"}))],
    ),
    (
        '{"session_id": "", "type": "listen", "state": "start", "mode": "realtime"}',
        [ListenStarted("realtime")],
    ),
    (
        '{"session_id": "", "type": "listen", "state": "detect", "text": "\\u4f60\\u597d\\u554a"}',
        [TextSaid("你好啊")],
    ),
    ('{"session_id": "", "type": "abort", "reason": ""}', [Aborted()]),
]

ODD: list[tuple[str, list[DeviceEvent]]] = [
    ('{"type":"ping"}', [Pinged()]),
    ('{"type":"iot","update":true,"descriptors":[]}', []),
    ('{"type":"whatever","x":1}', []),
    ("{}", []),
    ('{"type":null}', []),
    ('{"type":["hello"]}', []),
    ('{"type":"listen"}', []),
    ('{"type":"listen","state":"dance"}', []),
    ('{"type":"listen","state":"start"}', [ListenStarted("auto")]),
    ('{"type":"listen","state":"start","mode":7}', [ListenStarted("auto")]),
    ('{"type":"listen","state":"detect"}', [WakeWord("")]),
    ('{"type":"listen","state":"detect","text":["x"]}', [WakeWord("")]),
    ('{"type":"mcp"}', []),
    ('{"type":"mcp","payload":"{}"}', []),
    ('{"type":"abort","reason":{"a":1}}', [Aborted("")]),
    ('{"type":"hello"}', [Hello()]),
    ('{"type":"hello","version":"3","features":7,"audio_params":[]}', [Hello()]),
    ('{"type":"hello","features":["aec","mcp"]}', [Hello(features=frozenset({"aec", "mcp"}))]),
    (
        '{"type":"hello","version":true,"audio_params":{"sample_rate":44100,"frame_duration":1e3}}',
        [Hello()],
    ),
    (
        '{"type":"hello","version":9,"audio_params":{"sample_rate":24000.0,"frame_duration":20}}',
        [Hello(audio_rate=24_000, frame_ms=20)],
    ),
]


@pytest.mark.parametrize("transcript", [STACKCHAN, SDK], ids=["stackchan", "sdk"])
def test_a_real_client_is_understood(transcript: list[tuple[str, list[DeviceEvent]]]) -> None:
    codec = XiaozhiCodec()
    assert [codec.receive(text) for text, _ in transcript] == [events for _, events in transcript]
    assert codec.ignored == 0


@pytest.mark.parametrize(("text", "events"), ODD)
def test_odd_fields_have_a_harmless_meaning_or_are_counted(
    text: str, events: list[DeviceEvent]
) -> None:
    codec = XiaozhiCodec()
    assert codec.receive(text) == events
    assert codec.ignored == (not events)


SAID: list[tuple[DeviceCommand, dict[str, object]]] = [
    (ShowTranscript("おはよう"), {"type": "stt", "text": "おはよう"}),
    (SpeechStarted(), {"type": "tts", "state": "start"}),
    (ShowEmotion("happy", "🙂"), {"type": "llm", "emotion": "happy", "text": "🙂"}),
    (SentenceStarted('a "b"'), {"type": "tts", "state": "sentence_start", "text": 'a "b"'}),
    (SpeechStopped(), {"type": "tts", "state": "stop"}),
    (SpeechStopped(interrupted=True), {"type": "tts", "state": "stop"}),
    (
        CallTool({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        {"type": "mcp", "payload": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
    ),
    (
        Alert("Sorry", "No model", "sad"),
        {"type": "alert", "status": "Sorry", "message": "No model", "emotion": "sad"},
    ),
    (Pong(), {"type": "pong"}),
    (Reboot(), {"type": "system", "command": "reboot"}),
]


def test_the_hello_of_the_server_has_every_field_that_some_client_needs() -> None:
    (text,) = XiaozhiCodec().send(Welcome("s1", 24_000, 60))
    assert text == (
        '{"type":"hello","transport":"websocket","session_id":"s1","audio_params":'
        '{"format":"opus","sample_rate":24000,"channels":1,"frame_duration":60}}'
    )


@pytest.mark.parametrize(("command", "fields"), SAID)
def test_a_command_is_said_in_the_words_of_the_protocol(
    command: DeviceCommand, fields: dict[str, object]
) -> None:
    codec = XiaozhiCodec()
    codec.send(Welcome("s1"))
    (text,) = codec.send(command)
    assert isinstance(text, str)
    assert json.loads(text) == {"session_id": "s1", **fields}


def test_japanese_is_not_escaped() -> None:
    (text,) = XiaozhiCodec().send(ShowTranscript("思い出"))
    assert "思い出" in text


HEARD: list[tuple[str, list[DeviceCommand]]] = [
    ('{"type":"hello","transport":"websocket","session_id":"x"}', [Welcome("x", 24_000, 60)]),
    (
        (
            '{"type":"hello","transport":"websocket","audio_params":{"sample_rate":16000,'
            '"frame_duration":20}}'
        ),
        [Welcome("", 16_000, 20)],
    ),
    ('{"type":"tts","state":"sentence_end","text":"x"}', []),
    ('{"type":"tts"}', []),
    ('{"type":"llm","emotion":"sad"}', [ShowEmotion("sad", "")]),
    ('{"type":"alert","status":"a","message":"b"}', []),
    ('{"type":"alert","status":"a","message":"b","emotion":"c"}', [Alert("a", "b", "c")]),
    ('{"type":"system","command":"dance"}', []),
    ('{"type":"custom","payload":{}}', []),
    ('{"type":"goodbye","session_id":"x"}', []),
    ('{"type":"mcp","payload":[]}', []),
    ('{"text":"no type"}', []),
]


@pytest.mark.parametrize(("text", "commands"), HEARD)
def test_a_robot_understands_what_the_firmware_understands(
    text: str, commands: list[DeviceCommand]
) -> None:
    codec = XiaozhiDeviceCodec()
    assert codec.receive(text) == commands
    assert codec.ignored == (not commands)


@pytest.mark.parametrize("transport", ["", '"transport":"udp",', '"transport":null,'])
def test_a_robot_refuses_a_hello_without_its_transport(transport: str) -> None:
    with pytest.raises(ProtocolError) as error:
        XiaozhiDeviceCodec().receive(f'{{"type":"hello",{transport}"session_id":"x"}}')
    assert error.value.code == "hello-transport"


def test_the_session_id_is_echoed_in_everything_a_robot_says() -> None:
    robot = XiaozhiDeviceCodec()
    robot.receive('{"type":"hello","transport":"websocket","session_id":"s9"}')
    (text,) = robot.send(ListenStarted("manual"))
    assert json.loads(str(text)) == {
        "session_id": "s9",
        "type": "listen",
        "state": "start",
        "mode": "manual",
    }


def test_the_hello_of_a_robot_is_that_of_the_firmware() -> None:
    hello = Hello(version=3, features=frozenset({"mcp", "aec"}), audio_rate=16_000, frame_ms=60)
    (text,) = XiaozhiDeviceCodec().send(hello)
    assert json.loads(str(text)) == {
        "type": "hello",
        "version": 3,
        "features": {"mcp": True, "aec": True},
        "transport": "websocket",
        "audio_params": {
            "format": "opus",
            "sample_rate": 16_000,
            "channels": 1,
            "frame_duration": 60,
        },
    }


# What `listen detect` means.


def speak(codec: XiaozhiCodec, packets: int) -> None:
    encoder = OpusEncoder(16_000, 60)
    for frame in cut(make_tone(300, 16_000, 0.06 * packets), encoder.frame_bytes):
        (event,) = codec.receive(encoder.encode(frame))
        assert isinstance(event, Audio)


def detect(codec: XiaozhiCodec, text: str) -> DeviceEvent:
    message = {"type": "listen", "state": "detect", "text": text}
    (event,) = codec.receive(json.dumps(message))
    return event


def test_a_wake_word_nobody_knows_is_recognised_by_the_sound_sent_before_it() -> None:
    codec = XiaozhiCodec()
    codec.receive('{"type":"hello"}')
    speak(codec, 30)
    assert detect(codec, "おきて") == WakeWord("おきて")
    assert detect(codec, "おきて") == TextSaid("おきて"), "the sound counts once"


def test_text_typed_while_the_microphone_streams_is_text() -> None:
    codec = XiaozhiCodec()
    codec.receive('{"type":"listen","state":"start","mode":"realtime"}')
    speak(codec, 30)
    assert detect(codec, "今日の天気は？") == TextSaid("今日の天気は？")


def test_text_typed_after_push_to_talk_is_text_though_a_packet_came_late() -> None:
    codec = XiaozhiCodec()
    codec.receive('{"type":"listen","state":"start","mode":"manual"}')
    speak(codec, 30)
    codec.receive('{"type":"listen","state":"stop"}')
    speak(codec, 3)
    assert detect(codec, "続けて") == TextSaid("続けて")


def test_a_wake_word_in_an_idle_session_is_recognised_by_its_sound() -> None:
    codec = XiaozhiCodec()
    codec.receive('{"type":"listen","state":"start","mode":"manual"}')
    codec.receive('{"type":"listen","state":"stop"}')
    speak(codec, 30)
    assert detect(codec, "おきて") == WakeWord("おきて")


@pytest.mark.parametrize(
    "text",
    [
        "Hi StackChan",
        "hi,stackchan",
        "ＨＩ\u3000ＳＴＡＣＫＣＨＡＮ！",
        "你好小智",
        "ハイ、スタックチャン。",
        "",
        " ",
        "wakeup",
        "ﾊｲｽﾀｯｸﾁｬﾝ",
    ],
)
def test_a_known_wake_word_is_one_even_while_listening(text: str) -> None:
    codec = XiaozhiCodec()
    codec.receive('{"type":"listen","state":"start"}')
    assert detect(codec, text) == WakeWord(text)


@pytest.mark.parametrize("text", ["!?", "Hi StackChan, what time is it?", "x" * 10_000])
def test_any_other_text_is_an_utterance_and_whole(text: str) -> None:
    assert detect(XiaozhiCodec(), text) == TextSaid(text)


def test_the_wake_words_can_be_others() -> None:
    codec = XiaozhiCodec(wake_words=["Omoide!", "!"])
    assert detect(codec, "omoide") == WakeWord("omoide")
    assert detect(codec, "Hi StackChan") == TextSaid("Hi StackChan")
    assert detect(codec, "?") == TextSaid("?"), "a wake word without letters is none"


def serves(codec: Codec, device: DeviceCodec) -> None:
    """Let the type checker compare the classes with the contract."""


serves(XiaozhiCodec(), XiaozhiDeviceCodec())
