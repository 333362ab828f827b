"""Profile, traits, notes and day summaries: what replaces what, and what goes when a page is forgotten."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.lineage import sources_of
from server.memory.models import Level, Note, ProfileEntry, ProfileField, Trait
from server.memory.portrait import MOST_VALUES, newest_of
from server.memory.store import Store
from tests.memory.remembering import NOON, fact, page
from tests.memory.tiers import entry, note, summary, trait

EARLIER, LATER = NOON - timedelta(days=3), NOON + timedelta(days=3)
TODAY = NOON.date()
FIELDS = st.sampled_from((ProfileField.HOME, ProfileField.FAMILY))
"""One with one value, one with many."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened:
        for id_ in ("1", "2"):
            opened.pages.add(page("話", id_=id_))
        yield opened


def put(store: Store, *records: ProfileEntry | Trait | Note) -> None:
    store.add_facts(
        [],
        NOON,
        profile=[record for record in records if isinstance(record, ProfileEntry)],
        traits=[record for record in records if isinstance(record, Trait)],
        notes=[record for record in records if isinstance(record, Note)],
    )


def values(store: Store, person: str = "hana") -> list[str]:
    return [held.value for held in newest_of(store.portrait.profile_of(person))]


def unsummed(store: Store, since: datetime = EARLIER) -> list[str]:
    """Return the persons with exchanges that are in no summary."""
    return sorted({one.person for one in store.portrait.not_in_summary(since)})


def forget_page(store: Store, id_: str) -> None:
    store.add_facts([fact(f"of {id_}", sources=(id_,))], NOON)
    assert store.forget([f"of {id_}"]) == 1


def test_a_portrait_comes_back_as_it_was(store: Store) -> None:
    told = entry(ProfileField.NAME, "花", NOON, "1", "2")
    shown = trait("openness", Level.HIGH, NOON, "1")
    noticed, day = note("1"), summary(NOON, "1", "2")
    put(store, told, shown, noticed)
    assert store.portrait.put_summary(day)
    portrait = store.portrait
    assert portrait.profile_of("hana") == [told]
    assert portrait.traits_of("hana") == [shown]
    assert portrait.notes_of("hana") == [noticed]
    assert portrait.summaries_of("hana", 3) == [day]
    assert portrait.profile_of("taro") == []
    assert portrait.traits_of("taro") == []
    assert portrait.notes_of("taro") == []
    assert portrait.summaries_of("taro", 3) == []


def test_writing_the_same_batch_twice_changes_nothing_the_second_time(store: Store) -> None:
    batch = (
        entry(ProfileField.HOME, "東京", NOON, "1"),
        entry(ProfileField.HOME, "大阪", NOON, "1"),
        entry(ProfileField.HEALTH, "卵アレルギー", NOON, "2"),
        trait("openness", Level.HIGH, NOON, "1"),
        note("1"),
    )

    def held() -> object:
        portrait = store.portrait
        return portrait.profile_of("hana"), portrait.traits_of("hana"), portrait.notes_of("hana")

    put(store, *batch)
    before = held()
    put(store, *batch)
    assert held() == before


@pytest.mark.parametrize("times", [(EARLIER, NOON), (NOON, EARLIER)])
def test_of_a_field_with_one_value_the_newest_holds_whichever_came_in_first(
    store: Store, times: tuple[datetime, datetime]
) -> None:
    """Row 31: 東京に住んでる, then 大阪に引っ越した; an import may bring the older one later."""
    for at in times:
        put(store, entry(ProfileField.HOME, "大阪" if at == NOON else "東京", at))
    assert values(store) == ["大阪"]


def test_a_value_that_is_said_again_is_the_newest_and_has_both_sources(store: Store) -> None:
    put(store, entry(ProfileField.HOME, "東京", EARLIER, "1"))
    put(store, entry(ProfileField.HOME, "大阪", NOON))
    put(store, entry(ProfileField.HOME, "東京", LATER, "2"))
    assert newest_of(store.portrait.profile_of("hana")) == [
        entry(ProfileField.HOME, "東京", LATER, "1", "2")
    ]


