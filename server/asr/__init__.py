"""Speech recognition: which engine the configuration asks for."""

from pathlib import Path
from typing import assert_never

from server.config import Config
from server.ports import Asr


def build(config: Config, data: Path) -> Asr:
    """Build the engine named by `asr.engine`, with the hint of `endpointing.hint` beside it. Nothing is loaded yet."""
    asr = _build(config, data)
    match config.endpointing.hint:
        case "none":
            return asr
        case "smart-turn":
            from server.asr.hinted import HintedAsr  # noqa: PLC0415
            from server.asr.smart_turn import SmartTurn  # noqa: PLC0415

            hint = SmartTurn(config.endpointing.hint_path, data)
            return HintedAsr(asr, hint, config.asr.whisper.early_start_ms)
        case unknown:
            assert_never(unknown)


def _build(config: Config, data: Path) -> Asr:
    match config.asr.engine:
        case "whisper":
            from server.asr.whisper import WhisperAsr  # noqa: PLC0415 - an engine's packages may be missing

            return WhisperAsr(config.asr, data)
        case unknown:
            assert_never(unknown)
