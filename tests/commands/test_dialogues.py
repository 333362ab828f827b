"""Dialogues in the form of LoCoMo: turns become exchanges, and what is no such file is refused in a sentence."""

import json
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from server.commands.dialogues import Dialogue, read_dialogues
from server.errors import ConfigError
from server.memory.lines import Role, read_line

SAID, HEARD = Role.SAID, Role.HEARD
TOKYO = ZoneInfo("Asia/Tokyo")
LOCOMO_DATE = "1:56 pm on 8 May, 2023"
OWN_SETS = Path(__file__).parents[1] / "data" / "dialogues"


def turn(id_: str, speaker: str, text: str = "Well.", **more: Any) -> dict[str, Any]:
    return {"dia_id": id_, "speaker": speaker, "text": text, **more}


def entry(*sessions: str, qa: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """Return a dialogue of Ann and Bo; a session is told by the first letters of who speaks in it."""
    conversation: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Bo"}
    for number, speakers in enumerate(sessions, 1):
        names = [{"A": "Ann", "B": "Bo"}[letter] for letter in speakers]
        conversation[f"session_{number}_date_time"] = f"2023-05-{number:02}T10:00"
        conversation[f"session_{number}"] = [
            turn(f"D{number}:{place}", name, f"turn {number}:{place}")
            for place, name in enumerate(names, 1)
        ]
    return {"sample_id": "a", "conversation": conversation, "qa": qa or [], **more}


def question(**more: Any) -> dict[str, Any]:
    return {"question": "Who?", "answer": "Ann", "evidence": ["D1:1"], "category": 4, **more}


def write(folder: Path, content: object) -> Path:
    path = folder / "set.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def read(folder: Path, *entries: dict[str, Any], **options: Any) -> list[Dialogue]:
    dialogues, _ = read_dialogues(write(folder, list(entries)), **options)
    return dialogues


def pairs(dialogue: Dialogue) -> list[tuple[str, str]]:
    """Return the ids of the turns of each exchange."""
    return [(turns.get(SAID, ""), turns.get(HEARD, "")) for _, turns in dialogue.pages()]


@pytest.mark.parametrize(
    ("sessions", "expected"),
    [
        (["AB"], [("D1:1", "D1:2")]),
        (["ABAB"], [("D1:1", "D1:2"), ("D1:3", "D1:4")]),
        (["AAB"], [("D1:1", ""), ("D1:2", "D1:3")]),
        (["ABB"], [("D1:1", "D1:2"), ("", "D1:3")]),
        (["BA"], [("", "D1:1"), ("D1:2", "")]),
        (["BAB"], [("", "D1:1"), ("D1:2", "D1:3")]),
        (["BBB"], [("", "D1:1"), ("", "D1:2"), ("", "D1:3")]),
        (["A", "B"], [("D1:1", ""), ("", "D2:1")]),
        (["AB", "", "A"], [("D1:1", "D1:2"), ("D3:1", "")]),
    ],
)
def test_a_turn_and_its_answer_are_a_page(
    tmp_path: Path, sessions: list[str], expected: list[tuple[str, str]]
) -> None:
    [dialogue] = read(tmp_path, entry(*sessions))
    assert pairs(dialogue) == expected


def test_a_page_holds_what_was_said_and_when(tmp_path: Path) -> None:
    [dialogue] = read(tmp_path, entry("ABA", sample_id="talk 1", language="zh"), zone=TOKYO)
    [(first, _), (second, _)] = dialogue.pages()
    assert (first.said, first.heard) == ("turn 1:1", "turn 1:2")
    assert (second.said, second.heard) == ("turn 1:3", "")
    assert first.at == datetime(2023, 5, 1, 10, tzinfo=TOKYO)
    assert second.at > first.at
    assert (first.id, second.id) == ("talk 1 D1:1", "talk 1 D1:3")
    assert (first.person, first.language) == ("talk 1", "zh")


def test_every_turn_is_in_one_page_and_in_order(tmp_path: Path) -> None:
    [dialogue] = read(tmp_path, entry("AABBBABA", "BBAA"))
    found = [id_ for pair in pairs(dialogue) for id_ in pair if id_]
    assert found == [turn.id for turn in dialogue.utterances]
    times = [page.at for page, _ in dialogue.pages()]
    assert times == sorted(times)


def test_the_first_speaker_stands_for_the_person(tmp_path: Path) -> None:
    [dialogue] = read(tmp_path, entry("AB"))
    assert [turn.role for turn in dialogue.utterances] == [SAID, HEARD]
    assert (dialogue.speakers.person, dialogue.speakers.other) == (("Ann",), ("Bo",))


def test_a_picture_that_was_shown_is_read_by_its_caption(tmp_path: Path) -> None:
    told = entry("AB")
    told["conversation"]["session_1"][0]["blip_caption"] = "a photo of a dog"
    told["conversation"]["session_1"][1]["blip_caption"] = None
    [dialogue] = read(tmp_path, told)
    assert [turn.text for turn in dialogue.utterances] == ["turn 1:1 a photo of a dog", "turn 1:2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOCOMO_DATE, "2023-05-08T13:56:00+09:00"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00+09:00"),
        ("2023-05-08T13:56", "2023-05-08T13:56:00+09:00"),
        ("2023-05-08", "2023-05-08T00:00:00+09:00"),
        ("2023-05-08T13:56:00-04:00", "2023-05-08T13:56:00-04:00"),
        ("2023-05-08T13:56:00Z", "2023-05-08T13:56:00+00:00"),
    ],
)
def test_times_are_those_of_the_zone_unless_they_name_one(
    tmp_path: Path, text: str, expected: str
) -> None:
    """Row 40: naive times, Z and offsets in one set."""
    told = entry("A", qa=[question(asked_at=text)])
    told["conversation"]["session_1_date_time"] = text
    [dialogue] = read(tmp_path, told, zone=TOKYO)
    moment = datetime.fromisoformat(expected)
    assert dialogue.utterances[0].at == dialogue.questions[0].asked_at == moment
    assert dialogue.utterances[0].at.utcoffset() == moment.utcoffset()


