"""The signs of relevance, one by one."""

from dataclasses import replace

import numpy as np
import pytest

from server.memory.judging import Forest
from server.memory.question import read_question
from server.memory.scoring import CLAIMS, OF_OTHERS, judged, signs_of
from server.memory.shelf import fill_shelf, make_entry
from tests.memory.remembering import NOON, fact


def signs(question: str, language: str, text: str) -> dict[str, float]:
    shelf = fill_shelf([fact(text, language=language)], {}, 0)
    cosines = shelf.cosines(None, shelf.entries.keys())
    return signs_of(read_question(question, language, NOON), shelf, cosines, [text])[text]


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
        ("what is my sister's name", "en", "My name is Tom.", True),
        ("what's my dog called", "en", "My name is Tom.", True),
        ("how old is my sister", "en", "I am 35 years old.", True),
        ("妹の名前は何", "ja", "私の名前は花子だよ。", True),
        ("犬の名前は", "ja", "犬を飼っていて、名前はポチ。", False),
        ("我妹妹叫什么名字", "zh", "我的名字叫小明。", True),
    ],
)
def test_what_is_known_of_one_of_the_family_answers_nothing_about_another(
    question: str, language: str, text: str, of_others: bool
) -> None:
    assert bool(signs(question, language, text)[OF_OTHERS]) is of_others


def test_no_forest_can_outvote_that_a_fact_is_about_another() -> None:
    always = Forest(
        names=(),
        sign=np.zeros((1, 1), np.int16),
        threshold=np.zeros((1, 1)),
        left=np.zeros((1, 1), np.int16),
        right=np.zeros((1, 1), np.int16),
        value=np.full((1, 1), 9, np.float32),
        bias=0.0,
        depth=0,
    )
    assert judged(always, [{OF_OTHERS: 1.0, CLAIMS: 0.9}, {OF_OTHERS: 0.0, CLAIMS: 0.0}]) == [
        0.0,
        pytest.approx(1, abs=0.01),
    ]


@pytest.mark.parametrize(
    ("question", "language", "text", "other"),
    [
        ("how old is my cat", "en", "Your dogs are seven years old.", True),
        ("how old is my cat", "en", "You have a dog and a cat.", False),
        ("do I have a pet", "en", "You have a dog.", False),
        ("猫は何歳", "ja", "あなたの犬は八歳だ。", True),
        ("膝はどう", "ja", "あなたは腰が痛い。", True),
        ("歯医者はいつ", "ja", "あなたは明日、眼科に行く。", True),
        ("我的猫几岁", "zh", "你的狗七岁。", True),
        ("我的猫几岁", "zh", "你住在上海。", False),
    ],
)
def test_a_fact_about_another_thing_of_the_same_kind_is_told_apart(
    question: str, language: str, text: str, other: bool
) -> None:
    assert bool(signs(question, language, text)["other_kind"]) is other


def test_how_tall_somebody_is_is_asked_of_no_age() -> None:
    assert signs("how tall am I", "en", "You are 71 years old.")["attribute_missing"]
    assert not signs("how tall am I", "en", "You are 170 cm tall.")["attribute_missing"]


@pytest.mark.parametrize(
    ("question", "language", "text", "other"),
    [
        ("what instrument do I play", "en", "Your niece Ella plays the cello.", True),
        ("what instrument does Ella play", "en", "Your niece Ella plays the cello.", False),
        ("what instrument do I play", "en", "You play the cello.", False),
        ("what did I give my niece", "en", "Your niece got a cello from you.", False),
        ("私の苦手なものは", "ja", "あなたの母はゴキブリが苦手だ。", True),
        ("私の苦手なものは", "ja", "あなたはゴキブリが苦手だ。", False),
        ("母の苦手なものは", "ja", "あなたの母はゴキブリが苦手だ。", False),
    ],
)
def test_a_question_about_oneself_is_told_from_what_is_known_of_another(
    question: str, language: str, text: str, other: bool
) -> None:
    assert bool(signs(question, language, text)["self_for_another"]) is other


def test_what_the_robot_did_for_a_person_is_not_known_of_another() -> None:
    told = fact("Omo recommended the novel Kokoro.", language="en")
    assert make_entry(told, None).is_of_another
    assert not make_entry(replace(told, about="Omo"), None).is_of_another
