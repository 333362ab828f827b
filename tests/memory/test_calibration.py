"""The calibrations that come with the program belong to the embedders that come with it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from server.config import EmbeddingSection
from server.embedding import build
from server.errors import ConfigError
from server.memory.calibration import Calibration, load_calibration, write_calibration

SOME_FACTS = {"a": np.linspace(0, 1, 512, dtype=np.float32)}


def use() -> Calibration:
    return load_calibration("", "use-multilingual-v3 6-bit", 512)


@pytest.mark.parametrize("engine", ["blend", "e5", "use"])
def test_each_packaged_embedder_has_a_calibration_of_its_own(engine: str) -> None:
    embedder = build(EmbeddingSection.model_validate({"engine": engine}))
    calibration = load_calibration("", embedder.model, embedder.dimensions)
    assert calibration.opinion is not None
    assert len(calibration.opinion.questions.centre) == embedder.dimensions
    assert 0 < calibration.gate < 1
    assert 0.8 < calibration.closeness.same <= 1
    assert {"coverage", "in_range", "personal", "paired"} <= set(calibration.relevance.names)
    assert {"closeness", "paired", "tells_change"} <= set(calibration.closeness.changes.names)


def test_any_other_embedder_gets_one_that_knows_neither_vectors_nor_the_size_of_cosines() -> None:
    calibration = load_calibration("", "some other model", 7)
    assert calibration.opinion is None
    vector = np.ones(7, np.float32)
    assert calibration.personal(vector) == 0.0
    assert calibration.paired(vector, {"a": vector}) == {}
    names = set(calibration.relevance.names) | set(calibration.closeness.changes.names)
    assert not names & {"dense", "dense_above_mean", "closeness", "paired", "personal"}
    assert {"dense_deviations", "coverage"} <= names


def test_without_a_vector_there_is_no_opinion() -> None:
    assert use().personal(None) == 0.0
    assert use().paired(None, SOME_FACTS) == {}
    assert use().paired(SOME_FACTS["a"], {}) == {}


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    known = replace(use(), gate=0.37)
    write_calibration(tmp_path / "mine.npz", known, "use")
    again = load_calibration(str(tmp_path / "mine.npz"), "use", 512)
    assert again.gate == 0.37
    assert again.closeness.same == known.closeness.same
    vector = np.linspace(-1, 1, 512, dtype=np.float32)
    assert again.personal(vector) == pytest.approx(known.personal(vector))
    assert again.paired(vector, SOME_FACTS) == pytest.approx(known.paired(vector, SOME_FACTS))
    signs = [dict.fromkeys(known.relevance.names, 0.5), {}]
    assert list(again.relevance.probabilities(signs)) == list(known.relevance.probabilities(signs))


def test_one_for_vectors_of_another_length_is_refused(tmp_path: Path) -> None:
    write_calibration(tmp_path / "mine.npz", use(), "use")
    with pytest.raises(ConfigError, match="512 numbers, these have 384") as caught:
        load_calibration(str(tmp_path / "mine.npz"), "another", 384)
    assert caught.value.code == "calibration-broken"


@pytest.mark.parametrize("content", [b"", b"gate: high\n", b"PK\x03\x04 and so on", b"\x00" * 100])
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.npz").write_bytes(content)
    with pytest.raises(ConfigError, match="omoide calibrate") as caught:
        load_calibration(str(tmp_path / "mine.npz"), "use", 512)
    assert caught.value.code == "calibration-broken"


def test_a_file_that_lacks_an_array_or_would_run_code_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "half.npz", about=np.array('{"gate": 0.5, "same": 0.9, "threshold": 0.5}'))
    np.savez(tmp_path / "code.npz", about=np.array([{"gate": 0.5}], dtype=object))
    for name in ("half", "code", "missing"):
        with pytest.raises(ConfigError, match="omoide calibrate"):
            load_calibration(str(tmp_path / f"{name}.npz"), "use", 512)
