"""What sets teach: a question knows only what was said before it and still holds."""

from collections.abc import Sequence

import numpy as np
import pytest

from server.commands.lessons import ChangeLesson
from server.commands.recall_sets import SetFact, SetQuestion
from server.memory.wording import Aligned
from server.ports import TextKind, Vectors
from tests.commands.telling import DOG, MILK, TEA, Events, ask, drawn, fact
from tests.fakes import FakeEmbedder


async def offered(*events: SetFact | SetQuestion) -> list[list[str]]:
    """Return for each question the facts that it could bring to mind."""
    return [sorted(one.shelves[0]) for one in (await drawn(events)).questions]


# Questions ------------------------------------------------------------------------------------------------------------


async def test_a_question_sees_only_what_was_said_before_it() -> None:
    seen = await offered(
        MILK, TEA, DOG, ask("?", -1), ask("?", 0), ask("?", 1), ask("?", 10), ask("?", 11)
    )
    early = ["mio/dog", "mio/milk"]
    assert seen == [[], [], early, early, [*early, "mio/tea"]]


async def test_a_fact_that_was_replaced_is_kept_from_later_questions_only() -> None:
    seen = await offered(
        MILK,
        TEA,
        ask("What do I drink?", 5, ["milk"]),
        ask("What do I drink?", 12, ["tea"], ["milk"]),
        ask("Who am I?", 10),
        ask("Who am I?", 11),
    )
    assert seen == [["mio/milk"], ["mio/tea"], ["mio/milk"], ["mio/tea"]]


async def test_a_forbidden_fact_is_kept_from_its_question_though_nothing_replaced_it() -> None:
    seen = await offered(
        MILK, DOG, ask("What do I drink?", 5, [], ["milk"]), ask("What do I drink?", 6, ["milk"])
    )
    assert seen == [["mio/dog"], ["mio/dog", "mio/milk"]]


async def test_what_was_said_earlier_replaces_nothing() -> None:
    seen = await offered(
        MILK, TEA, ask("What did I drink?", 12, ["milk"], ["tea"]), ask("What do I drink?", 13)
    )
    assert seen[1] == ["mio/milk", "mio/tea"]


async def test_of_several_expected_facts_the_nearest_is_the_heir() -> None:
    seen = await offered(
        MILK,
        fact("cat", "My neighbour has a cat named Zoe.", 5),
        TEA,
        ask("What do I drink, and who has a cat?", 12, ["cat", "tea"], ["milk"]),
        ask("Anything?", 7),
        ask("Anything?", 11),
    )
    assert seen[1:] == [["mio/cat", "mio/milk"], ["mio/cat", "mio/tea"]]


async def test_the_nearest_heir_that_any_question_shows_counts() -> None:
    far, near = ask("Who?", 12, ["dog"], ["milk"]), ask("What?", 12, ["tea"], ["milk"])
    dog = fact("dog", "Your dog is called Rex.", 5)
    for questions in ((far, near), (near, far)):
        seen = await offered(MILK, dog, TEA, *questions, ask("?", 7), ask("?", 11))
        assert seen[2:] == [["mio/dog", "mio/milk"], ["mio/dog", "mio/tea"]]


async def test_a_wanted_fact_that_cannot_be_offered_still_counts_as_expected() -> None:
    [known, both] = (
        await drawn(
            [
                MILK,
                TEA,
                DOG,
                ask("What do I drink?", 12, ["tea"], ["milk"]),
                ask("What did I ever drink?", 13, ["milk", "tea"]),
            ]
        )
    ).questions
    assert (known.wanted, known.expected) == (frozenset({"mio/tea"}), 1)
    assert (both.wanted, both.expected) == (frozenset({"mio/tea"}), 2)


async def test_each_question_is_also_asked_of_somebody_little_known() -> None:
    many = [fact(f"f{number}", f"Your code is {number}.", 0) for number in range(30)]
    asked = [ask(f"Which code, {number}?", 1, ["f0", "f9"]) for number in range(40)]
    lessons = (await drawn([*many, *asked, ask("Nothing?", 1)])).questions
    few = [one.shelves[1] for one in lessons]
    assert [len(one.shelves[0]) for one in lessons] == [30] * 41
    assert all({"mio/f0", "mio/f9"} <= shelf.keys() for shelf in few[:-1])
    assert 2 == min(map(len, few[:-1])) < max(map(len, few)) < 10, "beside none or some others"
    assert len({tuple(shelf) for shelf in few}) > 20, "drawn anew for each"
    assert 0 < len(few[-1]) < 10
    alone = next(shelf for shelf in few if len(shelf) == 2)
    assert {signs["dense.rank"] for signs in alone.values()} == {0, 1}, "as they stand there"


