"""Segments: which exchanges lie together, and that each lies in exactly one of them."""

from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.config import SegmentsSection
from server.memory.harvest import Topic
from server.memory.models import Page, Segment
from server.memory.store import Store
from server.memory.stored_lines import Vector
from server.memory.tiers import Sorting
from server.memory.topics import (
    LONGEST_LINE,
    MOST_KEYWORDS,
    MidTerm,
    closeness,
    jaccard,
    sort_pages,
)
from tests.memory.remembering import NOON, page
from tests.memory.tiers import segment

SECTION = SegmentsSection()
REST = 0.75
EMPTY = MidTerm()


def told(*said: str, language: str = "ja", minutes: int = 1) -> list[Page]:
    """Return exchanges at even distances whose ids are numbers."""
    return [
        page(text, NOON + timedelta(minutes=minutes * number), language=language, id_=str(number))
        for number, text in enumerate(said)
    ]


def topic(pages: Sequence[Page], summary: str = "猫の話。", *keywords: str) -> Topic:
    return Topic(frozenset(keywords or ("猫", "タマ")), summary, tuple(one.id for one in pages))


def pointing(*degrees: float) -> list[Vector]:
    """Return vectors as an embedder makes them: all of them lean to one side, so that any two are 0.75 alike at least.

    Those at right angles to each other, in degrees, have nothing in common but that.
    """
    rows = []
    for turn in np.radians(degrees):
        own = [np.sqrt(REST), np.cos(turn) * np.sqrt(1 - REST), np.sin(turn) * np.sqrt(1 - REST)]
        rows.append(np.array(own, np.float32))
    return rows


def turned(pages: Sequence[Page], *degrees: float) -> dict[str, Vector]:
    """Return a vector for each page."""
    return {one.id: row for one, row in zip(pages, pointing(*degrees), strict=True)}


def sorted_in(
    pages: Sequence[Page],
    topics: Sequence[Topic] = (),
    known: MidTerm = EMPTY,
    vectors: Mapping[str, Vector] | None = None,
    chain_of: Mapping[str, str] | None = None,
    section: SegmentsSection = SECTION,
) -> Sorting:
    return sort_pages(
        pages,
        topics,
        known,
        vectors or {},
        chain_of=chain_of or {},
        rarity=lambda key: 1.0,
        rest=REST,
        window=timedelta(minutes=10),
        section=section,
        now=NOON,
    )


def after(known: MidTerm, sorting: Sorting) -> MidTerm:
    """Return the middle tier with a sorting stored."""
    kept = {one.id: one for one in (*known.segments, *sorting.segments)}
    here = [one for one in kept.values() if one.id not in sorting.evicted]
    return MidTerm(here, known.centroids, {**known.segment_of, **sorting.segment_of})


def together(sorting: Sorting) -> set[frozenset[str]]:
    """Return the pages by segment."""
    ids = set(sorting.segment_of.values())
    return {frozenset(page for page, at in sorting.segment_of.items() if at == id_) for id_ in ids}


def groups(*pages: str) -> set[frozenset[str]]:
    return {frozenset(group) for group in pages}


# -- likeness ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("apart", "expected"), [(0, 1.0), (60, 0.5), (90, 0.0), (180, 0.0)])
def test_what_any_two_texts_have_in_common_counts_as_nothing(apart: float, expected: float) -> None:
    one, other = pointing(0, apart)

    assert one @ other >= 0.5
    assert closeness(one, other, REST) == pytest.approx(expected, abs=1e-5)


def around(middle: float, pages: int) -> Vector:
    """Return the mean of vectors that lie up to 80 degrees to both sides."""
    turns = np.linspace(-80, 80, pages) if pages > 1 else [0]
    mean: Vector = np.mean(pointing(*(middle + turn for turn in turns)), axis=0)
    return mean


@given(st.integers(1, 40), st.integers(1, 40))
def test_two_topics_are_as_like_as_they_are_however_wide(size: int, other: int) -> None:
    assert closeness(around(0, size), around(90, other), REST) < 0.01
    assert closeness(around(0, size), around(180, other), REST) == 0.0
    if size > 2 and other > 2:
        assert closeness(around(0, size), around(10, other), REST) > 0.9


def test_brought_to_length_1_wide_topics_would_seem_alike() -> None:
    one, other = around(0, 40), around(90, 40)

    assert closeness(one, other, REST) < 0.01
    assert closeness(one / np.linalg.norm(one), other / np.linalg.norm(other), REST) > 0.4


