"""What the numbers of an embedder mean: the calibrations that come with the program, and reading one of one's own.

A calibration is one file of arrays (``.npz``), written by `omoide calibrate`.
"""

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from server.errors import ConfigError
from server.memory.comparing import Closeness
from server.memory.judging import Forest, Perceptron, Scale, Vectors, pair_rows
from server.memory.scoring import judged

KNOWN = {
    ("use-multilingual-v3 ", 512): "use",
    ("multilingual-e5-small 4-bit ", 384): "e5",
    ("blend(", 896): "blend",
}
"""Files in the package, by the beginning of an embedder's identity and the length of its vectors."""
SAME = {"qwen3-embedding": 0.92}
"""Cosine from which two facts say the same, of models that have no file."""
PLAIN = "plain"
"""The one for all other embedders: it uses neither vectors nor the size of cosines, only how they stand to each other."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What perceptrons make of the vectors of questions and facts of one embedder."""

    questions: Scale
    facts: Scale
    personal: Perceptron
    """Whether memory is asked at all: looks at a question."""
    pairing: Perceptron
    """Whether a question and a fact belong together: looks at both."""

    def of_question(self, vector: NDArray[np.float32]) -> float:
        """Return the logit of the probability that memory has to do with a question."""
        return float(self.personal.logits(self.questions.applied(vector)[None, :])[0])

    def of_pairs(self, vector: NDArray[np.float32], facts: Vectors) -> NDArray[np.float32]:
        """Return the logit of the probability that a question and each fact belong together."""
        rows = pair_rows(self.questions.applied(vector), self.facts.applied(facts))
        return self.pairing.logits(rows)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the numbers of one embedder mean."""

    gate: float
    """Probability from which a fact is told to the model."""
    relevance: Forest
    words: Forest
    """The same for a query or a fact without a vector: it looks at no sign of one."""
    closeness: Closeness
    opinion: Opinion | None = None
    """None if the embedder is none of those that perceptrons were learnt for."""

    def relevances(
        self, signs: Mapping[str, Mapping[str, float]], embedded: Set[str]
    ) -> dict[str, float]:
        """Return the probability that each fact is what the question wants.

        Args:
            signs: By fact.
            embedded: The facts that could be compared with the question by their vectors.
        """
        found: dict[str, float] = {}
        for forest, keys in (
            (self.relevance, [key for key in signs if key in embedded]),
            (self.words, [key for key in signs if key not in embedded]),
        ):
            likely = judged(forest, [signs[key] for key in keys])
            found.update(zip(keys, likely, strict=True))
        return found

    def personal(self, vector: NDArray[np.float32] | None) -> float:
        """Return how much a query has to do with memory, by its vector: a logit, 0 if nothing is known."""
        return self.opinion.of_question(vector) if self.opinion and vector is not None else 0.0

    def paired(
        self, vector: NDArray[np.float32] | None, facts: Mapping[str, NDArray[np.float32]]
    ) -> dict[str, float]:
        """Return how much a query and each fact belong together, by their vectors: logits; none if nothing is known."""
        if self.opinion is None or vector is None or not facts:
            return {}
        logits = self.opinion.of_pairs(vector, np.stack(list(facts.values())))
        return dict(zip(facts, map(float, logits), strict=True))


def load_calibration(path: str, embedder: str, dimensions: int) -> Calibration:
    """Return the calibration at `path`, or that which comes with the program for an embedder.

    Args:
        path: Of a file that `omoide calibrate` wrote; empty for the packaged one.
        embedder: `Embedder.model`.
        dimensions: Of its vectors.

    Raises:
        ConfigError: ``calibration-broken``: the file can't be read, lacks a number, or is for vectors of another length.
    """
    name = next(
        (
            file
            for (start, length), file in KNOWN.items()
            if embedder.startswith(start) and length == dimensions
        ),
        PLAIN,
    )
    try:
        calibration = _read(Path(path).read_bytes()) if path else _packaged(name)
    except (OSError, EOFError, BadZipFile, KeyError, TypeError, ValueError) as error:
        raise _broken(path or name, f"{type(error).__name__}: {error}") from error
    opinion = calibration.opinion
    if opinion is not None and len(opinion.questions.centre) != dimensions:
        raise _broken(
            path or name,
            f"it is for vectors of {len(opinion.questions.centre)} numbers, these have {dimensions}",
        )
    same = next((value for part, value in SAME.items() if part in embedder.casefold()), None)
    if name == PLAIN and not path and same is not None:
        closeness = replace(calibration.closeness, same=same)
        calibration = replace(calibration, closeness=closeness)
    return calibration


def write_calibration(path: Path, calibration: Calibration, embedder: str) -> None:
    """Write a calibration as a file that `load_calibration` reads."""
    closeness, opinion = calibration.closeness, calibration.opinion
    about = {
        "embedder": embedder,
        "gate": round(calibration.gate, 3),
        "same": round(closeness.same, 3),
        "threshold": round(closeness.threshold, 3),
        "relevance": list(calibration.relevance.names),
        "words": list(calibration.words.names),
        "changes": list(closeness.changes.names),
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about))}
    arrays |= _forest_arrays("relevance", calibration.relevance)
    arrays |= _forest_arrays("words", calibration.words)
    arrays |= _forest_arrays("changes", closeness.changes)
    if closeness.scale is not None and closeness.pairing is not None:
        arrays |= _scale_arrays("change", closeness.scale)
        arrays |= _perceptron_arrays("change", closeness.pairing)
    if opinion is not None:
        arrays |= _scale_arrays("questions", opinion.questions)
        arrays |= _scale_arrays("facts", opinion.facts)
        arrays |= _perceptron_arrays("personal", opinion.personal)
        arrays |= _perceptron_arrays("pairing", opinion.pairing)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _broken(name: str, reason: str) -> ConfigError:
    return ConfigError(
        f"retrieval.calibration: {name} can't be used ({reason}). "
        "Write a new one with `omoide calibrate`, or leave the key empty.",
        code="calibration-broken",
    )


@cache
def _packaged(name: str) -> Calibration:
    return _read((files("server.memory") / "calibrations" / f"{name}.npz").read_bytes())


def _read(content: bytes) -> Calibration:
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        about: Any = json.loads(str(arrays["about"]))
        has_changes, has_opinion = "change.hidden" in arrays, "pairing.hidden" in arrays
        closeness = Closeness(
            float(about["same"]),
            float(about["threshold"]),
            _forest("changes", about["changes"], arrays),
            _scale("change", arrays) if has_changes else None,
            _perceptron("change", arrays) if has_changes else None,
        )
        opinion = None
        if has_opinion:
            opinion = Opinion(
                _scale("questions", arrays),
                _scale("facts", arrays),
                _perceptron("personal", arrays),
                _perceptron("pairing", arrays),
            )
        relevance = _forest("relevance", about["relevance"], arrays)
        words = _forest("words", about["words"], arrays)
        return Calibration(float(about["gate"]), relevance, words, closeness, opinion)


def _forest_arrays(name: str, forest: Forest) -> dict[str, NDArray[Any]]:
    return {
        f"{name}.sign": forest.sign,
        f"{name}.threshold": forest.threshold,
        f"{name}.left": forest.left,
        f"{name}.right": forest.right,
        f"{name}.value": forest.value,
        f"{name}.bias": np.array(forest.bias),
        f"{name}.depth": np.array(forest.depth),
    }


def _forest(name: str, signs: list[str], arrays: Any) -> Forest:
    return Forest(
        tuple(map(str, signs)),
        arrays[f"{name}.sign"],
        arrays[f"{name}.threshold"],
        arrays[f"{name}.left"],
        arrays[f"{name}.right"],
        arrays[f"{name}.value"],
        float(arrays[f"{name}.bias"]),
        int(arrays[f"{name}.depth"]),
    )


def _scale_arrays(name: str, scale: Scale) -> dict[str, NDArray[Any]]:
    return {
        f"{name}.centre": scale.centre.astype(np.float16),
        f"{name}.spread": np.array(scale.spread),
    }


def _scale(name: str, arrays: Any) -> Scale:
    return Scale(arrays[f"{name}.centre"].astype(np.float32), float(arrays[f"{name}.spread"]))


def _perceptron_arrays(name: str, perceptron: Perceptron) -> dict[str, NDArray[Any]]:
    """Return the weights in half precision, which is enough for them."""
    return {
        f"{name}.hidden": perceptron.hidden.astype(np.float16),
        f"{name}.hidden_bias": perceptron.hidden_bias.astype(np.float16),
        f"{name}.out": perceptron.out.astype(np.float16),
        f"{name}.out_bias": np.array(perceptron.out_bias),
    }


def _perceptron(name: str, arrays: Any) -> Perceptron:
    return Perceptron(
        arrays[f"{name}.hidden"].astype(np.float32),
        arrays[f"{name}.hidden_bias"].astype(np.float32),
        arrays[f"{name}.out"].astype(np.float32),
        float(arrays[f"{name}.out_bias"]),
    )
