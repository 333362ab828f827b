"""A sentence that a pause cut in two is one again when facts are drawn; whatever was whole stays apart."""

from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.models import Page
from server.memory.passages import is_unfinished, passages
from server.memory.store import Store
from tests.memory.remembering import NOON, answer, fact, modelled, opened, page, turn

LATER = NOON + timedelta(seconds=2)


def cut(said: str, language: str = "ja") -> Page:
    """Return what was said right before somebody went on."""
    return replace(page(said, NOON, language=language), heard="", interrupted=True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "明日は"),
        ("ja", "来週の土曜に"),
        ("ja", "妹と一緒に"),
        ("ja", "母が、"),
        ("en", "Tomorrow I'm"),
        ("en", "My cat is called Tama, and"),
        ("en", "On Monday,"),
        ("zh", "我明天和"),
        ("zh", "下周六，"),
        ("zh", "我妈妈从"),
    ],
)
def test_after_some_words_another_one_has_to_follow(language: str, text: str) -> None:
    assert is_unfinished(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "猫の名前はタマだよ"),
        ("ja", "教えて"),
        ("ja", "こんにちは"),
        ("ja", "今何時"),
        ("ja", "どこで"),
        ("ja", "箱根に行くんだけど"),
        ("ja", "ちょっと"),
        ("ja", ""),
        ("en", "my cat is called Tama"),
        ("en", "what time is it"),
        ("en", "My sister and I."),
        ("en", "I don't want to"),
        ("zh", "我的猫叫小白"),
        ("zh", "几点了"),
        ("zh", "我昨天买了新棉被"),
        ("zh", "我妈妈的性格很温和"),
        ("zh", "我的房间冬天很暖和"),
        ("zh", "我们公司要求绝对服从"),
        ("ko", "내일은"),
    ],
)
def test_in_doubt_a_text_is_whole(language: str, text: str) -> None:
    assert not is_unfinished(text, language)


def test_two_halves_become_one_page_at_the_time_of_the_first() -> None:
    [whole] = passages([cut("明日は"), page("病院に行きます", LATER)])
    assert (whole.said, whole.at, whole.heard) == ("明日は病院に行きます", NOON, "はい。")
    assert (whole.begun_in, whole.id) == (("page of 明日は",), "page of 病院に行きます")


def test_three_pieces_become_one_and_english_ones_get_a_blank() -> None:
    pieces = [cut("Tomorrow I'm", "en"), cut("going to the", "en")]
    [whole] = passages([*pieces, page("hospital.", LATER, language="en")])
    assert whole.said == "Tomorrow I'm going to the hospital."
    assert len(whole.begun_in) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"heard": "はい"},
        {"interrupted": False},
        {"language": "en"},
        {"device": "another"},
        {"at": NOON - timedelta(minutes=2)},
        {"said": "明日は病院だよ"},
    ],
)
def test_what_was_not_cut_off_in_mid_sentence_stays_apart(change: dict[str, object]) -> None:
    first = replace(cut("明日は"), **change)  # type: ignore[arg-type]
    second = page("病院に行きます", LATER)
    assert passages([first, second]) == [first, second]


@pytest.mark.parametrize(
    ("language", "begun", "after"),
    [
        ("ja", "新しい仕事は来月から", "今何時？"),
        ("ja", "旅行は妹と", "今何時"),
        ("ja", "プレゼントは妹に", "電気を消して"),
        ("ja", "私の出身は北海道の", "音楽をかけて"),
        ("en", "I live with my sister and I", "what time is it"),
        ("en", "My favourite letter is a", "can you hear me?"),
        ("en", "I bought a new bed,", "turn on the light"),
        ("zh", "我喜欢猫，", "播放音乐"),
        ("zh", "我明天去看妈妈，", "现在几点？"),
    ],
)
def test_what_tells_something_stays_apart_from_a_question_or_an_order(
    language: str, begun: str, after: str
) -> None:
    first, second = cut(begun, language), page(after, LATER, language=language)
    assert passages([first, second]) == [first, second]


@pytest.mark.parametrize(
    ("language", "begun", "after"),
    [
        ("ja", "私の娘が", "ピアノを習って"),
        ("ja", "旅行は妹と", "京都に行くんだ"),
        ("ja", "来週は妹と", "京都に行くかもしれない"),
        ("en", "Tomorrow I", "call my mother"),
        ("en", "We saw the", "show last night"),
        ("en", "My cat,", "is called Tama"),
        ("en", "My sister and I", "play tennis on Sundays"),
        ("zh", "我明天和", "妈妈去看电影"),
    ],
)
def test_what_ends_a_sentence_is_no_order_and_no_question(
    language: str, begun: str, after: str
) -> None:
    assert len(passages([cut(begun, language), page(after, LATER, language=language)])) == 1


