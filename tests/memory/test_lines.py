"""What is kept of one utterance: what it asks, offers and tells of, and the same from the bytes in the store."""

import struct
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.answer_types import AnswerType
from server.memory.lines import (
    Channel,
    Line,
    Mark,
    Role,
    lines_of,
    pack_line,
    read_line,
    tokens_of,
    unpack_line,
)
from server.memory.models import Page
from server.memory.terms import analyse
from server.query import normalize
from tests.memory.remembering import NOON

ASKS, ENDS, OWN = Mark.ASKS, Mark.ENDS_ASKING, Mark.OWN
LANGUAGES = st.sampled_from(["ja", "en", "zh", "fr"])
ANY_TEXT = st.text(st.characters(), max_size=40) | st.lists(
    st.sampled_from(
        ["\ud83d", "\x00", "😀", "？", "、", "明日", "花", "May 3", "3月", "oh ", "两", "\u200f"]
    ),
    max_size=10,
).map("".join)


def read(text: str, language: str) -> Line:
    return read_line(text, language, NOON)


def tokens(text: str, language: str, *names: str) -> tuple[set[int], set[int], set[int]]:
    plain = normalize(text)
    words, pairs, pieces = tokens_of(plain, analyse(plain, language), language, names)
    return set(words), set(pairs), set(pieces)


def same(one: Line, other: Line) -> bool:
    numbers = np.array_equal(one.tokens, other.tokens)
    parts = [(line.marks, line.holds, line.days, line.words) for line in (one, other)]
    return numbers and parts[0] == parts[1]


@pytest.mark.parametrize(
    ("text", "language", "marks"),
    [
        ("明日は何時に起きる？", "ja", ASKS | ENDS),
        ("「京都に行く？」", "ja", ASKS | ENDS),
        ("旅行はいつだっけ", "ja", ASKS | ENDS),  # a recogniser writes no mark
        ("昨日京都に行った", "ja", Mark(0)),
        ("私は猫が好き", "ja", OWN),
        ("When do you get up?", "en", ASKS | ENDS),
        ("Did you go? I did.", "en", ASKS | OWN),
        ("He said “really?”", "en", ASKS | ENDS),
        ("Really?!", "en", ASKS | ENDS),
        ("That is when it began.", "en", Mark(0)),
        ("We went to Leeds.", "en", OWN),
        ("你去哪里", "zh", ASKS | ENDS),
        ("他说“好吗？”", "zh", ASKS | ENDS),
        ("是真的吗？我不信。", "zh", ASKS | OWN),
        ("北京很大", "zh", Mark(0)),
        ("我去了北京", "zh", OWN),
    ],
)
def test_marks_say_what_kind_of_utterance_it_is(text: str, language: str, marks: Mark) -> None:
    assert read(text, language).marks == marks


@pytest.mark.parametrize(
    ("text", "language", "first", "last"),
    [
        ("昨日京都に行った", "ja", "2026-09-26", "2026-09-26"),
        ("9月30日から10月2日まで大阪にいる", "ja", "2026-09-30", "2026-10-02"),
        ("We went to Leeds yesterday", "en", "2026-09-26", "2026-09-26"),
        ("I am away from 30 September to 2 October", "en", "2026-09-30", "2026-10-02"),
        ("我昨天去了北京", "zh", "2026-09-26", "2026-09-26"),
        ("10月2日去上海", "zh", "2026-10-02", "2026-10-02"),
    ],
)
def test_days_are_those_that_the_utterance_speaks_of(
    text: str, language: str, first: str, last: str
) -> None:
    assert read(text, language).days == ((date.fromisoformat(first), date.fromisoformat(last)),)


@pytest.mark.parametrize(
    ("text", "language"),
    [("来年は旅行したい", "ja"), ("Next year we travel", "en"), ("明年去旅行", "zh")],
)
def test_a_whole_year_is_no_day_yet_answers_when(text: str, language: str) -> None:
    line = read(text, language)
    assert line.days == ()
    assert AnswerType.DAY in line.holds


