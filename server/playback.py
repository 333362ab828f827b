"""Playback: one reply on its way to one device, paced so that its queue is neither empty nor full, and what was heard of it."""

import math
from dataclasses import dataclass, field

import anyio
import numpy as np

from firmware_bridge.events import (
    PlayAudio,
    SentenceStarted,
    ShowEmotion,
    SpeechStarted,
    SpeechStopped,
)
from server.ahead import Ahead
from server.audio import Audio, Samples, to_pcm
from server.body import Emotion, emoji_for, face_for
from server.config import PacingSection
from server.ports import Device
from server.speaking import Part
from server.spoken import Length, Spoken
from server.trace import add_stage, mark
from server.turn import Happening, Stage

_PUNCTUAL_SECONDS = 1e-6  # rounding, not earliness
_SLIP_SECONDS = 0.002
"""By how much a frame that is late puts off those behind it, at most. Delays that were passed on whole would add up, and use up
what a device gains by the longest of them: with one frame in hand it would run dry again and again. If nothing were passed on,
it would be that much behind, and so that much later silent, to the end of the reply."""


@dataclass(slots=True)
class Playback:
    """One reply on its way to one device: what was sent, when it will have been played, what was heard.

    `play` parts, then `finish`; or `stop` at any moment. Frames are handed over at most `lead_ms` before their time.
    Somebody else may `fill` the silence before the first part; a part that comes meanwhile waits. Between `hold` and
    `go_on` nothing is handed over, and whoever plays waits.

    Attributes:
        active: Whether the device may be making a sound of this reply, or waits for more of it.
    """

    device: Device
    pacing: PacingSection
    keep_sound: bool = False
    """Whether to remember what was sent, for the recording."""
    lead_ms: float | None = None
    """How far sound is sent ahead, a frame at least; None for `PacingSection.lead_ms`."""
    active: bool = False
    stopped: bool = False
    first_frame_at: float | None = None
    """When the first frame of the reply (a filler is none) was handed over, on the clock of `anyio.current_time`."""
    _opened_at: float = 0.0
    _ends_at: float = 0.0
    """When the device will have played all that it was given."""
    _quiet_at: float = -math.inf
    _given: int = 0
    """Samples that the device was given."""
    _rest: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    _spoken: list[Spoken] = field(default_factory=list)
    _counts: bool = True
    _sent: list[Samples] = field(default_factory=list)
    _one_at_a_time: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))
    _holding: anyio.Event | None = None
    """Set when what waits may go on; None while nothing is held."""
    _sentence: list[Samples] = field(default_factory=list)
    """The frames of the sentence that is being played, as far as they were sent."""
    _again: bool = False
    """Whether that sentence is to be said from its beginning."""

    async def play(self, part: Part) -> None:
        """Send a part, frame by frame; returns when its last frame has been handed over."""
        async with self._one_at_a_time:
            await self._play(part)

    async def fill(self, filler: Part) -> None:
        """Send a phrase, unless the device is already making a sound, or is to be silent."""
        async with self._one_at_a_time:
            if self.active or self.stopped:
                return
            mark(Happening.FILLER)
            await self._play(filler)
            await self.pause()

    async def _play(self, part: Part) -> None:
        await self._until_free()
        if self.stopped:
            return
        self._open(part)
        if part.length is None and self._counts and self._spoken:
            self._spoken[-1].length.samples += len(part.samples)
        frame = self.device.frame_samples
        samples = np.concatenate([self._rest, part.samples])
        whole = len(samples) // frame * frame
        self._rest = samples[whole:]
        for start in range(0, whole, frame):
            await self._send_frame(samples[start : start + frame])

    async def pause(self) -> None:
        """Send what is left of the last frame: nothing follows for a while."""
        if len(self._rest):
            frame = np.zeros(self.device.frame_samples, np.int16)
            frame[: len(self._rest)] = self._rest
            self._rest = self._rest[:0]
            await self._send_frame(frame)

    async def finish(self) -> None:
        """Wait until the last frame has been played, then tell the device that the reply is over."""
        if not self.active:
            return
        async with self._one_at_a_time:
            await self.pause()
        wait = self._ends_at - anyio.current_time() + self.pacing.tail_ms / 1000
        await anyio.sleep(max(0.0, wait))
        if self.active:
            self._close(interrupted=False)

    def stop(self) -> None:
        """Fall silent at once. Only the first of `finish` and `stop` tells the device, and only if it was speaking."""
        self.stopped = True
        self.go_on()
        if self.active:
            self.device.drop_audio()
            self._cut_off()
            self._close(interrupted=True)

    def hold(self) -> None:
        """Hand nothing over any more, until `go_on` or `stop`. What the device has, it plays; it is told nothing."""
        if self._holding is None and not self.stopped:
            self._holding = anyio.Event()

    def go_on(self, *, again: bool = False) -> None:
        """End `hold`: play on from where it began.

        Args:
            again: Say the sentence from its beginning, if it was cut in its middle.
        """
        if self._holding is not None:
            self._again = again and self._is_inside_sentence()
            self._holding.set()
            self._holding = None

    def quiet_for(self) -> float:
        """Return the seconds since the device was audible; negative while it is, infinite if it never was."""
        if self.active:
            return -1.0
        return anyio.current_time() - self._quiet_at

    @property
    def started(self) -> bool:
        """Whether anything of the reply itself has been sent; a filler does not count."""
        return bool(self._spoken)

    def heard(self) -> list[str]:
        """Return the sentences as far as they have been played by now; the last may be cut short."""
        played = self._played()
        return [text for spoken in self._spoken if (text := spoken.played(played))]

    def saying(self) -> str:
        """Return the whole sentence that was begun last; empty if none was."""
        played = self._played()
        begun = [spoken.text for spoken in self._spoken if spoken.starts_at < played]
        return begun[-1] if begun else ""

    def sound(self) -> Audio:
        """Return what was sent, if `keep_sound` is on."""
        samples = np.concatenate(self._sent or [np.zeros(0, np.int16)])
        return Audio(samples, self.device.playback_rate)

    def seconds_left(self) -> float:
        """Return how long the device can play on with what it was given."""
        return max(0.0, self._ends_at - anyio.current_time())

    def _played(self) -> float:
        """Return how many of the samples that it was given the device has played by now."""
        return self._given - self.seconds_left() * self.device.playback_rate

    def _is_inside_sentence(self) -> bool:
        return bool(self._sentence) and self._counts

    def _open(self, part: Part) -> None:
        if not self.active:
            self.active = True
            self._opened_at = self._ends_at = anyio.current_time()
            self.device.send(SpeechStarted())
            lead_in = self.device.playback_rate * self.pacing.lead_in_ms // 1000
            self._rest = np.zeros(lead_in, np.int16)
        if part.sentence is None:
            return
        self._show_emotion(part)
        self.device.send(SentenceStarted(part.sentence.text))
        self._counts = not part.filler
        self._sentence, self._again = [], False
        if self._counts:
            begins_at, rate = self._given + len(self._rest), self.device.playback_rate
            length = part.length or Length(is_whole=True)
            self._spoken.append(Spoken(part.sentence.text, begins_at, rate, length))

    def _show_emotion(self, part: Part) -> None:
        assert part.sentence is not None
        emotion = part.sentence.emotion
        if emotion is None and not self.started and not part.filler:
            emotion = Emotion.NEUTRAL  # or the face of the reply before would stay
        if emotion is not None:
            face = face_for(emotion, self.device.profile)
            self.device.send(ShowEmotion(face, emoji_for(emotion)))

    async def _send_frame(self, frame: Samples) -> None:
        await self._until_due(len(frame) / self.device.playback_rate)
        if self._again:
            self._again = False
            await self._say_again()
            await self._until_due(len(frame) / self.device.playback_rate)
        if not self.stopped:
            self._hand_over(frame)

    async def _say_again(self) -> None:
        said, self._sentence = self._sentence, []
        self._spoken[-1].begin_again(self._given, self._played())
        for frame in said:
            await self._send_frame(frame)

    async def _until_free(self) -> None:
        """Wait while the reply is held."""
        while self._holding is not None:
            mark(Happening.HELD)
            await self._holding.wait()

    async def _until_due(self, seconds: float) -> None:
        """Wait until a frame of that length may be handed over; not longer, if nothing may any more."""
        lead_ms = self.pacing.lead_ms if self.lead_ms is None else self.lead_ms
        lead_seconds = max(lead_ms / 1000, seconds)  # with less, no frame would ever be in time
        while not self.stopped:
            await self._until_free()
            late = anyio.current_time() - self._ends_at
            if late > seconds:  # it ran dry, and plays on from now
                self._ends_at = anyio.current_time()
            elif late > 0:
                self._ends_at += min(late, _SLIP_SECONDS)
            too_early = self._ends_at + seconds - lead_seconds - anyio.current_time()
            if too_early <= _PUNCTUAL_SECONDS:
                return
            await anyio.sleep(too_early)

    def _hand_over(self, frame: Samples) -> None:
        self._given += len(frame)
        self._ends_at += len(frame) / self.device.playback_rate
        self._sentence.append(frame)
        if self.first_frame_at is None and self._counts:
            self.first_frame_at = anyio.current_time()
        if self.keep_sound:
            self._sent.append(frame)
        self.device.send(PlayAudio(to_pcm(frame), self.device.playback_rate))

    def _cut_off(self) -> None:
        """Forget what will not be played any more."""
        self._rest = self._rest[:0]
        played = self._played()
        for spoken in self._spoken:
            spoken.cut(played)

    def _close(self, *, interrupted: bool) -> None:
        self.active = False
        self._quiet_at = anyio.current_time()
        add_stage(Stage.PLAYING, self._quiet_at - self._opened_at)
        self.device.send(SpeechStopped(interrupted))


async def play_all(parts: Ahead[Part], playback: Playback) -> None:
    """Play everything that comes.

    Raises:
        OmoideError: What the source of the parts raised, after all that came before it was handed over.
    """
    part = await parts.next()
    if part is None:
        return
    mark(Happening.PLAYBACK_START)
    while part is not None:
        await playback.play(part)
        part = await _next_part(parts, playback)


async def _next_part(parts: Ahead[Part], playback: Playback) -> Part | None:
    """Wait for the next part; if the device runs dry meanwhile, let it have the last incomplete frame."""
    with anyio.move_on_after(playback.seconds_left()):
        return await parts.next()
    await playback.pause()
    return await parts.next()
