"""Opus packets to PCM and back, one packet at a time, mono, signed 16 bit little endian.

libopus comes with PyAV's wheel, driven through FFmpeg. FFmpeg's decoder always answers at 48 kHz, so lower rates are
made here by a filter whose output is exactly as long as the packet says: nothing is held back between packets.
"""

from typing import Literal, TypeAlias

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
"""Every rate in hertz that Opus knows."""
FRAME_DURATIONS_MS = (10, 20, 40, 60, 80, 100, 120)
"""Every length of packet that is a whole, even number of milliseconds."""

Application: TypeAlias = Literal["audio", "voip"]

_DECODED_RATE = 48_000
_MAX_PACKET_MS = 120
_MAX_PACKET_BYTES = 1_275 * 48
_FILTER_TAPS_PER_STEP = 16

# Discontinuous transmission, with the timing of libopus: silence is announced after 200 ms of it and a whole packet
# is sent every 400 ms to refresh the listener's idea of the background noise.
_QUIET_RMS = 100.0  # about -50 dBFS
_DTX_AFTER_MS = 200
_DTX_REFRESH_MS = 400


class OpusError(Exception):
    """A packet that is not Opus."""


def measure_packet(packet: bytes, rate: int) -> int:
    """Return how many samples at `rate` a packet stands for, from its first two bytes.

    Raises:
        OpusError: The packet is empty, too long, or says something impossible (RFC 6716, section 3).
    """
    if not 0 < len(packet) <= _MAX_PACKET_BYTES:
        raise OpusError("An Opus packet has between 1 byte and 60 kB.")
    toc = packet[0]
    count = (1, 2, 2, 0)[toc & 3]
    if count == 0:
        if len(packet) < 2:
            raise OpusError("A packet of several frames must say how many.")
        count = packet[1] & 0x3F
    samples = count * _measure_frame(toc >> 3, rate)
    if not 0 < samples * 1_000 <= _MAX_PACKET_MS * rate:
        raise OpusError("An Opus packet is at most 120 ms long.")
    return samples


def _measure_frame(config: int, rate: int) -> int:
    """Return the samples of one frame, by the table of RFC 6716, section 3.1."""
    if config < 12:  # SILK
        return rate * (10, 20, 40, 60)[config % 4] // 1_000
    if config < 16:  # hybrid
        return rate * (10, 20)[config % 2] // 1_000
    return rate // (400, 200, 100, 50)[config % 4]  # CELT, from 2.5 ms