def test_of_many_days_the_first_four_are_kept() -> None:
    line = read("9月1日と9月3日と9月5日と9月7日と9月9日に行った", "ja")
    assert [first.day for first, _ in line.days] == [1, 3, 5, 7]


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("チケットは5000円だった", "ja", AnswerType.MONEY),
        ("猫の名前はタマだよ", "ja", AnswerType.NAME),
        ("妹と京都に行った", "ja", AnswerType.PERSON),
        ("京都に行った", "ja", AnswerType.PLACE),
        ("The tickets were £30", "en", AnswerType.MONEY),
        ("My dog is called Rex", "en", AnswerType.NAME),
        ("I went with my sister", "en", AnswerType.PERSON),
        ("We live near Leeds", "en", AnswerType.PLACE),
        ("票三十元", "zh", AnswerType.MONEY),
        ("我和妹妹去了", "zh", AnswerType.PERSON),
        ("他住在上海", "zh", AnswerType.PLACE),
    ],
)
def test_holds_names_the_sorts_of_answer_on_offer(
    text: str, language: str, kind: AnswerType
) -> None:
    assert kind in read(text, language).holds
    assert (
        kind
        not in read({"ja": "うん、いいよ", "en": "Oh yes", "zh": "好啊"}[language], language).holds
    )


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("黒い猫を飼っていました", "黒い猫を飼う", "ja"),
        ("ＡＢＣストアで買った", "ABCストアで買う", "ja"),
        ("two dogs barked", "the dog is barking", "en"),
        ("我喜欢咖啡", "喜欢咖啡吗", "zh"),
    ],
)
def test_forms_of_a_word_are_one_token(one: str, other: str, language: str) -> None:
    shared = [a & b for a, b in zip(tokens(one, language), tokens(other, language), strict=True)]
    assert len(shared[Channel.WORD]) >= 2
    assert shared[Channel.PAIR]


@pytest.mark.parametrize(
    ("right", "wrong", "language"),
    [("Caroline", "Carolyne", "en"), ("美術館", "美術感", "ja"), ("图书馆", "图书管", "zh")],
)
def test_a_misspelt_word_leaves_pieces(right: str, wrong: str, language: str) -> None:
    pieces = [tokens(text, language)[Channel.PIECE] for text in (right, wrong)]
    assert pieces[0] & pieces[1]


def test_what_says_nothing_is_no_word() -> None:
    assert tokens("東京に行く", "ja") != tokens("東京", "ja")  # its signs are still there
    assert tokens("東京に行く", "ja")[Channel.WORD] == tokens("東京", "ja")[Channel.WORD]
    assert (
        tokens("the dog is in the house", "en")[Channel.WORD]
        == tokens("dog house", "en")[Channel.WORD]
    )


def test_the_three_kinds_never_share_a_token() -> None:
    words, pairs, pieces = tokens("the dog saw a cat at home", "en")
    assert all((words, pairs, pieces))
    assert not words & pairs | words & pieces | pairs & pieces


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("What did Anna's brother buy?", "en", "Anna"),
        ("what did anna buy", "en", "Anna"),
        ("智子さんは何を買った", "ja", "智子"),
        ("タマは何を食べた", "ja", "タマ"),
        ("秀兰喜欢什么颜色", "zh", "秀兰"),
    ],
)
def test_a_name_that_is_left_out_leaves_no_token(text: str, language: str, name: str) -> None:
    of_name = tokens(name, language)
    kept, left = tokens(text, language), tokens(text, language, name.casefold())
    assert any(a & b for a, b in zip(kept, of_name, strict=True))
    assert not any(a & b for a, b in zip(left, of_name, strict=True))
    assert any(left)


def test_a_name_of_one_sign_leaves_other_words_whole() -> None:
    assert tokens("花見の予定", "ja", "花") == tokens("花見の予定", "ja")


def test_lines_of_a_page_are_those_that_were_spoken() -> None:
    page = Page("昨日どこに行った？", "京都に行きました。", NOON, "ja")
    found = lines_of(page)
    assert same(found[Role.SAID], read(page.said, "ja"))
    assert same(found[Role.HEARD], read(page.heard, "ja"))


