"""A correction that gives only what is right belongs to what it corrects, and alone is no fact."""

from datetime import timedelta

import pytest

from server.memory.amended import amends
from server.memory.extract import RulesExtractor
from server.memory.passages import passages
from server.memory.redaction import without
from server.memory.self_reports import self_reports
from tests.memory.remembering import NOON, page

AMENDED = [
    ("en", "My appointment is at ten.", "Sorry, I meant eleven."),
    ("en", "I was born in 1948.", "I mean 1946."),
    ("en", "My daughter's birthday is on the fourth of May.", "No, the fifth."),
    ("en", "My brother is in Leeds.", "No wait, York."),
    ("en", "My visit is on Tuesday.", "Sorry, Thursday."),
    ("ja", "予約は十時です。", "ごめん、十一時だった。"),
    ("ja", "昭和二十三年生まれです。", "いや、二十一年だ。"),
    ("ja", "弟は大阪にいる。", "あ、京都だった。"),
    ("ja", "娘の誕生日は五月四日。", "違う、五日だ。"),
    ("zh", "我的预约是十点。", "不好意思，是十一点。"),
    ("zh", "我弟弟在大连。", "说错了，是青岛。"),
    ("zh", "我女儿的生日是五月四号。", "不对，是五号。"),
]


@pytest.mark.parametrize(("language", "told", "right"), AMENDED)
async def test_what_is_put_right_is_one_fact_in_one_turn_and_in_two(
    language: str, told: str, right: str
) -> None:
    blank = " " if language == "en" else ""
    at_once = [page(f"{told}{blank}{right}", language=language)]
    after = page(right, NOON + timedelta(minutes=1), language=language)
    apart = passages([page(told, language=language), after])
    for pages in (at_once, apart):
        [fact] = (await RulesExtractor().extract(pages, 0)).facts
        assert told in fact.quote
        assert right in fact.quote


@pytest.mark.parametrize(
    ("language", "told", "other"),
    [
        ("en", "I had a nap.", "No, coffee."),
        ("en", "I have two cats.", "Sorry, I have three dogs."),
        ("en", "I live in Leeds.", "No, never."),
        ("en", "I live in Leeds.", "Yes, York."),
        ("en", "I'm seeing Tom at ten.", "Sorry."),
        ("ja", "予約は十時です。", "いや、私は十一時に起きた。"),
        ("ja", "弟は大阪にいる。", "いや、元気だよ。"),
        ("ja", "予約は十時です。", "あ、雨だ。"),
        ("zh", "我昨天去了公园。", "不，谢谢。"),
        ("zh", "我的预约是十点。", "不对，我不去了。"),
    ],
)
def test_another_matter_puts_nothing_right(language: str, told: str, other: str) -> None:
    assert not amends(told, other, language)


def test_what_is_said_much_later_puts_nothing_right() -> None:
    later = page("No, the fifth.", NOON + timedelta(minutes=10), language="en")
    assert len(passages([page("My visit is on the fourth.", language="en"), later])) == 2


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("ja", "昭和二十三年生まれです。いや、二十一年だ。"),
        ("en", "I was born in 1948. I mean 1946."),
        ("zh", "我是1948年生的。不，1946年。"),
    ],
)
def test_what_was_wrong_does_not_enter_the_profile(language: str, said: str) -> None:
    assert self_reports(page(said, language=language)) == []


def test_what_was_put_right_is_cut_out_of_both_turns() -> None:
    quote = "My appointment is at ten. Sorry, I meant eleven."
    assert without("I like tea. My appointment is at ten.", [quote]) == "I like tea."
    assert without("Sorry, I meant eleven.", [quote]) == ""
