from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.splitter import SentenceSplitter, split


@pytest.mark.parametrize(
    "pieces",
    [
        # Japanese
        ["はい。", "そうです！", "ね？"],
        ["「え、本当？」と彼は言った。", "次。"],
        ["彼は「そうだ！行こう。」と叫んだ。", "すごい！？"],
        ["『本だ。』って何？", "さあ。"],
        ["「はい。」", "次は明日です。"],
        ["えっ…", "そうなの♪", "また明日。"],
        ["次の日、25.3度になった。", "暑い。"],
        ["円周率は3.14です。", "３．１４です。"],
        ["そうです（本当に。）はい。", "ね。"],
        ["はい。。。", "ええ……", "うん！！！", "え？！"],
        ["え？っていうか。", "うん。"],
        ["楽しいね！😊", "また👨‍👩‍👧遊ぼう。🎉🎉", "ね。"],
        ["ﾊﾝｶｸです｡", "はい｡"],
        ["iPhoneです。", "iPadです。"],
        ["はい。…", "ね。"],
        # Chinese
        ["今天天气很好。", "我们去公园吧！", "好吗？"],
        ["他说：“你好。”然后走了。", "好。"],
        # English
        ["It costs 3.5 dollars.", 'Dr. Sato (see p. 2) said "Ok."', "Then left."],
        ['He said "Really?" she asked.', "Yes."],
        ["I live in the U.S.", "The U.S. Army is here.", "Ok."],
        ["At 10 a.m. we eat.", "We left at 10 p.m.", "Then we slept."],
        ["We met at 10 a.m.", "Tom came with Bill etc.", "Ok."],
        ["The min. wage rose.", "we were glad.", "ok"],
        ["So.", "Wait…What, Yahoo!Japan?", "Yes."],
        ["J. R. R. Tolkien wrote it.", "So do I.", "Tom too."],
        ["Mr. Smith vs. Dr. Jones, i.e. nobody.", "Cats, dogs etc. are here.", "Ok."],
        ["No.", "I don't.", "No. 5 is alive.", "On Jan. 5 it rained."],
        ["Version 2.0.1 is out.", "Node.js too.", "See example.com now."],
        ["Well... maybe not.", "Wait!", "What?!", "Yes."],
        ["See https://a.b/c?d=1.2!x, ok.", "Bye."],
        ["**Bold.**", "_It._", "Done."],
        ["Hello! 😀", "Good (really)!", "Ok."],
        # lists
        ["1. Mix flour.", "2. Bake it."],
        ["Do this: 1. Mix.", "Then bake."],
    ],
)
def test_sentences_are_told_apart(pieces: list[str]) -> None:
    needs_blank = pieces[0].isascii() or "😀" in pieces[0]
    assert split((" " if needs_blank else "").join(pieces)) == pieces


def test_the_hardest_english_case() -> None:
    text = 'It costs 3.5 dollars. Dr. Sato (see p. 2) said "Ok." Then left.'
    assert split(text) == [
        "It costs 3.5 dollars.",
        'Dr. Sato (see p. 2) said "Ok."',
        "Then left.",
    ]


def test_a_line_is_a_piece() -> None:
    assert split("はい\n次\n\n- one\n- two") == ["はい", "次", "- one", "- two"]


@pytest.mark.parametrize("text", ["…", "？", "😀", "！？", "♪"])
def test_signs_alone_are_kept_by_the_splitter(text: str) -> None:
    assert split(text) == [text]


def test_signs_alone_are_glued_to_a_neighbour() -> None:
    assert split("はい。…！？") == ["はい。…！？"]
    assert split("…はい。") == ["…はい。"]
    assert split("Ok. … ! Then.") == ["Ok. … !", "Then."]


def test_an_unclosed_quote_does_not_hold_the_text() -> None:
    splitter = SentenceSplitter()
    pieces = splitter.push("「開いたまま。次の文。" + "あ" * 60)
    assert pieces == ["「開いたまま。", "次の文。"]


def test_an_unclosed_quote_ends_with_its_line() -> None:
    assert split('"Not closed. Really.\nIt "is".') == ['"Not closed.', "Really.", 'It "is".']


def test_a_long_quote_is_split_and_keeps_its_closer() -> None:
    long = "あ" * 30 + "。"
    assert split(f"「{long}{long}」次。") == [f"「{long}", f"{long}」", "次。"]


def test_a_sentence_is_released_by_the_character_behind_it() -> None:
    splitter = SentenceSplitter()
    assert splitter.push("はい。") == []
    assert splitter.push("そ") == ["はい。"]
    assert splitter.push("う。\n") == ["そう。"]
    assert splitter.push("It is 3.") == []
    assert splitter.push("5 m. ") == []
    assert splitter.push("S") == ["It is 3.5 m."]


def test_long_text_without_marks_is_cut_between_words() -> None:
    words = [f"word{number}" for number in range(60)]
    pieces = split(" ".join(words))
    assert " ".join(pieces) == " ".join(words)
    assert all(len(piece) <= 120 for piece in pieces)
    assert [word for piece in pieces for word in piece.split()] == words


def test_long_english_text_is_rather_cut_before_a_conjunction() -> None:
    text = "we walked through the old town for hours and hours " * 1 + "because " + "word " * 20
    assert split(text, max_chars=100)[0].endswith("hours")


