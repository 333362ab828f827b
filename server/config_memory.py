"""The sections of the configuration that belong to memory, from embedding to extraction."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from server.config_section import EndpointSection, Section
from server.config_values import ApiKey, Minutes, Probability, Seconds, VariableName

Dimensions = Annotated[int, Field(ge=8, le=8192)]


class TransformersEmbeddingSection(Section):
    """A model of the sentence-transformers library."""

    model: str = "Qwen/Qwen3-Embedding-0.6B"
    dimensions: Dimensions = 256
    dtype: Literal["float32", "bfloat16", "float16"] = "bfloat16"
    device: str = ""


class OpenAiEmbeddingSection(EndpointSection):
    """Any endpoint that speaks the OpenAI embedding protocol."""

    dimensions: Dimensions = 256
    batch_texts: Annotated[int, Field(ge=1, le=2048)] = 10
    timeout_seconds: Seconds = 10.0
    query_prefix: str = ""
    passage_prefix: str = ""


class EmbeddingSection(Section):
    """How texts become vectors."""

    engine: Literal["auto", "blend", "e5", "use", "sentence-transformers", "openai"] = "auto"
    sentence_transformers: TransformersEmbeddingSection = TransformersEmbeddingSection()
    openai: OpenAiEmbeddingSection = OpenAiEmbeddingSection()


class ArticleSection(Section):
    """The article's form of retrieval."""

    candidates: Annotated[int, Field(ge=1)] = 8
    threshold: Annotated[float, Field(ge=-1, le=2)] = 0.45


class PagesSection(Section):
    """Which exchanges reach a prompt word for word."""

    limit: Annotated[int, Field(ge=0)] = 3
    neighbours: Annotated[int, Field(ge=0, le=3)] = 1
    segments: Annotated[int, Field(ge=0, le=1000)] = 5
    gate: Probability | None = None
    calibration: str = ""


class RetrievalSection(Section):
    """Which memories reach a prompt."""

    mode: Literal["hybrid", "article"] = "hybrid"
    limit: Annotated[int, Field(ge=0)] = 3
    candidates: Annotated[int, Field(ge=1)] = 50
    gate: Probability | None = None
    recency_weight: Annotated[float, Field(ge=0)] = 0.05
    recency_days: Annotated[float, Field(gt=0)] = 14.0
    week_start: Annotated[int, Field(ge=0, le=6)] = 0
    embed_timeout_seconds: Seconds = 1.0
    deadline_seconds: Seconds = 1.5
    calibration: str = ""
    pages: PagesSection = PagesSection()
    article: ArticleSection = ArticleSection()


class StoreSection(Section):
    """Where the truth of memory is kept: a file in the data folder, plain or encrypted."""

    encryption: Literal["off", "sqlcipher"] = "off"
    key_env: VariableName = "OMOIDE_MEMORY_KEY"
    key_file: str = ""


class IndexSection(Section):
    """Where vectors are searched."""

    engine: Literal["edge", "qdrant"] = "edge"
    url: str = ""
    api_key: ApiKey = SecretStr("")


class ExtractionSection(Section):
    """When facts are drawn from what was said."""

    engine: Literal["auto", "llm", "rules"] = "auto"
    silence_minutes: Minutes = 5.0
    turns: Annotated[int, Field(ge=1)] = 8
    attempts: Annotated[int, Field(ge=1)] = 3
    retry_minutes: Minutes = 1.0
    duplicate_threshold: Probability | None = None
    facts_per_hour: Annotated[int, Field(ge=0)] = 200


class SegmentsSection(Section):
    """How exchanges are sorted by topic, and which topics are kept at hand (MemoryOS, section 3)."""

    similarity: Annotated[float, Field(ge=0, le=2)] = 0.6
    capacity: Annotated[int, Field(ge=1)] = 200
    hot: Annotated[float, Field(gt=0)] = 5.0
    heat_visits: Annotated[float, Field(ge=0)] = 1.0
    heat_pages: Annotated[float, Field(ge=0)] = 1.0
    heat_recency: Annotated[float, Field(ge=0)] = 1.0
    cooling_seconds: Annotated[float, Field(gt=0)] = 1e7


class LongTermSection(Section):
    """How large the user knowledge base and the agent traits are, and how many of each are always looked at (MemoryOS)."""

    capacity: Annotated[int, Field(ge=1, le=10_000)] = 100
    candidates: Annotated[int, Field(ge=0, le=1000)] = 10


class SummariesSection(Section):
    """The summary of every day, and how many a talk begins with."""

    engine: Literal["auto", "llm", "rules", "off"] = "auto"
    hour: Annotated[int, Field(ge=0, le=23)] = 3
    primed_days: Annotated[int, Field(ge=0)] = 3
    follow_up_days: Annotated[int, Field(ge=0, le=3650)] = 7
    attempts: Annotated[int, Field(ge=1)] = 3
    retry_minutes: Minutes = 10.0
    catch_up_days: Annotated[int, Field(ge=1, le=3650)] = 30


class Policy(StrEnum):
    """What is done with what somebody says on a private matter."""

    KEEP = "keep"
    ASK = "ask"
    """Neither stored as said nor recalled until the person agrees; asked for once."""
    DROP = "drop"


class ConsentSection(Section):
    """What of private matters is kept, as long as the person has not decided otherwise."""

    religion: Policy = Policy.ASK
    politics: Policy = Policy.ASK
    sexuality: Policy = Policy.ASK
    money: Policy = Policy.ASK
    others: Policy = Policy.ASK
    rules: Policy = Policy.ASK


class SecrecySection(Section):
    """What is taken out of what was said before it is stored, beside card numbers, passwords and my-numbers."""

    phone: bool = False
    street: bool = False


class FadingSection(Section):
    """When facts leave search, and when they are deleted. What matters most never does either."""

    fleeting_days: Annotated[float, Field(ge=0)] = 21.0
    ordinary_days: Annotated[float, Field(ge=0)] = 0.0
    least: Probability = 0.2
    retention_days: Annotated[float, Field(ge=0)] = 365.0


class RetentionSection(Section):
    """How many days things are kept; 0 keeps them until somebody forgets them. For facts see `FadingSection`."""

    exchanges_days: Annotated[float, Field(ge=0)] = 0.0
    summaries_days: Annotated[float, Field(ge=0)] = 0.0
    notes_days: Annotated[float, Field(ge=0)] = 0.0
    recordings_days: Annotated[float, Field(ge=0)] = 0.0
