"""Who has the floor: which reply may be heard, and which falls silent, waits or goes on when somebody makes a sound.

A robot that listens while it speaks hears more than questions. So a reply is not ended by the first sound, but held: it is
silent at once, and keeps all that it has. Once it is known what the sound was, whoever spoke gets the floor, or the reply
goes on. What can't be a mistake (a button, typed text, a wake word) ends it at once, as does whatever is said before anything is to be heard.
"""

import math
from collections.abc import Sequence

import anyio

from firmware_bridge.events import (
    Aborted,
    ListeningMode,
    ListenStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
)
from server.back_channels import asks, is_back_channel
from server.config import Config
from server.listening import VoiceLost, VoiceNoticed
from server.playback import Playback
from server.ports import Device
from server.reply import Reply
from server.turn import Transcript, Turn
from server.utterance import Utterance

Sign = Aborted | WakeWord | ListenStarted | VoiceNoticed | VoiceLost
"""What changes who has the floor, and is no turn."""


class Floor:
    """The floor in one conversation. Synchronous but for `give_way`: what it decides holds at once."""

    def __init__(self, device: Device, config: Config) -> None:
        self._device = device
        self._config = config
        self._mode: ListeningMode | None = None
        self._replies: list[Reply] = []
        """Those that have not been put away, oldest first."""
        self._quiet_at = -math.inf
        self._hears_something = False
        """Whether something sounds that may become an utterance."""

    @property
    def is_taken(self) -> bool:
        """Whether the robot may be audible: it speaks, or did a moment ago."""
        guard_seconds = self._config.endpointing.guard_ms / 1000
        quiet_for = [reply.playback.quiet_for() for reply in self._replies]
        return min(*quiet_for, anyio.current_time() - self._quiet_at, math.inf) < guard_seconds

    def heed(self, sign: Sign) -> None:
        """Obey what is no turn."""
        match sign:
            case ListenStarted(mode):
                self._mode = mode
            case VoiceNoticed():
                self._hears_something = True
                self._hold()
            case VoiceLost():
                self._hears_something = False
                self._let_go_on()
            case WakeWord():
                self._hush()
            case Aborted():
                self._abort()

    def take(self, said: Utterance | TextSaid) -> Reply:
        """Give the floor to whoever says something, as far as it can be known yet; return their reply, to be answered in.

        Who types does not wait for what is still being recognised, nor want it answered later.
        """
        self._device.touch()
        self._hears_something = False
        reply = Reply(self._new_playback(), understood=isinstance(said, TextSaid))
        reply.previous = self._last_unfinished()
        for other in self._unfinished():
            if other.playback.active and self._may_be_nothing(said):
                other.playback.hold()
                reply.interrupts = other
            elif isinstance(said, TextSaid) and not other.understood:
                other.release()
            else:
                other.cancel()
        self._replies.append(reply)
        return reply

    async def give_way(self, said: Utterance | TextSaid, reply: Reply) -> None:
        """Wait whether somebody goes on speaking, and end what they interrupt if so, whatever they say."""
        if reply.interrupts is None or not isinstance(said, Utterance):
            return
        if await said.lasts(self._config.barge_in.give_way_ms / 1000):
            self._interrupt(reply)

    def settle(self, reply: Reply, turn: Turn) -> None:
        """Decide now that it is known what was said. If it is nothing, it goes from the turn, and what it interrupted goes on.

        The turn is void then, unless it has cut off another one whose question it may have to answer.
        """
        interrupted = reply.interrupts
        if interrupted is None:
            return
        if turn.transcript is None or not self._is_nothing(turn.transcript, interrupted):
            self._interrupt(reply)
            return
        false_start = self._config.barge_in.false_start
        if not turn.transcript and false_start == "drop":
            self._interrupt(reply)
        turn.transcript, reply.interrupts = None, None
        reply.is_void = reply.follows(interrupted)
        self._let_go_on(again=false_start == "repeat")

    def speech(self) -> Playback:
        """Return where the robot can say something that is no reply; whatever it was saying is over."""
        for reply in self._replies:
            reply.cancel()
        return self._new_playback()

    def leave(self, reply: Reply) -> None:
        """Let a reply go that is over."""
        reply.playback.stop()
        self._quiet_at = max(self._quiet_at, anyio.current_time() - reply.playback.quiet_for())
        self._replies.remove(reply)

    def _new_playback(self) -> Playback:
        config = self._config
        listens_on = self._device.echo_cancelled or self._mode == "realtime"
        lead_ms = min(config.barge_in.lead_ms, config.pacing.lead_ms) if listens_on else None
        return Playback(self._device, config.pacing, config.recording.keep_audio, lead_ms)

    def _may_be_nothing(self, said: Utterance | TextSaid) -> bool:
        rules = self._config.barge_in
        is_voice = isinstance(said, Utterance) and self._mode != "manual"
        return is_voice and (rules.back_channels or rules.false_start != "drop")

    def _is_nothing(self, transcript: Transcript, interrupted: Reply) -> bool:
        if not transcript:
            return True
        if not self._config.barge_in.back_channels or not is_back_channel(transcript.text):
            return False
        return not asks(interrupted.playback.saying(), transcript.language)

    def _unfinished(self) -> Sequence[Reply]:
        return [reply for reply in self._replies if not reply.finished.is_set()]

    def _last_unfinished(self) -> Reply | None:
        return next(reversed(self._unfinished()), None)

    def _interrupt(self, reply: Reply) -> None:
        if reply.interrupts is not None and not reply.interrupts.finished.is_set():
            reply.interrupts.cancel()
        reply.interrupts = None

    def _hold(self) -> None:
        for reply in self._unfinished():
            reply.playback.hold()

    def _let_go_on(self, *, again: bool = False) -> None:
        """Let go on what is held, unless somebody else may have interrupted it, too."""
        if self._hears_something:
            return
        claimed = [reply.interrupts for reply in self._replies]
        for reply in self._unfinished():
            if reply not in claimed:
                reply.playback.go_on(again=again)

    def _hush(self) -> None:
        """Fall silent, if audible: the person called the robot's name and is about to say something."""
        self._device.touch()
        for reply in self._unfinished():
            if reply.playback.active:
                reply.unwanted = True
                reply.cancel()

    def _abort(self) -> None:
        """Obey the device's wish for silence; it waits for exactly one `SpeechStopped`."""
        self._device.touch()
        was_audible = any(reply.playback.active for reply in self._replies)
        for reply in self._replies:
            reply.unwanted = True
            reply.cancel()
        if not was_audible:
            self._device.send(SpeechStopped(interrupted=True))
