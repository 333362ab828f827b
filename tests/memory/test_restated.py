"""Which facts say no more than the profile: they need no line of their own beside it."""

from pathlib import Path

import pytest

from server.memory.extract import RulesExtractor
from server.memory.restated import untold
from tests.memory.remembering import opened, page


@pytest.mark.parametrize(
    ("said", "language", "is_more"),
    [
        ("I live in Leeds.", "en", False),
        ("My name is Tom.", "en", False),
        ("名古屋に住んでるんだ。", "ja", False),
        ("私の名前は花子だよ。", "ja", False),
        ("我住在上海。", "zh", False),
        ("我叫小明。", "zh", False),
        ("I live in Leeds with my sister Clara.", "en", True),
        ("I live in Leeds and hate the noise there.", "en", True),
    ],
)
async def test_a_fact_is_told_beside_the_profile_if_it_says_more(
    said: str, language: str, is_more: bool
) -> None:
    harvest = await RulesExtractor().extract([page(said, language=language)], 0)
    assert harvest.profile
    assert bool(untold(harvest.facts, harvest.profile)) is is_more


async def test_another_thing_said_of_the_same_place_is_no_restatement() -> None:
    harvest = await RulesExtractor().extract(
        [page("I live in Leeds. I hate Leeds.", language="en")], 0
    )
    assert [fact.quote for fact in untold(harvest.facts, harvest.profile)] == ["I hate Leeds."]


async def test_the_home_stands_once_among_what_is_known_of_a_person(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("I live in Leeds.", "I have a cat called Miso.", language="en")
        await room.memory.extract()
        found = await room.memory.recall("hana", "Hello!", "en")
    assert [line for line in found.portrait if "Leeds" in line]
    assert [line.text for line in found.knowledge] == ["I have a cat called Miso."]
