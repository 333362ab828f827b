"""What must not be written down is not."""

import random
import re
from pathlib import Path

import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st

from server.config import SecrecySection
from server.memory.secrecy import is_card, is_my_number, redact
from tests.memory.lived_in import Said, Visit, home
from tests.memory.remembering import opened, turn
from tests.on_disk import bytes_of
from tests.virtual_time import VIRTUAL_TIME, Backend

OFF, ON = SecrecySection(), SecrecySection(phone=True, street=True)


@pytest.mark.parametrize(
    ("text", "language", "secret"),
    [
        (
            "my card number is four one one one one one one one one one one one one one one one",
            "en",
            "one one",
        ),
        ("the visa is 4111, 1111, 1111, 1111", "en", "1111"),
        ("my pin is one two three four", "en", "two three"),
        ("my pin's forty eight twenty one", "en", "twenty"),
        ("use swordfish as the password", "en", "swordfish"),
        ("swordfish is my password", "en", "swordfish"),
        ('the password for the wifi is "blue monkey"', "en", "monkey"),
        ("the passphrase is open sesame", "en", "sesame"),
        ("my api key is sk-abc123def456ghi789jkl", "en", "ghi789"),
        ("my login is bob and the pass is hunter22", "en", "hunter22"),
        ("card 4111/1111/1111/1111", "en", "1111"),
        ("my bank account number is 12345678", "en", "5678"),
        ("the IBAN is DE89 3704 0044 0532 0130 00", "en", "0532"),
        ("カード番号は４１１１ー１１１１ー１１１１ー１１１１", "ja", "１１１１"),
        ("口座番号は1234567です", "ja", "4567"),
        ("暗証番号はよんはちにいち", "ja", "ち"),
        ("银行账号6222021234567890123", "zh", "567890"),
        ("My pin? It's 1948.", "en", "1948"),
        ("I changed my password to redfox7", "en", "redfox7"),
        ("use the password bluebird for the tablet", "en", "bluebird"),
        ("the code for the safe is double eight one two", "en", "one two"),
        ("my social security number is 078 05 1120", "en", "1120"),
        ("カード番号は四一一一の一一一一の一一一一の一一一一", "ja", "一一"),
        ("暗証番号いちきゅうよんはちなんだ", "ja", "きゅう"),
        ("パスワードをさくら99に変えたよ", "ja", "さくら"),
        ("玄関の暗証は4477だよ", "ja", "4477"),
        ("マイナンバーは一二三四五六七八九〇一八です", "ja", "五六"),
        ("卡号是四一一一一一一一一一一一一一一一", "zh", "一一"),
        ("我的密码是幺九四八", "zh", "九四"),
        ("身份证号是11010519491231002X", "zh", "002X"),
    ],
)
def test_a_secret_is_taken_out_as_speech_recognition_writes_it(
    text: str, language: str, secret: str
) -> None:
    assert secret not in redact(text, language, OFF)


def test_a_bare_number_behind_a_question_for_it_is_taken_out() -> None:
    assert redact("It's 1948.", "en", OFF, "What is your PIN?") == "It's [password]."
    assert redact("It's 1948.", "en", OFF, "When were you born?") == "It's 1948."


@pytest.mark.parametrize(
    ("text", "language", "secret"),
    [
        ("My card is 4111 1111 1111 1111.", "en", "4111"),
        ("カード番号は４１１１－１１１１－１１１１－１１１１です", "ja", "１１１１"),
        ("My password is hunter2.", "en", "hunter2"),
        ("The PIN code of my phone is 4711", "en", "4711"),
        ("パスワードは「さくら2020」だよ", "ja", "さくら"),
        ("暗証番号は4711だよ", "ja", "4711"),
        ("我的密码是abc123", "zh", "abc123"),
        ("マイナンバーは123456789018です", "ja", "123456789018"),
    ],
)
def test_a_secret_is_taken_out(text: str, language: str, secret: str) -> None:
    assert secret not in redact(text, language, OFF)
    assert redact(text, language, OFF) != text


