"""The dimensions of traits: read as they stand in the file, and refused where the file is damaged."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from server.errors import ConfigError
from server.memory.traits import FILE, load_dimensions, read_dimensions
from server.prompting import PromptFiles

SOURCE = PromptFiles().text(FILE)
ONE = "- {id: curiosity, en: Curiosity, ja: 好奇心, zh: 好奇心, meaning: Asks why.}"


def listed(*entries: str, count: int = 1) -> str:
    lines = "\n".join(f"      {entry}" for entry in entries)
    return f"count: {count}\ngroups:\n  - id: interests\n    dimensions:\n{lines}\n"


def test_the_file_holds_ninety_dimensions_in_three_groups() -> None:
    dimensions = read_dimensions(SOURCE)
    assert len(dimensions) == 90
    groups = [dimension.group for dimension in dimensions.values()]
    assert {group: groups.count(group) for group in groups} == {
        "needs-and-personality": 30,
        "assistance": 30,
        "interests": 30,
    }
    assert "90" in SOURCE.splitlines()[0]


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_no_two_dimensions_have_one_name(language: str) -> None:
    names = [dimension.names[language] for dimension in read_dimensions(SOURCE).values()]
    assert len({*names}) == len(names)


def test_a_dimension_has_a_name_in_every_language() -> None:
    [dimension] = read_dimensions(listed(ONE)).values()
    assert (dimension.name("ja"), dimension.name("xx")) == ("好奇心", "Curiosity")
    assert (dimension.id, dimension.group, dimension.meaning) == (
        "curiosity",
        "interests",
        "Asks why.",
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (listed(ONE, ONE, count=2), "twice"),
        (listed(ONE, count=2), "has 1 dimensions and says 2"),
        (listed(ONE.replace("zh: 好奇心, ", "")), "can't be read"),
        (listed(ONE.replace("id: curiosity", "id: Very Curious")), "can't be read"),
        ("count: 1", "can't be read"),
        ("", "can't be read"),
        ("[" * 5_000, "can't be read"),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(source: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read_dimensions(source)


def test_a_folder_of_ones_own_without_the_file_has_none_and_that_is_logged(tmp_path: Path) -> None:
    with capture_logs() as logs:
        assert load_dimensions(PromptFiles(tmp_path)) == {}
    assert [(line["event"], line["code"]) for line in logs] == [
        ("traits-not-told", "prompt-missing")
    ]
    (tmp_path / FILE).write_text("count: 1", encoding="utf-8")
    with pytest.raises(ConfigError, match="can't be read"):
        load_dimensions(PromptFiles(tmp_path))
    assert len(load_dimensions(PromptFiles())) == 90
