"""Speech recognition: which engine the configuration asks for."""

from pathlib import Path
from typing import assert_never

from server.config import Config
from server.ports import Asr


def build(config: Config, data: Path) -> Asr:
    """Build the engine named by `asr.engine`. Nothing is loaded yet."""
    match config.asr.engine:
        case "whisper":
            from server.asr.whisper import WhisperAsr  # noqa: PLC0415 - an engine's packages may be missing

            return WhisperAsr(config.asr, data)
        case unknown:
            assert_never(unknown)
