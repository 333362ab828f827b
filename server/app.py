"""The composition root: from a configuration to running objects, opened and closed in one place."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskStatus

from server import asr, embedding, guard, llm, tts, vad
from server.access import Access
from server.back_channels import is_back_channel
from server.clock import SystemClock
from server.concern import ConcernLine
from server.config import Config
from server.conversation import Conversation, Engines, House
from server.descriptors import raise_limit
from server.endpointing import completeness
from server.errors import OmoideError
from server.extraction import choose_extractor, choose_summarizer
from server.failures import quieten
from server.folder_lock import lock_data
from server.forgetting import Forgetting
from server.forgetting_by_voice import VoiceForgetting
from server.gateway import serve_devices
from server.heeding import Heeding
from server.jobs import Jobs
from server.left_in_clear import left_in_clear
from server.memory.extract import RulesExtractor
from server.memory.layers.drawing import PersonaExtractor
from server.memory.layers.layers import Layers
from server.memory.opening import open_memory
from server.memory.safety.signals import prepare as prepare_signals
from server.memory.traits import load_dimensions
from server.phrasebook import Phrasebook
from server.plausibility import is_hesitation
from server.ports import Clock, Device, Embedder, Engine
from server.private_folder import owner_only
from server.prompting import PROMPTS, Phrases, PromptFiles, compose
from server.recording import RECORDINGS, RecentTurns, Recorder
from server.telemetry import Metrics
from server.telling import VoiceTelling
from server.threads import talk_first
from server.trace import Turns
from server.turn import Recollection
from server.warming import Warming
from server.web import serve_web
from server.webhooks import WebhookSender

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Doors:
    """The ports that a running server listens on."""

    device_port: int
    http_port: int


class App:
    """Everything a server consists of. Build it with `open_app`, which holds the data folder meanwhile."""

    def __init__(
        self,
        config: Config,
        data: Path,
        engines: Engines | None = None,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.config = config
        self.data = data
        self.clock = clock or SystemClock(config.server.timezone)
        self.prompts = PromptFiles(
            Path(config.persona.prompts) if config.persona.prompts else PROMPTS, config.persona
        )
        self.prompts.check(config.persona.language)
        self.recent = RecentTurns(config.recording.recent_turns)
        self.metrics = Metrics()
        self.access = Access(config, data, self.clock)
        self.engines = engines or build_engines(config, data)
        self.embedder = embedder or embedding.build(config.embedding)
        self.memory = open_memory(
            config,
            data / "memory",
            self.embedder,
            RulesExtractor(),
            self.clock,
            load_dimensions(self.prompts),
        )
        self.webhooks = WebhookSender(
            self.memory.outbox, self.memory.safety, config.safety.webhooks, self.clock
        )
        self.layers = _open_layers(self)
        self.jobs = Jobs(self.memory, config.extraction, self.clock)
        keepers = (
            self.memory,
            self.layers,
            self.jobs,
            Recorder(data / RECORDINGS, config.recording),
        )
        witnesses = (self.memory.overheard, self.recent, self.metrics)
        self.turns = Turns(self.clock, keepers, witnesses, self.memory.consenting.judge)
        self.forgetting = Forgetting(self.memory.archive, data, self.recent, self.turns)
        self.jobs.also = self._end_recordings
        self.phrasebook = Phrasebook(
            Phrases(self.prompts), self.engines.tts, config.persona.language, config.tts
        )
        self.house = _open_house(self)
        self.warm = anyio.Event()
        self._warming = Warming(
            self.stages,
            {
                "tts": self._speak_phrases,
                "llm": self._ready_model,
                "embedding": self.memory.catch_up,
            },
        )
        self.jobs.repair = self._warming.try_again

    @property
    def troubles(self) -> Mapping[str, OmoideError]:
        """What could not be warmed up, by stage, until it can. A turn that needs it is answered with an apology."""
        return self._warming.troubles

    @property
    def stages(self) -> dict[str, Engine]:
        """The engines by the name of their stage."""
        engines = self.engines
        return {
            "vad": engines.vad,
            "asr": engines.asr,
            "embedding": self.embedder,
            "llm": engines.llm,
            "tts": engines.tts,
        }

    async def converse(self, device: Device) -> None:
        """Hold the conversation with one connected device until it hangs up or this is cancelled."""
        await Conversation(device, self.house).converse()

    async def warm_up(self) -> None:
        """Load every engine and speak the apologies once. Failures are noted in `troubles`, not raised."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(to_thread.run_sync, _read_lists)
            for name in self.stages:
                tasks.start_soon(self._warm_up_one, name)
            if self.config.guard.enabled:
                tasks.start_soon(to_thread.run_sync, guard.warm_up)
        if "llm" not in self.troubles:
            await self._warming.settle("llm")
        await self.jobs.start()
        log.info("warm", troubles={name: error.code for name, error in self.troubles.items()})
        self.warm.set()
        if "embedding" not in self.troubles:
            # After a change of models every fact needs a new vector: that may take minutes, and keeps nobody waiting.
            await self._warming.settle("embedding")

    async def _end_recordings(self) -> None:
        days = self.config.retention.recordings_days
        await self.forgetting.end_recordings(self.clock.now(), days)

    async def finish_forgetting(self) -> None:
        """Finish what was being forgotten when the program ended; what can't be done is logged, and tried again later."""
        try:
            await self.forgetting.finish_begun()
        except OmoideError as error:
            log.warning("forgetting-unfinished", code=error.code, reason=str(error))

    async def aclose(self) -> None:
        """Stop the wakes, store what is left, close the engines."""
        self.jobs.stop()
        await self.webhooks.aclose()
        await to_thread.run_sync(self.memory.close)
        for engine in self.stages.values():
            await engine.aclose()

    async def _warm_up_one(self, name: str) -> None:
        await self._warming.warm(name)
        if name == "tts":  # at once: while other engines load, a turn needs the filler
            await self._warming.settle(name)

    async def _speak_phrases(self) -> None:
        voices = [device.voice for device in self.config.devices.values()]
        voices += [person.voice for person in self.config.persons.values()]
        await self.phrasebook.prepare(self.config.asr.languages, voices)

    async def _ready_model(self) -> None:
        await self._read_persona()
        await self._choose_background_engines()

    async def _choose_background_engines(self) -> None:
        llm = self.engines.llm
        extractor = await choose_extractor(self.config, llm, self.prompts)
        self.memory.consolidator.extractor = PersonaExtractor(extractor, self.layers)
        self.memory.diary.summarizer = choose_summarizer(self.config, llm, self.prompts, extractor)

    async def _read_persona(self) -> None:
        """Let a local model read the persona before the first question, which then starts from its cache."""
        for language in self.config.asr.languages:
            traits = self.engines.llm.traits(language)
            if not traits.compact:
                continue
            prompt = compose(
                self.prompts,
                question="",
                recalled=Recollection(),
                history=(),
                now=self.clock.now(),
                language=language,
                traits=traits,
            )
            async with aclosing(self.engines.llm.stream(prompt)) as events:
                await anext(events, None)