def test_an_older_value_holds_again_when_the_newer_one_is_forgotten(store: Store) -> None:
    put(store, entry(ProfileField.HOME, "東京", EARLIER, "1"))
    put(store, entry(ProfileField.HOME, "大阪", NOON, "2"))
    forget_page(store, "2")
    assert values(store) == ["東京"]


@given(
    told=st.lists(
        st.tuples(FIELDS, st.sampled_from("ABC"), st.integers(0, 9)),
        max_size=12,
    ),
    data=st.data(),
)
def test_a_profile_does_not_depend_on_the_order_in_which_it_was_told(
    shared: Store, told: list[tuple[ProfileField, str, int]], data: st.DataObject
) -> None:
    def profile_after(order: Sequence[tuple[ProfileField, str, int]]) -> list[tuple[str, str]]:
        person = uuid.uuid4().hex
        day = timedelta(days=1)
        put(
            shared,
            *(entry(field, value, NOON + at * day, person=person) for field, value, at in order),
        )
        return [(held.field, held.value) for held in shared.portrait.profile_of(person)]

    assert profile_after(told) == profile_after(data.draw(st.permutations(told)))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with closing(Store(tmp_path_factory.mktemp("store") / "memory.db")) as opened:
        yield opened


def test_of_a_field_with_many_values_the_newest_are_kept(store: Store) -> None:
    """Row 51: a block that grew overnight."""
    for number in reversed(range(MOST_VALUES + 5)):
        at = NOON + timedelta(minutes=number)
        put(store, entry(ProfileField.FAMILY, f"孫{number}", at, "1"))
    put(store, entry(ProfileField.HEALTH, "卵アレルギー", EARLIER))
    assert values(store) == [*(f"孫{number}" for number in range(5, 25)), "卵アレルギー"]


def test_a_level_seen_earlier_does_not_replace_a_newer_one(store: Store) -> None:
    put(store, trait("openness", Level.LOW, NOON, "1"))
    put(store, trait("openness", Level.HIGH, EARLIER, "2"))
    assert store.portrait.traits_of("hana") == [trait("openness", Level.LOW, NOON, "1")]
    put(store, trait("openness", Level.LOW, EARLIER, "2"))
    assert store.portrait.traits_of("hana") == [trait("openness", Level.LOW, NOON, "1", "2")]
    put(store, trait("openness", Level.MEDIUM, LATER, "2"))
    assert store.portrait.traits_of("hana") == [trait("openness", Level.MEDIUM, LATER, "2")]


def test_what_was_drawn_from_pages_stays_as_long_as_one_of_them_is_there(store: Store) -> None:
    by_hand = entry(ProfileField.BIRTH, "1941")
    put(
        store,
        by_hand,
        entry(ProfileField.NAME, "花", NOON, "1", "2"),
        entry(ProfileField.HOME, "大阪", NOON, "1"),
        trait("openness", Level.HIGH, NOON, "1"),
        trait("patience", Level.HIGH, NOON, "1", "2"),
        note("1"),
    )
    forget_page(store, "1")
    name = entry(ProfileField.NAME, "花", NOON, "2")
    assert store.portrait.profile_of("hana") == [name, by_hand]
    assert store.portrait.traits_of("hana") == [trait("patience", Level.HIGH, NOON, "2")]
    assert store.portrait.notes_of("hana") == []
    forget_page(store, "2")
    assert store.portrait.profile_of("hana") == [by_hand]
    assert store.portrait.traits_of("hana") == []


def test_what_was_drawn_from_pages_that_were_forgotten_meanwhile_is_left_out(store: Store) -> None:
    forget_page(store, "1")
    put(
        store,
        entry(ProfileField.NAME, "花", NOON, "1", "2"),
        entry(ProfileField.HOME, "大阪", NOON, "1"),
        trait("openness", Level.HIGH, NOON, "1"),
        note("1"),
        note("2"),
    )
    assert store.portrait.profile_of("hana") == [entry(ProfileField.NAME, "花", NOON, "2")]
    assert store.portrait.traits_of("hana") == []
    assert store.portrait.notes_of("hana") == [note("2")]
    store.forget_person("hana")
    put(store, entry(ProfileField.NAME, "花", NOON, "1"), note("2"))
    assert store.persons() == []


