from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.emotions import Emotion
from server.punctuation import join_sentences
from server.sentences import Sentence, notice_pauses, split_sentences
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def say(*tokens: str | None) -> AsyncGenerator[str | None, None]:
    for token in tokens:
        yield token


async def sentences_of(
    tokens: AsyncIterator[str | None], language: str = "ja"
) -> list[tuple[str, str, Emotion | None]]:
    return [
        (sentence.text, sentence.spoken, sentence.emotion)
        async for sentence in split_sentences(tokens, language=language)
    ]


async def hear(
    tokens: AsyncIterator[str | None], language: str = "ja"
) -> tuple[list[tuple[str, float]], Exception | None]:
    """Return the texts of the sentences with the second at which each came, and the error that ended them."""
    started = anyio.current_time()
    heard: list[tuple[str, float]] = []
    try:
        async for sentence in split_sentences(tokens, language=language):
            heard += [(sentence.text, round(anyio.current_time() - started, 1))]
    except ConnectionError as error:
        return heard, error
    return heard, None


async def test_each_sentence_has_text_speech_and_emotion() -> None:
    assert await sentences_of(say(*"[joy]**はい**。10:30に[地図](https://a.b/c)で😀。")) == [
        ("はい。", "はい。", Emotion.HAPPY),
        ("10:30に地図で😀。", "10時30分に地図で。", Emotion.HAPPY),
    ]


async def test_emphasis_that_ends_with_the_sentence_leaves_no_mark_behind() -> None:
    assert await sentences_of(say(*"**はい。**次。")) == [
        ("はい。", "はい。", None),
        ("次。", "次。", None),
    ]


async def test_a_tag_between_sentences_colours_the_second() -> None:
    assert await sentences_of(say(*"[joy]やった。[sad]でも。そう。")) == [
        ("やった。", "やった。", Emotion.HAPPY),
        ("でも。", "でも。", Emotion.SAD),
        ("そう。", "そう。", None),
    ]


async def test_a_tag_behind_a_sentence_does_not_colour_it() -> None:
    assert await sentences_of(say(*"やった。[sad]でも。")) == [
        ("やった。", "やった。", None),
        ("でも。", "でも。", Emotion.SAD),
    ]


async def test_a_tag_inside_a_sentence_colours_it() -> None:
    assert await sentences_of(say(*"それは面白い（笑）。はい。")) == [
        ("それは面白い。", "それは面白い。", Emotion.LAUGHING),
        ("はい。", "はい。", None),
    ]


async def test_a_second_tag_inside_a_sentence_colours_the_next() -> None:
    assert await sentences_of(say("[joy] Hi [sad] there. Bye."), "en") == [
        ("Hi there.", "Hi there.", Emotion.HAPPY),
        ("Bye.", "Bye.", Emotion.SAD),
    ]


async def test_an_emoji_colours_its_own_sentence() -> None:
    assert await sentences_of(say("Hello! 😭 Ok. 😀 Yes."), "en") == [
        ("Hello! 😭", "Hello!", Emotion.CRYING),
        ("Ok. 😀", "Ok.", Emotion.HAPPY),
        ("Yes.", "Yes.", None),
    ]


async def test_the_emotion_of_a_piece_without_speech_goes_to_the_next() -> None:
    assert await sentences_of(say("[sad]T_T\nはい。")) == [("はい。", "はい。", Emotion.SAD)]
    assert await sentences_of(say("T_T😭\nはい。")) == [("はい。", "はい。", Emotion.CRYING)]
    assert await sentences_of(say("😭\nはい。")) == [("😭\nはい。", "はい。", Emotion.CRYING)]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "…",
        "！",
        "😀",
        "…!?",
        "[joy]",
        "<think>all of it",
        "```python\nprint(1)\n```",
        'set_led({"red":255})',
        '{"summary":"x"}',
        "<|tool|>",
        "\u200b",
    ],
)
async def test_a_reply_without_speech_yields_nothing(reply: str) -> None:
    assert await sentences_of(say(*reply)) == []


async def test_thoughts_code_and_calls_between_sentences_are_left_out() -> None:
    reply = (
        "<think>Hm. What now?</think>\n\n[joy] Sure!\n```json\n{}\n```\n"
        'set_led({"red":255}) Done. {"summary":"x. y."} Bye.'
    )
    assert [text for text, _, _ in await sentences_of(say(*reply), "en")] == [
        "Sure!",
        "Done.",
        "Bye.",
    ]


async def test_readings_are_applied_to_speech_only() -> None:
    sentences = split_sentences(say("日本橋へ。"), language="ja", readings={"日本橋": "にほんばし"})
    assert [sentence async for sentence in sentences] == [
        Sentence("日本橋へ。", "にほんばしへ。", None)
    ]


