"""The end of a turn by the sound of the voice: a smart-turn network in the format of ONNX.

Takes any network with the input ``input_features``, (1, 80, 800) log mel energies of the last eight seconds as Whisper
reckons them, and one output: the probability that the speaker has finished.
"""

from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from server.audio import LISTENING_RATE, Samples
from server.errors import AsrError, EngineMissing
from server.threads import Lazy, OneAtATime, Overtaken
from server.trace import turn_device
from server.weights import SMART_TURN, obtain

_SECONDS = 8
_INPUT = "input_features"
_SHAPE = (1, 80, 100 * _SECONDS)
_WAITING = 4
_LEAST_DEVIATION = 1e-4


class Network(Protocol):
    """What does the judging; see `SmartTurnNetwork`."""

    def probability(self, samples: Samples) -> float:
        """Return how probable it is that the speaker has finished. Blocks."""


class SmartTurn:
    """Implements `ports.TurnEndHint`. One call at a time, in a thread of its own."""

    name = "smart-turn"

    def __init__(self, path: str, data: Path) -> None:
        """Remember where the network is.

        Args:
            path: An ONNX file; empty for the one of the package.
            data: Where what is known of checked model files is kept.
        """
        self._model = Lazy[Network](partial(_load, path, data))
        self._queue = OneAtATime(_WAITING)

    async def probability(self, samples: Samples) -> float:
        """Return how probable it is that the speaker has finished; see `ports.TurnEndHint`.

        Raises:
            AsrError: ``hint-overtaken`` if the device made more pauses meanwhile than can wait.
        """
        network = await self._model.get()
        try:
            computed = await self._queue.run(partial(network.probability, samples), turn_device())
        except Overtaken as error:
            raise AsrError(
                "hint-overtaken", "The device paused again while this waited."
            ) from error
        return computed.value

    async def warm_up(self) -> None:
        """Load the network and judge a second of silence."""
        await self.probability(np.zeros(LISTENING_RATE, np.int16))

    async def aclose(self) -> None:
        """Let go of the network."""
        self._model.drop()


class SmartTurnNetwork:
    """A loaded network. One call at a time."""

    def __init__(self, path: Path) -> None:
        """Load a network.

        Args:
            path: The ONNX file.

        Raises:
            EngineMissing: A package is not installed, or the file is no such network.
        """
        try:
            import onnxruntime  # noqa: PLC0415 - an optional package
            from faster_whisper.feature_extractor import FeatureExtractor  # noqa: PLC0415
        except ImportError as error:
            raise EngineMissing(
                "smart-turn needs onnxruntime and faster-whisper. Install them with: pip install onnxruntime faster-whisper "
                "- or set endpointing.hint to none."
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
            inputs = [one.name for one in self._session.get_inputs()]
        except Exception as error:  # ONNX Runtime has a dozen kinds of its own
            raise _no_network(path, str(error)) from error
        if inputs != [_INPUT]:
            raise _no_network(path, f"its inputs are {', '.join(inputs) or 'none'}")
        self._features: Any = FeatureExtractor(feature_size=_SHAPE[1], chunk_length=_SECONDS)

    def probability(self, samples: Samples) -> float:
        """Return how probable it is that the speaker has finished. Blocks.

        Args:
            samples: What was said so far, with a little silence behind it.

        Raises:
            AsrError: The network gave no probability.
        """
        try:
            found = self._session.run(None, {_INPUT: self.features(samples)})[0]
        except Exception as error:
            raise AsrError("hint-failed", f"The smart-turn network failed: {error}") from error
        probability = float(np.ravel(found)[0])
        if not 0 <= probability <= 1:
            raise AsrError("hint-failed", f"The smart-turn network answered {probability}.")
        return probability

    def features(self, samples: Samples) -> NDArray[np.float32]:
        """Return what the network is shown of a sound: its last eight seconds, silence in front of a shorter one."""
        length = _SECONDS * LISTENING_RATE
        sound = samples[-length:].astype(np.float32) / np.float32(32768)
        sound = np.pad(sound, (length - len(sound), 0))
        even = (sound - sound.mean()) / max(float(sound.std()), _LEAST_DEVIATION)
        energies: NDArray[np.float32] = np.asarray(
            self._features(even, padding=0), np.float32
        ).reshape(_SHAPE)
        return energies


def _load(path: str, data: Path) -> SmartTurnNetwork:
    if not path:
        return SmartTurnNetwork(obtain(SMART_TURN, data) / SMART_TURN.files[0].name)
    file = Path(path).expanduser()
    if not file.is_file():
        raise EngineMissing(
            f"endpointing.hint_path: there is no file {file}. Name an ONNX file, or leave the setting empty for the "
            "packaged network."
        )
    return SmartTurnNetwork(file)


def _no_network(path: Path, why: str) -> EngineMissing:
    return EngineMissing(
        f"{path} is no smart-turn network in the format of ONNX ({why}). Name another one under endpointing.hint_path, or "
        "set endpointing.hint to none.",
        code="weights-damaged",
    )