def test_a_segment_of_all_and_everything_is_near_to_nothing() -> None:
    everything = np.mean(pointing(*range(0, 360, 5), 0, 0, 0), axis=0)

    assert all(closeness(everything, one, REST) < 0.25 for one in pointing(0, 77, 200))
    assert closeness(everything, everything, REST) < 0.25


@given(st.lists(st.floats(-1, 1, width=32), min_size=6, max_size=6), st.floats(0, 0.99))
def test_closeness_lies_between_nothing_and_one(numbers: list[float], rest: float) -> None:
    one, other = np.array(numbers[:3], np.float32), np.array(numbers[3:], np.float32)

    assert 0.0 <= closeness(one, other, rest) <= 1.0


@pytest.mark.parametrize(
    ("keywords", "others", "language", "expected"),
    [
        ({"cats", "food"}, {"cat", "tail"}, "en", 1 / 3),
        ({"猫"}, {"ネコ"}, "ja", 1.0),
        ({"母"}, {"ママ"}, "ja", 1.0),
        ({"pet cat"}, {"cat"}, "en", 1 / 2),
        ({"弹钢琴"}, {"钢琴"}, "zh", 1 / 2),
        ({"猫"}, set(), "ja", 0.0),
        (set(), set(), "ja", 0.0),
    ],
)
def test_keywords_are_compared_by_what_they_mean(
    keywords: Set[str], others: Set[str], language: str, expected: float
) -> None:
    assert jaccard(keywords, others, language) == pytest.approx(expected)
    assert jaccard(others, keywords, language) == pytest.approx(expected)


# -- which segment -----------------------------------------------------------------------------------------------------


def test_pages_of_one_topic_go_together() -> None:
    pages = told("タマが鳴いた。", "将棋で勝った。", "餌を買った。")
    topics = [topic([pages[0], pages[2]]), topic([pages[1]], "将棋の話。", "将棋")]

    found = sorted_in(pages, topics)

    assert together(found) == groups("02", "1")
    assert {one.summary: one.keywords for one in found.segments} == {
        "猫の話。": {"猫", "タマ"},
        "将棋の話。": {"将棋"},
    }


def test_pages_without_a_topic_go_by_their_chain_or_alone() -> None:
    pages = told("箱根に行った。", "温泉に入った。", "将棋で勝った。")

    assert together(sorted_in(pages)) == groups("0", "1", "2")
    assert together(sorted_in(pages, chain_of={"0": "0", "1": "0", "2": "2"})) == groups("01", "2")


def test_segments_come_in_the_order_of_their_first_pages() -> None:
    pages = told("箱根に行った。", "タマが鳴いた。", "将棋で勝った。")

    found = sorted_in(pages, [topic([pages[1]])])

    assert [one.created_at for one in found.segments] == [one.at for one in pages]


def test_a_segment_moves_with_what_it_takes_in() -> None:
    pages = told("猫が鳴いた。", "猫が寝た。", "猫が起きた。")
    known = MidTerm([segment("s", "猫の話。", "猫", "起きる")], {"s": pointing(0)[0]}, {"old": "s"})
    section = SegmentsSection(similarity=1.2)

    def last(*degrees: float) -> str:
        vectors = turned(pages, *degrees)
        return sorted_in(
            pages, [topic(pages[:2], "猫の話。", "猫", "起きる")], known, vectors, None, section
        ).segment_of["2"]

    assert last(60, 60, 85) == "s"
    assert last(0, 0, 85) != "s"


def test_a_topic_wins_over_a_chain() -> None:
    pages = told("箱根に行った。", "猫は留守番だった。", "温泉に入った。")

    found = sorted_in(pages, [topic([pages[1]])], chain_of=dict.fromkeys("012", "0"))

    assert together(found) == groups("02", "1")


def test_a_page_in_two_topics_lies_in_the_first_and_one_of_no_batch_nowhere() -> None:
    pages = told("タマが鳴いた。", "餌を買った。")
    far = page("前の話。", id_="far")

    found = sorted_in(pages, [topic([pages[0], far]), topic(pages, "餌の話。", "餌"), topic([far])])

    assert together(found) == groups("0", "1")


