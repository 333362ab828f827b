"""What a sentence claims, clause by clause: of whom, affirmed or denied, when, and whether it is so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.claims import (
    SOMEBODY,
    SPEAKER,
    Claim,
    Refusal,
    Sense,
    claims_of,
    claims_of_fact,
    counterparts,
    disagreement,
)
from server.memory.counts import counted, numbers_in
from tests.memory.drafted import RIGHT, WRONG


def last(sentence: str, language: str) -> Claim:
    return claims_of(sentence, language)[-1]


@pytest.mark.parametrize(
    ("sentence", "language", "clauses"),
    [
        ("I like tea but I don't like coffee.", "en", 2),
        ("Ken told me he stole a car.", "en", 2),
        ("I have two cats and three dogs.", "en", 2),
        ("I had a great day - it was sunny.", "en", 2),
        ("英語は得意だけど、数学は得意じゃない。", "ja", 2),
        ("祖母は足が悪くて、母が世話をしてるんだ。", "ja", 2),
        ("昨日、妹の美咲と動物園に行ってきたんだ。", "ja", 1),
        ("雨だったので行かなかった。", "ja", 2),
        ("我喜欢喝茶，但是不喜欢喝咖啡。", "zh", 2),
        ("你昨天因为感冒没有去上班。", "zh", 3),
    ],
)
def test_a_sentence_is_read_clause_by_clause(sentence: str, language: str, clauses: int) -> None:
    assert len(claims_of(sentence, language)) == clauses


@pytest.mark.parametrize(
    ("sentence", "language", "negated"),
    [
        ("I like tea.", "en", False),
        ("I dislike tea.", "en", True),
        ("I don't hate tea.", "en", False),
        ("I quit smoking.", "en", True),
        ("I can't wait to go to Rome.", "en", False),
        ("I don't think I like it.", "en", True),
        ("I missed the train.", "en", None),
        ("納豆は好きじゃないんだよね。", "ja", True),
        ("納豆が苦手なんです。", "ja", True),
        ("行かなければならない。", "ja", False),
        ("二回しか行ってない。", "ja", False),
        ("甘いものは食べないようにしてる。", "ja", True),
        ("昨日は病院に行けなかった。", "ja", True),
        ("味道不错。", "zh", False),
        ("我不喜欢。", "zh", True),
        ("我戒烟了。", "zh", True),
        ("我不得不去。", "zh", False),
    ],
)
def test_a_clause_is_affirmed_or_denied(sentence: str, language: str, negated: bool | None) -> None:
    assert last(sentence, language).negated is negated


@pytest.mark.parametrize(
    ("sentence", "language", "sense"),
    [
        ("I went home.", "en", Sense.PAST),
        ("I used to smoke.", "en", Sense.FORMER),
        ("I have lived here for years.", "en", None),
        ("I'm learning Spanish.", "en", Sense.UNDERWAY),
        ("I will go to Rome.", "en", Sense.AHEAD),
        ("I have a cat.", "en", Sense.STATE),
        ("I play tennis.", "en", Sense.PRESENT),
        ("My cat is called Miso.", "en", Sense.RESULT),
        ("箱根に行った。", "ja", Sense.PAST),
        ("大阪に住んでいた。", "ja", Sense.FORMER),
        ("大阪に住んでいる。", "ja", Sense.RESULT),
        ("箱根に行く。", "ja", Sense.PRESENT),
        ("箱根に行く予定だ。", "ja", Sense.AHEAD),
        ("卵アレルギーがある。", "ja", Sense.STATE),
        ("我去了箱根。", "zh", Sense.PAST),
        ("我以前住在上海。", "zh", Sense.FORMER),
        ("我要去箱根。", "zh", Sense.AHEAD),
        ("我住在上海。", "zh", Sense.RESULT),
    ],
)
def test_a_clause_lies_in_time(sentence: str, language: str, sense: Sense | None) -> None:
    assert last(sentence, language).sense is sense


@pytest.mark.parametrize(
    ("sentence", "language", "wished"),
    [
        ("I want to quit my job.", "en", True),
        ("I almost bought a boat.", "en", True),
        ("I was going to call.", "en", True),
        ("It was like a dream.", "en", False),
        ("会社をやめたい。", "ja", True),
        ("北海道に住んでみたい。", "ja", True),
        ("猫みたいだ。", "ja", False),
        ("会社をやめようか迷っている。", "ja", True),
        ("我想辞职。", "zh", True),
        ("我想起了他。", "zh", False),
    ],
)
def test_a_wish_is_told_from_what_is_so(sentence: str, language: str, wished: bool) -> None:
    assert last(sentence, language).wished is wished


@pytest.mark.parametrize(
    ("sentence", "language", "subject"),
    [
        ("I like tea.", "en", {SPEAKER}),
        ("My mother likes tea.", "en", {"mother"}),
        ("My mother's birthday is in May.", "en", set()),
        ("Next week my friend Ken is coming.", "en", {"friend", "ken"}),
        ("He likes tea.", "en", {SOMEBODY}),
        ("Ken and I like tea.", "en", {SPEAKER}),
        ("Nature makes me calm.", "en", set()),
        ("私は茶が好き。", "ja", {SPEAKER}),
        ("妹の美咲さんが来ます。", "ja", {"younger_sister", "美咲"}),
        ("母の誕生日は五月だ。", "ja", set()),
        ("太郎は私の弟を嫌っている。", "ja", {"太郎"}),
        ("我喜欢茶。", "zh", {SPEAKER}),
        ("我妈妈爱我弟弟。", "zh", {"mother"}),
        ("昨天我去了动物园。", "zh", {SPEAKER}),
    ],
)
def test_a_clause_has_a_subject(sentence: str, language: str, subject: set[str]) -> None:
    assert last(sentence, language).subject == subject


def test_a_topic_goes_on_into_the_next_clause_and_a_subject_does_not() -> None:
    assert last("母は癌で、入院してる。", "ja").told_of == {"mother"}
    assert last("妻が入院してて、毎日病院に通ってます。", "ja").told_of == set()


def refused(drawn: str, told: str, language: str = "en") -> Refusal | None:
    [claim] = claims_of_fact(drawn, language)
    return disagreement(
        claim, counterparts(claim, claims_of(told, language), language), {"mother"}, language
    )


def test_a_claim_is_held_against_those_that_speak_of_the_same() -> None:
    both = "I like tea but I don't like coffee."
    assert refused("You like tea.", both) is None
    assert refused("You like coffee.", both) is Refusal.NEGATION
    assert (
        refused("You bake bread.", both) is None
    )  # nothing speaks of it; that is for others to see


@pytest.mark.parametrize(
    ("drawn", "told", "reason"),
    [
        ("You like tea.", "My neighbour likes tea.", Refusal.PEOPLE),
        ("You like tea.", "My mother likes tea.", Refusal.PEOPLE),
        ("You are funny.", "You are funny, I think.", Refusal.PEOPLE),
        ("You bought a car.", "I want to buy a car.", Refusal.WISH),
        ("You buy a car.", "I buy a car if I win.", Refusal.CONDITION),
        ("You smoke.", "I used to smoke.", Refusal.TENSE),
        ("You no longer smoke.", "I used to smoke.", None),
        ("You used to smoke.", "I no longer smoke.", None),
    ],
)
def test_why_a_claim_does_not_follow(drawn: str, told: str, reason: Refusal | None) -> None:
    assert refused(drawn, told) is reason


@pytest.mark.parametrize(
    ("text", "language", "numbers"),
    [
        ("I have two cats and 3 dogs", "en", {"cat": {"2"}, "dog": {"3"}}),
        ("犬を二匹と猫を三匹飼ってる", "ja", {"犬": {"2"}, "猫": {"3"}}),
        ("二匹の犬がいる", "ja", {"犬": {"2"}}),
        ("子供は二人いる", "ja", {"子供": {"2"}}),
        ("我养了两只猫和三只狗", "zh", {"猫": {"2"}, "狗": {"3"}}),
        ("I like tea", "en", {}),
    ],
)
def test_a_number_belongs_to_a_noun(text: str, language: str, numbers: dict[str, set[str]]) -> None:
    assert counted(text, language) == numbers


def test_numbers_are_read_however_they_are_written() -> None:
    assert numbers_in("twenty-one or 30", "en") == {"21", "30"}
    assert numbers_in("三千円と二十", "ja") == {"3000", "20"}


PIECES = st.lists(
    st.sampled_from([piece for each in RIGHT + WRONG for piece in (each.said[:9], each.text[-9:])])
    | st.text(max_size=4),
    max_size=8,
).map("".join)


@given(PIECES, st.sampled_from(["ja", "en", "zh", "xx"]))
def test_no_sentence_crashes_the_reading(sentence: str, language: str) -> None:
    claims = claims_of(sentence, language)
    facts = claims_of_fact(sentence, language)
    assert len(claims) == len(facts)
    for fact in facts:
        disagreement(fact, counterparts(fact, claims, language), set(), language)
    counted(sentence, language)
