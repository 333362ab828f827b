"""How a simulated robot behaves: its protocol, its microphone, its link, its bad manners."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from firmware_bridge.events import ListeningMode
from server.audio import Audio

ProtocolName: TypeAlias = Literal["xiaozhi", "pcm"]


@dataclass(frozen=True, slots=True)
class LinkStalls:
    """A radio link that stands still now and then, in both directions, and delivers everything late at once."""

    every_ms: float
    length_ms: float

    def seconds_left(self, elapsed_seconds: float) -> float:
        """Return how long the link still stands, `elapsed_seconds` after it was opened; 0 if it works.

        The first stall comes after `every_ms`, not at once.
        """
        elapsed_ms = elapsed_seconds * 1000
        into_ms = elapsed_ms % self.every_ms
        if elapsed_ms < self.every_ms or into_ms >= self.length_ms:
            return 0.0
        return (self.length_ms - into_ms) / 1000


@dataclass(frozen=True, slots=True)
class Habits:
    """How a robot behaves. The defaults are those of the common firmware on a good day."""

    protocol: ProtocolName = "xiaozhi"
    framing: int = 1
    """Binary framing of xiaozhi: 1, 2 or 3."""
    mode: ListeningMode = "auto"
    frame_ms: int = 60
    features: frozenset[str] = frozenset()
    """Names to announce in the hello, e.g. ``aec``."""
    dtx: bool = True
    """Send packets of one or two bytes while it is quiet (xiaozhi)."""
    queue_packets: int = 40
    """Packets that wait to be played; one more is dropped. Firmware before 1.8 had about 5."""
    burst_frames: int = 1
    """How many frames of the microphone leave together."""
    stalls: LinkStalls | None = None
    pongs: bool = True
    """Whether pings of the server are answered; some robots never do."""
    closes_microphone: bool = True
    """Whether the microphone is shut while the robot speaks (auto and manual; never in realtime)."""
    echo_db: float | None = None
    """How loud the robot hears itself, e.g. -20; None for not at all."""
    echo_delay_ms: float = 0.0
    """How much later than it sounds it hears itself."""
    echo_room: float = 0.0
    """How much of that comes by way of the walls, against what comes straight."""
    wake_word: str = ""
    """Begin with this wake word; empty for a touch."""
    wake_sound: Audio | None = None
    """What the microphone heard before the wake word was recognised; sent in one burst before it."""
    abort_after_ms: float | None = None
    """Cut every reply short when so much of it has been played."""
    drop_after_ms: float | None = None
    """Lose the connection, without a good-bye, when so much of a reply has been played."""
    patience_seconds: float = 20.0
    """How long a silent server is waited for before the answer counts as missing."""
