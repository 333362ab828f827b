"""What one clause claims: of whom, affirmed or denied, when, and whether it is so or only wished for."""

from dataclasses import dataclass
from enum import StrEnum

SPEAKER = "#speaker"
"""Subject: the one who talks, "I" when it is said, "you" in a fact."""
LISTENER = "#listener"
"""Subject: the one who is talked to, "you" when it is said."""
SOMEBODY = "#somebody"
"""Subject: a person whom only a pronoun names."""


class Sense(StrEnum):
    """Where a clause lies in time, by the form of its verb."""

    PAST = "past"
    """It happened."""
    FORMER = "former"
    """It used to be so, and is no longer."""
    RESULT = "result"
    """A state that goes on, also one that something past has led to: 住んでいる, 結婚している."""
    STATE = "state"
    """It is so: being, having."""
    PRESENT = "present"
    """It happens, or is going to."""
    UNDERWAY = "underway"
    """It is happening, or about to: "I am going"."""
    AHEAD = "ahead"
    """It is planned or has to be done."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A clause and how it puts what it tells."""

    words: str
    """The clause."""
    subject: frozenset[str]
    """Who does or is it: `SPEAKER`, `SOMEBODY`, classes of people, names by their letters; empty if nobody or not known."""
    told_of: frozenset[str]
    """People and names, or `SOMEBODY`, of whom a fact that is drawn from it has to speak."""
    verb: str
    """Dictionary form or stem of its main verb; empty if not known."""
    negated: bool | None
    """None where it can't be told: "I missed the train"."""
    sense: Sense | None
    """None where it can't be told, or fits any: "I have been"."""
    wished: bool
    """It is wanted, weighed or advised, not so."""
    unreal: bool
    """Some word of it says that it is not so yet; more than `wished`, for what lies ahead is planned or hoped for, too."""
    conditional: bool
    """It holds on a condition only."""
