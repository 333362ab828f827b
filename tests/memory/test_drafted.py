"""Facts as models write them: the right ones are kept, the wrong ones are not, in Japanese, English and Chinese."""

import pytest

from server.memory.answer_parts import Draft
from server.memory.facts import check
from server.memory.models import Fact
from tests.memory.drafted import MISSED, RIGHT, SLIPPED, WRONG, Drafted
from tests.memory.remembering import page


def is_kept(drafted: Drafted) -> bool:
    draft = Draft(1, drafted.quote, drafted.text, "")
    return isinstance(check(draft, [page(drafted.said, language=drafted.language)]), Fact)


def is_known(drafted: Drafted) -> bool:
    return (drafted.said, drafted.text) in MISSED | SLIPPED


@pytest.mark.parametrize("drafted", [each for each in RIGHT if not is_known(each)])
def test_a_fact_that_follows_from_what_was_said_is_kept(drafted: Drafted) -> None:
    assert is_kept(drafted)


@pytest.mark.parametrize("drafted", [each for each in WRONG if not is_known(each)])
def test_a_fact_that_tells_something_else_is_refused(drafted: Drafted) -> None:
    assert not is_kept(drafted)


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
def test_few_right_facts_are_refused_and_few_wrong_ones_kept(language: str) -> None:
    right = [is_kept(each) for each in RIGHT if each.language == language]
    wrong = [is_kept(each) for each in WRONG if each.language == language]
    assert sum(right) >= 0.95 * len(right)
    assert sum(wrong) <= 0.10 * len(wrong)


def test_no_more_is_listed_as_going_wrong_than_does() -> None:
    assert {(each.said, each.text) for each in RIGHT if not is_kept(each)} == MISSED
    assert {(each.said, each.text) for each in WRONG if is_kept(each)} == SLIPPED