def _read_lists() -> None:
    """Read the lists by which words are judged: read in a first turn they would hold up every robot. Blocks."""
    prepare_signals()
    completeness("", "en")
    is_hesitation("")
    is_back_channel("-")


def _open_house(app: App) -> House:
    """Put together what conversations share."""
    heeding = Heeding(
        app.memory.consenting,
        app.memory.safety,
        VoiceForgetting(app.forgetting, app.turns, app.clock.now),
        ConcernLine(
            app.memory.safety,
            app.config.safety,
            app.phrasebook.text,
            lambda language: app.engines.llm.traits(language).compact,
        ),
        VoiceTelling(
            app.memory.knowing,
            app.memory.consenting.withholds,
            app.phrasebook.text,
            app.clock.now,
        ),
        app.phrasebook.text,
    )
    return House(
        app.config,
        app.clock,
        app.engines,
        app.memory,
        app.prompts,
        app.phrasebook,
        app.turns,
        heeding,
    )


def _open_layers(app: App) -> Layers:
    """Build what changes the persona, and let prompts tell what it holds."""
    section, count = app.config.persona, app.metrics.count_layer_write
    layers = Layers(app.prompts, section, *app.memory.kept_in, app.clock, count)
    app.prompts.persona = layers.persona
    return layers


def build_engines(config: Config, data: Path) -> Engines:
    """Build the engines that the configuration names; nothing is loaded yet."""
    return Engines(
        vad=vad.build(config, data),
        asr=asr.build(config, data),
        llm=llm.build(config, data),
        tts=tts.build(config, data),
    )


@asynccontextmanager
async def open_app(
    config: Config,
    data: Path,
    engines: Engines | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[App]:
    """Build everything, warm the engines up in the background, and close them on leaving.

    Args:
        config: The configuration.
        data: Folder for all state; made if it is missing.
        engines: Engines to use instead of those that the configuration names.
        embedder: Likewise for memory's search.
        clock: The time, instead of that of the system.

    Raises:
        OmoideError: Something can't be built at all, e.g. a folder that can't be written, or that is another server's.
    """
    with owner_only(), talk_first(), lock_data(data):
        async with _running(App(config, data, engines, embedder, clock)) as app:
            yield app


@asynccontextmanager
async def _running(app: App) -> AsyncIterator[App]:
    for what, hint in left_in_clear(app.config, app.data).items():
        log.warning("left-in-clear", what=what, hint=hint)
    await to_thread.run_sync(app.memory.load)
    await app.finish_forgetting()
    await to_thread.run_sync(app.layers.load)
    raised: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(app.warm_up)
            tasks.start_soon(app.webhooks.deliver)
            try:
                yield app
            except Exception as error:
                raised = (
                    error  # outside the group, or it would come out wrapped in an exception group
                )
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()
    if raised is not None:
        raise raised


async def serve(app: App, *, task_status: TaskStatus[Doors] = anyio.TASK_STATUS_IGNORED) -> None:
    """Open both doors and serve until cancelled; reports the ports once they are open."""
    raise_limit()
    quieten("asyncio", "event-loop-trouble")
    async with anyio.create_task_group() as tasks:
        device_port = await tasks.start(serve_devices, app)
        http_port = await tasks.start(serve_web, app)
        task_status.started(Doors(device_port, http_port))
        try:
            await anyio.sleep_forever()
        finally:
            for reply in app.house.listening:
                reply.hurry()
