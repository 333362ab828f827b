"""Dialogue chains: which exchanges follow from each other, and what a chain is about."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.chains import LONGEST_SUMMARY, Linked, Running, follows, link_pages
from server.memory.harvest import Harvest
from server.memory.models import Page
from tests.memory.remembering import NOON, page
from tests.memory.tiers import chain

WINDOW = timedelta(minutes=10)
NO_MODEL = Harvest()


def talk(
    *said: str, language: str = "ja", start: datetime = NOON, first: int = 0, heard: str = "はい。"
) -> list[Page]:
    """Return exchanges a minute apart whose ids are numbers."""
    return [
        replace(
            page(
                text, start + timedelta(minutes=number), language=language, id_=str(first + number)
            ),
            heard=heard,
        )
        for number, text in enumerate(said)
    ]


def linked(
    pages: Sequence[Page], harvest: Harvest = NO_MODEL, running: Running | None = None
) -> Linked:
    return link_pages(pages, harvest, running, rarity=lambda key: 1.0, window=WINDOW)


def runs_on(pages: Sequence[Page]) -> Running:
    """Return a chain of these exchanges."""
    return Running(chain(pages[0].id, "前の話。"), pages)


def one_follows(heard: str, said: str, language: str, after: str = "") -> bool:
    opening = {"ja": "箱根に行ってきた。", "en": "I went to Hakone.", "zh": "我去了箱根。"}[
        language
    ]
    first, second = talk(opening, said, language=language, heard=heard)
    return follows([replace(first, said=after or first.said)], second, WINDOW)


# -- rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("箱根はいつも混んでいる。", "ja"),
        ("旅館の部屋が広かった。", "ja"),
        ("それで山に登った。", "ja"),
        ("その山は高かった。", "ja"),
        ("あの店は閉まっていた。", "ja"),
        ("どうして閉まってるの？", "ja"),
        ("うん、そうだね。", "ja"),
        ("Hakone was crowded.", "en"),
        ("The hotel was lovely.", "en"),
        ("It had a big garden.", "en"),
        ("And we climbed a mountain.", "en"),
        ("He drove the car.", "en"),
        ("Why was the shop closed?", "en"),
        ("Yes, it was.", "en"),
        ("箱根人很多。", "zh"),
        ("我们坐飞机去的，也是旅游。", "zh"),
        ("那个酒店很大。", "zh"),
        ("还有一个花园。", "zh"),
        ("她开车。", "zh"),
        ("是的。", "zh"),
    ],
)
def test_what_shares_a_subject_points_back_or_says_nothing_by_itself_follows(
    said: str, language: str
) -> None:
    trip = {
        "ja": "旅行で箱根に行ってきた。",
        "zh": "我去箱根旅游了。",
        "en": "I made a trip to Hakone.",
    }

    assert one_follows("はい。", said, language, after=trip[language])


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("猫の餌を買った。", "ja"),
        ("そういえば、歯医者の予約をした。", "ja"),
        ("この週末は将棋の大会だ。", "ja"),
        ("The cat caught a mouse.", "en"),
        ("This weekend my chess club meets.", "en"),
        ("我的猫抓了老鼠。", "zh"),
        ("这周末下象棋。", "zh"),
    ],
)
def test_another_subject_begins_a_chain(said: str, language: str) -> None:
    assert not one_follows("はい。", said, language)


@pytest.mark.parametrize(
    ("heard", "said", "language"),
    [
        ("いいですね。ご家族は何人ですか？", "娘が二人。上の子は医者になった。", "ja"),
        ("お好きな食べ物は何ですか。", "鯖の味噌煮。", "ja"),
        ("Lovely. Do you have pets?", "A parrot. My neighbour feeds the bird on Mondays.", "en"),
        ("真好。您养什么宠物？", "鹦鹉。", "zh"),
    ],
)
def test_a_short_answer_follows_the_question(heard: str, said: str, language: str) -> None:
    assert one_follows(heard, said, language)
    assert not one_follows("はい。", said, language)


def test_a_question_back_that_shares_nothing_is_no_answer() -> None:
    assert not one_follows("ご家族は何人ですか？", "将棋は？", "ja")


def test_what_the_robot_said_is_shared_too() -> None:
    assert one_follows("温泉で有名な所ですね。", "温泉の匂いがした。", "ja", after="出かけてきた。")


def test_a_nod_in_between_does_not_break_the_thread() -> None:
    chess, trip, nod, inn, again = talk(
        "将棋で勝った。", "箱根に行った。", "うん。", "箱根は混んでいた。", "将棋で負けた。"
    )

    assert follows([chess, trip, nod], inn, WINDOW)
    assert not follows([chess, trip, nod], again, WINDOW)


@pytest.mark.parametrize(("pause", "expected"), [(10.0, True), (10.1, False)])
def test_after_the_window_another_chain_begins(pause: float, expected: bool) -> None:
    before = page("箱根に行った。")
    later = page("箱根は混んでいた。", NOON + timedelta(minutes=pause))

    assert follows([before], later, WINDOW) is expected


def test_a_talk_goes_on_while_the_clocks_are_put_back() -> None:
    first = datetime.fromisoformat("2026-10-25T02:58:00+02:00")
    second = datetime.fromisoformat("2026-10-25T02:01:00+01:00")

    assert follows([page("箱根に行った。", first)], page("箱根は混んでいた。", second), WINDOW)


# -- chains ------------------------------------------------------------------------------------------------------------


def test_a_chain_has_the_id_of_its_first_page() -> None:
    found = linked(talk("箱根に行った。", "箱根は混んでいた。", "猫の餌を買った。", "猫は太った。"))

    assert found.chain_of == {"0": "0", "1": "0", "2": "2", "3": "2"}
    assert [one.id for one in found.chains] == ["0", "2"]
    assert {one.person for one in found.chains} == {"hana"}


def test_a_chain_goes_on_over_a_batch_and_a_restart() -> None:
    pages = talk("箱根に行った。", "箱根は混んでいた。", "箱根の宿はよかった。")

    found = linked(pages[2:], running=runs_on(pages[:2]))

    assert found.chain_of == {"0": "0", "1": "0", "2": "0"}
    assert [one.id for one in found.chains] == ["0"]


def test_a_chain_keeps_its_id_when_its_first_page_was_forgotten() -> None:
    pages = talk("箱根は混んでいた。", "箱根の宿はよかった。", first=1)

    found = linked(pages[1:], running=Running(chain("0"), pages[:1]))

    assert found.chain_of == {"1": "0", "2": "0"}


def test_a_chain_that_does_not_go_on_is_left_as_it_was() -> None:
    before, now = talk("箱根に行った。", "猫の餌を買った。")

    found = linked([now], running=runs_on([before]))

    assert found.chain_of == {"1": "1"}
    assert [one.id for one in found.chains] == ["1"]


def test_a_batch_without_pages_has_no_chains() -> None:
    assert linked([], running=runs_on(talk("箱根に行った。"))) == linked([])
    assert not linked([], Harvest(chain_summary="箱根の話。")).chains


def test_a_model_is_believed() -> None:
    pages = talk("箱根に行った。", "箱根は混んでいた。", "猫の餌を買った。")

    found = linked(pages, Harvest(continued=frozenset({"2"}), chain_summary="宿と猫の話。"))

    assert found.chain_of == {"0": "0", "1": "1", "2": "1"}
    assert [one.summary for one in found.chains] == ["箱根に行った。", "宿と猫の話。"]


def test_a_model_that_says_nothing_of_chains_leaves_it_to_the_rules() -> None:
    pages = talk("箱根に行った。", "箱根は混んでいた。")

    assert linked(pages, Harvest()).chain_of == {"0": "0", "1": "0"}


def test_a_model_does_not_decide_about_what_it_has_not_seen() -> None:
    before, cat, food = talk("箱根に行った。", "猫の餌を買った。", "猫は太った。")

    told = Harvest(continued=frozenset({"1", "2"}), chain_summary="猫の話。")

    found = linked([cat, food], told, runs_on([before]))

    assert found.chain_of == {"1": "1", "2": "1"}
    assert [one.summary for one in found.chains] == ["猫の話。"]


# -- summaries ---------------------------------------------------------------------------------------------------------


def test_a_summary_tells_how_a_chain_began_and_what_came_last() -> None:
    pages = talk(
        "うん。", "それで箱根に行った。", "箱根は混んでいた。", "箱根の宿はよかった。", "そうだね。"
    )

    [one] = linked(pages).chains

    assert one.summary == "それで箱根に行った。 … 箱根の宿はよかった。"


def test_a_model_sums_up_a_chain_that_began_before_from_its_beginning() -> None:
    pages = talk("箱根に行った。", "箱根の宿はよかった。")

    [one] = linked(pages[1:], Harvest(chain_summary="宿の話。"), runs_on(pages[:1])).chains

    assert one.summary == "箱根に行った。 … 宿の話。"


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("箱根の温泉に行ったら" + "雨が降って" * 30, "ja"),
        ("In Hakone we saw " + "rain and snow " * 30, "en"),
        ("我们在箱根" + "看雪看雨" * 40, "zh"),
    ],
)
def test_a_summary_is_short(said: str, language: str) -> None:
    first, last = talk(said, said[2:], language=language)
    told = Harvest(chain_summary=said[2:])

    for found in (linked([first, last]), linked([last], told, runs_on([first]))):
        assert 80 < len(found.chains[0].summary) <= LONGEST_SUMMARY


@pytest.mark.parametrize(
    ("said", "language", "expected"),
    [
        (("猫を飼い始めた。", "猫は白い。"), "ja", "猫を飼い始めた。 … 猫は白い。"),
        (("I got a cat.", "My cat is white."), "en", "I got a cat. … My cat is white."),
        (("我养了一只猫咪。", "我的猫咪很白。"), "zh", "我养了一只猫咪。 … 我的猫咪很白。"),
    ],
)
def test_row_10_a_summary_is_in_the_language_of_its_pages(
    said: tuple[str, ...], language: str, expected: str
) -> None:
    """Row 10: a Chinese user gets English summaries."""
    [one] = linked(talk(*said, language=language)).chains

    assert one.summary == expected


# -- properties --------------------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    [
        "箱根に行った。",
        "箱根は混んでいた。",
        "うん。",
        "それで？",
        "猫の餌を買った。",
        "I got a cat.",
        "And you?",
        "我养猫。",
        "",
    ]
)


@st.composite
def batches(draw: st.DrawFn) -> list[Page]:
    at, pages = NOON, []
    for number, said in enumerate(draw(st.lists(LINES, max_size=9))):
        at += timedelta(minutes=draw(st.sampled_from([1, 9, 30])))
        language = draw(st.sampled_from(["ja", "en", "zh"]))
        pages.append(page(said, at, language=language, id_=str(number)))
    return pages


@given(batches(), st.frozensets(st.sampled_from("0123456789")), st.integers(0, 9))
def test_every_page_lies_in_one_chain_and_the_same_batch_gives_the_same(
    pages: list[Page], continued: frozenset[str], split: int
) -> None:
    before, batch = pages[:split], pages[split:]
    running = runs_on(before) if before else None

    found = linked(batch, Harvest(continued=continued), running)

    assert {one.id for one in batch} <= set(found.chain_of)
    assert set(found.chain_of.values()) == {one.id for one in found.chains}
    for one in found.chains:
        mine = [page_.id for page_ in pages if found.chain_of.get(page_.id) == one.id]
        assert mine[0] == one.id
        places = [int(id_) for id_ in mine]
        assert places == list(range(places[0], places[-1] + 1))
    assert linked(batch, Harvest(continued=continued), running) == found
