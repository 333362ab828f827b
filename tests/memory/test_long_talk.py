"""What a talk of two hundred turns costs in calls of the model, and what of memory its prompts hold. In virtual time."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from server.commands.bench_prompt import as_text, common_prefix_tokens
from server.config import EmbeddingSection
from server.embedding import build
from server.memory.extract import RulesExtractor
from server.ports import Embedder
from server.quoting import estimate_tokens, tokens_of
from tests.fakes import FakeEmbedder
from tests.memory.lived_in import BUDGETS, Home, blocks, home, script
from tests.memory.reading_model import Work
from tests.memory.remembering import turn
from tests.virtual_time import VIRTUAL_TIME, Backend

pytestmark = pytest.mark.no_cover  # others run the same lines, and counting them doubles the time


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


ENGINES = ["fake", pytest.param("use", marks=[pytest.mark.model, pytest.mark.slow])]


def embedder_of(engine: str) -> Embedder:
    return FakeEmbedder() if engine == "fake" else build(EmbeddingSection(engine="use"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ENGINES)
async def test_two_hundred_turns_cost_one_call_each_and_few_behind_them(
    engine: str, tmp_path: Path
) -> None:
    """A day of one person has about twelve turns here: the fewer there are, the more it costs to sum it up."""
    async with home(tmp_path, embedder_of(engine)) as lived_in:
        model = lived_in.model
        for visit in script():
            held = await lived_in.visit(visit)
            assert [each.transcript.text for each in held if each.transcript] == [
                said.text for said in visit.said
            ]
            assert not any(each.error for each in held)
        lived_in.clock.pass_time(days=1)
        await lived_in.end_days()
    assert model.asked(Work.REPLY) == 200
    calls = {work: model.asked(work) for work in Work if work is not Work.REPLY}
    assert all(calls.values()), "each kind of work was done"
    assert sum(calls.values()) / 200 <= 0.3, calls


async def test_two_hundred_turns_in_two_sittings_cost_a_call_for_every_five(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        for person in ("hana", "tom"):
            visits = [visit for visit in script() if visit.person == person]
            said = [said for visit in visits for said in visit.said]
            await lived_in.visit(replace(visits[0], said=said))
        lived_in.clock.pass_time(days=1)
        await lived_in.end_days()
    model = lived_in.model
    assert model.asked(Work.REPLY) == 200
    assert model.asked(Work.EXTRACT) == 25
    assert model.asked(Work.EXTRACT, Work.PORTRAIT, Work.DAY) <= 40


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_memory_keeps_to_its_budget_at_turn_ten_and_at_turn_two_thousand(
    tmp_path: Path,
) -> None:
    visits = script()
    async with home(tmp_path) as lived_in:
        await lived_in.visit(visits[0])
        early = lived_in.model.prompts[Work.REPLY][9]
        for visit in visits[1:]:
            await lived_in.visit(visit)
    own = [visit for visit in visits if visit.person == "hana"]
    said = [one for visit in own for one in visit.said]
    async with home(tmp_path, clock=lived_in.clock, extraction={"turns": 100}) as lived_in:
        await grow(lived_in, [one.text for one in said])
        assert len(await lived_in.memory.archive.pages("hana")) == 2_000
        await lived_in.visit(replace(own[0], said=[one for one in said if one.expects]))
        late = lived_in.model.prompts[Work.REPLY]
    for prompt in (early, *late):
        assert blocks(prompt)
        for tag, block in blocks(prompt).items():
            assert estimate_tokens(block) <= BUDGETS[tag], tag
        assert estimate_tokens(prompt.system) + tokens_of(prompt.messages) <= 3_000


async def grow(lived_in: Home, texts: Sequence[str]) -> None:
    """Add turns that no conversation is held for: the same things again with other figures; rules draw the facts."""
    lived_in.memory.consolidator.extractor = RulesExtractor()
    for number in range(len(texts), 2_000):
        said = f"{texts[number % len(texts)]} ({number})"
        lived_in.memory.turn_finished(turn(said, lived_in.clock.now()))
        lived_in.clock.pass_time(minutes=30)
    await lived_in.memory.extract("hana")


async def test_what_memory_learns_in_mid_talk_leaves_the_persona_read(tmp_path: Path) -> None:
    """From turn to turn all but the last exchanges is read already; after facts were drawn, all in front of the portrait."""
    visits = [visit for visit in script() if visit.person == "hana"]
    longest = max(visits, key=lambda visit: len(visit.said))
    async with home(tmp_path) as lived_in:
        for visit in visits[: visits.index(longest) + 1]:
            await lived_in.visit(visit)
        prompts = lived_in.model.prompts[Work.REPLY][-len(longest.said) :]
        assert lived_in.batch < len(prompts)
    for turn_number, (before, after) in enumerate(pairwise(prompts), start=1):
        alike = common_prefix_tokens(before, after)
        persona, found, _ = before.system.partition("<about_the_person>\n")
        assert found
        if turn_number == lived_in.batch:
            assert before.system != after.system
            assert estimate_tokens(persona) <= alike < estimate_tokens(before.system)
        else:
            assert alike >= estimate_tokens(before.system)
    share = estimate_tokens(persona) / estimate_tokens(as_text(before))
    assert share > 0.5, "most of a prompt is what never changes"
