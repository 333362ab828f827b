"""Listening: from the stream of a device's events to utterances, by voice activity and endpointing.

Time is counted in samples of received audio, so that a network that delivers in bursts changes nothing. The one
exception is a device that falls silent on the wire in the middle of an utterance: after `stall_seconds` the utterance
ends, or it would stay open for ever.
"""

import math
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import anyio
import numpy as np

from firmware_bridge.events import (
    Aborted,
    Audio,
    DeviceEvent,
    ListeningMode,
    ListenStarted,
    ListenStopped,
    TextSaid,
    WakeWord,
)
from server.audio import LISTENING_RATE, Samples, from_pcm, samples_in
from server.config import EndpointingSection, VadSection
from server.endpointing import Background, TurnEnds
from server.ports import Device, Vad, VadSession
from server.utterance import Ending, Utterance

BEFORE_LISTENING_SECONDS = 2.0
"""How much audio is kept that arrives before the device says that it listens: robots send up to two seconds of it."""

HOPE_SECONDS = 0.5
"""A sound that has become no utterance by then is noise: whoever speaks is known to in half that time."""


@dataclass(frozen=True, slots=True)
class VoiceNoticed:
    """Something sounds that may be the beginning of an utterance."""


@dataclass(frozen=True, slots=True)
class VoiceLost:
    """It was none."""


Heard: TypeAlias = (
    Utterance | TextSaid | Aborted | WakeWord | ListenStarted | VoiceNoticed | VoiceLost
)
"""What a conversation reacts to."""


