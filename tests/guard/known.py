"""One person of whom much is known for certain, and the sentences in tests/data/guard that go against it or do not."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from server.guard import HardFacts, Persona, gather
from server.turn import Recalled, Recollection

FOLDER = Path(__file__).resolve().parents[1] / "data" / "guard"
LANGUAGES = ("en", "ja", "zh")
TOKYO = ZoneInfo("Asia/Tokyo")
AFTERNOON = datetime(2026, 9, 29, 15, 0, tzinfo=TOKYO)
LATE = datetime(2026, 9, 29, 22, 45, tzinfo=TOKYO)
OMO = Persona(("Omo", "オモ", "奥莫"))


@dataclass(frozen=True)
class Fault:
    """A sentence that must be stopped."""

    language: str
    kind: str
    says: str
    asked: str = ""
    late: bool = False


def remembered(*texts: str, at: datetime = AFTERNOON) -> Recollection:
    """Return what memory offers where it knows these facts; the id of each is its text."""
    return Recollection(standing=tuple(Recalled(text, at, 1.0, {}, text) for text in texts))


def hard_facts(
    *texts: str,
    language: str = "en",
    asked: str = "",
    now: datetime | None = AFTERNOON,
    **more: Any,
) -> HardFacts:
    return gather(remembered(*texts), asked, language, now=now, **more)


def of_everything(language: str, asked: str = "", *, late: bool = False) -> HardFacts:
    """Return all that is known of the person in the data, while nothing is kept."""
    facts = yaml.safe_load((FOLDER / "facts.yaml").read_text(encoding="utf-8"))[language]
    now = LATE if late else AFTERNOON
    return hard_facts(
        *facts, language=language, asked=asked, now=now, unkept="consent-off", persona=OMO
    )


def harmless(language: str) -> list[str]:
    files = (f"harmless.{language}.txt", f"harmless.held.{language}.txt")
    return [line for name in files for line in (FOLDER / name).read_text("utf-8").splitlines()]


def faults(name: str) -> list[Fault]:
    rows = yaml.safe_load((FOLDER / f"hits.{name}.yaml").read_text(encoding="utf-8"))
    return [Fault(language, **row) for language in LANGUAGES for row in rows[language]]


def harmless_as_asked(language: str) -> list[tuple[str, str]]:
    """Return what was asked, and what may be answered to it."""
    kinds = yaml.safe_load((FOLDER / "harmless.asked.yaml").read_text(encoding="utf-8"))[language]
    return [(asked, says) for rows in kinds.values() for asked, says in rows]
