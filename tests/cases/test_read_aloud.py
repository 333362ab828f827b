"""Public fault reports, groups 7 and 8: from what a model writes to what the voice reads and the robot shows."""

from typing import Any

import pytest

from firmware_bridge.events import PlayAudio, SentenceStarted, ShowEmotion, TextSaid
from tests.fakes import FakeDevice, FakeHouse
from tests.talks import check_states, make_house, shown, stops, talking
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def answer(
    reply: str, chunk: int = 1, question: str = "話して", **config: Any
) -> tuple[FakeHouse, FakeDevice]:
    """Let the model write a reply in pieces of some characters; return who was told what."""
    pieces = [reply[start : start + chunk] for start in range(0, len(reply), chunk)]
    house, device = make_house(pieces, **config), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid(question))
        await stops(device)
    check_states(device)
    return house, device


def read(house: FakeHouse) -> str:
    return " ".join(text for text, _ in house.tts.spoken)


ENGLISH = "Please tell me something."

TABLE = "Here it is.\n| day | sky |\n|---|---|\n| Monday | rain |\n"
CODE = "Try this:\n```python\nprint('x')\n```\nThat is all."
LIST = "Do this:\n1. Open it.\n2. Close it."


@pytest.mark.parametrize("chunk", [1, 1000])
@pytest.mark.parametrize(
    ("reply", "spoken"),
    [
        ("**Hi** see [docs](https://a.b/c).", "Hi see docs."),
        ("See https://www.example.com/a?b=c for more.", "See example.com for more."),
        (TABLE, "Here it is. day, sky Monday, rain"),
        (CODE, "Try this: That is all."),
        (LIST, "Do this: Open it. Close it."),
        ('Tom & "Jerry" say 3 < 5.', 'Tom & "Jerry" say 3 is less than 5.'),
    ],
    ids=["markdown", "url", "table", "code", "list", "special-characters"],
)
async def test_no_mark_up_is_read_aloud_or_shown(reply: str, spoken: str, chunk: int) -> None:
    """speech-to-speech#338, openclaw#10485, botpress#1553, page-assist#387, pipecat-client-web#35, speech-sdk#2111."""
    house, device = await answer(reply, chunk, ENGLISH)
    assert read(house) == spoken
    assert {language for _, language in house.tts.spoken} == {"en"}
    assert not any(mark in "".join(shown(device)) for mark in ("**", "](", "```", "|"))


@pytest.mark.parametrize(
    ("reply", "spoken"),
    [
        ("2026-09-23です。", "2026年9月23日です。"),
        ("3.14です。", "3.14です。"),
        ("1,234円です。", "1234円です。"),
        ("10:30に出ます。", "10時30分に出ます。"),
        ("50%です。", "50パーセントです。"),
        ("1/2です。", "2分の1です。"),
    ],
)
async def test_numbers_reach_the_voice_as_they_are_spoken(reply: str, spoken: str) -> None:
    """espeak-ng#498, shirasagi#217."""
    house, device = await answer(reply)
    assert read(house) == spoken
    assert shown(device) == [reply]


async def test_readings_of_the_configuration_reach_the_voice_but_not_the_display() -> None:
    """edge-tts#475: 日本橋."""
    readings = {"日本橋": "にほんばし", "一日": "ついたち"}
    house, device = await answer("一日は日本橋です。", tts={"readings": readings})
    assert read(house) == "ついたちはにほんばしです。"
    assert shown(device) == ["一日は日本橋です。"]


async def test_kanji_alone_are_read_by_the_japanese_voice() -> None:
    """Azure speech-sdk#2970."""
    house, _ = await answer("東京大学。", question="どこ")
    assert house.tts.spoken == [("東京大学。", "ja")]


async def test_japanese_inside_an_english_talk_is_not_left_to_an_english_voice() -> None:
    """dotty: an English voice gave empty audio for other scripts."""
    house, _ = await answer("It means hello. こんにちは。", question=ENGLISH)
    assert house.tts.spoken == [("It means hello.", "en"), ("こんにちは。", "ja")]


