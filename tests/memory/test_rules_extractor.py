"""Facts in the person's own words, without a model."""

from dataclasses import replace

import pytest

from server.memory.extract import RulesExtractor
from tests.memory.remembering import page


@pytest.mark.parametrize(
    ("said", "language", "dated"),
    [
        ("I have a dentist appointment on October 6.", "en", "October 6, 2026"),
        ("I fly to Rome on Friday.", "en", "October 2, 2026"),
        ("5月に結婚した。", "ja", "2026年5月"),
        ("土曜に映画を見た。", "ja", "2026年9月26日"),
    ],
)
async def test_the_frame_around_a_quotation_says_nothing_of_its_time(
    said: str, language: str, dated: str
) -> None:
    [drawn] = (await RulesExtractor().extract([page(said, language=language)], 0)).facts
    assert dated in drawn.text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            "Can you remember that I'm allergic to penicillin?",
            "Can you remember that I'm allergic to penicillin?",
        ),
        ("I'm allergic to penicillin!", "I'm allergic to penicillin."),
        ("I'm allergic to penicillin", "I'm allergic to penicillin."),
    ],
)
async def test_an_english_quote_ends_in_one_mark(said: str, text: str) -> None:
    harvest = await RulesExtractor().extract([replace(page(said), language="en")], 0)
    [drawn] = harvest.facts
    assert f'"{text}"' in drawn.text.replace("“", '"').replace("”", '"')
