"""Exchanges that come to mind word for word, under the weights that come with the program."""

from pathlib import Path

import pytest

from server.config import EmbeddingSection
from server.embedding import build
from server.memory.page_recall import PageCandidate, gate_signs
from server.memory.page_weights import load_page_weights
from server.memory.question import read_question
from tests.memory.lived_in import script
from tests.memory.remembering import NOON, opened

TOLD = {
    "ja": ("猫のタマを飼ってるよ。", "来週の土曜に箱根に行くんだ。", "夫は山が好きで、二人でよく上高地に行ったわ。"),
    "en": ("I have a dog called Biscuit.", "My sister Alice is getting married in May.", "I ran eight kilometres."),
    "zh": ("我养了一只猫，叫小白。", "我下周六要去杭州。", "我妹妹在北京当护士。"),
}  # fmt: skip
CHATTER = {
    language: [
        one.text
        for visit in script()
        for one in visit.said
        if visit.language == language and one.text not in TOLD[language]
    ][:40]
    for language in TOLD
}
ASKED = {
    "ja": {"夫とよく行ったのはどこだっけ？": 2, "箱根に行くのはいつだっけ？": 1},
    "en": {"What is my dog called?": 0, "When is Alice getting married?": 1},
    "zh": {"我的猫叫什么？": 0, "我妹妹在哪里当护士？": 2},
}
ELSEWHERE = {
    "ja": "三かける四はいくつ？",
    "en": "What is three times four?",
    "zh": "三乘以四等于多少？",
}


@pytest.mark.model
@pytest.mark.parametrize("language", TOLD)
async def test_what_was_said_is_found_before_anything_was_drawn_from_it(
    language: str, tmp_path: Path
) -> None:
    embedder = build(EmbeddingSection(engine="use"))
    with opened(tmp_path, embedder=embedder) as room:
        room.tell(*CHATTER[language], *TOLD[language], language=language)
        await room.memory._writer.settle()
        await room.memory.catch_up()  # as it is done every minute
        room.clock.pass_time(days=1)
        for question, place in ASKED[language].items():
            found = await room.memory.recall("hana", question, language)
            assert TOLD[language][place] in [each.said for each in found.pages], question
        elsewhere = await room.memory.recall("hana", ELSEWHERE[language], language)
        assert elsewhere.pages == ()
    await embedder.aclose()


async def test_what_was_learnt_is_worth_something_only_for_signs_that_there_are(
    tmp_path: Path,
) -> None:
    """A sign that was renamed and not learnt anew counts as nothing, and the gate never opens."""
    with opened(tmp_path, retrieval={"pages": {"gate": 0.0}}) as room:
        room.tell(*TOLD["en"], language="en")
        await room.memory._writer.settle()
        [best, *_] = (await room.memory.recall("hana", "What is my dog called?", "en")).pages
    question = read_question("What is my dog called?", "en", NOON)
    candidate = PageCandidate(best.id, 0, best.score, best.parts)
    shipped = load_page_weights()
    assert shipped.with_vectors.keys() <= best.parts.keys()
    assert shipped.by_words.keys() <= best.parts.keys()
    assert shipped.gate.keys() - {"bias"} == gate_signs(question, [candidate]).keys()
