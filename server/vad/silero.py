"""Voice activity by the Silero network on ONNX Runtime, behind a cheap gate.

Where webrtcvad, with the sound made many times louder, has heard nothing for a while, a frame is scored 0 at once. Silero
has a long memory: skipped frames change what it says of the words after a pause, up to not hearing a short one at all.
So no frame is skipped for good. Silent frames are kept back and read in one batch, at a third of the cost of reading
them one by one, before the next frame that matters; the gate then changes no score but those that it sets to 0.
"""

from pathlib import Path
from typing import Any

import numpy as np
import structlog
from anyio import to_thread
from numpy.typing import NDArray

from server.audio import Samples
from server.config import VadSection
from server.errors import EngineMissing
from server.vad.webrtc import FRAME_SAMPLES, VoicedSteps
from server.weights import SILERO, obtain

log = structlog.get_logger(__name__)

_CONTEXT_SAMPLES = 64
"""The network wants the end of the frame before in front of each frame."""
_STATE_SHAPE = (1, 1, 128)
_USUAL = VadSection()
_GATE_HOLD_FRAMES = 4
"""For how many frames after the last voice (128 ms) the gate stays open."""
_BATCH_FRAMES = 32
"""Silent frames that are read at once: two milliseconds of work, once a second."""

Floats = NDArray[np.float32]


class SileroVadSession:
    """One microphone."""

    def __init__(self, network: Any, gate: VoicedSteps | None) -> None:
        """Start on a stream.

        Args:
            network: The ONNX Runtime session; may be shared between microphones.
            gate: Decides which frames can be scored 0 at once; None to judge every frame.
        """
        self._network = network
        self._gate = gate
        self.reset()

    def speech_probability(self, frame: Samples) -> float:
        """Return the probability that `frame` holds speech; 0 if the gate hears nothing in it and just before."""
        self._waiting.append(frame.astype(np.float32) / np.float32(32768))
        if self._is_quiet(frame):
            if len(self._waiting) >= _BATCH_FRAMES:
                self._read_waiting()
            return 0.0
        return self._read_waiting()

    def reset(self) -> None:
        """Forget the sound so far."""
        self._hidden: Floats = np.zeros(_STATE_SHAPE, np.float32)
        self._cell: Floats = np.zeros(_STATE_SHAPE, np.float32)
        self._context: Floats = np.zeros(_CONTEXT_SAMPLES, np.float32)
        self._waiting: list[Floats] = []
        self._quiet_frames = 0
        if self._gate is not None:
            self._gate.reset()

    def _is_quiet(self, frame: Samples) -> bool:
        if self._gate is None:
            return False
        self._quiet_frames = 0 if any(self._gate.push(frame)) else self._quiet_frames + 1
        return self._quiet_frames > _GATE_HOLD_FRAMES

    def _read_waiting(self) -> float:
        """Show the network all frames that it has not seen yet; return what it says of the last."""
        frames = np.stack(self._waiting)
        self._waiting.clear()
        contexts = np.vstack((self._context, frames[:-1, -_CONTEXT_SAMPLES:]))
        self._context = frames[-1, -_CONTEXT_SAMPLES:]
        scores, self._hidden, self._cell = self._network.run(
            ["speech_probs", "hn", "cn"],
            {"input": np.hstack((contexts, frames)), "h": self._hidden, "c": self._cell},
        )
        return float(scores[-1])


class SileroVad:
    """The Silero network, loaded once for all microphones."""

    name = "silero-vad"
    frame_samples = FRAME_SAMPLES

    def __init__(
        self,
        data: Path,
        gate_aggressiveness: int,
        gate_gain: int = _USUAL.gate_gain,
        *,
        gated: bool = True,
    ) -> None:
        """Remember the settings; the model (1 MB) is loaded by `warm_up` or the first session.

        Args:
            data: Folder for what is known about checked model files.
            gate_aggressiveness: 0 to 3; how sure webrtcvad has to be to open the gate.
            gate_gain: How many times louder than the network webrtcvad hears.
            gated: False to run the network on every frame.
        """
        self._data = data
        self._aggressiveness = gate_aggressiveness
        self._gain = gate_gain
        self._gated = gated
        self._network: Any = None

    def session(self) -> SileroVadSession:
        """Start on a new microphone. Loads the model (some 50 ms) if `warm_up` has not."""
        if self._network is None:
            self._network = _load(self._data)
        gate = VoicedSteps(self._aggressiveness, self._gain) if self._gated else None
        return SileroVadSession(self._network, gate)

    async def warm_up(self) -> None:
        """Load the model and judge one batch of silence."""
        if self._network is None:
            self._network = await to_thread.run_sync(_load, self._data)
        session = SileroVadSession(self._network, gate=None)
        session.speech_probability(np.zeros(FRAME_SAMPLES, np.int16))

    async def aclose(self) -> None:
        """Let go of the model. Sessions that are still in use keep it."""
        self._network = None


def _load(data: Path) -> Any:
    try:
        import onnxruntime  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise EngineMissing(
            "Silero VAD needs onnxruntime. Install it with: pip install onnxruntime - or set vad.engine to webrtc."
        ) from error
    options = onnxruntime.SessionOptions()
    # Such a small network is slower on several threads, and idle ones spin.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    path = obtain(SILERO, data) / SILERO.files[0].name
    return onnxruntime.InferenceSession(
        str(path), sess_options=options, providers=["CPUExecutionProvider"]
    )
