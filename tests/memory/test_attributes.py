"""A name, an age, a home is asked for and claimed of somebody: the question and the fact have to agree on whom."""

from pathlib import Path

import pytest

from server.memory.attribute_claims import claims_attributes, names_in_passing
from server.memory.attributes import PET, Attribute, asked_of, asks_robot
from server.memory.claims import LISTENER, SPEAKER
from server.memory.wording import framed
from tests.memory.remembering import fact, opened

NAME, AGE, BIRTHDAY, HOME, JOB, ALLERGY = Attribute
OWN_NAME = {
    "ja": (
        "私の名前は何", "私の名前は", "僕の名前を覚えてる", "私の名前わかる", "私は誰", "私が誰かわかる", "俺の名前言ってみて", "名前覚えてる", "あなたは私の名前を覚えていますか",
        "私のこと何て呼ぶの", "ぼくのなまえは", "俺の名前なーんだ", "私がだれだかわかりますか",
    ),
    "en": (
        "what is my name", "what's my name", "do you know who I am", "what am I called", "do you remember my name", "who am I", "tell me my name", "my name",
        "can you remind me what my name is", "what do you call me", "what did I say my name was",
    ),
    "zh": ("我叫什么名字", "我的名字是什么", "你知道我叫什么吗", "你记得我的名字吗", "我是谁"),
}  # fmt: skip
OF_ROBOT = {
    "ja": ("あなたの名前は何ですか", "お名前は", "名前は何ですか", "君は何歳", "あなたはどこに住んでいますか", "あなたは猫を飼っていますか", "君の好きな食べ物は"),
    "en": ("what's your name", "how old are you", "where do you live", "do you have a cat", "are you a robot", "what's your favourite colour", "who are you"),
    "zh": ("你叫什么名字", "你几岁", "你住在哪里", "你是谁", "你喜欢什么"),
}  # fmt: skip
OF_PERSON = {
    "ja": ("私の名前は", "あなたは私の名前を覚えていますか", "私について何を知ってる", "あなたは鍵の場所を知ってる", "犬の名前は", "母のお名前は"),
    "en": ("do you remember my name", "what do you know about me", "do you know where the key is", "are you sure", "can you tell me my address", "what were you saying about the trip to Kyoto", "what's in your notes about Leo", "are you familiar with Sam's allergies"),
    "zh": ("我叫什么", "你知道我的生日吗", "你记得我孙子吗", "你是说奶奶对花生过敏吗"),
}  # fmt: skip


def listed(texts: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(text, language) for language, some in texts.items() for text in some]


@pytest.mark.parametrize(("question", "language"), listed(OWN_NAME))
def test_ones_own_name_is_asked_for_in_many_ways(question: str, language: str) -> None:
    assert asked_of(question, language) == {(SPEAKER, NAME)}


@pytest.mark.parametrize(
    ("question", "language", "asked"),
    [
        ("孫の名前は何だっけ", "ja", ("grandchild", NAME)),
        ("犬の名前は何", "ja", (PET, NAME)),
        ("私の誕生日はいつ", "ja", (SPEAKER, BIRTHDAY)),
        ("私は何歳", "ja", (SPEAKER, AGE)),
        ("私はどこに住んでる", "ja", (SPEAKER, HOME)),
        ("私の仕事は何", "ja", (SPEAKER, JOB)),
        ("私は何のアレルギー", "ja", (SPEAKER, ALLERGY)),
        ("あなたは何歳ですか", "ja", (LISTENER, AGE)),
        ("what's my grandson's name", "en", ("grandchild", NAME)),
        ("what is my dog called", "en", (PET, NAME)),
        ("when is my birthday", "en", (SPEAKER, BIRTHDAY)),
        ("how old is my grandson", "en", ("grandchild", AGE)),
        ("where do I live", "en", (SPEAKER, HOME)),
        ("what do I do for a living", "en", (SPEAKER, JOB)),
        ("what am I allergic to", "en", (SPEAKER, ALLERGY)),
        ("what's the name of my grandson", "en", ("grandchild", NAME)),
        ("what's my birthday", "en", (SPEAKER, BIRTHDAY)),
        ("我孙子叫什么", "zh", ("grandchild", NAME)),
        ("我的狗叫什么名字", "zh", (PET, NAME)),
        ("我几岁", "zh", (SPEAKER, AGE)),
        ("我住在哪", "zh", (SPEAKER, HOME)),
        ("我对什么过敏", "zh", (SPEAKER, ALLERGY)),
    ],
)
def test_a_question_says_which_attribute_of_whom_it_asks_for(
    question: str, language: str, asked: tuple[str, Attribute]
) -> None:
    assert asked_of(question, language) == {asked}


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("私の名前の由来は", "ja"),
        ("私の名前は誰がつけた", "ja"),
        ("私の誕生日に何した", "ja"),
        ("父は何歳で死んだ", "ja"),
        ("孫は何て言ってた", "ja"),
        ("真由の旦那さんの名前は何", "ja"),
        ("what did I get for my birthday", "en"),
        ("am I allergic to nuts", "en"),
        ("how old was I when we moved", "en"),
    ],
)
def test_what_only_touches_an_attribute_does_not_ask_for_it(question: str, language: str) -> None:
    assert not asked_of(question, language)


