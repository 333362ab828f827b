"""The Whisper network on CTranslate2: samples in, text out. Blocking.

Whisper was trained on windows of 30 s and takes as long for a short utterance as for a long one. CTranslate2 accepts
shorter windows, and the network bears them if some seconds of nothing follow the speech; less, and it repeats itself.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.audio import LISTENING_RATE, Samples
from server.errors import AsrError, EngineMissing

_FRAMES_PER_SECOND = 100
_SHORTEST_WINDOW_FRAMES = 10 * _FRAMES_PER_SECOND
_LONGEST_WINDOW_FRAMES = 30 * _FRAMES_PER_SECOND
_TAIL_FRAMES = 3 * _FRAMES_PER_SECOND

LONGEST_PIECE_SAMPLES = 27 * LISTENING_RATE
"""What fits into the longest window with its tail."""
_SHORTEST_SPEECH_SAMPLES = LISTENING_RATE // 20

_NEVER = -99.0

_TOKENS_PER_SECOND = 14
"""Faster than anybody talks. Limits how long a network that repeats itself can go on."""
_SPARE_TOKENS = 24
_MOST_TOKENS = 220

_LOOP = re.compile(r"(.)\1{9,}|(.{2,40}?)(?:\s*\2){3,}", re.DOTALL)
"""The same words four times and more, or one letter ten times: the network is caught in a circle."""
_NO_REPEAT_TOKENS = 3

_USUAL_PEAK = 0.4
_MOST_GAIN = 100.0


@dataclass(frozen=True, slots=True)
class Recognised:
    """What the network made of an utterance."""

    text: str
    language: str
    no_speech_probability: float
    """How sure the network is that nobody spoke; of several pieces, the least."""
    log_probability: float
    """How sure it is of each word on average, as a logarithm; of several pieces, the best."""
    is_loop: bool = False
    """Whether it went round in circles in all of it."""


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    no_speech_probability: float
    log_probability: float
    is_loop: bool


class WhisperModel:
    """A loaded network. One call at a time."""

    def __init__(self, folder: Path, threads: int) -> None:
        """Load the network, in 8-bit integers: a quarter of the time and half the memory, with the same text.

        Args:
            folder: Holds ``model.bin``, ``config.json``, ``tokenizer.json`` and the vocabulary.
            threads: How many processor cores to use.

        Raises:
            EngineMissing: faster-whisper is not installed, or the folder holds no such model.
        """
        try:
            import ctranslate2  # noqa: PLC0415 - an optional package
            import faster_whisper  # noqa: PLC0415
            from faster_whisper.tokenizer import Tokenizer  # noqa: PLC0415
        except ImportError as error:
            raise EngineMissing(
                "Whisper needs the package faster-whisper. Install it with: pip install faster-whisper"
            ) from error
        try:
            self._whisper: Any = faster_whisper.WhisperModel(
                str(folder), device="cpu", compute_type="int8", cpu_threads=threads
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise EngineMissing(
                f"{folder} can't be loaded as a Whisper model in the format of CTranslate2 ({error}).",
                code="weights-damaged",
            ) from error
        self._tokenizer: Any = Tokenizer
        self._view: Any = ctranslate2.StorageView

    def recognise(
        self, samples: Samples, language: str | None, languages: Sequence[str]
    ) -> Recognised:
        """Return what was said.

        Args:
            samples: The whole utterance, 16 kHz. One that is longer than a window is cut at its quietest points.
            language: Two-letter code, or None to pick the most probable of `languages` by the first window.
            languages: The languages that can occur.

        Raises:
            AsrError: The network does not know the language, or fails.
        """
        choice = self._known(languages if language is None else [language])
        found = choice[0]
        pieces: list[_Piece] = []
        try:
            for piece in split_at_pauses(samples, LONGEST_PIECE_SAMPLES):
                if len(piece) < _SHORTEST_SPEECH_SAMPLES:
                    continue
                heard = self._encode(piece)
                if not pieces and len(choice) > 1:
                    found = self._detect(heard, choice)
                pieces.append(self._decode(heard, found, len(piece) / LISTENING_RATE))
        except RuntimeError as error:
            raise AsrError("asr-failed", f"Whisper failed: {error}") from error
        between = "" if found in ("ja", "zh", "th") else " "
        return Recognised(
            between.join(piece.text for piece in pieces if piece.text),
            found,
            min((piece.no_speech_probability for piece in pieces), default=1.0),
            max((piece.log_probability for piece in pieces), default=_NEVER),
            bool(pieces) and all(piece.is_loop for piece in pieces),
        )

    def _known(self, languages: Sequence[str]) -> list[str]:
        supported: list[str] = self._whisper.supported_languages
        known = [code for code in languages if code in supported]
        if not known:
            raise AsrError(
                "asr-language-unknown",
                f"This Whisper model knows none of the languages {', '.join(languages)}. Change asr.languages.",
            )
        return known

    def _encode(self, samples: Samples) -> Any:
        features = self._whisper.feature_extractor(at_usual_level(samples))
        length = features.shape[1]
        wanted = min(max(_SHORTEST_WINDOW_FRAMES, length + _TAIL_FRAMES), _LONGEST_WINDOW_FRAMES)
        window = np.zeros((1, features.shape[0], wanted), np.float32)
        window[0, :, : min(length, wanted)] = features[:, :wanted]
        return self._whisper.model.encode(self._view.from_array(window))

    def _detect(self, heard: Any, choice: Sequence[str]) -> str:
        """Pick a language by one step of the decoder on what the encoder has made already."""
        probabilities = {
            token.strip("<|>"): float(value)
            for token, value in self._whisper.model.detect_language(heard)[0]
        }
        return max(choice, key=lambda code: probabilities[code])

    def _decode(self, heard: Any, language: str, seconds: float) -> _Piece:
        multilingual = self._whisper.model.is_multilingual
        tokenizer = self._tokenizer(
            self._whisper.hf_tokenizer, multilingual, task="transcribe", language=language
        )
        prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps]
        result, text = self._generate(heard, tokenizer, prompt, seconds, 0)
        if _LOOP.search(text):
            result, text = self._generate(heard, tokenizer, prompt, seconds, _NO_REPEAT_TOKENS)
        doubt, sure = float(result.no_speech_prob), float(result.scores[0])
        return _Piece(without_loops(text), doubt, sure, _LOOP.search(text) is not None)

    def _generate(
        self, heard: Any, tokenizer: Any, prompt: list[int], seconds: float, no_repeat: int
    ) -> tuple[Any, str]:
        result = self._whisper.model.generate(
            heard,
            [prompt],
            beam_size=1,
            max_length=min(_MOST_TOKENS, int(seconds * _TOKENS_PER_SECOND) + _SPARE_TOKENS),
            no_repeat_ngram_size=no_repeat,
            return_no_speech_prob=True,
            return_scores=True,
        )[0]
        return result, tokenizer.decode(result.sequences_ids[0]).strip()


def at_usual_level(samples: Samples) -> NDArray[np.float32]:
    """Return the sound as floats, made louder if it is quiet.

    Speech at -50 dBFS is recognised as well as near speech then; as it comes, every second word is wrong.
    """
    sound = samples.astype(np.float32) / np.float32(32768)
    peak = float(np.percentile(np.abs(sound), 99.9))
    gain = min(max(1.0, _USUAL_PEAK / max(peak, _USUAL_PEAK / _MOST_GAIN)), _MOST_GAIN)
    louder: NDArray[np.float32] = np.clip(sound * np.float32(gain), -1.0, 1.0)
    return louder


def without_loops(text: str) -> str:
    """Reduce what comes again and again in a row to one time."""
    return _LOOP.sub(lambda loop: loop[1] or loop[2], text)


def split_at_pauses(samples: Samples, longest: int) -> Iterator[Samples]:
    """Cut into pieces of at most `longest` samples, each time at the quietest point of the last 40 % of a piece."""
    while len(samples) > longest:
        cut = _quietest(samples, longest * 3 // 5, longest)
        yield samples[:cut]
        samples = samples[cut:]
    yield samples


def _quietest(samples: Samples, start: int, end: int) -> int:
    """Return the middle of the 200 ms with the least energy between two points."""
    span = min(LISTENING_RATE // 5, end - start)
    energy = np.cumsum(np.square(samples[start:end].astype(np.float64)))
    inside = energy[span - 1 :].copy()
    inside[1:] -= energy[: len(inside) - 1]
    return start + int(np.argmin(inside)) + span // 2
