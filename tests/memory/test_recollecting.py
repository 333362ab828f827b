"""What memory offers when a part of it fails or is late."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.memory.remembering import CAT, opened

EVERYTHING = {"gate": 0.0, "pages": {"gate": 0.0}}
QUESTION = "猫を飼い始めたのはいつ?"


@pytest.mark.parametrize("broken", ["facts", "pages"])
async def test_a_fault_in_one_part_leaves_the_other_its_say(broken: str, tmp_path: Path) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ValueError("himitsu")

    with opened(tmp_path, retrieval=EVERYTHING) as room:
        room.tell(CAT)
        await room.memory.extract()
        recollector = room.memory._recollector
        if broken == "facts":
            recollector._reader.candidates = fail  # type: ignore[method-assign, assignment]
        else:
            recollector._pages.find = fail  # type: ignore[method-assign, assignment]
        with capture_logs() as logs:
            found = await room.memory.recall("hana", QUESTION, "ja")
    assert bool(found.lines) == (broken != "facts")
    assert [page.said for page in found.pages] == ([] if broken == "pages" else [CAT])
    told = [line for line in logs if line["log_level"] != "debug"]
    assert [(line["event"], line["part"]) for line in told] == [("recall-fault", broken)]
    assert "himitsu" not in str(logs)
