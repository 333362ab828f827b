"""Cuts a question that asks for several things into its parts: "when is the MOT and when is the fair"."""

import re

_JOINTS = {
    "ja": re.compile(r"[、,]|と(?![きこりっ思言い同かもの])|それから|あと(?!で)"),
    "en": re.compile(r",|\band\b", re.IGNORECASE),
    "zh": re.compile(r"[、，,]|和|还有|以及"),
}
_FEWEST_LETTERS = 2
_MOST_PARTS = 4


def split_question(text: str, language: str) -> list[str]:
    """Return the parts of a question, or nothing if it is one.

    A part may be any fragment: it is searched for beside the whole question, never instead of it.
    """
    joint = _JOINTS.get(language, _JOINTS["en"])
    parts = [part.strip() for part in joint.split(text)]
    parts = [part for part in parts if len(part) >= _FEWEST_LETTERS]
    return parts if 1 < len(parts) <= _MOST_PARTS else []
