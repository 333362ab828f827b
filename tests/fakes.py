"""Hand-written engines and devices for tests: scripted, on the loop's clock, recording what they received."""

import itertools
import math
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import numpy as np

from firmware_bridge.events import (
    Audio as HeardAudio,
)
from firmware_bridge.events import (
    DeviceCommand,
    DeviceEvent,
    ListenStarted,
    PlayAudio,
    SpeechStarted,
    SpeechStopped,
)
from server.audio import LISTENING_RATE, Audio, Samples, level_dbfs, to_pcm
from server.config import Config
from server.conversation import Conversation, Engines, House
from server.errors import OmoideError
from server.memory import Page, exchange_of, page_of
from server.memory.working import WorkingBuffer
from server.phrasebook import Phrasebook
from server.ports import (
    LlmEvent,
    LlmTraits,
    Speech,
    TextDelta,
    TextKind,
    Usage,
    VadSession,
    Vectors,
    Voice,
)
from server.prompting import Phrases, PromptFiles
from server.recording import RecentTurns
from server.trace import Turns
from server.turn import Heeded, Prompt, Recollection, Transcript, Turn

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
FRAME_SECONDS = 0.06
FRAME = int(LISTENING_RATE * FRAME_SECONDS)


def voice(seconds: float, hertz: float = 220.0, rate: int = LISTENING_RATE) -> Samples:
    """Return a tone that `FakeVad` takes for speech; it swells and fades as syllables do."""
    times = np.arange(round(seconds * rate)) / rate
    syllables = 0.6 + 0.4 * np.cos(2 * np.pi * 4 * times)
    return (8000 * syllables * np.sin(2 * np.pi * hertz * times)).astype(np.int16)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * LISTENING_RATE), np.int16)


class FakeMemory:
    """Remembers the last exchanges in a real buffer, and recalls what it was told to."""

    def __init__(self, config: Config) -> None:
        self.working = WorkingBuffer(config.history)
        self.recollection = Recollection()
        self.asked: list[tuple[str, str, str]] = []
        """Person, query and language of every recall."""
        self.made_way = 0
        self.pages: list[Page] = []
        """What would be stored, in the order in which the turns ended."""

    async def recall(self, person: str, query: str, language: str) -> Recollection:
        await anyio.lowlevel.checkpoint()
        self.asked.append((person, query, language))
        return self.recollection

    def recent(self, person: str, now: datetime) -> list[Page]:
        return self.working.recent(person, now)

    async def prepare(self, person: str) -> None: ...

    def make_way(self) -> None:
        self.made_way += 1

    def turn_finished(self, turn: Turn) -> None:
        if (page := page_of(turn)) is not None:
            self.pages.append(page)
        if (exchange := exchange_of(turn)) is not None:
            self.working.add(exchange)


class FakeWatch:
    """Heeds every turn, and says its line to those in which its word is said."""

    def __init__(self, word: str = "", line: str = "") -> None:
        self.word, self.line = word, line
        self.heeded: list[str] = []
        """What was said, turn by turn."""

    def heed(self, turn: Turn) -> None:
        if turn.transcript:
            self.heeded.append(turn.transcript.text)

    def escalation(self, turn: Turn) -> str:
        said = turn.question.text if turn.question else ""
        return self.line if self.word and self.word in said else ""


class FakeHeeding:
    """Heeds danger signs as `FakeWatch` does, and says what it was told to say to whatever a person wants."""

    def __init__(self, watch: FakeWatch) -> None:
        self.watch = watch
        self.heeded = Heeded()

    def notice(self, turn: Turn) -> None:
        self.watch.heed(turn)

    async def heed(self, turn: Turn) -> Heeded:
        await anyio.lowlevel.checkpoint()
        line = self.watch.escalation(turn)
        return Heeded(instead=line) if line else self.heeded


class FakeEngine:
    """The life of every fake engine."""

    name = "fake"

    def __init__(self) -> None:
        self.closed = False

    async def warm_up(self) -> None:
        await anyio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self.closed = True


class LoudnessSession:
    def speech_probability(self, frame: Samples) -> float:
        return 0.95 if level_dbfs(frame) > -40 else 0.02

    def reset(self) -> None:
        pass


