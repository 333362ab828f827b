"""One exchange from the robot's side: what was asked, what came back so far, and when it is over."""

from dataclasses import dataclass, field

from server.errors import OmoideError
from server.punctuation import join_sentences
from server.simulator.answer import Answer, join_transcripts
from server.simulator.microphone import Sounding
from server.simulator.play_queue import Played


@dataclass(slots=True)
class Exchange:
    """What happened since something was said to the robot."""

    sound: Sounding | None = None
    asked_at: float | None = None
    """When it was asked as text."""
    transcripts: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    emotion: str = ""
    first_audio_at: float | None = None
    sentences_at: list[float] = field(default_factory=list)
    """When the first packet of each sentence arrived."""
    strays: int = 0
    stops: int = 0
    began_replying: bool = False
    replied: bool = False
    """Whether a reply ended that did not end before the question did."""
    interrupted: bool = False
    trouble: OmoideError | None = None
    last_sign_at: float = 0.0
    _awaits_sound: bool = False
    """Whether a sentence was shown and no sound of it has come."""

    @property
    def still_asking(self) -> bool:
        """Whether the sound is still being made."""
        return self.sound is not None and not self.sound.ended

    def asked_before(self, now: float) -> bool:
        """Whether the question has come to its end."""
        asked_until = self._asked_until()
        return asked_until is not None and now >= asked_until

    def note_sentence(self, text: str) -> None:
        """Note that a sentence is shown; the packets that follow are its sound."""
        self.sentences.append(text)
        self._awaits_sound = True

    def note_audio(self, now: float) -> None:
        """Note that a packet of the reply arrived; one that came before the question had ended answers something else."""
        if not self.asked_before(now):
            return
        if self.first_audio_at is None:
            self.first_audio_at = now
        if self._awaits_sound:
            self.sentences_at.append(now)
            self._awaits_sound = False

    def conclude(self, played: Played, lost: OmoideError | None, missing: OmoideError) -> Answer:
        """Sum up.

        Args:
            played: What the loudspeaker made of it.
            lost: How the connection ended, if it did.
            missing: What to say if there was no reply at all.
        """
        error = self.trouble
        if error is None and not self.replied:
            error = lost or (None if self.began_replying or self.interrupted else missing)
        return Answer(
            transcript=join_transcripts(self.transcripts),
            reply=join_sentences(self.sentences),
            emotion=self.emotion,
            audio=played.audio,
            first_audio_ms=self._waited_ms(self.first_audio_at),
            sentences_ms=tuple(
                waited for at in self.sentences_at if (waited := self._waited_ms(at)) is not None
            ),
            underruns=played.underruns,
            overflows=played.overflows,
            strays=self.strays,
            early_stop_ms=played.early_stop_ms,
            gaps_ms=played.gaps_ms,
            arrivals_ms=played.arrivals_ms,
            stops=self.stops,
            interrupted=self.interrupted,
            error=error,
        )

    def _asked_until(self) -> float | None:
        return self.sound.voiced_until if self.sound is not None else self.asked_at

    def _waited_ms(self, until: float | None) -> float | None:
        asked_until = self._asked_until()
        if asked_until is None or until is None:
            return None
        return round((until - asked_until) * 1000, 1)
