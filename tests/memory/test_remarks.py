"""A remark asks for nothing of the day that it names; what might ask does."""

from dataclasses import replace
from pathlib import Path

import pytest

from server.memory.question import read_question
from tests.memory.remembering import NOON, fact, opened

REMARKS = {
    "ja": ("今日は天気がいいね", "今日は暑いですね", "今日はよく歩いたよ", "今日は疲れました", "明日は歯医者に行きます", "今日は楽しかったなあ"),
    "en": ("It's a nice day today", "The weather is lovely today", "I'm going out on Saturday", "it rained yesterday"),
    "zh": ("今天天气真好", "今天我很累", "我明天要去医院"),
}  # fmt: skip
ASKING = {
    "ja": ("明日だよね", "明日空いてる", "週末の予定", "明日は", "今日は何をした", "土曜日は箱根だっけ", "明日の予定を教えて", "昨日映画を見ましたよね"),
    "en": ("my plans for the weekend", "weekend plans", "it's on Saturday isn't it", "what's on Saturday", "I think I have something on Friday"),
    "zh": ("我周末的计划", "明天去哪", "我明天有什么安排"),
}  # fmt: skip


def days_of(texts: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(text, language) for language, some in texts.items() for text in some]


@pytest.mark.parametrize(("text", "language"), days_of(REMARKS))
def test_a_remark_is_told_from_a_question(text: str, language: str) -> None:
    assert read_question(text, language, NOON).remarks


@pytest.mark.parametrize(("text", "language"), days_of(ASKING))
def test_what_asks_without_the_form_of_a_question_keeps_its_days(text: str, language: str) -> None:
    question = read_question(text, language, NOON)
    assert question.ranges
    assert not question.remarks


@pytest.mark.parametrize(
    ("remark", "question", "language", "told"),
    [
        ("今日は天気がいいね", "今日は何があった", "ja", "あなたは仕事で疲れた。"),
        ("It's a nice day today", "what happened today", "en", "You were tired from work."),
        ("今天天气真好", "今天有什么安排", "zh", "你工作很累。"),
    ],
)
async def test_a_remark_on_a_day_brings_nothing_to_mind_that_only_shares_the_day(
    tmp_path: Path, remark: str, question: str, language: str, told: str
) -> None:
    today = NOON.date()
    with opened(tmp_path) as room:
        dated = replace(fact(told, language=language), event_from=today, event_to=today)
        await room.memory.add([dated])
        for text, date in ((remark, 0.0), (question, 1.0)):
            found = await room.memory.search("hana", text, language)
            assert [one.parts["date"] for one in found] == [date], text
        assert await room.recalled(remark, language=language) == []