def test_notes_can_be_asked_for_from_a_moment_on(store: Store) -> None:
    put(store, note("1", "今日", NOON), note("2", "前", EARLIER))
    assert [held.text for held in store.portrait.notes_of("hana")] == ["前", "今日"]
    assert [held.text for held in store.portrait.notes_of("hana", NOON)] == ["今日"]


def test_the_last_summaries_are_those_of_the_newest_days(store: Store) -> None:
    for days in (2, 0, 1):
        store.portrait.put_summary(summary(NOON + timedelta(days=days)))
    assert [held.day.day for held in store.portrait.summaries_of("hana", 2)] == [28, 29]


def test_a_summary_takes_the_place_of_the_one_before(store: Store) -> None:
    store.portrait.put_summary(summary(NOON, "1"))
    again = summary(NOON, "2", text="犬の話。")
    store.portrait.put_summary(again)
    assert store.portrait.summaries_of("hana", 9) == [again]


def test_a_summary_goes_with_the_first_of_its_pages_and_is_due_again(store: Store) -> None:
    store.portrait.put_summary(summary(NOON, "1", "2"))
    assert unsummed(store) == []
    forget_page(store, "1")
    assert store.portrait.summaries_of("hana", 9) == []
    assert sources_of(store._database, "hana") == {}
    assert unsummed(store) == ["hana"]
    assert not store.portrait.put_summary(summary(NOON, "1", "2")), "made before it was forgotten"
    assert store.portrait.summaries_of("hana", 9) == []
    assert store.portrait.put_summary(summary(NOON, "2"))


def test_an_exchange_is_in_no_summary_until_one_was_made_from_it(store: Store) -> None:
    new_york = ZoneInfo("America/New_York")
    night = datetime(2026, 9, 26, 23, tzinfo=new_york)
    store.pages.add(page("話", night, person="taro", id_="ny"))
    found = {one.person: one.at for one in store.portrait.not_in_summary(night)}
    assert found == {"taro": night, "hana": NOON}
    assert (found["taro"].tzinfo, found["hana"].tzinfo) == (new_york, NOON.tzinfo)
    assert unsummed(store, night + timedelta(seconds=1)) == []
    store.portrait.put_summary(summary(NOON, "1"))
    put(store, note("2"), trait("openness", Level.LOW, NOON, "2"))  # no summaries
    assert unsummed(store) == ["hana", "taro"]
    store.portrait.put_summary(summary(NOON, "1", "2"))
    assert unsummed(store) == ["taro"]


def test_a_summary_that_tells_nothing_is_passed_over(store: Store) -> None:
    store.portrait.put_summary(summary(NOON))
    silent = replace(summary(NOON + timedelta(days=1), "1", text=""), follow_ups=())
    store.portrait.put_summary(silent)
    assert [held.day for held in store.portrait.summaries_of("hana", 1)] == [TODAY]
    store.portrait.put_summary(replace(silent, follow_ups=("タマは元気?",)))
    assert [held.text for held in store.portrait.summaries_of("hana", 1)] == [""]


def test_every_change_of_a_portrait_is_noticed_and_no_other(store: Store) -> None:
    seen = [store.portrait.change_count("hana")]

    def noticed() -> bool:
        seen.append(store.portrait.change_count("hana"))
        return seen[-1] != seen[-2]

    others = store.change_count("hana"), store.tiers.change_count("hana")
    for record in (entry(ProfileField.NAME, "花"), trait("openness", Level.LOW), note("1")):
        put(store, record)
        assert noticed()
    store.portrait.put_summary(summary(NOON, "1"))
    assert noticed()
    assert (store.change_count("hana"), store.tiers.change_count("hana")) == others
    store.pages.add(page("話", id_="3"))
    put(store, entry(ProfileField.NAME, "太郎", person="taro"))
    assert not noticed()
    forget_page(store, "1")
    assert noticed()


@pytest.mark.parametrize(
    "record",
    [entry(ProfileField.NAME, "花"), trait("openness", Level.LOW)],
)
def test_who_is_known_by_anything_is_a_person(tmp_path: Path, record: ProfileEntry | Trait) -> None:
    with closing(Store(tmp_path / "other.db")) as store:
        put(store, record)
        assert store.persons() == ["hana"]
        store.forget_person("hana")
        assert store.persons() == []
        store.portrait.put_summary(summary(NOON, person="taro"))
        assert store.persons() == ["taro"]
