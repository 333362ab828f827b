"""The store: what it keeps, what it forgets, and what it says when it can't."""

import os
import sqlite3
import stat
import traceback
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, event

from server.errors import StoreError
from server.memory.models import Fact, Importance, Kind, Origin
from server.memory.store import Store
from tests.memory.remembering import NOON, TOKYO, fact, page


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened:
        yield opened


@contextmanager
def full_disk(store: Store) -> Iterator[None]:
    """Let the file grow no more. SQLite then says what it says on a disk without space."""
    engine = store._database.engine

    def limit(connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")

    event.listen(engine, "begin", limit)
    yield
    event.remove(engine, "begin", limit)
    engine.dispose()  # every connection has the limit


def current(store: Store, person: str = "hana") -> list[str]:
    return [each.text for each in store.facts_of(person) if each.current]


def add(store: Store, *new: Fact, **more: dict[str, str]) -> None:
    store.add_facts(new, NOON, **more)  # type: ignore[arg-type]


def test_a_fact_of_long_ago_keeps_its_moment(store: Store) -> None:
    long_ago = datetime(500, 3, 1, tzinfo=UTC)
    add(store, fact("猫がいる", long_ago))
    assert store.facts_of("hana")[0].said_at == long_ago


def test_the_same_turn_is_stored_once(store: Store) -> None:
    """What was handed in before a crash may be handed in again."""
    store.pages.add(page("猫を飼い始めた", id_="1"))
    store.pages.add(page("別の言葉", id_="1"))
    assert [each.said for each in store.pages.of("hana")] == ["猫を飼い始めた"]


def test_a_page_comes_back_as_it_was(store: Store) -> None:
    before = page("猫を飼い始めた")
    store.pages.add(before)
    assert store.pages.of("hana") == [before]
    assert store.pages.since(NOON) == [before]
    assert store.pages.since(NOON + timedelta(seconds=1)) == []


def test_the_exchanges_of_a_day_are_those_of_the_day_where_the_person_was(store: Store) -> None:
    """Row 39, for days."""
    for text in ("2026-09-27T00:30+09:00", "2026-09-27T23:59-05:00", "2026-09-26T23:59+09:00"):
        store.pages.add(page(text, datetime.fromisoformat(text)))
    said = [each.said for each in store.pages.of_day("hana", date(2026, 9, 27))]
    assert said == ["2026-09-27T00:30+09:00", "2026-09-27T23:59-05:00"]
    assert store.pages.of_day("taro", date(2026, 9, 27)) == []


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
def test_pages_of_one_day_stand_in_the_order_in_which_they_were_said(
    store: Store, zone: str
) -> None:
    noon = NOON.astimezone(ZoneInfo(zone))
    said = [page("話", noon + timedelta(minutes=20 * (n // 2)), id_=str(n)) for n in range(8)]
    for each in reversed(said):
        store.pages.add(each)
    for place, each in enumerate(said):
        assert store.pages.before(each, 2) == said[max(0, place - 2) : place]
        assert store.pages.after(each, 2) == said[place + 1 : place + 3]
        later = store.pages.outline("hana", (each.at, each.id))
        assert [one.id for one in later] == [one.id for one in said[place + 1 :]]


def test_a_page_waits_until_facts_were_drawn_from_it(store: Store) -> None:
    for number in range(3):
        store.pages.add(page("話", NOON + timedelta(minutes=number), id_=str(number)))
    store.add_facts([fact("あなたは猫を飼っている。", sources=("0",))], NOON, drawn_from=["0", "1"])
    waiting = store.queue.waiting(NOON)
    assert [each.id for each in waiting["hana"]] == ["2"]
    assert store.facts_of("hana")[0].sources == ("0",)


def test_a_page_that_was_put_off_waits_for_its_time(store: Store) -> None:
    store.pages.add(page("話", id_="1"))
    again = NOON + timedelta(minutes=5)
    store.queue.put_off(["1"], again)
    store.queue.put_off(["1"], again)
    assert store.queue.attempts(["1"]) == 2
    assert store.queue.waiting(again - timedelta(seconds=1)) == {}
    assert store.queue.overdue(again - timedelta(seconds=1), NOON - timedelta(days=1)) == []
    assert store.queue.overdue(again, NOON - timedelta(days=1)) == ["hana"]
    assert list(store.queue.waiting(again)) == ["hana"]


def test_what_was_put_off_while_the_clock_was_ahead_is_brought_forward(store: Store) -> None:
    store.pages.add(page("話", id_="soon"))
    store.pages.add(page("話", id_="in years", person="taro"))
    soon, latest = NOON + timedelta(minutes=5), NOON + timedelta(hours=1)
    store.queue.put_off(["soon"], soon)
    store.queue.put_off(["in years"], NOON + timedelta(days=3650))
    store.queue.bring_forward(latest, NOON)
    assert list(store.queue.waiting(NOON)) == ["taro"]
    assert list(store.queue.waiting(soon)) == ["hana", "taro"]
    assert store.queue.attempts(["in years"]) == 1


def test_what_was_said_while_the_clock_was_ahead_is_no_talk_of_now(store: Store) -> None:
    store.pages.add(page("話", NOON + timedelta(hours=9), id_="1"))
    store.pages.add(page("話", NOON - timedelta(minutes=3), id_="2"))
    assert store.queue.overdue(NOON, NOON - timedelta(minutes=5)) == [], "hana still talks"
    assert store.queue.overdue(NOON, NOON - timedelta(minutes=3)) == ["hana"]
    store.pages.add(page("話", NOON + timedelta(hours=9), id_="3", person="taro"))
    assert store.queue.overdue(NOON, NOON - timedelta(minutes=5)) == ["taro"]


def test_who_fell_silent_with_pages_that_wait_is_found(store: Store) -> None:
    store.pages.add(page("話", id_="1"))
    last = NOON + timedelta(minutes=3)
    store.pages.add(page("話", last, id_="2"))
    assert store.queue.overdue(last, NOON) == [], "hana still talks"
    assert store.queue.overdue(last, last) == ["hana"]


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (datetime(2026, 9, 27, 0, 30, tzinfo=TOKYO), 27),
        (datetime.fromisoformat("2026-09-27T00:30+09:00"), 27),
        (datetime(2026, 9, 27, 23, 59, tzinfo=ZoneInfo("America/New_York")), 27),
        (datetime(2026, 9, 27, 0, 30, tzinfo=UTC), 27),
        (datetime(2026, 9, 27, 0, 30, tzinfo=timezone(-timedelta(hours=3, minutes=30))), 27),
        (datetime(2026, 9, 27, 0, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))), 27),
    ],
)
def test_a_time_keeps_its_calendar_day(store: Store, at: datetime, day: int) -> None:
    """Row 39: dates shifted to the zone of the machine."""
    store.pages.add(page("話", at))
    add(store, fact("あなたは猫を飼っている。", at))
    [kept], [known] = store.pages.of("hana"), store.facts_of("hana")
    for moment in (kept.at, known.said_at):
        assert moment == at
        assert (moment.day, moment.hour, moment.utcoffset()) == (day, at.hour, at.utcoffset())


def test_times_in_different_zones_are_in_order(store: Store) -> None:
    """Row 40."""
    for text in ("2026-09-27T09:00+09:00", "2026-09-27T00:30Z", "2026-09-26T21:00-05:00"):
        store.pages.add(page(text, datetime.fromisoformat(text)))
    said = [each.said for each in store.pages.of("hana")]
    assert said == ["2026-09-27T09:00+09:00", "2026-09-27T00:30Z", "2026-09-26T21:00-05:00"]


def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    naive = datetime(2026, 9, 27, 12)  # noqa: DTZ001 - that is the point
    with pytest.raises(ValueError, match="without a zone"):
        store.pages.add(page("話", naive))
    with pytest.raises(ValueError, match="without a zone"):
        add(store, fact("あなたは猫を飼っている。", naive))
    assert store.persons() == []


def test_a_fact_whose_origin_is_not_known_can_be_read(store: Store) -> None:
    add(store, fact("猫がいる"))
    with store._database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE facts SET origin = 'import'")
    assert [each.origin for each in store.facts_of("hana")] == [Origin.HAND]


def test_a_replaced_fact_is_kept_and_dated_but_not_current(store: Store) -> None:
    """Row 54: the record that lost was destroyed."""
    add(store, fact("あなたは東京に住んでいる。"))
    later = NOON + timedelta(days=1)
    store.add_facts([fact("あなたは大阪に引っ越した。", later)], later,
                    superseded={"あなたは東京に住んでいる。": "あなたは大阪に引っ越した。"})  # fmt: skip
    old, new = store.facts_of("hana")
    assert (old.superseded_by, old.superseded_at) == (new.id, later)
    assert current(store) == ["あなたは大阪に引っ越した。"]


def test_a_fact_comes_back_as_it_was(store: Store) -> None:
    before = replace(
        fact("私はアニーです。"),
        importance=Importance.LASTING,
        about="アニー",
        event_from=date(2026, 9, 27),
        event_to=date(2026, 9, 28),
        quote="アニーでしょ",
        origin=Origin.MODEL,
    )
    add(store, before)
    assert store.facts_of("hana") == [before]


def chain(store: Store) -> None:
    """Store a, replaced by b, replaced by c."""
    add(store, fact("a"))
    add(store, fact("b", NOON + timedelta(days=1)), superseded={"a": "b"})
    add(store, fact("c", NOON + timedelta(days=2)), superseded={"b": "c"})


@pytest.mark.parametrize(
    ("forgotten", "left"),
    [(["a"], ["c"]), (["b"], ["c"]), (["c"], ["b"]), (["b", "c"], ["a"]), (["c", "b"], ["a"])],
)
def test_what_a_forgotten_fact_had_replaced_holds_only_if_nothing_else_replaced_it(
    store: Store, forgotten: list[str], left: list[str]
) -> None:
    chain(store)
    assert store.forget(forgotten) == len(forgotten)
    assert current(store) == left


def test_a_fact_is_replaced_once(store: Store) -> None:
    chain(store)
    add(store, fact("d", NOON + timedelta(days=3)), superseded={"a": "d"})
    assert [each.superseded_by for each in store.facts_of("hana")] == ["b", "c", "", ""]


def test_nothing_is_replaced_by_a_fact_that_was_not_stored(store: Store) -> None:
    """Row 28: an id that was never given."""
    add(store, fact("a"))
    add(store, fact("b"), superseded={"a": "nothing", "unknown": "b"})
    assert sorted(current(store)) == ["a", "b"]
    store.add_facts([], NOON, more_sources={"unknown": ["page"], "a": ["page"]})
    assert store.facts_of("hana")[0].sources == ("page",)


def test_forgetting_a_fact_takes_along_what_was_said_unless_another_fact_needs_it(
    store: Store,
) -> None:
    for id_ in ("shared", "own"):
        store.pages.add(page(id_, id_=id_))
    add(store, fact("a", sources=("own", "shared")), fact("b", sources=("shared",)))
    store.forget(["a"])
    assert [each.id for each in store.pages.of("hana")] == ["shared"]
    store.forget(["b"])
    assert store.pages.of("hana") == []
    assert store.persons() == []


def test_what_was_forgotten_while_facts_were_drawn_from_it_stays_forgotten(store: Store) -> None:
    store.pages.add(page("話", id_="1"))
    store.forget_person("hana")
    drawn = [fact("あなたは猫を飼っている。", sources=("1",))]
    assert store.add_facts(drawn, NOON, drawn_from=["1"]) == []
    assert store.persons() == []


def test_a_vector_for_a_fact_that_is_gone_does_not_spoil_the_others(store: Store) -> None:
    add(store, fact("a"))
    vector = np.asarray([1, 0], np.float32)
    store.vectors.put({"gone": vector, "a": vector}, "model")
    assert list(store.vectors.of("hana", "model")) == ["a"]


def test_vectors_of_another_model_are_kept_apart(store: Store) -> None:
    add(store, fact("a"), fact("b"))
    store.vectors.put({"a": np.asarray([1, 0], np.float32)}, "old")
    store.vectors.put({"a": np.asarray([0, 0, 1], np.float32)}, "new")
    assert store.vectors.of("hana", "old")["a"].tolist() == [1, 0]
    assert store.vectors.of("hana", "new")["a"].tolist() == [0, 0, 1]
    assert store.vectors.missing_in("new") == ["hana"]
    store.vectors.put({"b": np.asarray([0, 1, 0], np.float32)}, "new")
    assert store.vectors.missing_in("new") == []


def test_every_change_of_a_persons_facts_is_noticed(store: Store) -> None:
    seen = [store.change_count("hana")]

    def noticed() -> bool:
        seen.append(store.change_count("hana"))
        return len(set(seen)) == len(seen)

    add(store, fact("a"))
    assert noticed()
    add(store, fact("b"), superseded={"a": "b"})
    assert noticed()
    store.forget(["b"])
    assert noticed()
    store.add_facts([], NOON, more_sources={"a": ["1"]})
    assert noticed(), "it was said again"
    store.add_facts([fact("x", person="taro")], NOON)
    store.pages.add(page("話"))
    assert not noticed(), "another person's facts are no change, and exchanges come in all the time"


def test_who_is_forgotten_and_comes_back_does_not_look_unchanged(store: Store) -> None:
    add(store, fact("a"))
    before = store.change_count("hana")
    store.forget_person("hana")
    add(store, fact("a"))
    assert store.change_count("hana") not in (before, 0)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with closing(Store(tmp_path_factory.mktemp("store") / "memory.db")) as opened:
        yield opened


@given(said=st.text(st.characters(), max_size=60))
def test_any_text_can_be_stored(shared: Store, said: str) -> None:
    """Row 57: lone surrogates, NUL, marks that turn the direction."""
    id_ = uuid.uuid4().hex
    shared.pages.add(page(said, id_=id_, person=id_))
    add(shared, fact(said, id_=id_, person=id_))
    clean = "".join(c for c in said if not "\ud800" <= c <= "\udfff" and c != "\0")
    assert shared.pages.of(id_)[0].said == clean
    assert shared.facts_of(id_)[0].text == clean


def test_words_with_quotes_in_them_are_words(store: Store) -> None:
    said = "'); DROP TABLE facts; --"
    add(store, fact(said, person=said, id_=said))
    assert [each.text for each in store.facts_of(said)] == [said]
    assert store.forget([said]) == 1


def error_at_opening(file: Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        Store(file)
    return caught.value


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with closing(Store(file)) as store:
        add(store, fact("a"))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    error = error_at_opening(file)
    assert error.code == "store-newer"
    assert "9999" in str(error)
    assert "Update Omoide" in str(error)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM facts").fetchone() == (1,)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no database at all" * 100, "store-encrypted"),  # for all that can be told of it
        (b"SQLite format 3\0" + b"\xff" * 5000, "store-damaged"),
    ],
)
def test_a_damaged_store_is_named_and_not_touched(
    tmp_path: Path, content: bytes, code: str
) -> None:
    file = tmp_path / "memory.db"
    file.write_bytes(content)
    error = error_at_opening(file)
    assert error.code == code
    assert str(file) in str(error)
    assert "restore" in str(error)
    assert file.read_bytes() == content


