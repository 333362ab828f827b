"""What sentences claim, clause by clause: of whom, affirmed or denied, when, and how real it is.

`claims_of` reads sentences in Japanese, English and Chinese; `disagreement` compares what a fact claims with what was said.
"""

from server.memory.claims.agreement import Refusal, disagreement
from server.memory.claims.claim import SOMEBODY, SPEAKER, Claim, Sense
from server.memory.claims.reading import claims_of, without_form

__all__ = ["SOMEBODY", "SPEAKER", "Claim", "Refusal", "Sense", "claims_of", "disagreement", "without_form"]
