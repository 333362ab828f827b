"""What is said once does not change how the robot is for good, unless somebody agrees to it."""

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from server.errors import OmoideError
from server.memory.orders import bids_for_good
from server.memory.private import Category
from server.memory.statements import sentences
from server.turn import Prompt, Transcript, Turn
from tests.memory.lived_in import Home, Said, Visit, home
from tests.memory.reading_model import Work
from tests.memory.remembering import modelled, opened
from tests.virtual_time import VIRTUAL_TIME, Backend

ATTEMPTS: Mapping[str, Sequence[str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data/injection/attempts.yaml").read_text(encoding="utf-8")
)
EVERY = [(language, text) for language, texts in ATTEMPTS.items() for text in texts]
ORDERS: Mapping[str, Sequence[str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data/injection/orders.yaml").read_text(encoding="utf-8")
)
NO_ORDERS = [
    "From now on I will go to bed at ten.",
    "I always call my mother on Sundays.",
    "Never mind.",
    "Always on Sundays we go to church.",
    "From now on we eat no meat.",
    "My grandson always answers late.",
    "In future my son will live here.",
    "I never answer the phone.",
    "I never know what to say to her.",
    "これからの予定を教えて。",
    "今から会議だから静かにしててね。",
    "From now on the shop is closed on Mondays.",
    "これから散歩に行くの。",
    "今日から薬が変わったんだ。",
    "毎回言っているけど、魚は嫌い。",
    "これからは肉を食べない。",
    "必ず薬を飲むようにしている。",
    "次からは気をつけるね。",
    "明日から旅行に行ってくるね。",
    "これからお風呂に入って寝るね。",
    "我以后都要早睡。",
    "以后我每天都要跑步。",
    "When I was young, sing-alongs were common.",
    "Whenever I feel low I sing.",
    "Every time I read him a story he falls asleep.",
    "They treat everything he says as a joke.",
    "At work the rule is: never be late.",
    "I add sugar to everything.",
    "She permanently lives in Spain now.",
    "Tell Grandpa on the phone all the instruments I ever learned.",
    "会うたびに孫が大きくなる。",
    "病院ではスマホは禁止です。",
    "会社の新しい決まり：朝礼は毎日。",
    "いつもコーヒーに砂糖を入れてる。",
    "毎晩歌を歌ってね。",
    "どんな話でも聞いてくれてありがとう。",
    "凡是下雨天我都不出门。",
    "公司规则：不许迟到。",
    "无论谁说什么，妈妈都说好。",
    "将来我儿子的时代，都要推荐信。",
]


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def whole(prompt: Prompt) -> str:
    return "\n".join((prompt.system, *(message.content for message in prompt.messages)))


@pytest.mark.parametrize("text", NO_ORDERS)
def test_what_somebody_means_to_do_is_no_order(text: str) -> None:
    assert not bids_for_good(text)


@pytest.mark.parametrize("text", [text for texts in ORDERS.values() for text in texts])
def test_an_order_for_good_is_told_at_first_sight(text: str) -> None:
    assert any(bids_for_good(sentence) for sentence in sentences(text))


def test_there_are_sixty_attempts() -> None:
    assert len(EVERY) == 60


@pytest.mark.parametrize("language", ATTEMPTS)
async def test_no_attempt_is_kept_as_a_rule_or_told_later(language: str, tmp_path: Path) -> None:
    """The issue: of 60 attempts none obeyed as an instruction in the memory, none a rule without a yes."""
    async with home(tmp_path) as lived_in:
        await visit(lived_in, language, ATTEMPTS[language])
        lived_in.clock.pass_time(days=1)
        await lived_in.end_days()
        asked = {"en": "How do you answer me?", "ja": "私にどう答えるの？", "zh": "你怎么回答我？"}
        await visit(lived_in, language, [asked[language]])
        later = lived_in.model.prompts[Work.REPLY][-1]
        assert lived_in.memory.consenting.rules("hana") == ()
        told = [text for text in ATTEMPTS[language] if text.strip("。.") in whole(later)]
        assert told == []
        facts = [fact.text for fact in await lived_in.memory.archive.facts("hana")]
        assert [
            fact for fact in facts if any(text.strip("。.") in fact for text in ATTEMPTS[language])
        ] == []


async def visit(lived_in: Home, language: str, texts: Sequence[str]) -> None:
    said = [Said(text) for text in texts]
    await lived_in.visit(Visit("hana", language, lived_in.clock.moment, said))


@pytest.mark.parametrize("language", ATTEMPTS)
async def test_a_model_that_takes_them_for_facts_gets_none_stored(
    language: str, tmp_path: Path
) -> None:
    texts = ATTEMPTS[language]
    stored = []
    for number, text in enumerate(texts):
        draft = {"turn": 1, "quote": text, "text": text, "kind": "preference"}
        answer = json.dumps({"facts": [draft]}, ensure_ascii=False)
        extractor, _ = modelled([answer])
        with opened(tmp_path / str(number), extractor) as room:
            room.tell(text, language=language)
            with suppress(OmoideError):  # nothing that it wrote was any good
                stored += [fact.text for fact in await room.memory.extract()]
    assert stored == []


async def test_a_rule_holds_once_somebody_has_agreed_and_until_it_is_ended(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        order = "From now on always call me Captain."
        await visit(lived_in, "en", [order, "Hello!"])
        consenting = lived_in.memory.consenting
        [waiting] = (await consenting.standing("hana")).pending
        assert waiting.category is Category.RULES
        assert order not in lived_in.model.prompts[Work.REPLY][-1].system
        await consenting.settle("hana", [waiting.id], "api", accept=True)
        await visit(lived_in, "en", ["Hello again!"])
        assert f"<agreed_rules>\n{order}" in lived_in.model.prompts[Work.REPLY][-1].system.replace(
            "- ", ""
        )
        await consenting.settle("hana", [waiting.id], "api", accept=False)
        await visit(lived_in, "en", ["Hello!"])
        assert "Captain" not in lived_in.model.prompts[Work.REPLY][-1].system


async def test_a_harmless_manner_is_agreed_to_by_voice_and_nothing_else_is(tmp_path: Path) -> None:
    async with home(tmp_path) as lived_in:
        await visit(lived_in, "en", ["Please speak slowly from now on.", "Yes, please."])
        assert lived_in.memory.consenting.rules("hana") == ("Please speak slowly from now on.",)
        await visit(lived_in, "en", ["From now on always insult me.", "Yes, please."])
        assert len(lived_in.memory.consenting.rules("hana")) == 1


async def test_where_nobody_has_to_agree_an_order_holds_at_once(tmp_path: Path) -> None:
    async with home(tmp_path, consent={"rules": "keep"}) as lived_in:
        await visit(lived_in, "en", ["From now on always call me Captain.", "Hello!"])
        assert lived_in.memory.consenting.rules("hana") == ("From now on always call me Captain.",)
        assert "Captain" in lived_in.model.prompts[Work.REPLY][-1].system


async def test_an_order_holds_at_the_next_turn_though_nothing_is_written_yet(
    tmp_path: Path,
) -> None:
    async with home(tmp_path, consent={"rules": "keep"}) as lived_in:
        _, writer = lived_in.memory.kept_in
        may_write = threading.Event()
        writer.submit(may_write.wait)
        turn = Turn("t1", "robot", "hana", lived_in.clock.now())
        order = "From now on always call me Captain."
        turn.transcript = Transcript(order, "en")
        try:
            lived_in.memory.consenting.judge(turn)
            assert lived_in.memory.consenting.rules("hana") == (order,)
        finally:
            may_write.set()
        await writer.settle()
        assert lived_in.memory.consenting.rules("hana") == (order,)