async def test_a_pause_releases_what_can_be_spoken() -> None:
    assert [text for text, _, _ in await sentences_of(say("Well, I think it is", None), "en")] == [
        "Well, I think it",
        "is",
    ]


@pytest.mark.parametrize(
    ("reply", "whole"),
    [
        ("はい。そうです。今日", ["はい。", "そうです。"]),
        ("はい。", ["はい。"]),
        ("今日", []),
    ],
)
async def test_an_error_comes_after_the_sentences_that_were_whole(
    reply: str, whole: list[str]
) -> None:
    async def failing() -> AsyncGenerator[str, None]:
        yield reply
        raise ConnectionError("line down")

    heard, error = await hear(failing())
    assert [text for text, _ in heard] == whole
    assert str(error) == "line down"


async def test_closing_early_closes_the_source() -> None:
    closed = []

    async def endless() -> AsyncGenerator[str, None]:
        try:
            while True:
                yield "はい。"
        finally:
            closed.append(True)

    async with aclosing(split_sentences(endless(), language="ja")) as sentences:
        async for _ in sentences:
            break
    assert closed == [True]


# ---- pauses of the model


async def stall(*tokens: str | float) -> AsyncGenerator[str, None]:
    """Yield the texts; sleep as many seconds as the numbers say."""
    for token in tokens:
        if isinstance(token, str):
            yield token
        else:
            await anyio.sleep(token)


async def test_words_are_spoken_when_the_model_stalls() -> None:
    async with notice_pauses(stall("Let me think about that ", 15.0, "now. Ok."), 1.5) as tokens:
        heard, _ = await hear(tokens, "en")
    assert heard == [("Let me think about that", 1.5), ("now.", 15.0), ("Ok.", 15.0)]


async def test_a_whole_sentence_is_spoken_when_the_model_stalls_behind_it() -> None:
    async with notice_pauses(stall(*"はい。", 5.0, *"次。"), 1.5) as tokens:
        heard, _ = await hear(tokens)
    assert heard == [("はい。", 1.5), ("次。", 5.0)]


async def test_a_pause_releases_a_single_word_but_no_call() -> None:
    started = anyio.current_time()
    async with notice_pauses(stall("Yes.", 5.0, "set_led", 5.0, "(1) Ok."), 1.5) as tokens:
        heard, _ = await hear(tokens, "en")
    assert heard == [("Yes.", 1.5), ("Ok.", 10.0)]
    assert anyio.current_time() - started == 10


@given(st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.sampled_from(["a", "b", ""]))))
async def test_no_token_is_lost_or_moved_by_pauses(script: list[str | float]) -> None:
    async with notice_pauses(stall(*script), 1.0) as tokens:
        seen = [token async for token in tokens]
    assert [token for token in seen if token is not None] == [
        token for token in script if isinstance(token, str)
    ]


async def test_a_stream_without_pauses_passes_as_it_is() -> None:
    async with notice_pauses(stall("a", 0.9, "b", 0.9), 1.0) as tokens:
        assert [token async for token in tokens] == ["a", "b"]


async def test_the_error_of_the_source_comes_after_its_tokens() -> None:
    async def failing() -> AsyncGenerator[str, None]:
        yield "はい。"
        raise ConnectionError("line down")

    async with notice_pauses(failing(), 1.0) as tokens:
        heard, error = await hear(tokens)
    assert heard == [("はい。", 0.0)]
    assert str(error) == "line down"


async def test_an_error_in_the_block_comes_out_as_itself() -> None:
    with pytest.raises(ValueError, match="mine"):
        async with notice_pauses(stall("a", 100.0), 1.0):
            raise ValueError("mine")


async def test_leaving_the_block_stops_the_source() -> None:
    stopped = []

    async def endless() -> AsyncGenerator[str, None]:
        try:
            yield "a"
            await anyio.sleep_forever()
        finally:
            stopped.append(anyio.current_time())

    started = anyio.current_time()
    async with notice_pauses(endless(), 1.0) as tokens:
        assert await anext(aiter(tokens)) == "a"
    assert stopped == [started]


async def test_cancelling_the_reader_stops_the_source() -> None:
    stopped = []

    async def endless() -> AsyncGenerator[str, None]:
        try:
            yield "はい。"
            await anyio.sleep_forever()
        finally:
            stopped.append(True)

    with anyio.move_on_after(10) as scope:
        async with notice_pauses(endless(), 1.0) as tokens:
            async for _ in split_sentences(tokens, language="ja"):
                pass
    assert scope.cancelled_caught
    assert stopped == [True]


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (["はい。", "そうです。"], "はい。そうです。"),
        (["Yes.", "I am."], "Yes. I am."),
        (["はい。", "Yes."], "はい。Yes."),
        (["", "Yes.", ""], "Yes."),
        ([], ""),
    ],
)
def test_sentences_are_put_together_again(texts: list[str], joined: str) -> None:
    assert join_sentences(texts) == joined
