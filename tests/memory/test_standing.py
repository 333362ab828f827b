"""Of what has to stand in every prompt, the newest of each matter does, in order, as long as it holds."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.models import Fact
from server.memory.standing import StandingKind, standing, standing_kind
from server.memory.wording import framed
from tests.memory.remembering import NOON, fact
from tests.memory.test_standing_kinds import NOTHING, SAID

LATER = NOON + timedelta(days=400)


def dated(text: str, language: str, said: datetime, last: date | None = None) -> Fact:
    return replace(fact(text, said, language=language), event_to=last)


def chosen(*facts: Fact, limit: int = 20, now: datetime = LATER) -> list[str]:
    return [each.text for each in standing(facts, limit, now)]


def test_the_newest_of_each_kind_stands_first_in_order_and_then_the_others() -> None:
    told = [
        "You are on a diet.",
        "You are vegetarian.",
        "You don't want to be asked about your son.",
        "Your father died.",
        "Your mother died.",
        "You have diabetes.",
        "You take warfarin.",
        "You are allergic to nuts.",
        "You like tea.",
    ]
    facts = [fact(text, NOON + timedelta(days=day), language="en") for day, text in enumerate(told)]
    assert chosen(*facts) == [told[place] for place in (7, 6, 5, 4, 2, 1, 0, 3)]
    assert chosen(*facts, limit=2) == [told[7], told[6]]
    assert chosen(*facts, limit=0) == []


@pytest.mark.parametrize(
    ("old", "new", "language"),
    [
        ("卵アレルギーなんだ。", "忘れないで、卵アレルギーだから。", "ja"),
        ("血圧の薬を毎朝一錠飲んでいる。", "血圧の薬は朝と夜に二錠飲んでいる。", "ja"),
        ("私は糖尿病です。", "糖尿病でインスリンはまだいらない。", "ja"),
        ("I have diabetes.", "My diabetes is under control.", "en"),
        ("I want to be in bed by ten.", "I want to be asleep before eleven.", "en"),
        ("My sister died.", "I was at my sister's funeral.", "en"),
        ("I'm a vegetarian.", "I have been vegetarian for years.", "en"),
        ("我有糖尿病。", "医生说我有糖尿病。", "zh"),
    ],
)
def test_of_one_matter_the_newest_stands(old: str, new: str, language: str) -> None:
    earlier = fact(framed(old, language), NOON, language=language)
    later = fact(framed(new, language), NOON + timedelta(days=1), language=language)
    assert chosen(earlier, later) == chosen(later, earlier) == [later.text]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You are allergic to milk.", "You are allergic to nuts and drink oat milk."),
        ("You are allergic to nuts and eggs.", "You are allergic to eggs."),
        ("You take amlodipine for your blood pressure.", "You take ramipril at night."),
        ("Your sister Ruth died.", "Your sister Ann died."),
        ("Your mother died.", "Your father died."),
        ("You have diabetes and asthma.", "You have diabetes."),
        ("You don't want to talk about your divorce.", "You don't want to talk about the war."),
    ],
)
def test_another_matter_of_the_same_kind_never_drops_one(one: str, other: str) -> None:
    earlier = fact(one, NOON, language="en")
    later = fact(other, NOON + timedelta(days=1), language="en")
    assert chosen(earlier, later) == [other, one]


def test_what_has_been_replaced_stands_no_more() -> None:
    old = replace(fact("あなたは卵アレルギーだ。"), superseded_by="another")
    assert chosen(old) == []
    assert standing_kind(old) is StandingKind.ALLERGY


@pytest.mark.parametrize(
    ("text", "language", "last"),
    [
        ("You want to lose five kilos by Christmas (2026-12-25).", "en", date(2026, 12, 25)),
        ("Tonight you want to be in bed by ten (2026-09-27).", "en", date(2026, 9, 27)),
        ("あなたはクリスマスまでに五キロ痩せたい（2026年12月25日）。", "ja", date(2026, 12, 25)),
        ("今夜は十時までに寝たい。", "ja", date(2026, 9, 27)),
        ("你想在圣诞节前瘦五斤。", "zh", date(2026, 12, 25)),
    ],
)
def test_a_goal_stands_until_its_last_day_is_over(text: str, language: str, last: date) -> None:
    goal = dated(text, language, NOON, last)
    on_the_day = datetime.combine(last, NOON.timetz())
    assert chosen(goal, now=on_the_day) == [text]
    assert chosen(goal, now=on_the_day + timedelta(days=1)) == []


@pytest.mark.parametrize(
    ("text", "language", "last"),
    [
        ("You gave up smoking on New Year's Day (2026-01-01).", "en", date(2026, 1, 1)),
        ("You are on a diet since today (2026-09-27).", "en", date(2026, 9, 27)),
        ("You are giving up smoking on Monday (2026-09-28).", "en", date(2026, 9, 28)),
        ("あなたは今日から禁煙している（2026年9月27日）。", "ja", date(2026, 9, 27)),
        ("你决定从今天开始戒烟。", "zh", date(2026, 9, 27)),
    ],
)
def test_a_day_on_which_a_goal_begins_does_not_end_it(text: str, language: str, last: date) -> None:
    assert chosen(dated(text, language, NOON, last)) == [text]


def test_an_allergy_that_was_noticed_on_a_day_does_not_pass() -> None:
    text = "You found out today that you are allergic to nuts (2026-09-27)."
    assert chosen(dated(text, "en", NOON, date(2026, 9, 27))) == [text]


@pytest.mark.parametrize(
    ("text", "language"),
    [("You are pregnant.", "en"), ("あなたは足を骨折した。", "ja"), ("我怀孕了。", "zh")],
)
def test_what_passes_by_itself_stands_for_some_months(text: str, language: str) -> None:
    told = fact(text, language=language)
    assert chosen(told, now=NOON + timedelta(days=200)) == [text]
    assert chosen(told, now=LATER) == []


def test_a_pregnancy_is_over_after_the_day_on_which_the_child_is_due() -> None:
    due = dated("You are pregnant and due on November 10.", "en", NOON, date(2026, 11, 10))
    assert chosen(due, now=NOON + timedelta(days=30)) == [due.text]
    assert chosen(due, now=NOON + timedelta(days=60)) == []


TEXTS = [
    (framed(text, language), language)
    for table in (SAID, {"": NOTHING})
    for by_language in table.values()
    for language, texts in by_language.items()
    for text in texts
]
FACTS = st.lists(
    st.builds(
        lambda told, day, gone, number: replace(
            fact(told[0], NOON + timedelta(days=day), language=told[1], id_=str(number)),
            superseded_by=gone,
        ),
        st.sampled_from(TEXTS),
        st.integers(0, 30),
        st.sampled_from(["", "", "other"]),
        st.integers(0, 10_000),
    ),
    unique_by=lambda each: each.id,
    max_size=12,
)


@given(FACTS, st.integers(0, 8), st.randoms())
def test_the_order_of_facts_does_not_matter_and_a_limit_only_cuts_off(
    facts: list[Fact], limit: int, chance: Random
) -> None:
    everything = standing(facts, 100, LATER.astimezone(UTC))
    shuffled = [*facts]
    chance.shuffle(shuffled)
    assert standing(shuffled, limit, LATER) == everything[:limit]


@given(FACTS)
def test_only_current_standing_facts_come_out_one_of_each_kind_before_the_others(
    facts: list[Fact],
) -> None:
    found = standing(facts, 100, NOON)
    assert all(each.current for each in found)
    kinds = [kind for each in found if (kind := standing_kind(each))]
    assert len(kinds) == len(found)
    there = {standing_kind(each) for each in facts if each.current}
    first = [kind for kind in StandingKind if kind in there]
    rest = kinds[len(first) :]
    assert kinds[: len(first)] == first
    assert rest == sorted(rest, key=[*StandingKind].index)