def test_a_question_is_asked_a_day_after_the_last_turn_unless_it_says_when(tmp_path: Path) -> None:
    asked = [question(), question(asked_at="2023-05-01T12:00")]
    [dialogue] = read(tmp_path, entry("AB", "ABA", qa=asked))
    times = [each.asked_at for each in dialogue.questions]
    assert times[0] - dialogue.utterances[-1].at == timedelta(days=1)
    assert times[1] < dialogue.utterances[-1].at


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["D1:1"], {"D1:1"}),
        (["D1:1", "D1:2"], {"D1:1", "D1:2"}),
        (["D1:1; D1:2"], {"D1:1", "D1:2"}),
        ("D1:1", {"D1:1"}),
        (["D1:1", "D9:9", "D", "D:1:1", ""], {"D1:1"}),
        (["D1:11", "D1:01"], set()),
        ([], set()),
        (None, set()),
        ([None, 3], set()),
    ],
)
def test_evidence_is_what_exists_of_it(
    tmp_path: Path, evidence: object, expected: set[str]
) -> None:
    [dialogue] = read(tmp_path, entry("AB", qa=[question(evidence=evidence)]))
    assert dialogue.questions[0].evidence == expected


def test_what_a_question_may_leave_out(tmp_path: Path) -> None:
    [dialogue] = read(tmp_path, entry("A", qa=[{"question": "Who?", "category": "5"}]))
    [asked] = dialogue.questions
    assert (asked.answer, asked.evidence, asked.category, asked.kind) == ("", frozenset(), 5, "")
    assert dialogue.language == "en"