@pytest.mark.parametrize(
    ("text", "language", "secret"),
    [
        ("電話は090-1234-5678だよ", "ja", "1234"),
        ("Call me at 555-123-4567", "en", "123"),
        ("I live at 12 Baker Street.", "en", "Baker"),
        ("渋谷区道玄坂1-2-3に住んでる", "ja", "道玄坂"),
        ("我住在南京路100号", "zh", "100"),
    ],
)
def test_a_phone_and_a_street_are_taken_out_where_that_is_wanted(
    text: str, language: str, secret: str
) -> None:
    assert redact(text, language, OFF) == text
    assert secret not in redact(text, language, ON)


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password.",
        "My password is too hard to remember.",
        "パスワードを忘れた",
        "パスワードは何?",
        "東京の新宿に住んでいます",
        "私は203号室です",
        "It costs 123456789012345 yen",
        "2026-11-30 12:00",
        "I was born on 1948-03-21 in Kyoto.",
        "我住在北京",
        "My room is 204 and I work at the post office.",
        "I changed my password in 2019.",
        "My password has twelve letters.",
        "The password is in my notebook.",
        "My phone number is five five five one two three four five six seven.",
        "ISBN 978-3-16-148410-0",
        "the bus was one one one",
        "パスワードは紙に書いた",
        "パスワードは長い",
        "一九四八年三月二十一日生まれです",
        "一億二千五百万人もいる",
        "密码太难记了",
        "我是一九四八年出生的",
    ],
)
def test_what_a_companion_has_to_know_stays(text: str) -> None:
    assert redact(text, "en", ON) == text


@given(st.integers(12, 18), st.integers(0, 10**18), st.sampled_from(["", " ", "-"]))
def test_every_card_number_goes_however_it_is_grouped(
    length: int, number: int, between: str
) -> None:
    body = f"{number:018}"[:length]
    digits = (
        next(body + str(last) for last in range(10) if is_card(body + str(last)))
        if (len(set(body)) > 1)
        else "4111111111111111"
    )
    grouped = between.join(re.findall(".{1,4}", digits))
    assert redact(f"It is {grouped}.", "en", OFF) == "It is [card number]."


def test_a_number_that_passes_no_check_stays() -> None:
    dice = random.Random(1)
    texts = [f"It is {dice.randrange(10**15, 10**16)}." for _ in range(200)]
    kept = [text for text in texts if redact(text, "en", OFF) == text]
    assert 150 < len(kept) < 200, "one in ten is a card number by chance"


def test_the_check_digit_of_a_my_number() -> None:
    assert is_my_number("123456789018")
    assert not is_my_number("123456789012")


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def test_a_secret_reaches_no_file(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        said = [
            Said("My password is hunter2, and I have a cat."),
            Said("My card is 4111 1111 1111 1111."),
        ]
        turns = await lived_in.visit(Visit("hana", "en", lived_in.clock.moment, said))
        pages = lived_in.memory._store.pages.of("hana")
    assert "[password]" in pages[0].said
    assert "cat" in pages[0].said
    assert all("4111" not in turn.reply for turn in turns)
    written = await to_thread.run_sync(bytes_of, tmp_path)
    assert b"hunter2" not in written
    assert b"4111 1111" not in written


def test_a_number_that_answers_a_question_of_the_robot_for_it_is_taken_out(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        first, second = turn("Help me.", language="en"), turn("It's 1948.", language="en")
        first.heard = "Of course. What is your PIN?"
        for each in (first, second):
            room.memory.consenting.judge(each)
        assert second.transcript is not None
        assert second.transcript.text == "It's [password]."


@pytest.mark.parametrize(
    ("before", "text", "secret"),
    [
        ("What is your password?", "swordfish", "swordfish"),
        ("I'll tell you my password now.", "It's swordfish.", "swordfish"),
        ("パスワードを教えて", "さくらだよ", "さくら"),
        ("パスワードは何ですか？", "さくらです", "さくら"),
        ("我告诉你密码", "芝麻开门", "芝麻"),
        ("Sure, what's the PIN for your bank card, if I may ask you?", "4821", "4821"),
        ("暗証番号を覚えてね", "よんはちにいちだよ", "ち"),
    ],
)
def test_a_secret_that_is_said_in_the_turn_behind_its_name_is_taken_out(
    before: str, text: str, secret: str
) -> None:
    assert secret not in redact(text, "en", OFF, before)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("What is your password?", "I forgot it."),
        ("What is your password?", "No."),
        ("What is your password?", "Why do you ask me that?"),
        ("パスワードは何ですか？", "忘れました"),
        ("密码是什么？", "不告诉你"),
        ("My password is too long.", "Tomorrow I see my son."),
        ("I lost my bank card in May.", "It was 2019 when I got it."),
    ],
)
def test_what_only_follows_talk_of_a_secret_stays(before: str, text: str) -> None:
    assert redact(text, "en", OFF, before) == text
