"""GVD with labels becomes dialogues: an exchange has one id, and labels of other dialogues are refused."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from server.commands.gvd import read_gvd
from server.errors import ConfigError
from server.memory.lines import Role

BANK: dict[str, Any] = {
    " Ann ": {
        "history": {
            "2023-05-02": [{"query": "I baked.", "response": "What?"}],
            "2023-05-01": [
                {"query": "Hello.", "response": "Hello, Ann."},
                {"query": "My cat is Momo.", "response": "A fine name."},
            ],
        }
    },
    "Bo": {"history": {"2023-05-01": [{"query": "Hi.", "response": "Hi."}]}},
}
ASKED = {
    "user": "Ann",
    "bank_key": " Ann ",
    "question": "What is my cat called?",
    "days": ["2023-05-01"],
    "exchanges": [["2023-05-01", 1]],
    "answer": "Momo",
}
OWN_LABELS = Path(__file__).parents[1] / "data" / "gvd_evidence.json"


def written(folder: Path, bank: object, labels: object) -> tuple[Path, Path]:
    paths = folder / "bank.json", folder / "labels.json"
    for path, content in zip(paths, (bank, labels), strict=True):
        path.write_text(json.dumps(content), encoding="utf-8")
    return paths


def test_days_are_sessions_in_their_order_and_both_halves_of_an_exchange_have_one_id(
    tmp_path: Path,
) -> None:
    [dialogue], _ = read_gvd(*written(tmp_path, BANK, {"cn": [ASKED], "en": [ASKED]}))
    assert [(one.id, one.role, one.session) for one in dialogue.utterances] == [
        ("2023-05-01:0", Role.SAID, 1),
        ("2023-05-01:0", Role.HEARD, 1),
        ("2023-05-01:1", Role.SAID, 1),
        ("2023-05-01:1", Role.HEARD, 1),
        ("2023-05-02:0", Role.SAID, 2),
        ("2023-05-02:0", Role.HEARD, 2),
    ]
    assert [page.said for page, _ in dialogue.pages()] == ["Hello.", "My cat is Momo.", "I baked."]
    assert (dialogue.name, dialogue.speakers.person) == ("Ann", ("Ann",))


def test_labels_of_one_language_are_enough(tmp_path: Path) -> None:
    [dialogue], _ = read_gvd(*written(tmp_path, BANK, {"cn": [ASKED]}))
    assert dialogue.language == "zh"


def test_a_question_knows_its_exchanges_and_answer(tmp_path: Path) -> None:
    [dialogue], digest = read_gvd(*written(tmp_path, BANK, {"en": [ASKED], "cn": []}))
    [asked] = dialogue.questions
    assert (set(asked.evidence), asked.answer) == ({"2023-05-01:1"}, "Momo")
    assert asked.asked_at > dialogue.utterances[-1].at
    other = {"en": [ASKED | {"answer": "Tama"}], "cn": []}
    assert read_gvd(*written(tmp_path, BANK, other))[1] != digest


def test_the_language_is_that_of_the_labels_whose_people_are_in_the_bank(tmp_path: Path) -> None:
    stranger = ASKED | {"bank_key": "Emily"}
    [dialogue], _ = read_gvd(*written(tmp_path, BANK, {"en": [stranger], "cn": [ASKED]}))
    assert dialogue.language == "zh"


@pytest.mark.parametrize(
    "labels",
    [
        {"en": [ASKED | {"bank_key": "Emily"}], "cn": [ASKED | {"bank_key": "Emily"}]},
        {"en": [ASKED | {"exchanges": [["2023-05-01", 2]]}], "cn": []},
        {"en": [ASKED | {"exchanges": [["2023-05-09", 0]]}], "cn": []},
        {"en": [ASKED | {"exchanges": 3}], "cn": []},
        {"en": [{"bank_key": " Ann "}], "cn": []},
        {},
        [],
        "labels",
    ],
)
def test_labels_of_other_dialogues_are_refused(tmp_path: Path, labels: object) -> None:
    with pytest.raises(ConfigError, match=r"bank\.json and .*labels\.json are no bank") as caught:
        read_gvd(*written(tmp_path, BANK, labels))
    assert caught.value.code == "dialogues-broken"


def test_a_bank_that_is_none_is_refused(tmp_path: Path) -> None:
    labels = {"en": [ASKED], "cn": []}
    banks: list[object] = [{" Ann ": {"history": {"yesterday": []}}}, {" Ann ": {}}, []]
    for bank in banks:
        with pytest.raises(ConfigError):
            read_gvd(*written(tmp_path, bank, labels))
    with pytest.raises(ConfigError):
        read_gvd(tmp_path / "none.json", tmp_path / "labels.json")


def test_forty_questions_are_labelled_in_each_language() -> None:
    labels = json.loads(OWN_LABELS.read_text(encoding="utf-8"))
    assert {name: len(labels[name]) for name in ("en", "cn")} == {"en": 40, "cn": 40}
    for name in ("en", "cn"):
        asked = Counter((row["bank_key"], row["question"]) for row in labels[name])
        assert max(asked.values()) == 1
        assert all(row["exchanges"] and row["answer"] for row in labels[name])
