"""Segments, chains and lines: where a page lies, what is counted, and what goes when a page is forgotten."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from server.memory.store import Store
from server.memory.stored_lines import StoredLine
from server.memory.tiers import Sorting
from tests.memory.remembering import NOON, fact, page
from tests.memory.tiers import chain, segment

LATER = NOON + timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened:
        yield opened


def tell(store: Store, *ids: str, person: str = "hana") -> None:
    """Store pages a minute apart, oldest first."""
    for number, id_ in enumerate(ids):
        store.pages.add(page(id_, NOON + timedelta(minutes=number), person=person, id_=id_))


def sort(store: Store, *ids: str, into: str = "s", summary: str = "猫の話。") -> Sorting:
    """Sort pages into one segment and one chain; return how."""
    sorting = Sorting(
        segments=[segment(into, summary, unread=len(ids))],
        chains=[chain(ids[0], summary)],
        segment_of=dict.fromkeys(ids, into),
        chain_of=dict.fromkeys(ids, ids[0]),
    )
    store.add_facts([], NOON, drawn_from=ids, sorting=sorting)
    return sorting


def forget_page(store: Store, id_: str) -> None:
    """Forget the fact that is drawn from a page, and with it the page."""
    store.add_facts([fact(f"of {id_}", sources=(id_,))], NOON)
    assert store.forget([f"of {id_}"]) == 1
    assert id_ not in [each.id for each in store.pages.of("hana")]


def places(store: Store, person: str = "hana") -> dict[str, tuple[str, str]]:
    return {each.id: (each.segment, each.chain) for each in store.pages.of(person)}


def kept(store: Store) -> object:
    """Everything that a batch leads to."""
    tiers, mine = store.tiers, store.pages.of("hana")
    return tiers.segments_of("hana"), tiers.chains_of("hana"), mine, store.queue.waiting()


def test_segments_and_chains_come_back_as_they_were_and_pages_say_where_they_lie(
    store: Store,
) -> None:
    tell(store, "1", "2")
    assert places(store) == {"1": ("", ""), "2": ("", "")}
    sorting = sort(store, "1", "2")
    assert store.tiers.segments_of("hana") == sorting.segments
    assert store.tiers.chains_of("hana") == sorting.chains
    assert places(store) == {"1": ("s", "1"), "2": ("s", "1")}
    assert store.queue.waiting() == {}
    assert store.tiers.segments_of("taro") == []
    assert store.tiers.chains_of("taro") == []


def test_writing_the_same_batch_twice_changes_nothing_the_second_time(store: Store) -> None:
    tell(store, "1", "2", "3")
    sort(store, "3", into="old")
    sorting = replace(sort(store, "1", "2"), evicted=["old"])
    store.add_facts([], NOON, drawn_from=["1", "2"], sorting=sorting)
    before = kept(store)
    store.add_facts([], LATER, drawn_from=["1", "2"], sorting=sorting)
    assert kept(store) == before


def test_a_page_lies_in_one_segment_and_an_empty_segment_is_no_more(store: Store) -> None:
    """Row 4: pages of a batch with two themes were in both."""
    tell(store, "1")
    sort(store, "1", into="first")
    both = [segment("first"), segment("second"), segment("never used")]
    store.add_facts([], NOON, sorting=Sorting(segments=both, segment_of={"1": "second"}))
    assert places(store)["1"] == ("second", "1")
    assert [each.id for each in store.tiers.segments_of("hana")] == ["second"]


def test_a_segment_that_was_visited_while_pages_were_sorted_keeps_its_visits(store: Store) -> None:
    """Row 27: a snapshot from before a slow answer was written back."""
    tell(store, "1", "2")
    sort(store, "1")
    store.tiers.visit(["1"], LATER)
    sort(store, "2", summary="犬の話。")
    [held] = store.tiers.segments_of("hana")
    assert (held.visits, held.last_at, held.summary, held.unread) == (1, LATER, "犬の話。", 1)


def test_a_segment_gets_newer_with_its_pages_and_keeps_when_it_was_made(store: Store) -> None:
    tell(store, "1")
    sort(store, "1")
    newer = replace(segment("s", "犬の話。", "犬", at=LATER), created_at=LATER)
    store.add_facts([], LATER, sorting=Sorting(segments=[newer], segment_of={"1": "s"}))
    assert store.tiers.segments_of("hana") == [replace(newer, created_at=NOON)]


def test_a_visit_counts_once_for_each_segment_whose_pages_reached_a_prompt(store: Store) -> None:
    """Row 82: every search lifted the heat of whatever was near."""
    tell(store, "1", "2", "3", "unsorted")
    sort(store, "1", "2", into="a")
    sort(store, "3", into="b")
    store.tiers.visit(["1", "2", "unsorted", "unknown"], LATER)
    visited, other = store.tiers.segments_of("hana")
    assert (visited.visits, visited.last_at) == (1, LATER)
    assert (other.visits, other.last_at) == (0, NOON)


@pytest.mark.parametrize(("forgotten", "unread"), [("1", 2), ("2", 1), ("3", 1), ("23", 0)])
def test_pages_that_go_are_not_waited_for_in_the_profile(
    store: Store, forgotten: str, unread: int
) -> None:
    tell(store, *"1234")
    sort(store, "1", into="s")
    store.tiers.leave_unread("s", 0)
    sort(store, "2", "3", into="s")
    sort(store, "4", into="other")
    for id_ in forgotten:
        forget_page(store, id_)
    counted = {each.id: each.unread for each in store.tiers.segments_of("hana")}
    assert counted == {"s": unread, "other": 1}


def test_a_segment_that_made_room_is_still_there_and_keeps_when_it_did(store: Store) -> None:
    tell(store, "1", "2")
    sort(store, "1", into="a")
    sort(store, "2", into="b")
    store.add_facts([], NOON, sorting=Sorting(evicted=["a", "unknown"]))
    store.add_facts([], LATER, sorting=Sorting(evicted=["a"]))
    evicted, other = store.tiers.segments_of("hana")
    assert (evicted.evicted_at, other.evicted_at) == (NOON, None)


def test_of_a_segment_that_was_read_only_what_was_not_stays_unread(store: Store) -> None:
    tell(store, "1", "2")
    sort(store, "1", into="a")
    sort(store, "2", into="b")
    for left in (3, 0):
        store.tiers.leave_unread("a", left)
        assert [each.unread for each in store.tiers.segments_of("hana")] == [left, 1]


def test_a_page_goes_into_no_segment_that_is_unknown_or_anothers(store: Store) -> None:
    """Rows 28 and 45: ids that were never given, or are another person's."""
    tell(store, "1")
    tell(store, "2", person="taro")
    sort(store, "1")
    astray = {"2": "s", "1": "unknown", "unknown": "s"}
    store.add_facts([], NOON, sorting=Sorting(segment_of=astray, chain_of={"2": "1"}))
    assert places(store) == {"1": ("s", "1")}
    assert places(store, "taro") == {"2": ("", "")}