class Ear:
    """Turns samples into utterances: start by voice, end by silence. Synchronous; knows no device.

    Args:
        session: Voice activity of this microphone.
        frame_samples: What `session` takes.
        vad: The two thresholds: speech must rise above one and fall below the other.
        endpointing: Durations.
    """

    def __init__(
        self,
        session: VadSession,
        frame_samples: int,
        vad: VadSection,
        endpointing: EndpointingSection,
    ) -> None:
        self._session = session
        self._frame = frame_samples
        self._vad = vad
        self._min_speech = samples_in(endpointing.min_speech_ms)
        self._longest = int(endpointing.max_utterance_seconds * LISTENING_RATE)
        self._longest_hope = samples_in(HOPE_SECONDS * 1000)
        preroll_frames = max(1, math.ceil(samples_in(endpointing.preroll_ms) / frame_samples))
        self._preroll: deque[tuple[Samples, bool]] = deque(maxlen=preroll_frames)
        self._rest = np.zeros(0, np.int16)
        self._evidence = 0
        self._hope = 0
        self._background = Background(frame_samples)
        self._turns = TurnEnds(endpointing)
        self._open: Utterance | None = None
        self._in_turn = False

    @property
    def utterance(self) -> Utterance | None:
        """The utterance that is open."""
        return self._open if self._open is not None and self._open.ending is None else None

    @property
    def hopeful_samples(self) -> int:
        """How much has sounded by now that is no silence, and no utterance yet; 0 while one is open."""
        is_hopeless = self.utterance is not None or self._hope > self._longest_hope
        return 0 if is_hopeless else self._hope

    def hear(self, samples: Samples) -> list[Utterance]:
        """Take the next samples; return the utterances that began in them (they may have ended, too)."""
        joined = np.concatenate([self._rest, samples])
        whole = len(joined) // self._frame * self._frame
        self._rest = joined[whole:]
        begun = []
        for start in range(0, whole, self._frame):
            utterance = self._hear_frame(joined[start : start + self._frame])
            if utterance is not None:
                begun.append(utterance)
        return begun

    def begin(self) -> Utterance:
        """Start an utterance without waiting for a voice (push to talk). An open one must have been ended before."""
        self._open = Utterance()
        return self._open

    def finish(self, ending: Ending) -> None:
        """End the open utterance, if there is one, with all that was heard."""
        if self.utterance is not None and len(self._rest):
            self.utterance.grow(self._rest, voiced=False, silent=False)
            self._rest = self._rest[:0]
        self._end(ending)

    def forget(self, ending: Ending = Ending.DISCARDED) -> None:
        """End the open utterance and drop everything that was heard, as after a gap."""
        self.finish(ending)
        self._preroll.clear()
        self._rest = self._rest[:0]
        self._session.reset()

    def add_to_open(self, samples: Samples) -> None:
        """Put samples into the open utterance, whatever they hold (push to talk)."""
        if self.utterance is None:
            return
        joined = np.concatenate([self._rest, samples])
        whole = len(joined) // self._frame * self._frame
        self._rest = joined[whole:]
        for start in range(0, whole, self._frame):
            frame = joined[start : start + self._frame]
            voiced = self._session.speech_probability(frame) >= self._vad.speech_threshold
            self.utterance.grow(frame, voiced=voiced, silent=False)
            if self.utterance.samples >= self._longest:
                self._rest = joined[start + self._frame :]
                self._end(Ending.LENGTH)
                return

    def _end(self, ending: Ending) -> None:
        if self._open is not None:
            self._open.end(ending)
        self._evidence = self._hope = 0
        self._turns.forget()

    def _hear_frame(self, frame: Samples) -> Utterance | None:
        open_ = self.utterance
        if self._in_turn and open_ is None:
            self._background.end_turn()
        self._in_turn = open_ is not None
        voiced, silent = self._judge(frame, in_turn=open_ is not None)
        if open_ is not None:
            open_.grow(frame, voiced=voiced, silent=silent)
            if open_.samples >= self._longest:
                self._end(Ending.LENGTH)
            return None
        self._turns.wait(self._frame)
        self._hope_for(silent=silent)
        self._preroll.append((frame, voiced))
        self._evidence = max(0, self._evidence + (self._frame if voiced else -self._frame))
        if self._evidence < self._min_speech or not voiced:
            return None
        self._evidence = self._hope = 0
        self._background.begin_turn()
        self._in_turn = True
        self._open = Utterance(self._turns.begin(self._min_speech))
        for kept, was_voiced in self._preroll:
            self._open.grow(kept, voiced=was_voiced, silent=False)
        self._preroll.clear()
        return self._open

    def _judge(self, frame: Samples, *, in_turn: bool) -> tuple[bool, bool]:
        """Say whether a frame holds the voice of the speaker, and whether it counts as silence."""
        probability = self._session.speech_probability(frame)
        if probability >= self._vad.speech_threshold:
            is_speaker = self._background.is_speaker(frame, in_turn=in_turn)
            return is_speaker, not is_speaker and not self._background.in_doubt
        self._background.pass_over()
        in_doubt = probability >= self._vad.silence_threshold
        return False, not in_doubt or self._background.level is not None

    def _hope_for(self, *, silent: bool) -> None:
        """Reckon with an utterance from the first sound on. Two silent frames end that, or a noise that lasts and is none."""
        if silent:
            was_noise = self._hope > self._longest_hope
            self._hope = 0 if was_noise else max(0, min(self._hope, 2 * self._frame) - self._frame)
        else:
            self._hope += self._frame


async def listen(
    device: Device,
    vad: Vad,
    vad_section: VadSection,
    endpointing: EndpointingSection,
    is_speaking: Callable[[], bool],
    notice_ms: float,
) -> AsyncGenerator[Heard, None]:
    """Yield what the person says, as soon as it begins, until the device hangs up.

    An utterance is yielded at its first voiced moment and grows while its consumer reads it; the consumer must not make
    this generator wait, or the microphone backs up. An utterance that is open when the device hangs up is ended.

    Args:
        device: Where the events come from.
        vad: Voice activity detection.
        vad_section: Thresholds.
        endpointing: Durations.
        is_speaking: Whether the robot may be audible now. What the microphone hears meanwhile is dropped, unless the
            device cancels its own echo.
        notice_ms: How much voice is told of before it is known whether an utterance begins.

    Raises:
        OmoideError: The voice activity model can't be loaded.
    """
    ear = Ear(vad.session(), vad.frame_samples, vad_section, endpointing)
    listener = _Listener(ear, device, is_speaking, samples_in(notice_ms))
    events = device.events()
    try:
        while True:
            waits = ear.utterance is not None or ear.hopeful_samples > 0
            with anyio.move_on_after(endpointing.stall_seconds if waits else math.inf) as patience:
                event = await anext(events, None)
            if patience.cancelled_caught:  # the sound has stopped coming
                ear.finish(Ending.STALL)
                heard = listener.notice()
            elif event is None:
                return
            else:
                heard = listener.take(event)
            for said in heard:
                yield said
    finally:
        ear.finish(Ending.STALL)


