"""Counts of records, as the commands tell them."""

from server.commands.counts import _NAMES, in_words
from server.memory.sweeping import _COUNTED


def test_every_kind_that_can_be_forgotten_has_a_name_that_people_know() -> None:
    assert {kind for kind, _, _ in _COUNTED} <= set(_NAMES)
    assert in_words({"signs": 2, "profile": 1}) == "2 danger signs, 1 lines of the profile"
