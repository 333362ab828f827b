"""The reply guard: code that looks at every sentence before it is spoken, as a model may know a fact and act against it.

`gather` reads once a turn what memory offers, `check` judges a sentence, `ReplyGuard` watches over a whole reply: one second
attempt, which `correction` prepares, else a safe line.
"""

from server.guard.checking import ALL_KINDS, HardFacts, check, gather, warm_up
from server.guard.correcting import correction, touching
from server.guard.hits import Hit, HitKind
from server.guard.persona import Persona, persona_of
from server.guard.watching import ReplyGuard

__all__ = [
    "ALL_KINDS",
    "HardFacts",
    "Hit",
    "HitKind",
    "Persona",
    "ReplyGuard",
    "check",
    "correction",
    "gather",
    "persona_of",
    "touching",
    "warm_up",
]
