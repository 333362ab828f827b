"""How facts fade: the forgetting curve R = exp(-t / S) of Ebbinghaus, with a stability S for each importance.

What has faded leaves search and stays in the store. Nothing here forgets anything; callers ask and act.
"""

import math
from datetime import UTC, datetime, timedelta

from server.config import FadingSection
from server.memory.models import Fact, Importance
from server.memory.standing import standing_kind

_DAY = timedelta(days=1)
_CENTURIES = 300_000


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
        fact: Its age counts from when it was last said, or from the last day of what it tells of if that is later.
        now: Aware.
        section: With the least strength.
    """
    return _age_days(fact, now) > _lifetime_days(fact, section)


def fades_at(fact: Fact, section: FadingSection) -> datetime | None:
    """Return the moment after which a fact has faded, in UTC; None if it never does, or not for centuries."""
    days = _lifetime_days(fact, section)
    return _counted_from(fact) + days * _DAY if days < _CENTURIES else None


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


def _lifetime_days(fact: Fact, section: FadingSection) -> float:
    """Return the age at which strength falls below the least; without end for what never fades.

    That is also what stands in every prompt, whatever a model thought of its importance.
    """
    stability = _stability(fact.importance, section)
    if stability <= 0 or section.least <= 0 or standing_kind(fact) is not None:
        return math.inf
    return -stability * math.log(section.least)


def _age_days(fact: Fact, now: datetime) -> float:
    """Return the age in days; negative while what it tells of is still to come."""
    return (now.astimezone(UTC) - _counted_from(fact)) / _DAY


def _counted_from(fact: Fact) -> datetime:
    """Return when a fact was last said, or the last day of what it tells of if that is later; in UTC."""
    told_of = fact.said_at.astimezone(UTC) + _days_ahead(fact) * _DAY
    return max(told_of, fact.last_said_at.astimezone(UTC))


def _days_ahead(fact: Fact) -> int:
    """Return how many days after it was said the last day comes that a fact tells of."""
    if fact.event_to is None:
        return 0
    return max((fact.event_to - fact.said_at.date()).days, 0)
