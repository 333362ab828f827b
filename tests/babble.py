"""Babble that is made by rule: it has the course of speech, and no words."""

import numpy as np

from server.audio import Samples


def babble(seconds: float, rate: int, seed: int, db: float = -20.0) -> Samples:
    """Return something with the course of speech: syllables of changing colour, with pauses."""
    random = np.random.default_rng(seed)
    pieces = [np.zeros(0)]
    while sum(len(piece) for piece in pieces) < seconds * rate:
        length = int(rate * random.uniform(0.08, 0.25))
        times = np.arange(length) / rate
        pitch = random.uniform(100, 220)
        formants = random.uniform((300, 900, 2200), (800, 2000, 3500))
        tones = [
            np.exp(-((pitch * n - formants[:, None]) ** 2) / 2e5).sum()
            * np.sin(2 * np.pi * pitch * n * times)
            for n in range(1, 30)
        ]
        pieces.append(np.sum(tones, axis=0) * np.hanning(length) * random.uniform(0.3, 1.0))
        pieces.append(np.zeros(int(rate * random.uniform(0.0, 0.12))))
    sound = np.concatenate(pieces)[: int(seconds * rate)]
    loud = sound / np.sqrt(np.mean(sound**2)) * 32768 * 10 ** (db / 20)
    samples: Samples = np.clip(loud, -32768, 32767).astype(np.int16)
    return samples
