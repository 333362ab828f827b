"""How much of what people may say about being remembered is understood, and that harmless sentences near it are left alone."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.config import SecrecySection
from server.memory.consent import wish_of
from server.memory.orders import bids_for_good
from server.memory.private import category_of
from server.memory.secrecy import redact
from server.memory.terms import has_kana

SAID: Mapping[str, Any] = yaml.safe_load(
    (Path(__file__).parents[1] / "data/consent/said.yaml").read_text(encoding="utf-8")
)


def language(text: str) -> str:
    if has_kana(text):
        return "ja"
    return "zh" if re.search("[\u4e00-\u9fff]", text) else "en"


def wish(text: str) -> str:
    wished = wish_of(text)
    return str(wished.wish) if wished else ""


def matter(text: str) -> str:
    return str(category_of(text, language(text)) or "")


@pytest.mark.parametrize(("kinds", "find"), [("wishes", wish), ("private", matter)])
def test_of_what_is_said_nineteen_in_twenty_are_sorted_right(kinds: str, find: Any) -> None:
    lists: Mapping[str, Sequence[str]] = SAID[kinds]
    wrong = [text for kind, texts in lists.items() for text in texts if find(text) != kind]
    assert len(wrong) * 20 <= sum(map(len, lists.values())), wrong


@pytest.mark.parametrize("code", ["en", "ja", "zh"])
def test_of_orders_for_good_nineteen_in_twenty_are_noticed(code: str) -> None:
    texts: Sequence[str] = SAID["orders"][code]
    missed = [text for text in texts if not bids_for_good(text)]
    assert len(missed) * 20 <= len(texts), missed


def test_nobody_is_taken_off_the_record_by_mistake() -> None:
    """A false "stop" is worse than a missed one."""
    assert [text for text in SAID["no_wishes"] if wish(text)] == []


def test_of_harmless_sentences_hardly_one_waits_for_a_yes() -> None:
    texts = [*SAID["not_private"], *SAID["no_orders"]]
    held = [text for text in texts if matter(text)]
    assert len(held) * 50 <= len(texts), held


def test_no_harmless_number_or_word_is_taken_for_a_secret() -> None:
    section = SecrecySection()
    texts = SAID["no_secrets"]
    assert [text for text in texts if redact(text, language(text), section) != text] == []
