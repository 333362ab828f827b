"""The signs of relevance, one by one."""

import pytest

from server.memory.question import read_question
from server.memory.scoring import OF_OTHERS, signs_of
from server.memory.shelf import fill_shelf
from tests.memory.remembering import NOON, fact


def anchored(question: str, language: str, *texts: str) -> list[bool]:
    """Say of each fact whether it ties the question to the person's own life."""
    shelf = fill_shelf([fact(text, language=language) for text in texts], {}, 0)
    cosines = shelf.cosines(None, shelf.entries.keys())
    found = signs_of(read_question(question, language, NOON), shelf, cosines, texts)
    return [bool(found[text]["anchored"]) for text in texts]


@pytest.mark.parametrize(
    ("question", "language", "introduced", "bare", "other"),
    [
        ("how is Teo doing", "en", "Your son Teo plays chess.", "Your son is ill.", "You run."),
        ("how is the son", "en", "Your dog is Rex.", "Your child is ill.", "You run."),
        ("美咲は元気", "ja", "あなたの妹の美咲は大阪に住む。", "あなたの妹は病気だ。", "庭がある。"),
    ],
)  # fmt: skip
def test_a_name_stands_for_the_person_it_belongs_to(
    question: str, language: str, introduced: str, bare: str, other: str
) -> None:
    [_, of_the_person, of_nobody] = anchored(question, language, introduced, bare, other)
    assert of_the_person
    assert not of_nobody


@pytest.mark.parametrize(
    ("question", "language", "text", "of_others"),
    [
        ("when is my father's birthday", "en", "Your mother's birthday is May 3.", True),
        ("where does my brother live", "en", "Your sister Anna lives in Oslo.", True),
        ("父の誕生日はいつ", "ja", "あなたの母の誕生日は五月三日だ。", True),
        ("where do my parents live", "en", "Your mother lives in Oslo.", False),
        ("what did I give my mother", "en", "You gave your mother a scarf.", False),
        ("where does my brother live", "en", "You live in Oslo.", False),
    ],
)
def test_what_is_known_of_one_of_the_family_answers_nothing_about_another(
    question: str, language: str, text: str, of_others: bool
) -> None:
    shelf = fill_shelf([fact(text, language=language)], {}, 0)
    cosines = shelf.cosines(None, shelf.entries.keys())
    found = signs_of(read_question(question, language, NOON), shelf, cosines, [text])
    assert bool(found[text][OF_OTHERS]) is of_others
