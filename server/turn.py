"""The records of one turn, and the closed list of things that happen in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import IntEnum, StrEnum
from typing import Any, Literal

from server.audio import Audio

Role = Literal["system", "user", "assistant"]


class Stage(StrEnum):
    """A stretch of a turn that takes time. Waits are stages too, so that no delay stays unexplained."""

    LISTENING = "listening"
    """From the moment the voice was noticed to its last sample."""
    ENDPOINT = "endpoint"
    """The silence that had to pass before the utterance counted as finished."""
    ASR_LOAD = "asr-load"
    ASR_QUEUE = "asr-queue"
    ASR = "asr"
    RECALL = "recall"
    PREVIOUS_REPLY = "previous-reply"
    """Waiting until the reply before this one has been put away."""
    LLM_LOAD = "llm-load"
    LLM_QUEUE = "llm-queue"
    LLM_FIRST_TOKEN = "llm-first-token"
    LLM_FIRST_SENTENCE = "llm-first-sentence"
    """From the first token to the first whole sentence."""
    TTS_LOAD = "tts-load"
    TTS_QUEUE = "tts-queue"
    TTS_FIRST_AUDIO = "tts-first-audio"
    """From the first sentence to the first audio of it."""
    PLAYING = "playing"
    """From the first frame to the end of the last."""


class Happening(StrEnum):
    """What a turn's trace records, in the order of a plain turn."""

    TURN_START = "turn-start"
    PROVISIONAL_TEXT = "provisional-text"
    """What was said before a pause was recognised before the utterance had ended; of what came of it nothing is kept."""
    LISTENING_END = "listening-end"
    ASR_END = "asr-end"
    RECALL_END = "recall-end"
    LLM_FIRST_TOKEN = "llm-first-token"
    SENTENCE = "sentence"
    TTS_FIRST_AUDIO = "tts-first-audio"
    PLAYBACK_START = "playback-start"
    FILLER = "filler"
    REPLY_CUT = "reply-cut"
    """The model wrote more than anybody wants to hear; the rest was left out."""
    STOPPED = "stopped"
    """A sentence went against what is known, and was not spoken."""
    SAFE_LINE = "safe-line"
    """A prepared line was spoken in the place of the rest of the reply."""
    HELD = "held"
    """Somebody makes a sound: the reply waits until it is known whether they say anything."""
    INTERRUPTED = "interrupted"
    ERROR = "error"
    TURN_END = "turn-end"


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """Something that happened in a turn."""

    happening: Happening
    at_ms: float
    """Milliseconds since the turn started."""
    code: str = ""
    """The error code, for `Happening.ERROR`; the kind of fault, for `Happening.STOPPED` and `Happening.SAFE_LINE`."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, as text."""

    text: str
    language: str
    """Two-letter code, e.g. ``ja``."""
    no_speech_probability: float | None = field(default=None, compare=False)
    """How sure the recogniser is that nobody spoke; None if it does not say, or nothing had to be recognised."""
    log_probability: float | None = field(default=None, compare=False)
    """How sure it is of each word on average, as a logarithm; likewise."""

    def __bool__(self) -> bool:
        """Whether anything was said."""
        return bool(self.text.strip())


@dataclass(frozen=True, slots=True)
class Message:
    """One line of the dialogue that a language model reads."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The form of an answer in JSON."""

    name: str
    """Of letters, digits and ``_``."""
    schema: Mapping[str, Any]
    """JSON schema."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a model is to answer, where that differs from a reply that is spoken."""

    temperature: float
    max_tokens: int
    background: bool = False
    """Whether somebody who talks goes before: a local model drops this work for a reply."""
    schema: AnswerSchema | None = None
    """What the answer should hold to, where an engine can see to that: read it as if it did not."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is asked. Stable parts first, so that a model server's prefix cache survives."""

    system: str
    messages: tuple[Message, ...]
    language: str
    """Two-letter code of the language to answer in."""
    decoding: Decoding | None = None
    """None for a spoken reply."""
    told: tuple[str, ...] = ()
    """Ids of the facts and pages that memory offered and that are really in it."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One line of memory that was found relevant to a query."""

    text: str
    at: datetime
    """When it was said, for the last time."""
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    """The components of the score, by name."""
    id: str = ""
    sources: tuple[str, ...] = ()
    """Ids of the pages that it was drawn from."""
    about: str = ""
    """As in `server.memory.models.Fact`."""
    before: tuple[date, ...] = ()
    """The earlier days on which it was said, too, oldest first."""
    is_undrawn: bool = False
    """Whether it is read in an exchange that facts have still to be drawn from: it goes with that exchange."""


