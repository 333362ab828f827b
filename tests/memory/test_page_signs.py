"""The signs of relevance, on small talks written by hand: the answer, the day, the speaker, the neighbours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.memory.line_table import Floats, LineTable, PlacedLine
from server.memory.line_vectors import LineVectors
from server.memory.lines import Role, read_line, tokens_of
from server.memory.page_signs import PageQuery, Places, best_of, cut_query, page_signs, weigh
from server.memory.postings import Postings
from server.memory.question import read_question
from server.memory.speakers import Speakers
from server.memory.terms import analyse
from server.query import normalize
from tests.memory.remembering import NOON

SAID, HEARD = Role.SAID, Role.HEARD
BY_HAND = {
    "words_of_best": 1.0, "pairs": 0.5, "pieces": 0.3, "speaker": 0.15, "dated": 0.25, "day_near": 0.35, "day_told": 0.35,
    "asking": -0.15, "own": 0.1, "dense": 0.1,
}  # fmt: skip
"""About those of the notes on retrieval, section 3."""
ANNA_AND_TOM = Speakers(("Anna",), ("Tom",))
NOBODY = Speakers()
Spoken = tuple[Role, str]


@dataclass(frozen=True)
class Talk:
    """What was said, ready for search."""

    spoken: Sequence[Spoken]
    table: LineTable
    postings: Postings
    vectors: LineVectors

    def signs(self, query: PageQuery, limit: int = 100) -> tuple[Places, dict[str, Floats]]:
        return page_signs(query, self.table, self.postings, self.vectors, limit)

    def by_place(self, query: PageQuery) -> dict[str, Floats]:
        """Return the signs of all utterances in the order in which they were spoken."""
        places, signs = self.signs(query)
        return {name: column[np.argsort(places)] for name, column in signs.items()}

    def best(self, query: PageQuery, weights: Mapping[str, float] = BY_HAND) -> str:
        scores = weigh(self.by_place(query), weights)
        return self.spoken[int(best_of(scores, 1)[0])][1]


def talk(
    language: str,
    *spoken: Spoken,
    days: Sequence[int] | None = None,
    vectors: Floats | None = None,
) -> Talk:
    """Make a talk of utterances a minute apart, or at noon of the days that are so many days from `NOON`."""
    at = [
        NOON + (timedelta(minutes=place) if days is None else timedelta(days=days[place]))
        for place in range(len(spoken))
    ]
    placed = [
        PlacedLine("page", role, moment, read_line(text, language, moment))
        for (role, text), moment in zip(spoken, at, strict=True)
    ]
    table = LineTable(placed)
    postings = Postings([each.line.tokens for each in placed], table.talks.tolist())
    rows = np.zeros((len(spoken), 4), np.float32) if vectors is None else vectors
    return Talk(spoken, table, postings, LineVectors(rows))


def ask(
    text: str,
    language: str,
    speakers: Speakers = NOBODY,
    at: datetime = NOON,
    vector: Floats | None = None,
) -> PageQuery:
    return cut_query(replace(read_question(text, language, at), vector=vector), speakers)


@pytest.mark.parametrize(
    ("language", "question", "spoken"),
    [
        (
            "en",
            "What is my cat called?",
            [
                (SAID, "I slept badly."),
                (HEARD, "Poor you. Does your cat wake you? What is the cat called?"),
                (SAID, "Tama, after my aunt."),
                (HEARD, "A fine choice."),
                (SAID, "I am going to bake bread now."),
                (HEARD, "Enjoy it."),
            ],
        ),
        (
            "ja",
            "猫の名前は何だっけ",
            [
                (SAID, "よく眠れなかった。"),
                (HEARD, "それは大変でしたね。猫の名前は何というんですか？"),
                (SAID, "タマだよ、おばの名前。"),
                (HEARD, "すてきですね。"),
                (SAID, "これからパンを焼く。"),
                (HEARD, "楽しんでください。"),
            ],
        ),
        (
            "zh",
            "我的小猫叫什么",
            [
                (SAID, "我没睡好。"),
                (HEARD, "真可怜。你的小猫叫什么名字？"),
                (SAID, "叫咪咪。"),
                (HEARD, "很好听。"),
                (SAID, "我现在去烤面包。"),
                (HEARD, "祝你愉快。"),
            ],
        ),
    ],
)
def test_the_answer_stands_before_the_question_that_it_was_given_to(
    language: str, question: str, spoken: list[Spoken]
) -> None:
    assert talk(language, *spoken).best(ask(question, language)) == spoken[2][1]


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("en", "What did I do on 3 August?", "I went for a walk and saw a heron."),
        ("ja", "8月3日に何をしたっけ", "散歩をして鷺を見た。"),
        ("zh", "我8月3日做了什么", "我去散步看到了一只鹭。"),
    ],
)
def test_a_date_in_the_question_finds_the_day(language: str, question: str, text: str) -> None:
    days = [-100, -70, -55, -30, -1]  # 3 August is 55 days before noon
    spoken = [(SAID, text)] * len(days)
    found = talk(language, *spoken, days=days).by_place(ask(question, language))
    assert found["day_near"].argmax() == 2
    assert weigh(found, BY_HAND).argmax() == 2


@pytest.mark.parametrize(
    ("days_after", "near"),
    [(-10, 0), (-9, 0.3), (-1, 0.3), (0, 1), (9, 1), (10, 0.4), (31, 0.4), (32, 0)],
)
def test_a_day_is_told_of_for_some_days_after_it(days_after: int, near: float) -> None:
    late = NOON + timedelta(days=60)
    found = talk("ja", (SAID, "鷺を見た。"), days=[days_after])
    [sign] = found.by_place(ask("9月27日に何を見たっけ", "ja", at=late))["day_near"].tolist()
    assert sign == pytest.approx(near)


@pytest.mark.parametrize(
    ("days_after", "near"), [(-1, 0), (0, 1), (30, 1), (31, 0.5), (61, 0.5), (62, 0)]
)
def test_a_month_is_told_of_in_it_and_in_the_next(days_after: int, near: float) -> None:
    start = (date(2026, 7, 1) - NOON.date()).days
    found = talk("ja", (SAID, "鷺を見た。"), days=[start + days_after])
    [sign] = found.by_place(ask("7月に何を見たっけ", "ja"))["day_near"].tolist()
    assert sign == pytest.approx(near)


def test_a_year_is_too_long_to_tell_anything() -> None:
    found = talk("ja", (SAID, "鷺を見た。"), days=[-400]).by_place(ask("去年何を見たっけ", "ja"))
    assert not found["day_near"].any()


@pytest.mark.parametrize(
    ("language", "question", "told", "other"),
    [
        (
            "en",
            "What is on 3 November?",
            "The concert is on 3 November.",
            "The concert is on 9 November.",
        ),
        ("ja", "11月3日は何があったっけ", "演奏会は11月3日。", "演奏会は11月9日。"),
        ("zh", "11月3日有什么", "音乐会在11月3日。", "音乐会在11月9日。"),
    ],
)
def test_whoever_speaks_of_the_day_is_told_apart(
    language: str, question: str, told: str, other: str
) -> None:
    found = talk(language, (SAID, other), (SAID, told), (SAID, other)).by_place(
        ask(question, language)
    )
    assert found["day_told"].tolist() == [0, 1, 0]
    assert not found["day_near"].any()


def test_the_one_who_is_named_is_the_speaker() -> None:
    two = talk("en", (SAID, "A kite, at last!"), (HEARD, "A drum, at last!"))
    for name, expected in (("Anna", [1, 0]), ("Tom", [0, 1])):
        query = ask(f"What did {name} buy?", "en", ANNA_AND_TOM)
        assert two.by_place(query)["speaker"].tolist() == expected
    both = ask("What did Anna and Tom buy?", "en", ANNA_AND_TOM)
    assert both.role is None
    assert not two.by_place(both)["speaker"].any()


@pytest.mark.parametrize(
    ("language", "question", "speakers"),
    [
        ("en", "What did Anna's dog do when Tom Reed left?", Speakers(("Anna",), ("Tom Reed",))),
        ("en", "Where is Mary-Jane?", Speakers(("Mary-Jane",))),
        ("ja", "智子さんは何を飼ってるの", Speakers(("智子",), ("ロボット",))),
        ("ja", "ジョンさんは何を飼ってるの", Speakers(("ジョン・スミス",), ("ロボット",))),
        ("zh", "秀兰喜欢什么颜色", Speakers(("秀兰",), ("小念",))),
    ],
)
def test_names_of_the_speakers_are_no_words_to_look_for(
    language: str, question: str, speakers: Speakers
) -> None:
    named, nameless = ask(question, language, speakers), ask(question, language)
    names = set()
    for name in (*speakers.person, *speakers.other):
        plain = normalize(name)
        for kind in tokens_of(plain, analyse(plain, language), language):
            names |= set(kind)
    cut = {*named.words.tolist(), *named.pairs.tolist(), *named.pieces.tolist()}
    whole = {*nameless.words.tolist(), *nameless.pairs.tolist(), *nameless.pieces.tolist()}
    assert names & whole
    assert not names & cut
    assert cut or language == "en"


def test_who_only_mentions_the_one_that_is_asked_about_is_not_found_for_it() -> None:
    spoken = [(HEARD, "Anna, Anna, you are funny."), (SAID, "I adopted a parrot.")]
    query = ask("What did Anna adopt?", "en", ANNA_AND_TOM)
    assert talk("en", *spoken).best(query, {"words": 1}) == spoken[1][1]


def test_each_kind_of_utterance_is_marked() -> None:
    found = talk(
        "en",
        (HEARD, "What would you like to do?"),
        (SAID, "We are going to see my sister tomorrow."),
        (SAID, "Yes."),
        (SAID, "It costs £30 and the long train ride takes two whole hours each way."),
    ).by_place(ask("When do I see her, and how much does it cost?", "en"))
    assert found["asking"].tolist() == [1, 0, 0, 0]
    assert found["own"].tolist() == [0, 1, 0, 0]
    assert found["after_question"].tolist() == [0, 1, 0, 0]
    assert found["opening"].tolist() == [1, 1, 0, 0]
    assert found["dated"].tolist() == [0, 1, 0, 0]
    assert found["short"].tolist() == [1, 1, 1, 0]
    assert found["offers"].tolist() == [0, 0.5, 0, 0.5]
    assert found["length"].argmax() == 3


def test_days_matter_only_if_it_is_asked_when() -> None:
    found = talk("en", (SAID, "We met yesterday."))
    assert found.by_place(ask("When did we meet?", "en"))["dated"].tolist() == [1]
    assert found.by_place(ask("Who did we meet?", "en"))["dated"].tolist() == [0]


FOUR = np.eye(4, dtype=np.float32)


def test_a_vector_finds_its_nearest_and_lifts_what_stands_beside_it() -> None:
    spoken = [(SAID, text) for text in ("one", "two", "three", "four", "five")]
    rows = FOUR[[0, 1, 2, 1, 1]]
    found = talk("en", *spoken, vectors=rows, days=[-9, -9, -9, -9, -1]).by_place(
        ask("?", "en", vector=FOUR[2])
    )
    assert found["dense"].argmax() == 2
    assert found["dense_near"][[1, 3]].min() > max(0.0, found["dense_near"][[0, 2, 4]].max())


def test_a_neighbour_of_another_talk_lifts_nothing() -> None:
    spoken = [(SAID, "one"), (SAID, "two"), (SAID, "three")]
    query = ask("?", "en", vector=FOUR[0])
    near = talk("en", *spoken, vectors=FOUR[:3]).by_place(query)["dense_near"]
    apart = talk("en", *spoken, vectors=FOUR[:3], days=[-3, -2, -1]).by_place(query)["dense_near"]
    assert near[1] > 0
    assert not apart.any()


def test_what_has_no_vector_is_neither_near_nor_far() -> None:
    rows = FOUR[[0, 1, 2]]
    rows[1] = 0
    spoken = [(SAID, "one"), (SAID, "two"), (SAID, "three")]
    found = talk("en", *spoken, vectors=rows).by_place(ask("?", "en", vector=FOUR[0]))
    assert found["dense"].tolist() == pytest.approx([1, 0, -1], abs=1e-3)


def test_without_a_vector_words_and_days_decide() -> None:
    found = talk("en", (SAID, "a parrot"), (SAID, "a heron"), vectors=FOUR[:2]).by_place(
        ask("the heron", "en")
    )
    assert not any(found[name].any() for name in ("dense", "dense_near"))
    assert found["words"].argmax() == 1


@pytest.mark.parametrize("vector", [None, FOUR[0]])
@pytest.mark.parametrize("spoken", [[], [(SAID, "A parrot.")], [(HEARD, "？！")]])
def test_the_smallest_talks_can_be_asked(spoken: list[Spoken], vector: Floats | None) -> None:
    for text in ("Where is the parrot?", "", "😀"):
        places, signs = talk("en", *spoken).signs(ask(text, "en", vector=vector))
        assert places.tolist() == list(range(len(spoken)))
        assert all(len(column) == len(spoken) for column in signs.values())


ANY_TEXT = st.text(st.characters(), max_size=20) | st.sampled_from(
    [
        "猫の名前は？",
        "昨日行った",
        "What is it?",
        "the cat",
        "你去哪里",
        "3月に",
        "\ud83d",
        "\x00",
        "😀",
    ]
)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(Role), ANY_TEXT), max_size=8),
    ANY_TEXT,
    st.sampled_from(["ja", "en", "zh"]),
    st.integers(0, 9),
    st.booleans(),
)
def test_signs_are_numbers_whatever_is_said(
    spoken: list[Spoken], text: str, language: str, limit: int, dense: bool
) -> None:
    rows = FOUR[[place % 4 for place in range(len(spoken))]]
    found = talk(language, *spoken, vectors=rows)
    places, signs = found.signs(ask(text, language, vector=FOUR[0] if dense else None), limit)
    assert len({*places.tolist()}) == len(places) == min(limit, len(spoken))
    for column in signs.values():
        assert column.dtype == np.float32
        assert column.shape == places.shape
        assert np.isfinite(column).all()
    for name in ("words", "pairs", "pieces"):
        assert ((signs[name] >= 0) & (signs[name] < 1)).all()


def test_the_most_relevant_are_looked_at_closely() -> None:
    spoken = [(SAID, "nothing much")] * 30 + [(SAID, "a parrot")] + [(SAID, "so it goes")] * 30
    found = talk("en", *spoken, days=range(-61, 0))
    query = ask("Where is the parrot?", "en")
    places, signs = found.signs(query, 3)
    assert places[0] == 30
    assert places.tolist()[1:] == [60, 59]  # of equals the later
    assert signs["words"].argmax() == 0


scores = st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0]) | st.floats(-9, 9, width=32), max_size=20)


@given(scores, st.integers(0, 25))
def test_the_best_are_the_highest_and_of_equals_the_latest(some: list[float], limit: int) -> None:
    expected = sorted(range(len(some)), key=lambda place: (some[place], place), reverse=True)
    assert best_of(np.array(some, np.float32), limit).tolist() == expected[:limit]
