"""The calibrations that come with the program belong to the embedders that come with it."""

from pathlib import Path

import numpy as np
import pytest

from server.config import EmbeddingSection
from server.embedding import build
from server.errors import ConfigError
from server.memory.calibration import load_calibration, write_calibration


@pytest.mark.parametrize("engine", ["blend", "e5", "use"])
def test_each_packaged_embedder_has_a_calibration_of_its_own(engine: str) -> None:
    embedder = build(EmbeddingSection.model_validate({"engine": engine}))
    calibration = load_calibration("", embedder.model)
    assert calibration.personal is not None
    assert len(calibration.personal) == embedder.dimensions + 1
    assert 0 < calibration.gate < 1
    assert {"bias", "coverage", "in_range", "personal"} <= calibration.weights.keys()
    assert {"bias", "closeness"} <= calibration.closeness.changes.keys()


def test_an_embedder_of_another_length_is_not_asked_how_personal_a_question_is() -> None:
    calibration = load_calibration("", "some other model")
    assert calibration.how_personal(np.ones(7, np.float32)) == 0.0


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    known = load_calibration("", "use")
    write_calibration(tmp_path / "mine.yaml", known, "use")
    again = load_calibration(str(tmp_path / "mine.yaml"), "use")
    assert again.weights == known.weights
    assert again.closeness == known.closeness
    vector = np.linspace(0, 1, 512, dtype=np.float32)
    assert again.how_personal(vector) == pytest.approx(known.how_personal(vector))


def test_a_file_without_its_numbers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("gate: high\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="omoide calibrate") as caught:
        load_calibration(str(tmp_path / "mine.yaml"), "use")
    assert caught.value.code == "calibration-broken"
