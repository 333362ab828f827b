"""What stays readable on the disk beside an encrypted store: said at the start, and by the doctor."""

from collections.abc import Mapping
from pathlib import Path

from server.config import Config
from server.recording import RECORDINGS


def left_in_clear(config: Config, data: Path) -> Mapping[str, str]:
    """Return what tells of what people say although the store is encrypted, and what to do; nothing where it is not.

    Names of persons and robots in ``devices.json`` are always readable, and are not among it.
    """
    if config.store.encryption == "off":
        return {}
    found = {}
    index = config.index
    if index.engine != "qdrant" or index.url != ":memory:":
        found["index"] = (
            'set index.engine to qdrant and index.url to ":memory:", and delete memory/index'
        )
    if config.recording.keep_turns or config.recording.keep_audio:
        found["recordings"] = "set recording.keep_turns and recording.keep_audio to false"
    elif any((data / RECORDINGS).glob("*/*/*")):
        found["recordings"] = f"delete the folder {RECORDINGS}"
    return found
