"""What somebody asks never to be spoken to about is kept for good, in whatever words, until they take it back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.answer_parts import Draft
from server.memory.extract import RulesExtractor
from server.memory.facts import check
from server.memory.models import Fact, Importance
from server.memory.standing import StandingKind, standing_kind
from server.memory.statements import statements
from server.memory.unmentioned import allowed, allows_to_mention, asks_not_to_mention
from tests.memory.remembering import opened, page

ASKED = {
    "ja": [
        "息子の話はしないでください。",
        "息子の話はしないで。",
        "息子のことには触れないで。",
        "元夫のことは聞かないで。",
        "夫の名前は出さないで。",
        "離婚の話はもうしないでね。",
        "息子の話はしないでくれる？",
        "事故の話はやめてください。",
        "母のことはそっとしておいて。",
        "戦争の話題は避けてほしい。",
        "亡くなった妻のことは思い出させないで。",
        "健太について聞かないでほしい。",
        "息子の話は二度としないで。",
        "別れた夫の話は勘弁して。",
        "仕事の話はなしでお願いします。",
        "娘の離婚には触れないでください。",
        "お願いだから息子の話はしないで。",
        "息子が亡くなったことは言わないで。",
    ],
    "en": [
        "Please don't talk about my son.",
        "Don't mention my ex-husband again.",
        "Never bring up the accident.",
        "I'd rather you didn't ask about my divorce.",
        "Could you please not mention my brother?",
        "Stop asking about my ex.",
        "Let's not talk about my job.",
        "Don't ever say my husband's name.",
        "I'd appreciate it if you never mentioned my brother.",
        "Don't ask me about my marriage.",
        "My son left us, please don't talk about him.",
        "Please leave my son out of it.",
        "I want you to never mention my father.",
        "You must not talk about my daughter.",
        "Hey, don't talk to me about the war.",
        "I don't want you to bring up my ex.",
        "Please never speak of Tom.",
        "Don’t talk about my son.",
        "Can you stop talking about my weight?",
        "Avoid mentioning my mother, please.",
        "It would be better if you didn't bring up my stroke.",
    ],
    "zh": [
        "请不要再提我儿子。",
        "别提我前夫了。",
        "別提我前夫了。",
        "不要跟我说我爸的事。",
        "别问我离婚的事。",
        "我前夫的事别再提了。",
        "以后不要聊我的工作。",
        "请别说我老公的名字。",
        "不许提我前妻。",
        "希望你不要提我弟弟。",
        "请避免谈我儿子。",
        "别在我面前提起那场车祸。",
    ],
}
NOT_ASKED = {
    "ja": [
        "話はしないで静かにして。",
        "静かにして。",
        "そんなに大きな声で話さないで。",
        "その話はしないで。",
        "話はしないで。",
        "息子のことは心配しないで。",
        "今日は仕事の話はしないで。",
        "離婚のことは息子に言わないで。",
        "このことは誰にも言わないで。",
        "うるさい話はしないで。",
        "覚えなくていいよ。",
        "それは忘れて。",
        "早口で話さないで。",
        "カメラに触れないで。",
        "英語で話さないで。",
        "息子の話はしません。",
    ],
    "en": [
        "Don't talk so loud.",
        "Stop talking.",
        "Don't mention it.",
        "Don't talk about it.",
        "Don't remind me about the dentist.",
        "Don't tell my wife about the party.",
        "Don't mention the party to my wife.",
        "Don't remember that.",
        "Forget it.",
        "Don't talk so fast.",
        "Don't talk about my job now.",
        "Don't ask me that again.",
        "Don't speak English.",
        "Please stop talking about this.",
        "Don't talk to strangers.",
        "Never mind.",
        "Don't ask.",
        "Don't tell me what to do.",
        "Stop talking about yourself.",
        "Don't bring up that.",
        "Bring the trash up.",
    ],
    "zh": [
        "别提了。",
        "别说话。",
        "不要说话。",
        "别说了。",
        "别提醒我。",
        "不要说英语。",
        "别问了。",
        "别跟我老婆说。",
        "别聊天了。",
        "别问为什么。",
        "别提这个。",
        "现在别提我儿子。",
        "别问我。",
        "别说得太快。",
    ],
}


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, said) for language, all_ in table.items() for said in all_]


def drawn(said: str, language: str) -> tuple[Fact, ...]:
    return RulesExtractor()._drawn([page(said, language=language)]).facts


@pytest.mark.parametrize(("language", "said"), cases(ASKED))
def test_a_request_not_to_mention_something_is_kept_for_good(language: str, said: str) -> None:
    (fact,) = drawn(said, language)
    assert standing_kind(fact) is StandingKind.DO_NOT_MENTION
    assert fact.importance is Importance.LASTING
    assert not allows_to_mention(said)


@pytest.mark.parametrize(("language", "said"), cases(NOT_ASKED))
def test_orders_retractions_secrets_and_what_is_for_today_are_none(
    language: str, said: str
) -> None:
    assert not asks_not_to_mention(said)
    assert StandingKind.DO_NOT_MENTION not in map(standing_kind, drawn(said, language))


@pytest.mark.parametrize(
    ("language", "said", "kept"),
    [
        ("en", "My son left us. Please don't talk about him.", "My son left us. Please don't talk about him."),
        ("en", "My son left us, please don't talk about him.", "My son left us, please don't talk about him."),
        ("ja", "息子が家を出ました。その話はしないで。", "息子が家を出ました。その話はしないで。"),
        ("zh", "我儿子走了。请别提他。", "我儿子走了。请别提他。"),
    ],
)  # fmt: skip
def test_a_request_about_whom_the_sentence_before_names_stays_with_it(
    language: str, said: str, kept: str
) -> None:
    assert statements(said, language) == [kept]
    (fact,) = drawn(said, language)
    assert standing_kind(fact) is StandingKind.DO_NOT_MENTION


def test_one_about_nobody_that_was_named_is_none() -> None:
    assert statements("Turn on the light. Don't talk about him.", "en") == []
    assert statements("I got a new job. Don't mention it.", "en") == ["I got a new job."]
    assert statements("Please don't talk about my son. Forget what I said.", "en") == []


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("ja", "息子の話はしないでください。", "あなたは息子の話をしてほしくない。"),
        ("ja", "息子の話はしないでください。", "あなたは息子の話をされたくない。"),
        ("ja", "息子のことには触れないで。", "あなたは息子のことに触れられたくない。"),
        ("ja", "夫の名前は出さないで。", "あなたは夫の名前を出してほしくない。"),
        ("ja", "元夫のことは聞かないで。", "あなたは元夫のことを聞かれたくない。"),
        ("en", "Please don't talk about my son.", "You do not want to talk about your son."),
        ("en", "Please don't talk about my son.", "You don't want your son to be talked about."),
        ("en", "Don't mention my ex-husband again.", "You do not want your ex-husband mentioned."),
        ("en", "Never bring up the accident.", "You do not want the accident brought up."),
        ("en", "Please don't talk about my son.", "You asked not to be spoken to about your son."),
        ("zh", "请不要再提我儿子。", "你不想让人提起你儿子。"),
        ("zh", "别提我前夫了。", "你不想让人提起前夫。"),
        ("zh", "不要跟我说我爸的事。", "你不想听到你爸的事。"),
    ],
)
def test_a_model_may_tell_such_a_request_in_other_words(
    language: str, said: str, told: str
) -> None:
    draft = Draft(1, said.rstrip("。."), told, "preference")
    fact = check(draft, [page(said, language=language)])
    assert isinstance(fact, Fact), fact
    assert standing_kind(fact) is StandingKind.DO_NOT_MENTION


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("ja", "息子の話はしないでください。", "あなたは娘の話をしてほしくない。"),
        ("ja", "息子の話はしないでください。", "あなたは息子の話をしてほしい。"),
        ("ja", "息子の話はしないでください。", "あなたの息子は亡くなった。"),
        ("en", "Please don't talk about my son.", "You want to talk about your son."),
        ("en", "Please don't talk about my son.", "You do not want to talk about your daughter."),
        ("en", "Please don't talk about my son.", "You don't want to talk about Peter."),
        ("en", "Please don't talk about my son.", "You do not want to talk about your divorce."),
        ("en", "Don't talk so loud.", "You do not want to be talked to loudly."),
        ("zh", "请不要再提我儿子。", "你想聊聊你儿子。"),
        ("zh", "请不要再提我儿子。", "你不想让人提起你女儿。"),
        ("zh", "请不要再提我儿子。", "你儿子去世了。"),
    ],
)
def test_a_model_may_not_make_something_else_of_it(language: str, said: str, told: str) -> None:
    draft = Draft(1, said.rstrip("。."), told, "preference")
    assert not isinstance(check(draft, [page(said, language=language)]), Fact)


@pytest.mark.parametrize(
    ("language", "asked", "later", "ends"),
    [
        ("ja", "息子の話はしないでください。", "もう息子の話をしていいよ。", True),
        ("ja", "息子のことは聞かないで。", "息子のことを聞いても大丈夫だよ。", True),
        ("ja", "息子の話はしないでください。", "娘の話をしてもいいよ。", False),
        ("ja", "息子の話はしないでください。", "昨日、息子から電話があった。", False),
        ("en", "Please don't talk about my son.", "You can talk about my son again.", True),
        ("en", "I don't want to talk about my divorce.", "I don't mind talking about my divorce now.", True),
        ("en", "Never mention my ex-husband.", "It's okay to mention my ex-husband now.", True),
        ("en", "Please don't talk about my son.", "You can talk about my daughter.", False),
        ("en", "Please don't talk about my son.", "My son called me yesterday.", False),
        ("zh", "请不要再提我儿子。", "可以提我儿子了。", True),
        ("zh", "别提我前夫了。", "我不介意你提我前夫了。", True),
        ("zh", "请不要再提我儿子。", "可以提我女儿了。", False),
        ("en", "I lost my job and I don't want to talk about it.", "You can mention my weight again, I've lost ten kilos!", False),
        ("en", "Don't mention my weight.", "My knee is better, so you can talk about my weight again.", True),
        ("en", "Please don't mention my knee.", "My knee is better, so you can talk about my weight again.", False),
        ("ja", "仕事の話はしないでください。", "体重の話をしてもいいよ、仕事が減って痩せたから。", False),
        ("ja", "体重の話はしないでください。", "体重の話は、してもいいよ、痩せたから。", True),
        ("zh", "请不要再提我的工作。", "可以提我的体重了，工作少了所以瘦了。", False),
    ],
)  # fmt: skip
async def test_it_stands_near_every_question_until_it_is_taken_back(
    language: str, asked: str, later: str, ends: bool, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        for said in (asked, later):
            room.tell(said, language=language)
            await room.memory.extract()
            found = await room.memory.recall("hana", "Hello?", language)
            if said is asked:
                assert len(found.standing) == 1
            room.clock.pass_time(days=1)
        assert [asked.rstrip("。.") in line.text for line in found.standing] == [True] * (not ends)


@given(st.text(max_size=80))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert asks_not_to_mention(text) in (True, False)
    assert allows_to_mention(text) is bool(allowed(text))