@pytest.mark.parametrize("chunk", [1, 1000])
@pytest.mark.parametrize(
    "leak",
    [
        'set_led({"red":255})',
        '{"summary":"x"}',
        "<|tool|>",
        '<tool_call>{"name":"set_led"}</tool_call>',
        "<think>The person wants a light.</think>",
    ],
)
async def test_calls_of_tools_thoughts_and_json_are_not_read_aloud(leak: str, chunk: int) -> None:
    """extended_openai_conversation#434, LK#3782, agents-js#1339, line#264, bolna#826, flutter_gemma#419."""
    house, device = await answer(f"はい。{leak}できました。", chunk)
    assert read(house).replace(" ", "") == "はい。できました。"
    assert "".join(shown(device)) == "はい。できました。"
    alone, device = await answer(leak, chunk)
    assert len(shown(device)) == 1, "an apology, and nothing of the leak"
    assert alone.recent.list()[0].error == "llm-empty"


async def test_the_hardest_english_sentences_are_cut_at_their_ends() -> None:
    """PC#1756, PC#2040, PC#3203, NVIDIA-NeMo/Speech#16218."""
    reply = 'It costs 3.5 dollars. Dr. Sato (see p. 2) said "Ok." Then left.'
    _, device = await answer(reply, question=ENGLISH, sentences={"first_piece_chars": 0})
    assert shown(device) == [
        "It costs 3.5 dollars.",
        'Dr. Sato (see p. 2) said "Ok."',
        "Then left.",
    ]


async def test_japanese_sentences_need_no_blank_behind_them() -> None:
    """PC PR#3617: one character per piece."""
    _, device = await answer("はい。そうです！ね？", 1)
    assert shown(device) == ["はい。", "そうです！", "ね？"]


@pytest.mark.parametrize(
    "reply",
    ["今日はとても天気がいいので公園まで歩いて行きました" * 16, "そして、" * 100],
    ids=["400-characters-without-a-mark", "commas-only"],
)
async def test_text_without_an_end_is_spoken_whole_in_pieces_that_a_voice_can_take(
    reply: str,
) -> None:
    """pocket-tts PR#217, fish-speech PR#176, piper-plus PR#367: split in mid-word, lost tail."""
    house, device = await answer(reply, 7)
    assert "".join(shown(device)) == reply
    assert max(len(text) for text, _ in house.tts.spoken) <= 120
    assert house.recent.list()[0].heard == reply


@pytest.mark.parametrize("chunk", [1, 3, 1000])
@pytest.mark.parametrize(
    ("tag", "face"),
    [
        ("[joy]", "happy"),
        ("(smile)", "happy"),
        ('<face name="joy"/>', "happy"),
        ("【喜】", "happy"),
        ("[sad]", "sad"),
        ("[foo]", "neutral"),
        ("", "neutral"),
    ],
)
async def test_a_mood_is_shown_once_before_the_sentence_and_never_spoken(
    tag: str, face: str, chunk: int
) -> None:
    """inworld-ai/tts#18, unmute#177, voicebox#436, fish-speech#1162, F#194."""
    house, device = await answer(f"{tag}おはよう。いい天気ですね。", chunk)
    assert [text for text, _ in house.tts.spoken] == ["おはよう。", "いい天気ですね。"]
    assert shown(device) == ["おはよう。", "いい天気ですね。"]
    assert [command.emotion for command in device.commands(ShowEmotion)] == [face]  # type: ignore[union-attr]
    [shown_at] = [
        index for index, s in enumerate(device.sent) if isinstance(s.command, ShowEmotion)
    ]
    kinds = [type(sent.command) for sent in device.sent]
    assert shown_at < kinds.index(SentenceStarted) < kinds.index(PlayAudio)


async def test_a_mood_of_a_later_sentence_comes_right_before_it() -> None:
    """fish-speech#1162."""
    _, device = await answer("[happy]おはよう。[sad]でも雨です。")
    order = [
        getattr(command, "emotion", "") or getattr(command, "text", "")
        for command in device.commands(ShowEmotion, SentenceStarted)
    ]
    assert order == ["happy", "おはよう。", "sad", "でも雨です。"]