@pytest.mark.parametrize(("question", "language"), listed(OF_ROBOT))
def test_a_question_about_the_robot_is_known(question: str, language: str) -> None:
    assert asks_robot(question, language)


@pytest.mark.parametrize(("question", "language"), listed(OF_PERSON))
def test_a_question_about_the_person_is_not_one_about_the_robot(
    question: str, language: str
) -> None:
    assert not asks_robot(question, language)


@pytest.mark.parametrize(
    ("text", "language", "claimed"),
    [
        ("私の名前は田中花子ではなく、田中ハルコです", "ja", {(SPEAKER, NAME)}),
        ("あなたの名前は田中だ。", "ja", {(SPEAKER, NAME)}),
        ("田中と申します", "ja", {(SPEAKER, NAME)}),
        ("私は田中きよです", "ja", {(SPEAKER, NAME)}),
        ("僕は健太だよ", "ja", {(SPEAKER, NAME)}),
        ("わたしはさくらよ", "ja", {(SPEAKER, NAME)}),
        ("私は田中きよ、八十六歳です", "ja", {(SPEAKER, NAME), (SPEAKER, AGE)}),
        ("私は山田花子、今年で80歳になるの", "ja", {(SPEAKER, NAME), (SPEAKER, AGE)}),
        ("私は元気です", "ja", set()),
        ("私は東京です", "ja", set()),
        ("私はコーヒーです", "ja", set()),
        ("私は健太の母です", "ja", set()),
        ("私は田中さんだと思う", "ja", set()),
        ("私は花子、太郎、次郎の三人を育てた", "ja", set()),
        ("犬の名前はポチです", "ja", {(PET, NAME)}),
        ("さくらという孫がいます", "ja", {("grandchild", NAME)}),
        ("あなたの誕生日は5月3日だ。", "ja", {(SPEAKER, BIRTHDAY)}),
        ("5歳の孫がいる", "ja", {("grandchild", AGE)}),
        ("妹は大阪に住んでいる", "ja", {("younger_sister", HOME)}),
        ("あなたは看護師として働いている", "ja", {(SPEAKER, JOB)}),
        ("娘は卵アレルギーだ", "ja", {("daughter", ALLERGY)}),
        ("Your name is Hana.", "en", {(SPEAKER, NAME)}),
        ("I'm called Alice", "en", {(SPEAKER, NAME)}),
        ("I'm German", "en", set()),
        ("I'm Margaret and I am 83", "en", {(SPEAKER, NAME), (SPEAKER, AGE)}),
        ("I'm Margaret Hill, 83 years old", "en", {(SPEAKER, NAME), (SPEAKER, AGE)}),
        ("I'm German and I am 83", "en", {(SPEAKER, AGE)}),
        ("I'm English, my wife is Dutch", "en", set()),
        ("Your dog's name is Rex.", "en", {(PET, NAME)}),
        ("Your mother's birthday is May 3", "en", {("mother", BIRTHDAY)}),
        ("You are 75 years old.", "en", {(SPEAKER, AGE)}),
        ("I moved to York", "en", {(SPEAKER, HOME)}),
        ("I work as a nurse in Leeds", "en", {(SPEAKER, JOB)}),
        ("Your son is allergic to nuts", "en", {("son", ALLERGY)}),
        ("你叫王芳。", "zh", {(SPEAKER, NAME)}),
        ("我叫了外卖", "zh", set()),
        ("我妈妈住在北京", "zh", {("mother", HOME)}),
        ("我对花生过敏", "zh", {(SPEAKER, ALLERGY)}),
    ],
)
def test_a_fact_says_which_attribute_of_whom_it_gives(
    text: str, language: str, claimed: set[tuple[str, Attribute]]
) -> None:
    assert claims_attributes(text, language) == claimed


