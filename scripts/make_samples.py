"""Speaks the sample recordings with the embedded voices: `.venv/bin/python scripts/make_samples.py`."""

import sys
from contextlib import aclosing
from pathlib import Path

import anyio

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from server import tts  # noqa: E402 - the project is not installed as a package
from server.audio import LISTENING_RATE, join, write_wav  # noqa: E402
from server.config import Config  # noqa: E402
from server.ports import Voice  # noqa: E402

SAMPLES = {
    "ja-weather": "明日の天気を教えてください。",
    "ja-tired": "ただいま。今日は仕事でとても疲れました。",
    "ja-name": "あなたの名前は何ですか。",
    "en-tired": "I am home. I am so tired today.",
    "en-name": "Hello, what is your name?",
}


async def main() -> None:
    """Write every sample as 16 kHz WAV."""
    engine = tts.build(Config(), ROOT / "var")
    for name, text in SAMPLES.items():
        voice = Voice(name.partition("-")[0])
        async with aclosing(engine.synthesize(text, voice)) as pieces:
            parts = [piece async for piece in pieces]
        path = ROOT / "recordings" / "samples" / f"{name}.wav"
        write_wav(path, join(parts, LISTENING_RATE))
        print(path.relative_to(ROOT))
    await engine.aclose()


if __name__ == "__main__":
    anyio.run(main)
