"""Whether a text sounds finished, in three languages."""

import pytest

from server.endpointing import Completeness, completeness

FINISHED = {
    "ja": (
        "明日の天気を教えてください。",
        "今日は仕事でとても疲れました",
        "あなたの名前は何ですか。",
        "うん",
        "はい。",
        "ストップ",
        "止まって。",
        "音楽を止めて",
        "これ、おいしいね。",
        "電気をつけて",
        "もう寝るよ",
        "いま何時？",
        "ありがとう。",
        "そろそろ行きましょうか",
        "駅まで歩いたんですよね",
        "ちょっと待ってね",
    ),
    "en": (
        "What time is it?",
        "What time is it",
        "Stop.",
        "No.",
        "I am so tired today.",
        "Turn the light on.",
        "Please turn it off",
        "Can you play some music?",
        "Yes, I do.",
        "Tell me a story, please.",
        "I don't like it.",
        "How was your day?",
        "Thank you.",
        "She is very happy.",
        "What do you think?",
        "Who is that?",
        "My chest hurts.",
        "Can you help me?",
    ),
    "zh": (
        "今天天气怎么样？",
        "你吃饭了吗",
        "我回来了",
        "谢谢你。",
        "现在几点了",
        "停",
        "给我讲个故事",
    ),
}

UNFINISHED = {
    "ja": (
        "明日は",
        "東京に行って",
        "今日は仕事が忙しかったけど",
        "雨が降っていたので",
        "えっと",
        "えーと。",
        "それで",
        "昨日の夜に食べた、",
        "駅から",
        "時間があれば",
        "明日ね",
        "友達の",
        "いち、に",
        "1 2 3",
        "図書館に行って",
        "いち。",
        "一二三",
        "きれいな",
        "写真を撮ったり",
        "あの",
        "うーん",
    ),
    "en": (
        "I want to",
        "I went to the",
        "My favorite color",
        "Because.",
        "I like apples and",
        "Can you tell me",
        "Um.",
        "One, two, three",
        "One.",
        "My",
        "I was thinking that",
        "Remind me",
        "When I was a child",
        "So I…",
        "The weather is",
        "He is going to",
        "0 9 0",
        "090",
        "Can you",
        "Could you please",
        "Turn on",
    ),
    "zh": (
        "我想要",
        "我的",
        "昨天我和",
        "然后",
        "如果明天",
        "因为",
        "那个",
        "一二三",
        "我喜欢吃苹果，",
        "告诉我",
    ),
}

UNKNOWN: dict[str, tuple[str, ...]] = {
    "ja": ("昨日食べた", "調べて", "行くの", "", "。"),
    "en": ("New York", "Maybe", "Do you know what", "Where are you from", "set a timer"),
    "zh": ("北京", "我今天去了", "今天天气"),
    "ko": ("네", "그리고"),
}


def cases(texts: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(language, text) for language, some in texts.items() for text in some]


@pytest.mark.parametrize(("language", "text"), cases(FINISHED))
def test_a_whole_sentence_is_finished(language: str, text: str) -> None:
    assert completeness(text, language) is Completeness.FINISHED


@pytest.mark.parametrize(("language", "text"), cases(UNFINISHED))
def test_a_sentence_that_wants_more_is_not(language: str, text: str) -> None:
    assert completeness(text, language) is Completeness.UNFINISHED


@pytest.mark.parametrize(("language", "text"), cases(UNKNOWN))
def test_what_may_be_either_is_not_guessed_at(language: str, text: str) -> None:
    assert completeness(text, language) is Completeness.UNKNOWN


@pytest.mark.parametrize(
    ("language", "text"), [("ja", "明日は"), ("en", "I want to"), ("zh", "我想要")]
)
@pytest.mark.parametrize("mark", ["", "。", ".", "!", " ", "」"])
def test_a_full_stop_of_the_recogniser_proves_nothing(language: str, text: str, mark: str) -> None:
    assert completeness(text + mark, language) is Completeness.UNFINISHED


@pytest.mark.parametrize(
    ("language", "text", "judged"),
    [
        ("ja", "明日の天気は？", Completeness.UNKNOWN),
        ("ja", "明日の天気は", Completeness.UNFINISHED),
        ("zh", "我的？", Completeness.UNKNOWN),
        ("en", "Can you tell me?", Completeness.UNFINISHED),
        ("en", "The town where?", Completeness.UNFINISHED),
    ],
)
def test_a_question_mark_tells_something_where_questions_are_known_by_their_end(
    language: str, text: str, judged: Completeness
) -> None:
    assert completeness(text, language) is judged


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "ただいま。今日は"), ("en", "I am home. And"), ("zh", "我回来了。今天")],
)
def test_only_the_last_sentence_counts(language: str, text: str) -> None:
    assert completeness(text, language) is Completeness.UNFINISHED


@pytest.mark.parametrize("text", ["あ" * 100_000, "one " * 50_000, "は。" * 50_000, "1" * 100_000])
@pytest.mark.parametrize("language", ["ja", "en", "zh"])
def test_a_recogniser_caught_in_a_circle_costs_no_time(language: str, text: str) -> None:
    assert completeness(text, language) in Completeness
