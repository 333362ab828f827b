"""Whether a new fact repeats an old one: details have to agree, and what has no vector is not judged by the lack of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from server.config import EmbeddingSection
from server.embedding import build
from server.memory.calibration import load_calibration
from server.memory.comparing import (
    Closeness,
    Relation,
    change_signs,
    details_agree,
    relations,
    repeats,
    signs_between,
    with_opinions,
)
from server.memory.corrections import without_correction
from server.memory.judging import NO_OPINION, Forest, Perceptron, Scale
from server.memory.models import Fact
from server.memory.shelf import Entry, make_entry
from tests.memory.remembering import NOON

SAME, REPLACES, DIFFERENT = Relation.SAME, Relation.REPLACES, Relation.DIFFERENT
EAST: NDArray[np.float32] = np.array([1, 0], np.float32)
NORTH: NDArray[np.float32] = np.array([0, 1], np.float32)
BETWEEN: NDArray[np.float32] = np.array([0.6, 0.8], np.float32)
OCTOBER = date(2026, 10, 6)
SENTENCES = (
    "You have a cat called Tama.",
    "You like tea.",
    "Your sister lives in Leeds.",
    "You moved to Osaka.",
    "You no longer like tea.",
)


def entry(
    text: str,
    vector: NDArray[np.float32] | None = None,
    *,
    language: str = "en",
    after: int = 0,
    day: date | None = None,
) -> Entry:
    """Return a fact that was said so many days after the first."""
    said_at = NOON + timedelta(days=after)
    fact = Fact(text, "hana", text, language, said_at, event_from=day, event_to=day)
    return make_entry(fact, vector)


def unlike_above(sign: str, threshold: float, *, above: float = 0.9, below: float = 0.1) -> Forest:
    """Return a forest that looks at one sign: `above` is the probability above a threshold, else `below`."""
    logits = [0.0, *(np.log(one / (1 - one)) for one in (below, above))]
    return Forest(
        (sign,),
        np.zeros((1, 3), np.int16),
        np.array([[threshold, 0, 0]], np.float64),
        np.array([[1, 1, 2]], np.int16),
        np.array([[2, 1, 2]], np.int16),
        np.array([logits], np.float32),
        0.0,
        1,
    )


def closeness(changes: Forest, same: float = 1.5, threshold: float = 0.5) -> Closeness:
    """Return one for which only the same words say the same, unless another number is given."""
    return Closeness(same, threshold, changes)


def looking(changes: Forest) -> Closeness:
    """Return one with a perceptron whose logit is ten times the second number of the old vector."""
    pairing = Perceptron(
        np.array([[0], [10], [0], [0], [0], [0]], np.float32),
        np.zeros(1, np.float32),
        np.ones(1, np.float32),
        0.0,
    )
    scale = Scale(np.zeros(2, np.float32), 1.0)
    return replace(closeness(changes), scale=scale, pairing=pairing)


NEVER = closeness(unlike_above("closeness", 2.0))
ALWAYS = closeness(unlike_above("closeness", -2.0))


# Repeating ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "language"),
    [
        ("You like tea.", "you like tea", "en"),
        ("You have 3 cats!", "You have 3 cats", "en"),
        ("You saw a play (2026-10-06).", "You saw a play.", "en"),
        ("あなたは猫が三匹いる。", "あなたは猫が３匹いる", "ja"),
    ],
)
def test_the_same_words_are_a_repetition_with_or_without_vectors(
    old: str, new: str, language: str
) -> None:
    for one, other in ((None, None), (EAST, None), (None, EAST), (EAST, NORTH)):
        before, after = entry(old, one, language=language), entry(new, other, language=language)
        assert repeats(before, after, 0.95)
        assert relations(after, [before], ALWAYS) == [SAME], "and so nothing is replaced"


def test_the_same_words_of_another_day_are_no_repetition() -> None:
    on = {day: entry("You go to Hakone.", EAST, day=day) for day in (None, OCTOBER)}
    assert not repeats(on[None], on[OCTOBER], 0.95)
    assert not repeats(on[OCTOBER], on[None], 0.95)
    assert repeats(on[OCTOBER], on[OCTOBER], 0.95)


def test_other_words_are_a_repetition_only_if_their_vectors_are_near_enough() -> None:
    old, new = "You are fond of tea.", "You like tea."
    assert repeats(entry(old, EAST), entry(new, EAST), 1.0)
    assert repeats(entry(old, EAST), entry(new, BETWEEN), 0.59)
    assert not repeats(entry(old, EAST), entry(new, BETWEEN), 0.61)


def test_other_words_without_a_vector_are_no_repetition() -> None:
    for one, other in ((None, None), (EAST, None), (None, EAST)):
        assert not repeats(entry("You are fond of tea.", one), entry("You like tea.", other), 0.05)


@pytest.mark.parametrize(
    ("old", "new", "language"),
    [
        ("You have 3 cats.", "You have 4 cats.", "en"),
        ("You know Anna.", "You know Bella.", "en"),
        ("You swim on Mondays.", "You swim on Thursdays.", "en"),
        ("You eat eggs.", "You don't eat eggs.", "en"),
        ("You like tea.", "You like coffee now.", "en"),
        ("You work at the mill.", "You quit the mill.", "en"),
        ("あなたは猫を3匹飼っている。", "あなたは猫を4匹飼っている。", "ja"),
        ("あなたは納豆を食べる。", "あなたは納豆を食べない。", "ja"),
        ("あなたは東京に住んでいる。", "あなたは東京に引っ越した。", "ja"),
        ("你吃鸡蛋。", "你不吃鸡蛋。", "zh"),
        ("あなたは左膝が痛い。", "あなたは右膝が痛い。", "ja"),
        ("Your left knee hurts.", "Your right knee hurts.", "en"),
        ("あなたは猫を飼っている。", "あなたの妹は猫を飼っている。", "ja"),
        ("あなたの兄は医者だ。", "あなたの弟は医者だ。", "ja"),
        ("Your mother likes tea.", "Your father likes tea.", "en"),
        ("你有3只猫。", "你有4只猫。", "zh"),
    ],
)
def test_a_detail_that_differs_is_no_repetition_however_near(
    old: str, new: str, language: str
) -> None:
    before, after = entry(old, EAST, language=language), entry(new, EAST, language=language)
    assert not details_agree(before, after)
    assert not repeats(before, after, 0.95)


def test_days_that_differ_are_no_agreement() -> None:
    one, other = (entry("You go to Hakone.", day=day) for day in (OCTOBER, date(2026, 10, 8)))
    assert not details_agree(one, other)
    assert details_agree(one, one)


def test_details_agree_in_two_wordings_of_a_fact() -> None:
    assert details_agree(entry("You own 2 cats."), entry("You have two cats."))
    assert details_agree(entry("You met Anna by chance."), entry("By chance you met Anna."))
    assert not details_agree(entry("You like coffee."), entry("You now like coffee."))
    assert details_agree(entry("You now like coffee."), entry("You like coffee.")), "said again"


@pytest.mark.parametrize(
    ("old", "new", "language"),
    [
        ("Your elder sister is a vet.", "Your younger sister is a vet.", "en"),
        ("あなたは月曜にピアノを習う。", "あなたは木曜にピアノを習う。", "ja"),
        ("You get up at 7:00.", "You get up at 8:30.", "en"),
    ],
)
def test_another_weekday_hour_or_sister_is_no_repetition(old: str, new: str, language: str) -> None:
    before, after = entry(old, EAST, language=language), entry(new, EAST, language=language)
    assert not repeats(before, after, 0.95)


# Replacing ------------------------------------------------------------------------------------------------------------


def test_each_known_fact_gets_a_word_of_its_own_in_their_order() -> None:
    known = [entry("You like milk.", EAST), entry("You like tea.", NORTH)]
    known.append(entry("You hike.", BETWEEN))
    new = entry("You like tea", EAST, after=1)
    near = closeness(unlike_above("closeness", 0.9))
    assert relations(new, known, near) == [REPLACES, SAME, DIFFERENT]
    assert relations(new, known[::-1], near) == [DIFFERENT, SAME, REPLACES]
    assert relations(new, [], near) == []


def test_a_probability_at_the_threshold_is_enough() -> None:
    old, new = entry("You like milk.", EAST), entry("You hike.", NORTH, after=1)
    even = unlike_above("closeness", 2.0, below=0.5)
    assert relations(new, [old], closeness(even, threshold=0.5)) == [REPLACES]
    assert relations(new, [old], closeness(even, threshold=0.51)) == [DIFFERENT]


def test_what_was_said_later_is_not_replaced_by_what_was_said_before_it() -> None:
    early, late = entry("You like milk.", EAST), entry("You hike.", EAST, after=1)
    assert relations(late, [early], ALWAYS) == [REPLACES]
    assert relations(early, [late], ALWAYS) == [DIFFERENT]


def test_only_the_nearest_of_the_known_facts_stands_first() -> None:
    known = [entry("You like milk.", NORTH), entry("You hike.", EAST), entry("You sew.", BETWEEN)]
    signs = signs_between(entry("You ski.", EAST, after=1), known)
    assert [one["closeness.rank"] for one in signs] == [2, 0, 1]
    assert [one["closeness.below_best"] for one in signs] == pytest.approx([-1, 0, -0.4])
    assert [one["closeness.above_second"] for one in signs] == pytest.approx([-0.6, 0.4, 0])
    nearest_only = closeness(unlike_above("closeness.rank", 0.5, above=0.1, below=0.9))
    new = entry("You ski.", EAST, after=1)
    assert relations(new, known, nearest_only) == [DIFFERENT, REPLACES, DIFFERENT]


def test_opinions_stand_among_each_other_and_leave_the_signs_as_they_were() -> None:
    signs = [{"closeness": 0.5}, {"closeness": 0.25}]
    full = with_opinions(signs, [-1.0, 3.0])
    assert [one["paired"] for one in full] == [-1, 3]
    assert [one["paired.rank"] for one in full] == [1, 0]
    assert [one["paired.above_second"] for one in full] == [0, 4]
    assert signs == [{"closeness": 0.5}, {"closeness": 0.25}]
    with pytest.raises(ValueError, match="shorter"):
        with_opinions(signs, [0.0])


# Without vectors ------------------------------------------------------------------------------------------------------


def test_a_perceptron_has_an_opinion_of_those_with_a_vector_only() -> None:
    known = [entry("You like milk.", NORTH), entry("You hike."), entry("You sew.", BETWEEN)]
    judge = looking(unlike_above("paired", 0.0))
    new = entry("You ski.", EAST, after=1)
    found = [one["paired"] for one in change_signs(new, known, judge)]
    assert found == pytest.approx([10, NO_OPINION, 8])
    assert relations(new, known, judge) == [REPLACES, DIFFERENT, REPLACES]


def test_of_a_new_fact_without_a_vector_a_perceptron_has_no_opinion() -> None:
    known = [entry("You like milk.", NORTH), entry("You hike.")]
    judge = looking(unlike_above("paired", 0.0))
    new = entry("You ski.", after=1)
    assert [one["paired"] for one in change_signs(new, known, judge)] == [NO_OPINION] * 2
    assert relations(new, known, judge) == [DIFFERENT] * 2


def test_a_fact_without_a_vector_is_not_taken_for_the_nearest() -> None:
    known = [entry("You like milk."), entry("You hike.", BETWEEN)]
    nearest = closeness(unlike_above("closeness.rank", 0.5, above=0.1, below=0.9))
    assert relations(entry("You ski.", EAST, after=1), known, nearest) == [DIFFERENT, REPLACES]


@pytest.mark.parametrize("name", ["blend", "e5", "use", "other"])
def test_facts_without_vectors_are_not_replaced_by_what_has_nothing_to_do_with_them(
    name: str,
) -> None:
    if name == "other":
        judge = load_calibration("", "some other model", 7).closeness
    else:
        embedder = build(EmbeddingSection.model_validate({"engine": name}))
        judge = load_calibration("", embedder.model, embedder.dimensions).closeness
    told = ("You have a cat.", "You run every morning.", "Your sister is a vet.", "You sing.")
    known = [entry(text) for text in told]
    for text in ("You moved to Osaka.", "You now like red.", "You play chess."):
        assert relations(entry(text, after=1), known, judge) == [DIFFERENT] * 4


def test_who_moved_has_one_home_and_what_calls_itself_an_addition_replaces_nothing() -> None:
    """Sets hold too few of both to learn them from."""
    leeds = [entry("You live in Leeds.")]
    assert relations(entry("You moved to York.", after=1), leeds, NEVER) == [REPLACES]
    assert relations(entry("Your sister moved to York.", after=1), leeds, NEVER) == [DIFFERENT]
    assert relations(entry("You moved to York.", after=-1), leeds, NEVER) == [DIFFERENT]
    for text in (
        "Your cats live in the garage.",
        "You live alone.",
        "You want to live in Spain.",
        "You make a good living as a baker.",
        "You moved back the sofa.",
        "あなたは一人暮らしをしている。",
        "あなたはいつか沖縄で暮らしたい。",
        "あなたは去年まで大阪に住んでいた。",
    ):
        assert relations(entry(text, after=1), leeds, NEVER) == [DIFFERENT]
    tea = [entry("You like tea.")]
    assert relations(entry("You also like coffee.", after=1), tea, ALWAYS) == [DIFFERENT]
    assert relations(entry("あなたはコーヒーも好きだ。", after=1), tea, ALWAYS) == [DIFFERENT]


def test_what_is_told_of_one_named_person_replaces_nothing_that_is_told_of_another() -> None:
    mother = [entry("Your mother Kazuko has diabetes.")]
    for text in ("Your colleague Kenta likes coffee.", "Your son Leo has stopped eating sugar."):
        assert relations(entry(text, after=1), mother, ALWAYS) == [DIFFERENT]
    for text in ("Your mother Kazuko is well again.", "Your mother is well again."):
        assert relations(entry(text, after=1), mother, ALWAYS) == [REPLACES]


def test_one_more_allergy_and_another_of_the_family_replace_nothing() -> None:
    for old, new in (
        ("You are allergic to penicillin.", "You are allergic to latex."),
        ("Your mother's birthday is May 3rd.", "Your father's birthday is June 3rd."),
        ("Your son lives in Leeds.", "Your daughter lives in York."),
    ):
        assert relations(entry(new, after=19), [entry(old)], ALWAYS) == [DIFFERENT]
    egg = [entry("あなたは卵アレルギーだ。", language="ja")]
    assert relations(entry("あなたはそばアレルギーだ。", language="ja", after=1), egg, ALWAYS) == [
        DIFFERENT
    ]
    gone = entry("You are no longer allergic to penicillin.", after=1)
    assert relations(gone, [entry("You are allergic to penicillin.")], ALWAYS) == [REPLACES]


@pytest.mark.parametrize(
    ("plan", "new", "language", "relation"),
    [
        ("You are going to Hakone with Ken.", "The trip to Hakone is off.", "en", REPLACES),
        ("あなたは健太と箱根に行く。", "箱根旅行は中止になった。", "ja", REPLACES),
        ("你和小刚去杭州。", "杭州不去了。", "zh", REPLACES),
        (
            "You are going to the zoo with Ben.",
            "You are not going to Rome with Ben.",
            "en",
            DIFFERENT,
        ),
        ("You are going to Hakone with Ken.", "Hakone is lovely in autumn.", "en", DIFFERENT),
        (
            "You are going to Hakone with Ken.",
            "The trip to Hakone isn't cancelled.",
            "en",
            DIFFERENT,
        ),
    ],
)
def test_what_is_called_off_replaces_the_plan(
    plan: str, new: str, language: str, relation: Relation
) -> None:
    old = entry(plan, language=language, day=OCTOBER)
    assert relations(entry(new, language=language, after=1), [old], NEVER) == [relation]


def test_only_what_is_still_to_come_and_was_meant_is_called_off() -> None:
    off = entry("The trip to Hakone was cancelled.", after=30)
    past, undated = entry("You go to Hakone.", day=OCTOBER), entry("You like Hakone.")
    assert relations(off, [past, undated], NEVER) == [DIFFERENT, DIFFERENT]
    elsewhen = entry("The trip to Hakone is off.", after=1, day=date(2026, 10, 20))
    assert relations(elsewhen, [past], NEVER) == [DIFFERENT]
    party = entry("My birthday party is on Saturday.", day=OCTOBER)
    stays_away = entry(
        "My brother isn't coming to my birthday party on Saturday.", after=1, day=OCTOBER
    )
    assert relations(stays_away, [party], NEVER) == [DIFFERENT]


@pytest.mark.parametrize(
    ("old", "new", "language"),
    [
        ("毎朝6時に散歩に行きます", "間違えた、毎朝7時に散歩に行きます", "ja"),
        ("I'm called Alice.", "Sorry, I'm called Alicia.", "en"),
        ("I live in Leeds.", "No, I live in York.", "en"),
        ("I walk in the park every morning at six.", "No wait, I walk in the park every morning at seven.", "en"),
        ("我叫王芳", "不对，我叫王方", "zh"),
    ],
)  # fmt: skip
def test_a_correction_takes_the_place_of_the_nearest_fact_of_the_last_days(
    old: str, new: str, language: str
) -> None:
    bird = entry("I had a look at a bird.")
    told = entry(old, language=language)
    for days, relation in ((0, REPLACES), (2, REPLACES), (9, DIFFERENT)):
        said = entry(new, language=language, after=days)
        if relation is REPLACES or "York" not in new:  # of homes there is one at any time
            assert relations(said, [bird, told], NEVER) == [DIFFERENT, relation]
    plain = entry(without_correction(new), language=language, after=1)
    if "York" not in new:
        assert relations(plain, [told], NEVER) == [DIFFERENT]


def test_a_correction_of_one_thing_leaves_another_alone() -> None:
    for old, new in (
        ("I'm called Alice.", "Sorry, I'm going to the dentist."),
        ("I live in Leeds.", "Sorry, I work as a nurse."),
        ("My dog is called Rex.", "Sorry, I'm called Alicia."),
        ("I like tea in the morning.", "No, I like my garden."),
    ):
        assert relations(entry(new), [entry(old)], NEVER) == [DIFFERENT], new


@pytest.mark.parametrize(
    ("old", "new", "language"),
    [
        ("The doctor moved my appointment to Thursday at 3 pm.", "No wait, I meant my appointment is on Friday.", "en"),
        ("I'm seeing the dentist with my daughter on Thursday.", "Sorry, the dentist is on Friday.", "en"),
        ("病院の予約が木曜の三時に変わったの", "ごめん、病院は金曜だった", "ja"),
        ("我星期四下午三点要和女儿去看医生", "不对，看医生是星期五", "zh"),
    ],
)  # fmt: skip
def test_a_correction_that_names_nothing_but_the_matter_and_another_day_replaces_the_day(
    old: str, new: str, language: str
) -> None:
    told = entry(old, language=language, day=OCTOBER)
    plain = entry(without_correction(new), language=language, day=OCTOBER + timedelta(days=1))
    assert relations(plain, [told], NEVER) == [DIFFERENT]
    corrected = make_entry(replace(plain.fact, quote=new), None)
    assert relations(corrected, [told], NEVER) == [REPLACES]


def test_a_correction_of_the_day_of_one_thing_leaves_the_day_of_another_alone() -> None:
    for old, new in (
        ("My sister's birthday is on Thursday.", "Sorry, my sister is coming on Friday."),
        ("I'm going to Hakone on Thursday.", "Sorry, I'm going to the dentist on Friday."),
        ("My appointment is on Thursday.", "Sorry, my daughter's appointment is on Friday."),
    ):
        fact = entry(without_correction(new), day=OCTOBER + timedelta(days=1)).fact
        corrected = make_entry(replace(fact, quote=new), None)
        assert relations(corrected, [entry(old, day=OCTOBER)], NEVER) == [DIFFERENT], new


def test_what_is_so_now_replaces_what_was_told_of_the_same_attribute_and_of_no_other() -> None:
    now = entry("I work in York now.", after=90)
    known = [entry("I work as a nurse in Leeds."), entry("I moved to York."), entry("I like tea.")]
    assert relations(now, known, NEVER) == [REPLACES, DIFFERENT, DIFFERENT]
    assert relations(now, known, ALWAYS)[1] is DIFFERENT
    daughter = entry("My daughter works in Leeds.")
    assert relations(now, [daughter], ALWAYS) == [DIFFERENT]


VECTORS = st.sampled_from([None, EAST, NORTH, BETWEEN, -EAST])
FACTS = st.builds(
    entry,
    st.sampled_from(SENTENCES),
    VECTORS,
    after=st.integers(-3, 3),
    day=st.sampled_from([None, OCTOBER]),
)


@given(FACTS, st.lists(FACTS, max_size=6))
def test_whatever_lacks_a_vector_each_known_fact_gets_one_word(
    new: Entry, known: Sequence[Entry]
) -> None:
    for judge in (NEVER, ALWAYS, looking(unlike_above("paired", 0.0))):
        found = relations(new, known, judge)
        assert len(found) == len(known)
        signs = change_signs(new, known, judge)
        assert all(np.isfinite(list(one.values())).all() for one in signs)
    if "moved" not in new.fact.text:
        assert REPLACES not in relations(new, known, NEVER)
    alike = [one for one in known if is_earlier(one, new) and not gives_other_things(one, new)]
    assert DIFFERENT not in relations(new, alike, ALWAYS)


def gives_other_things(one: Entry, other: Entry) -> bool:
    return bool(one.claims and other.claims) and one.claims.isdisjoint(other.claims)


def is_earlier(one: Entry, other: Entry) -> bool:
    return one.fact.said_at <= other.fact.said_at
