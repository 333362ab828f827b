"""Twelve facts that one person tells, asked for one by one, whatever the extracting model is worth.

What MyBuddy was tested with on a telephone: seeded, they were all in the prompt; spoken, one model stored none of them and
so knew nothing after a restart.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest

from server.config import EmbeddingSection
from server.embedding import build
from server.errors import LlmError
from server.memory.extract import Extractor
from server.ports import Embedder, LlmTraits
from server.prompting import PromptFiles, compose
from tests.fakes import PROMPTS, FakeEmbedder, Step
from tests.memory.remembering import Room, fact, modelled, opened

LARGE = LlmTraits(compact=False, prompt_budget_tokens=3000, local=False)

TOLD: Mapping[str, Sequence[tuple[str, str, str, str]]] = {
    "en": [
        ("My name is Martin.", "Your name is Martin.", "What is my name?", "Martin"),
        ("I'm allergic to peanuts.", "You are allergic to peanuts.", "What am I allergic to?", "peanuts"),
        ("I live in Chiang Mai.", "You live in Chiang Mai.", "Where do I live?", "Chiang Mai"),
        ("I work as a nurse in a children's hospital.", "You work as a nurse in a children's hospital.",
         "What do I do for work?", "nurse"),
        ("I'm a shy person and I need time alone.", "You are a shy person and need time alone.",
         "What kind of person am I?", "shy"),
        ("My favourite food is green curry.", "Your favourite food is green curry.",
         "What is my favourite food?", "green curry"),
        ("I have a cat named Pepper.", "You have a cat named Pepper.", "What is my cat called?", "Pepper"),
        ("I want to be asleep before eleven every night.", "You want to be asleep before eleven every night.",
         "When do I want to be asleep?", "eleven"),
        ("I'm saving money for a motorbike.", "You are saving money for a motorbike.",
         "What am I saving money for?", "motorbike"),
        ("My sister Joy is getting married on December 20.", "Your sister Joy is getting married on December 20.",
         "When is my sister getting married?", "December 20"),
        ("I hate loud music in the morning.", "You hate loud music in the morning.",
         "What do I hate in the morning?", "loud music"),
        ("I play badminton every Wednesday.", "You play badminton every Wednesday.",
         "Which sport do I play?", "badminton"),
    ],
    "ja": [
        ("ぼくの名前は拓海です。", "あなたの名前は拓海だ。", "ぼくの名前は何？", "拓海"),
        ("ピーナッツアレルギーがあるんだ。", "あなたはピーナッツアレルギーがある。", "ぼくは何のアレルギーだっけ？", "ピーナッツ"),
        ("仙台に住んでるよ。", "あなたは仙台に住んでいる。", "ぼくはどこに住んでる？", "仙台"),
        ("小児科の看護師をしてる。", "あなたは小児科の看護師をしている。", "ぼくの仕事は何だった？", "看護師"),
        ("人見知りで、一人の時間が必要なんだ。", "あなたは人見知りで、一人の時間が必要だ。", "ぼくはどんな性格だっけ？", "人見知り"),
        ("一番好きな食べ物はグリーンカレーだよ。", "あなたの一番好きな食べ物はグリーンカレーだ。",
         "ぼくの一番好きな食べ物は？", "グリーンカレー"),
        ("ペッパーっていう猫を飼ってる。", "あなたはペッパーという猫を飼っている。", "うちの猫の名前は？", "ペッパー"),
        ("毎晩十一時までに寝るのが目標なんだ。", "あなたは毎晩十一時までに寝るのが目標だ。",
         "ぼくは何時までに寝るのが目標だっけ？", "十一時"),
        ("バイクを買うためにお金を貯めてる。", "あなたはバイクを買うためにお金を貯めている。",
         "何を買うためにお金を貯めてるんだっけ？", "バイク"),
        ("妹の愛が十二月二十日に結婚するんだ。", "あなたの妹の愛が十二月二十日に結婚する。",
         "妹はいつ結婚するんだっけ？", "十二月二十日"),
        ("朝のうるさい音楽は大嫌いなんだ。", "あなたは朝のうるさい音楽が大嫌いだ。", "朝、ぼくが大嫌いなものは何？", "音楽"),
        ("毎週水曜にバドミントンをしてる。", "あなたは毎週水曜にバドミントンをしている。",
         "ぼくが毎週してるスポーツは何？", "バドミントン"),
    ],
}  # fmt: skip
"""What is said, the fact that a good model would make of it, the question, and what the prompt must hold then."""

TROUBLES: Mapping[str, list[Step]] = {
    "fails": [LlmError("llm-failed", "It is broken.")],
    "writes rubbish": ["I'm sorry! As a language model I have updated the profile: {profile: yes}"],
    "has no facts to tell": ['{"facts": [{"text": "You like the moon.", "quote": "the moon"}]}'],
    "never ends": ["moon " * 5_000],
}
"""What an extracting model does, always."""


@pytest.fixture(params=["fake", pytest.param("use", marks=pytest.mark.model)])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    made = FakeEmbedder() if request.param == "fake" else build(EmbeddingSection(engine="use"))
    yield made
    await made.aclose()


async def missed(room: Room, language: str) -> tuple[list[str], list[str]]:
    """Return the questions that recalled no line and no exchange with the answer, and those whose prompt does not hold it.

    A prompt holds most of the twelve whatever is asked: in the portrait, and near the question. So it proves nothing of search.
    """
    unrecalled, untold = [], []
    for _, _, question, answer in TOLD[language]:
        recalled = await room.memory.recall("hana", question, language)
        made = compose(
            PromptFiles(PROMPTS),
            question=question,
            recalled=recalled,
            history=room.memory.recent("hana", room.clock.now()),
            now=room.clock.now(),
            language=language,
            traits=LARGE,
        )
        found = (*(line.text for line in recalled.lines), *(page.said for page in recalled.pages))
        if not any(answer in text for text in found):
            unrecalled.append(question)
        whole = "\n".join((made.system, *(message.content for message in made.messages)))
        if answer not in whole:
            untold.append(question)
    return unrecalled, untold


TOLERATED = {"en": 2, "ja": 4}
"""How many may be missed without a sense of meaning: letters alone don't say that a nurse is told of by "what do I do"."""


