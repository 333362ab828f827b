"""How facts fade: the forgetting curve R = exp(-t / S) of Ebbinghaus, with a stability S for each importance.

What has faded leaves search and stays in the store. Nothing here forgets anything; callers ask and act.
"""

import math
from datetime import datetime, timedelta

from server.config import FadingSection
from server.memory.models import Fact, Importance

_DAY = timedelta(days=1)


def strength(known: Fact | Importance, age_days: float, section: FadingSection) -> float:
    """Return how well something is remembered: 1 when it is fresh, or if it never fades, falling towards 0.

    Args:
        known: A fact, or how important one is.
        age_days: Since it was said, or since what it tells of; before that it is fresh.
        section: Stabilities in days: after so long a strength has fallen to a third (1/e); 0 stands for ever.
    """
    importance = known.importance if isinstance(known, Fact) else known
    stability = _stability(importance, section)
    return math.exp(-max(age_days, 0.0) / stability) if stability > 0 else 1.0


def has_faded(fact: Fact, now: datetime, section: FadingSection) -> bool:
    """Return whether a fact is too weak to be searched for any more.

    Args:
        fact: Its age counts from when it was said, or from the last day of what it tells of if that is later.
        now: Aware.
        section: With the least strength.
    """
    return strength(fact, _age_days(fact, now), section) < section.least


def is_over(fact: Fact, now: datetime, section: FadingSection) -> bool:
    """Return whether a fact may be deleted: it has faded, and is older than things are kept."""
    kept = section.retention_days
    return kept > 0 and _age_days(fact, now) > kept and has_faded(fact, now, section)


def _stability(importance: Importance, section: FadingSection) -> float:
    """Return the stability in days; 0 for what never fades."""
    match importance:
        case Importance.LASTING:
            return 0.0
        case Importance.ORDINARY:
            return section.ordinary_days
        case Importance.FLEETING:
            return section.fleeting_days


def _age_days(fact: Fact, now: datetime) -> float:
    """Return the age in days; negative while what it tells of is still to come."""
    told_on = fact.said_at.date()
    ahead = (fact.event_to - told_on).days if fact.event_to is not None else 0
    return (now - fact.said_at) / _DAY - max(ahead, 0)