_PAGES = st.lists(
    st.builds(
        lambda said, heard, is_cut, seconds: replace(
            page(said, NOON + timedelta(seconds=seconds)), heard=heard, interrupted=is_cut
        ),
        st.sampled_from(["明日は", "病院に行く", "母と", "教えて", "何が", "タマだよ"]),
        st.sampled_from(["", "はい"]),
        st.booleans(),
        st.integers(0, 60),
    ),
    max_size=8,
)


@given(pages=_PAGES)
def test_no_word_is_lost_or_doubled(pages: list[Page]) -> None:
    pages = [
        replace(each, id=str(number))
        for number, each in enumerate(sorted(pages, key=lambda each: each.at))
    ]
    whole = passages(pages)
    assert "".join(each.said for each in whole) == "".join(each.said for each in pages)
    ids = [id_ for each in whole for id_ in (*each.begun_in, each.id)]
    assert ids == [each.id for each in pages]


async def test_a_fact_from_two_halves_has_its_day_and_goes_with_both(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        first, second = turn("明日は", NOON), turn("歯医者に行くんだ", LATER)
        first.heard, first.interrupted = "", True
        room.memory.turn_finished(first)
        room.memory.turn_finished(second)
        [drawn] = await room.memory.extract()
        assert (drawn.quote, drawn.event_from) == ("明日は歯医者に行くんだ", date(2026, 9, 28))
        assert set(drawn.sources) == {first.id, second.id}
        assert await room.memory.extract() == []
        await room.memory.archive.forget([drawn.id])
        assert await room.memory.archive.pages("hana") == []


@pytest.mark.parametrize(
    ("language", "begun", "after"),
    [
        ("zh", "我昨天买了新棉被", "明天几点开会？"),
        ("zh", "我妈妈的性格很温和", "给我讲个笑话吧"),
        ("ja", "私の新しい仕事は来月から", "今何時？"),
    ],
)
async def test_a_whole_sentence_that_looks_begun_is_a_fact(
    tmp_path: Path, language: str, begun: str, after: str
) -> None:
    with opened(tmp_path) as room:
        first = turn(begun, NOON, language=language)
        first.heard, first.interrupted = "", True
        room.memory.turn_finished(first)
        room.memory.turn_finished(turn(after, LATER, language=language))
        [drawn] = await room.memory.extract()
        assert drawn.quote == begun


async def test_a_statement_before_an_order_or_a_question_is_a_fact(tmp_path: Path) -> None:
    for number, after in enumerate(("教えて", "明日の天気は何", "what time is it")):
        with opened(tmp_path / str(number)) as room:
            first = turn("猫の名前はタマだよ", NOON)
            first.heard, first.interrupted = "", True
            room.memory.turn_finished(first)
            language = "ja" if number < 2 else "en"
            room.memory.turn_finished(turn(after, LATER, language=language))
            [drawn] = await room.memory.extract()
            assert drawn.quote == "猫の名前はタマだよ"


async def test_a_model_reads_both_halves_as_one_and_may_quote_them(tmp_path: Path) -> None:
    said, text = "明日は歯医者に行くんだ", "あなたは明日、歯医者に行く。"
    extractor, llm = modelled([answer((1, said, text))])
    with opened(tmp_path, extractor) as room:
        first, second = turn("明日は", NOON), turn("歯医者に行くんだ", LATER)
        first.heard, first.interrupted = "", True
        room.memory.turn_finished(first)
        room.memory.turn_finished(second)
        [drawn] = await room.memory.extract()
    assert drawn.quote == said
    assert said in llm.background_prompts[0].messages[0].content


async def test_both_halves_lie_in_one_chain_and_segment_and_the_next_talk_goes_on(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        first, second = turn("猫のタマと", NOON), turn("京都に住んでいます", LATER)
        first.id, second.id = "a", "b"  # the order of their ids is that of their times
        first.heard, first.interrupted = "", True
        room.memory.turn_finished(first)
        room.memory.turn_finished(second)
        await room.memory.extract()
        store = room.memory._store
        halves = await room.memory.archive.pages("hana")
        assert {each.chain for each in halves} == {"a"}
        [segment] = store.tiers.segments_of("hana")
        assert {each.segment for each in halves} == {segment.id}
        assert segment.unread == 2
        [home] = store.portrait.profile_of("hana")
        assert home.sources == ("a", "b")
        third = turn("タマは元気だよ", LATER + timedelta(seconds=50))
        room.memory.turn_finished(third)
        await room.memory.extract()
        assert [each.chain for each in await room.memory.archive.pages("hana")] == ["a"] * 3


def test_an_end_is_drawn_again_if_its_beginning_was_forgotten_meanwhile(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        store.pages.add(replace(page("京都に住んでいます。", LATER), id="b"))
        drawn = fact("猫のタマと京都に住んでいる。", sources=("a", "b"))
        other = fact("猫を飼っている。", sources=("b",))
        assert store.add_facts([drawn, other], NOON, drawn_from=["a", "b"]) == [other]
        assert [each.id for each in store.queue.waiting()["hana"]] == ["b"]
