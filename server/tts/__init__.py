"""Speech synthesis: which engine the configuration asks for."""

from pathlib import Path
from typing import assert_never

from server.config import Config
from server.ports import Tts


def build(config: Config, data: Path) -> Tts:
    """Build the engine named by `tts.engine`. Nothing is loaded or started yet."""
    match config.tts.engine:
        case "embedded":
            from server.tts.embedded import EmbeddedTts  # noqa: PLC0415 - an engine's packages may be missing

            return EmbeddedTts(config.tts, (*config.asr.languages, config.persona.language), data)
        case unknown:
            assert_never(unknown)
