"""What a statement is about, as far as its words make that plain."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from server.memory.facts import event_days
from server.memory.kinds import kind_of
from server.memory.models import Kind
from tests.memory.remembering import NOON, opened

PLAIN = {
    Kind.PREFERENCE: [
        "味噌ラーメンが大好きなんだ。",
        "パクチーは嫌いだよ。",
        "虫が苦手なんだ。",
        "最近ハイキングにはまってるんだ。",
        "I really love strong coffee.",
        "My favourite colour is green.",
        "I don't like mushrooms.",
        "I can't stand horror films.",
        "我喜欢喝绿茶。",
        "我讨厌下雨天。",
    ],
    Kind.HABIT: [
        "毎朝六時に走ってるよ。",
        "毎週火曜にヨガに通ってる。",
        "週に二回ジムに行ってる。",
        "I go swimming every Thursday.",
        "We usually eat dinner at seven.",
        "I see my aunt twice a month.",
        "我每天早上跑步。",
        "我经常去图书馆。",
    ],
    Kind.PLAN: [
        "来週の土曜に箱根へ行くんだ。",
        "来年は引っ越す予定だよ。",
        "フランス語を習おうと思ってる。",
        "いつか京都に行きたいな。",
        "ロボットの技術者になりたい。",
        "I am going to paint the kitchen.",
        "I have a dentist appointment next Friday.",
        "I'd love to visit Iceland one day.",
        "We plan to buy a boat.",
        "我下周三去上海。",
        "我打算学钢琴。",
    ],
    Kind.EVENT: [
        "昨日、動物園に行ってきた。",
        "先週の土曜に映画を見たよ。",
        "I saw a fox in the garden yesterday.",
        "昨天我去了动物园。",
    ],
    Kind.PROFILE: [
        "横浜に住んでるよ。",
        "市役所で働いてるんだ。",
        "私の名前は健太です。",
        "誕生日は五月三日だよ。",
        "I live in Leeds.",
        "I work at a library.",
        "I'm a retired teacher.",
        "My name is Joan.",
        "我住在杭州。",
        "我叫小明。",
    ],
    Kind.RELATION: [
        "妹は大阪に住んでるんだ。",
        "My sister lives in Leeds.",
        "My son is called Teo.",
        "我妹妹在北京。",
        "My mother is a nurse.",
        "My mother was a nurse.",
        "My brother Ken has read law.",
        "母は看護師だった。",
        "兄とは仲が悪い。",
        "姉は絵を習っています。",
    ],
    Kind.HEALTH: [
        "卵アレルギーなんだ。",
        "母は糖尿病なんだ。",
        "昨日から腰が痛いんだ。",
        "血圧の薬を夕食後に飲むことになった。",
        "I'm lactose intolerant.",
        "I'm allergic to peanuts.",
        "My knee hurts.",
        "I broke my wrist last month.",
        "I take two pills every morning.",
        "我对花生过敏。",
        "我感冒了。",
    ],
    Kind.OTHER: [
        "冷たい風が吹いてた。",
        "赤い自転車を持ってるよ。",
        "病院で本を忘れた。",
        "I own a red bicycle.",
        "兄とラーメンを食べた。",
        "母とテレビを見たよ。",
        "弟が遊びに来ました。",
        "弟と酒を飲んだんだ。",
        "I had ramen with my brother.",
        "I called my sister.",
        "My son came over.",
        "My little brother Ken and I watched a film.",
        "我和哥哥吃了拉面。",
        "I am sick of this printer.",
        "大家の中村さんに修理を頼んでるんだ。",
        "That looks like a fox.",
        "我有一辆红色的自行车。",
    ],
}


def language_of(sentence: str) -> str:
    if sentence.isascii():
        return "en"
    return "ja" if any("\u3040" <= letter <= "\u30ff" for letter in sentence) else "zh"


@pytest.mark.parametrize(
    ("sentence", "kind"), [(each, kind) for kind, ones in PLAIN.items() for each in ones]
)
def test_what_is_plain_is_sorted(sentence: str, kind: Kind) -> None:
    language = language_of(sentence)
    days = event_days(sentence, language, NOON)
    assert kind_of(sentence, language, NOON.date(), days) == kind


def test_a_plan_whose_day_has_passed_when_it_is_told_is_none() -> None:
    today = date(2026, 9, 27)
    before = today - timedelta(days=3)
    said = "I was going to paint the kitchen."
    assert kind_of(said, "en", today, (before, before)) is Kind.EVENT


async def test_the_rules_give_a_fact_its_kind(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("味噌ラーメンが大好きなんだ。", "横浜に住んでるよ。", "卵アレルギーなんだ。")
        drawn = await room.memory.extract()
    assert [each.kind for each in drawn] == [Kind.PREFERENCE, Kind.PROFILE, Kind.HEALTH]
