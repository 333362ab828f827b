"""The configuration: its shape, its defaults, and where it is read from (environment over file over default)."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from server.config_access import (
    AccessSection,
    ApiKeySection,
    DeviceSection,
    HouseholdSection,
    PersonSection,
    TlsSection,
)
from server.config_environment import read_variables
from server.config_faults import explain
from server.config_file import ConfigFile, read_config_file
from server.config_guard import GuardSection
from server.config_hearing import EchoSection
from server.config_memory import (
    ConsentSection,
    EmbeddingSection,
    ExtractionSection,
    FadingSection,
    IndexSection,
    LongTermSection,
    OpenAiEmbeddingSection,
    PagesSection,
    Policy,
    RetentionSection,
    RetrievalSection,
    SecrecySection,
    SegmentsSection,
    StoreSection,
    SummariesSection,
    TransformersEmbeddingSection,
)
from server.config_persona import PersonaSection
from server.config_safety import SafetySection
from server.config_section import EndpointSection, Section
from server.config_values import (
    Language,
    LanguageOrAuto,
    ListeningHost,
    Milliseconds,
    Minutes,
    Port,
    Probability,
    PublicUrl,
    Seconds,
    Temperature,
    Zone,
)
from server.errors import ConfigError

__all__ = [
    "AccessSection",
    "ApiKeySection",
    "Config",
    "ConsentSection",
    "DeviceSection",
    "EchoSection",
    "EmbeddingSection",
    "ExtractionSection",
    "FadingSection",
    "GuardSection",
    "HouseholdSection",
    "IndexSection",
    "LongTermSection",
    "OpenAiEmbeddingSection",
    "PagesSection",
    "PersonSection",
    "PersonaSection",
    "Policy",
    "RetentionSection",
    "RetrievalSection",
    "SecrecySection",
    "Section",
    "SegmentsSection",
    "StoreSection",
    "SummariesSection",
    "TlsSection",
    "TransformersEmbeddingSection",
    "load_config",
]

ENVIRONMENT_PREFIX = "OMOIDE_"


class ServerSection(Section):
    """Doors and clock."""

    host: ListeningHost = "0.0.0.0"  # robots come from the local network
    device_port: Port = 8000
    http_port: Annotated[Port, Field(validate_default=True)] = 8003
    public_url: PublicUrl = ""
    tls: TlsSection = TlsSection()
    timezone: Zone = "Asia/Tokyo"
    wake_words: tuple[str, ...] = ()

    @field_validator("http_port")
    @classmethod
    def _is_a_port_of_its_own(cls, port: int, info: ValidationInfo) -> int:
        if port != 0 and port == info.data.get("device_port"):
            raise ValueError(
                "that is server.device_port, too. Give each a port of its own, or 0 for any free one"
            )
        return port


class LimitsSection(Section):
    """What one connection may ask of the server."""

    message_bytes: Annotated[int, Field(ge=1024)] = 65_536
    messages_per_second: Annotated[int, Field(ge=20)] = 200
    sound_speed: Annotated[float, Field(ge=1)] = 3.0
    sound_burst_seconds: Annotated[float, Field(ge=5)] = 30.0
    idle_close_seconds: Seconds = 110.0
    hello_timeout_seconds: Seconds = 10.0
    connections: Annotated[int, Field(ge=1)] = 200
    connections_per_address: Annotated[int, Field(ge=1)] = 50
    new_devices_per_hour: Annotated[int, Field(ge=1)] = 60
    text_chars: Annotated[int, Field(ge=100)] = 1000
    http_connections: Annotated[int, Field(ge=1)] = 128
    http_connections_per_address: Annotated[int, Field(ge=1)] = 32
    http_patience_seconds: Seconds = 10.0
    http_requests_per_minute: Annotated[int, Field(ge=10)] = 600
    wrong_tokens_per_minute: Annotated[int, Field(ge=1)] = 10


class VadSection(Section):
    """Voice activity detection."""

    engine: Literal["silero", "webrtc"] = "silero"
    speech_threshold: Probability = 0.5
    silence_threshold: Annotated[Probability, Field(validate_default=True)] = 0.35
    gate_aggressiveness: Annotated[int, Field(ge=0, le=3)] = 1
    gate_gain: Annotated[int, Field(ge=1, le=1000)] = 32

    @field_validator("silence_threshold")
    @classmethod
    def _is_not_above_speech(cls, silence: float, info: ValidationInfo) -> float:
        speech = info.data.get("speech_threshold", 1.0)
        if silence > speech:
            raise ValueError(f"write at most vad.speech_threshold, which is {speech:g}")
        return silence


class EndpointingSection(Section):
    """When an utterance starts and ends. Counted in samples of received audio."""

    min_speech_ms: Milliseconds = 96
    silence_ms: Milliseconds = 600
    finished_ms: Milliseconds = 320
    unsure_ms: Milliseconds = 900
    unfinished_ms: Milliseconds = 1300
    text_wait_ms: Milliseconds = 1300
    pause_margin_ms: Milliseconds = 150
    most_lengthened_ms: Milliseconds = 500
    hint: Literal["none", "smart-turn"] = "none"
    hint_path: str = ""
    preroll_ms: Milliseconds = 480
    max_utterance_seconds: Seconds = 30.0
    stall_seconds: Seconds = 2.0
    guard_ms: Milliseconds = 200


class WhisperSection(Section):
    """The embedded recogniser."""

    model_path: str = ""
    threads: Annotated[int, Field(ge=0)] = 0
    no_speech_threshold: Probability = 0.5
    unsure_log_probability: Annotated[float, Field(le=0)] = -0.7
    unfounded_log_probability: Annotated[float, Field(le=0)] = -1.6
    early_start_ms: Milliseconds = 200
    hub_model: str = ""


class AsrSection(Section):
    """Speech recognition."""

    engine: Literal["whisper"] = "whisper"
    languages: tuple[Language, ...] = ("ja", "en")
    language: LanguageOrAuto = "auto"
    timeout_seconds: Seconds = 20.0
    whisper: WhisperSection = WhisperSection()


class HistorySection(Section):
    """What stays verbatim in the prompt."""

    turns: Annotated[int, Field(ge=0)] = 3
    buffer: Annotated[int, Field(ge=1, le=100)] = 7
    window_minutes: Minutes = 10.0


class EmbeddedLlmSection(Section):
    """The packaged models; a path to any other GGUF file replaces one."""

    ja_path: str = ""
    en_path: str = ""
    threads: Annotated[int, Field(ge=0)] = 0
    context_tokens: Annotated[int, Field(ge=512)] = 2048
    max_tokens: Annotated[int, Field(ge=8)] = 96
    max_sentences: Annotated[int, Field(ge=1)] = 2
    temperature: Temperature = 0.4
    repeat_penalty: Annotated[float, Field(ge=1, le=2)] = 1.1
    read_seconds: Seconds = 0.8
    least_prompt_tokens: Annotated[int, Field(ge=50)] = 100
    most_prompt_tokens: Annotated[int, Field(ge=50, validate_default=True)] = 600

    @field_validator("most_prompt_tokens")
    @classmethod
    def _is_not_below_least(cls, most: int, info: ValidationInfo) -> int:
        least = info.data.get("least_prompt_tokens", 0)
        if most < least:
            raise ValueError(f"write at least llm.embedded.least_prompt_tokens, which is {least}")
        return most


class OpenAiLlmSection(EndpointSection):
    """Any endpoint that speaks the OpenAI chat protocol."""

    max_tokens: Annotated[int, Field(ge=8)] = 400
    temperature: Temperature = 0.7
    enable_thinking: bool | None = None
    web_search: bool = False
    extra_body: dict[str, Any] = Field(default_factory=dict)
    prompt_budget_tokens: Annotated[int, Field(ge=200)] = 3000


class LlmSection(Section):
    """The language model."""

    engine: Literal["auto", "embedded", "openai"] = "auto"
    first_token_seconds: Seconds = 8.0
    idle_seconds: Seconds = 6.0
    total_seconds: Seconds = 60.0
    embedded: EmbeddedLlmSection = EmbeddedLlmSection()
    openai: OpenAiLlmSection = OpenAiLlmSection()


class SentencesSection(Section):
    """How the stream of the model is cut for the voice."""

    first_piece_chars: Annotated[int, Field(ge=0)] = 16
    max_chars: Annotated[int, Field(ge=20)] = 120
    max_reply_chars: Annotated[int, Field(ge=100)] = 2000
    idle_flush_seconds: Seconds = 1.5


class TtsSection(Section):
    """Speech synthesis."""

    engine: Literal["embedded"] = "embedded"
    speed: Annotated[float, Field(ge=0.5, le=2)] = 1.0
    first_audio_seconds: Seconds = 10.0
    stall_seconds: Seconds = 5.0
    readings: dict[str, str] = Field(default_factory=dict)
    piper_voice: str = ""


class PacingSection(Section):
    """How audio is handed to the device, and what fills a silence."""

    lead_ms: Milliseconds = 600
    lead_in_ms: Milliseconds = 0
    tail_ms: Milliseconds = 120
    filler_after_seconds: Seconds = 4.0


class BargeInSection(Section):
    """What becomes of a reply when somebody makes a sound while the robot speaks."""

    back_channels: bool = True
    false_start: Literal["resume", "repeat", "drop"] = "resume"
    give_way_ms: Milliseconds = 1000
    notice_ms: Milliseconds = 32
    lead_ms: Milliseconds = 60


class RecordingSection(Section):
    """What is kept of a turn on disk besides memory."""

    keep_audio: bool = False
    keep_turns: bool = False
    recent_turns: Annotated[int, Field(ge=0)] = 50


class LoggingSection(Section):
    """The log on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["console", "json"] = "console"


