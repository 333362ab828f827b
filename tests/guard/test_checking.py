"""Sentences in three languages that go against what is known, and ones that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.guard import Hit, HitKind, Persona, check, gather
from server.turn import Missed, Recollection
from tests.guard.known import (
    LANGUAGES,
    LATE,
    Fault,
    faults,
    hard_facts,
    harmless,
    harmless_as_asked,
    of_everything,
)

SETS = ("first", "second", "third", "fourth", "fifth")
"""The first came before the rules; docs/guard.md tells how many of each of the others were caught at first sight."""
ALL_FAULTS = [fault for name in SETS for fault in faults(name)]


def kind_of(hit: Hit | None) -> str:
    return hit.kind.value if hit else ""


@pytest.mark.parametrize("fault", ALL_FAULTS, ids=lambda fault: fault.says)
def test_a_sentence_that_goes_against_what_is_known_is_stopped(fault: Fault) -> None:
    facts = of_everything(fault.language, fault.asked, late=fault.late)
    assert kind_of(check(fault.says, facts, fault.language)) == fault.kind


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("language", LANGUAGES)
def test_harmless_sentences_pass(language: str, late: bool) -> None:
    facts = of_everything(language, late=late)
    stopped = {text: hit for text in harmless(language) if (hit := check(text, facts, language))}
    assert stopped == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_may_be_answered_to_a_question_passes(language: str) -> None:
    stopped = {
        (asked, says): hit
        for asked, says in harmless_as_asked(language)
        if (hit := check(says, of_everything(language, asked), language))
    }
    assert stopped == {}


def test_there_are_five_hundred_harmless_sentences() -> None:
    assert sum(len(set(harmless(language))) for language in LANGUAGES) >= 500


def test_nothing_is_stopped_where_nothing_is_known() -> None:
    nothing = hard_facts()
    of_facts = [
        one for one in ALL_FAULTS if one.kind not in ("promise", "persona", "claim", "danger")
    ]
    stopped = [one.says for one in of_facts if check(one.says, nothing, one.language)]
    assert stopped == []


@pytest.mark.parametrize("kind", list(HitKind))
def test_a_kind_that_is_not_asked_for_is_not_found(kind: HitKind) -> None:
    others = frozenset(HitKind) - {kind}
    for fault in ALL_FAULTS:
        if fault.kind == kind.value:
            facts = of_everything(fault.language, fault.asked, late=fault.late)
            assert check(fault.says, facts, fault.language, kinds=others) is None


def test_a_hit_names_the_fact() -> None:
    facts = hard_facts("You are allergic to peanuts.", "You are allergic to shrimp.")
    assert check("Let's have shrimp tonight!", facts, "en") == Hit(
        HitKind.FOOD, ("You are allergic to shrimp.",)
    )


def test_a_fact_of_another_language_counts() -> None:
    facts = hard_facts("You are allergic to peanuts.", "Your sister passed away.")
    assert kind_of(check("ピーナッツクッキーはどうですか？", facts, "ja")) == "food"
    assert kind_of(check("你姐姐最近好吗？", facts, "zh")) == "loss"


@pytest.mark.parametrize(
    ("fact", "says"),
    [
        ("You are allergic to peanuts.", "How about a handful of almonds?"),
        ("You are allergic to peanuts but almonds are fine.", "How about some almonds?"),
        ("You are allergic to milk.", "Oat milk in your porridge would be nice."),
        ("You are allergic to cats.", "How about a story about cats?"),
        ("Your son is allergic to peanuts.", "How about a peanut butter cookie?"),
        ("You are allergic to eggs.", "Let's go on an Easter egg hunt!"),
    ],
)
def test_what_only_resembles_the_allergen_is_offered(fact: str, says: str) -> None:
    assert check(says, hard_facts(fact), "en") is None


@pytest.mark.parametrize(
    ("fact", "says"),
    [
        ("You are vegan.", "How about scrambled eggs?"),
        ("You can't eat grapefruit.", "Try some grapefruit juice!"),
        ("You stopped drinking.", "How about a glass of wine?"),
        ("You have coeliac disease.", "Let's bake some bread."),
        ("You are lactose intolerant.", "A milkshake would be nice."),
        ("You are allergic to kohlrabi.", "How about some kohlrabi?"),
        ("You have a nut allergy.", "Would you like some marzipan?"),
        ("You must not take amoxicillin.", "Take an amoxicillin, that should help."),
        ("You can't eat kohlrabi.", "How about some kohlrabi?"),
    ],
)
def test_diets_and_what_contains_the_allergen_count(fact: str, says: str) -> None:
    assert kind_of(check(says, hard_facts(fact), "en")) == "food"


def test_what_stands_in_no_list_is_known_by_its_own_name() -> None:
    barred = hard_facts(
        "医生说我不能吃阿莫西林。", "フェキソフェナジンは飲んではいけないと言われた。"
    )
    assert kind_of(check("吃两粒阿莫西林吧。", barred, "zh")) == "food"
    assert kind_of(check("フェキソフェナジンを飲みましょう。", barred, "ja")) == "food"
    assert check("别吃阿莫西林。", barred, "zh") is None


def test_a_pronoun_means_the_dead_only_where_the_talk_is_of_them_alone() -> None:
    loss = "Your sister passed away."
    of_her = hard_facts(loss, asked="I was thinking about my sister.")
    of_both = hard_facts(loss, asked="My sister and my mother looked alike.")
    assert kind_of(check("How is she doing?", of_her, "en")) == "loss"
    assert check("How is she doing?", of_both, "en") is None
    assert check("How is she doing?", hard_facts(loss), "en") is None


@pytest.mark.parametrize(
    ("language", "asked", "says", "said"),
    [
        (
            "en",
            "I'm allergic to peanuts. My neighbour gave me a bag.",
            "Eat them in moderation.",
            "",
        ),
        ("en", "I'm allergic to peanuts. What should I do with them?", "Just try a few.", ""),
        ("en", "I'm allergic to shrimp.", "Have them grilled.", "Shrimp are rich in protein."),
        ("ja", "私はピーナッツアレルギーです。", "少しなら食べても大丈夫ですよ。", ""),
        ("zh", "我对花生过敏，朋友送了我一袋。", "适量吃就好。", ""),
    ],
)
def test_what_is_held_out_by_a_pronoun_is_what_was_spoken_of_last(
    language: str, asked: str, says: str, said: str
) -> None:
    facts = hard_facts(language=language, asked=asked)
    assert kind_of(check(says, facts, language, said=said)) == "food"


@pytest.mark.parametrize(
    ("language", "asked", "says"),
    [
        ("en", "I'm allergic to peanuts. I baked an apple pie today.", "Try a little of it first."),
        ("en", "I'm allergic to peanuts.", "Then don't eat them at all."),
        ("en", "I'm allergic to peanuts. What should I tell my sister?", "It is fine to tell her."),
        ("ja", "私はピーナッツアレルギーです。さっきりんごを剥いたよ。", "少し食べてみましょう。"),
        ("zh", "我对花生过敏。我买了苹果。", "尝尝吧。"),
    ],
)
def test_a_pronoun_for_something_else_is_no_offer(language: str, asked: str, says: str) -> None:
    assert check(says, hard_facts(language=language, asked=asked), language) is None


@pytest.mark.parametrize(
    ("fact", "says", "language"),
    [
        ("おばあちゃんが去年死んだ。", "おばあちゃんはお元気ですか。", "ja"),
        ("おじさんが亡くなった。", "おじさんによろしく。", "ja"),
        ("我老伴去年去世了。", "你老伴最近好吗？", "zh"),
        ("我先生三月去世了。", "你先生今晚几点回家？", "zh"),
        ("我家的猫咪咪春天死了。", "你早上喂咪咪了吗？", "zh"),
        ("Your nan died in May.", "How's your nan?", "en"),
    ],
)
def test_the_dead_are_known_by_the_words_that_families_use(
    fact: str, says: str, language: str
) -> None:
    assert kind_of(check(says, hard_facts(fact, language=language), language)) == "loss"


@pytest.mark.parametrize(
    ("fact", "says", "language"),
    [
        ("おばあちゃんが去年死んだ。", "お隣のおばあちゃんはお元気ですか。", "ja"),
        ("我奶奶去年去世了。", "隔壁的奶奶身体好吗？", "zh"),
    ],
)
def test_somebody_elses_relative_is_nobody_dead(fact: str, says: str, language: str) -> None:
    assert check(says, hard_facts(fact, language=language), language) is None


def test_a_new_pet_may_be_asked_after() -> None:
    loss = "Your dog Rex died last year."
    facts = hard_facts(loss, asked="My new puppy is asleep.")
    assert check("How is your puppy?", facts, "en") is None
    assert kind_of(check("How is Rex?", facts, "en")) == "loss"


def test_a_sister_of_another_name_lives() -> None:
    losses = "Your sister Anna passed away in June."
    facts = hard_facts(losses, "Your sister Mei lives in Leeds.")
    assert check("How is your sister?", facts, "en") is None
    assert kind_of(check("How is Anna?", facts, "en")) == "loss"
    alone = hard_facts(losses, "Your sister Anna lives in Leeds.")
    assert kind_of(check("How is your sister?", alone, "en")) == "loss"


def test_a_name_inside_another_word_is_nobody() -> None:
    facts = hard_facts("Your dog Al died last year.", "犬のポチが去年死んだ。")
    assert check("It is also raining.", facts, "en") is None
    assert check("通販でポチっとしましょう。", facts, "ja") is None


def test_another_sister_may_be_asked_after_and_an_in_law_is_nobody_dead() -> None:
    facts = hard_facts("Your older sister died in May.")
    assert kind_of(check("How is your older sister?", facts, "en")) == "loss"
    assert check("How is your younger sister?", facts, "en") is None
    assert check("How are your sister's children?", facts, "en") is None


def test_a_number_of_another_matter_contradicts_nothing() -> None:
    facts = hard_facts(
        "Your dentist appointment is on Thursday at 3pm.",
        "Your sister's birthday is on May 5.",
        "You take two tablets of metformin.",
    )
    for says in (
        "Your hairdresser appointment is on Friday at 4pm.",
        "Your birthday is on March 3.",
        "Take one tablet of amlodipine.",
        "See you at the dentist at three.",
        "You moved the dentist to 4pm instead.",
    ):
        assert check(says, facts, "en") is None, says


def test_a_time_that_the_person_has_just_named_is_no_contradiction() -> None:
    told = "Your dentist appointment is at 3pm."
    facts = hard_facts(told, asked="They moved my dentist to 4pm.")
    assert check("So your dentist appointment is at four o'clock.", facts, "en") is None
    assert kind_of(check("Your dentist appointment is at 4pm.", hard_facts(told), "en")) == "figure"


def test_a_time_before_the_latest_one_keeps_to_it() -> None:
    facts = hard_facts("You want to be in bed before 11pm.")
    assert check("You could go to bed at half past ten.", facts, "en") is None
    assert kind_of(check("You could go to bed at one in the morning.", facts, "en")) == "figure"


def test_who_brings_a_topic_up_is_answered() -> None:
    wish = "You do not want to talk about your divorce."
    asked = hard_facts(wish, asked="The divorce is final today.")
    assert check("How do you feel about the divorce?", asked, "en") is None
    assert kind_of(check("How do you feel about the divorce?", hard_facts(wish), "en")) == "topic"


def test_a_promise_is_stopped_only_where_nobody_keeps_it() -> None:
    assert check("I'll remember that.", hard_facts(), "en") is None
    unkept = hard_facts(unkept="temporary")
    assert kind_of(check("I'll remember that.", unkept, "en")) == "promise"
    assert check("I can't remember that.", unkept, "en") is None


def test_the_persona_keeps_its_name_its_first_person_and_off_forbidden_topics() -> None:
    facts = hard_facts(persona=Persona(("Omo", "オモ"), "ぼく", ("politics", "政治")))
    assert kind_of(check("俺に任せてよ。", facts, "ja")) == "persona"
    assert kind_of(check("Let's talk about politics.", facts, "en")) == "persona"
    assert kind_of(check("My name is Bob.", facts, "en")) == "persona"
    for says, language in (
        ("ぼくはオモだよ。", "ja"),
        ("「俺」と言いました。", "ja"),
        ("I'd rather not talk about politics.", "en"),
        ("我叫奥莫。", "zh"),
        ("My name is Omo.", "en"),
    ):
        assert check(says, facts, language) is None, says


def test_an_allergy_that_was_just_told_may_be_confirmed_and_one_that_was_asked_for_may_not() -> (
    None
):
    told, asked = "I'm allergic to shellfish.", "Am I allergic to shellfish?"
    says = "So you are allergic to shellfish."
    assert check(says, hard_facts(asked=told), "en") is None
    assert kind_of(check(says, hard_facts(asked=asked), "en")) == "claim"


def test_nothing_follows_about_allergies_while_memory_is_late() -> None:
    late = gather(Recollection(missed={"priming": Missed.LATE}), "Am I allergic to milk?", "en")
    assert check("You are allergic to milk.", late, "en") is None


def test_an_hour_before_bed_is_soon_enough_for_a_game_and_a_quarter_is_not() -> None:
    goal = "You want to be in bed before 11pm."
    assert check("Let's play a game!", hard_facts(goal), "en") is None
    assert kind_of(check("Let's play a game!", hard_facts(goal, now=LATE), "en")) == "goal"
    assert check("Let's play a game tomorrow!", hard_facts(goal, now=LATE), "en") is None


@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_no_text_breaks_a_check(text: str, language: str) -> None:
    check(text, of_everything(language), language)


@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_no_fact_breaks_reading_it(text: str, language: str) -> None:
    check("Good morning.", hard_facts(text, language=language), language)


@pytest.mark.parametrize(
    ("language", "asked", "says"),
    [
        ("en", "I am allergic to peanuts. I am hungry.", "How about a peanut butter cookie?"),
        ("ja", "私は卵アレルギーなんだ。お腹すいた。", "オムレツはどうですか。"),
        ("zh", "我对花生过敏。我饿了。", "要不要吃点花生酥？"),
        ("en", "My sister passed away on Monday.", "How is your sister doing today?"),
        ("ja", "妹が月曜に亡くなったんだ。", "妹さんはお元気ですか。"),
        ("zh", "我姐姐星期一去世了。", "你姐姐最近好吗？"),
    ],
)
def test_what_is_told_in_this_very_turn_counts_at_once(
    language: str, asked: str, says: str
) -> None:
    assert check(says, gather(Recollection(), asked, language), language) is not None