@dataclass(frozen=True, slots=True)
class RecalledPage:
    """An exchange that was found relevant to a query, word for word."""

    id: str
    said: str
    heard: str
    at: datetime
    """When it began; aware, in the person's zone."""
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    """The components of the score, by name."""
    neighbour: bool = False
    """Whether it only came along, as the one before or after."""
    language: str = "ja"
    """Two-letter code of what was said."""


@dataclass(frozen=True, slots=True)
class RecalledDay:
    """What was talked about on one day."""

    day: date
    text: str
    follow_ups: tuple[str, ...] = ()
    """What to ask about next time."""
    sources: tuple[str, ...] = ()
    """Ids of the pages of that day."""


class Missed(StrEnum):
    """Why a part of memory is not in a recollection."""

    LATE = "late"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Recollection:
    """What memory offers for one query, and what it always offers of a person."""

    lines: tuple[Recalled, ...] = ()
    """Facts that came to mind, best first."""
    pages: tuple[RecalledPage, ...] = ()
    """Exchanges that came to mind, best first."""
    standing: tuple[Recalled, ...] = ()
    """What must never be acted against, whatever is asked (allergies, losses), the gravest first."""
    touched: tuple[str, ...] = ()
    """Ids of those of `standing` that matter to the query: an allergy where it speaks of food."""
    portrait: tuple[str, ...] = ()
    """Who the person is, in short lines, the most telling first."""
    knowledge: tuple[Recalled, ...] = ()
    """What is known of the person for good, the most telling first; what stands is among it."""
    portrayed: tuple[frozenset[str], ...] = ()
    """For each record in these lines the ids of the pages that it was drawn from, or of the fact that it is."""
    days: tuple[RecalledDay, ...] = ()
    """The last days on which they talked, newest last."""
    rules: tuple[str, ...] = ()
    """What the robot is to do for good with this person, since somebody has agreed to it."""
    is_allowed: bool = True
    """False if the person does not want to be remembered: then there is nothing else here."""
    missed: Mapping[str, Missed] = field(default_factory=dict)
    """Parts that were left out: ``facts``, ``pages``, ``priming`` (all that is always offered)."""

    @property
    def rests_on(self) -> frozenset[frozenset[str]]:
        """Ids of facts and pages: if all in one of the sets are forgotten, something was offered that is forgotten, too.

        A fact goes alone, or before it is drawn with its exchange; what the agent told, an exchange and a day with any page that they are made of; a record of the
        portrait with the last of its pages.
        """
        ids = [line.id for line in (*self.lines, *self.standing, *self.knowledge) if line.id]
        ids += [page.id for page in self.pages]
        ids += [page for line in self.lines if line.about for page in line.sources]
        ids += [page for line in self.standing if line.is_undrawn for page in line.sources]
        ids += [page for day in self.days for page in day.sources]
        return frozenset({frozenset({id_}) for id_ in ids} | set(filter(None, self.portrayed)))

    def __bool__(self) -> bool:
        """Whether anything came to mind."""
        return bool(self.lines or self.pages)


@dataclass(frozen=True, slots=True)
class Heeded:
    """What the robot says to what a person wants of the memory: keys of phrases, or their words."""

    first: str = ""
    """Before all else."""
    instead: str = ""
    """In place of an answer by the model."""
    after: str = ""
    """Behind it."""
    unsaid: bool = False
    """Whether what was said right before is to be forgotten as well."""

    def behind(self, words: str, *, alone: bool) -> "Heeded":
        """Return the same behind some words, which are all that is said if nothing else was asked."""
        if alone and not self.instead:
            return replace(self, instead=words)
        return replace(self, first=f"{words} {self.first}".strip())


