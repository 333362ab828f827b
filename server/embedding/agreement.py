"""Whether one engine can go on with the vectors that another one made."""

from typing import Final

import numpy as np

from server.ports import Embedder, TextKind

LEAST_COSINE: Final = 0.99
"""The same model in two precisions agrees to 0.997; two models do not come near."""

_SAMPLES: Final = (
    "週末に友達と箱根へ行く予定です。",
    "駅前のラーメン屋の味噌ラーメンが好きです。",
    "The dentist appointment is on October 6.",
    "我喜欢吃苹果。",
)
_KINDS: Final[tuple[TextKind, ...]] = ("query", "passage")


async def agree(one: Embedder, other: Embedder) -> bool:
    """Tell whether both give practically the same vectors, so that a remote model may stand in for the local one.

    Raises:
        EmbeddingError: One of them gave none.
    """
    if one.dimensions != other.dimensions:
        return False
    for kind in _KINDS:
        cosines = np.sum(
            await one.embed(_SAMPLES, kind) * await other.embed(_SAMPLES, kind), axis=1
        )
        if float(cosines.min()) < LEAST_COSINE:
            return False
    return True
