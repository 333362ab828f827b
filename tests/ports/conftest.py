"""Sounds and folders that the tests of the engines share."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from server.audio import LISTENING_RATE, Audio, Samples
from server.tts.openjtalk import tame
from server.tts.piper_process import CHILD
from server.weights import PIPER_JOE, find_packaged

JAPANESE = "明日の天気を教えてください"
ENGLISH = "What is the weather going to be like tomorrow?"


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which big models are joined once for the whole run."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def japanese() -> Samples:
    """A Japanese sentence at 16 kHz."""
    import pyopenjtalk  # noqa: PLC0415 - only the tests of real models need it

    wave, rate = pyopenjtalk.tts(JAPANESE)
    return Audio(tame(wave, rate), rate).at(LISTENING_RATE).samples


@pytest.fixture(scope="session")
def english() -> Samples:
    """An English sentence at 16 kHz, spoken by Piper without the engine around it."""
    voice = find_packaged(PIPER_JOE.files[0].parts[0], PIPER_JOE.install)
    request = json.dumps({"text": ENGLISH, "speed": 1.0}) + "\n"
    run = subprocess.run(
        [sys.executable, "-P", str(CHILD), str(voice)],
        input=request.encode(),
        capture_output=True,
        check=True,
    )
    frames, rate, at = [np.zeros(0, np.int16)], 0, 0
    while at < len(run.stdout):
        kind, length = struct.unpack_from(">cI", run.stdout, at)
        payload = run.stdout[at + 5 : at + 5 + length]
        at += 5 + length
        if kind == b"R":
            rate = int(payload)
        elif kind == b"A":
            frames.append(np.frombuffer(payload, "<i2").astype(np.int16))
    return Audio(np.concatenate(frames), rate).at(LISTENING_RATE).samples