def test_the_segment_that_is_most_like_it_takes_a_page_in() -> None:
    [new] = told("猫のタマに餌をやった。")
    known = MidTerm(
        [
            segment("cats", "猫の話。", "猫", "タマ", "餌"),
            segment("pets", "亀の話。", "亀", "餌", "タマ"),
        ],
        dict(zip(("cats", "pets"), pointing(10, 20), strict=True)),
    )

    assert sorted_in([new], known=known, vectors=turned([new], 0)).segment_of == {"0": "cats"}


@pytest.mark.parametrize(("similarity", "taken_in"), [(0.49, True), (0.51, False)])
def test_a_segment_takes_in_what_is_more_like_it_than_the_threshold(
    similarity: float, taken_in: bool
) -> None:
    [new] = told("猫が鳴いた。")
    known = MidTerm([segment("s", "将棋の話。", "将棋")], {"s": pointing(0)[0]})
    section = SegmentsSection(similarity=similarity)

    found = sorted_in([new], known=known, vectors=turned([new], 60), section=section)

    assert (found.segment_of["0"] == "s") is taken_in


def test_keywords_alone_decide_where_there_is_no_vector() -> None:
    [new] = told("猫のタマ。")
    known = MidTerm([segment("s", "猫の話。", "猫", "タマ")], {"s": pointing(0)[0]})

    assert sorted_in([new], known=known).segment_of == {"0": "s"}


def test_raw_cosines_do_not_put_everything_into_one_segment() -> None:
    pages = told("箱根に行った。", "将棋で勝った。", "猫が鳴いた。")
    vectors = turned(pages, 0, 90, 180)

    assert vectors["0"] @ vectors["1"] > SECTION.similarity
    assert len(sorted_in(pages, vectors=vectors).segments) == 3


def test_pages_of_one_batch_find_each_other() -> None:
    pages = told("箱根の温泉に行った。", "将棋で勝った。", "温泉なら箱根だ。")

    assert together(sorted_in(pages, vectors=turned(pages, 0, 90, 5))) == groups("02", "1")


def test_languages_stay_apart() -> None:
    [new] = told("Hakone Onsen", language="en")
    known = MidTerm([segment("s", "箱根の話。", "hakone", "onsen")], {"s": pointing(0)[0]})

    found = sorted_in([new], known=known, vectors=turned([new], 0))

    assert [one.language for one in found.segments] == ["en"]


def test_row_84_what_names_nothing_stays_with_its_talk() -> None:
    """Row 84: when the model's topics can't be read, all pages fall into one segment for everything."""
    pages = [
        *told("うん。", "そうだね。", "箱根に行った。"),
        page("うん。", NOON + timedelta(hours=1), id_="3"),
    ]

    found = sorted_in(pages, vectors=turned(pages, 0, 0, 90, 0))
    again = sorted_in(
        [page("うん。", NOON + timedelta(days=1), id_="4")], known=after(EMPTY, found)
    )

    assert together(found) == groups("01", "2", "3")
    assert again.segment_of["4"] not in found.segment_of.values()


def test_a_segment_that_lost_its_keywords_takes_nothing_in() -> None:
    [new] = told("猫が鳴いた。")
    lost = replace(segment("s"), summary="", keywords=frozenset())

    assert sorted_in(
        [new], known=MidTerm([lost], {"s": pointing(0)[0]}), vectors=turned([new], 0)
    ).segment_of != {"0": "s"}


# -- what a segment is then --------------------------------------------------------------------------------------------


def test_a_new_segment_is_dated_by_its_pages_and_all_of_them_are_unread() -> None:
    pages = told("猫が鳴いた。", "猫が寝た。")

    [one] = sorted_in(pages, [topic(pages)]).segments

    assert (one.person, one.created_at, one.last_at) == ("hana", pages[0].at, pages[1].at)
    assert (one.unread, one.visits) == (2, 0)


def test_a_segment_that_takes_pages_in_keeps_what_it_was_and_has_more_to_read() -> None:
    pages = told("猫が鳴いた。", "猫が寝た。")
    old = replace(
        segment("s", "タマの話。", "猫", "タマ", at=NOON - timedelta(days=3), unread=1), visits=4
    )

    topics = [topic(pages, "餌の話。", "猫", "タマ", "餌")]
    [one] = sorted_in(pages, topics, MidTerm([old])).segments

    assert one == replace(
        old,
        summary="タマの話。\n餌の話。",
        keywords=frozenset({"猫", "タマ", "餌"}),
        last_at=pages[1].at,
        unread=3,
    )


