"""What the guard finds: a sentence that goes against what is known."""

from dataclasses import dataclass
from enum import StrEnum


class HitKind(StrEnum):
    """What a sentence does that must not be said; also the names of the switches in the configuration."""

    FOOD = "food"
    """It offers what the person must not eat, drink or take."""
    LOSS = "loss"
    """It speaks of somebody who has died as of somebody who lives."""
    FIGURE = "figure"
    """It tells another time or number than the person did, on the same matter."""
    GOAL = "goal"
    """It invites to what a goal rules out at this hour."""
    PROMISE = "promise"
    """It says that something will be remembered, or was noted down, that will not be kept."""
    TOPIC = "topic"
    """It brings up what is not to be mentioned."""
    PERSONA = "persona"
    """It leaves the persona: another name, another word for "I", a forbidden topic."""
    DANGER = "danger"
    """It plays down a danger sign that the person told of in this turn."""
    ORDER = "order"
    """It calls the person as an order bids that nobody has agreed to yet."""
    CLAIM = "claim"
    """It confirms an allergy of which nobody ever spoke."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One reason why a sentence must not be spoken."""

    kind: HitKind
    facts: tuple[str, ...] = ()
    """Ids of the facts that it goes against; none where it is no matter of facts."""
