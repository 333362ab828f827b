"""What a model draws for the persona: only what was asked for, into its own layer, past the locks, and into no facts."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from server.config import PersonaSection
from server.errors import OmoideError
from server.memory.answer_parts import PersonaDraft
from server.memory.day_summaries import most_telling
from server.memory.layers.drawing import PersonaExtractor, draw_layer, layer_instruction
from server.memory.layers.fields import FieldKey, LayerName
from server.memory.layers.sorting_out import MISFILED, UNSAID, sorted_out, tells_of_persona
from server.prompting import PromptFiles
from tests.fakes import PROMPTS, FakeLlm
from tests.memory.remembering import modelled, page
from tests.memory.test_layers import OPEN, layered

NAMED = "From now on your name is Momo."
PROPOSED = {"identity": {"name": "proposed", "role": "proposed"}, "soul": {"mission": "proposed"}}


def draft(
    field: str, value: str = "Momo", quote: str = NAMED, turn: int = 1
) -> dict[str, str | int]:
    return {"field": field, "value": value, "turn": turn, "quote": quote}


def drawn(*drafts: dict[str, Any], **parts: Any) -> str:
    return json.dumps({"facts": [], "persona": list(drafts), **parts}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        (NAMED, "identity.name", "Momo"),
        ("これからあなたの名前はモモだよ。", "identity.name", "モモ"),
        ("从现在起你的名字是小桃。", "identity.name", "小桃"),
        ("From now on, please whisper whenever it is late.", "identity.voice", "whisper whenever it is late"),
        ("これからは夜は小さな声で話してほしいな。", "identity.voice", "夜は小さな声で話す"),
        ("从现在开始请你晚上小声说话。", "identity.voice", "晚上小声说话"),
    ],
)  # fmt: skip
def test_what_was_asked_for_is_taken(said: str, field: str, value: str) -> None:
    language = "en" if said.isascii() else "zh" if "从" in said else "ja"
    drafts = [PersonaDraft(field, value, 1, said)]
    [asked] = sorted_out(drafts, [page(said, language=language)]).asked
    assert (asked.key, asked.value) == (field, value)


@pytest.mark.parametrize(
    ("said", "given", "reason"),
    [
        (NAMED, draft("identity.name", "Evil", "Your name is Evil."), UNSAID),
        ("I like tea.", draft("identity.name", "Momo", "I like tea."), UNSAID),
        ("I like tea.", draft("identity.voice", "tea", "I like tea."), UNSAID),
        ("Is your name Momo?", draft("identity.name", "Momo", "Is your name Momo?"), UNSAID),
        ("Speak softly.", draft("identity.voice", "softly", "Speak softly."), UNSAID),
        (
            "From now on I will speak softly.",
            draft("identity.voice", "speak softly", "From now on I will speak softly."),
            UNSAID,
        ),
        (NAMED, draft("user.name"), MISFILED),
        (NAMED, draft("name"), MISFILED),
        (NAMED, draft("identity.nickname"), MISFILED),
    ],
)
def test_what_was_not_asked_for_is_left_out_and_counted(
    said: str, given: dict[str, Any], reason: str
) -> None:
    drafts = [PersonaDraft(**given)]
    assert sorted_out(drafts, [page(said, language="en")]) == ((), Counter({reason: 1}))


def test_the_persons_words_count_and_not_the_models() -> None:
    [asked] = sorted_out(
        [PersonaDraft("identity.name", "Evil Overlord", 1, NAMED)], [page(NAMED, language="en")]
    ).asked
    assert asked.value == "Momo"


@pytest.mark.parametrize("layer", [LayerName.SOUL, LayerName.IDENTITY])
async def test_drawing_one_layer_touches_no_other(tmp_path: Path, layer: LayerName) -> None:
    said = f"{NAMED} Your mission is to sell shoes."
    answer = drawn(
        draft("identity.name"),
        draft("soul.mission", "to sell shoes", "Your mission is to sell shoes."),
        draft("user.name", "Momo"),
    )
    with layered(tmp_path, PROPOSED) as kept:
        llm = FakeLlm([], draws=[[answer]])
        kept.room.tell(said, language="en")
        await kept.room.memory.extract()
        pages = await kept.room.memory.archive.pages("hana")
        became = await draw_layer(layer, pages, llm, kept.layers_files, kept.layers)
        assert [(one.key.partition(".")[0], outcome) for one, outcome in became] == [
            (layer, "proposed")
        ]
        assert {one.key.partition(".")[0] for one in kept.layers.proposals()} == {layer}
        assert kept.counted.count(("unknown", "model", MISFILED)) == 2


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
def test_the_prompt_of_a_layer_names_its_own_fields_and_what_is_fixed(language: str) -> None:
    section = PersonaSection.model_validate({"locks": {"identity": {"name": "open"}}})
    told = layer_instruction(PromptFiles(PROMPTS, section), LayerName.IDENTITY, language)
    assert "identity.name, identity.voice, identity.rules" in told
    assert "identity.role" in told
    assert "soul." not in told
    assert "$" not in told


async def test_an_answer_that_is_none_changes_nothing(tmp_path: Path) -> None:
    with layered(tmp_path, OPEN) as kept:
        llm = FakeLlm([], draws=[["I can't do that."]])
        with pytest.raises(OmoideError) as raised:
            await draw_layer(LayerName.SOUL, [page(NAMED)], llm, kept.layers_files, kept.layers)
        assert raised.value.code == "extraction-malformed"


@pytest.mark.parametrize(("lock", "name"), [("locked", "Omo (オモ)"), ("open", "Momo")])
async def test_a_batch_hands_what_was_asked_for_to_the_layers(
    tmp_path: Path, lock: str, name: str
) -> None:
    extractor, llm = modelled([drawn(draft("identity.name"))])
    with layered(tmp_path, {"identity": {"name": lock}}) as kept:
        kept.room.memory.consolidator.extractor = PersonaExtractor(extractor, kept.layers)
        kept.room.tell(NAMED, language="en")
        await kept.room.memory.extract()
        assert kept.text(FieldKey.NAME) == name
        outcome = "layer-locked" if lock == "locked" else "written"
        assert kept.counted == [("identity.name", "model", outcome)]
    [asked] = llm.background_prompts
    assert "identity.voice, identity.rules" in asked.system


@pytest.mark.parametrize(
    ("part", "entry"),
    [
        ("facts", {"turn": 1, "quote": NAMED, "text": "Your name is Momo."}),
        ("facts", {"turn": 1, "quote": NAMED, "text": "You call the robot Momo."}),
        ("agent", {"turn": 1, "quote": NAMED, "text": "Omo is called Momo from now on."}),
        ("agent", {"turn": 1, "quote": "I am Momo now.", "text": "Omo's name is Momo."}),
        ("profile", {"field": "name", "value": "Momo", "turn": 1, "quote": NAMED}),
    ],
)
async def test_who_the_robot_is_gets_into_no_other_part_of_memory(
    tmp_path: Path, part: str, entry: dict[str, Any]
) -> None:
    extractor, _ = modelled([json.dumps({"facts": [], part: [entry]})])
    said = page(NAMED, language="en")
    harvest = await extractor.extract([said], 0)
    assert not harvest.facts
    assert not harvest.profile
    if part == "facts":  # the others have checks of their own before
        assert harvest.misfiled == {MISFILED: 1}


async def test_what_the_rules_find_is_no_fact_if_it_only_names_the_robot(tmp_path: Path) -> None:
    with layered(tmp_path) as kept:
        kept.room.tell("これからあなたの名前はモモだよ。", "私は猫を飼っているよ。")
        drawn_ = await kept.room.memory.extract()
        assert [fact.quote for fact in drawn_] == ["私は猫を飼っているよ。"]
        kept.room.tell("Your name is Momo and I grow tomatoes.", language="en")
        assert len(await kept.room.memory.extract()) == 1


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("あなたの名前はハナ。", "私の名前はハナです。"),
        ("You like tea.", "Your name is Momo and I like tea."),
        ("Your sister is called Momo.", "My sister is called Momo."),
        ("Your cat's name is Momo.", "My cat's name is Momo."),
    ],
)
def test_what_tells_of_the_person_stays_a_fact(text: str, quote: str) -> None:
    assert not tells_of_persona(text, quote)


@pytest.mark.parametrize(
    "text",
    [
        "Omo's name is Momo.",
        "Omo is called Momo from now on.",
        "Omo said its name is Momo.",
        "Omo is now a pirate.",
        "オモは自分の名前はモモだと言った。",
        "オモの名前はモモだ。",
        "オモ的名字是小桃。",
        "奥莫说它的名字是小桃。",
    ],
)
def test_what_the_robot_says_it_is_called_is_no_trait_of_it(text: str) -> None:
    agent = "奥莫" if "奥莫" in text else "オモ" if "オモ" in text else "Omo"
    assert tells_of_persona(text, "", agent)


@pytest.mark.parametrize(
    "text",
    [
        "Omo recommended a film called Momo.",
        "Omo promised to remind you of the dentist.",
        "オモは猫の名前を一緒に考えた。",
        "オモ给你推荐了一本叫小桃的书。",
        "Omo's favourite colour is blue.",
    ],
)
def test_what_the_robot_did_stays_its_own(text: str) -> None:
    assert not tells_of_persona(text, "", "オモ" if "オモ" in text else "Omo")


def test_a_day_does_not_tell_what_the_robot_was_called() -> None:
    pages = [page("これからあなたの名前はモモだよ。今日は新しい自転車を買ったよ。")]
    assert most_telling(pages) == ["今日は新しい自転車を買ったよ。"]
