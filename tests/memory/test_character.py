"""The persona as replies are checked against it, and the User layer as a view."""

from pathlib import Path

import pytest

from server.config import PersonaSection
from server.memory.layers.character import character_of
from server.memory.layers.document import Document
from server.memory.layers.fields import FieldKey
from server.memory.layers.persona import Persona, PersonaReader
from server.memory.layers.user import MOST_LINES, user_layer
from server.memory.models import Kind, Level, ProfileEntry, ProfileField, Trait
from server.memory.traits import load_dimensions
from server.prompting import PROMPTS, PromptFiles
from tests.memory.remembering import NOON, fact


def persona(**lines: str) -> Persona:
    reader = PersonaReader(PromptFiles(PROMPTS), PersonaSection())
    return reader.read(Document({FieldKey[key.upper()]: (line,) for key, line in lines.items()}))


def test_our_own_persona_has_names_and_calls_itself_something() -> None:
    character = character_of(persona())
    assert character.names == ("Omo", "オモ")
    assert character.first_person == ("ぼく",)
    assert character.forbidden_topics == ()
    assert character.is_fixed(FieldKey.NAME)
    assert not character.is_fixed(FieldKey.VOICE)


@pytest.mark.parametrize(
    ("voice", "first"),
    [
        ("一人称は「わし」です。", "わし"),
        ("自分のことを「オモ」と呼ぶ。", "オモ"),
        ('You call yourself "this robot".', "this"),
        ("自称“本宝宝”。", "本宝宝"),
    ],
)
def test_how_it_calls_itself_is_read_from_its_voice(voice: str, first: str) -> None:
    assert character_of(persona(voice=voice)).first_person == (first,)


@pytest.mark.parametrize(
    ("boundary", "topics"),
    [
        ("You never talk about politics, religion or money.", ("politics", "religion", "money")),
        ("You do not discuss other people's health.", ("other people's health",)),
        ("政治や宗教の話はしない。", ("政治", "宗教")),
        ("政治については話さない。", ("政治",)),
        ("不谈论政治、宗教。", ("政治", "宗教")),
        ("You do not diagnose.", ()),
    ],
)
def test_what_it_does_not_speak_about_is_read_from_its_boundaries(
    boundary: str, topics: tuple[str, ...]
) -> None:
    assert character_of(persona(boundaries=boundary)).forbidden_topics == topics


def test_an_owners_free_text_tells_the_same(tmp_path: Path) -> None:
    (tmp_path / "soul.md").write_text("Never talk about spiders.", encoding="utf-8")
    (tmp_path / "identity.md").write_text("一人称は「おれ」。", encoding="utf-8")
    character = character_of(PromptFiles(tmp_path).persona())
    assert (character.forbidden_topics, character.first_person) == (("spiders",), ("おれ",))


def test_the_user_layer_sorts_what_is_known() -> None:
    dimensions = load_dimensions(PromptFiles(PROMPTS))
    some = next(iter(dimensions))
    facts = [
        fact("You like tea.", kind=Kind.PREFERENCE, language="en"),
        fact("You want to run a marathon.", kind=Kind.PLAN, language="en"),
        fact("You have a sister.", kind=Kind.RELATION, language="en"),
    ]
    layer = user_layer(
        [ProfileEntry("hana", ProfileField.NAME, "Hana", NOON, ())],
        [
            Trait("hana", some, Level.HIGH, NOON, ("page",)),
            Trait("hana", "none-such", Level.HIGH, NOON, ("page",)),
        ],
        facts,
        dimensions,
        "en",
        NOON.date(),
    )
    assert layer.name == "Hana"
    assert layer.traits == (f"{dimensions[some].name('en')}: high",)
    assert layer.preferences == ("You like tea.",)
    assert layer.goals == ("You want to run a marathon.",)
    assert layer.facts == ("You have a sister.",)


def test_the_user_layer_is_short_and_starts_empty() -> None:
    liked = [
        fact(f"You like tea number {number}.", kind=Kind.PREFERENCE, language="en")
        for number in range(MOST_LINES + 5)
    ]
    assert len(user_layer([], [], liked, {}, "en", NOON.date()).preferences) == MOST_LINES
    empty = user_layer([], [], [], {}, "en", NOON.date())
    assert (empty.name, empty.facts, empty.goals) == ("", (), ())
