"""What kind of thing a query asks: the signs must come in time, whatever is said."""

import pytest

from server.memory.asking import signs
from server.memory.statements import is_statement
from server.memory.terms import analyse
from server.query import normalize


@pytest.mark.parametrize("word", ["oh, ", "um ", "so... ", "please, ", "?! "])
def test_a_recogniser_that_repeats_itself_holds_nothing_up(word: str) -> None:
    """Thirty of them took longer than a test may: a pattern had two ways to read every blank."""
    assert not signs(word * 200 + "x", "en").recalls


def test_hesitation_before_a_question_or_an_order_is_no_part_of_it() -> None:
    assert signs("oh, um, is it Sunday", "en").asks
    assert signs("hey, please, play a song", "en").orders


def test_a_topic_with_nothing_behind_it_asks_with_and_without_its_mark() -> None:
    for said in ("うちの猫の名前は？", "うちの猫の名前は", "ぼくの一番好きな食べ物は。"):
        assert signs(normalize(said), "ja").asks
        assert not is_statement(said, "ja")
    assert not signs("猫の名前はタマだよ", "ja").asks
    assert is_statement("猫の名前はタマだよ。", "ja")


@pytest.mark.parametrize(
    ("told", "notion", "tells"),
    [
        ("ペッパーという猫を飼っている", "name", True),
        ("さくらっていう娘がいる", "name", True),
        ("猫を飼っている", "name", False),
        ("箱根というところに行った", "name", False),
        ("小児科の看護師をしている", "work", True),
        ("翻訳家として暮らしてる", "work", True),
        ("看護師さんに会った", "work", False),
        ("患者をしている", "work", False),
    ],
)
def test_a_name_and_a_trade_are_known_by_how_they_are_told(
    told: str, notion: str, tells: bool
) -> None:
    assert (notion in analyse(told, "ja").notions) is tells


def test_what_is_called_so_is_a_name_whatever_the_word() -> None:
    assert analyse("ペッパーという猫を飼っている", "ja").proper
    assert not analyse("胡椒という調味料を買った", "ja").proper