def test_long_japanese_text_without_marks_is_cut_before_a_phrase() -> None:
    text = "私は昨日友達と公園に行って長い写真を撮ってから" * 18
    pieces = split(text)
    assert "".join(pieces) == text
    assert all(40 <= len(piece) <= 120 for piece in pieces[:-1])
    assert all(piece[0] in "私昨友公行長写撮" for piece in pieces)


def test_400_characters_without_any_place_to_cut_are_cut_all_the_same() -> None:
    assert [len(piece) for piece in split("あ" * 400)] == [120, 120, 120, 40]
    assert [len(piece) for piece in split("a" * 400)] == [120, 120, 120, 40]


def test_text_with_only_commas_is_cut_behind_one() -> None:
    pieces = split("これはとても長い話で、" * 40)
    assert "".join(pieces) == "これはとても長い話で、" * 40
    assert all(piece.endswith("、") and 40 <= len(piece) <= 120 for piece in pieces)


def test_a_number_is_never_cut() -> None:
    for offset in range(25):
        pieces = split("あ" * offset + "1,234,567.89円" * 20, max_chars=60)
        assert all(piece.startswith(("1,234,567.89円", "あ")) for piece in pieces)


def test_an_address_is_never_cut() -> None:
    address = "https://example.com/" + "a/b.c?d=1&e=2!" * 15 + "f"
    assert split(f"見て {address} ここ。") == ["見て", address, "ここ。"]


def test_the_first_piece_may_end_at_a_clause() -> None:
    text = "えっと、そうですね、今日はとても良い天気ですから、散歩に行きましょう。"
    splitter = SentenceSplitter(first_piece_chars=8)
    assert splitter.push(text) + splitter.flush() == [
        "えっと、そうですね、",
        "今日はとても良い天気ですから、散歩に行きましょう。",
    ]
    assert split(text) == [text]


def test_the_first_piece_does_not_end_inside_a_number_or_a_quote() -> None:
    splitter = SentenceSplitter(first_piece_chars=3)
    assert splitter.push("全部で1,234,567円「あ、い」です、はい") == [
        "全部で1,234,567円「あ、い」です、"
    ]


@pytest.mark.parametrize(
    ("held", "released", "kept"),
    [
        ("はい。", ["はい。"], ""),
        ("はい。今日はいい天気なので、散", ["はい。", "今日はいい天気なので、"], "散"),
        ("Well, I think that it is", ["Well, I think that it"], "is"),
        ("Well, I think that it is ", ["Well, I think that it is"], ""),
        ("こんにちは", ["こんにちは"], ""),
        ("嬉しい😊", ["嬉しい😊"], ""),
        ("unbe", [], "unbe"),
        ("It costs 3.", ["It costs"], "3."),
        ("He met Dr. ", ["He met Dr."], ""),
        ("…", [], "…"),
        ("", [], ""),
    ],
)
def test_a_pause_releases_whole_words(held: str, released: list[str], kept: str) -> None:
    splitter = SentenceSplitter()
    assert splitter.push(held) + splitter.flush_words() == released
    assert splitter.flush() == ([kept] if kept else [])


@pytest.mark.parametrize(
    ("held", "whole"),
    [
        ("はい。", True),
        ("「はい。」", True),
        ('He said "Ok."', True),
        ("Great! 😀", True),
        ("はい", False),
        ("はい、", False),
        ("Dr.", False),
        ("It costs 3.", False),
        ("1.", False),
    ],
)
def test_a_whole_sentence_is_known_without_its_successor(held: str, whole: bool) -> None:
    splitter = SentenceSplitter()
    assert splitter.push(held) == []
    assert splitter.flush_sentences() == ([held] if whole else [])


NASTY = st.lists(
    st.sampled_from(
        [
            *"。！？!?.…♪\"'「」『』（）()*_,、 \nあアー漢っ1５．$-é",
            *("Dr", "U.S", "a.m", "No", "25", "3.5", "The", "then", "Word", "I", "e.g"),
            *("https://", "www.", "a.b/c", "😀", "👨‍👩‍👧", "“", "”", "\u3000"),
            *("z" * 130, "あ" * 70, "https://" + "x" * 310, "word ", "漢字を"),
        ]
    ),
    max_size=40,
).map("".join)


def chunks(text: str, lengths: Iterable[int]) -> list[str]:
    pieces = []
    for length in lengths:
        pieces.append(text[:length])
        text = text[length:]
    return [*pieces, text]


@given(
    NASTY | st.text(), st.lists(st.integers(1, 9)), st.sampled_from([20, 120]), st.integers(0, 9)
)
def test_any_cutting_into_chunks_gives_the_same_pieces(
    text: str, lengths: list[int], max_chars: int, first_piece_chars: int
) -> None:
    streamed = SentenceSplitter(max_chars=max_chars, first_piece_chars=first_piece_chars)
    pieces = [piece for chunk in chunks(text, lengths) for piece in streamed.push(chunk)]
    whole = SentenceSplitter(max_chars=max_chars, first_piece_chars=first_piece_chars)
    assert pieces + streamed.flush() == whole.push(text) + whole.flush()


@given(NASTY | st.text())
def test_no_character_is_lost(text: str) -> None:
    assert "".join("".join(split(text)).split()) == "".join(text.split())


@given(NASTY)
def test_a_pause_anywhere_loses_nothing_either(text: str) -> None:
    splitter = SentenceSplitter()
    pieces = []
    for character in text:
        pieces += splitter.push(character) + splitter.flush_words()
    assert "".join("".join(pieces + splitter.flush()).split()) == "".join(text.split())
