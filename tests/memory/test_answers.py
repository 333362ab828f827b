"""Reading what a model answered: whole facts out of whatever stands around them, and nothing out of talk."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import OmoideError
from server.memory.answers import MOST_FACTS, Draft, read_drafts
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
    return read_drafts(answer).whole


def texts(answer: str) -> list[str]:
    return [draft.text for draft in read_drafts(answer).whole]


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
    ],
)
def test_an_answer_that_breaks_off_is_known(answer: str, cut: bool) -> None:
    assert read_drafts(answer).cut is cut


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
        read_drafts(answer)
    assert caught.value.code == "extraction-malformed"


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
        assert read_drafts(answer, instructions(language)).whole == ()


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
            read_drafts(echo, told)


def test_a_model_that_thinks_over_what_it_was_told_may_find_nothing() -> None:
    told = instructions("en")
    assert read_drafts(f'<think>{told}\nA greeting.</think>\n{{"facts": []}}', told).whole == ()


@pytest.mark.parametrize(
    "answer",
    [
        'I could write [] or {"facts": []} but did not read it.',
        "The talk [] was long.",
        'With {"facts": []} I would say that there is nothing. Is that what you want?',
    ],
)
def test_an_empty_list_in_the_middle_of_prose_is_no_answer(answer: str) -> None:
    with pytest.raises(OmoideError):
        read_drafts(answer)


def test_a_model_in_a_loop_is_not_believed() -> None:
    """Row 16: 568 facts."""
    with pytest.raises(OmoideError):
        read_drafts(json.dumps({"facts": [json.loads(CAT)] * (MOST_FACTS + 1)}))
    assert (
        len(read_drafts(json.dumps({"facts": [json.loads(CAT)] * MOST_FACTS})).whole) == MOST_FACTS
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
    assert draft == Draft("あなたは🍸が好き。", "猫", 0, "")


def test_half_a_pair_and_nul_are_left_out() -> None:
    r"""Row 57: \ud83d alone can't be embedded, stored or sent."""
    (draft,) = drafts_of(r'{"facts": [{"text": "a\ud83d\u0000b", "quote": "\udf78c"}]}')
    assert (draft.text, draft.quote) == ("ab", "c")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["facts", "text", "quote", "turn", "kind", "x"]), inner, max_size=5
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
