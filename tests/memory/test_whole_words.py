"""Words that must stand as words: what only occurs inside other Japanese words is no sign of anything."""

import re

import pytest

from server.memory.asking import signs
from server.memory.whole_words import occurs

WHO = re.compile("(?P<word>誰|だれ)|さん$")


@pytest.mark.parametrize("text", ["だれ", "あれはだれだっけ", "誰と行った", "よだれかけ、だれの"])
def test_a_word_of_its_own_is_found(text: str) -> None:
    assert occurs(WHO, text)


@pytest.mark.parametrize("text", ["よだれかけ", "みだれた", "坂をくだれ", "五月雨", "", "Who?"])
def test_what_is_inside_another_word_is_not(text: str) -> None:
    assert not occurs(WHO, text)


def test_what_need_not_be_a_word_counts_anywhere() -> None:
    assert occurs(WHO, "よだれの美咲さん")
    assert occurs(re.compile("だれ"), "よだれかけ")


@pytest.mark.parametrize("text", ["ぶどうが好き", "こんなに食べた", "よだれかけを洗った"])
def test_a_question_word_inside_another_asks_nothing(text: str) -> None:
    assert not signs(text, "ja").asks


@pytest.mark.parametrize("text", ["かわいい犬を見た", "あわてて走った", "カフェオレを飲んだ"])
def test_a_word_for_oneself_inside_another_is_not_about_oneself(text: str) -> None:
    assert not signs(text, "ja").own


@pytest.mark.parametrize("text", ["犬の名前なに", "あれどうなった", "わしの眼鏡どこ"])
def test_a_question_word_of_its_own_asks(text: str) -> None:
    assert signs(text, "ja").asks
