"""Words that call a sentence a correction stand outside of it, and are not told of anything else."""

import pytest

from server.memory.corrections import corrects, is_only_correction, without_correction
from server.memory.extract import RulesExtractor
from tests.memory.remembering import page


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("間違えた、毎朝7時に散歩に行きます", "毎朝7時に散歩に行きます"),
        ("あ、ごめん、言い間違えた。私の名前はハルコです", "私の名前はハルコです"),
        ("違う違う、箱根に行きます", "箱根に行きます"),
        ("Sorry, my name is Alicia", "My name is Alicia"),
        ("No wait, I live in York", "I live in York"),
        ("no wait I live in York", "I live in York"),
        ("That's wrong, I live in York", "I live in York"),
        ("I mean my name is Bob", "My name is Bob"),
        ("不对，我叫王方", "我叫王方"),
        ("我说错了，我住在上海", "我住在上海"),
    ],
)
def test_the_words_of_a_correction_are_left_out(said: str, told: str) -> None:
    assert without_correction(said) == told
    assert corrects(said)
    assert not corrects(told)


@pytest.mark.parametrize(
    "said",
    [
        "いやな人に会いました", "違う町に住んでいます", "間違い電話が多い", "すみませんでしたと言った", "No one came", "Sorry I was late", "Wait for me in York",
        "Actually I live in York", "不是我的错",
    ],
)  # fmt: skip
def test_a_sentence_that_only_begins_alike_stays_as_it_is(said: str) -> None:
    assert without_correction(said) == said
    assert not is_only_correction(said)


@pytest.mark.parametrize(
    "said", ["間違えた。", "ごめん、間違えた", "Sorry.", "No, wait.", "说错了。"]
)
def test_nothing_but_such_words_is_known_as_that(said: str) -> None:
    assert is_only_correction(said)
    assert without_correction(said) == said


@pytest.mark.parametrize(
    ("said", "language", "told"),
    [
        ("間違えた。毎朝7時に散歩に行きます。", "ja", "あなたは「毎朝7時に散歩に行きます」と話した。"),
        ("間違えた、毎朝7時に散歩に行きます。", "ja", "あなたは「毎朝7時に散歩に行きます」と話した。"),
        ("Sorry. My name is Alicia.", "en", 'You said: "My name is Alicia."'),
        ("No wait, my name is Alicia.", "en", 'You said: "My name is Alicia."'),
        ("不对，我叫王方。", "zh", "你说过：“我叫王方”。"),
    ],
)  # fmt: skip
async def test_the_rules_draw_what_is_right_and_keep_in_the_quote_that_it_is_a_correction(
    said: str, language: str, told: str
) -> None:
    [fact] = (await RulesExtractor().extract([page(said, language=language)], 0)).facts
    assert fact.text == told
    assert corrects(fact.quote)
