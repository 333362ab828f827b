"""`omoide doctor`: look at everything that a talk needs, and say what to do about what is missing."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from server import weights
from server.commands import checks
from server.commands.checks import Finding
from server.commands.checks_deliveries import check_deliveries
from server.commands.checks_protection import check_protection
from server.commands.report import Report, Tell
from server.config import Config, load_config
from server.errors import ConfigError

NOTHING: Mapping[str, object] = {"ok": False, "checks": [], "licences": [], "error": None}
_MARKS = {"ok": "ok  ", "info": "info", "warn": "WARN", "fail": "FAIL"}
_VERDICTS = {
    "fail": "Something is wrong: see FAIL above.",
    "warn": "It works, but look at WARN above.",
}
"""The last line, by the worst finding."""
_ALL_WELL = "All is well."


async def examine(config_path: Path | None, data: Path, *, quick: bool, tell: Tell) -> Report:
    """Make all checks.

    Args:
        config_path: The configuration file; None for the defaults.
        data: The data folder.
        quick: Leave out loading the engines.
        tell: Told about each finding as it is made.
    """
    findings = []
    async for finding in _look(config_path, data, quick=quick):
        findings.append(finding)
        _tell(finding, tell)
    licences = _describe_licences()
    _tell_licences(licences, tell)
    tell(verdict(findings))
    ok = all(finding.state != "fail" for finding in findings)
    found = [asdict(finding) for finding in findings]
    return Report({**NOTHING, "ok": ok, "checks": found, "licences": licences}, ok=ok)


def verdict(findings: Iterable[Finding]) -> str:
    """Return what the findings come to, in a sentence."""
    states = {finding.state for finding in findings}
    return next((said for state, said in _VERDICTS.items() if state in states), _ALL_WELL)


def _describe_licences() -> list[Mapping[str, str]]:
    """Return whose work the models and voices are that this installation uses."""
    return [
        {
            "name": licence.name,
            "package": f"{licence.distribution} {licence.version}",
            "licence": licence.licence,
            "credit": licence.credit,
        }
        for licence in weights.licences()
    ]


def _tell_licences(licences: Iterable[Mapping[str, str]], tell: Tell) -> None:
    tell("")
    tell("Models and voices:")
    for licence in licences:
        tell(f"      {licence['name']}: {licence['licence']}. {licence['credit']}")
    tell("")


async def _look(config_path: Path | None, data: Path, *, quick: bool) -> AsyncIterator[Finding]:
    yield checks.check_python()
    for finding in checks.check_packages():
        yield finding
    for finding in checks.check_models():
        yield finding
    yield checks.check_voice_en()
    yield checks.check_opus()
    yield checks.check_data(data)
    try:
        config = load_config(config_path)
    except ConfigError as error:
        yield Finding("config", "fail", str(error), "Correct the lines named above.")
        return
    for finding in _look_at_config(config, config_path, data):
        yield finding
    endpoint = await checks.check_endpoint(config)
    if endpoint is not None:
        yield endpoint
    if not quick:
        for finding in await checks.check_engines(config, data):
            yield finding


def _look_at_config(config: Config, path: Path | None, data: Path) -> Iterable[Finding]:
    yield checks.check_config(config, path)
    yield checks.check_prompts(config)
    yield checks.check_timezone(config)
    yield from checks.check_ports(config)
    yield from check_protection(config, data)
    yield from check_deliveries(config, data)


def _tell(finding: Finding, tell: Tell) -> None:
    tell(f"{_MARKS[finding.state]}  {finding.name:16} {finding.detail}")
    if finding.advice:
        tell(f"      {'':16} {finding.advice}")