@pytest.mark.parametrize("blank", ["", "  ", "\n\u3000"])
def test_what_was_not_said_or_not_heard_is_no_line(blank: str) -> None:
    assert lines_of(Page("猫だよ", blank, NOON)).keys() == {Role.SAID}
    assert lines_of(Page(blank, "猫だね", NOON)).keys() == {Role.HEARD}
    assert lines_of(Page(blank, blank, NOON)) == {}


@pytest.mark.parametrize("text", ["😀😀", "、。…", "！！", "-- ()", "\ud83d", "\x00", ""])
def test_without_a_letter_there_is_nothing_to_find(text: str) -> None:
    for language in ("ja", "en", "zh"):
        line = read(text, language)
        assert (len(line.tokens), line.words, line.days) == (0, 0, ())


@pytest.mark.parametrize("unit", ["1", "一", "あ", "词", "word ", "明日、", "？ ", "😀", "oh "])
@pytest.mark.parametrize("language", ["ja", "en", "zh"])
def test_a_huge_text_takes_no_time_and_little_room(unit: str, language: str) -> None:
    """Row 16: a text of 50,000 characters."""
    line = read((unit * 50_000)[:50_000], language)
    assert len(pack_line(line)) < 10_000


@given(ANY_TEXT, LANGUAGES)
def test_whatever_is_said_can_be_kept(text: str, language: str) -> None:
    """Row 57: lone surrogates, NUL, emoji, marks of direction."""
    line = read(text, language)
    assert same(unpack_line(pack_line(line)), line)


days = st.dates()
made_lines = st.builds(
    Line,
    tokens=st.lists(st.integers(0, 2**32 - 1), max_size=30).map(
        lambda some: np.array(some, np.uint32)
    ),
    marks=st.integers(0, 7).map(Mark),
    holds=st.frozensets(st.sampled_from(AnswerType)),
    days=st.lists(st.tuples(days, days), max_size=4).map(tuple),
    words=st.integers(0, 2_000),
)


@given(made_lines)
def test_a_line_comes_back_from_its_bytes(line: Line) -> None:
    assert same(unpack_line(pack_line(line)), line)


def test_bytes_in_the_store_mean_the_same_for_ever() -> None:
    """If this fails, `VERSION` has to change."""
    first = NOON.date()
    data = struct.pack("<HHHHH", 5, 1 << 10 | 1, 7, 1, 2)
    data += struct.pack("<iiII", first.toordinal(), first.toordinal() + 1, 3, 2**32 - 1)
    line = Line(
        np.array([3, 2**32 - 1], np.uint32),
        ASKS | OWN,
        frozenset({AnswerType.MONEY, AnswerType.REASON}),
        ((first, first + timedelta(days=1)),),
        7,
    )
    assert pack_line(line) == data
    assert same(unpack_line(data), line)


@given(made_lines, st.data())
def test_other_bytes_are_refused_or_mean_what_they_say(line: Line, data: st.DataObject) -> None:
    packed = bytearray(pack_line(line))
    for _ in range(data.draw(st.integers(0, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(packed[: data.draw(st.integers(0, len(packed)))])
    for hostile in (bytes(packed), cut, bytes(packed) + b"\x00", data.draw(st.binary(max_size=40))):
        try:
            found = unpack_line(hostile)
        except ValueError:
            continue
        assert pack_line(found) == hostile


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 9,
        struct.pack("<HHHHH", 0, 0, 0, 0, 1),
        struct.pack("<HHHHH", 0, 0, 0, 0, 0) + b"\x00",
        struct.pack("<HHHHH", 8, 0, 0, 0, 0),
        struct.pack("<HHHHH", 0, 1 << 11, 0, 0, 0),
        struct.pack("<HHHHHii", 0, 0, 0, 1, 0, 0, 1),
        struct.pack("<HHHHHii", 0, 0, 0, 1, 0, 1, 2**31 - 1),
    ],
)
def test_what_is_no_line_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"no line|ordinal|year"):
        unpack_line(data)
