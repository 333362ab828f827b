"""The language model: which engine the configuration asks for."""

from pathlib import Path
from typing import Literal, assert_never

import structlog

from server.config import Config, OpenAiLlmSection
from server.ports import Llm

log = structlog.get_logger(__name__)


def build(config: Config, data: Path) -> Llm:
    """Build the engine named by `llm.engine`; ``auto`` takes a configured endpoint, else the packaged models.

    Nothing is loaded or called yet.
    """
    engine = _choose(config)
    log.info("llm-engine", engine=engine, asked_for=config.llm.engine)
    match engine:
        case "embedded":
            from server.llm.embedded import EmbeddedLlm  # noqa: PLC0415 - an engine's packages may be missing

            return EmbeddedLlm(config.llm, config.asr.languages, data)
        case "openai":
            from server.llm.openai import OpenAiLlm  # noqa: PLC0415

            return OpenAiLlm(config.llm)
        case unknown:
            assert_never(unknown)


def _choose(config: Config) -> Literal["embedded", "openai"]:
    if config.llm.engine != "auto":
        return config.llm.engine
    return "openai" if _has_endpoint(config.llm.openai) else "embedded"


def _has_endpoint(section: OpenAiLlmSection) -> bool:
    """Whether somebody has set up an endpoint. A key alone says nothing: other programs use the same variable."""
    if section.base_url or not section.model:
        return bool(section.base_url)
    if not section.key():
        log.warning(
            "llm-half-configured",
            hint=f"llm.openai.model is set, but neither base_url nor {section.api_key_env}: the embedded model answers",
        )
    return bool(section.key())
