"""What must never fade is known by one sign; what is of no interest within weeks has to be small, sure and recent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.importance import importance_of
from server.memory.models import Importance, Kind
from server.memory.wording import framed

LASTING = {
    "name": {
        "ja": [
            "あなたの妹の名前は美咲だ。",
            "あなたは母の和子さんと住む。",
            "あなたは犬をポチと名づけた。",
        ],
        "en": ["Your name is Hana.", "Your brother Owen plays chess.", "Your son is called Tom."],
        "zh": ["你叫王芳。", "你的女儿叫小丽。"],
    },
    "birth and death": {
        "ja": ["あなたの母は去年亡くなった。", "先月、孫が生まれた。", "明日は父の命日だ。"],
        "en": ["Your sister passed away in March.", "You lost your husband.", "You are pregnant."],
        "zh": ["你的妈妈去年去世了。", "你的孙子上个月出生了。"],
    },
    "health": {
        "ja": [
            "あなたは卵アレルギーだ。",
            "あなたの母は糖尿病だ。",
            "膝の手術を受けた。",
            "血圧の薬を飲んでいる。",
        ],
        "en": ["You are allergic to peanuts.", "Your mother has diabetes.", "You take warfarin."],
        "zh": ["你对花生过敏。", "你妈妈有糖尿病。", "你每天吃降压药。"],
    },
    "firm": {
        "ja": ["あなたは絶対に肉を食べない。", "あなたは菜食だ。", "あなたはイスラム教徒だ。"],
        "en": ["You never eat meat.", "You can't stand coriander.", "You keep kosher."],
        "zh": ["你从来不吃肉。", "你吃素。"],
    },
    "home and work": {
        "ja": ["あなたは横浜に住んでいる。", "あなたは看護師として働いている。"],
        "en": ["You live in Leeds.", "You work as a nurse.", "You retired in 2010."],
        "zh": ["你住在上海。", "你在医院工作。"],
    },
    "days and relations": {
        "ja": ["あなたの誕生日は五月三日だ。", "あなたには妹が二人いる。", "来月は結婚記念日だ。"],
        "en": ["Your birthday is on May 3.", "You have two sisters.", "You got married in 1970."],
        "zh": ["你的生日是五月三日。", "你有一个弟弟。"],
    },
}
FLEETING = {
    "ja": [
        "あなたは昨日うどんを食べた。",
        "昨日の夕飯はカレーでした",
        "昨日（2026年11月29日）の夕飯はカレーでした",
        "お昼はそばにした。",
        "朝ごはんに納豆を食べました。",
        "テレビで相撲を見ました。",
        "さっきお風呂に入った。",
        "今日は疲れた。",
        "散歩してきたよ。",
        "ゴミを出してきた。",
        "今日は寒いね。",
        "阪神が5対3で勝った。",
        "スーパーに行ってきました。",
    ],
    "en": [
        "You watched a film on TV.",
        "You had soup for lunch.",
        "Yesterday's dinner was curry.",
        "Dinner last night was fish and chips.",
        "I watched the news last night.",
        "I took a bath.",
        "I'm tired today.",
        "It rained all day.",
        "I went for a walk this morning.",
        "I took the bins out.",
        "The Giants won 4-2 last night.",
    ],
    "zh": [
        "你昨天吃了面条。",
        "昨天的晚饭是咖喱。",
        "我昨天看了电视。",
        "我今天很累。",
        "我刚洗了澡。",
        "我倒了垃圾。",
        "今天外面很冷。",
    ],
}
ORDINARY = {
    "ja": [
        "あなたは来週箱根へ行く。",
        "あなたは我慢している。",
        "あなたは将棋が好きだ。",
        "お風呂で転んだ。",
        "今日は何も食べられなかった。",
        "毎朝散歩をしています。",
        "娘とカレーを食べた。",
        "昨日初めてお寿司を食べた。",
        "最近ずっと疲れている。",
        "散歩の途中で胸が痛くなった。",
        "明日は散歩に行きたい。",
        "戦争中は夕飯に芋ばかり食べた。",
        "テレビに息子が出た。",
        "子どもの頃の夕飯は芋でした。",
        "昨日の夕飯は娘のカレーでした。",
        "買い物に行って車を買った。",
        "あなたは昨日、新宿でラーメンを食べた。",
    ],
    "en": [
        "You lost your keys.",
        "You passed an exam.",
        "You play chess.",
        "I fell in the bath.",
        "I ate nothing today.",
        "Dinner last night was with Carol.",
        "I had chest pain after lunch today.",
        "I'm tired all the time lately.",
        "I had sushi for the first time yesterday.",
        "I watched the news with Carol.",
        "I watch television every evening.",
        "I want to go for a walk.",
        "I had lunch with my daughter today.",
        "I went to the bank because I lost my card.",
        "During the war we ate potatoes for dinner.",
        "You have to put the bins out on Thursday nights.",
    ],
    "zh": ["你累死了。", "你下周去箱根。", "我今天什么都没吃。", "我和女儿吃了午饭。", "我每天散步。", "我洗澡的时候摔倒了。"],
}  # fmt: skip


def listed(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(text, language) for language, told in texts.items() for text in told]


def all_lasting() -> list[tuple[str, str]]:
    return [pair for by_language in LASTING.values() for pair in listed(by_language)]


@pytest.mark.parametrize(("text", "language"), all_lasting())
def test_names_losses_health_homes_and_relations_last(text: str, language: str) -> None:
    assert importance_of(text, language, Kind.OTHER) is Importance.LASTING
    assert importance_of(text, language, Kind.PLAN) is Importance.LASTING


@pytest.mark.parametrize(("text", "language"), listed(FLEETING))
def test_small_things_of_the_last_days_fade_unless_they_are_a_habit_or_a_plan(
    text: str, language: str
) -> None:
    assert importance_of(text, language, Kind.OTHER) is Importance.FLEETING
    assert importance_of(text, language, Kind.EVENT) is Importance.FLEETING
    for kind in (Kind.HABIT, Kind.PLAN, Kind.PREFERENCE):
        assert importance_of(text, language, kind) is Importance.ORDINARY


@pytest.mark.parametrize(("text", "language"), listed(ORDINARY))
def test_a_sign_that_more_is_told_keeps_a_small_thing(text: str, language: str) -> None:
    assert importance_of(text, language, Kind.OTHER) is Importance.ORDINARY


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("My sister died while we watched television.", "en"),
        ("テレビを見ていたら姉が亡くなったと電話が来た。", "ja"),
        ("我妈妈去世的那天，我在看电视。", "zh"),
    ],
)
def test_the_more_important_sign_counts(text: str, language: str) -> None:
    assert importance_of(text, language, Kind.OTHER) is Importance.LASTING


@given(st.sampled_from(all_lasting()), st.data())
def test_a_small_thing_in_the_same_breath_makes_nothing_less_important(
    lasting: tuple[str, str], data: st.DataObject
) -> None:
    text, language = lasting
    small = data.draw(st.sampled_from(FLEETING[language]))
    for told in (f"{text} {small}", f"{small} {text}"):
        assert importance_of(told, language, Kind.EVENT) is Importance.LASTING


@given(st.sampled_from(listed(FLEETING) + listed(ORDINARY) + all_lasting()))
def test_a_quotation_is_as_important_as_its_words(told: tuple[str, str]) -> None:
    text, language = told
    if not text.lower().startswith(("you", "あなた", "你")):  # in a quotation, that is the robot
        quoted = importance_of(framed(text, language), language, Kind.OTHER)
        assert quoted is importance_of(text, language, Kind.OTHER)


@given(st.sampled_from(listed(FLEETING) + listed(ORDINARY)))
def test_what_a_model_calls_health_profile_or_relation_lasts(told: tuple[str, str]) -> None:
    for kind in (Kind.HEALTH, Kind.PROFILE, Kind.RELATION):
        assert importance_of(*told, kind) is Importance.LASTING


PASSING = {
    "ja": ["風邪薬を飲んだ。", "昨日、風邪をひいた。", "今日は頭が少し痛い。", "二日酔いなんだ。"],
    "en": ["I took some cold medicine.", "I have a bit of a headache.", "My head hurts."],
    "zh": ["我吃了感冒药。", "我感冒了。", "我今天头疼。"],
}
STAYING = {
    "ja": ["最近ずっと頭が痛い。", "片頭痛なんだ。", "血圧の薬を飲んだ。", "胸が痛い。"],
    "en": ["I get a headache every morning.", "I have migraines.", "I took my insulin."],
    "zh": ["我最近一直头疼。", "我有偏头痛。", "我吃了降压药。"],
}


@pytest.mark.parametrize(("text", "language"), listed(PASSING))
def test_what_is_over_within_days_does_not_last_though_it_is_of_the_body(
    text: str, language: str
) -> None:
    for kind in (Kind.HEALTH, Kind.OTHER):
        assert importance_of(text, language, kind) is not Importance.LASTING


@pytest.mark.parametrize(("text", "language"), listed(STAYING))
def test_what_comes_back_or_may_be_serious_does(text: str, language: str) -> None:
    assert importance_of(text, language, Kind.HEALTH) is Importance.LASTING


@given(st.text(max_size=60), st.sampled_from(["ja", "en", "zh", "fr"]), st.sampled_from([*Kind]))
def test_any_text_has_an_importance(text: str, language: str, kind: Kind) -> None:
    assert importance_of(text, language, kind) in Importance
