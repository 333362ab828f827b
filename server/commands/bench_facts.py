"""What the person of the benchmark has told before: fifty statements, some of which the talk touches, and how they are stored."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product

import numpy as np

from server.memory import Page
from server.memory.extract import RulesExtractor
from server.memory.models import Fact

STATEMENTS: Mapping[str, tuple[str, ...]] = {
    "ja": (
        "好きな食べ物は豚骨ラーメンなんだ",
        "猫の名前はミケとトラだよ",
        "妹は大阪で看護師をしている",
        "来月の十日に東京へ引っ越すんだ",
        "ギターは兄から借りている",
        "コーヒーを飲むと眠れなくなる",
        "毎朝六時に起きて走っている",
        "卵のアレルギーがある",
        "母の誕生日は五月十二日だ",
        "小学校で理科の先生をしている",
        "子供のころは札幌に住んでいた",
        "週末はよく海で泳ぐ",
        "ピアノを十年習っていた",
        "好きな色は緑だ",
        "去年の夏に富士山に登った",
        "車は青い軽自動車に乗っている",
        "父は定年で釣りばかりしている",
        "ジャズをよく聞いている",
        "推理小説を集めている",
        "虫歯で歯医者に通っている",
        "高校ではバスケットをしていた",
        "庭でトマトを育てている",
        "姉の娘は三歳になった",
        "辛いものが苦手だ",
        "毎週水曜は英会話に行っている",
        "友達の健太と映画を見た",
        "電車で一時間かけて通勤している",
        "夜は十一時に寝ることにしている",
        "新しいカメラを買った",
        "写真は風景ばかり撮っている",
        "祖母は長野でりんごを作っている",
        "腰を痛めて病院に行った",
        "スペイン語を習い始めた",
        "結婚して八年になる",
        "息子はサッカーに夢中だ",
        "紅茶は砂糖なしで飲んでいる",
        "パンを自分で焼いている",
        "冬はスキーに行くのが楽しみだ",
        "花粉症で春は辛い",
        "図書館で毎週三冊借りている",
        "会社の同僚と将棋を指している",
        "古い時計を直すのが趣味だ",
        "カレーには必ず卵を入れない",
        "駅前の喫茶店によく行く",
        "自転車で琵琶湖を一周した",
        "犬より猫の方が好きだ",
        "大学では化学を学んだ",
        "手帳は紙のものを使っている",
        "隣の家の山田さんと仲がいい",
        "再来週は京都へ出張だ",
    ),
    "en": (
        "My favorite food is pork ramen.",
        "My cats are called Mike and Tora.",
        "My sister is a nurse in Boston.",
        "I am moving to Denver on the tenth of next month.",
        "I borrowed the guitar from my brother.",
        "I can't sleep when I drink coffee.",
        "I get up at six every morning and run.",
        "I am allergic to eggs.",
        "My mother's birthday is on May 12.",
        "I teach science at a primary school.",
        "As a child I lived in Seattle.",
        "I often swim in the sea on weekends.",
        "I took piano lessons for ten years.",
        "My favorite color is green.",
        "Last summer I climbed Mount Rainier.",
        "I drive a small blue car.",
        "My father is retired and goes fishing all day.",
        "I listen to a lot of jazz.",
        "I collect detective stories.",
        "I am seeing the dentist about a bad tooth.",
        "I played basketball in high school.",
        "I grow tomatoes in my garden.",
        "My niece has just turned three.",
        "I don't like spicy food.",
        "I go to a Spanish class every Wednesday.",
        "I saw a movie with my friend Ken.",
        "I ride the train for an hour to get to work.",
        "I go to bed at eleven.",
        "I bought a new camera.",
        "I only take pictures of landscapes.",
        "My grandmother grows apples in Vermont.",
        "I hurt my back and went to the hospital.",
        "I have started to learn Italian.",
        "I have been married for eight years.",
        "My son is crazy about soccer.",
        "I drink my tea without sugar.",
        "I bake my own bread.",
        "I look forward to skiing in winter.",
        "I have hay fever in spring.",
        "I borrow three books a week from the library.",
        "I play chess with a colleague of mine.",
        "I like to repair old clocks.",
        "I never put eggs into my curry.",
        "I often go to the café by the station.",
        "I rode my bicycle around Lake Tahoe.",
        "I like cats better than dogs.",
        "I studied chemistry at university.",
        "I use a paper diary.",
        "I get along well with Mary next door.",
        "I have a business trip to Chicago the week after next.",
    ),
}


MADE_UP: Mapping[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "ja": (
        "あなたは「{}に{}と{}で{}」と話した。",
        (
            tuple(f"{month}月{day}日" for month in range(1, 13) for day in range(1, 29)),
            ("妹", "健太", "母", "同僚", "先生", "隣の人"),
            ("京都", "公園", "会社", "海", "図書館", "駅前", "病院", "家"),
            ("カレーを食べた", "本を読んだ", "写真を撮った", "ギターを弾いた", "買い物をした"),
        ),
    ),
    "en": (
        'You said: "On {} I was with {} at the {} and {}."',
        (
            tuple(f"the {day}th of month {month}" for month in range(1, 13) for day in range(4, 20)),
            ("my sister", "Ken", "my mother", "a colleague", "a teacher", "our neighbour"),
            ("park", "office", "beach", "library", "station", "hospital", "café", "museum"),
            ("ate curry", "read a book", "took pictures", "played the guitar", "bought shoes"),
        ),
    ),
}  # fmt: skip
"""Forms and parts of made-up facts, by language."""


async def seed_facts(language: str, person: str, now: datetime) -> list[Fact]:
    """Return the facts that are drawn from the statements, one said each day, the last one yesterday.

    Args:
        language: One of `STATEMENTS`.
        person: Whose they are.
        now: The present moment, aware.
    """
    statements = STATEMENTS[language]
    pages = [
        Page(
            said,
            "",
            now - timedelta(days=len(statements) - number),
            language,
            id=f"seed-{number}",
            person=person,
        )
        for number, said in enumerate(statements)
    ]
    drawn = await RulesExtractor().extract(pages, 0)
    return [
        replace(fact, sources=()) for fact in drawn.facts
    ]  # the exchanges themselves are not stored


def made_up_texts(language: str) -> Iterator[str]:
    """Go through all made-up facts of a language of `MADE_UP`, so that neighbours have nothing in common but chance."""
    form, parts = MADE_UP[language]
    everything = list(product(*parts))
    order = np.random.default_rng(0).permutation(len(everything))
    return (form.format(*everything[place]) for place in order)
