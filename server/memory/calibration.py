"""The calibrations that come with the program, one for each embedder, and reading one of one's own."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from server.errors import ConfigError
from server.memory.comparing import Closeness
from server.memory.scoring import Calibration

KNOWN = {"use": "use", "multilingual-e5": "e5", "blend": "blend"}
"""Files in the package, by the name with which an embedder's identity begins."""


def load_calibration(path: str, embedder: str) -> Calibration:
    """Return the calibration at `path`, or that which comes with the program for an embedder.

    Args:
        path: Of a file that `omoide calibrate` wrote; empty for the packaged one.
        embedder: `Embedder.model`. For one that nothing was calibrated for, that of the blend is taken.

    Raises:
        ConfigError: ``calibration-broken``: the file can't be read or lacks a number.
    """
    name = next((KNOWN[known] for known in KNOWN if embedder.startswith(known)), "blend")
    try:
        if path:
            source = Path(path).read_text(encoding="utf-8")
        else:
            source = (files("server.memory") / "calibrations" / f"{name}.yaml").read_text("utf-8")
        content: Any = yaml.safe_load(source)
        changes = content["changes"]
        return Calibration(
            _weights(content["weights"]),
            float(content["gate"]),
            Closeness(
                float(content["same"]),
                float(content["topic"]),
                _weights(changes["weights"]),
                float(changes["threshold"]),
            ),
            _unpack(content.get("personal", "")),
        )
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"retrieval.calibration: {path or name} can't be used ({type(error).__name__}: {error}). "
            "Write a new one with `omoide calibrate`, or leave the key empty.",
            code="calibration-broken",
        ) from error


def write_calibration(path: Path, calibration: Calibration, embedder: str) -> None:
    """Write a calibration as a file that `load_calibration` reads."""
    closeness = calibration.closeness
    content = {
        "embedder": embedder,
        "gate": round(calibration.gate, 3),
        "weights": _rounded(calibration.weights),
        "same": round(closeness.same, 3),
        "topic": round(closeness.topic, 3),
        "changes": {
            "threshold": round(closeness.threshold, 3),
            "weights": _rounded(closeness.changes),
        },
        "personal": _pack(calibration.personal),
    }
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def _weights(content: dict[str, Any]) -> dict[str, float]:
    return {str(key): float(value) for key, value in content.items()}


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {key: round(value, 3) for key, value in weights.items()}


def _pack(vector: NDArray[np.float32] | None) -> str:
    """Write a vector as text: half precision in base64, enough for weights."""
    if vector is None:
        return ""
    return b64encode(vector.astype("<f2").tobytes()).decode("ascii")


def _unpack(text: str) -> NDArray[np.float32] | None:
    return np.frombuffer(b64decode(text), "<f2").astype(np.float32) if text else None
