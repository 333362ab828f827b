"""What one robot may hear: between its line and the conversation, it keeps the robot's own voice from coming in."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from firmware_bridge.events import (
    Audio,
    DeviceCommand,
    DeviceEvent,
    ListeningMode,
    ListenStarted,
    PlayAudio,
    SentenceStarted,
    SpeechStarted,
    SpeechStopped,
    WakeWord,
)
from server.audio import Samples, from_pcm, level_dbfs, to_pcm
from server.config_hearing import EchoSection
from server.echo import EchoGuard, EchoPath
from server.lettering import letters_of
from server.loudspeaker import Loudspeaker

_LEVELS = 32
"""How many pieces of sound (2 s of frames of 60 ms) hold a wake word."""
_WAKING_SECONDS = 2.0
"""How long after its name was spoken a robot may take to wake up to it."""


class Earshot:
    """Follows what a robot is told to play and what it sends, and lets through what somebody else may have said.

    Without echo cancellation it is half duplex: the microphone counts as open when the last frame has been *played*, not
    sent, and a guard time has passed. With it, and in realtime mode, what still leaks is turned down by the echo guard.
    """

    def __init__(
        self,
        rate: int,
        section: EchoSection,
        path: EchoPath,
        *,
        guard_seconds: float,
        echo_cancelled: bool,
        wake_words: Iterable[str],
    ) -> None:
        """Start on a connection.

        Args:
            rate: Hertz of the frames to play.
            section: How much of an echo there may be.
            path: What is known of the robot's echo.
            guard_seconds: How long after its own voice a robot without echo cancellation stays deaf.
            echo_cancelled: Whether the robot said that it removes its own voice.
            wake_words: What robots wake up to.
        """
        self._section = section
        self._path = path
        self._guard_seconds = guard_seconds
        self._echo_cancelled = echo_cancelled
        self._wake_words = [letters for word in wake_words if (letters := letters_of(word))]
        self._speaker = Loudspeaker(rate)
        self._guard = EchoGuard(self._speaker, path, section)
        self._mode: ListeningMode | None = None
        self._is_replying = False
        self._levels: deque[float] = deque(maxlen=_LEVELS)

    @property
    def level_db(self) -> float | None:
        """How loud the last sound was, in dBFS, where it was loud; None if there was none. The sound of a wake word comes first."""
        if not self._levels:
            return None
        levels = sorted(self._levels)
        return levels[len(levels) * 9 // 10]

    def note(self, command: DeviceCommand, now: float) -> None:
        """Note a command that leaves for the robot now."""
        match command:
            case PlayAudio():
                self._speaker.note_frame(from_pcm(command.pcm), now)
            case SentenceStarted():
                self._speaker.note_sentence(command.text, now)
            case SpeechStarted():
                self._is_replying = True
            case SpeechStopped():
                self._is_replying = False
            case _:
                pass

    def take(self, event: DeviceEvent, now: float) -> DeviceEvent | None:
        """Return an event as the conversation is to get it; None if the robot has only heard itself."""
        match event:
            case ListenStarted():
                if not self._is_replying:  # or it answers to the end of the reply before
                    self._speaker.note_empty(now)
                if event.mode != "realtime" or event.mode != self._mode:
                    self._guard.reset()  # the microphone was shut meanwhile
                self._mode = event.mode
                # The firmware says `aec` where it leaves that to the server; in this mode without it, it cancels its echo itself.
                if event.mode == "realtime" and not self._echo_cancelled:
                    self._path.expect_cancelled()
            case Audio():
                heard = from_pcm(event.pcm)
                self._levels.append(level_dbfs(heard))
                return self._without_echo(event, heard, now)
            case WakeWord() if self._names_itself(event.text, now):
                return None
            case _:
                pass
        return event

    def said_between(self, start: float, end: float) -> list[str]:
        """Return the sentences of which an echo may have been heard between two moments."""
        delay = self._path.delay_seconds or 0.0
        return self._speaker.said_between(start - delay, end)

    def _without_echo(self, event: Audio, heard: Samples, now: float) -> Audio | None:
        if not self._section.enabled or self._mode == "manual":
            return event
        samples = self._guard.hear(heard, now, self._deaf_until())
        return replace(event, pcm=to_pcm(samples)) if len(samples) else None

    def _deaf_until(self) -> float:
        """Return until when what is heard can only be the robot itself, as it does not listen while it speaks."""
        if self._echo_cancelled or self._mode == "realtime":
            return 0.0
        delay = self._path.delay_seconds or 0.0
        return self._speaker.sounds_until + self._guard_seconds + delay

    def _names_itself(self, heard: str, now: float) -> bool:
        """Say whether the robot speaks its own name just now: then it was nobody else who called it."""
        names = [*self._wake_words, letters_of(heard)]
        said = map(letters_of, self.said_between(now - _WAKING_SECONDS, now))
        return any(name and name in sentence for sentence in said for name in names)
