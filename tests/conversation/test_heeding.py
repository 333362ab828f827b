"""Somebody asks the robot to forget something: it is done, it is said, and nothing of the asking is kept."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from firmware_bridge.events import SpeechStopped, TextSaid
from server.forgetting import Forgetting
from server.memory.extract import RulesExtractor
from server.recording import RecentTurns
from server.trace import Turns
from tests.fakes import FakeDevice
from tests.memory.lived_in import Home, home
from tests.memory.remembering import turn
from tests.on_disk import bytes_of
from tests.talks import shown, talking, until


async def talk(folder: Path, lived: Home, language: str, said: Sequence[str]) -> list[str]:
    """Say things one after another; return the sentences of the last answer."""
    recent = RecentTurns(20)
    turns = Turns(lived.clock, (lived.memory, lived, recent))
    forgetting = Forgetting(lived.memory.archive, folder, recent, turns)
    lived.heed_with(forgetting, turns)
    device = FakeDevice(person="hana")
    device.language = language
    async with talking(lived.house, device):
        for number, text in enumerate(said, start=1):
            before = len(shown(device))
            device.put(TextSaid(text))
            await until(lambda n=number: len(device.times(SpeechStopped)) == n)  # type: ignore[misc]
            lived.clock.pass_time(seconds=30)
    return shown(device)[before:]


@pytest.mark.parametrize(
    ("language", "said", "answer", "word"),
    [
        ("ja", ("猫を飼ってるよ。", "合言葉は蜜柑山荘だよ。", "それは忘れて。"), "忘れました", "蜜柑山荘"),
        ("en", ("I have a cat.", "My code word is kumquat.", "Forget what I just said."), "forgotten", "kumquat"),
        ("zh", ("我养了一只猫。", "我的暗号是青瓷小镇。", "忘掉我刚才说的话。"), "忘掉了", "青瓷小镇"),
    ],
)  # fmt: skip
async def test_what_was_said_last_is_forgotten(
    tmp_path: Path, language: str, said: Sequence[str], answer: str, word: str
) -> None:
    async with home(tmp_path) as lived:
        told = await talk(tmp_path, lived, language, said)
        assert answer in "".join(told)
        left = [page.said for page in await lived.memory.archive.pages("hana")]
        assert left == [said[0]], "neither what was said nor the asking"
        assert word.encode() not in bytes_of(tmp_path)
        assert [page.said for page in lived.memory.recent("hana", lived.clock.now())] == [said[0]]
        [entry] = await lived.memory.archive.audit()
        assert (entry.actor, entry.kind) == ("voice", "page")


@pytest.mark.parametrize(
    ("language", "said", "answer", "word"),
    [
        ("ja", ("息子のケンは十歳だよ。", "猫を飼ってるよ。", "息子のことは忘れて。"), "息子のことは忘れました", "ケン"),
        ("en", ("My son Kumquat is ten.", "I have a cat.", "Forget what I told you about my son."), "1 thing.", "Kumquat"),
        ("zh", ("我儿子叫望潮楼。", "我养了一只猫。", "忘掉我说的关于我儿子的事。"), "你的儿子", "望潮楼"),
    ],
)  # fmt: skip
async def test_what_was_told_of_somebody_is_forgotten_on_another_day_too(
    tmp_path: Path, language: str, said: Sequence[str], answer: str, word: str
) -> None:
    async with home(tmp_path) as lived:
        lived.memory.consolidator.extractor = RulesExtractor()
        await talk(tmp_path, lived, language, said[:2])
        await lived.memory.extract()
        lived.clock.moment += timedelta(days=3)
        told = await talk(tmp_path, lived, language, said[2:])
        assert answer in "".join(told)
        assert [page.said for page in await lived.memory.archive.pages("hana")] == [said[1]]
        assert word.encode() not in bytes_of(tmp_path)


async def test_of_one_breath_only_that_goes(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        said = ("I have a cat.", "My code word is kumquat. Forget that.")
        await talk(tmp_path, lived, "en", said)
        assert [page.said for page in await lived.memory.archive.pages("hana")] == [said[0]]


@pytest.mark.parametrize(
    ("language", "told", "asking"),
    [
        ("en", "My code word is kumquat.", "Oh no! Forget that."),
        ("ja", "合言葉は蜜柑山荘だよ。", "ごめん。それは忘れて。"),
        ("zh", "我的暗号是青瓷小镇。", "算了。忘掉我刚才说的话。"),
    ],
)
async def test_a_word_of_regret_before_it_tells_nothing(
    tmp_path: Path, language: str, told: str, asking: str
) -> None:
    async with home(tmp_path) as lived:
        await talk(tmp_path, lived, language, (told, asking))
        assert await lived.memory.archive.pages("hana") == []


async def test_what_could_not_be_answered_is_what_was_said_last(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        await talk(tmp_path, lived, "en", ["I have a cat."])
        failed = turn("My code word is kumquat.", lived.clock.now(), "hana", "en")
        failed.error = "llm-failed"
        lived.memory.turn_finished(failed)
        lived.clock.pass_time(seconds=30)
        await talk(tmp_path, lived, "en", ["Forget that."])
        left = [page.said for page in await lived.memory.archive.pages("hana")]
        assert left == ["I have a cat."]


async def test_it_is_said_when_there_is_nothing_of_it(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        told = await talk(tmp_path, lived, "en", ["Forget what I told you about my boat."])
        assert told == ["I did not remember anything about your boat."]
        assert await talk(tmp_path, lived, "ja", ["それは忘れて。"]) == [
            "さっき聞いたことは、もう残っていません。"
        ]
        assert await lived.memory.archive.audit() == []
        assert await lived.memory.archive.persons() == []


@pytest.mark.parametrize(
    ("language", "told", "asking"),
    [
        ("en", "My code word is kumquat.", "This is Carol, stop remembering me."),
        ("en", "My code word is kumquat.", "This is Carol. Stop remembering me."),
        ("ja", "猫を飼ってるよ。", "キャロルです、もう私のことは覚えないで。"),
        ("zh", "我的暗号是青瓷小镇。", "我是Carol，别再记我说的话了。"),
    ],
)
async def test_who_says_their_name_first_is_heeded_themselves(
    tmp_path: Path, language: str, told: str, asking: str
) -> None:
    persons = {"carol": {"names": ["キャロル"]}}
    async with home(tmp_path, persons=persons) as lived:
        device = FakeDevice(person="hana")
        device.language, device.household = language, ("hana", "carol")
        async with talking(lived.house, device):
            for number, text in enumerate((told, asking, told), start=1):
                device.put(TextSaid(text))
                await until(lambda n=number: len(device.times(SpeechStopped)) == n)  # type: ignore[misc]
                lived.clock.pass_time(seconds=30)
        consenting = lived.memory.consenting
        assert consenting.withholds("carol")
        assert not consenting.withholds("hana")
        assert [page.said for page in await lived.memory.archive.pages("hana")] == [told]
        assert await lived.memory.archive.pages("carol") == []


async def test_who_says_their_name_first_forgets_nothing_of_who_spoke_before(
    tmp_path: Path,
) -> None:
    async with home(tmp_path) as lived:
        device = FakeDevice(person="hana")
        device.language, device.household = "en", ("hana", "carol")
        async with talking(lived.house, device):
            for number, text in enumerate(
                ("I have a cat.", "This is Carol, forget that."), start=1
            ):
                device.put(TextSaid(text))
                await until(lambda n=number: len(device.times(SpeechStopped)) == n)  # type: ignore[misc]
        assert [page.said for page in await lived.memory.archive.pages("hana")] == ["I have a cat."]
        assert await lived.memory.archive.pages("carol") == []


@pytest.mark.parametrize(
    ("language", "said", "answer"),
    [
        ("ja", ("I owe the bank a lot of money.", "Yes."), "remember"),
        ("ja", ("I owe the bank a lot of money.", "No"), "won't"),
        ("zh", ("我欠了银行很多钱。", "好的。"), "记"),
    ],
)
async def test_a_short_answer_that_is_typed_is_answered_in_the_language_of_the_question(
    tmp_path: Path, language: str, said: Sequence[str], answer: str
) -> None:
    """Also on a robot of another language: "Yes." is too short to tell by itself what language it is in."""
    async with home(tmp_path) as lived:
        asked = await talk(tmp_path, lived, language, said[:1])
        told = "".join(await talk(tmp_path, lived, "ja", said[1:]))
        assert asked
        assert answer in told
        assert not any("\u3040" <= sign <= "\u30ff" for sign in told)
