"""`omoide bench guard`: times, false alarms and faults of the sentences in a folder."""

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Omoide = Callable[..., Result]
SET = {
    "facts.yaml": "en: [You are allergic to peanuts.]\nja: [妹が亡くなった。]\nzh: [我对花生过敏。]\n",
    "harmless.en.txt": "Good morning!\nHow about some satay?\n",
    "harmless.ja.txt": "おはようございます。\n",
    "harmless.zh.txt": "早上好！\n",
    "hits.new.yaml": (
        'en: [{kind: food, says: "Have some peanuts!"}, {kind: food, says: "Good night."}]\n'
        'ja: [{kind: loss, says: "妹さんはお元気ですか？"}]\nzh: []\n'
    ),
}


def test_the_guard_is_measured_on_the_sentences_of_a_folder(omoide: Omoide, tmp_path: Path) -> None:
    for name, text in SET.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = omoide("bench", "guard", str(tmp_path), "--json")
    assert result.exit_code == 0
    languages = json.loads(result.stdout)["languages"]
    assert {name: one["false_alarms"] for name, one in languages.items()} == {
        "en": 1,
        "ja": 0,
        "zh": 0,
    }
    assert languages["en"]["caught"] == {"new": [1, 2]}
    assert languages["ja"]["caught"] == {"new": [1, 1]}
    assert 0 < languages["en"]["check_ms_p50"] <= languages["en"]["check_ms_max"]


def test_a_folder_without_sentences_is_refused(omoide: Omoide, tmp_path: Path) -> None:
    result = omoide("bench", "guard", str(tmp_path), "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "guard-set-unreadable"
