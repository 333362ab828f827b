"""The reply guard: code that looks at every sentence before it is spoken, as a model may know a fact and act against it.

`gather` reads once a turn what memory offers, `check` judges a sentence, `guarded` watches over a whole reply: one second
attempt, else a safe line.
"""

from server.guard.checking import ALL_KINDS, HardFacts, check, gather
from server.guard.hits import Hit, HitKind
from server.guard.persona import Persona

__all__ = ["ALL_KINDS", "HardFacts", "Hit", "HitKind", "Persona", "check", "gather"]
