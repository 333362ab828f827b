"""From what was said in one exchange to the events that are kept of it: one for each kind of sign."""

import uuid

from server.memory.models import Origin, Page
from server.memory.safety.models import SafetyEvent, Severity, SignalKind
from server.memory.safety.signals import find_signals

_NAMESPACE = uuid.UUID("5e0f3b6c-6d0a-4d1b-9c7e-7f2f1c0b8a11")


def notice(page: Page) -> list[SafetyEvent]:
    """Return the events in what was said in an exchange, by the rules."""
    signals = find_signals(page.said, page.language, page.at)
    events = []
    for kind in dict.fromkeys(signal.kind for signal in signals):
        mine = [signal for signal in signals if signal.kind is kind]
        gravest = max((signal.severity for signal in mine), key=lambda one: one.rank)
        quote = _passage(page.said, mine[0].quote, mine[-1].quote)
        events.append(make_event(page, kind, gravest, quote, Origin.RULES))
    return events


def make_event(
    page: Page, kind: SignalKind, severity: Severity, quote: str, origin: Origin
) -> SafetyEvent:
    """Return the event of a kind in an exchange; its id is the same whoever noticed it."""
    id_ = uuid.uuid5(_NAMESPACE, f"{page.id}\n{kind}").hex
    return SafetyEvent(
        id_,
        page.person,
        page.device,
        kind,
        severity,
        quote,
        page.id,
        page.language,
        page.at,
        origin,
    )


def _passage(said: str, first: str, last: str) -> str:
    """Return what was said from one sentence to another."""
    start, end = said.find(first), said.rfind(last)
    return said[start : end + len(last)] if 0 <= start <= end else first
