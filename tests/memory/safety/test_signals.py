"""Danger signs in what people say: which are heard, how grave they are, and what is no sign."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.safety.models import Severity, SignalKind
from server.memory.safety.signals import find_signals
from tests.memory.remembering import NOON

DATA = Path(__file__).parents[2] / "data" / "safety"
SEEN, LATE, UNSEEN = "seen", "late", "unseen"
"""The rules were mended on the first part, and for some kinds on the second; the third was only counted."""


def rows(name: str, half: str) -> list[dict[str, str]]:
    lines = (DATA / f"{name}.{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def signs(text: str, language: str) -> dict[str, str]:
    """Return the gravest sign of each kind."""
    found = sorted(find_signals(text, language, NOON), key=lambda sign: sign.severity.rank)
    return {str(sign.kind): str(sign.severity) for sign in found}


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
@pytest.mark.parametrize(("part", "least"), [(SEEN, 0.95), (LATE, 0.5), (UNSEEN, 0.55)])
def test_signs_are_heard_in_the_sentences_of_a_language(
    part: str, least: float, language: str
) -> None:
    told = [row for row in rows("signals", part) if row["language"] == language]
    assert len(told) >= 22
    missed = [row["text"] for row in told if row["kind"] not in signs(row["text"], language)]
    assert len(missed) <= (1 - least) * len(told), missed


@pytest.mark.parametrize(("part", "most"), [(SEEN, 0.01), (LATE, 0.05), (UNSEEN, 0.1)])
def test_hardly_any_harmless_sentence_is_taken_for_a_sign(part: str, most: float) -> None:
    told = rows("harmless", part)
    wrong = [row["text"] for row in told if signs(row["text"], row["language"])]
    assert len(wrong) <= most * len(told), wrong


@pytest.mark.parametrize(
    ("language", "text", "kind", "severity"),
    [
        ("en", "My chest hurts and I can't breathe.", "symptom", "urgent"),
        ("en", "I've got a bit of a headache.", "symptom", "watch"),
        ("en", "I fell in the bathroom and I can't get up.", "fall", "urgent"),
        ("en", "I fell in the bathroom this morning.", "fall", "concern"),
        ("en", "I nearly fell on the stairs.", "fall", "watch"),
        ("en", "I want to kill myself.", "self-harm", "urgent"),
        ("en", "I took too many pills.", "medication", "urgent"),
        ("en", "I forgot to take my pills.", "medication", "watch"),
        ("en", "He hits me.", "abuse", "concern"),
        ("en", "He tried to kill me.", "abuse", "urgent"),
        ("en", "Call an ambulance, my husband has collapsed!", "distress", "urgent"),
        ("en", "Can you call an ambulance?", "distress", "urgent"),
        ("ja", "救急車を呼んで！", "distress", "urgent"),
        ("zh", "快叫救护车！", "distress", "urgent"),
        ("ja", "胸が痛いの。", "symptom", "urgent"),
        ("ja", "頭が痛い。", "symptom", "watch"),
        ("ja", "死にたい。", "self-harm", "urgent"),
        ("ja", "転んじゃった。", "fall", "concern"),
        ("zh", "我胸口疼。", "symptom", "urgent"),
        ("zh", "我不想活了。", "self-harm", "urgent"),
        ("zh", "我摔了一跤。", "fall", "concern"),
        ("zh", "我頭暈得厲害。", "symptom", "watch"),
        ("zh", "我胸口悶，喘不上氣。", "symptom", "urgent"),
    ],
)
def test_a_sign_is_as_grave_as_it_sounds(
    language: str, text: str, kind: str, severity: str
) -> None:
    assert signs(text, language)[kind] == severity


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I'm not dizzy any more."),
        ("en", "My neighbour fell."),
        ("en", "If I fall, who will come?"),
        ("en", "Ten years ago I had a heart attack."),
        ("en", "In the film the hero wants to die."),
        ("en", "I laughed till my stomach hurt."),
        ("en", "I don't want to die."),
        ("ja", "痛くない。"),
        ("ja", "息子が転んだ。"),
        ("ja", "死ぬほど笑った。"),
        ("ja", "昔、階段から落ちたことがある。"),
        ("ja", "死にたくないよ。"),
        ("zh", "我不头晕了。"),
        ("zh", "我妈妈摔倒了。"),
        ("zh", "这是个头疼的问题。"),
        ("zh", "笑死我了。"),
        ("zh", "我媽媽摔倒了。"),
        ("zh", "我不頭暈了。"),
    ],
)
def test_what_is_denied_others_supposed_past_or_a_figure_of_speech_is_no_sign(
    language: str, text: str
) -> None:
    assert signs(text, language) == {}


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("en", "My chest hurts, what should I do?", "symptom"),
        ("en", "Please call my daughter, I've fallen.", "fall"),
        ("en", "Why does my chest hurt so much?", "symptom"),
        ("ja", "転んじゃったんだけど、どうしたらいい？", "fall"),
        ("zh", "我胸口疼怎么办？", "symptom"),
        ("en", "Would anyone care if I died?", "self-harm"),
    ],
)
def test_who_asks_for_help_with_a_sign_is_heard(language: str, text: str, kind: str) -> None:
    assert kind in signs(text, language)


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("zh", "被猫绊了一下,手腕肿起来了。", "fall"),
        ("zh", "护工趁没人的时候掐我。", "abuse"),
        ("zh", "头疼得要炸了。", "symptom"),
        ("ja", "ヘルパーさんが誰も見てないとこでつねるの。", "abuse"),
        ("en", "One side of my face has gone droopy.", "symptom"),
    ],
)
def test_a_doer_a_degree_and_a_place_deny_nothing(language: str, text: str, kind: str) -> None:
    assert kind in signs(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "株価が転げ落ちたね。"),
        ("zh", "当时尴尬得要死。"),
        ("zh", "风景美得让人喘不过气。"),
        ("zh", "我们队昨天被打得落花流水。"),
        ("en", "When I was ten I broke my arm."),
    ],
)
def test_things_that_fall_degrees_and_childhood_are_no_signs(language: str, text: str) -> None:
    assert signs(text, language) == {}


def test_the_quote_is_the_sentence_as_it_was_said() -> None:
    [sign] = find_signals("Good morning. I've been dizzy since breakfast. Lovely day!", "en", NOON)
    assert sign.quote == "I've been dizzy since breakfast."
    assert (sign.kind, sign.severity) == (SignalKind.SYMPTOM, Severity.WATCH)


def test_what_is_taken_back_is_no_sign() -> None:
    assert find_signals("My back is killing me. Just kidding.", "en", NOON) == []


@given(st.text(max_size=300), st.sampled_from(["ja", "en", "zh", "de"]))
def test_whatever_is_said_is_read_without_fault_and_quoted_word_for_word(
    text: str, language: str
) -> None:
    for sign in find_signals(text + "。胸が痛い。", language, NOON):
        assert sign.quote in text + "。胸が痛い。"
