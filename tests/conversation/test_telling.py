"""Somebody asks what the robot remembers: it says so from what is stored, and never what must not be said in passing."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from firmware_bridge.events import SpeechStopped, TextSaid
from server.memory.asked_of_memory import memory_question
from server.memory.extract import RulesExtractor
from tests.fakes import FakeDevice
from tests.memory.lived_in import Home, home
from tests.talks import shown, talking, until

ASKED = {
    "en": "What do you remember about me?",
    "ja": "私のこと何を覚えてる？",
    "zh": "你记得我什么？",
}


async def talk(lived: Home, language: str, *said: str, device: FakeDevice | None = None) -> str:
    """Say things one after another; return the last answer."""
    device = device or FakeDevice(person="hana")
    device.language = language
    before = 0
    async with talking(lived.house, device):
        for number, text in enumerate(said, start=1):
            before = len(shown(device))
            device.put(TextSaid(text))
            await until(lambda n=number: len(device.times(SpeechStopped)) == n)  # type: ignore[misc]
            lived.clock.pass_time(seconds=30)
    return joined(" ".join(shown(device)[before:]), language)


def joined(text: str, language: str) -> str:
    """Return a text without the spaces between sentences that Japanese and Chinese have none of."""
    return text if language == "en" else text.replace(" ", "")


@pytest.mark.parametrize("is_drawn", [True, False])
@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("en", ("I have a cat.", "My son Ken is ten."), ("you have a cat", "your son Ken is ten")),
        (
            "ja",
            ("猫を飼ってるよ。", "息子のケンは十歳だよ。"),
            ("猫を飼ってる", "息子のケンは十歳"),
        ),
        ("zh", ("我养了一只猫。", "我儿子叫小勇。"), ("你养了一只猫", "你儿子叫小勇")),
    ],
)
async def test_what_is_remembered_is_told_in_fixed_words(
    tmp_path: Path, language: str, said: Sequence[str], told: Sequence[str], is_drawn: bool
) -> None:
    async with home(tmp_path) as lived:
        lived.memory.consolidator.extractor = RulesExtractor()
        await talk(lived, language, *said)
        if is_drawn:
            await lived.memory.extract()
        asked = len(lived.model.prompts)
        answer = await talk(lived, language, ASKED[language])
        assert all(words in answer for words in told)
        assert joined(lived.house.phrasebook.text("told-forget", language), language) in answer
        assert len(lived.model.prompts) == asked, "no model is asked"


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
async def test_nothing_is_remembered_yet(tmp_path: Path, language: str) -> None:
    async with home(tmp_path) as lived:
        answer = await talk(lived, language, ASKED[language])
        assert answer == lived.house.phrasebook.text("told-nothing", language)


async def test_a_few_are_told_and_the_others_counted(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        lived.memory.consolidator.extractor = RulesExtractor()
        things = ("a cat", "a red bicycle", "a piano", "two gardens", "an old boat", "a big dog")
        await talk(lived, "en", "My name is Hanako.", *(f"I have {one}." for one in things))
        await lived.memory.extract()
        answer = await talk(lived, "en", ASKED["en"])
        assert "Hanako" in answer
        assert "There are 3 more things." in answer


@pytest.mark.parametrize(
    ("language", "said", "never"),
    [
        ("en", ("My sister Mary passed away.", "I have a cat.", "I don't want to talk about my divorce.", "My divorce was in May."), ("Mary", "passed", "divorce")),
        ("ja", ("妹の花は亡くなったんだ。", "猫を飼ってるよ。", "離婚の話はしないで。", "離婚したのは五月だよ。"), ("花", "亡くなった", "離婚")),
        ("zh", ("我妹妹小花去世了。", "我养了一只猫。", "别再提我离婚的事。", "我五月离婚了。"), ("小花", "去世", "离婚")),
    ],
)  # fmt: skip
async def test_neither_losses_nor_what_is_not_to_be_mentioned_are_read_out(
    tmp_path: Path, language: str, said: Sequence[str], never: Sequence[str]
) -> None:
    async with home(tmp_path) as lived:
        lived.memory.consolidator.extractor = RulesExtractor()
        await talk(lived, language, *said)
        await lived.memory.extract()
        answer = await talk(lived, language, ASKED[language])
        assert any(cat in answer for cat in ("cat", "猫"))
        assert not any(word in answer for word in never)


@pytest.mark.parametrize(
    ("language", "said", "asked", "told"),
    [
        ("en", ("My sister Mary lives in Kyoto.", "I have a cat."), "What do you know about my sister?", "your sister Mary lives in Kyoto"),
        ("ja", ("妹の花は京都に住んでるよ。", "猫を飼ってるよ。"), "妹のこと何を覚えてる？", "京都"),
        ("zh", ("我妹妹小花住在京都。", "我养了一只猫。"), "你知道我妹妹什么？", "你妹妹小花住在京都"),
    ],
)  # fmt: skip
async def test_what_is_known_of_somebody_is_told(
    tmp_path: Path, language: str, said: Sequence[str], asked: str, told: str
) -> None:
    async with home(tmp_path) as lived:
        lived.memory.consolidator.extractor = RulesExtractor()
        await talk(lived, language, *said)
        await lived.memory.extract()
        answer = await talk(lived, language, asked)
        assert told in answer
        assert "cat" not in answer
        assert "猫" not in answer


async def test_a_loss_that_is_asked_for_is_named_with_care(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        lived.memory.consolidator.extractor = RulesExtractor()
        await talk(lived, "en", "My sister Mary passed away.")
        await lived.memory.extract()
        answer = await talk(lived, "en", "What do you know about my sister?")
        assert answer == lived.house.phrasebook.text("told-loss", "en")


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
async def test_guests_and_those_who_are_not_remembered_are_told_so(
    tmp_path: Path, language: str
) -> None:
    async with home(tmp_path) as lived:
        off = {
            "en": "Stop remembering me.",
            "ja": "もう私のことは覚えないで。",
            "zh": "别再记我说的话了。",
        }
        await talk(lived, language, "I have a cat.", off[language])
        phrase = lived.house.phrasebook.text
        assert await talk(lived, language, ASKED[language]) == phrase("told-off", language)
        guest = FakeDevice(person="guest")
        guest.is_guest = True
        answer = await talk(lived, language, ASKED[language], device=guest)
        assert answer == phrase("told-guest", language)


@pytest.mark.parametrize(
    ("language", "said", "topic"),
    [
        ("en", "What do you know about me?", ""),
        ("en", "Tell me everything you remember about me.", ""),
        ("en", "So, what have you learned about me so far?", ""),
        ("en", "What have I told you about my garden?", "my garden"),
        ("en", "Do you remember anything about my son?", "my son"),
        ("ja", "わたしについて何か知ってる？", ""),
        ("ja", "ねえ、何を覚えてるの？", ""),
        ("ja", "私の庭について何を覚えていますか？", "私の庭"),
        ("zh", "你知道我些什么？", ""),
        ("zh", "关于我，你记得什么？", ""),
        ("zh", "关于我儿子，你知道什么？", "我儿子"),
    ],
)
def test_the_question_is_understood(language: str, said: str, topic: str) -> None:
    question = memory_question(said, language)
    assert question is not None
    assert question.topic == topic


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "What do you know about France?"),
        ("en", "Do you know about me being late?"),
        ("en", "What do you think of me?"),
        ("en", "I remember what you told me."),
        ("en", "Do you remember my birthday?"),
        ("ja", "フランスについて何を知ってる？"),
        ("ja", "何を食べたか覚えてない。"),
        ("ja", "私の誕生日、覚えてる？"),
        ("zh", "你知道法国什么？"),
        ("zh", "你知道我为什么生气吗？"),
        ("zh", "你记得我的生日吗？"),
    ],
)
def test_other_questions_are_for_the_model(language: str, said: str) -> None:
    assert memory_question(said, language) is None
