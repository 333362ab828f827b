"""Small sets for `omoide calibrate`: what somebody told, what they asked about it, and the lessons drawn from both."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from server.commands.lessons import Lessons, draw_lessons
from server.commands.recall_sets import RecallSet, SetFact, SetQuestion
from server.ports import Embedder
from tests.fakes import FakeEmbedder

Events = Sequence[SetFact | SetQuestion]

BEGINNING = datetime.fromisoformat("2026-05-01T12:00:00+00:00")


def after(days: float) -> datetime:
    return BEGINNING + timedelta(days=days)


def fact(id_: str, text: str, day: float, person: str = "mio") -> SetFact:
    return SetFact(person, id_, text, after(day), None, None)


def ask(
    text: str,
    day: float,
    expect: Sequence[str] = (),
    forbid: Sequence[str] = (),
    person: str = "mio",
) -> SetQuestion:
    id_ = f"{person}/{text}/{day}"
    return SetQuestion(person, id_, text, after(day), tuple(expect), tuple(forbid), "")


async def drawn(*sets: Events, embedder: Embedder | None = None) -> Lessons:
    recall_sets = [RecallSet(tuple(events), japanese=False) for events in sets]
    return await draw_lessons(recall_sets, embedder or FakeEmbedder(), 0)


MILK = fact("milk", "You drink milk.", 0)
TEA = fact("tea", "You drink tea.", 10)
DOG = fact("dog", "Your dog is called Rex.", 0)
