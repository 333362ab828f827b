"""What a robot got back for one utterance, and how well it could be played."""

from collections.abc import Iterable
from dataclasses import dataclass

from server.audio import Audio
from server.errors import OmoideError
from server.punctuation import join_sentences


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one utterance."""

    transcript: str
    """What the server understood."""
    reply: str
    """The sentences shown, joined."""
    emotion: str
    """The last face shown; empty if there was none."""
    audio: Audio
    """What the loudspeaker really played, with the holes in it."""
    first_audio_ms: float | None
    """From the last voiced sample at the microphone (or from the text) to the first packet of sound. A phrase that only fills
    the wait is one, too: a robot can't tell it from the answer."""
    sentences_ms: tuple[float, ...]
    """The same, to the first packet of each sentence that was shown."""
    underruns: int
    """How often the reply was interrupted because nothing was there to play."""
    overflows: int
    """Packets lost because the queue was full."""
    strays: int
    """Packets that came while the robot was not speaking, and were therefore lost."""
    early_stop_ms: float
    """How much was still to be played when the server declared the reply finished."""
    gaps_ms: tuple[float, ...]
    """Length of each underrun."""
    arrivals_ms: tuple[float, ...]
    """Time between each packet and the one before it."""
    stops: int
    """How often the server declared a reply finished."""
    interrupted: bool
    """Whether the robot or the person cut the reply short."""
    error: OmoideError | None = None
    """Why the answer is missing or not whole."""


def join_transcripts(shown: Iterable[str]) -> str:
    """Join what was shown for one utterance: a text that goes on from the one before replaces it."""
    parts: list[str] = []
    for text in shown:
        if parts and text.startswith(parts[-1]):
            parts[-1] = text
        elif text:
            parts.append(text)
    return join_sentences(parts)
