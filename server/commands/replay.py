"""`omoide replay`: hold a scripted talk with a server and compare what comes back with what was expected."""

import unicodedata
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from server.audio import Audio, read_audio
from server.commands.reach import Place, Reached, reach
from server.commands.replay_script import Script, ScriptTurn, read_script
from server.commands.report import Report, Tell
from server.commands.talk import describe_turn, tell_turn, trace_of
from server.commands.voice import speak
from server.config import Config
from server.ports import Tts
from server.simulator import Answer, Habits, Identity, Robot
from server.speaking import spoken_language

NOTHING: Mapping[str, object] = {"turns": [], "passed": 0, "failed": 0, "error": None}


async def replay(script_path: Path, place: Place, tell: Tell) -> Report:
    """Hold the talk of a script. A robot connects at its first turn and stays until the end.

    Raises:
        OmoideError: The script or one of its files is wrong, a voice is missing, or the server can't be reached.
    """
    script = read_script(script_path)
    async with reach(place, tell) as reached:
        sounds = await _make_sounds(script, script_path.parent, reached, place)
        turns = await _hold(script, sounds, reached, tell)
    passed = sum(turn["passed"] for turn in turns)
    tell(f"{passed} of {len(turns)} turns passed")
    data = {**NOTHING, "turns": turns, "passed": passed, "failed": len(turns) - passed}
    return Report(data, ok=passed == len(turns))


async def _make_sounds(
    script: Script, folder: Path, reached: Reached, place: Place
) -> list[Audio | None]:
    """Return the sound of each turn, None for those that are sent as text; all are made before the talk begins."""
    sounds = [read_audio(folder / turn.wav) if turn.wav else None for turn in script.turns]
    aloud = [n for n, turn in enumerate(script.turns) if turn.text and not turn.as_text]
    if aloud:
        async with _some_tts(reached, place) as tts:
            for number in aloud:
                turn = script.turns[number]
                language = turn.language or script.language or _guess_language(turn, place.config)
                sounds[number] = await speak(turn.text, language, tts)
    return sounds


def _guess_language(turn: ScriptTurn, config: Config) -> str:
    return spoken_language(turn.text, config.persona.language)


@asynccontextmanager
async def _some_tts(reached: Reached, place: Place) -> AsyncIterator[Tts]:
    """Lend the voice of the server in this process, or a voice of our own to talk to one elsewhere."""
    if reached.app is not None:
        yield reached.app.engines.tts
        return
    from server import tts  # noqa: PLC0415 - not needed for a server in this process

    engine = tts.build(place.config, place.data)
    try:
        yield engine
    finally:
        await engine.aclose()


async def _hold(
    script: Script, sounds: list[Audio | None], reached: Reached, tell: Tell
) -> list[dict[str, Any]]:
    robots: dict[Identity, Robot] = {}
    results = []
    await reached.watch()
    async with AsyncExitStack() as stack:
        for turn, sound in zip(script.turns, sounds, strict=True):
            identity = Identity(turn.device or script.device, turn.person or script.person)
            await anyio.sleep(turn.pause_seconds)
            robot = robots.get(identity)
            if robot is None or robot.closed is not None:
                opened = reached.open_robot(identity, Habits(protocol=script.protocol))
                robot = robots[identity] = await stack.enter_async_context(opened)
            answer = await (robot.write(turn.text) if sound is None else robot.say(sound))
            results.append(_judge(turn, answer, await _describe(reached, identity, answer)))
            _tell(results[-1], tell)
    return results


async def _describe(reached: Reached, identity: Identity, answer: Answer) -> dict[str, Any]:
    trace = await trace_of(reached, identity, answer)
    return {
        "device": identity.device,
        "person": identity.person,
        **describe_turn(answer, trace),
    }


def _judge(turn: ScriptTurn, answer: Answer, result: dict[str, Any]) -> dict[str, Any]:
    failures = [
        *_find_missing("transcript", answer.transcript, turn.expect_transcript_contains),
        *_find_missing("reply", answer.reply, turn.expect_reply_contains),
    ]
    if result["error"]:
        failures.append(result["error"]["message"])
    return {"said": turn.text or turn.wav, **result, "failures": failures, "passed": not failures}


def _find_missing(what: str, text: str, expected: Iterable[str]) -> list[str]:
    return [
        f"the {what} does not contain {wanted!r}"
        for wanted in expected
        if _simplify(wanted) not in _simplify(text)
    ]


def _simplify(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _tell(result: Mapping[str, Any], tell: Tell) -> None:
    tell_turn(result, tell)
    for failure in result["failures"]:
        tell(f"        FAILED: {failure}")
