"""What is private with what was said before it: half a sentence, and answers that retell what was withheld."""

from pathlib import Path

import pytest

from server.errors import StoreError
from server.turn import Transcript, Turn
from tests.memory.lived_in import Home, home
from tests.memory.remembering import turn


def said(lived: Home, text: str, language: str, heard: str = "") -> Turn:
    one = turn(text, lived.clock.now(), "hana", language)
    one.transcript = one.asked = Transcript(text, language)
    one.reply = one.heard = heard
    lived.memory.consenting.judge(one)
    lived.memory.turn_finished(one)
    lived.clock.pass_time(seconds=20)
    return one


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("en", "I owe the bank", "Two thousand dollars."),
        ("en", "I am a practising", "Catholic."),
        ("zh", "我欠银行", "二十万。"),
    ],
)
async def test_the_second_half_of_a_private_sentence_is_not_stored(
    tmp_path: Path, language: str, first: str, second: str
) -> None:
    async with home(tmp_path) as lived:
        assert said(lived, first, language).withheld == ()
        assert said(lived, second, language).withheld == (second,)
        await lived.memory.archive.persons()  # all is stored
        assert [page.said for page in await lived.memory.archive.pages("hana")] == [first]


async def test_behind_a_whole_sentence_or_another_talk_it_is_none(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        said(lived, "I saw a painting.", "en")
        assert said(lived, "Catholic.", "en").withheld == ()
        said(lived, "I am a practising", "en")
        lived.clock.pass_time(minutes=300)
        assert said(lived, "Catholic.", "en").withheld == ()


@pytest.mark.parametrize(
    ("language", "private", "asking", "retells", "harmless"),
    [
        ("en", "I am a Buddhist.", "What did I just say?", "You said that you are a Buddhist.", "You have a cat."),
        ("ja", "私は仏教徒なの。", "さっき何て言った？", "仏教徒だと言っていましたよ。", "猫がいますよね。"),
        ("zh", "我是佛教徒。", "我刚才说什么了？", "你说你是佛教徒。", "你养了一只猫。"),
    ],
)  # fmt: skip
async def test_an_answer_that_retells_what_was_withheld_is_not_stored(
    tmp_path: Path, language: str, private: str, asking: str, retells: str, harmless: str
) -> None:
    async with home(tmp_path) as lived:
        assert said(lived, private, language).withheld == (private,)
        said(lived, asking, language, retells)
        said(lived, asking, language, harmless)
        await lived.memory.archive.persons()  # all is stored
        heard = [page.heard for page in await lived.memory.archive.pages("hana")]
        assert heard == ["", harmless]


async def test_nothing_is_promised_while_the_store_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home(tmp_path) as lived:
        one = turn("My name is Hana.", lived.clock.now(), "hana", "en")
        await lived.memory.consenting.heed(one)
        assert one.unkept == ""
        full = StoreError("store-full", "The disk is full.")
        monkeypatch.setattr(lived.memory.kept_in[1], "trouble", full)
        await lived.memory.consenting.heed(one)
        assert one.unkept == "store"
