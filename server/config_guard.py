"""The section of the configuration that says what is checked in a reply before it is spoken."""

from server.config_section import Section
from server.config_values import Seconds


class GuardSection(Section):
    """Which faults of a reply are stopped; the names of the kinds are those of `server.guard.HitKind`."""

    enabled: bool = True
    food: bool = True
    loss: bool = True
    figure: bool = True
    goal: bool = True
    promise: bool = True
    topic: bool = True
    persona: bool = True
    danger: bool = True
    order: bool = True
    claim: bool = True
    patience_seconds: Seconds = 6.0
