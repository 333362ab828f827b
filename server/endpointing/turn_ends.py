"""The ends of the utterances of one talk, one after the other: what the earlier ones teach about the next."""

from server.audio import LISTENING_RATE, samples_in
from server.config import EndpointingSection
from server.endpointing.endpoint import Endpoint
from server.endpointing.pace import Pace

_SAME_BREATH_SAMPLES = int(1.6 * LISTENING_RATE)
"""Who speaks again so soon after their last word had only paused."""


class TurnEnds:
    """Makes an `Endpoint` for each utterance of a talk. Counts in samples and knows no clock."""

    def __init__(self, section: EndpointingSection) -> None:
        """Begin with a talk.

        Args:
            section: The silences.
        """
        self._section = section
        self._pace = Pace(
            samples_in(section.pause_margin_ms),
            samples_in(section.most_lengthened_ms),
        )
        self._last: Endpoint | None = None
        self._waited = 0

    def begin(self, heard: int) -> Endpoint:
        """Begin with an utterance.

        Args:
            heard: How much of the sound that `wait` was told of is already part of it.
        """
        if self._last is not None:
            pause = self._last.needed() + self._waited - heard
            if pause <= _SAME_BREATH_SAMPLES:
                self._last.voice_is_back(pause)
        self._last, self._waited = Endpoint(self._section, self._pace), 0
        return self._last

    def wait(self, samples: int) -> None:
        """Take note of sound that is part of no utterance."""
        self._waited += samples

    def forget(self) -> None:
        """Take note of a gap: nobody knows how long it was silent."""
        self._last = None