class _Listener:
    """Follows the device's listening state and feeds the ear."""

    def __init__(
        self, ear: Ear, device: Device, is_speaking: Callable[[], bool], notice_samples: int
    ) -> None:
        self._ear = ear
        self._notice_samples = max(1, notice_samples)
        self._has_noticed = False
        self._device = device
        self._is_speaking = is_speaking
        self._mode: ListeningMode | None = None
        self._holding = False
        """Whether the person holds the button (push to talk)."""
        self._early: deque[Samples] = deque()
        self._early_samples = 0
        self._deaf = False

    def take(self, event: DeviceEvent) -> list[Heard]:
        """Take one event; return what it made heard."""
        heard = self._take(event)
        return [*self.notice(), *heard]

    def notice(self) -> list[Heard]:
        """Tell when something begins to sound like a voice, and when it was none after all."""
        if self._ear.utterance is not None:
            self._has_noticed = False
        elif not self._has_noticed and self._ear.hopeful_samples >= self._notice_samples:
            self._has_noticed = True
            return [VoiceNoticed()]
        elif self._has_noticed and self._ear.hopeful_samples == 0:
            self._has_noticed = False
            return [VoiceLost()]
        return []

    def _take(self, event: DeviceEvent) -> Sequence[Heard]:
        match event:
            case Audio():
                return self._take_audio(from_pcm(event.pcm))
            case ListenStarted(mode):
                return [event, *self._start(mode)]
            case ListenStopped():
                self._holding = False
                self._ear.finish(Ending.BUTTON)
            case WakeWord():
                self._forget_early()
                self._ear.forget()
                return [event]
            case TextSaid():
                self._ear.finish(Ending.BUTTON)  # who types has finished speaking
                return [event]
            case Aborted():
                # What follows is something new, even in the same breath. Before it may have come the wake word, but nobody
                # holds a button to say that.
                self._ear.forget(Ending.BUTTON if self._holding else Ending.DISCARDED)
                return [event]
            case _:
                pass
        return []

    def _start(self, mode: ListeningMode) -> list[Utterance]:
        if mode == self._mode and mode != "manual":
            # Devices repeat it after every reply, even in the middle of a barge-in.
            if self._ear.utterance is None:
                self._ear.forget()
            return []
        self._mode = mode
        self._holding = mode == "manual"
        self._ear.forget()
        if mode == "manual":
            begun = [self._ear.begin()]
            for samples in self._early:
                self._ear.add_to_open(samples)
        else:
            begun = [found for samples in self._early for found in self._ear.hear(samples)]
        self._forget_early()
        return begun

    def _take_audio(self, samples: Samples) -> list[Utterance]:
        if self._mode is None:
            self._keep_early(samples)
            return []
        if self._mode == "manual":
            return self._take_held(samples)
        if self._is_deaf():
            if not self._deaf:
                self._ear.forget()
            self._deaf = True
            return []
        self._deaf = False
        return self._ear.hear(samples)

    def _take_held(self, samples: Samples) -> list[Utterance]:
        begun = []
        if self._holding and self._ear.utterance is None:
            begun.append(self._ear.begin())  # it had ended by a stall of the line, or by its length
        self._ear.add_to_open(samples)
        return begun

    def _is_deaf(self) -> bool:
        echo_cancelled = self._device.echo_cancelled or self._mode == "realtime"
        return not echo_cancelled and self._is_speaking()

    def _keep_early(self, samples: Samples) -> None:
        self._early.append(samples)
        self._early_samples += len(samples)
        while self._early_samples > BEFORE_LISTENING_SECONDS * LISTENING_RATE:
            self._early_samples -= len(self._early.popleft())

    def _forget_early(self) -> None:
        self._early.clear()
        self._early_samples = 0