async def all_but_tolerated(room: Room, language: str, embedder: Embedder) -> None:
    by_letters = isinstance(embedder, FakeEmbedder)
    unrecalled, untold = await missed(room, language)
    assert len(unrecalled) <= (TOLERATED[language] if by_letters else 0), unrecalled
    assert len(untold) <= by_letters, untold


def failing(trouble: str) -> Extractor:
    return modelled(TROUBLES[trouble])[0]


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_twelve_facts_that_were_put_in_are_recalled_and_told_when_asked_for(
    language: str, embedder: Embedder, tmp_path: Path
) -> None:
    with opened(tmp_path, embedder=embedder) as room:
        facts = [
            fact(text, room.clock.now(), language=language) for _, text, _, _ in TOLD[language]
        ]
        await room.memory.add(facts)
    with opened(tmp_path, embedder=embedder) as room:
        room.clock.pass_time(days=1)
        await all_but_tolerated(room, language, embedder)


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("language", ["en", "ja"])
async def test_twelve_facts_that_were_spoken_outlive_a_useless_model_and_a_restart(
    language: str, trouble: str, embedder: Embedder, tmp_path: Path
) -> None:
    with opened(tmp_path, failing(trouble), embedder=embedder) as room:
        room.tell(*(said for said, _, _, _ in TOLD[language]), language=language)
        for _ in range(8):  # two batches, three attempts each, and then the rules
            room.clock.pass_time(minutes=15)
            await room.memory.keep_up()
        later = room.clock
        later.pass_time(days=1)
    with opened(tmp_path, failing(trouble), embedder=embedder, clock=later) as room:
        await all_but_tolerated(room, language, embedder)