class OpusDecoder:
    """Decodes the packets of one stream, in order.

    Args:
        rate: Hertz of the PCM to return; any of `OPUS_RATES`, whatever the sender's microphone had.
    """

    def __init__(self, rate: int = 16_000) -> None:
        _check_rate(rate)
        self._rate = rate
        self.reset()

    @property
    def rate(self) -> int:
        """Hertz of the PCM that `decode` returns."""
        return self._rate

    def reset(self) -> None:
        """Forget the stream so far, as at the start of a new one."""
        self._context = AudioCodecContext.create("libopus", "r")
        self._context.sample_rate = _DECODED_RATE
        self._context.layout = "mono"
        self._decimator = _Decimator(_DECODED_RATE // self._rate)

    def decode(self, packet: bytes) -> bytes:
        """Return the PCM of one packet, exactly as long as the packet says.

        A packet of discontinuous transmission (1 to 3 bytes, sent instead of silence) gives silence or the background
        noise that the stream had before.

        Raises:
            OpusError: The packet is not Opus. The decoder stays usable.
        """
        measure_packet(packet, self._rate)
        try:
            frames = self._context.decode(av.Packet(packet))
        except av.FFmpegError as error:
            raise OpusError("This packet can't be decoded.") from error
        decoded = [frame.to_ndarray().reshape(-1).astype(np.int16, copy=False) for frame in frames]
        return b"".join(self._decimator.apply(samples).tobytes() for samples in decoded)


class OpusEncoder:
    """Encodes one stream: one packet for every frame, at once, with nothing held back.

    Args:
        rate: Hertz of the PCM; one of `OPUS_RATES`.
        frame_ms: Length of every frame and packet; one of `FRAME_DURATIONS_MS`.
        bitrate: Bits per second that a packet takes on average.
        complexity: 0 to 10. With "audio" at 24 kHz, 5 takes a fifth of the time of 8 and loses nothing in the spectrum.
        application: "audio" keeps the sound true; "voip" is what robots use for their microphone.
        dtx: Send packets of 1 or 2 bytes while it is quiet, as robots do. Quiet means below -50 dBFS for 200 ms.
    """

    def __init__(
        self,
        rate: int,
        frame_ms: int = 60,
        *,
        bitrate: int = 32_000,
        complexity: int = 5,
        application: Application = "audio",
        dtx: bool = False,
    ) -> None:
        _check_rate(rate)
        if frame_ms not in FRAME_DURATIONS_MS:
            raise ValueError(
                f"Opus has no packets of {frame_ms} ms; use one of {FRAME_DURATIONS_MS}."
            )
        self._rate = rate
        self._frame_ms = frame_ms
        self._bitrate = bitrate
        self._options = {
            "application": application,
            "compression_level": str(complexity),
            "frame_duration": str(frame_ms),
        }
        self._dtx = dtx
        self.reset()

    @property
    def rate(self) -> int:
        """Hertz of the PCM that `encode` takes."""
        return self._rate

    @property
    def frame_bytes(self) -> int:
        """Length of the PCM that `encode` takes."""
        return 2 * self._rate * self._frame_ms // 1_000

    def reset(self) -> None:
        """Begin a new stream; the packets that follow need no knowledge of those before. Takes 0.1 ms."""
        self._context = AudioCodecContext.create("libopus", "w")
        self._context.sample_rate = self._rate
        self._context.layout = "mono"
        self._context.format = "s16"
        self._context.bit_rate = self._bitrate
        self._context.options = dict(self._options)
        self._last_toc: int | None = None
        self._quiet_ms = 0

    def encode(self, pcm: bytes) -> bytes:
        """Return the packet of one frame.

        Raises:
            ValueError: `pcm` is not exactly one frame (`frame_bytes`).
        """
        if len(pcm) != self.frame_bytes:
            raise ValueError(f"A frame has {self.frame_bytes} bytes of PCM, not {len(pcm)}.")
        if self._dtx and self._last_toc is not None and self._is_pausing(pcm):
            return _write_silence(self._last_toc, self._frame_ms)
        frame = av.AudioFrame(format="s16", layout="mono", samples=len(pcm) // 2)
        frame.sample_rate = self._rate
        frame.planes[0].update(pcm)
        (packet,) = map(bytes, self._context.encode(frame))
        self._last_toc = packet[0]
        return packet

    def _is_pausing(self, pcm: bytes) -> bool:
        samples = np.frombuffer(pcm, np.int16).astype(np.float32)
        is_quiet = bool(np.sqrt(np.mean(np.square(samples))) < _QUIET_RMS)
        self._quiet_ms = self._quiet_ms + self._frame_ms if is_quiet else 0
        if self._quiet_ms > _DTX_AFTER_MS + _DTX_REFRESH_MS:
            self._quiet_ms = _DTX_AFTER_MS
        return self._quiet_ms > _DTX_AFTER_MS


class _Decimator:
    """Lowers the rate by a whole factor: low-pass filter, then every n-th sample. Delays by 16 samples of the lower rate."""

    def __init__(self, step: int) -> None:
        self._step = step
        taps = _FILTER_TAPS_PER_STEP * 2 * step + 1 if step > 1 else 1
        self._kernel = _design_low_pass(taps, step)
        self._history = np.zeros(taps - 1, np.float32)

    def apply(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        if self._step == 1:
            return samples
        signal = np.concatenate((self._history, samples.astype(np.float32)))
        self._history = signal[-self._history.size :]
        windows = sliding_window_view(signal, self._kernel.size)[:: self._step]
        filtered: NDArray[np.float32] = windows @ self._kernel
        return np.clip(np.rint(filtered), -32_768, 32_767).astype(np.int16)


def _design_low_pass(taps: int, step: int) -> NDArray[np.float32]:
    """Return a windowed sinc that is 1 at zero frequency and closes at the new Nyquist frequency."""
    offsets = np.arange(taps) - (taps - 1) / 2
    kernel = np.sinc(offsets * 0.92 / step) * np.kaiser(taps, 6.0)
    normalised: NDArray[np.float32] = (kernel / kernel.sum()).astype(np.float32)
    return normalised


def _write_silence(toc: int, frame_ms: int) -> bytes:
    """Return the packet that stands for `frame_ms` of silence in a stream of packets that begin with `toc`."""
    frame_samples = _measure_frame(toc >> 3, _DECODED_RATE)
    count = _DECODED_RATE * frame_ms // 1_000 // frame_samples
    single = toc & 0xFC
    return bytes([single]) if count == 1 else bytes([single | 3, count])


def _check_rate(rate: int) -> None:
    if rate not in OPUS_RATES:
        raise ValueError(f"Opus has no rate of {rate} Hz; use one of {OPUS_RATES}.")
