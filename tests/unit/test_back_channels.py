"""What is a back-channel, and what only looks like one."""

import pytest

from server.back_channels import asks, is_back_channel


@pytest.mark.parametrize(
    "text",
    [
        *("うん", "うーん。", "うんうん", "はい", "はい、はい。", "ええ", "へえー", "なるほど。", "そうですね", "そうなんですか"),
        *("Uh-huh.", "uh huh", "Mm-hmm", "Right.", "Okay", "OK, right.", "Yeah, yeah.", "I see."),
        *("嗯", "嗯嗯。", "对对对", "好的", "原来如此"),
    ],
)  # fmt: skip
def test_these_say_that_somebody_listens(text: str) -> None:
    assert is_back_channel(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "。", "いいえ", "うんざり", "はい、止めて", "はいく", "そうめん", "ええと、待って", "うん、でもね", "違う"),
        *("No.", "Stop.", "Okay, stop.", "Right now", "Yes, but no", "Wait", "Oh no", "I see a cat"),
        *("不对", "好的，停", "我嗯", "对不起"),
    ],
)  # fmt: skip
def test_these_say_something(text: str) -> None:
    assert not is_back_channel(text)


def test_a_long_row_of_them_is_worth_a_look() -> None:
    assert not is_back_channel("はい" * 20)


@pytest.mark.parametrize(
    ("sentence", "language", "wants"),
    [
        ("コーヒーにしますか？", "ja", True),
        ("お元気ですか。", "ja", True),
        ("そうだったっけ。", "ja", True),
        ("静かな夜です。", "ja", False),
        ("Shall we go?", "en", True),
        ("“Shall we go?”", "en", True),
        ("We go.", "en", False),
        ("你喜欢吗", "zh", True),
        ("我喜欢。", "zh", False),
        ("Gehen wir?", "de", True),
    ],
)
def test_a_question_wants_an_answer(sentence: str, language: str, wants: bool) -> None:
    assert asks(sentence, language) == wants
