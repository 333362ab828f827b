"""What sort of answer is asked for, and whether a fact has one: closeness of the matter is not enough."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.answer_types import AnswerType, offers, wanted_types
from server.memory.models import Fact
from server.memory.shelf import Entry, make_entry
from server.memory.terms import analyse
from tests.memory.remembering import NOON

MONEY, AGE, CLOCK = AnswerType.MONEY, AnswerType.AGE, AnswerType.CLOCK
DAY, DURATION, NUMBER = AnswerType.DAY, AnswerType.DURATION, AnswerType.NUMBER
PLACE, PERSON, NAME = AnswerType.PLACE, AnswerType.PERSON, AnswerType.NAME
COLOUR, REASON = AnswerType.COLOUR, AnswerType.REASON
LANGUAGES = st.sampled_from(["ja", "en", "zh", "fr"])


def told(text: str, language: str, day: date | None = None) -> Entry:
    fact = Fact("a", "hana", text, language, NOON, event_from=day, event_to=day)
    return make_entry(fact, None)


def answers(kind: AnswerType, question: str, fact: str, language: str) -> bool:
    entry = told(fact, language)
    return offers(kind, entry.holds, analyse(question, language), entry.terms)


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("チケットはいくらだったっけ", "ja", MONEY),
        ("家賃は何円", "ja", MONEY),
        ("テオは何歳", "ja", AGE),
        ("レッスンは何時から", "ja", CLOCK),
        ("ライブはいつだっけ", "ja", DAY),
        ("昨日は何時間寝た", "ja", DURATION),
        ("猫は何匹いる", "ja", NUMBER),
        ("鍵はどこに置いた", "ja", PLACE),
        ("誰に習ってるんだっけ", "ja", PERSON),
        ("犬の名前は", "ja", NAME),
        ("車の色は", "ja", COLOUR),
        ("なんで辞めたんだっけ", "ja", REASON),
        ("how much were the tickets", "en", MONEY),
        ("how old is Teo", "en", AGE),
        ("what time is my lesson", "en", CLOCK),
        ("when is my gig", "en", DAY),
        ("how long have I lived here", "en", DURATION),
        ("how many cats do I have", "en", NUMBER),
        ("where did I put my keys", "en", PLACE),
        ("who is my dentist", "en", PERSON),
        ("what is my dog called", "en", NAME),
        ("what colour is my car", "en", COLOUR),
        ("why did I quit", "en", REASON),
        ("票多少钱", "zh", MONEY),
        ("我妹妹几岁", "zh", AGE),
        ("几点上课", "zh", CLOCK),
        ("什么时候去", "zh", DAY),
        ("我住了多久", "zh", DURATION),
        ("我有几个孩子", "zh", NUMBER),
        ("我住在哪里", "zh", PLACE),
        ("我的医生是谁", "zh", PERSON),
        ("车是什么颜色", "zh", COLOUR),
        ("我为什么辞职", "zh", REASON),
        ("how much was it", "fr", MONEY),  # a language without rules takes those for English
    ],
)
def test_a_question_asks_for_one_sort_of_answer(
    question: str, language: str, expected: AnswerType
) -> None:
    assert wanted_types(question, language) == {expected}


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("昨日の話をして", "ja"),
        ("いつも何を飲んでる", "ja"),
        ("いつかまた行きたい", "ja"),
        ("いくらでも食べられる", "ja"),
        ("なんでもいい", "ja"),
        ("do I like tea", "en"),
        ("how much sugar do I take", "en"),
        ("they came to see me", "en"),
        ("the name of the game", "en"),
        ("你好吗", "zh"),
        ("我的猫叫什么", "zh"),  # of names in Chinese nothing is known
        ("", "ja"),
    ],
)
def test_most_questions_ask_for_no_sort(question: str, language: str) -> None:
    assert wanted_types(question, language) == frozenset()


@pytest.mark.parametrize(
    ("question", "language"),
    [("何歳で、いくつだった", "ja"), ("what was the price per size", "en"), ("多少钱", "zh")],
)
def test_a_price_or_an_age_is_not_also_a_mere_number(question: str, language: str) -> None:
    assert NUMBER not in wanted_types(question, language)


@given(st.text(max_size=40), LANGUAGES)
def test_any_text_may_be_asked_or_told(text: str, language: str) -> None:
    wanted = wanted_types(text, language)
    assert not (NUMBER in wanted and wanted & {MONEY, AGE})
    entry = told(text, language)
    for kind in AnswerType:
        offers(kind, entry.holds, analyse(text, language), entry.terms)


@pytest.mark.parametrize(
    ("kind", "has", "lacks", "language"),
    [
        (MONEY, "チケットは5000円だった。", "あなたは土曜のチケットを二枚持っている。", "ja"),
        (AGE, "あなたの息子は七歳だ。", "あなたには息子が一人いる。", "ja"),
        (CLOCK, "あなたは六時に起きる。", "あなたは六時間寝る。", "ja"),
        (DAY, "あなたは火曜に泳ぐ。", "あなたは泳ぐのが好きだ。", "ja"),
        (DURATION, "あなたは三年間習っている。", "あなたはピアノを習っている。", "ja"),
        (NUMBER, "あなたは猫を3匹飼っている。", "あなたは猫を飼っている。", "ja"),
        (PLACE, "鍵は引き出しにある。", "あなたは鍵をなくした。", "ja"),
        (COLOUR, "あなたの車は赤い。", "あなたは車を買った。", "ja"),
        (REASON, "膝が痛いのでジムをやめた。", "あなたはジムをやめた。", "ja"),
        (MONEY, "The tickets were £30 a head.", "You have two tickets for Saturday.", "en"),
        (MONEY, "Your rent is eight hundred pounds.", "You pay your rent at a bank.", "en"),
        (AGE, "Your son is seven.", "You have seven sons.", "en"),
        (CLOCK, "You get up at six.", "You sleep six hours.", "en"),
        (DAY, "You swim on Tuesdays.", "You like to swim.", "en"),
        (DURATION, "You played for three years.", "You play the piano.", "en"),
        (NUMBER, "You have three cats.", "You have cats.", "en"),
        (PLACE, "The key is under the pot.", "You lost the key.", "en"),
        (COLOUR, "Your car is navy.", "You bought a car.", "en"),
        (REASON, "You quit because your knee hurt.", "You quit the gym.", "en"),
        (MONEY, "你的房租是3000元。", "你有两张票。", "zh"),
        (AGE, "你的儿子七岁。", "你有一个儿子。", "zh"),
        (CLOCK, "你六点起床。", "你起床很早。", "zh"),
        (DAY, "你周三上课。", "你喜欢上课。", "zh"),
        (DURATION, "你学了三年钢琴。", "你学钢琴。", "zh"),
        (NUMBER, "你有3只猫。", "你有猫。", "zh"),
        (PLACE, "你住在北京。", "你有一把钥匙。", "zh"),
        (COLOUR, "你的车是红的。", "你买了车。", "zh"),
        (REASON, "你因为腿疼不跑了。", "你不跑了。", "zh"),
    ],
)
def test_a_fact_on_the_same_matter_need_not_hold_the_answer(
    kind: AnswerType, has: str, lacks: str, language: str
) -> None:
    assert kind in told(has, language).holds
    assert kind not in told(lacks, language).holds


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
def test_a_fact_with_a_day_of_its_own_answers_when(language: str) -> None:
    text = {"ja": "あなたは箱根に行く。", "en": "You see a play.", "zh": "你看电影。"}[language]
    assert DAY not in told(text, language).holds
    assert DAY in told(text, language, NOON.date()).holds


def test_the_days_in_brackets_are_no_number_of_the_fact() -> None:
    assert NUMBER not in told("You see a play (2026-10-03).", "en").holds


def test_the_name_of_a_place_is_a_place_without_any_other_word() -> None:
    assert PLACE in told("あなたは大阪へ行った。", "ja").holds
    assert PLACE not in told("あなたは旅へ行った。", "ja").holds


def test_a_price_is_no_answer_to_who() -> None:
    assert not answers(PERSON, "Who is my dentist?", "Your rent is £800.", "en")
    assert not answers(PERSON, "歯医者は誰だっけ", "あなたの家賃は8万円だ。", "ja")
    assert not answers(PERSON, "我的医生是谁", "你的房租是3000元。", "zh")


def test_somebody_whom_the_question_does_not_name_answers_who() -> None:
    assert answers(PERSON, "Who is my dentist?", "Your dentist is Dr Mills.", "en")
    assert answers(PERSON, "誰と京都に行ったっけ", "あなたは妹と京都に行った。", "ja")
    assert answers(PERSON, "谁住在大阪", "你的妹妹住在大阪。", "zh")


def test_somebody_whom_the_question_names_does_not_answer_who() -> None:
    assert not answers(PERSON, "Who did Anna meet?", "You say that Anna met people.", "en")
    assert not answers(PERSON, "妹は誰と行ったっけ", "あなたの妹は京都に行った。", "ja")


def test_a_name_that_the_question_lacks_answers_what_it_is_called() -> None:
    assert answers(NAME, "What is my dog called?", "Your dog is called Rex.", "en")
    assert answers(NAME, "犬の名前は何だっけ", "あなたは犬のポチを飼っている。", "ja")
    assert answers(NAME, "店の名前は", "あなたは「麺屋さくら」で食べた。", "ja")


def test_a_fact_without_a_new_name_is_no_answer_to_what_it_is_called() -> None:
    assert not answers(NAME, "What is my dog called?", "You walk your dog.", "en")
    assert not answers(NAME, "Why is Rex called that?", "Your dog is called Rex.", "en")
    assert not answers(NAME, "犬の名前は何だっけ", "あなたは犬を飼っている。", "ja")
    assert not answers(NAME, "犬の名前は何だっけ", "あなたは犬と大阪に行った。", "ja")


@pytest.mark.parametrize("fact", ["You live in Leeds.", "You swim on Mondays."])
def test_a_place_or_a_weekday_is_nobody(fact: str) -> None:
    assert not answers(PERSON, "Who is my dentist?", fact, "en")


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("あいつは誰だっけ", "ja", {PERSON}),
        ("学生時代はどこに住んでた", "ja", {PLACE}),
        ("天才は誰", "ja", {PERSON}),
        ("たいくつだった日は", "ja", set()),
        ("how much do I weigh", "en", {NUMBER}),
        ("where does Mark live", "en", {PLACE}),
        ("who is in charge of the club", "en", {PERSON}),
        ("when does grandma come to stay", "en", {DAY}),
        ("when should I call the dentist", "en", {DAY}),
    ],
)
def test_a_word_that_only_looks_like_it_asks_for_nothing(
    question: str, language: str, expected: set[AnswerType]
) -> None:
    assert wanted_types(question, language) == expected


@pytest.mark.parametrize(
    "question",
    ["よだれかけを買った", "髪がみだれた", "この坂をくだれって", "すだれを外した", "うなだれてた", "しだれ桜を見た"],
)  # fmt: skip
def test_nobody_is_asked_for_inside_another_word(question: str) -> None:
    assert wanted_types(question, "ja") == frozenset()


@pytest.mark.parametrize(
    "question", ["だれだっけ", "これだれの", "あれはだれ", "みんなだれに会った"]
)
def test_somebody_is_asked_for_by_a_word_of_its_own(question: str) -> None:
    assert wanted_types(question, "ja") == {PERSON}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("二十代はどこ", {PLACE}),
        ("80代は誰", {PERSON}),
        ("九〇年代はどこにいた", {PLACE}),
        ("初代は誰", {PERSON}),
        ("ガス代は", {MONEY}),
        ("本代って", {MONEY}),
        ("タクシー代は", {MONEY}),
        ("たばこ代が知りたい", {MONEY}),
    ],
)
def test_an_age_or_an_era_is_no_charge(question: str, expected: set[AnswerType]) -> None:
    assert wanted_types(question, "ja") == expected


@pytest.mark.parametrize(
    "question",
    [
        "娘さんはいくつ",
        "猫のタマはいくつですか",
        "犬はいくつだっけ",
        "美咲はいくつになった",
        "お父さんいくつだっけ",
        "あの子はいくつ",
        "私はいくつになる",
        "妹は今年でいくつ?",
        "先生の歳はいくつ",
        "母親、八十いくつだと言ったっけ",
        "おいくつですか",
        "いくつだっけ",
        "店を開いたのは、いくつのときだった",
    ],
)
def test_how_many_years_old_only_a_living_being_is(question: str) -> None:
    assert wanted_types(question, "ja") == {AGE}


@pytest.mark.parametrize(
    "question",
    ["卵はいくつですか", "りんごはいくつ", "駅はいくつだっけ", "血圧の上はいくつだった", "猫の餌はいくつですか", "十二かける八はいくつになる"],
)  # fmt: skip
def test_of_things_the_number_is_asked(question: str) -> None:
    assert wanted_types(question, "ja") == {NUMBER}


@pytest.mark.parametrize(
    "text",
    [
        "The tickets were £30 each.",
        "The tickets were £30 each for two nights.",
        "Every one of them is yours.",
        "You wear a scarf for every match.",
        "Your monthly rent is £800.",
        "You read the Daily Mail.",
        "You march in parades.",
        "Your daughter June plays chess.",
    ],
)
def test_a_word_that_only_looks_like_a_day_is_none(text: str) -> None:
    assert DAY not in told(text, "en").holds


@pytest.mark.parametrize(
    "text",
    [
        "You pay £30 each month.",
        "You swim every morning.",
        "You see her every other weekend.",
        "You water it every three days.",
        "You get paid monthly.",
        "You shop weekly at Tesco.",
        "You are free at weekends.",
        "Your birthday is in May.",
        "Your test was on 3 March.",
    ],
)
def test_what_comes_round_has_a_day(text: str) -> None:
    assert DAY in told(text, "en").holds


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("あなたは月水金にジムに通う。", "ja"),
        ("あなたは土日に働く。", "ja"),
        ("你周末休息。", "zh"),
    ],
)
def test_whatever_is_a_habit_has_a_day(text: str, language: str) -> None:
    assert DAY in told(text, language).holds


@pytest.mark.parametrize(
    ("text", "kind"),
    [("你每天两点睡觉。", CLOCK), ("你的女儿两岁。", AGE), ("你学了两年。", DURATION)],
)
def test_two_is_a_count_in_chinese(text: str, kind: AnswerType) -> None:
    assert kind in told(text, "zh").holds


def test_a_rent_is_no_age() -> None:
    assert AGE not in told("Your rent is eight hundred pounds.", "en").holds
