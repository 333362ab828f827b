"""What models are asked for is what is read of their answers, and what the instructions show."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.answer_forms import DAY, EXTRACT, LAYER, PORTRAIT, Form
from server.memory.answers import MOST_ENTRIES, read_answer, read_day, read_portrait
from server.memory.traits import load_dimensions
from server.prompting import PromptFiles
from tests.fakes import PROMPTS

FORMS = {"extract": EXTRACT, "portrait": PORTRAIT, "layer": LAYER, "summarize_day": DAY}
DIMENSIONS = [*load_dimensions(PromptFiles(PROMPTS))]
WORDS = st.text('猫犬abc \n"', min_size=1, max_size=8).map(lambda text: f"あ{text}")


def values(schema: Any) -> st.SearchStrategy[Any]:
    """Return what holds to a schema, as an engine with a grammar would write it."""
    match schema:
        case {"enum": words}:
            return st.sampled_from(words)
        case {"type": "string"}:
            return WORDS
        case {"type": "integer"}:
            return st.integers(1, 40)
        case {"type": "array", "items": inner}:
            return st.lists(values(inner), max_size=4)
        case {"type": "object", "properties": inner}:
            return st.fixed_dictionaries({key: values(each) for key, each in inner.items()})
    raise AssertionError(schema)


@given(values(EXTRACT.schema(DIMENSIONS).schema))
def test_whatever_holds_to_the_schema_of_a_batch_is_read_whole(told: dict[str, Any]) -> None:
    assume_turns(told)
    found = read_answer(json.dumps(told, ensure_ascii=False))
    for part in ("facts", "topics", "profile", "traits", "agent", "notes"):
        assert len(getattr(found, part)) == len(told[part]) <= MOST_ENTRIES
    assert [*found.continues] == told["continues"]
    assert found.chain == told["chain"].strip()
    assert not found.cut
    assert not found.unreadable
    for draft, entry in zip(found.notes, told["notes"], strict=True):
        assert draft.kind == entry["kind"]
    for fact, entry in zip(found.facts, told["facts"], strict=True):
        assert (fact.kind, fact.importance) == (entry["kind"], entry["importance"])


def assume_turns(told: dict[str, Any]) -> None:
    """A topic of no turns is none, whatever the schema lets pass."""
    told["topics"] = [topic for topic in told["topics"] if topic["turns"]]


@given(values(PORTRAIT.schema(DIMENSIONS).schema))
def test_whatever_holds_to_the_schema_of_a_portrait_is_read_whole(told: dict[str, Any]) -> None:
    found = read_portrait(json.dumps(told, ensure_ascii=False))
    assert {part: len(getattr(found, part)) for part in told} == {
        part: len(entries) for part, entries in told.items()
    }


@given(values(DAY.schema().schema))
def test_whatever_holds_to_the_schema_of_a_day_is_read_whole(told: dict[str, Any]) -> None:
    found = read_day(json.dumps(told, ensure_ascii=False))
    assert found.summary == told["summary"].strip()
    assert [*found.follow_ups] == [text.strip() for text in told["follow_ups"]]


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
@pytest.mark.parametrize("stem", FORMS)
def test_the_instructions_show_the_same_parts_and_fields(stem: str, language: str) -> None:
    told = PromptFiles(PROMPTS).in_language(stem, language)
    shown = json.loads(re.sub(r"(?:NUMBER|番号|编号)(?=[],}])", "1", told[told.rindex('{"' + next(iter(FORMS[stem].parts))) :]))  # fmt: skip
    properties = FORMS[stem].schema().schema["properties"]
    assert [*shown] == [*properties]
    for part, entries in shown.items():
        asked = properties[part].get("items", {}).get("properties", {})
        if part == "agent":  # what sorts a fact need not be told of the robot's
            asked = {key: asked[key] for key in ("turn", "quote", "text")}
        assert [*entries[0]] == [*asked] if asked else isinstance(entries, list | str)


def objects(schema: Any) -> list[Any]:
    """Return all objects in a schema."""
    inner = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    own = [schema] if schema["type"] == "object" else []
    return own + [found for each in inner for found in objects(each)]


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
def test_strict_engines_take_the_schema(form: Form) -> None:
    """They want every property required and no other."""
    asked = form.schema(DIMENSIONS)
    assert re.fullmatch(r"[a-z_]+", asked.name)
    for each in objects(asked.schema):
        assert each["required"] == [*each["properties"]]
        assert each["additionalProperties"] is False


def test_a_trait_is_in_a_dimension_that_there_is() -> None:
    def dimension(form: Form, dimensions: list[str]) -> Any:
        entry = form.schema(dimensions).schema["properties"]["traits"]["items"]
        return entry["properties"]["dimension"]

    assert dimension(EXTRACT, DIMENSIONS) == {"type": "string", "enum": DIMENSIONS}
    assert dimension(PORTRAIT, []) == {"type": "string"}
