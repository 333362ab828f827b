"""What people in their own words take, can't eat, can't hear, or want left alone stands in every prompt; what sounds like it does not."""

import pytest

from server.memory.extract import RulesExtractor
from server.memory.standing import StandingKind, standing_kind
from server.memory.statements import statements
from tests.memory.remembering import page

ALLERGY, MEDICINE, ILLNESS, DIET = (
    StandingKind.ALLERGY,
    StandingKind.MEDICINE,
    StandingKind.ILLNESS,
    StandingKind.DIET,
)


@pytest.mark.parametrize(
    ("language", "said", "kind"),
    [
        ("ja", "朝にラミプリルを5ミリ飲んでます。", MEDICINE),
        ("ja", "テルミサルタンを出されました。", MEDICINE),
        ("ja", "左の耳が聞こえません。", ILLNESS),
        ("ja", "目が見えません。", ILLNESS),
        ("ja", "私は乳製品がだめなんです。", DIET),
        ("ja", "生ものは控えてる。", DIET),
        ("ja", "牛乳を飲むとお腹をこわすんです。", ALLERGY),
        ("ja", "政治の話はやめよう。", StandingKind.DO_NOT_MENTION),
        ("en", "My doctor put me on metoprolol, 50 milligrams twice a day.", MEDICINE),
        ("en", "I'm on losartan instead, 25 milligrams.", MEDICINE),
        ("en", "I've been taking sertraline, 50 mg.", MEDICINE),
        ("en", "I can't hear on my left side.", ILLNESS),
        ("en", "I'm not supposed to have grapefruit.", DIET),
        ("en", "I'm off dairy.", DIET),
        ("en", "Dairy doesn't agree with me.", ALLERGY),
        ("zh", "我每天早上吃5毫克雷米普利。", MEDICINE),
        ("zh", "现在改吃氯沙坦，25毫克。", MEDICINE),
        ("zh", "医生不让我吃柚子。", DIET),
        ("ja", "雨が5ミリ降った。", None),
        ("ja", "英語はだめなんだ。", None),
        ("ja", "ラジオが聞こえません。", None),
        ("ja", "母は乳製品がだめなんです。", None),
        ("ja", "その話はやめよう。", None),
        ("en", "My brother doesn't agree with me.", None),
        ("en", "I'm off to the shop in April.", None),
        ("en", "My mum is on losartan, 25 milligrams.", None),
        ("zh", "我妈吃氯沙坦。", None),
        ("zh", "我吃了一片面包。", None),
    ],
)
async def test_what_must_never_be_acted_against_is_known_by_peoples_words(
    language: str, said: str, kind: StandingKind | None
) -> None:
    drawn = await RulesExtractor().extract([page(said, language=language)], 0)
    assert [standing_kind(fact) for fact in drawn.facts] == [kind]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("ja", "お金持ちだったらモナコに住むのになあ。"),
        ("ja", "もっと若ければ一緒に行くのに。"),
        ("ja", "娘がいたらよかったのに。"),
        ("ja", "映画の中で男が奥さんを亡くしてね。"),
        ("ja", "ドラマで主人公がガンになった。"),
        ("en", "In the film the man lost his wife."),
        ("en", "In last night's film the dog died."),
        ("zh", "我要是有钱就住摩纳哥。"),
        ("zh", "我真希望有个女儿。"),
        ("zh", "电影里那个男人失去了妻子。"),
    ],
)
def test_what_only_might_be_and_stories_are_no_part_of_a_life(language: str, said: str) -> None:
    assert statements(said, language) == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("ja", "薬を飲んだら治ったのに、また痛い。"),
        ("ja", "昨日は寒かったのに散歩した。"),
        ("ja", "ドラマの中では朝ドラが好き。"),
        ("en", "In the film I cried a lot."),
        ("en", "In the play my daughter is a tree."),
        ("zh", "我要是累了就早点睡。"),
        ("zh", "我希望明年去北京。"),
    ],
)
def test_what_is_like_it_is_told(language: str, said: str) -> None:
    assert len(statements(said, language)) == 1