@pytest.mark.parametrize(
    ("said", "language"),
    [("My name is Hana", "en"), ("私の名前は田中です", "ja"), ("我叫王芳", "zh")],
)
def test_what_is_quoted_is_in_the_words_of_the_speaker(said: str, language: str) -> None:
    assert claims_attributes(framed(said, language), language) == {(SPEAKER, NAME)}
    of_robot = said.replace("My", "Your").replace("私", "あなた").replace("我", "你")
    assert (SPEAKER, NAME) not in claims_attributes(framed(of_robot, language), language)


@pytest.mark.parametrize(
    ("text", "language", "called"),
    [
        ("孫のさくらが遊びに来てくれて", "ja", {"grandchild"}),
        ("夫の太郎は去年亡くなった", "ja", {"husband"}),
        ("妻の花子と箱根へ行く", "ja", {"wife"}),
        ("孫のピアノの発表会があった", "ja", set()),
        ("孫のピアノが聞こえた", "ja", set()),
        ("夫の車が壊れた", "ja", set()),
        ("真由の夫の太郎は先生だ", "ja", set()),
        ("My grandson Leo came over", "en", {"grandchild"}),
        ("Your husband, Tom, died last year", "en", {"husband"}),
        ("Leo is my grandson", "en", {"grandchild"}),
        ("My grandson likes Leo's cat", "en", set()),
        ("我孙子小明来看我", "zh", {"grandchild"}),
    ],
)
def test_a_name_beside_the_word_for_its_bearer_is_known(
    text: str, language: str, called: set[str]
) -> None:
    assert names_in_passing(text, language) == called


FACTS = {
    "ja": (
        "あなたは「私の名前は田中ハルコです」と話した。", "あなたは「犬の名前はポチです」と話した。", "あなたは「孫のさくらが遊びに来てくれて嬉しい」と話した。",
        "あなたは「夫の太郎は亡くなった」と話した。", "あなたは「横浜に住んでいます」と話した。",
    ),
    "en": (
        'You said: "I\'m called Alicia."', 'You said: "My dog\'s name is Rex."', 'You said: "My grandson Leo came over."', 'You said: "My husband Tom died."',
        'You said: "I live in York."',
    ),
    "zh": ("你说过：“我叫王方”。", "你说过：“我的狗叫旺财”。", "你说过：“我孙子小明来看我了”。", "你说过：“我丈夫阿强去世了”。", "你说过：“我住在上海”。"),
}  # fmt: skip
FIRST = {
    "ja": ("私の名前は？", "犬の名前は何？", "孫の名前は何だっけ？", "夫の名前は？", "私はどこに住んでる？"),
    "en": ("Do you know who I am?", "What's my dog called?", "What's my grandson's name?", "What's my husband's name?", "Where do I live?"),
    "zh": ("我叫什么名字？", "我的狗叫什么名字？", "我孙子叫什么？", "我丈夫叫什么名字？", "我住在哪里？"),
}  # fmt: skip


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
async def test_what_gives_exactly_what_is_asked_comes_first_and_the_robot_is_nobody_of_the_house(
    tmp_path: Path, language: str
) -> None:
    with opened(tmp_path) as room:
        await room.memory.add([fact(text, language=language) for text in FACTS[language]])
        for question, wanted in zip(FIRST[language], FACTS[language], strict=True):
            assert (await room.recalled(question, language=language))[:1] == [wanted], question
        for question in OWN_NAME[language]:
            names = await room.recalled(question, language=language)
            assert names[:1] == [FACTS[language][0]], question
            assert FACTS[language][1] not in names
        for question in OF_ROBOT[language]:
            assert await room.recalled(question, language=language) == [], question


async def test_nothing_about_the_dog_answers_a_question_about_a_cat_or_ones_own_name(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, retrieval={"gate": 0.01}) as room:
        await room.memory.add([fact("あなたの犬の名前はポチだ。")])
        for question in ("猫を飼っていますか", "私の名前は"):
            assert await room.recalled(question) == [], question
