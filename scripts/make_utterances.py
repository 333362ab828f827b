"""Speaks the corpus that turn ends are measured with: `.venv/bin/python scripts/make_utterances.py OUT [--seed N]`."""

import argparse
import sys
from pathlib import Path

import anyio

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from server import tts  # noqa: E402 - the project is not installed as a package
from server.commands.utterances import write_corpus  # noqa: E402
from server.config import Config  # noqa: E402


def main() -> None:
    """Write WAV files and labels.json into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write to")
    parser.add_argument("--seed", type=int, default=1, help="of the noises")
    parser.add_argument("--language", action="append", choices=("ja", "en"), help="default: both")
    arguments = parser.parse_args()
    anyio.run(make, arguments.out, arguments.language or ["ja", "en"], arguments.seed)


async def make(out: Path, languages: list[str], seed: int) -> None:
    """Write the corpus."""
    engine = tts.build(Config(), ROOT / "var")
    try:
        await write_corpus(out, engine, languages, seed, print)
    finally:
        await engine.aclose()


if __name__ == "__main__":
    main()