@dataclass(frozen=True, slots=True)
class Stopped:
    """A sentence of a reply that was stopped before it was spoken."""

    kind: str
    """What was wrong with it: a value of `server.guard.HitKind`."""
    facts: tuple[str, ...]
    """Ids of the facts that it went against."""
    attempt: int
    """1, or 2 for the second attempt."""


class Kept(IntEnum):
    """What may be kept of a turn; the lowest counts."""

    NOTHING = 0
    WORDS = 1
    """What was said in it, without the answer."""
    ALL = 2


@dataclass(slots=True)
class Turn:
    """Everything about one exchange; filled while it runs, handed to memory, recording and metrics when it ends."""

    id: str
    device: str
    person: str
    started_at: datetime
    is_guest: bool = False
    """Whether only those see it who keep nothing of what was said."""
    transcript: Transcript | None = None
    """What was said in this turn, and in no other."""
    asked: Transcript | None = None
    """What the model was asked: what was said in this turn, behind what earlier turns left unanswered."""
    answers: tuple[str, ...] = ()
    """Ids of those earlier turns."""
    introduced: str = ""
    """The words at its beginning that only say who speaks: nothing to be remembered."""
    query: str = ""
    recalled: Recollection = field(default_factory=Recollection)
    told: tuple[str, ...] = ()
    """Ids of the facts and pages of it that the model was shown."""
    unkept: str = ""
    """Why nothing of it will be remembered, whoever says so; empty if it will. The reply may promise nothing else."""
    unagreed: tuple[str, ...] = ()
    """Orders in it that nobody has agreed to: the reply does not obey them yet."""
    stopped: tuple[Stopped, ...] = ()
    """What of the model's reply was not spoken, as it went against what is known."""
    reply: str = ""
    """The whole reply as the model wrote it, cleaned for display, without what was stopped."""
    heard: str = ""
    """The part of the reply that was really played."""
    emotion: str = "neutral"
    interrupted: bool = False
    kept: Kept = Kept.ALL
    """What is left of it where what it tells of was forgotten while it ran."""
    off_record: bool = False
    """Whether nothing of it may be stored: the person does not want it. It is in mind while the talk lasts."""
    withheld: tuple[str, ...] = ()
    """The sentences said in it that may not be stored with it."""
    error: str = ""
    """Code of the error that the person was told about."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    events: list[TurnEvent] = field(default_factory=list)
    stages_ms: dict[Stage, float] = field(default_factory=dict)
    first_audio_ms: float | None = None
    """From the last voiced sample (or the text) to the first reply packet handed to the device."""
    said_audio: Audio | None = None
    """The utterance, if recordings are kept."""
    reply_audio: Audio | None = None
    """What was sent to the device, if recordings are kept."""

    @property
    def worth_keeping(self) -> bool:
        """Whether something was said; whether it was answered, and by which turn, makes no difference."""
        return bool(self.transcript)

    @property
    def question(self) -> Transcript | None:
        """What the model was asked or, before that, what was said."""
        return self.asked or self.transcript

    @property
    def may_be_shown(self) -> bool:
        """Whether all that was said in it may be kept."""
        return not (self.off_record or self.withheld)

    def without_words(self) -> "Turn":
        """Return a copy of which only the times and figures are left."""
        return replace(
            self,
            transcript=None,
            asked=None,
            unagreed=(),
            query="",
            recalled=Recollection(),
            told=(),
            reply="",
            heard="",
            said_audio=None,
            reply_audio=None,
        )

    def drop_answer(self) -> None:
        """Leave only what was said in this turn."""
        self.asked, self.answers, self.query, self.unagreed = None, (), "", ()
        self.recalled = Recollection()
        self.stopped = ()
        self.reply = self.heard = ""
        self.reply_audio = None
