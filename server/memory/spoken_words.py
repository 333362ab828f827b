"""Which exchanges have one of some words, by the numbers that search keeps of every utterance: reading them anew takes far longer."""

from collections.abc import Iterable

import numpy as np

from server.memory.lines import VERSION, unpack_line, word_token
from server.memory.store import Store


class SpokenWords:
    """What a person and the robot said, as numbers. Those without numbers may have any word. Blocks while it is made."""

    def __init__(self, store: Store, person: str) -> None:
        """Read what is kept."""
        self._lines: list[tuple[str, int]] = []
        tokens, sizes = [], []
        for row in store.lines.of(person):
            if row.version == VERSION:
                try:
                    line = unpack_line(row.data)
                except ValueError:
                    continue
                self._lines.append((row.page, row.role))
                tokens.append(line.tokens)
                sizes.append(len(line.tokens))
        self._known = frozenset(self._lines)
        self._tokens = np.concatenate(tokens) if tokens else np.empty(0, np.uint32)
        self._owners = np.repeat(np.arange(len(sizes)), sizes)

    def without(self, keys: Iterable[str]) -> frozenset[tuple[str, int]]:
        """Return the utterances, by page and role, that have none of these words.

        Args:
            keys: Of terms.
        """
        wanted = np.array(sorted({word_token(key) for key in keys}), np.uint32)
        having = np.unique(self._owners[np.isin(self._tokens, wanted)])
        return self._known - {self._lines[place] for place in having}
