"""What `omoide doctor` looks at: each check is a function that returns findings and never raises."""

import importlib.metadata
import json
import platform
import re
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
import httpx2
import numpy as np

from firmware_bridge.opus import OpusDecoder, OpusEncoder, OpusError
from server import weights
from server.clock import SystemClock
from server.config import Config, OpenAiLlmSection
from server.endpoint import open_client, redirect_of
from server.errors import ConfigError, EngineMissing, OmoideError
from server.llm.openai_faults import too_long
from server.prompting import PROMPTS, PromptFiles

OLDEST_PYTHON = (3, 11)
DISTRIBUTION = "omoide"
MODELS = (
    weights.SILERO,
    weights.WHISPER_BASE,
    weights.GEMMA,
    weights.SMOLLM2,
)
VOICE_EN = "voice-en"
"""The extra with the English voice. Its engine is under the GPL, so going without it is a choice and no fault."""
_OPTIONAL = ("plots", "qwen", "encrypted")
"""Extras that nothing needs unless the configuration or a command asks for them."""
_PIPER = "piper-tts"
_PIP = f"{sys.executable} -m pip"
"""That of the environment which runs this: a bare `pip` may be another's, which does not know Omoide."""
_ENDPOINT = "llm endpoint"
_TEST_TOOLS = "test"
_HTTP_SECONDS = 5.0
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+).*?(?:extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"])?$"
)


State: TypeAlias = Literal["ok", "info", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    name: str
    state: State
    detail: str
    advice: str = ""
    """What to do about it; empty if all is well."""


def check_python() -> Finding:
    """Is this Python new enough?"""
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return Finding("python", "ok", detail)
    wanted = ".".join(map(str, OLDEST_PYTHON))
    return Finding("python", "fail", detail, f"Install Python {wanted} or newer.")


def check_packages() -> list[Finding]:
    """Are the packages installed that the program and its extras ask for?"""
    try:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        advice = "Run scripts/run, or `pip install -e .` in the project."
        return [Finding("packages", "warn", "Omoide itself is not installed", advice)]
    missing: dict[str, list[str]] = {}
    for name, extra in _read_requirements(requirements):
        if extra != VOICE_EN and not _is_installed(name):
            missing.setdefault(extra, []).append(name)
    if not missing:
        return [Finding("packages", "ok", "all are installed")]
    return [_describe_missing(extra, names) for extra, names in missing.items()]


def check_config(config: Config, path: Path | None) -> Finding:
    """Which configuration is it? That it could be read is known by now."""
    source = f"{path}" if path is not None else "the defaults; there is no config.yaml here"
    return Finding("config", "ok", f"{source}; access: {config.access.mode}")


def check_prompts(config: Config) -> Finding:
    """Can the texts be read that the robot is instructed with?"""
    folder = Path(config.persona.prompts) if config.persona.prompts else PROMPTS
    try:
        PromptFiles(folder).check(config.persona.language)
    except ConfigError as error:
        return Finding("prompts", "fail", str(error), "No question can be answered without it.")
    return Finding("prompts", "ok", str(folder))


def check_timezone(config: Config) -> Finding:
    """What time is it where the robots are?"""
    now = SystemClock(config.server.timezone).now()
    return Finding("timezone", "ok", f"{config.server.timezone}: {now:%Y-%m-%d %H:%M, UTC%z}")


def check_data(data: Path) -> Finding:
    """Can the data folder be written?"""
    try:
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=data):
            pass
    except OSError as error:
        return Finding("data", "fail", f"{data}: {error}", "Give another folder with --data.")
    return Finding("data", "ok", f"{data.resolve()} can be written")


def check_ports(config: Config) -> list[Finding]:
    """Are the ports free?"""
    server = config.server
    doors = (("device_port", server.device_port), ("http_port", server.http_port))
    return [_check_port(server.host, key, port) for key, port in doors]


def check_opus() -> Finding:
    """Does the codec of the robots work?"""
    try:
        packet = OpusEncoder(16_000, 60).encode(np.zeros(960, np.int16).tobytes())
        OpusDecoder(16_000).decode(packet)
    except (OpusError, OSError, ValueError, RuntimeError, IndexError) as error:
        advice = "Reinstall the package 'av' (PyAV); it carries libopus."
        return Finding("opus", "fail", str(error), advice)
    return Finding("opus", "ok", "a packet was encoded and decoded")


def check_models() -> list[Finding]:
    """Are the files of the embedded models here? Whether they are whole is seen when the engines load them."""
    return [_check_model(model) for model in MODELS]


def check_voice_en() -> Finding:
    """Is the English voice here: its engine, and the voice itself?"""
    return _describe_voice_en(_is_installed(_PIPER), _check_model(weights.PIPER_JOE))