def test_a_segment_that_was_visited_later_stays_as_fresh() -> None:
    pages = told("猫が鳴いた。")
    old = segment("s", at=NOON + timedelta(hours=1))

    [one] = sorted_in(pages, [topic(pages)], MidTerm([old])).segments

    assert one.last_at == old.last_at


def test_a_summary_keeps_how_it_began_and_what_came_last() -> None:
    known = EMPTY
    for number, summary in enumerate(
        ["猫を飼う話。", "猫の餌の話。", "猫の病気の話。", "猫の病気の話。"]
    ):
        pages = [page("猫。", id_=f"p{number}")]
        known = after(known, sorted_in(pages, [topic(pages, summary)], known))

    assert [one.summary for one in known.segments] == ["猫を飼う話。\n猫の病気の話。"]


def test_lines_of_a_summary_are_short() -> None:
    first, second = told("猫。", "猫。")
    whole = [topic([first], "猫の話、" * 90), topic([second], "餌の話、" * 90)]

    [one] = sorted_in([first, second], whole).segments

    assert [40 < len(line) <= LONGEST_LINE for line in one.summary.splitlines()] == [True, True]


def test_new_keywords_come_before_old_ones_and_of_those_the_most_telling() -> None:
    words = ["犬", "猫", "鳥", "亀", "魚", "馬", "牛", "豚", "羊", "鹿", "熊", "虎"]
    [new] = told("動物園。")
    known = MidTerm([segment("s", "動物の話。", *words)], {"s": pointing(0)[0]})

    found = sort_pages(
        [new],
        [topic([new], "象の話。", "象", "鼻")],
        known,
        turned([new], 0),
        chain_of={},
        rarity=lambda key: 0.1 if key in ("熊", "虎") else 1.0,
        rest=REST,
        window=timedelta(minutes=10),
        section=SECTION,
        now=NOON,
    )

    assert found.segments[0].keywords == {"象", "鼻", *words} - {"熊", "虎"}
    assert len(found.segments[0].keywords) == MOST_KEYWORDS


def test_what_lies_in_a_segment_need_not_be_put_there_again() -> None:
    [new] = told("猫のタマ。")
    known = MidTerm([segment("s")], {}, {"a": "s", "b": "t", "c": "s"})

    assert sorted_in([new], [topic([new])], known).segment_of == {"0": "s"}


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("箱根の温泉に行った。", "ja"),
        ("I planted tomatoes in the garden.", "en"),
        ("我在学弹钢琴。", "zh"),
    ],
)
def test_row_10_a_summary_is_in_the_language_of_its_pages(said: str, language: str) -> None:
    """Row 10: a Chinese user gets English summaries."""
    other = {"ja": "en", "en": "zh", "zh": "ja"}[language]
    mixed = [*told(said, language=language), page("タマ。", NOON, language=other, id_="other")]

    found = sorted_in(mixed, chain_of=dict.fromkeys(("0", "other"), "0"))

    assert {one.language: one.summary for one in found.segments} == {
        language: said,
        other: "タマ。",
    }


def test_row_6_a_new_segment_does_not_drive_itself_out() -> None:
    """Row 6: at capacity a new segment, with no visit yet, evicts itself."""
    known = MidTerm(
        [
            replace(segment(str(visits), "猫の話。", f"k{visits}"), visits=visits)
            for visits in (3, 1, 2)
        ]
    )

    found = sorted_in(told("箱根に行った。"), known=known, section=SegmentsSection(capacity=3))

    assert found.evicted == ["1"]


def test_row_4_a_page_lies_in_the_store_once_whatever_a_model_says(tmp_path: Path) -> None:
    """Row 4: two themes for one batch, and every page is stored in both segments."""
    pages = told("猫のタマが鳴いた。", "将棋で勝った。", "餌を買った。")
    topics = [topic(pages), topic(pages, "将棋の話。", "将棋")]
    with closing(Store(tmp_path / "memory.db")) as store:
        for one in pages:
            store.pages.add(one)
        for _ in range(2):
            lying = {one.id: one.segment for one in store.pages.of("hana") if one.segment}
            known = MidTerm(store.tiers.segments_of("hana"), {}, lying)
            store.add_facts([], NOON, drawn_from=[*"012"], sorting=sorted_in(pages, topics, known))
            [kept] = store.tiers.segments_of("hana")

            assert [(one.id, one.segment) for one in store.pages.of("hana")] == [
                (id_, kept.id) for id_ in "012"
            ]
            assert kept.unread == 3