async def test_nobody_is_offered_what_another_person_said() -> None:
    hers = fact("milk", "You drink wine.", 0, person="kei")
    [lesson] = (await drawn([MILK, hers, ask("What do I drink?", 1, ["milk"])])).questions
    assert list(lesson.shelves[0]) == list(lesson.vectors) == ["mio/milk"]
    assert lesson.wanted == {"mio/milk"}


async def test_persons_of_the_same_name_in_two_sets_are_two_persons() -> None:
    events: Events = [MILK, DOG, fact("late", "You hike.", 1), ask("What do I drink?", 2, ["milk"])]
    lessons = await drawn(events, events)
    assert len({one.person for one in lessons.questions}) == 2
    assert {one.person for one in lessons.changes} == {one.person for one in lessons.questions}


async def test_a_question_about_an_empty_day_is_marked() -> None:
    lessons = await drawn(
        [
            fact("gig", "You have a gig (2026-05-20).", 0),
            ask("What's on tomorrow?", 1),
            ask("What's on tomorrow?", 18, ["gig"]),
            ask("How high is Mount Fuji?", 1),
        ]
    )
    assert [one.of_empty_day for one in lessons.questions] == [True, False, False]


async def test_each_text_keeps_its_own_vector_however_many_there_are() -> None:
    class Told(FakeEmbedder):
        batches: list[tuple[int, TextKind]] = []  # noqa: RUF012

        async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
            self.batches.append((len(texts), kind))
            return await super().embed(texts, kind)

    embedder = Told()
    many = [fact(f"f{number}", f"Your code is {number}.", 0) for number in range(150)]
    lessons = await drawn([*many, ask("Which code?", 1, ["f0"])], embedder=embedder)
    [question] = lessons.questions
    for one in many:
        [own] = await FakeEmbedder().embed([Aligned().of_fact(one.text)], "passage")
        assert np.array_equal(question.vectors[f"mio/{one.id}"], own)
    assert max(count for count, _ in embedder.batches) <= 64
    assert {kind for _, kind in embedder.batches} == {"passage", "query"}


# Changes --------------------------------------------------------------------------------------------------------------


def of_all(lessons: Sequence[ChangeLesson]) -> list[ChangeLesson]:
    """Return the lessons in which all is known; each is followed by one with little and one with the nearest alone."""
    return list(lessons[::3])


def only(lessons: Sequence[ChangeLesson]) -> ChangeLesson:
    [lesson] = of_all(lessons)
    return lesson


async def test_the_first_fact_of_a_person_teaches_nothing_about_change() -> None:
    other = fact("milk", "You drink wine.", 5, person="kei")
    assert (await drawn([MILK, other])).changes == []
    assert len((await drawn([MILK, TEA])).changes) == 3


async def test_what_a_question_shows_to_be_replaced_is_taught_as_a_replacement() -> None:
    asked = ask("What do I drink?", 12, ["tea"], ["milk"])
    lesson = only((await drawn([MILK, DOG, TEA, asked])).changes)
    texts = [Aligned().of_fact(one.text) for one in (MILK, TEA)]
    [milk, tea] = await FakeEmbedder().embed(texts, "passage")
    assert lesson.replaced == [True, False], "the nearest comes first"
    assert np.array_equal(lesson.vector, tea)
    assert np.array_equal(lesson.vectors[0], milk)
    assert lesson.signs[0]["closeness.rank"] == 0
    assert lesson.signs[0]["closeness"] == pytest.approx(float(lesson.vector @ lesson.vectors[0]))


async def test_a_change_is_also_judged_with_nothing_known_but_the_nearest_fact() -> None:
    """Else whatever comes nearest to the first fact of an acquaintance would be taken for its heir."""
    everything, _, nearest = (await drawn([MILK, DOG, TEA])).changes[-3:]
    assert everything.replaced == [False, False]
    assert nearest.replaced == [False]
    assert np.array_equal(nearest.vectors[0], everything.vectors[0])
    assert nearest.signs[0]["closeness"] == everything.signs[0]["closeness"]


async def test_what_has_been_replaced_is_not_known_to_what_is_said_later() -> None:
    asked = ask("What do I drink?", 12, ["tea"], ["milk"])
    lessons = (await drawn([MILK, TEA, fact("hike", "You hike.", 20), asked])).changes
    assert [one.replaced for one in of_all(lessons)] == [[True], [False]]


async def test_only_facts_that_agree_in_their_details_show_how_near_two_different_ones_can_be() -> (
    None
):
    cats = fact("cats", "You have 3 cats.", 0), fact("more", "You have 4 cats.", 1)
    assert only((await drawn(list(cats))).changes).closest_alike == 0
    drinks = only((await drawn([MILK, TEA])).changes)
    assert drinks.closest_alike == pytest.approx(drinks.signs[0]["closeness"])
