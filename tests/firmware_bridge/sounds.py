"""Sounds for the tests, and a measure of what came out."""

import numpy as np


def make_tone(hertz: float, rate: int, seconds: float, amplitude: float = 0.3) -> bytes:
    """Return a sine as mono s16le."""
    times = np.arange(int(rate * seconds)) / rate
    tone = np.sin(2 * np.pi * hertz * times) * amplitude * 32_767
    return tone.astype("<i2").tobytes()


def make_silence(rate: int, seconds: float) -> bytes:
    """Return digital silence as mono s16le."""
    return bytes(2 * int(rate * seconds))


def cut(pcm: bytes, frame_bytes: int) -> list[bytes]:
    """Return the whole frames of `pcm`."""
    return [pcm[i : i + frame_bytes] for i in range(0, len(pcm) - frame_bytes + 1, frame_bytes)]


def find_pitch(pcm: bytes, rate: int) -> float:
    """Return the loudest frequency in hertz."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(samples.size)))
    return float(np.argmax(spectrum)) * rate / samples.size


def measure_rms(pcm: bytes) -> float:
    """Return the root of the mean square, full scale 32768."""
    return float(np.sqrt(np.mean(np.square(np.frombuffer(pcm, "<i2").astype(np.float64)))))