# -- properties --------------------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    [
        "箱根の温泉に行った。",
        "温泉の匂いがした。",
        "うん。",
        "将棋で勝った。",
        "",
        "I got a cat.",
        "Yes.",
        "My cat is white.",
        "我养猫咪。",
        "我的猫咪很白。",
        "是的。",
    ]
)
Batch: TypeAlias = tuple[list[Page], list[Topic], dict[str, Vector], dict[str, str]]
WORDS = ["猫", "温泉", "cat", "猫咪", "将棋"]


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Return pages, and topics, vectors and chains of them, each of which may know only some."""
    at, pages = NOON, []
    for number, said in enumerate(draw(st.lists(LINES, max_size=8))):
        at += timedelta(minutes=draw(st.sampled_from([0, 1, 30])))
        pages.append(
            page(said, at, language=draw(st.sampled_from(["ja", "en", "zh"])), id_=f"p{number}")
        )
    ids = st.lists(st.sampled_from([f"p{number}" for number in range(9)]), max_size=4)
    topics = [
        Topic(frozenset(words), "話。", tuple(members))
        for words, members in draw(
            st.lists(st.tuples(st.sets(st.sampled_from(WORDS), min_size=1), ids), max_size=3)
        )
    ]
    some_page = st.sampled_from([f"p{number}" for number in range(8)])
    degrees = draw(st.dictionaries(some_page, st.integers(0, 359)))
    vectors = {id_: pointing(turn)[0] for id_, turn in degrees.items()}
    chain_of = draw(st.dictionaries(some_page, st.sampled_from("xy")))
    return pages, topics, vectors, chain_of


@st.composite
def middle_tiers(draw: st.DrawFn) -> MidTerm:
    segments: list[Segment] = []
    for number in range(draw(st.integers(0, 4))):
        words = draw(st.sets(st.sampled_from(WORDS)))
        one = segment(f"s{number}", "前の話。", *words, unread=draw(st.integers(0, 4)))
        segments.append(
            replace(
                one, keywords=frozenset(words), language=draw(st.sampled_from(["ja", "en", "zh"]))
            )
        )
    turns = draw(
        st.dictionaries(
            st.sampled_from([one.id for one in segments] or ["s0"]), st.integers(0, 359)
        )
    )
    members = {f"old{one.id}": one.id for one in segments}
    return MidTerm(segments, {id_: pointing(turn)[0] for id_, turn in turns.items()}, members)


@settings(deadline=None)
@given(batches(), middle_tiers(), st.integers(1, 6))
def test_row_1_every_page_lies_in_exactly_one_segment_and_none_is_lost(
    batch: Batch,
    known: MidTerm,
    capacity: int,
) -> None:
    """Row 1: whenever the short-term memory overflows a turn is lost."""
    pages, topics, vectors, chain_of = batch
    section = SegmentsSection(capacity=capacity)

    found = sorted_in(pages, topics, known, vectors, chain_of, section)

    old = {one.id: one for one in known.segments}
    now = {**old, **{one.id: one for one in found.segments}}
    assert {one.id for one in pages} <= set(found.segment_of)
    assert set(found.segment_of.values()) <= set(now)
    grown = {id_: one.unread - (old[id_].unread if id_ in old else 0) for id_, one in now.items()}
    placed = [found.segment_of[one.id] for one in pages]
    assert {id_: count for id_, count in grown.items() if count} == {
        id_: placed.count(id_) for id_ in set(placed)
    }
    new = set(now) - set(old)
    assert new.isdisjoint(found.evicted)
    assert len(now) - len(found.evicted) <= max(capacity, len(new))


@settings(deadline=None)
@given(batches(), middle_tiers())
def test_a_batch_that_is_sorted_again_changes_nothing(batch: Batch, known: MidTerm) -> None:
    pages, topics, vectors, chain_of = batch

    found = sorted_in(pages, topics, known, vectors, chain_of)
    again = sorted_in(pages, topics, after(known, found), vectors, chain_of)

    assert sorted_in(pages, topics, known, vectors, chain_of) == found
    assert not again.segments
    assert again.segment_of.items() <= found.segment_of.items()
    assert {one.id for one in pages} <= set(again.segment_of)