def test_a_segment_goes_with_the_last_of_its_pages(store: Store) -> None:
    tell(store, "1", "2", "other")
    sort(store, "1", "2")
    sort(store, "other", into="other")
    forget_page(store, "1")
    assert [each.id for each in store.tiers.segments_of("hana")] == ["other", "s"]
    forget_page(store, "2")
    assert [each.id for each in store.tiers.segments_of("hana")] == ["other"]
    assert [each.id for each in store.tiers.chains_of("hana")] == ["other"]


def test_what_was_said_of_a_segment_and_a_chain_goes_with_the_first_page_that_is_forgotten(
    store: Store,
) -> None:
    tell(store, "1", "2", "other")
    sort(store, "1", "2", summary="himitsu")
    sort(store, "other", into="other")
    forget_page(store, "2")
    other, held = store.tiers.segments_of("hana")
    assert (held.summary, held.keywords) == ("", frozenset())
    assert other == segment("other", unread=1)
    assert [each.summary for each in store.tiers.chains_of("hana")] == ["", "猫の話。"]
    assert places(store)["1"] == ("s", "1")


def test_a_batch_of_which_all_was_forgotten_meanwhile_leaves_nothing(store: Store) -> None:
    tell(store, "1", "2")
    store.forget_person("hana")
    sort(store, "1", "2")
    assert store.persons() == []
    assert store.tiers.chains_of("hana") == []
    assert store.tiers.change_count("hana") == 0


def test_a_batch_of_which_a_page_was_forgotten_meanwhile_tells_nothing_of_it(store: Store) -> None:
    tell(store, "1", "2")
    forget_page(store, "2")
    sort(store, "1", "2", summary="himitsu")
    [held], [linked] = store.tiers.segments_of("hana"), store.tiers.chains_of("hana")
    assert (held.summary, held.keywords, linked.summary) == ("", frozenset(), "")
    assert places(store) == {"1": ("s", "1")}


def test_a_summary_that_rests_on_an_older_page_that_was_forgotten_meanwhile_is_left_out(
    store: Store,
) -> None:
    tell(store, "old", "kept", "new")
    sort(store, "old", "kept", summary="himitsu")
    forget_page(store, "old")
    sort(store, "old", "kept", "new", summary="himitsu and more")
    [held] = store.tiers.segments_of("hana")
    assert (held.summary, held.unread) == ("", 3)
    sort(store, "kept", "new", summary="犬の話。")
    assert store.tiers.segments_of("hana")[0].summary == "犬の話。"


