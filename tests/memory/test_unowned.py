"""What tells of the speaker's day or body counts as theirs, though it says neither "I" nor "my"; news and orders don't."""

import pytest

from server.memory.extract import RulesExtractor
from server.memory.models import Kind
from server.memory.statements import is_statement
from tests.memory.remembering import page


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("Yesterday's dinner was curry.", "en"),
        ("Last night's film was awful.", "en"),
        ("Dinner yesterday was curry.", "en"),
        ("Breakfast was porridge.", "en"),
        ("There was pea soup for lunch.", "en"),
        ("This morning's blood pressure was 140 over 90.", "en"),
        ("Tomorrow's appointment is at ten.", "en"),
        ("The barbecue on Saturday is off because of the rain.", "en"),
        ("Bingo is on Wednesdays at two.", "en"),
        ("Pepper died this morning.", "en"),
        ("Dora has moved to Spain.", "en"),
        ("Jean broke her hip.", "en"),
        ("Leon plays the cello.", "en"),
        ("Carol called yesterday.", "en"),
        ("昨天晚饭吃的是咖喱。", "zh"),
        ("昨天去了公园。", "zh"),
        ("今天早上量了血压，一百四。", "zh"),
        ("昨晚没睡好。", "zh"),
        ("现在改吃氯沙坦，25毫克。", "zh"),
        ("每天早上散步。", "zh"),
        ("膝盖疼。", "zh"),
        ("降压药停了。", "zh"),
        ("对虾过敏。", "zh"),
        ("婚礼推迟到春天了。", "zh"),
        ("星期三下午有宾果游戏。", "zh"),
    ],
)
async def test_what_leaves_out_whose_it_is_is_the_speakers(said: str, language: str) -> None:
    drawn = await RulesExtractor().extract([page(said, language=language)], 0)
    assert len(drawn.facts) == 1


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("Yesterday's news was terrible.", "en"),
        ("Yesterday's earthquake in Chile was strong.", "en"),
        ("Tomorrow's weather is rain.", "en"),
        ("Dinner is the main meal in France.", "en"),
        ("The game is popular in Japan.", "en"),
        ("Let's have lunch tomorrow.", "en"),
        ("Elvis died in 1977.", "en"),
        ("Everybody died in that film.", "en"),
        ("Parliament called for an inquiry.", "en"),
        ("Nobody called yesterday.", "en"),
        ("Is the barbecue on Saturday?", "en"),
        ("Play the film tomorrow.", "en"),
        ("昨天股市跌了。", "zh"),
        ("昨天地震了。", "zh"),
        ("今天打雷了。", "zh"),
        ("现在唱首歌。", "zh"),
        ("最近来自日本的游客很多。", "zh"),
        ("对牛奶过敏的人很多。", "zh"),
        ("今天去哪儿玩？", "zh"),
        ("手术是很难的事。", "zh"),
    ],
)
def test_news_questions_and_orders_are_nobodys(said: str, language: str) -> None:
    assert not is_statement(said, language)


@pytest.mark.parametrize("said", ["我对虾过敏。", "我对鱼过敏。"])
async def test_an_allergy_to_what_one_character_names_is_kept(said: str) -> None:
    drawn = await RulesExtractor().extract([page(said, language="zh")], 0)
    assert [fact.kind for fact in drawn.facts] == [Kind.HEALTH]
