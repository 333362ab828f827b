"""`omoide talk` and `omoide say`: be a robot for a few turns, and tell how it went."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from server.audio import Audio, read_audio, write_wav
from server.clock import SystemClock
from server.commands.moment import StartedClock, parse_moment
from server.commands.reach import Place, Reached, Trace, reach
from server.commands.report import Report, Tell, describe_error
from server.errors import ConfigError, OmoideError
from server.simulator import Answer, Habits, Identity
from server.turn import Happening

DEVICE = "02:00:00:00:00:01"
"""The robot that the tools are unless they are told otherwise; an address that no real robot has."""

NO_TURN: Mapping[str, object] = {
    "transcript": "",
    "reply": "",
    "emotion": "",
    "first_audio_ms": None,
    "first_sound_ms": None,
    "server_first_audio_ms": None,
    "stages_ms": {},
    "prompt_tokens": 0,
    "recalled": [],
    "standing": [],
    "underruns": 0,
    "overflows": 0,
    "early_stop_ms": 0.0,
    "reply_seconds": 0.0,
    "audio": None,
    "error": None,
}
"""The shape of one turn, before anything has happened."""
NOTHING: Mapping[str, object] = {**NO_TURN, "turns": []}


async def talk(
    wavs: Sequence[Path], place: Place, identity: Identity, habits: Habits, tell: Tell
) -> Report:
    """Stream sound files to a server, one turn each in one connection, and save what it answered.

    Raises:
        OmoideError: A file can't be read, or the server can't be reached.
    """
    sounds = [read_audio(wav) for wav in wavs]
    stamp = f"{SystemClock(place.config.server.timezone).now():%Y%m%d-%H%M%S}"
    turns: list[Mapping[str, object]] = []
    async with (
        reach(place, tell) as reached,
        reached.open_robot(identity, habits) as robot,
    ):
        await reached.watch()
        for number, sound in enumerate(sounds, 1):
            answer = await robot.say(sound)
            path = place.data / "recordings" / f"talk-{stamp}-{number}.wav"
            turn = describe_turn(answer, await trace_of(reached, identity, answer))
            turns.append({**turn, "audio": _save(answer.audio, path)})
            tell_turn(turns[-1], tell)
            if robot.closed is not None:
                break
    return Report({**turns[-1], "turns": turns}, ok=not any(turn["error"] for turn in turns))


async def say(
    text: str, place: Place, identity: Identity, habits: Habits, tell: Tell, at: str = ""
) -> Report:
    """Send a text to a server as if it had been said.

    Args:
        text: What is said.
        place: Where the server is, or shall be.
        identity: Who says it.
        habits: How the robot behaves.
        tell: Prints lines for people.
        at: When it is said, for a server that is started for it; empty for now.

    Raises:
        OmoideError: The server can't be reached, there is nothing to say, or `at` can't be had.
    """
    place = _at(place, at)
    if not text.strip():
        raise OmoideError(
            "text-empty", "There is nothing to say. Give a text with at least a word."
        )
    async with (
        reach(place, tell) as reached,
        reached.open_robot(identity, habits) as robot,
    ):
        await reached.watch()
        answer = await robot.write(text)
        turn = describe_turn(answer, await trace_of(reached, identity, answer))
    tell_turn(turn, tell)
    return Report({**turn, "turns": [turn]}, ok=not turn["error"])


def _at(place: Place, at: str) -> Place:
    if not at:
        return place
    if place.url is not None:
        raise ConfigError(
            "--at sets the clock of a server that is started for this; one that runs keeps its own. Leave --url out.",
            code="own-server-needed",
        )
    zone = place.config.server.timezone
    return replace(place, clock=StartedClock(parse_moment(at, zone), zone))


async def trace_of(reached: Reached, identity: Identity, answer: Answer) -> Trace | None:
    """Return the server's record of an exchange; None if there was no turn, or the server keeps it to itself."""
    if answer.error is not None and not answer.transcript:
        return None
    return await reached.new_trace(identity)


def describe_turn(answer: Answer, trace: Trace | None) -> dict[str, Any]:
    """Put together what the robot measured and what the server recorded.

    ``first_sound_ms`` is the wait for any sound, ``first_audio_ms`` that for the answer itself: a phrase that fills the
    wait is not counted, if the server's record tells of one.
    """
    error = describe_error(answer.error)
    if trace is not None and trace["error"] and error is None:
        message = "The server could not answer and said so; its log tells why."
        error = {"code": str(trace["error"]), "message": message}
    return {
        **NO_TURN,
        "transcript": answer.transcript,
        "reply": answer.reply,
        "emotion": answer.emotion,
        "first_audio_ms": _wait_for_answer(answer, trace),
        "first_sound_ms": answer.first_audio_ms,
        "server_first_audio_ms": trace["first_audio_ms"] if trace else None,
        "stages_ms": dict(trace["stages_ms"]) if trace else {},
        "prompt_tokens": trace["prompt_tokens"] if trace else 0,
        "recalled": _describe_recalled(trace),
        "standing": [line["text"] for line in trace.get("standing", ())] if trace else [],
        "underruns": answer.underruns,
        "overflows": answer.overflows,
        "early_stop_ms": answer.early_stop_ms,
        "reply_seconds": round(answer.audio.seconds, 2),
        "error": error,
    }


def _describe_recalled(trace: Trace | None) -> list[dict[str, Any]] | None:
    """Return what memory offered; None if the server does not tell."""
    if trace is None or "recalled" not in trace:
        return None
    return [
        {"id": line.get("id", ""), "text": line["text"], "scores": dict(line["parts"])}
        for line in trace["recalled"]
    ]


def _wait_for_answer(answer: Answer, trace: Trace | None) -> float | None:
    happened = trace.get("events", ()) if trace else ()
    fillers = sum(event["event"] == Happening.FILLER for event in happened)
    if not fillers:
        return answer.first_audio_ms
    return answer.sentences_ms[fillers] if len(answer.sentences_ms) > fillers else None


def tell_turn(turn: Mapping[str, Any], tell: Tell) -> None:
    """Print a turn for people."""
    tell(f"you     {turn['transcript']}")
    tell(f"robot   {turn['reply']}" + (f"  [{turn['emotion']}]" if turn["emotion"] else ""))
    lines = [f"recalled {line['text']}" for line in turn["recalled"] or ()]
    for line in (*lines, *(f"stands {text}" for text in turn["standing"])):
        tell(f"        {line}")
    first_sound, answered = turn["first_sound_ms"], turn["first_audio_ms"]
    if first_sound is not None:
        filler = "" if first_sound == answered else ", to fill the wait"
        tell(f"        first sound after {first_sound:.0f} ms{filler}")
    if answered is not None and answered != first_sound:
        tell(f"        first sound of the answer after {answered:.0f} ms")
    if turn["stages_ms"]:
        stages = ", ".join(f"{name} {spent:.0f}" for name, spent in turn["stages_ms"].items())
        tell(f"        ms: {stages}")
    faults = [f"{turn[name]} {name}" for name in ("underruns", "overflows") if turn[name]]
    if faults:
        tell(f"        {', '.join(faults)}")
    if turn["audio"]:
        tell(f"        saved as {turn['audio']}")
    if turn["error"]:
        tell(f"        error: {turn['error']['message']} ({turn['error']['code']})")


def _save(audio: Audio, path: Path) -> str | None:
    if len(audio.samples) == 0:
        return None
    try:
        write_wav(path, audio)
    except (OSError, RuntimeError) as error:
        raise OmoideError(
            "data-unwritable",
            f"{path} can't be written ({error}). Give another folder with --data.",
        ) from error
    return str(path)
