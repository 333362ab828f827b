"""What sentences claim, clause by clause: of whom, affirmed or denied, when, and how real it is.

`claims_of` and `claims_of_fact` read sentences in Japanese, English and Chinese; `disagreement` compares a fact's claim with
those of what was said.
"""

from server.memory.claims.agreement import Refusal, counterparts, disagreement
from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER, Claim, Sense
from server.memory.claims.reading import claims_of, claims_of_fact, without_form

__all__ = [
    "LISTENER",
    "SOMEBODY",
    "SPEAKER",
    "Claim",
    "Refusal",
    "Sense",
    "claims_of",
    "claims_of_fact",
    "counterparts",
    "disagreement",
    "without_form",
]
