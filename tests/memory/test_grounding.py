"""A sentence about a person rests on what the person said, and on nothing else."""

import pytest

from server.memory.claims import Refusal
from server.memory.grounding import refusal
from tests.memory.remembering import NOON

SAID = "昨日、妹の美咲と動物園に行ってきたんだ。パンダがかわいかったよ。"
QUOTE = "昨日、妹の美咲と動物園に行ってきたんだ"
SAID_EN = "Yesterday I went to the zoo with my sister Misaki. We saw 3 pandas."


@pytest.mark.parametrize(
    ("text", "quote", "said", "language"),
    [
        ("あなたは昨日、妹の美咲と動物園に行った。", QUOTE, SAID, "ja"),
        ("あなたは妹の美咲さんと動物園に行った。", "妹の美咲と動物園に行ってきた", SAID, "ja"),
        ("You went to the zoo with your sister Misaki yesterday.", "I went to the zoo with my sister Misaki", SAID_EN, "en"),
        ("You saw 3 pandas.", "We saw 3 pandas.", SAID_EN, "en"),
        ("You moved to Leeds.", "I moved to Leeds with my sister.", "I moved to Leeds with my sister.", "en"),
        ("あなたは動物園に行った。", QUOTE, SAID, "ja"),
        ("あなたの母は糖尿病だ。", "母が糖尿病なんだ", "母が糖尿病なんだ。", "ja"),
        ("Your mother has diabetes.", "My mother has diabetes", "My mother has diabetes.", "en"),
        ("你昨天和妹妹美咲去了动物园。", "我和妹妹美咲去了动物园", "昨天我和妹妹美咲去了动物园，熊猫很可爱。", "zh"),
    ],
)  # fmt: skip
def test_what_was_said_is_grounded(text: str, quote: str, said: str, language: str) -> None:
    assert refusal(text, quote, said, language, NOON) is None


def test_small_slips_in_copying_the_quote_are_forgiven() -> None:
    slipped = "昨日、妹の美咲と、動物園に行ってきたんだよ"
    assert refusal("あなたは妹の美咲と動物園に行った。", slipped, SAID, "ja", NOON) is None


@pytest.mark.parametrize(
    ("text", "quote", "said", "language"),
    [
        ("あなたは妹の美咲と動物園に行った。", "", SAID, "ja"),
        ("あなたは妹の美咲と動物園に行った。", "?!", SAID, "ja"),
        ("あなたは妹の美咲と動物園に行った。", "動物園にはよく行くと話していましたね", SAID, "ja"),
        ("あなたは妹の花子と動物園に行った。", QUOTE, SAID, "ja"),  # a name that was not spoken
        ("あなたは妹の美咲と動物園に3回行った。", QUOTE, SAID, "ja"),  # nor a number
        ("あなたはフランス料理の店で誕生日を祝ってもらった。", QUOTE, SAID, "ja"),
        ("Your name is John Doe.", "I went to the zoo with my sister Misaki", SAID_EN, "en"),  # row 21
        ("You saw 30 pandas.", "We saw 3 pandas.", SAID_EN, "en"),
        ("You went to the zoo with Kenji.", "I went to the zoo with my sister Misaki", SAID_EN, "en"),
        ("あなたは糖尿病だ。", "母が糖尿病なんだ", "母が糖尿病なんだ。", "ja"),  # row 61
        ("You have diabetes.", "My mother has diabetes", "My mother has diabetes.", "en"),
        ("你有糖尿病。", "我妈妈有糖尿病", "我妈妈有糖尿病。", "zh"),
        ("あなたは来週の土曜に京都へ行く。", "来週の土曜に箱根へ行くんだ", "来週の土曜に箱根へ行くんだ。", "ja"),
        ("あなたは明日箱根へ行く。", "箱根へ行くんだ", "箱根へ行くんだ。", "ja"),
        ("You bought a red sports car in Nagoya.", "We saw 3 pandas.", SAID_EN, "en"),
    ],
)  # fmt: skip
def test_what_was_not_said_is_not(text: str, quote: str, said: str, language: str) -> None:
    """Rows 21 and 24: invented persons and nicknames, confirmed by the assistant's own words."""
    assert refusal(text, quote, said, language, NOON) is not None


def test_what_another_turn_said_does_not_count() -> None:
    text, quote, other = "あなたは猫を飼っている。", "猫を飼ってる", "今日は疲れたよ。"
    assert refusal(text, quote, other, "ja", NOON) is Refusal.QUOTE
