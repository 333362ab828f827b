"""Reading what a model answered: whole facts out of whatever stands around them, and nothing out of talk."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import OmoideError
from server.memory.answer_parts import Draft, TopicDraft, numbers_of, texts_of
from server.memory.answers import (
    MOST_ENTRIES,
    MOST_FACTS,
    MOST_TOPICS,
    Answer,
    read_answer,
    read_portrait,
)
from server.prompting import PromptFiles
from tests.fakes import PROMPTS

LANGUAGES = ("ja", "en", "zh")
CAT = '{"turn": 1, "quote": "猫を飼ってる", "text": "あなたは猫を飼っている。", "kind": "profile"}'
DOG = '{"turn": 2, "quote": "犬も飼ってる", "text": "あなたは犬も飼っている。", "kind": "profile"}'
LIST = f'{{"facts": [{CAT}, {DOG}]}}'
BOTH = ["あなたは猫を飼っている。", "あなたは犬も飼っている。"]


def instructions(language: str) -> str:
    return PromptFiles(PROMPTS).in_language("extract", language)


def drafts_of(answer: str) -> tuple[Draft, ...]:
    return read_answer(answer).facts


def texts(answer: str) -> list[str]:
    return [draft.text for draft in read_answer(answer).facts]


@pytest.mark.parametrize(
    "answer",
    [
        LIST,
        f"Here are the facts:\n```json\n{LIST}\n```\nHope it helps",  # row 12
        f"```json\n{LIST}\n```\nI left out the greeting {{as asked}}.",  # row 13
        f"```json\n{LIST}",  # row 15
        f"```\n{CAT}\n{DOG}",  # row 84, without a list
        f"[{CAT}, {DOG}]",  # row 55: a list instead of an object
        f'{{"facts": {CAT}}}\n{{"facts": {DOG}}}',  # row 55: an object instead of a list
        f'{{"facts": {{"facts": [{CAT}, {DOG}]}}}}',
        f"<think>Two animals {{ }} [1]</think>{LIST}",
        f'{{"facts": [{CAT}, {DOG}, {{"turn": 3, "quote": "鳥',  # cut off
        f'{{"thoughts": "…"}} {LIST}',
        LIST.replace("\n", "\r\n").replace(", ", ",\n\t"),
    ],
)
def test_facts_are_found_in_whatever_stands_around_them(answer: str) -> None:
    assert texts(answer) == BOTH


@pytest.mark.parametrize(
    ("answer", "cut"),
    [
        (LIST, False),
        (f"```json\n{LIST}", False),
        (f"{LIST}\nI left out the greeting {{as asked}}.", False),
        (f'{{"facts": [{CAT}, {DOG}, {{"turn": 3, "quote": "鳥', True),
        (f'{{"facts": [{CAT}, {DOG}, ', True),
        (f'{{"facts": [{CAT}, {DOG}', True),
        (f'{{"facts": [{CAT}, {DOG}]', False),  # whole, and nothing else is missed
        (f'[{CAT}, {DOG}, {{"turn": 3, "quote": "鳥', True),
        (f'{{"topics": [], "facts": [{CAT}, ', True),
        (f'{{"facts": [{CAT}]}}\n{{"facts": [{DOG}, ', True),
    ],
)
def test_an_answer_that_breaks_off_is_known(answer: str, cut: bool) -> None:
    assert read_answer(answer).cut is cut


@pytest.mark.parametrize(
    "answer",
    [
        "",
        '{"facts": [{"fact": "あなたは猫を飼っている。"}]}',
        '[{"type": "error", "message": "overloaded"}]',
        '{"facts": [{"text": null, "quote": "猫"}]}',
        "この会話には、抜き出すような情報はありません。",  # row 19
        "There is no profile information in this dialogue.",
        "Error: Could not get response from LLM.",  # row 3
        "申し訳ありませんが、お手伝いできません。",
        "null",
        '"facts"',
        "42",
        '{"error": {"message": "overloaded"}}',
        '{"facts": "none"}',
        '{"facts": null}',
        "[1, 2, 3]",
        '["あなたは猫を飼っている。"]',
        '{"facts": [{"turn": 1, "quote": "猫',
        "{" * 5_000,
        "[" * 20_000,
        '{"a":' * 20_000,
    ],
)
def test_an_answer_that_is_no_list_of_facts_is_a_failure_and_not_an_empty_list(answer: str) -> None:
    """Rows 3, 18, 19: else the turns would be done with, and their facts gone for ever."""
    with pytest.raises(OmoideError) as caught:
        read_answer(answer)
    assert caught.value.code == "extraction-malformed"


PARTS = {
    "facts": [json.loads(CAT), json.loads(DOG)],
    "topics": [
        {"turns": [1, 2], "keywords": ["猫", "犬"], "summary": "飼っている動物の話。"},
        {"turns": [3], "keywords": ["旅行"], "summary": "箱根への旅行の話。"},
    ],
    "continues": [2],
    "chain": "飼っている動物の話。",
    "profile": [{"field": "home", "value": "京都", "turn": 1, "quote": "京都に住んでる"}],
    "traits": [{"dimension": "animals", "level": "high", "turns": [1, 2]}],
    "agent": [{"turn": 1, "quote": "歌います", "text": "Omoは歌を歌った。"}],
    "notes": [{"kind": "mood", "text": "うれしそう。", "turn": 1, "quote": "うれしい"}],
}
WHOLE = json.dumps(PARTS, ensure_ascii=False)


def counts(found: Answer) -> dict[str, int]:
    return {part: len(getattr(found, part)) for part in PARTS}


@pytest.mark.parametrize(
    "answer",
    [
        WHOLE,
        f"Here you are:\n```json\n{WHOLE}\n```\nHope it helps",  # row 12
        f"```json\n{WHOLE}",  # row 15
        f"[{WHOLE}]",  # row 55
        f'{{"result": {WHOLE}}}',
        "\n".join(json.dumps({part: inner}) for part, inner in PARTS.items()),
    ],
)
def test_all_parts_are_found_in_whatever_stands_around_them(answer: str) -> None:
    """Row 84: a fence around the topics put everything in one segment."""
    found = read_answer(answer)
    assert counts(found) == counts(read_answer(WHOLE))
    assert found.topics[0] == TopicDraft((1, 2), ("猫", "犬"), "飼っている動物の話。")
    assert (found.continues, found.chain) == ((2,), "飼っている動物の話。")
    assert not found.cut
    assert not found.unreadable


@given(st.integers(WHOLE.index("topics"), len(WHOLE)))
def test_an_answer_that_breaks_off_behind_its_facts_keeps_what_is_whole(end: int) -> None:
    found, whole = read_answer(WHOLE[:end]), read_answer(WHOLE)
    assert not found.cut
    assert found.facts == whole.facts
    for part in ("topics", "profile", "traits", "agent", "notes", "continues"):
        there, all_there = getattr(found, part), getattr(whole, part)
        assert there == all_there[: len(there)]
    assert found.chain in ("", whole.chain)
    begun = [part for part in PARTS if f'"{part}": ' in WHOLE[:end]]
    for part in begun[:-1]:  # all but the last were written to their end
        assert getattr(found, part) == getattr(whole, part)


@pytest.mark.parametrize(
    "bad", ['"none"', "null", "7", "[5, null]", '[{"a": 1}]', "{}", '[["x"]]', "true"]
)
@pytest.mark.parametrize("part", [part for part in PARTS if part != "facts"])
def test_a_part_that_cannot_be_understood_is_counted_and_spoils_nothing(
    part: str, bad: str
) -> None:
    """Row 28."""
    found = read_answer(
        json.dumps({**PARTS, part: "BAD"}, ensure_ascii=False).replace('"BAD"', bad)
    )
    whole = counts(read_answer(WHOLE))
    assert {**counts(found), part: 0} == {**whole, part: 0}
    if part not in ("continues", "chain"):
        assert getattr(found, part) == ()
        assert set(found.unreadable) == {part}


def test_broken_json_in_one_part_costs_that_entry_only() -> None:
    broken = WHOLE.replace('"turns": [1, 2], "keywords"', '"turns": [1, 2] "keywords"')
    found, whole = read_answer(broken), read_answer(WHOLE)
    assert found.topics == whole.topics[1:]
    assert (found.facts, found.profile, found.notes) == (whole.facts, whole.profile, whole.notes)
    assert found.chain == whole.chain


def test_parts_of_a_model_in_a_loop_are_cut_short() -> None:
    """Row 16."""
    many = {**PARTS, **{part: PARTS[part] * 50 for part in ("topics", "profile", "notes")}}  # type: ignore[operator]
    found = read_answer(json.dumps(many))
    assert len(found.topics) == MOST_TOPICS
    assert len(found.profile) == len(found.notes) == MOST_ENTRIES
    assert found.unreadable == {"topics": 96, "profile": 30, "notes": 30}


@pytest.mark.parametrize(
    "answer", ['{"topics": []}', f'{{"topics": {json.dumps(PARTS["topics"])}}}']
)
def test_an_answer_without_facts_is_a_failure_whatever_else_it_holds(answer: str) -> None:
    with pytest.raises(OmoideError):
        read_answer(answer)


def test_a_portrait_needs_no_facts_and_reads_none() -> None:
    found = read_portrait(WHOLE)
    assert (found.facts, found.topics, found.notes) == ((), (), ())
    assert (len(found.profile), len(found.traits), len(found.agent)) == (1, 1, 1)
    assert read_portrait(f"[{WHOLE}]") == found
    assert read_portrait('{"traits": []}').traits == ()


@pytest.mark.parametrize(
    "answer", ["", "No profile information.", '{"facts": []}', '{"traits": "none"}']
)
def test_a_portrait_that_is_a_sentence_is_a_failure(answer: str) -> None:
    """Row 19."""
    with pytest.raises(OmoideError):
        read_portrait(answer)


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ([1, "2", [3], 4.5, None, True], (1, 2, 3)),
        ("1, 2", (1, 2)),
        (7, (7,)),
        ("2.5", ()),
        ({}, ()),
    ],
)
def test_numbers_are_read_however_they_are_written(value: object, numbers: tuple[int, ...]) -> None:
    assert numbers_of(value) == numbers


def test_keywords_may_stand_in_one_line() -> None:
    assert texts_of("猫、犬, bird") == ("猫", "犬", "bird")
    assert texts_of(["猫", 5, " ", "犬"]) == ("猫", "犬")


@pytest.mark.parametrize(
    "answer",
    [
        '{"facts": []}',
        "[]",
        '```json\n{"facts": []}\n```',
        '```json\n{\n  "facts": []\n}\n```\nNothing in it is about the speaker\'s life.',
        'There is nothing to take: {"facts": []}',
        '<think>Only a greeting.</think>{"facts": []}',
        '抜き出すことはありません。\n{"facts": []}\n',
    ],
)
def test_only_an_empty_list_says_that_there_is_nothing(answer: str) -> None:
    for language in LANGUAGES:
        assert read_answer(answer, instructions(language)).facts == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_repeats_what_it_was_told_does_not_say_that_there_is_nothing(
    language: str,
) -> None:
    """The instructions hold an empty list as an example; the turns would be done with."""
    told = instructions(language)
    talk = "[1] 2026-09-27 12:00\nSpeaker: I moved to Leeds.\nRobot: I see."
    [line] = [line for line in told.splitlines() if '{"facts": []}' in line]
    for echo in (told, f"{told}\n{talk}", line, line.rstrip("。."), f'{told}\n{{"facts": []}}'):
        with pytest.raises(OmoideError):
            read_answer(echo, told)


def test_a_model_that_thinks_over_what_it_was_told_may_find_nothing() -> None:
    told = instructions("en")
    assert read_answer(f'<think>{told}\nA greeting.</think>\n{{"facts": []}}', told).facts == ()


@pytest.mark.parametrize(
    "answer",
    [
        'I could write [] or {"facts": []} but did not read it.',
        "The talk [] was long.",
        'With {"facts": []} I would say that there is nothing. Is that what you want?',
        'I could write {"facts": [] but did not read it.',
        'You asked for {"facts": [], "topics": [{"turns": [1',
    ],
)
def test_an_empty_list_in_the_middle_of_prose_is_no_answer(answer: str) -> None:
    with pytest.raises(OmoideError):
        read_answer(answer)


@pytest.mark.parametrize(
    "rest",
    [
        '"topics": [{"turns": [1, 2], "keywords": ["ca',
        '"topics": [{"turns": [1, 2] "keywords": ["cats"], "summary": "Cats."}]}',
        '"chain": "Cats.", "notes": [}',
    ],
)
def test_an_empty_list_counts_though_something_else_in_the_answer_is_broken(rest: str) -> None:
    assert read_answer(f'{{"facts": [], {rest}').facts == ()
    assert read_answer(f'```json\n{{"chain": "", "facts": [],\n{rest}').facts == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_portrait_that_repeats_what_a_model_was_told_is_none(language: str) -> None:
    told = PromptFiles(PROMPTS).in_language("portrait", language)
    for echo in (f'{told}\n{{"profile": []}}', f'{{"profile": []}}\n{told}'):
        with pytest.raises(OmoideError):
            read_portrait(echo.replace("NUMBER", "?"), told)


def test_a_model_in_a_loop_is_not_believed() -> None:
    """Row 16: 568 facts."""
    with pytest.raises(OmoideError):
        read_answer(json.dumps({"facts": [json.loads(CAT)] * (MOST_FACTS + 1)}))
    assert (
        len(read_answer(json.dumps({"facts": [json.loads(CAT)] * MOST_FACTS})).facts) == MOST_FACTS
    )


def test_a_fact_without_its_parts_is_left_out_and_the_others_are_read() -> None:
    """Row 28."""
    bad = '{"text": 7}, {"text": null, "quote": "a"}, {"text": "a", "quote": ["b"]}, {"quote": "a"}, 5, "x", null'
    assert texts(f'{{"facts": [{bad}, {CAT}]}}') == BOTH[:1]


@pytest.mark.parametrize("turn", ['"2"', "null", "2.5", "[]", "true", "-1", "99"])
def test_a_strange_number_of_a_turn_is_no_obstacle(turn: str) -> None:
    (draft,) = drafts_of(f'{{"facts": [{{"turn": {turn}, "quote": "a", "text": "b"}}]}}')
    assert isinstance(draft.turn, int)


def test_escaped_pairs_become_one_character() -> None:
    r"""Row 58: \ud83c\udf78 was decoded one by one."""
    (draft,) = drafts_of(
        r'{"facts": [{"text": "あなたは\ud83c\udf78が好き。", "quote": "\u732b"}]}'
    )
    assert draft == Draft(0, "猫", "あなたは🍸が好き。", "")


def test_half_a_pair_and_nul_are_left_out() -> None:
    r"""Row 57: \ud83d alone can't be embedded, stored or sent."""
    (draft,) = drafts_of(r'{"facts": [{"text": "a\ud83d\u0000b", "quote": "\udf78c"}]}')
    assert (draft.text, draft.quote) == ("ab", "c")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["facts", "topics", "chain", "notes", "text", "quote", "turn", "turns", "kind", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(
    st.text(max_size=80) | json_values.map(json.dumps) | st.text('{}[]",:\\factsx0 \n', max_size=60)
)
def test_no_answer_crashes_the_reader(answer: str) -> None:
    drafts: tuple[Draft, ...] = ()
    with suppress(OmoideError):
        drafts = drafts_of(answer)
    assert all(isinstance(draft.text, str) and isinstance(draft.turn, int) for draft in drafts)


@given(st.integers(0, len(LIST)), st.text('{}[]",\n', max_size=3))
def test_an_answer_cut_anywhere_gives_nothing_that_was_not_in_it(cut: int, rest: str) -> None:
    try:
        found = texts(LIST[:cut] + rest)
    except OmoideError:
        found = []
    said = [text.rstrip("{}[],\n") for text in found]  # what was put behind the cut
    assert all(any(whole.startswith(text) for whole in BOTH) for text in said)
