"""Learns the weights by which a sentence is like danger signs, from the sentences of the tests, and writes them into the package."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from server.embedding.universal import universal
from server.memory.safety.likeness import NOTHING, WEIGHTS
from server.memory.safety.signals import find_signals
from server.memory.statements import sentences

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
TARGET = ROOT / "server" / "memory" / "calibrations" / WEIGHTS
STRENGTH = 0.03
"""Inverse of the regularisation: chosen on sentences that came later than those learnt from."""
SHORTEST = 7
"""Characters of a harmless sentence of a talk that says anything at all."""
TALK_EVERY = 6
"""So many sentences of talks are left out for each that is learnt from: they are far more than the signs."""


def labelled() -> Iterator[tuple[str, str]]:
    """Yield sentences that were written for the signs, with their kind."""
    for file in sorted((DATA / "safety").glob("*.jsonl")):
        if "unseen" in file.name:  # they tell how much is heard of what nothing was learnt from
            continue
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row["text"], row.get("kind", NOTHING)


def harmless() -> list[str]:
    """Return what people and robots say in other tests, without anything that the rules take for a sign."""
    told: dict[str, str] = {}
    for file in sorted((DATA / "dialogues").glob("*.json")):
        for sample in json.loads(file.read_text("utf-8")):
            for name, session in sample["conversation"].items():
                if name.startswith("session") and isinstance(session, list):
                    for turn in session:
                        told |= dict.fromkeys(sentences(turn["text"]), sample["language"])
    for language in ("en", "ja", "zh"):
        for file in sorted((DATA / "guard").glob(f"harmless.*{language}.txt")):
            told |= dict.fromkeys(file.read_text("utf-8").splitlines(), language)
    calm = [
        text
        for text, language in told.items()
        if len(text) >= SHORTEST
        and not find_signals(text, language, datetime.fromtimestamp(0, UTC))
    ]
    return calm[::TALK_EVERY]


async def vectors(texts: Sequence[str]) -> np.ndarray:
    """Return a vector for each text."""
    return await universal().embed(texts, "passage")


def main() -> None:
    """Learn and write."""
    rows = [*labelled(), *((text, NOTHING) for text in harmless())]
    found = anyio.run(vectors, [text for text, _ in rows])
    centre, spread = found.mean(axis=0), float(found.std())
    model = LogisticRegression(C=STRENGTH, max_iter=3_000)
    model.fit((found - centre) / spread, [kind for _, kind in rows])
    np.savez_compressed(
        TARGET,
        classes=np.array(model.classes_, dtype=str),
        centre=centre.astype(np.float32),
        spread=np.float32(spread),
        weights=model.coef_.astype(np.float32),
        bias=model.intercept_.astype(np.float32),
    )
    print(f"{len(rows)} sentences, {TARGET.stat().st_size} bytes in {TARGET.name}")


if __name__ == "__main__":
    main()
