"""What people say about being remembered, and what is done then."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from server.config import Policy
from server.memory.consent import Wish, agrees, wish_of
from server.memory.consents import Remembering
from server.memory.private import Category, category_of
from server.memory.terms import read_as
from server.turn import Prompt, Turn
from tests.memory.lived_in import Home, Said, Visit, home
from tests.memory.reading_model import Work
from tests.memory.remembering import opened
from tests.virtual_time import VIRTUAL_TIME, Backend

WISHES = {
    Wish.STOP: [
        "Stop remembering me.",
        "Please don't remember anything I say any more.",
        "もう私のことは覚えないで",
        "これからは何も覚えないでください。",
        "私の話は記憶しないで。",
        "以后别再记我说的话了",
        "I don't want you keeping track of what I say any more",
        "could you please stop remembering what I say",
        "nothing I say should be remembered",
        "俺のことは二度と覚えるな",
        "わたしのこと記録しないでいただけますか",
        "今後一切わしの話は覚えんでくれ",
        "请你不要再记住关于我的任何事",
        "你以后什么都别记了",
    ],
    Wish.RESUME: [
        "You can remember me again.",
        "また覚えていいよ",
        "これからは私のことを覚えてね",
        "你可以重新记住我了",
    ],
    Wish.NOT_THIS: [
        "Don't remember this.",
        "Please don't save that.",
        "Forget that.",
        "これは覚えないで",
        "今の話は忘れて",
        "今の、聞かなかったことにして",
        "这个别记",
        "刚才的话不要记住",
        "you needn't remember this",
        "forget I said anything",
        "keep that out of your memory",
        "これ覚えんでいいからね",
        "今のなしで",
        "把刚才的话忘了吧",
    ],
    Wish.TALK: [
        "Let's talk off the record.",
        "Don't remember this conversation.",
        "ここだけの話なんだけど",
        "今日はオフレコで",
        "这次聊天不要记录",
        "let's have a conversation you won't remember",
        "これから話すことは記録しないでほしい",
        "进入隐私模式",
    ],
}
NO_WISHES = [
    "Don't forget my keys.",
    "Do you remember me?",
    "I don't remember what I ate.",
    "I can't remember her name.",
    "Remember to take your medicine.",
    "Don't forget that I hate fish.",
    "She doesn't remember me any more.",
    "Forget that movie, it was boring.",
    "I will never forget that day.",
    "覚えてる?",
    "昨日のことを覚えていない",
    "母は私のことを覚えていない",
    "忘れないでね",
    "鍵を忘れた",
    "我不记得了",
    "别忘了明天",
    "I told my son to stop recording the football game",
    "don't save me any cake",
    "don't keep me waiting",
    "you never remember me when I call",
    "they stopped recording my mother's heartbeat",
    "don't store the milk in the door",
    "forget that, let's have lunch",
    "please remember to water the plants again",
    "今は秘密基地を作ってるの",
    "もう覚えられないよ、年だから",
    "英語を覚えるのはやめた",
    "これは忘れて困ったわ",
    "以后记得提醒我吃药",
    "别忘了记账",
    "这个会议不用记录员",
]
PRIVATE = {
    Category.RELIGION: [
        "I'm a Catholic.",
        "キリスト教を信じているの。",
        "我信佛。",
        "I was raised Catholic but I lost my faith",
        "毎朝お経をあげています",
        "我是个虔诚的基督徒",
    ],
    Category.POLITICS: ["I voted for the Greens.", "選挙では共産党に入れたよ。", "我支持民主党"],
    Category.SEXUALITY: ["I'm gay.", "私はゲイなんです", "我是同性恋"],
    Category.MONEY: [
        "My pension is too small.",
        "借金が百万円ある",
        "我的工资是五千",
        "I owe my brother ten thousand dollars",
        "我一个月退休金三千块",
    ],
    Category.OTHERS: [
        "My neighbour has cancer.",
        "隣の佐藤さん、離婚したんだって",
        "同僚がうつ病になった",
        "我邻居出轨了",
        "my colleague drinks too much",
        "我同事被公司开除了",
    ],
}
NOT_PRIVATE = [
    "I am going to Hakone with a friend next Saturday.",
    "My mother has cancer.",
    "My sister got divorced.",
    "I have diabetes.",
    "I bought bread for three dollars.",
    "I went to see the old church in Rome.",
    "Are you a Christian?",
    "My doctor has a dog.",
    "my doctor said I have diabetes",
    "the man on TV was arrested",
    "I voted for pizza tonight",
    "my will is strong",
    "I'm straight out of the shower",
    "I lost everything I wrote",
    "I'm having my coffee, leave me be a minute.",
    "I had the fish and left the batter.",
    "I came out and sat on a wall.",
    "父が糖尿病なんだ",
    "バナナは200円だった",
    "友達と箱根に行く",
    "お寺に散歩に行った",
    "佐藤さんとお茶を飲んだ",
    "給料日はいつ?",
    "我和朋友去吃饭",
]


@pytest.mark.parametrize(
    ("wish", "text"), [(wish, text) for wish, texts in WISHES.items() for text in texts]
)
def test_a_wish_is_understood(wish: Wish, text: str) -> None:
    wished = wish_of(text)
    assert wished is not None
    assert wished.wish is wish


@pytest.mark.parametrize("text", NO_WISHES)
def test_nobody_is_forgotten_by_mistake(text: str) -> None:
    assert wish_of(text) is None


@pytest.mark.parametrize(
    ("category", "text"), [(one, text) for one, texts in PRIVATE.items() for text in texts]
)
def test_a_private_matter_is_noticed(category: Category, text: str) -> None:
    assert category_of(text, _language(text)) is category


@pytest.mark.parametrize("text", NOT_PRIVATE)
def test_what_a_companion_is_for_is_no_private_matter(text: str) -> None:
    assert category_of(text, _language(text)) is None


def _language(text: str) -> str:
    return "zh" if text[0] == "我" else read_as(text, "ja")


@pytest.mark.parametrize(
    ("text", "agreed"),
    [
        ("Yes, please.", True),
        ("No, rather not.", False),
        ("うん、いいよ", True),
        ("いや、やめて", False),
        ("好的", True),
        ("不用了", False),
        ("What did you say?", None),
        ("今日は暑いね", None),
    ],
)
def test_an_answer_is_understood(text: str, *, agreed: bool | None) -> None:
    assert agrees(text) is agreed


# In a talk ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def say(
    lived_in: Home, *texts: str, language: str = "en", person: str = "hana"
) -> list[Turn]:
    at = lived_in.clock.moment
    return await lived_in.visit(Visit(person, language, at, [Said(text) for text in texts]))


def stored(lived_in: Home, person: str = "hana") -> list[str]:
    return [page.said for page in lived_in.memory._store.pages.of(person)]


def whole(prompt: Prompt) -> str:
    return "\n".join((prompt.system, *(message.content for message in prompt.messages)))


def prompts(lived_in: Home) -> Sequence[Prompt]:
    return lived_in.model.prompts[Work.REPLY]


BEFORE = "I have a cat called Tama."


async def test_nothing_is_written_or_recalled_of_who_does_not_want_it(tmp_path: Path) -> None:
    """The issue: 0 writes over a talk of a hundred turns, and no memory in the prompt."""
    async with home(tmp_path) as lived_in:
        await say(lived_in, BEFORE)
        lived_in.clock.pass_time(days=1)
        await say(lived_in, "What is my cat called?")
        known = whole(prompts(lived_in)[-1])
        assert "Tama" in known
        [stop] = await say(lived_in, "Stop remembering me.")
        assert "remember nothing" in stop.heard
        before, facts = stored(lived_in), await lived_in.memory.archive.facts("hana")
        lived_in.clock.pass_time(days=1)
        asked = len(prompts(lived_in))
        for number in range(20):
            await say(lived_in, *(f"My {number}th secret is {number * 7 + n}." for n in range(4)))
            await say(lived_in, "What is my cat called?")
        await lived_in.end_days()
        assert stored(lived_in) == before
        assert await lived_in.memory.archive.facts("hana") == facts
        later = prompts(lived_in)[asked:]
        assert len(later) == 100
        assert not any("Tama" in whole(prompt) for prompt in later)
        assert all("<retrieved_memory>" not in whole(prompt) for prompt in later)
        assert len(later[0].system) < len(prompts(lived_in)[0].system)


async def test_who_wants_it_again_is_remembered_again_and_with_what_was_known(
    tmp_path: Path,
) -> None:
    async with home(tmp_path) as lived_in:
        await say(lived_in, BEFORE, "Stop remembering me.", "My secret is 4711.")
        await say(lived_in, "You can remember me again.", "I have a dog called Rex.")
        assert stored(lived_in) == [BEFORE, "I have a dog called Rex."]
        lived_in.clock.pass_time(days=1)
        await say(lived_in, "What is my cat called?")
        assert "Tama" in whole(prompts(lived_in)[-1])


async def test_what_is_not_to_be_remembered_outlives_a_restart_and_forgetting(
    tmp_path: Path,
) -> None:
    async with home(tmp_path) as lived_in:
        await say(lived_in, BEFORE, "Stop remembering me.")
        await lived_in.memory.archive.forget_person("hana")
        clock = lived_in.clock
    async with home(tmp_path, clock=clock) as lived_in:
        lived_in.memory.load()
        await say(lived_in, "My secret is 4711.")
        assert stored(lived_in) == []
        assert await lived_in.memory.archive.persons() == []


async def test_a_talk_off_the_record_ends_with_the_talk(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        await say(lived_in, "Let's talk off the record.", "I robbed a bank.", "With my uncle.")
        assert stored(lived_in) == []
        messages = prompts(lived_in)[-1].messages
        assert "I robbed a bank." in [message.content for message in messages], "it is in mind"
        lived_in.clock.pass_time(hours=1)
        await say(lived_in, BEFORE)
        assert stored(lived_in) == [BEFORE]


async def test_a_private_matter_waits_for_a_yes(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        told = "My pension is too small. I have a cat."
        [first, _, third] = await say(lived_in, told, "Yes, you may.", "I have a dog.")
        assert first.heard.endswith("May I remember such things?")
        assert "May I" not in third.heard
        assert sorted(stored(lived_in)) == [
            "I have a cat.",
            "I have a dog.",
            "My pension is too small.",
        ]
        [later] = await say(lived_in, "My savings are gone.")
        assert "May I" not in later.heard
        assert "My savings are gone." in stored(lived_in)


async def test_a_private_matter_goes_after_a_no_and_is_not_asked_for_again(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        await say(lived_in, "My pension is too small.", "No, don't.")
        [later] = await say(lived_in, "My savings are gone.")
        assert "May I" not in later.heard
        standing = await lived_in.memory.consenting.standing("hana")
        assert (stored(lived_in), list(standing.pending)) == ([], [])
        assert standing.policies[Category.MONEY] is Policy.DROP


async def test_a_private_matter_is_asked_for_once(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        turns = await say(lived_in, "My pension is too small.", "Nice day.", "My debts are high.")
        assert ["May I" in turn.heard for turn in turns] == [True, False, False]
        standing = await lived_in.memory.consenting.standing("hana")
        assert [one.text for one in standing.pending] == [
            "My pension is too small.",
            "My debts are high.",
        ]
        assert stored(lived_in) == ["Nice day."]


async def test_what_waited_for_facts_is_not_drawn_from_any_more(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("猫を飼い始めたんだ。")
        await room.memory.consenting.set("hana", Remembering.OFF, "api")
        assert await room.memory.extract() == []
        await room.memory.consenting.set("hana", Remembering.ON, "api")
        assert len(await room.memory.extract()) == 1


async def test_nobody_settles_what_waits_for_another(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        await say(lived_in, "My pension is too small.")
        consenting = lived_in.memory.consenting
        [waiting] = (await consenting.standing("hana")).pending
        assert await consenting.settle("taro", [waiting.id], "api", accept=True) == 0
        assert len((await consenting.standing("hana")).pending) == 1
