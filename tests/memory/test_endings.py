"""What a person has done with no longer stands; what another has done with, or they themselves only today, does."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.called_off import puts_elsewhen
from server.memory.ended import tells_end
from server.memory.extract import RulesExtractor
from server.memory.standing import standing_kind
from tests.memory.remembering import opened, page


@pytest.mark.parametrize(
    ("language", "told", "later", "holds"),
    [
        ("en", "I started a low-salt diet in August.", "The diet's over, I can have salt again.", False),
        ("en", "I'm on blood thinners.", "The doctor took me off the blood thinners today.", False),
        ("en", "I take ramipril in the morning.", "The doctor stopped the ramipril, it made me cough.", False),
        ("en", "I'm on antibiotics.", "I've finished the antibiotics.", False),
        ("en", "I use a walking frame because I fell in June.", "I don't need the walking frame any more.", False),
        ("en", "I use a walking frame because I fell in June.", "I don't need the walking frame today.", True),
        ("en", "I take warfarin.", "My mum stopped taking warfarin.", True),
        ("en", "I take insulin every evening.", "I stopped taking sugar in my tea.", True),
        ("en", "I have a bad knee.", "The knee operation is over.", True),
        ("ja", "八月から減塩してるんです。", "減塩はもう終わったんだ。", False),
        ("ja", "朝にワーファリンを飲んでます。", "ワーファリンはやめになりました。", False),
        ("ja", "杖をついて歩いてます。", "もう杖はいらなくなった。", False),
        ("ja", "お酒を控えています。", "お酒はもう控えなくていいって先生に言われた。", False),
        ("ja", "血圧の薬を飲んでいます。", "母が血圧の薬をやめました。", True),
        ("ja", "血圧の薬を飲んでいます。", "今日は血圧の薬を飲むのをやめた。", True),
        ("zh", "我八月开始低盐饮食。", "低盐饮食结束了，我可以吃咸的了。", False),
        ("zh", "我每天吃华法林。", "华法林医生给停了。", False),
        ("zh", "我现在用拐杖走路。", "我不用拐杖了。", False),
        ("zh", "我每天吃华法林。", "我妈不吃华法林了。", True),
        ("zh", "我每天吃降压药。", "今天没吃降压药。", True),
    ],
)  # fmt: skip
async def test_what_one_has_done_with_stands_no_longer(
    language: str, told: str, later: str, holds: bool, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        room.tell(told, language=language)
        await room.memory.extract()
        before = await room.memory.recall("hana", "Hello?", language)
        assert len(before.standing) == 1
        room.clock.pass_time(days=1)
        room.tell(later, language=language)
        await room.memory.extract()
        after = await room.memory.recall("hana", "Hello?", language)
    assert [before.standing[0].text in line.text for line in after.standing] == [True] * holds


@pytest.mark.parametrize(
    ("language", "plan", "later", "holds"),
    [
        ("en", "My son's wedding is on November 14.", "They've put the wedding off until spring.", False),
        ("en", "The barbecue is on Saturday.", "The barbecue has been postponed.", False),
        ("en", "My dentist appointment is on Friday.", "My dentist appointment was moved to Monday.", False),
        ("en", "I'm meeting Tom on Friday.", "Tom put me off cheese.", True),
        ("ja", "息子の結婚式は十一月十四日です。", "結婚式は春に延期になりました。", False),
        ("ja", "土曜にバーベキューをします。", "バーベキューは日曜に変更になった。", False),
        ("zh", "我儿子的婚礼是十一月十四号。", "婚礼推迟到春天了。", False),
        ("zh", "我下周二看牙医。", "牙医改到周四了。", False),
    ],
)  # fmt: skip
async def test_what_was_put_on_another_day_is_told_of_the_old_one_no_longer(
    language: str, plan: str, later: str, holds: bool, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        for said in (plan, later):
            room.tell(said, language=language)
            await room.memory.extract()
            room.clock.pass_time(hours=1)
        facts = await room.memory.archive.facts("hana")
    assert [fact.current for fact in facts if fact.quote in plan] == [holds]


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("減塩はもう終わったんだ。", "ja"),
        ("ワーファリンはやめになりました。", "ja"),
        ("华法林医生给停了。", "zh"),
    ],
)
async def test_that_something_is_over_is_nothing_to_keep_to(said: str, language: str) -> None:
    drawn = await RulesExtractor().extract([page(said, language=language)], 0)
    assert [standing_kind(fact) for fact in drawn.facts] == [None]


def test_who_moved_house_put_nothing_on_another_day() -> None:
    assert not puts_elsewhen("My sister moved to Leeds.", "en", is_dated=False)
    assert puts_elsewhen("They moved it to Monday.", "en", is_dated=True)


@given(st.text(max_size=60), st.sampled_from(["ja", "en", "zh", "de"]))
def test_any_text_can_be_looked_at(text: str, language: str) -> None:
    assert tells_end(text, language) in (True, False)
    assert puts_elsewhen(text, language, is_dated=True) in (True, False)
