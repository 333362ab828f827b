"""How far a sentence was heard: reckoned in the samples that the device has played, cut between words."""

import re
from dataclasses import dataclass, field

_OF_WORDS = r"[A-Za-zÀ-ɏ0-9'’.,:-]"
_INSIDE_WORD = re.compile(_OF_WORDS + r"['’-]?[A-Za-zÀ-ɏ0-9]")
_BROKEN_WORD = re.compile(_OF_WORDS + r"+$")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_WIDE_SECONDS, _NARROW_SECONDS = 0.13, 0.06
"""How long a sign lasts, where the voice has not said the whole sentence yet: kana and kanji, and all others."""


@dataclass(slots=True)
class Length:
    """How long the sound of a sentence is, as far as it is known."""

    samples: int = 0
    """Grows with every piece that the engine delivers."""
    is_whole: bool = False
    """Whether no more of it will come."""


@dataclass(slots=True)
class Spoken:
    """A sentence among the samples that a device was given."""

    text: str
    starts_at: float
    """Number of its first sample."""
    rate: int
    length: Length = field(default_factory=Length)
    heard_before: float = 0.0
    """How many of its samples were heard before it was begun again."""

    def begin_again(self, starts_at: float, played: float) -> None:
        """Begin again at a sample, when so many were played: what was heard of it stays heard."""
        self.heard_before = max(self.heard_before, played - self.starts_at)
        self.starts_at = starts_at

    def played(self, played: float) -> str:
        """Return what has been heard when so many samples were played; a word that was cut in its middle was not."""
        share = self._share(played)
        if share >= 1:
            return self.text
        end = int(len(self.text) * share)
        cut = self.text[:end]
        if _INSIDE_WORD.match(self.text[max(0, end - 1) :]):
            cut = _BROKEN_WORD.sub("", cut)
        return cut.rstrip()

    def cut(self, played: float) -> None:
        """End it where it stands when so many samples were played, for good."""
        self.text = self.played(played)
        self.starts_at, self.length = min(self.starts_at, played), Length(is_whole=True)
        self.heard_before = 0.0

    def _share(self, played: float) -> float:
        heard = max(played - self.starts_at, self.heard_before)
        known = self.length
        samples = known.samples if known.is_whole else max(known.samples, self._usual_samples())
        if samples and heard <= 0:
            return 0.0
        return 1.0 if heard + 1 >= samples else heard / samples

    def _usual_samples(self) -> float:
        wide = len(_WIDE.findall(self.text))
        seconds = wide * _WIDE_SECONDS + (len(self.text) - wide) * _NARROW_SECONDS
        return seconds * self.rate