class FakeVad(FakeEngine):
    """Takes everything louder than -40 dBFS for speech."""

    frame_samples = 512

    def session(self) -> VadSession:
        return LoudnessSession()


class FakeAsr(FakeEngine):
    """Gives the scripted texts in turn, each `seconds` after its utterance ended."""

    def __init__(self, *texts: str | OmoideError, seconds: float = 0.4) -> None:
        super().__init__()
        self.texts = list(texts)
        self.seconds = seconds
        self.heard: list[Samples] = []
        self.languages: list[str | None] = []

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        chunks = [chunk.samples async for chunk in speech.chunks()]
        self.heard.append(np.concatenate(chunks) if chunks else silence(0))
        self.languages.append(language)
        text = self.texts.pop(0) if self.texts else ""
        await anyio.sleep(self.seconds)
        if isinstance(text, OmoideError):
            raise text
        return Transcript(text, language or "ja")


Step = str | float | Exception
"""What a scripted model does next: write text, wait so many seconds, or fail."""


class FakeLlm(FakeEngine):
    """Plays one script per call, the last one again when there are no more; those of background work apart."""

    def __init__(self, *scripts: Sequence[Step], draws: Sequence[Sequence[Step]] = ()) -> None:
        super().__init__()
        self.scripts = list(scripts)
        self.prompts: list[Prompt] = []
        self.background_scripts = list(draws) or [['{"facts": []}']]
        self.background_prompts: list[Prompt] = []
        self.open_streams = 0

    def traits(self, language: str) -> LlmTraits:
        return LlmTraits(compact=False, prompt_budget_tokens=3000, local=True)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        behind = prompt.decoding is not None and prompt.decoding.background
        (self.background_prompts if behind else self.prompts).append(prompt)
        scripts = self.background_scripts if behind else self.scripts
        script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        self.open_streams += 1
        try:
            for step in script:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float):
                    await anyio.sleep(step)
                else:
                    await anyio.lowlevel.checkpoint()
                    yield TextDelta(step)
            yield Usage(100, 20)
        finally:
            self.open_streams -= 1


class FakeTts(FakeEngine):
    """Speaks a tone of 0.1 s for each character, after a delay; fails for the texts it is told to."""

    def __init__(self, seconds: float = 0.1, seconds_per_char: float = 0.1) -> None:
        super().__init__()
        self.seconds = seconds
        self.seconds_per_char = seconds_per_char
        self.spoken: list[tuple[str, str]] = []
        self.fails: Callable[[str], OmoideError | None] = lambda text: None
        self.open_streams = 0

    def languages(self) -> Sequence[str]:
        return ("ja", "en")

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        self.open_streams += 1
        try:
            await anyio.sleep(self.seconds)
            if (error := self.fails(text)) is not None:
                raise error
            self.spoken.append((text, voice_.language))
            yield Audio(voice(self.seconds_per_char * len(text), rate=48_000), 48_000)
        finally:
            self.open_streams -= 1


class FakeEmbedder(FakeEngine):
    """Takes texts with many pairs of letters in common for close; fails as it is told to."""

    def __init__(self, model: str = "fake-1", dimensions: int = 64) -> None:
        super().__init__()
        self.model = model
        self.dimensions = dimensions
        self.embedded: list[tuple[str, TextKind]] = []
        self.fails: Callable[[Sequence[str]], OmoideError | None] = lambda texts: None
        self.seconds = 0.0

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        await anyio.sleep(self.seconds)
        if (error := self.fails(texts)) is not None:
            raise error
        self.embedded += [(text, kind) for text in texts]
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            letters = f"^{text}$".encode("utf-8", "ignore").decode()
            for pair in itertools.pairwise(letters):
                row[zlib.crc32("".join(pair).encode()) % self.dimensions] += 1
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class FakeClock:
    """Wall time that follows the loop's clock from a fixed start."""

    def __init__(self, start: datetime = datetime(2026, 5, 3, 6, 20, tzinfo=UTC)) -> None:
        self.start = start
        self.began = anyio.current_time()

    def now(self) -> datetime:
        return self.start + timedelta(seconds=anyio.current_time() - self.began)


