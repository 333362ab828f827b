"""What kind of thing a query asks: the signs must come in time, whatever is said."""

import pytest

from server.memory.asking import signs


@pytest.mark.parametrize("word", ["oh, ", "um ", "so... ", "please, ", "?! "])
def test_a_recogniser_that_repeats_itself_holds_nothing_up(word: str) -> None:
    """Thirty of them took longer than a test may: a pattern had two ways to read every blank."""
    assert not signs(word * 200 + "x", "en").recalls


def test_hesitation_before_a_question_or_an_order_is_no_part_of_it() -> None:
    assert signs("oh, um, is it Sunday", "en").asks
    assert signs("hey, please, play a song", "en").orders
