"""What has to stand in every prompt is found in all languages, and only where it is the person's own and holds today."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.models import Kind
from server.memory.standing import StandingKind, standing, standing_kind
from server.memory.wording import framed
from tests.memory.remembering import NOON, fact

SAID = {
    "allergy": {
        "ja": [
            "卵アレルギーなんだ。",
            "忘れないで、卵アレルギーだから。",  # row 33
            "私はえびとかにのアレルギーがある。",
            "キウイを食べると口の中がかゆくなる。",
            "母に似てそばアレルギーです。",
            "花粉症で春はつらい。",
        ],
        "en": [
            "I'm allergic to peanuts.",
            "Don't forget I'm allergic to peanuts.",
            "I have a nut allergy.",
            "Pecans make my throat close up.",
            "I can't eat eggs because of an allergy.",
            "My egg allergy is getting worse.",
            "I told my daughter about my allergy to eggs.",
            "I am lactose intolerant.",
        ],
        "zh": [
            "我对花生过敏。",
            "我不能吃花生，因为过敏。",
            "别忘了我对鸡蛋过敏。",
            "我有海鲜过敏。",
        ],
    },
    "medicine": {
        "ja": [
            "血圧の薬を毎朝飲んでいる。",
            "インスリンを打っています。",
            "寝る前に睡眠薬を飲む。",
        ],
        "en": ["I take warfarin.", "I take two pills every morning.", "I'm on blood thinners."],
        "zh": ["我每天吃降压药。", "我在打胰岛素。"],
    },
    "illness": {
        "ja": [
            "私は糖尿病です。",
            "母も私も高血圧です。",
            "耳が遠いの。",
            "心臓が悪くてね。",
            "妊娠しています。",
        ],
        "en": [
            "I have diabetes.",
            "My mother has asthma and I have diabetes.",
            "My diabetes is under control.",
            "I'm going deaf.",
            "I use a wheelchair.",
            "I was diagnosed with lupus.",
            "I have a bad knee.",
        ],
        "zh": ["我有糖尿病。", "医生说我有高血压。", "我得了帕金森病。"],
    },
    "bereavement": {
        "ja": [
            "母が去年亡くなったの。",
            "亡くなった夫は大工でした。",
            "先週、姉の文子が息を引き取りました。",
            "犬のポチが死んじゃった。",
            "妻の命日は五月三日です。",
            "小林さんが亡くなりました。",
        ],
        "en": [
            "My sister passed away on Monday.",
            "My sister died while we watched television.",
            "I lost my husband to cancer.",
            "My late father built this house.",
            "My brother-in-law Tom died in March.",
            "My dog Rex died.",
            "I told my neighbour that Carol died.",
            "I was at my mother's funeral.",
            "I'm a widow.",
        ],
        "zh": [
            "我妈妈去年去世了。",
            "我的狗死了。",
            "我已故的丈夫是木匠。",
            "今天是我父亲的忌日。",
        ],
    },
    "do-not-mention": {
        "ja": [
            "離婚の話はしたくない。",
            "息子のことには触れないで。",
            "事故のことは思い出したくないの。",
            "別れた夫の話はしたくない。",
            "健太のことは話したくない。",
        ],
        "en": [
            "I don't want to talk about my divorce.",
            "Please don't ask me about my son.",
            "Don't mention my brother.",
            "I'd rather not talk about the accident.",
            "My first marriage is off limits.",
        ],
        "zh": ["我不想提离婚的事，别问我。", "我不愿意谈我的儿子。"],
    },
    "diet": {
        "ja": [
            "私はベジタリアンです。",
            "塩分を控えています。",
            "豚肉は食べません。",
            "医者に酒を止められている。",
        ],
        "en": [
            "I'm a vegetarian.",
            "I never eat pork.",
            "I'm on a low-salt diet.",
            "I can't eat spicy food.",
            "I only get soft food.",
        ],
        "zh": ["我吃素。", "我不吃猪肉。", "医生让我低盐饮食。"],
    },
    "goal": {
        "ja": [
            "十時までに寝たいんだ。",
            "毎晩十時には寝ることにしています。",
            "禁煙しています。",
            "たばこをやめたい。",
            "ダイエット中なの。",
            "重い物を持たないように言われている。",
        ],
        "en": [
            "I want to be in bed by ten.",
            "I want to sleep by ten.",
            "I'm trying to stop smoking.",
            "I'm on a diet.",
            "I must not lift heavy things.",
            "The doctor told me not to lift anything.",
            "I quit drinking two years ago.",
        ],
        "zh": ["我想十点前睡觉。", "我在戒烟。", "我在减肥。", "我不能提重的东西。"],
    },
}
TOLD = {
    "allergy": {
        "ja": ["あなたは卵アレルギーがあり、ケーキを食べられない。"],
        "en": [
            "You are allergic to peanuts.",
            "Wasps have stung you twice, and a third sting could kill you.",
        ],
        "zh": ["你对花生过敏。"],
    },
    "medicine": {
        "ja": ["あなたは毎朝、血圧の薬を飲んでいる。"],
        "en": ["Dr Rennie has you taking your donepezil with breakfast."],
        "zh": ["你每天吃降压药。"],
    },
    "illness": {
        "ja": ["あなたは糖尿病だ。"],
        "en": ["You have type 1 diabetes.", "Rotator cuff torn in the right shoulder"],
        "zh": ["你有糖尿病。"],
    },
    "bereavement": {
        "ja": ["あなたの姉は先週亡くなった（2026年9月21日）。"],
        "en": ["Your sister Carol passed away on Monday (2026-09-21)."],
        "zh": ["你的妈妈去年去世了。"],
    },
    "do-not-mention": {
        "ja": ["あなたは離婚のことには触れられたくない。"],
        "en": ["You don't want to be asked about your son."],
        "zh": ["你不想谈离婚的事。"],
    },
    "diet": {
        "ja": ["あなたは牛肉を食べないことにしている。"],
        "en": ["You are vegetarian, but you do eat eggs."],
        "zh": ["你从来不吃肉。"],
    },
    "goal": {
        "ja": ["あなたは十時までに寝たいと思っている。"],
        "en": ["You mustn't lift more than ten kilos."],
        "zh": ["你打算戒烟。"],
    },
}
NOTHING = {
    "ja": [
        "母が糖尿病なんだ。",  # row 61
        "娘のさくらは卵アレルギーなの。",
        "クラスの子は卵アレルギーだ。",
        "うちの犬のむぎは鶏肉にアレルギーがある。",
        "アレルギーはありません。",
        "卵アレルギーじゃない。",
        "卵アレルギーはもう治りました。",
        "糖尿病についての本を読みました。",
        "私は薬剤師です。",
        "薬局で傘を買った。",
        "喘息は子供の頃に治った。",
        "友達のお母さんが亡くなった。",
        "父はまだ死んでいない。",
        "母が死ぬほど笑った。",
        "母のスマホが死んだ。",
        "ドラマで主人公の母が死んだ。",
        "歯医者で予約を取った。",
        "お菓子は好きなだけ食べる。",
        "禁煙席に座った。",
        "禁煙はしていない。",
        "今日は風邪で熱がある。",
        "朝ごはんを食べなかった。",
        "箱根の話をしたい。",
        "母は離婚の話はしたくないと言う。",
        "誰とも話したくない。",
    ],
    "en": [
        "My mother has diabetes.",  # row 61
        "I have no allergies.",
        "I'm not allergic to anything.",
        "I am not diabetic.",
        "I used to be allergic to eggs.",
        "I'm no longer on medication.",
        "My son is allergic to eggs.",
        "A boy in my class is allergic to eggs.",
        "The boy next door has asthma and I help him.",
        "I look after a woman with dementia.",
        "I read a book about diabetes.",
        "I raise money for cancer research.",
        "I want to study medicine.",
        "My friend's mother died.",
        "My mother almost died laughing.",
        "My phone died.",
        "My son passed his exam.",
        "I lost my mother's ring.",
        "The singer Dio died and I was sad.",
        "I saw my sister die in the play.",
        "I don't mind talking about the war.",
        "Don't forget to mention the party.",
        "I don't eat breakfast.",
        "I can't eat before the scan.",
        "I don't want to stop smoking.",
        "My wife is on a diet.",
        "I quit the coffee shop.",
        "I cracked my tablet screen.",
        "I have a cold.",
        "My mother doesn't want to talk about the war.",
    ],
    "zh": [
        "我妈妈有糖尿病。",
        "我没有过敏。",
        "我对花生不过敏。",
        "我以前对鸡蛋过敏。",
        "我朋友的妈妈去世了。",
        "我妈妈没有去世。",
        "我累死了。",
        "我妈妈气死了。",
        "我在药店工作。",
        "我读了关于糖尿病的书。",
        "我儿子在戒烟。",
        "我不想吃饭。",
    ],
}  # fmt: skip


def cases(table: dict[str, dict[str, list[str]]]) -> list[tuple[str, str, str]]:
    return [
        (text, language, kind)
        for kind, texts in table.items()
        for language, told in texts.items()
        for text in told
    ]


@pytest.mark.parametrize(("text", "language", "kind"), cases(SAID))
def test_what_a_person_said_is_found_in_its_quotation(text: str, language: str, kind: str) -> None:
    assert standing_kind(fact(framed(text, language), language=language)) == kind


@pytest.mark.parametrize(("text", "language", "kind"), cases(TOLD))
def test_what_a_model_wrote_of_the_person_is_found(text: str, language: str, kind: str) -> None:
    assert standing_kind(fact(text, language=language)) == kind


@pytest.mark.parametrize(
    ("text", "language"), [(text, language) for language, all_ in NOTHING.items() for text in all_]
)
def test_of_others_denied_over_or_meant_otherwise_is_nothing(text: str, language: str) -> None:
    assert standing_kind(fact(framed(text, language), language=language)) is None


def test_what_the_agent_told_of_itself_is_nothing() -> None:
    told = fact("Omoide is allergic to water.", language="en")
    assert standing_kind(replace(told, about="Omoide")) is None
    assert standing_kind(fact("You are allergic to water.", language="en")) is StandingKind.ALLERGY


GIVEN_UP = {
    "ja": [
        "もうベジタリアンはやめて、肉を食べています。",
        "ベジタリアンを卒業しました。",
        "ベジタリアンだったけど今は肉も食べる。",
        "塩分を控えるのはやめた。",
        "禁煙はやめました。",
        "十時までに寝るという目標はやめた。",
        "ダイエットはもうやめたの。",
        "インスリンはやめました。",
        "血圧の薬を飲むのをやめた。",
    ],
    "en": [
        "I stopped being vegan, I eat meat now.",
        "I gave up being a vegetarian.",
        "I'm no longer a vegetarian.",
        "I used to be vegan.",
        "I was a vegetarian, but I eat meat again.",
        "I quit my low-salt diet.",
        "I've given up trying to lose weight.",
        "I no longer want to be in bed by ten.",
        "I stopped taking warfarin.",
        "I have stopped my insulin.",
        "I came off the warfarin.",
    ],
    "zh": [
        "我不再吃素了。",
        "我放弃吃素了。",
        "我停了降压药。",
        "降压药我停了。",
        "我放弃减肥了。",
        "我不再是素食者。",
    ],
}
GOES_ON = {
    "ja": [
        ("ベジタリアンをやめたいけど難しい。", "diet"),
        ("ベジタリアンはやめていません。", "diet"),
        ("もう肉は食べない。", "diet"),
        ("インスリンはやめられない。", "medicine"),
        ("お酒をやめて、たばこもやめた。", "goal"),
        ("塩分を控えて、たばこもやめた。", "diet"),
        ("寝る前の薬を飲むのをやめたい。", "medicine"),
    ],
    "en": [
        ("I will never stop being vegan.", "diet"),
        ("I don't want to give up being vegetarian.", "diet"),
        ("I haven't stopped taking my warfarin.", "medicine"),
        ("I can't stop my insulin.", "medicine"),
        ("I want to stop being vegan.", "diet"),
        ("I don't eat meat any more.", "diet"),
        ("I gave up sugar.", "diet"),
        ("I stopped drinking and I'm vegan now.", "diet"),
        ("I quit smoking last year.", "goal"),
        ("I stopped taking aspirin and take warfarin.", "medicine"),
    ],
    "zh": [
        ("我戒烟了。", "goal"),
        ("我不再抽烟。", "goal"),
        ("我从来不吃猪肉。", "diet"),
        ("我停了工作，每天吃降压药。", "medicine"),
    ],
}


@pytest.mark.parametrize(
    ("text", "language"),
    [(text, language) for language, all_ in GIVEN_UP.items() for text in all_],
)
def test_what_was_given_up_stands_no_more(text: str, language: str) -> None:
    assert standing_kind(fact(framed(text, language), language=language)) is None


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [(text, language, kind) for language, all_ in GOES_ON.items() for text, kind in all_],
)
def test_what_is_kept_to_or_given_up_as_a_goal_stands(text: str, language: str, kind: str) -> None:
    assert standing_kind(fact(framed(text, language), language=language)) == kind


ILLNESSES = ["diabetes", "asthma", "dementia", "epilepsy", "gout", "high blood pressure", "cancer"]


@given(st.sampled_from(ILLNESSES), st.sampled_from(["mother", "son", "husband", "friend", "cat"]))
def test_whose_illness_it_is_decides(illness: str, other: str) -> None:
    def kind(text: str) -> StandingKind | None:
        return standing_kind(fact(text, language="en"))

    assert kind(f"You have {illness}.") is StandingKind.ILLNESS
    assert kind(f"Your {other} has {illness}.") is None
    assert kind(f"You don't have {illness}.") is None
    assert kind(f"Your {other} has {illness}, and you have {illness}.") is StandingKind.ILLNESS


@given(st.text(max_size=60), st.sampled_from(["ja", "en", "zh", "fr"]), st.sampled_from([*Kind]))
def test_any_text_can_be_looked_at(text: str, language: str, kind: Kind) -> None:
    told = fact(text, language=language, kind=kind)
    assert standing([told], 5, NOON) == ([told] if standing_kind(told) else [])