@dataclass(slots=True)
class Sent:
    """A command and when it was sent, in seconds since the device connected."""

    at: float
    command: DeviceCommand


class FakeDevice:
    """A robot in memory: its microphone is driven by the test, what it is sent is kept with times."""

    playback_rate = 24_000
    frame_samples = 1440

    def __init__(
        self, *, mode: str = "auto", echo_cancelled: bool = False, person: str = "hana"
    ) -> None:
        self.id = "aa:bb:cc:00:11:22"
        self.person = person
        self.is_guest = False
        self.household: tuple[str, ...] = ()
        self.language: str | None = None
        self.voice = ""
        self.profile = "xiaozhi"
        self.echo_cancelled = echo_cancelled
        self.sent: list[Sent] = []
        self.hears_itself_say: tuple[str, ...] = ()
        self.dropped = 0
        self.touched: list[float] = []
        self._began = anyio.current_time()
        self._put, self._get = anyio.create_memory_object_stream[DeviceEvent](math.inf)
        if mode:
            self.put(ListenStarted(mode))  # type: ignore[arg-type]

    def become(self, person: str) -> None:
        self.person, self.is_guest = person or "guest", not person

    def events(self) -> AsyncIterator[DeviceEvent]:
        return self._get

    def send(self, command: DeviceCommand) -> None:
        self.sent.append(Sent(anyio.current_time() - self._began, command))

    def touch(self) -> None:
        self.touched.append(anyio.current_time() - self._began)

    def said_between(self, start: float, end: float) -> Sequence[str]:
        return self.hears_itself_say

    def drop_audio(self) -> None:
        self.dropped += 1

    def put(self, event: DeviceEvent) -> None:
        self._put.send_nowait(event)

    async def hear(self, *sounds: Samples, burst: int = 1) -> None:
        """Stream sounds into the microphone in real time, `burst` frames at once."""
        samples = np.concatenate(sounds)
        for index, start in enumerate(range(0, len(samples), FRAME)):
            self.put(HeardAudio(to_pcm(samples[start : start + FRAME]), LISTENING_RATE))
            if index % burst == burst - 1:
                await anyio.sleep(FRAME_SECONDS * burst)

    def hang_up(self) -> None:
        self._put.close()

    def close(self) -> None:
        self._put.close()
        self._get.close()

    def commands(self, *kinds: type) -> list[DeviceCommand]:
        """Return what was sent, of the given kinds; everything but frames if none is given."""
        return [
            sent.command
            for sent in self.sent
            if (
                isinstance(sent.command, kinds)
                if kinds
                else not isinstance(sent.command, PlayAudio)
            )
        ]

    def times(self, kind: type) -> list[float]:
        return [sent.at for sent in self.sent if isinstance(sent.command, kind)]

    def speeches(self) -> list[list[Sent]]:
        """Return what was sent between each `SpeechStarted` and its `SpeechStopped`."""
        speeches: list[list[Sent]] = []
        speaking = False
        for sent in self.sent:
            if isinstance(sent.command, SpeechStarted):
                speeches.append([])
                speaking = True
            if speaking:
                speeches[-1].append(sent)
            if isinstance(sent.command, SpeechStopped):
                speaking = False
        return speeches


@dataclass
class FakeHouse:
    """A house full of fakes, and the handles that a test needs."""

    asr: FakeAsr
    llm: FakeLlm
    tts: FakeTts
    config: Config = field(default_factory=Config)
    vad: FakeVad = field(default_factory=FakeVad)
    watch: FakeWatch = field(default_factory=FakeWatch)

    def __post_init__(self) -> None:
        self.recent = RecentTurns(50)
        self.memory = FakeMemory(self.config)
        self.heeding = FakeHeeding(self.watch)
        self.clock = FakeClock()
        prompts = PromptFiles(PROMPTS)
        self.phrasebook = Phrasebook(Phrases(prompts), self.tts, "ja", self.config.tts)
        self.house = House(
            self.config,
            self.clock,
            Engines(self.vad, self.asr, self.llm, self.tts),
            self.memory,
            prompts,
            self.phrasebook,
            Turns(self.clock, (self.memory, self.recent)),
            self.heeding,
        )

    def conversation(self, device: FakeDevice) -> Conversation:
        return Conversation(device, self.house)
