"""Voice activity detection: which engine the configuration asks for."""

from pathlib import Path
from typing import assert_never

from server.config import Config
from server.ports import Vad


def build(config: Config, data: Path) -> Vad:
    """Build the engine named by `vad.engine`. Nothing is loaded yet."""
    vad = config.vad
    match vad.engine:
        case "silero":
            from server.vad.silero import SileroVad  # noqa: PLC0415 - an engine's packages may be missing

            return SileroVad(data, vad.gate_aggressiveness, vad.gate_gain)
        case "webrtc":
            from server.vad.webrtc import WebrtcVad  # noqa: PLC0415

            return WebrtcVad(vad.gate_aggressiveness)
        case unknown:
            assert_never(unknown)
