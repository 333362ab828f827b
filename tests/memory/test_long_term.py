"""What holds of a person and what the robot did are always looked at, however much else is known; three facts are told."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.config import LongTermSection
from server.memory.extract import RulesExtractor
from server.memory.importance import importance_of
from server.memory.knowledge import MOST_KNOWLEDGE, agent_traits, knowledge
from server.memory.models import Fact, Importance, Kind
from server.memory.shelf import fill_shelf
from server.memory.terms import analyse
from tests.memory.remembering import NOON, fact, opened, page


def of_agent(text: str, days: float = 0, agent: str = "Omo") -> Fact:
    return replace(fact(text, NOON + timedelta(days=days), language="en"), about=agent)


def trivia(number: int) -> list[Fact]:
    day = NOON.date()
    return [
        replace(fact(f"You saw film {place} with me.", language="en"), event_from=day, event_to=day)
        for place in range(number)
    ]


def test_the_knowledge_base_is_what_holds_for_good_with_what_is_lasting_pinned() -> None:
    lasting = replace(fact("old", NOON - timedelta(days=900)), importance=Importance.LASTING)
    facts = [
        lasting,
        *(fact(f"{place}", NOON + timedelta(minutes=place)) for place in range(200)),
        replace(fact("small"), importance=Importance.FLEETING),
        replace(fact("dated"), event_from=NOON.date(), event_to=NOON.date()),
        replace(fact("replaced"), superseded_by="old"),
        of_agent("Omo sang."),
    ]
    held = [one.id for one in knowledge(facts)]
    assert len(held) == MOST_KNOWLEDGE
    assert held[:3] == ["old", "199", "198"]
    assert not {"small", "dated", "replaced", "Omo sang."} & {
        one.id for one in knowledge(facts[-4:])
    }


HAPPENED = {
    "ja": ["夫が三月三日に亡くなりました。", "先週、糖尿病と診断されました。", "去年の5月12日に娘が生まれました。"],
    "en": ["My husband died on March 3rd.", "I was diagnosed with diabetes last week.", "My daughter Emma was born on 12 May 2020."],
    "zh": ["我丈夫三月三日去世了。", "我上周被诊断出糖尿病。", "我女儿是2020年5月12日出生的。"],
}  # fmt: skip
PINNED = {
    "ja": ["私の名前は花子です。", "夫が亡くなりました。", "卵アレルギーがあります。", "元夫の話はしないで。", "孫の健太はサッカーが好きです。", "妹は大阪に住んでいます。", "緑茶が好きです。"],
    "en": ["My name is Hana.", "My husband died.", "I am allergic to eggs.", "I never eat meat.", "My daughter Emma plays chess.", "I live in Leeds.", "I like tea."],
    "zh": ["我的名字是王芳。", "我丈夫去世了。", "我对鸡蛋过敏。", "我吃素。", "我的孙子出生了。", "我住在上海。", "我喜欢喝茶。"],
}  # fmt: skip
"""The most firmly pinned first."""


def weighed(text: str, language: str, days: float = 0) -> Fact:
    known = fact(text, NOON + timedelta(days=days), language=language)
    return replace(known, importance=importance_of(text, language, Kind.OTHER))


@pytest.mark.parametrize(
    ("language", "said"),
    [(language, one) for language, all_of in HAPPENED.items() for one in all_of],
)
async def test_what_happened_on_a_day_and_lasts_is_knowledge(language: str, said: str) -> None:
    [drawn] = (await RulesExtractor().extract([page(said, language=language)], 0)).facts
    assert drawn.event_from is not None
    assert knowledge([drawn]) == [drawn]


@pytest.mark.parametrize(
    "said", ["先週、友達と箱根に行った。", "明日は父の命日だ。", "昨日、動物園で娘と会った。"]
)
async def test_what_else_happens_on_a_day_is_not(said: str) -> None:
    [drawn] = (await RulesExtractor().extract([page(said)], 0)).facts
    assert drawn.event_from is not None
    assert knowledge([drawn]) == []


@pytest.mark.parametrize("language", PINNED)
def test_what_is_pinned_is_told_by_what_it_is_and_not_by_its_age(language: str) -> None:
    ranked = [weighed(text, language, days) for days, text in enumerate(PINNED[language])]
    assert knowledge(ranked) == knowledge(ranked[::-1]) == ranked


def test_no_number_of_newer_things_that_last_pushes_out_a_name() -> None:
    name = weighed("私の名前は花子です。", "ja")
    newer = [
        replace(
            fact(f"あなたの膝は{place}回痛んだ。", NOON + timedelta(days=place)),
            importance=Importance.LASTING,
        )
        for place in range(1, 200)
    ]
    assert knowledge([name, *newer])[0] == name
    assert len(knowledge([name, *newer])) == MOST_KNOWLEDGE


@pytest.mark.parametrize(
    ("done", "language"),
    [
        ("Omoは明日歌を歌うと約束した。", "ja"),
        ("Omoは猫をタマと名づけた。", "ja"),
        ("Omo promised to tell a story.", "en"),
        ("Omo named the cat Tama.", "en"),
        ("Omo答应讲一个故事。", "zh"),
    ],
)
def test_what_the_agent_promised_or_named_is_pushed_out_by_nothing(
    done: str, language: str
) -> None:
    kept = replace(fact(done, language=language), about="Omo")
    newer = [of_agent(f"Omo sang {place}.", place) for place in range(1, 150)]
    held = agent_traits([kept, *newer])
    assert held[:2] == [kept, newer[-1]]
    assert len(held) == MOST_KNOWLEDGE


def test_agent_traits_are_what_the_agent_did_the_newest_first() -> None:
    facts = [of_agent(f"Omo sang {place}.", place) for place in range(150)]
    gone = replace(of_agent("Omo left."), superseded_by="x")
    held = agent_traits([*facts, gone, fact("mine")])
    assert [one.text for one in held[:2]] == ["Omo sang 149.", "Omo sang 148."]
    assert len(held) == MOST_KNOWLEDGE


def test_the_nearest_are_found_by_meaning_and_by_words_among_those_asked_for() -> None:
    texts = ["You play the violin.", "You own a violin.", "You like tea.", "You live in Leeds."]
    facts = [fact(text, language="en") for text in texts]
    vectors = dict(zip(texts, np.eye(4, dtype=np.float32), strict=True))
    shelf = fill_shelf(facts, vectors, 0)
    terms = analyse("where is my violin", "en")
    leeds = np.array([0, 0, 0.5, 1], np.float32)
    assert shelf.nearest(leeds, terms, {*texts}, 1) <= {*texts[:2], texts[3]}
    assert texts[3] in shelf.nearest(leeds, terms, {*texts}, 1)
    assert shelf.nearest(leeds, terms, {texts[1], texts[2]}, 1) == {texts[1], texts[2]}
    assert shelf.nearest(None, terms, {*texts}, 9) == {*texts[:2]}
    assert shelf.nearest(None, terms, set(), 9) == set()


async def candidates(folder: Path, facts: Sequence[Fact], query: str, **sections: Any) -> list[str]:
    few = {"candidates": 1}  # so that search alone finds next to nothing
    with opened(folder, retrieval=few, **sections) as room:
        await room.memory.add(facts, keep_all=True)
        return [one.fact.text for one in await room.memory.search("hana", query, "en")]


async def test_agent_traits_are_candidates_beside_any_number_of_facts(tmp_path: Path) -> None:
    done = [of_agent(f"Omo told you a story about {animal}.") for animal in ("a fox", "a bear")]
    found = await candidates(tmp_path, [*trivia(80), *done], "What film did you see with me?")
    assert {one.text for one in done} <= {*found}


async def test_so_is_the_knowledge_base(tmp_path: Path) -> None:
    lasting = replace(
        fact("Your sister Anna is a nurse.", language="en"), importance=Importance.LASTING
    )
    found = await candidates(tmp_path, [*trivia(80), lasting], "What film did you see with me?")
    assert lasting.text in found


async def test_of_many_only_the_nearest_are(tmp_path: Path) -> None:
    done = [of_agent(f"Omo sang song number {place}.") for place in range(60)]
    found = await candidates(tmp_path, done, "What did you sing?")
    few = LongTermSection().candidates
    assert few <= len(found) <= 2 * few + 2


@pytest.mark.parametrize("sort", [of_agent, fact], ids=["agent traits", "knowledge base"])
async def test_how_many_are_held_and_looked_at_is_configured(
    sort: Callable[[str], Fact], tmp_path: Path
) -> None:
    texts = [f"Omo sang song number {place}." for place in range(60)]
    for number, (capacity, few, looked_at) in enumerate(
        [(100, 0, range(3)), (100, 30, range(30, 62)), (20, 30, range(20, 23))]
    ):
        section = {"capacity": capacity, "candidates": few}
        facts = [replace(sort(text), language="en") for text in texts]
        found = await candidates(
            tmp_path / str(number), facts, "What did you sing?", long_term=section
        )
        assert len(found) in looked_at


async def test_so_much_of_the_knowledge_base_is_told_of_a_person(tmp_path: Path) -> None:
    for capacity in (2, 5):
        with opened(tmp_path / str(capacity), long_term={"capacity": capacity}) as room:
            told = [fact(f"あなたは絵{place}を好む。") for place in range(9)]
            await room.memory.add(told, keep_all=True)
            recalled = await room.memory.recall("hana", "こんにちは。", "ja")
            assert len(recalled.knowledge) == capacity


@pytest.mark.parametrize(
    ("query", "language", "told"),
    [
        ("What film did you recommend to me?", "en", "Omo recommended the film Totoro."),
        ("何の映画を勧めてくれたっけ?", "ja", "Omoは映画「となりのトトロ」を勧めた。"),
    ],
)
async def test_what_the_robot_did_comes_to_mind(
    tmp_path: Path, query: str, language: str, told: str
) -> None:
    with opened(tmp_path) as room:
        await room.memory.add([replace(fact(told, language=language), about="Omo")])
        found = await room.memory.recall("hana", query, language)
        assert [line.text for line in found.lines] == [told]


async def test_of_both_together_three_facts_are_told(tmp_path: Path) -> None:
    done = [of_agent(f"Omo recommended film {place}.") for place in range(5)]
    own = [fact(f"You like film {place}.", language="en") for place in range(5)]
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        await room.memory.add([*done, *own], keep_all=True)
        assert len((await room.memory.recall("hana", "Which film?", "en")).lines) == 3


async def test_what_another_robot_did_is_nobodys_here(tmp_path: Path) -> None:
    told = "Omo recommended the film Totoro."
    with opened(tmp_path, persona={"name": "Kiko"}) as room:
        await room.memory.add([of_agent(told)])
        query = "What film did you recommend to me?"
        assert await room.memory.search("hana", query, "en") == []
        assert [one.text for one in await room.memory.archive.facts("hana")] == [told]
