"""`omoide bench noise`: how often the robot answers sounds that nobody spoke, and whether short words are still heard."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import numpy as np

from server import asr, tts, vad
from server.audio import LISTENING_RATE, Audio, Samples
from server.commands.bench_echo import TALES
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.staged import Stage, staged
from server.commands.voice import speak
from server.ports import Asr, Vad
from server.simulator import Habits, Robot
from server.simulator.noises import make_noises
from server.simulator.trial import in_virtual_time, robot_on_wire

WORDS = {
    "ja": (
        "はい。",
        "うん。",
        "いいえ。",
        "ストップ。",
        "ありがとうございました。",
        "おやすみなさい。",
    ),
    "en": ("Yes.", "No.", "Stop.", "Okay.", "Thank you.", "Good night."),
}
"""What people do say, although recognisers invent some of it."""
_REST_SECONDS = 2.5
"""After a sound: its end must have been noticed, and what was recognised in it have been judged."""

NOTHING: Mapping[str, object] = {
    "clips": 0,
    "false_turns": None,
    "utterances": None,
    "words": 0,
    "words_heard": None,
    "error": None,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    clips: int = 200


async def bench_noise(place: Place, plan: Plan, tell: Tell) -> Report:
    """Play sounds that are made by rule to a robot that listens, and then words.

    Detector, recogniser and server are the real ones; the clock is not.

    Raises:
        OmoideError: An engine is missing.
    """
    voice = tts.build(place.config, place.data)
    said = [
        (word, await speak(word, language, voice))
        for language, words in WORDS.items()
        for word in words
    ]
    tale = {text: await speak(text, "ja", voice) for text in TALES["ja"][:1]}
    await voice.aclose()
    ears = vad.build(place.config, place.data), asr.build(place.config, place.data)
    return await in_virtual_time(lambda: _measure(place, plan, ears, said, tale, tell))


async def _measure(
    place: Place,
    plan: Plan,
    ears: tuple[Vad, Asr],
    said: Sequence[tuple[str, Audio]],
    tale: Mapping[str, Audio],
    tell: Tell,
) -> Report:
    false: Counter[str] = Counter()
    utterances = 0
    heard: dict[str, str] = {}
    async with (
        staged(place.config, *ears, tale, 1) as stage,
        robot_on_wire(stage.serve, Habits(mode="realtime", patience_seconds=1e6)) as (robot, _),
    ):
        await stage.app.warm.wait()
        for clip in make_noises(plan.clips):
            texts = await _hear(stage, robot, clip.samples)
            utterances += len(texts)
            false[clip.kind] += sum(map(bool, texts))
        for word, sound in said:
            texts = await _hear(stage, robot, sound.at(LISTENING_RATE).samples)
            heard[word] = " ".join(filter(None, texts))
    await ears[1].aclose()
    data: dict[str, Any] = {
        **NOTHING,
        "clips": plan.clips,
        "utterances": utterances,
        "false_turns": sum(false.values()),
        "false_turns_of": {kind: count for kind, count in false.items() if count},
        "words": len(said),
        "words_heard": sum(map(bool, heard.values())),
        "heard_as": heard,
    }
    tell(
        f"{plan.clips} sounds that nobody spoke: {utterances} were taken for a voice, {data['false_turns']} for words; "
        f"{data['words_heard']} of {len(said)} short words heard: {heard}"
    )
    return Report(data)


async def _hear(stage: Stage, robot: Robot, samples: Samples) -> list[str]:
    """Return what was recognised in each turn that a sound led to; wait until the robot has answered."""
    stage.turns.clear()
    before = np.zeros(LISTENING_RATE // 4, np.int16)
    robot.speak(Audio(np.concatenate((before, samples)), LISTENING_RATE))
    await anyio.sleep(len(samples) / LISTENING_RATE + _REST_SECONDS)
    await robot.until_silent()
    return [turn.transcript.text if turn.transcript else "" for turn in stage.turns]
