"""Words of which two facts that say one thing never have one each: left and right, morning and evening."""

import re

_CONTRASTS = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"左|\bleft\b", r"右|\bright\b"),
        (r"\b(?:elder|older|big)\b|上の", r"\b(?:younger|little|small)\b|下の"),
        (r"朝|午前|\bmornings?\b|早上", r"夜|晩|午後|\b(?:evenings?|nights?|afternoons?)\b|晚上"),
        (
            r"食前|\bbefore (?:meals|food|eating|breakfast|lunch|dinner)\b|饭前",
            r"食後|\bafter (?:meals|food|eating|breakfast|lunch|dinner)\b|饭后",
        ),
    )
)


def are_contrary(one: str, other: str) -> bool:
    """Say whether one text has a word of which the other has the counterpart alone."""
    for pair in _CONTRASTS:
        sides = [tuple(bool(side.search(text)) for side in pair) for text in (one, other)]
        if (True, False) in sides and (False, True) in sides:
            return True
    return False