def test_lines_come_back_in_the_order_in_which_they_were_spoken(store: Store) -> None:
    for id_, minute in (("b", 0), ("a", 0), ("late", 9), ("early", -9)):
        store.pages.add(page("話", NOON + timedelta(minutes=minute), id_=id_))
    store.pages.add(page("話", person="taro", id_="taro's"))
    rows = [
        StoredLine(id_, role, "1", f"{id_}{role}\0".encode())
        for id_ in ("late", "a", "b", "early", "taro's")
        for role in (1, 0)
    ]
    store.lines.put(rows)
    found = store.lines.of("hana")
    spoken = [(id_, role) for id_ in ("early", "a", "b", "late") for role in (0, 1)]
    assert [(row.page, row.role) for row in found] == spoken
    assert set(found) == {row for row in rows if row.page != "taro's"}


def test_lines_of_a_newer_version_take_the_place_of_the_old_ones(store: Store) -> None:
    tell(store, "1", "2")
    store.lines.put([StoredLine("1", 0, "1", b"old"), StoredLine("2", 0, "1", b"old")])
    assert store.lines.pages_without("hana", "1") == []
    assert [each.id for each in store.lines.pages_without("hana", "2")] == ["1", "2"]
    store.lines.put([StoredLine("1", 0, "2", b"new")])
    assert store.lines.of("hana")[0] == ("1", 0, "2", b"new")
    assert [each.id for each in store.lines.pages_without("hana", "2")] == ["2"]


def test_lines_of_a_page_that_is_gone_do_not_spoil_the_others(store: Store) -> None:
    tell(store, "1")
    store.lines.put([StoredLine("gone", 0, "1", b""), StoredLine("1", 0, "1", b"x")])
    vector = np.asarray([1, 0], np.float32)
    store.lines.put_vectors({("gone", 0): vector, ("1", 0): vector}, "m")
    assert [row.page for row in store.lines.of("hana")] == ["1"]
    assert list(store.lines.vectors_of("hana", "m")) == [("1", 0)]


def test_line_vectors_are_kept_by_stamp_with_half_the_digits(store: Store) -> None:
    tell(store, "1")
    tell(store, "2", person="taro")
    old, new = np.asarray([0.6, 0.8], np.float32), np.asarray([0, 1, 0], np.float32)
    store.lines.put_vectors({("1", 0): old, ("1", 1): old, ("2", 0): old}, "old")
    store.lines.put_vectors({("1", 1): new}, "new")
    found = store.lines.vectors_of("hana", "old")
    assert sorted(found) == [("1", 0), ("1", 1)]
    assert found["1", 0].dtype == np.float32
    assert found["1", 0] == pytest.approx(old, abs=1e-3)
    assert store.lines.vectors_of("hana", "new")["1", 1].tolist() == [0, 1, 0]


def test_pages_without_vectors_are_found_of_anybody_the_newest_first(store: Store) -> None:
    tell(store, "1", "2", "3")
    store.pages.add(page("話", LATER, person="taro", id_="taro's"))
    store.lines.put_vectors({("2", 0): np.ones(2, np.float32)}, "m")
    assert [each.id for each in store.lines.pages_without_vectors("m", 2)] == ["taro's", "3"]
    assert len(store.lines.pages_without_vectors("m", 9)) == 3
    assert len(store.lines.pages_without_vectors("other", 9)) == 4


def test_a_page_that_cannot_be_embedded_is_not_asked_for_again(store: Store) -> None:
    tell(store, "1", "2")
    store.lines.put_vectors({("2", 0): np.zeros(0, np.float32)}, "m")
    assert [each.id for each in store.lines.pages_without_vectors("m", 9)] == ["1"]
    assert store.lines.vectors_of("hana", "m") == {}


def test_every_change_that_search_sees_is_noticed_and_no_other(store: Store) -> None:
    seen = [store.tiers.change_count("hana")]

    def noticed() -> bool:
        seen.append(store.tiers.change_count("hana"))
        return seen[-1] != seen[-2]

    facts = store.change_count("hana")
    tell(store, "1", "2")
    assert noticed()
    sort(store, "1", "2")
    assert noticed()
    store.lines.put([StoredLine("1", 0, "1", b"x")])
    assert noticed()
    store.lines.put_vectors({("1", 0): np.ones(2, np.float32)}, "m")
    assert noticed()
    store.tiers.visit(["1"], LATER)
    store.tiers.leave_unread("s", 0)
    tell(store, "3", person="taro")
    assert not noticed()
    assert store.change_count("hana") == facts, "the facts need not be read again"
    forget_page(store, "1")
    assert noticed()


def test_who_is_forgotten_and_comes_back_does_not_look_unchanged(store: Store) -> None:
    tell(store, "1")
    before = store.tiers.change_count("hana")
    store.forget_person("hana")
    tell(store, "1")
    assert store.tiers.change_count("hana") not in (before, 0)
