"""`omoide replay`: hold a scripted talk with a server and compare what comes back with what was expected."""

import unicodedata
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from server.audio import Audio, read_audio
from server.commands.api import Api
from server.commands.moment import StartedClock, in_zone
from server.commands.reach import Place, Reached, reach
from server.commands.replay_script import NOTHING_RECALLED, Script, ScriptTurn, read_script
from server.commands.report import Report, Tell
from server.commands.talk import describe_turn, tell_turn, trace_of
from server.commands.voice import speak
from server.config import Config
from server.errors import ConfigError
from server.languages import spoken_language
from server.ports import Tts
from server.simulator import Answer, Habits, Identity, Robot

NOTHING: Mapping[str, object] = {
    "turns": [],
    "extracted": [],
    "passed": 0,
    "failed": 0,
    "error": None,
}


@dataclass(slots=True)
class Held:
    """What came of a talk so far."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    extracted: list[dict[str, Any]] = field(default_factory=list)
    """For each time that facts were drawn: after how many turns, and which."""


async def replay(script_path: Path, place: Place, tell: Tell) -> Report:
    """Hold the talk of a script. A robot connects at its first turn and stays until the server is stopped.

    Raises:
        OmoideError: The script or one of its files is wrong, a voice is missing, the server can't be reached, or facts
            can't be drawn.
    """
    script = read_script(script_path)
    place = _at_its_time(script, place)
    held = Held()
    for number, sitting in enumerate(script.sittings):
        if number:
            tell("The server is started again.")
        async with reach(place, tell) as reached:
            sounds = await _make_sounds(script, sitting, script_path.parent, reached, place)
            await _hold(script, sitting, sounds, reached, held, tell)
    turns = held.turns
    passed = sum(turn["passed"] for turn in turns)
    tell(f"{passed} of {len(turns)} turns passed")
    data = {
        **NOTHING,
        "turns": turns,
        "extracted": held.extracted,
        "passed": passed,
        "failed": len(turns) - passed,
    }
    return Report(data, ok=passed == len(turns))


def _at_its_time(script: Script, place: Place) -> Place:
    """Set the clock of the server that will be started to the time of the script."""
    has_restart = len(script.sittings) > 1
    if place.url is not None and (script.at is not None or has_restart):
        raise ConfigError(
            "'at' and 'restart' of the script need a server that is started for it: leave --url out.",
            code="own-server-needed",
        )
    if script.at is None:
        return place
    zone = place.config.server.timezone
    return replace(place, clock=StartedClock(in_zone(script.at, zone), zone))


async def _make_sounds(
    script: Script, turns: Sequence[ScriptTurn], folder: Path, reached: Reached, place: Place
) -> list[Audio | None]:
    """Return the sound of each turn, None for those that are sent as text; all are made before the talk begins."""
    sounds = [read_audio(folder / turn.wav) if turn.wav else None for turn in turns]
    aloud = [n for n, turn in enumerate(turns) if turn.text and not turn.as_text]
    if aloud:
        async with _some_tts(reached, place) as tts:
            for number in aloud:
                turn = turns[number]
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
    script: Script,
    turns: Sequence[ScriptTurn],
    sounds: Sequence[Audio | None],
    reached: Reached,
    held: Held,
    tell: Tell,
) -> None:
    """Hold the talk of one sitting and add to `held` what came of it."""
    robots: dict[Identity, Robot] = {}
    await reached.watch()
    async with AsyncExitStack() as stack:
        for turn, sound in zip(turns, sounds, strict=True):
            if turn.extract:
                await _extract(reached, held, tell)
                continue
            identity = Identity(turn.device or script.device, turn.person or script.person)
            await anyio.sleep(turn.pause_seconds)
            robot = robots.get(identity)
            if robot is None or robot.closed is not None:
                opened = reached.open_robot(identity, Habits(protocol=script.protocol))
                robot = robots[identity] = await stack.enter_async_context(opened)
            answer = await (robot.write(turn.text) if sound is None else robot.say(sound))
            held.turns.append(_judge(turn, answer, await _describe(reached, identity, answer)))
            _tell(held.turns[-1], tell)


async def _extract(reached: Reached, held: Held, tell: Tell) -> None:
    from server.commands.memory import tell_stored  # noqa: PLC0415 - heavy, and seldom needed
    from server.web.described import describe_fact  # noqa: PLC0415

    stored: list[dict[str, Any]]
    if reached.app is not None:
        stored = [
            describe_fact(fact, reached.app.config.fading)
            for fact in await reached.app.memory.extract(put_off=True)
        ]
    else:
        answer = await Api(reached.url, reached.token).ask("POST", "/api/debug/extract")
        stored = list(answer["stored"])
    held.extracted.append({"after_turns": len(held.turns), "stored": stored})
    tell_stored(stored, tell)


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
        *_find_unrecalled(turn.recalls, result["recalled"]),
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


def _find_unrecalled(
    expected: Sequence[str], recalled: Sequence[Mapping[str, Any]] | None
) -> list[str]:
    if not expected:
        return []
    if recalled is None:
        return ["the server does not say what it recalled"]
    texts = [line["text"] for line in recalled]
    if expected == (NOTHING_RECALLED,):
        return [f"{text!r} was recalled, and nothing should have been" for text in texts]
    together = "\n".join(texts)
    return _find_missing("recalled memory", together, expected)


def _simplify(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _tell(result: Mapping[str, Any], tell: Tell) -> None:
    tell_turn(result, tell)
    for failure in result["failures"]:
        tell(f"        FAILED: {failure}")