class Config(BaseSettings):
    """The whole configuration, one section per stage in the order of the pipeline."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,  # what compose files make of a variable that is not set
        extra="forbid",
        frozen=True,
    )

    server: ServerSection = ServerSection()
    access: AccessSection = AccessSection()
    limits: LimitsSection = LimitsSection()
    devices: dict[str, DeviceSection] = Field(default_factory=dict)
    persons: dict[str, PersonSection] = Field(default_factory=dict)
    households: dict[str, HouseholdSection] = Field(default_factory=dict)
    vad: VadSection = VadSection()
    endpointing: EndpointingSection = EndpointingSection()
    echo: EchoSection = EchoSection()
    asr: AsrSection = AsrSection()
    embedding: EmbeddingSection = EmbeddingSection()
    retrieval: RetrievalSection = RetrievalSection()
    store: StoreSection = StoreSection()
    index: IndexSection = IndexSection()
    extraction: ExtractionSection = ExtractionSection()
    segments: SegmentsSection = SegmentsSection()
    long_term: LongTermSection = LongTermSection()
    summaries: SummariesSection = SummariesSection()
    fading: FadingSection = FadingSection()
    consent: ConsentSection = ConsentSection()
    secrecy: SecrecySection = SecrecySection()
    safety: SafetySection = SafetySection()
    retention: RetentionSection = RetentionSection()
    history: HistorySection = HistorySection()
    persona: PersonaSection = PersonaSection()
    llm: LlmSection = LlmSection()
    guard: GuardSection = GuardSection()
    sentences: SentencesSection = SentencesSection()
    tts: TtsSection = TtsSection()
    pacing: PacingSection = PacingSection()
    barge_in: BargeInSection = BargeInSection()
    recording: RecordingSection = RecordingSection()
    logging: LoggingSection = LoggingSection()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, which arrives as the arguments."""
        return env_settings, init_settings


def load_config(path: Path | None) -> Config:
    """Read the configuration.

    Args:
        path: The YAML file; None for the defaults and the environment alone.

    Raises:
        ConfigError: The file is missing or no YAML, a key or an engine is misspelt, a value is out of range. The
            message names the file, the line and the nearest right name.
    """
    file = ConfigFile.empty() if path is None else read_config_file(path)
    variables = read_variables(os.environ, ENVIRONMENT_PREFIX, Config)
    try:
        return Config(**file.values)
    except SettingsError as error:
        raise ConfigError(f"environment: {error}.") from error
    except ValidationError as error:
        raise ConfigError(explain(error, Config, file, variables)) from error