async def check_endpoint(config: Config) -> Finding | None:
    """Does the configured language model endpoint answer? None if there is none."""
    section = config.llm.openai
    if config.llm.engine == "embedded" or not (section.base_url or section.model):
        return None
    try:
        key = section.key()
    except ConfigError as error:
        return Finding(_ENDPOINT, "fail", str(error), "Correct that variable.")
    if not section.base_url and not key:
        advice = (
            f"Set llm.openai.base_url, or a key in the environment variable {section.api_key_env}."
        )
        return Finding(_ENDPOINT, "warn", "only llm.openai.model is set; it is not used", advice)
    url = section.address().rstrip("/") + "/models"
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    client = open_client(_HTTP_SECONDS, too_long)
    try:
        answer = await client.get(url, headers=headers)
    except (httpx2.HTTPError, OmoideError) as error:
        reason = str(error) or type(error).__name__
        advice = "Check llm.openai.base_url, and that the model server is running."
        return Finding(_ENDPOINT, "fail", f"{url}: {reason}", advice)
    finally:
        await client.aclose()
    return _judge_endpoint(url, section, answer)


def _judge_endpoint(url: str, section: OpenAiLlmSection, answer: httpx2.Response) -> Finding:
    status = answer.status_code
    if elsewhere := redirect_of(answer):
        advice = "If you trust that address, set llm.openai.base_url to it."
        return Finding(_ENDPOINT, "fail", f"{url} has moved to {elsewhere}", advice)
    if status in (401, 403):
        advice = f"Set the key in the environment variable {section.api_key_env}."
        return Finding(_ENDPOINT, "fail", f"{url} answers {status}", advice)
    offered = _read_models(answer.text)
    if offered and section.model not in offered:
        return Finding(
            _ENDPOINT,
            "fail",
            f"{url} offers no model {section.model!r}",
            f"Set llm.openai.model to one of: {', '.join(offered[:10])}.",
        )
    return Finding(_ENDPOINT, "ok", f"{url} answers {status}")


def _read_models(text: str) -> list[str]:
    """Return the names in a list of models; empty if this is none."""
    try:
        return [str(model["id"]) for model in json.loads(text)["data"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


async def check_engines(config: Config, data: Path) -> list[Finding]:
    """Can every engine be loaded, and does it work? Takes some seconds and memory."""
    from server.app import open_app  # noqa: PLC0415 - a missing package must not stop the other checks

    started = anyio.current_time()
    try:
        async with open_app(config, data) as app:
            await app.warm.wait()
            seconds = anyio.current_time() - started
            return [
                _describe_engine(stage, engine.name, app.troubles.get(stage), seconds)
                for stage, engine in app.stages.items()
            ]
    except OmoideError as error:
        if error.code == "data-locked":  # that a server runs is no fault
            detail = f"not looked at: a server, or another command, works in {data}"
            advice = f"If it is a server, http://127.0.0.1:{config.server.http_port}/health says how they are; else wait for it."
            return [Finding("engines", "warn", detail, advice)]
        return [Finding("engines", "fail", str(error), "See above.")]


def _describe_engine(stage: str, name: str, trouble: OmoideError | None, seconds: float) -> Finding:
    if trouble is not None:
        return Finding(f"engine {stage}", "fail", name, str(trouble))
    return Finding(f"engine {stage}", "ok", f"{name}; all warm after {seconds:.1f} s")


def _read_requirements(requirements: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield name and extra of what is needed on this system."""
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        is_for_windows = "win32" in requirement
        if match is None or (is_for_windows and sys.platform != "win32"):
            continue
        if match["extra"] != _TEST_TOOLS:
            yield match["name"], match["extra"] or ""


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _describe_missing(extra: str, names: list[str]) -> Finding:
    detail = f"missing: {', '.join(names)}"
    if not extra:
        return Finding("packages", "fail", detail, f"Run `{_PIP} install {' '.join(names)}`.")
    if extra in _OPTIONAL:
        advice = f"If you want them: `{_PIP} install 'omoide[{extra}]'`."
        return Finding(f"packages of {extra}", "info", detail, advice)
    advice = f"Run scripts/run, or `{_PIP} install 'omoide[{extra}]'`."
    return Finding(f"packages of {extra}", "warn", detail, advice)


def _describe_voice_en(has_engine: bool, voice: Finding) -> Finding:
    has_voice = voice.state == "ok"
    if has_engine and has_voice:
        return Finding("voice en", "ok", f"Piper (GPL-3.0-or-later), {voice.detail}")
    advice = "scripts/run without NO_VOICE_EN installs it (GPL-3.0-or-later)."
    if not has_engine and not has_voice:
        detail = "not installed: English is read by the Japanese voice"
        return Finding("voice en", "info", detail, f"If you want it: {advice}")
    missing = "the voice" if has_engine else "its engine"
    return Finding("voice en", "warn", f"{missing} is missing", advice)


def _check_model(model: weights.Weights) -> Finding:
    megabytes = sum(file.size_bytes for file in model.files) / 1e6
    try:
        for file in model.files:
            for part in file.parts:
                weights.find_packaged(part, model.install)
    except EngineMissing as missing:
        return Finding(f"model {model.name}", "warn", "missing", str(missing))
    return Finding(f"model {model.name}", "ok", f"{megabytes:.0f} MB")


def _check_port(host: str, key: str, port: int) -> Finding:
    try:
        with socket.create_server((host, port)):
            pass
    except OSError as error:
        advice = f"If that is not Omoide itself, choose another one under server.{key}."
        return Finding(f"port {port}", "warn", f"in use ({error})", advice)
    return Finding(f"port {port}", "ok", f"free (server.{key})")
