"""A small model is told of what stands where the talk touches it, and not before every question."""

from pathlib import Path

import pytest

from server.memory.touching import touches
from server.memory.wording import framed
from server.ports import LlmTraits
from server.prompting import PromptFiles, compose
from tests.fakes import PROMPTS
from tests.memory.remembering import fact, opened

SMALL = LlmTraits(compact=True, prompt_budget_tokens=600, local=True)

TOLD = {
    "allergy": {"ja": "ピーナッツアレルギーがあります。", "en": "I'm allergic to peanuts.", "zh": "我对花生过敏。"},
    "medicine": {"ja": "血圧の薬を毎朝飲んでいます。", "en": "I take warfarin every morning.", "zh": "我每天早上吃降压药。"},
    "illness": {"ja": "私は糖尿病です。", "en": "I have diabetes.", "zh": "我有糖尿病。"},
    "loss": {"ja": "妻の佳子は三年前に亡くなりました。", "en": "My husband Ken passed away last year.", "zh": "我妈妈三年前去世了。"},
    "secret": {"ja": "離婚の話はしたくないんだ。", "en": "I don't want to talk about my divorce.", "zh": "我不想提离婚的事。"},
    "diet": {"ja": "私はベジタリアンです。", "en": "I'm a vegetarian.", "zh": "我吃素。"},
    "bedtime": {"ja": "毎晩十時までに寝るのが目標なんだ。", "en": "I want to be in bed by ten every night.", "zh": "我想十点前睡觉。"},
    "smoking": {"ja": "禁煙しています。", "en": "I'm trying to stop smoking.", "zh": "我在戒烟。"},
}  # fmt: skip
TALK = {
    "ja": {
        "おやつにピーナッツクッキーはどう？": {"allergy", "illness", "diet"},
        "今日は何を食べようかな？": {"allergy", "illness", "diet"},
        "頭が痛いんだけど、薬を飲んでもいい？": {"allergy", "medicine", "illness"},
        "妻の話をしてもいい？": {"loss"},
        "佳子ならなんて言うかな。": {"loss"},
        "お墓参りに行こうかな。": {"loss"},
        "離婚ってどう思う？": {"secret"},
        "今夜はまだ起きていようかな。": {"bedtime"},
        "ちょっと一服してくる。": {"smoking"},
        "クモの足は何本？": set(),
        "明日の天気は？": set(),
        "面白い話をして。": set(),
    },
    "en": {
        "What snack shall I have?": {"allergy", "medicine", "illness", "diet"},
        "I feel like peanuts.": {"allergy"},
        "Can I take an aspirin?": {"medicine", "illness"},
        "Is grapefruit juice healthy?": {"allergy", "medicine", "illness", "diet"},
        "What would my husband say to that?": {"loss"},
        "I dreamt of Ken.": {"loss"},
        "What do you think of divorce?": {"secret"},
        "Shall I stay up a bit?": {"bedtime"},
        "Do you mind if I smoke?": {"smoking"},
        "How many legs does a spider have?": set(),
        "Will it rain tomorrow?": set(),
        "Tell me something funny.": set(),
    },
    "zh": {
        "有什么好吃的零食？": {"allergy", "illness", "diet"},
        "我想买花生。": {"allergy"},
        "头疼能吃什么药？": {"medicine"},
        "我想聊聊我妈妈。": {"loss"},
        "离婚好不好？": {"secret"},
        "今晚再玩一会儿吧。": {"bedtime"},
        "来一根烟吧。": {"smoking"},
        "蜘蛛有几条腿？": set(),
        "明天会下雨吗？": set(),
    },
}
LOOSELY = {
    "頭が痛いんだけど、薬を飲んでもいい？": {"diet"},
    "头疼能吃什么药？": {"allergy", "illness", "diet"},
    "Is grapefruit juice healthy?": {"allergy"},
}
"""What may be touched as well: 吃 and 飲む are what one does with pills, too."""


@pytest.mark.parametrize(
    ("language", "said"), [(language, said) for language, talk in TALK.items() for said in talk]
)
def test_talk_touches_what_it_may_go_against_or_is_about(language: str, said: str) -> None:
    touched = {
        name
        for name, told in TOLD.items()
        if touches(said, language, fact(framed(told[language], language), language=language))
    }
    wanted = TALK[language][said]
    assert wanted <= touched <= wanted | LOOSELY.get(said, set())


def test_what_need_not_stand_is_never_touched() -> None:
    assert not touches("Tell me about cats.", "en", fact("You have two cats.", language="en"))


@pytest.mark.parametrize(
    ("language", "said", "asked", "other"),
    [
        ("ja", "ピーナッツアレルギーがあります。", "おやつは何がいいかな？", "クモの足は何本？"),
        ("ja", "妻の佳子は三年前に亡くなりました。", "妻の誕生日なんだ。", "クモの足は何本？"),
        ("ja", "毎晩十時までに寝るのが目標なんだ。", "今夜はずっと話そうよ。", "クモの足は何本？"),
        ("en", "I'm allergic to peanuts.", "What snack shall I have?", "How many legs has a spider?"),
        ("en", "I take warfarin every morning.", "Shall I take a pill?", "How many legs has a spider?"),
        ("zh", "我对花生过敏。", "有什么好吃的零食？", "蜘蛛有几条腿？"),
    ],
)  # fmt: skip
async def test_the_prompt_of_a_small_model_holds_what_the_talk_touches_and_only_then(
    language: str, said: str, asked: str, other: str, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        room.tell(said, language=language)
        await room.memory.extract()
        room.clock.pass_time(days=1)
        prompts = []
        for question in (asked, other):
            made = compose(
                PromptFiles(PROMPTS),
                question=question,
                recalled=await room.memory.recall("hana", question, language),
                history=(),
                now=room.clock.now(),
                language=language,
                traits=SMALL,
            )
            prompts.append("".join(message.content for message in made.messages))
    assert said.rstrip("。.") in prompts[0]
    assert said.rstrip("。.") not in prompts[1]
