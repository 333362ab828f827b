"""What must never fade is known by a few sure signs; what is of no interest within weeks, too."""

import pytest

from server.memory.importance import importance_of
from server.memory.models import Importance, Kind


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("あなたの母は去年亡くなった。", "ja"),
        ("あなたは卵アレルギーだ。", "ja"),
        ("あなたの妹の名前は美咲だ。", "ja"),
        ("あなたは絶対に肉を食べない。", "ja"),
        ("Your sister passed away in March.", "en"),
        ("You lost your husband.", "en"),
        ("You are allergic to peanuts.", "en"),
        ("Your birthday is on May 3.", "en"),
        ("You never eat meat.", "en"),
        ("你的妈妈去年去世了。", "zh"),
        ("你对花生过敏。", "zh"),
    ],
)
def test_losses_health_names_and_firm_dislikes_last(text: str, language: str) -> None:
    assert importance_of(text, language, Kind.OTHER) is Importance.LASTING


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("あなたは昨日うどんを食べた。", "ja"),
        ("あなたはテレビで相撲を見た。", "ja"),
        ("You watched a film on TV.", "en"),
        ("You had soup for lunch.", "en"),
        ("你昨天吃了面条。", "zh"),
    ],
)
def test_meals_and_television_fade_unless_they_are_a_habit(text: str, language: str) -> None:
    assert importance_of(text, language, Kind.EVENT) is Importance.FLEETING
    assert importance_of(text, language, Kind.HABIT) is Importance.ORDINARY


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("あなたは来週箱根へ行く。", "ja"),
        ("あなたは我慢している。", "ja"),
        ("You lost your keys.", "en"),
        ("You passed an exam.", "en"),
        ("你累死了。", "zh"),
        ("你下周去箱根。", "zh"),
    ],
)
def test_most_facts_are_ordinary(text: str, language: str) -> None:
    assert importance_of(text, language, Kind.OTHER) is Importance.ORDINARY
