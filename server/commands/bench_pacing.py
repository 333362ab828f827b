"""`omoide bench pacing`: how evenly a reply arrives at a robot behind a weak link."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from server import asr, tts, vad
from server.audio import Audio
from server.commands.bench_echo import TALES
from server.commands.figures import percentile
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.staged import staged
from server.commands.voice import speak
from server.ports import Asr, Vad
from server.simulator import Answer, Habits
from server.simulator.trial import in_virtual_time, robot_on_wire
from server.simulator.wire import GOOD, WEAK, Link

_AT_A_TIME = 8

NOTHING: Mapping[str, object] = {"replies": 0, "links": {}, "error": None}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    language: str = "ja"
    replies: int = 6


async def bench_pacing(place: Place, plan: Plan, tell: Tell) -> Report:
    """Let a robot be told tales over a good link and over a weak one, in virtual time.

    Raises:
        OmoideError: An engine is missing.
    """
    voice = tts.build(place.config, place.data)
    tale = {text: await speak(text, plan.language, voice) for text in TALES[plan.language]}
    await voice.aclose()
    ears = vad.build(place.config, place.data), asr.build(place.config, place.data)
    links: dict[str, Any] = {}
    for name, link in (("good", GOOD), ("weak", WEAK)):
        answers, lost = await _over(place, plan, link, tale, ears)
        links[name] = _describe(answers, lost)
        tell(f"{name:5} {links[name]}")
    await ears[1].aclose()
    return Report({**NOTHING, "replies": plan.replies, "links": links})


async def _over(
    place: Place, plan: Plan, link: Link, tale: Mapping[str, Audio], ears: tuple[Vad, Asr]
) -> tuple[Sequence[Answer], int]:
    async def talk() -> tuple[Sequence[Answer], int]:
        async with (
            staged(place.config, *ears, tale, _AT_A_TIME) as stage,
            robot_on_wire(stage.serve, Habits(), link) as (robot, end),
        ):
            await stage.app.warm.wait()
            answers = [await robot.write("Tell me a tale.") for _ in range(plan.replies)]
            return answers, end.lost

    return await in_virtual_time(talk)


def _describe(answers: Sequence[Answer], lost: int) -> Mapping[str, object]:
    gaps = list(chain.from_iterable(answer.arrivals_ms for answer in answers))
    return {
        "seconds": round(sum(answer.audio.seconds for answer in answers), 1),
        "underruns": sum(answer.underruns for answer in answers),
        "underrun_ms": round(sum(chain.from_iterable(answer.gaps_ms for answer in answers))),
        "overflows": sum(answer.overflows for answer in answers),
        "early_stop_ms": max((answer.early_stop_ms for answer in answers), default=0.0),
        "gap_ms_p50": percentile(gaps, 50),
        "gap_ms_p99": percentile(gaps, 99),
        "gap_ms_most": max(gaps, default=None),
        "lost_upward": lost,
        "failed": sum(answer.error is not None for answer in answers),
    }