def test_damage_that_shows_later_is_named_too(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with closing(Store(file)) as store:
        for number in range(200):
            store.pages.add(page("話" * 300, id_=str(number)))
    torn = bytearray(file.read_bytes())
    torn[len(torn) // 2 :] = b"\xff" * (len(torn) - len(torn) // 2)
    file.write_bytes(torn)
    with closing(Store(file)) as store, pytest.raises(StoreError) as caught:
        store.pages.of("hana")
    assert caught.value.code == "store-damaged"


def test_on_a_full_disk_nothing_of_a_change_is_stored_and_later_all_of_it(store: Store) -> None:
    with full_disk(store):
        for _ in range(2):
            with pytest.raises(StoreError) as caught:
                add(store, fact("a", id_="small"), fact("x" * 50_000, id_="large"))
            assert caught.value.code == "store-full"
            assert "Free some space" in str(caught.value)
        assert store.facts_of("hana") == []
    add(store, fact("a", id_="small"), fact("x" * 50_000, id_="large"))
    assert len(store.facts_of("hana")) == 2


@pytest.mark.skipif(os.name == "nt", reason="the same fault looks different on Windows")
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be", encoding="utf-8")
    error = error_at_opening(tmp_path / "taken" / "memory.db")
    assert error.code == "store-unwritable"
    assert "taken" in str(error)
    (tmp_path / "memory.db").mkdir()
    assert error_at_opening(tmp_path / "memory.db").code == "store-unwritable"


def test_an_error_does_not_quote_what_was_said(store: Store) -> None:
    with full_disk(store), pytest.raises(StoreError) as caught:
        add(store, fact("himitsu" * 10_000))
    told = [str(caught.value), str(caught.value.__cause__)]
    assert not any("himitsu" in text for text in told)


def test_a_backup_is_whole_while_the_store_is_in_use(store: Store, tmp_path: Path) -> None:
    add(store, fact("a"))
    store.backup(tmp_path / "copy.db")
    add(store, fact("b"))
    with closing(Store(tmp_path / "copy.db")) as copy:
        assert current(copy) == ["a"]
    with pytest.raises(StoreError):
        store.backup(tmp_path / "no folder" / "copy.db")


def test_what_was_stored_is_there_for_another_process(store: Store) -> None:
    """Both go on: a command looks at the store of a running server."""
    add(store, fact("a"))
    with closing(Store(store._database.file)) as other:
        assert current(other) == ["a"]
        add(other, fact("b"))
    assert current(store) == ["a", "b"]


@pytest.mark.skipif(os.name == "nt", reason="rights are kept in another way")
def test_what_people_said_is_for_nobody_elses_eyes(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "memory.db"
    before = os.umask(0)
    try:
        with closing(Store(file)) as store:
            add(store, fact("a"))
            assert rights(file.parent) == {"memory.db", "memory.db-shm", "memory.db-wal"}
            file.parent.chmod(0o755)
            for each in file.parent.iterdir():  # as an earlier version left them
                each.chmod(0o644)
            with closing(Store(file)):
                assert rights(file.parent) == {"memory.db", "memory.db-shm", "memory.db-wal"}
    finally:
        os.umask(before)


def rights(folder: Path) -> set[str]:
    """Check that nobody else may read a folder or what is in it; return what is."""
    for each in (folder, *folder.iterdir()):
        assert stat.S_IMODE(each.stat().st_mode) & 0o077 == 0, each.name
    return {each.name for each in folder.iterdir()}


def test_an_empty_file_in_the_place_of_a_store_is_named_and_not_filled(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    file.touch()
    error = error_at_opening(file)
    assert error.code == "store-empty"
    assert "restore" in str(error)
    assert "delete the file" in str(error)
    assert file.stat().st_size == 0
    file.unlink()
    with closing(Store(file)) as store:
        assert store.persons() == []


def test_a_store_that_could_not_be_made_leaves_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("server.memory.database._prepare", full)
        assert error_at_opening(tmp_path / "memory.db").code == "store-full"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("zone", ["Mars/Phobos", "", "../etc", "+99:99", "-", "."])
def test_a_row_that_is_not_understood_costs_a_person_nothing_else(store: Store, zone: str) -> None:
    """A kind of a newer version, a zone that another machine knew."""
    store.pages.add(page("話"))
    add(store, fact("a"), fact("b"))
    with closing(sqlite3.connect(store._database.file)) as connection:
        connection.execute(
            "UPDATE facts SET kind = 'mood', importance = 'vital', zone = ? WHERE id = 'a'", (zone,)
        )
        connection.execute("UPDATE pages SET zone = ?", (zone,))
        connection.commit()
    odd, usual = store.facts_of("hana")
    assert (odd.kind, odd.importance, odd.said_at) == (Kind.OTHER, Importance.ORDINARY, NOON)
    assert usual == fact("b")
    assert [each.at for each in store.pages.of("hana")] == [NOON]


@pytest.mark.parametrize(
    ("table", "column"), [("facts", "said_at"), ("pages", "at"), ("facts", "event_from")]
)
def test_a_value_that_no_program_wrote_is_named_and_not_quoted(
    store: Store, table: str, column: str
) -> None:
    store.pages.add(page("話"))
    add(store, fact("a"))
    with closing(sqlite3.connect(store._database.file)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = 'yesterday evening'")
        connection.commit()
    with pytest.raises(StoreError) as raised:
        store.facts_of("hana") if table == "facts" else store.pages.of("hana")
    assert raised.value.code == "store-damaged"
    assert "yesterday" not in "".join(traceback.format_exception(raised.value))
