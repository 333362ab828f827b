"""How much each sign of a page counts, and from when on pages are told at all: learnt by `omoide calibrate-pages`."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from server.errors import ConfigError


@dataclass(frozen=True, slots=True)
class PageWeights:
    """What was learnt."""

    with_vectors: Mapping[str, float]
    """By sign; the score of an utterance is the weighted sum."""
    by_words: Mapping[str, float]
    """The same where there is no vector."""
    gate: Mapping[str, float]
    """Logistic weights over what is known of the best utterance and the question; "bias" stands for itself."""
    threshold: float
    """Probability from which anything is told."""
    learnt_from: str = ""
    """Names of the sets."""

    def relevance(self, known: Mapping[str, float]) -> float:
        """Return the probability that pages hold the answer at all."""
        logit = self.gate.get("bias", 0.0)
        logit += sum(
            worth * known.get(name, 0.0) for name, worth in self.gate.items() if name != "bias"
        )
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, logit))))


def load_page_weights(path: str = "") -> PageWeights:
    """Return the weights in a file, or those that come with the program.

    Raises:
        ConfigError: ``calibration-broken``: the file can't be read or lacks a number.
    """
    source = Path(path) if path else files("server.memory") / "calibrations" / "pages.json"
    try:
        told = json.loads(source.read_text(encoding="utf-8"))
        return PageWeights(
            _numbers(told["with_vectors"]),
            _numbers(told["by_words"]),
            _numbers(told["gate"]),
            float(told["threshold"]),
            str(told.get("learnt_from", "")),
        )
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"retrieval.pages.calibration: {path or 'pages.json'} can't be used ({type(error).__name__}: {error}). "
            "Write a new one with `omoide calibrate-pages`, or leave the key empty.",
            code="calibration-broken",
        ) from error


def write_page_weights(path: Path, weights: PageWeights) -> None:
    """Write weights as a file that `load_page_weights` reads."""
    path.write_text(
        json.dumps(asdict(weights), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def _numbers(told: Mapping[str, object]) -> dict[str, float]:
    return {str(name): float(str(value)) for name, value in told.items()}
