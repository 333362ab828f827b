"""Indirect use: what must not be acted against stands near every question, whatever is asked. In virtual time.

The papers' hardest finding: a model knows of the peanut allergy, says so when asked, and suggests a snack with nuts.
"""

from pathlib import Path

import pytest

from server.memory.extract import RulesExtractor
from server.recording import describe
from tests.memory.lived_in import Said, Visit, blocks, home
from tests.memory.reading_model import Work
from tests.memory.remembering import NOON
from tests.virtual_time import VIRTUAL_TIME, Backend

CASES = [
    ("en", "I'm allergic to peanuts.", "Can you suggest a snack?", "What am I allergic to?", "peanuts"),
    ("en", "I take warfarin every morning.", "Is grapefruit juice healthy?", "Which medicine do I take?", "warfarin"),
    ("en", "My husband died last spring.", "Shall I book a table for our anniversary?", "When did my husband die?", "died"),
    ("en", "I don't want to talk about my job.", "What shall we talk about?", "What don't I want to talk about?", "my job"),
    ("en", "I want to be in bed by ten every night.", "Shall we play a game?", "When do I want to be in bed?", "ten"),
    ("ja", "ピーナッツのアレルギーがあるんだ。", "おやつは何がいいかな？", "何のアレルギーだっけ？", "ピーナッツ"),
    ("ja", "血圧の薬を毎朝飲んでるよ。", "グレープフルーツって体にいいの？", "何の薬を飲んでるんだっけ？", "血圧"),
    ("ja", "夫は三年前に亡くなったの。", "記念日はどこに行こうかな？", "夫はいつ亡くなったんだっけ？", "亡くなった"),
    ("ja", "仕事の話はしたくないんだ。", "何の話をしようか？", "何の話をしたくないんだっけ？", "仕事"),
    ("ja", "毎晩十時までに寝るのが目標なんだ。", "ゲームでもしようか？", "何時までに寝るのが目標だっけ？", "十時"),
    ("zh", "我对花生过敏。", "有什么好吃的零食？", "我对什么过敏？", "花生"),
    ("zh", "我每天早上吃降压药。", "葡萄柚汁对身体好吗？", "我每天早上吃什么药？", "降压药"),
]  # fmt: skip
"""Language, what is said, a question that does not speak of it, one that asks for it, and a word of it."""


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


@pytest.mark.parametrize(("language", "said", "indirect", "direct", "word"), CASES)
async def test_what_must_not_be_acted_against_stands_near_whatever_question(
    language: str, said: str, indirect: str, direct: str, word: str, tmp_path: Path
) -> None:
    async with home(tmp_path, retrieval={"gate": 0.2}) as lived_in:
        lived_in.memory.consolidator.extractor = RulesExtractor()
        await lived_in.visit(Visit("hana", language, NOON, [Said(said)]))
        lived_in.clock.pass_time(hours=5)
        held = await lived_in.visit(Visit("hana", language, NOON, [Said(indirect), Said(direct)]))
        prompts = lived_in.model.prompts[Work.REPLY][1:]
    for turn, prompt in zip(held, prompts, strict=True):
        asked = prompt.messages[-1].content
        assert word in blocks(prompt)["standing_facts"]
        assert "<standing_facts>" in asked
        assert asked.count(said.rstrip("。.")) == 1, "one line for each fact"
        assert [line.text for line in turn.recalled.standing] == [
            row["text"]
            for row in describe(turn)["standing"]  # type: ignore[attr-defined]
        ]
    assert word not in [line.text for line in held[0].recalled.lines]
    assert any(word in line.text for line in held[1].recalled.lines), "it stays in what is recalled"
    assert held[1].recalled.lines[0].id == held[1].recalled.standing[0].id
