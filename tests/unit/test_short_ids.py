"""An id is meant by as much of its beginning as no other has."""

import pytest

from server.errors import OmoideError
from server.short_ids import whole_id


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("aa", "aa"),  # the whole of one, although it begins others
        ("ab", "abc"),
        ("abc", "abc"),
        ("abcd", None),
        ("", None),
        ("%", None),
    ],
)
def test_the_whole_or_a_beginning_that_no_other_has(typed: str, meant: str | None) -> None:
    assert whole_id(typed, ["aa", "aab", "abc"]) == meant


def test_a_beginning_that_several_have_is_refused_with_what_may_be_meant() -> None:
    with pytest.raises(OmoideError, match="a1, a2") as refused:
        whole_id("a", ["a1", "a2", "b"])
    assert refused.value.code == "id-ambiguous"
