"""The end of one utterance: how long a silence has to be, given what is known of the words before it."""

from enum import StrEnum

from server.audio import LISTENING_RATE, samples_in
from server.config import EndpointingSection
from server.endpointing.completeness import Completeness, completeness
from server.endpointing.pace import Pace
from server.turn import Transcript

_NOTABLE_SAMPLES = LISTENING_RATE // 5
"""Shorter pauses are part of speaking, and teach nothing."""
_GOES_ON, _OVER = 0.2, 0.8
"""How probable it has to be by the sound of a voice that it has finished, to be taken for a hint."""


class _Text(StrEnum):
    """What has become of the provisional text of the present pause."""

    NONE = "none"
    EXPECTED = "expected"
    THERE = "there"


class Endpoint:
    """Decides when a silence is an end. Counts in samples and knows no clock.

    While the words before a pause are being recognised nothing is decided: no answer can begin before they are there,
    so whoever is silent loses no time, and whoever only thinks is not cut off. That wait is bounded, too.
    """

    def __init__(self, section: EndpointingSection, pace: Pace) -> None:
        """Begin with an utterance.

        Args:
            section: The silences.
            pace: Of the one who speaks.
        """
        self._silences = {
            Completeness.FINISHED: samples_in(section.finished_ms),
            Completeness.UNKNOWN: samples_in(section.unsure_ms),
            Completeness.UNFINISHED: samples_in(section.unfinished_ms),
        }
        self._wordless = samples_in(section.silence_ms)
        self._wait = samples_in(section.text_wait_ms)
        self._pace = pace
        self._text = _Text.NONE
        self._hint: float | None = None
        self._read = Completeness.UNKNOWN

    @property
    def judged(self) -> Completeness:
        """What is thought of the words before the present pause: their text first, the sound of them beside it."""
        read, hint = self._read, self._hint
        if hint is None or _GOES_ON < hint < _OVER or self._text is not _Text.THERE:
            return read
        if read is Completeness.UNKNOWN:
            return Completeness.FINISHED if hint >= _OVER else Completeness.UNFINISHED
        contradicts = (hint >= _OVER) != (read is Completeness.FINISHED)
        return Completeness.UNKNOWN if contradicts else read

    def needed(self) -> int:
        """Return how long the present silence has to be to end the utterance, as far as is known by now."""
        judged = self.judged if self._text is _Text.THERE else None
        silence = self._wordless if judged is None else self._silences[judged]
        known = self._pace.lengthened(silence, judged)
        return max(known, self._wait) if self._text is _Text.EXPECTED else known

    def expect_text(self) -> None:
        """Say that what was said before the present pause is being recognised."""
        if self._text is _Text.NONE:
            self._text = _Text.EXPECTED

    def read_text(self, text: Transcript | None) -> None:
        """Take what was said before the present pause; None if it could not be recognised."""
        self._text = _Text.NONE if text is None else _Text.THERE
        self._read = completeness(text.text, text.language) if text else Completeness.UNKNOWN

    def take_hint(self, probability: float) -> None:
        """Take how probable it is, by the sound of the voice before the present pause, that the speaker has finished."""
        self._hint = probability

    def voice_is_back(self, pause: int) -> None:
        """Note that the speaker goes on: what was known of the words before is void."""
        if pause >= _NOTABLE_SAMPLES:
            self._pace.went_on(pause, self.judged if self._text is _Text.THERE else None)
        self._text, self._hint, self._read = _Text.NONE, None, Completeness.UNKNOWN