def test_an_answer_may_be_a_number_or_a_trap(tmp_path: Path) -> None:
    trap = {"question": "Who?", "category": 5, "adversarial_answer": "Bo", "kind": "trap"}
    [dialogue] = read(tmp_path, entry("A", qa=[question(answer=2022), trap]))
    assert [each.answer for each in dialogue.questions] == ["2022", "Bo"]
    assert [each.kind for each in dialogue.questions] == ["", "trap"]


def test_a_set_is_known_by_the_hash_of_its_file(tmp_path: Path) -> None:
    path = write(tmp_path, [entry("A"), entry("B", sample_id="b")])
    dialogues, digest = read_dialogues(path)
    assert [dialogue.name for dialogue in dialogues] == ["a", "b"]
    assert digest == sha256(path.read_bytes()).hexdigest()
    assert read_dialogues(write(tmp_path, []))[0] == []


def test_any_signs_may_be_said(tmp_path: Path) -> None:
    """Row 57: lone surrogates, NUL and emoji in a turn."""
    told = entry("A")
    told["conversation"]["session_1"][0]["text"] = "\ud83d\x00😀"
    [dialogue] = read(tmp_path, told)
    [(page, _)] = dialogue.pages()
    assert page.said == "\ud83d\x00😀"
    assert not len(read_line(page.said, page.language, page.at).tokens)


def without(*path: str | int) -> dict[str, Any]:
    """Return a dialogue that lacks something."""
    told = entry("AB", qa=[question()])
    place: Any = told
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return told


def with_(value: object, *path: str | int) -> dict[str, Any]:
    """Return a dialogue with another value somewhere."""
    told = entry("AB", qa=[question()])
    place: Any = told
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return told


@pytest.mark.parametrize(
    "told",
    [
        *(without(key) for key in ("sample_id", "conversation", "qa")),
        *(without("conversation", key) for key in ("speaker_a", "speaker_b", "session_1", "session_1_date_time")),
        *(without("conversation", "session_1", 1, key) for key in ("dia_id", "speaker", "text")),
        *(without("qa", 0, key) for key in ("question", "category")),
        with_(None, "conversation"),
        with_([], "conversation", "session_1"),
        with_("hello", "conversation", "session_1"),
        with_(None, "conversation", "session_1", 0, "text"),
        with_("yesterday", "conversation", "session_1_date_time"),
        with_("9999-12-31", "conversation", "session_1_date_time"),
        with_("one", "qa", 0, "category"),
        with_(float("inf"), "qa", 0, "category"),
        with_(3, "qa", 0, "asked_at"),
        with_("who?", "qa", 0),
        with_(5, "qa"),
        "a string",
        7,
        None,
    ],
)  # fmt: skip
def test_what_is_no_dialogue_is_refused(tmp_path: Path, told: object) -> None:
    with pytest.raises(ConfigError, match=r"set\.json is no set of dialogues") as caught:
        read_dialogues(write(tmp_path, [told]))
    assert caught.value.code == "dialogues-broken"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1,", b"3", b"null", b'{"a": 1}', b"\xff\xfe\x00", b"[" * 200_000, b"\x00\x00"],
)
def test_what_is_no_list_in_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "set.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_dialogues(path)
    assert caught.value.code == "dialogues-broken"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(ConfigError) as caught:
            read_dialogues(path)
        assert caught.value.code == "dialogues-broken"


@pytest.mark.parametrize("path", sorted(OWN_SETS.glob("*.json")), ids=lambda path: path.stem)
def test_the_sets_of_the_project_are_whole(path: Path) -> None:
    dialogues, _ = read_dialogues(path)
    for dialogue in dialogues:
        ids = [turn.id for turn in dialogue.utterances]
        assert len({*ids}) == len(ids)
        assert [turn.at for turn in dialogue.utterances] == sorted(
            turn.at for turn in dialogue.utterances
        )
        assert dialogue.questions
