"""Tells from its words that an utterance is the robot itself: it says again what was being played meanwhile."""

from collections.abc import Sequence

from server.memory.sounds import sound

_FEWEST_SOUNDS = {"ja": 5, "zh": 3}
_FEWEST_LETTERS = 8
"""Below this both may well say the same: a "yes" is answered by a "yes"."""


def repeats(heard: str, said: Sequence[str], language: str, likeness: float) -> bool:
    """Say whether what was heard is a near copy of a part of what was said.

    Compared by sound, in pairs of letters: a recogniser spells what it hears half in its own way.

    Args:
        heard: The transcript.
        said: The sentences that were being played.
        language: Of the transcript.
        likeness: From which share of its pairs on it is a copy, from 0 to 1.
    """
    ours = sound(heard, language)
    if not said or len(ours) < _FEWEST_SOUNDS.get(language, _FEWEST_LETTERS):
        return False
    known = _pairs("".join(sound(sentence, language) for sentence in said))
    pairs = [ours[place : place + 2] for place in range(len(ours) - 1)]
    return sum(pair in known for pair in pairs) >= likeness * len(pairs)


def _pairs(text: str) -> set[str]:
    return {text[place : place + 2] for place in range(len(text) - 1)}
