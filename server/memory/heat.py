"""How alive the segments of a person are: which have to make room, and which the profile is to be updated from."""

import math
from collections.abc import Collection, Iterable
from datetime import datetime

from server.config import SegmentsSection
from server.memory.models import Segment


def heat(segment: Segment, now: datetime, section: SegmentsSection) -> float:
    """Return the heat of a segment (MemoryOS, equation 4): ``α·N_visit + β·L_interaction + γ·exp(−Δt/μ)``.

    Nothing but a visit that was recorded (`Tiers.visit`: a page of it reached a prompt) and a page that came in raise it.
    """
    idle = max(0.0, now.timestamp() - segment.last_at.timestamp())
    return (
        section.heat_visits * segment.visits
        + section.heat_pages * segment.unread
        + section.heat_recency * math.exp(-idle / section.cooling_seconds)
    )


def to_evict(
    segments: Iterable[Segment], new_ids: Collection[str], now: datetime, section: SegmentsSection
) -> list[str]:
    """Return the ids of the segments that have to make room, the coldest first.

    Args:
        segments: All of one person; those that are evicted already don't count.
        new_ids: Those that have just been made. They stay, even if there are more of them than places: a new segment is
            colder than most and would otherwise drive itself out.
        now: The present moment, aware.
        section: Capacity and weights.
    """
    here = [segment for segment in segments if segment.evicted_at is None]
    old = [segment for segment in here if segment.id not in new_ids]
    surplus = max(0, len(here) - section.capacity)
    old.sort(key=lambda one: (heat(one, now, section), one.last_at, one.id))
    return [segment.id for segment in old[:surplus]]


def hot(segments: Iterable[Segment], now: datetime, section: SegmentsSection) -> list[Segment]:
    """Return the segments that the profile is to be updated from, the hottest first.

    They are hotter than `section.hot` and hold pages that it has not been updated from yet: visits alone keep a segment
    hot for good, and there would be nothing new in it.
    """
    ready = [
        segment
        for segment in segments
        if segment.evicted_at is None
        and segment.unread > 0
        and heat(segment, now, section) > section.hot
    ]
    return sorted(ready, key=lambda one: (-heat(one, now, section), one.id))
