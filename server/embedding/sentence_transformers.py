"""Models of the sentence-transformers library, e.g. Qwen3-Embedding. Needs torch."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from server.embedding.local import LocalEmbedder, Model
from server.errors import EngineMissing
from server.ports import TextKind

if TYPE_CHECKING:
    from server.config import TransformersEmbeddingSection


def sentence_transformer(section: "TransformersEmbeddingSection") -> LocalEmbedder:
    """Build the engine. Nothing is loaded or downloaded yet."""
    model = Model(
        name=f"sentence-transformers {section.model}",
        identity=f"{section.model} {section.dtype}",
        dimensions=section.dimensions,
        texts_at_once=4,
    )
    return LocalEmbedder(model, partial(_Transformer, section))


class _Transformer:
    def __init__(self, section: "TransformersEmbeddingSection") -> None:
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an optional package
        except ImportError as error:
            raise EngineMissing(
                "The embedding engine `sentence-transformers` is not installed. Run `pip install sentence-transformers`, "
                "or set embedding.engine to e5."
            ) from error
        try:
            self._model: Any = SentenceTransformer(
                section.model,
                device=section.device or None,
                model_kwargs={"dtype": section.dtype},
                truncate_dim=section.dimensions,
            )
        except Exception as error:  # the hub's client raises what its HTTP client does
            raise EngineMissing(
                f"embedding.sentence_transformers.model: {section.model} can't be loaded ({type(error).__name__}). Check "
                "the name or the folder, and the network if it has still to be downloaded.",
                code="model-download-failed",
            ) from error

    def encode(self, texts: Sequence[str], kind: TextKind) -> Sequence[ArrayLike]:
        """Return a vector for each text, with the prompt that the model brings for its kind."""
        read = self._model.encode_query if kind == "query" else self._model.encode_document
        vectors: Sequence[ArrayLike] = read(
            list(texts), show_progress_bar=False, convert_to_numpy=True
        )
        return vectors
