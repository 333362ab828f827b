"""In which utterances tokens occur, and how well each utterance, with those around it, matches a query's tokens.

The window model: what a neighbour says counts as a part of what is said here *before* saturation, so that a word that
is asked for in one turn and answered in the next is one hit and not two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.memory.lines import Tokens

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

REACH = 4
"""How many utterances away a neighbour still counts."""
_BEFORE, _AFTER, _FADING = 0.45, 0.25, 0.6
"""A neighbour k > 1 utterances before counts ``_BEFORE · _FADING^(k-1)``, one after ``_AFTER · _FADING^(k-1)``."""
_HALF = 0.5
"""Count at which a token has half its weight (BM25's k1, with b = 0: long utterances hold more)."""
_MOST_POSTINGS = 60_000
"""Occurrences that one query looks at. In a huge store the most frequent tokens, which tell least, go beyond it."""
_ROOM = 4_000_000
"""Pairs of token and utterance that are worked on at once."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A query's tokens of one kind; they are scored apart from the others."""

    tokens: Tokens
    """Each once."""
    reach: int
    """How many utterances away a neighbour still counts."""
    before: Floats
    """By utterance: how much the one right before counts for it."""
    after: Floats


class Postings:
    """An inverted index over the utterances of one person, oldest first. Grows at the end."""

    def __init__(self, lines: Sequence[Tokens], talks: Sequence[int]) -> None:
        """Index utterances.

        Args:
            lines: The tokens of each.
            talks: A number for each that changes where a new talk begins: neighbours are of the same talk.
        """
        self._talks = np.asarray(talks, np.int64)
        lengths = [len(tokens) for tokens in lines]
        tokens = np.concatenate([*lines, np.zeros(0, np.uint32)]).astype(np.uint64)
        places = np.repeat(np.arange(len(lines), dtype=np.uint64), lengths)
        keys, counts = np.unique(tokens << np.uint64(32) | places, return_counts=True)
        self._places = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        self._counts = counts.astype(np.float32)
        self._tokens, starts = np.unique(keys >> np.uint64(32), return_index=True)
        self._bounds = np.append(starts, len(keys))
        self._new: dict[int, dict[int, int]] = {}

    @property
    def size(self) -> int:
        """How many utterances there are."""
        return len(self._talks)

    def add(self, tokens: Tokens, talk: int) -> None:
        """Add an utterance that follows those that are there."""
        for token in tokens.tolist():
            found = self._new.setdefault(token, {})
            found[self.size] = found.get(self.size, 0) + 1
        self._talks = np.append(self._talks, talk)

    def rarities(self, tokens: Tokens) -> Floats:
        """Return how telling tokens are (BM25's idf); one that occurs nowhere is the most telling."""
        found = np.array([len(self._of(token)[0]) for token in tokens.tolist()], np.float32)
        return np.log1p((self.size - found + 0.5) / (found + 0.5)).astype(np.float32)

    def match(self, channels: Sequence[Channel]) -> Floats:
        """Return how well each utterance matches a query: shape (channels, utterances), sums of rarities."""
        scores = np.zeros((len(channels), self.size), np.float32)
        for row, channel in enumerate(channels):
            left = _MOST_POSTINGS
            found = [(token, *self._of(token)) for token in channel.tokens.tolist()]
            found = sorted(
                (one for one in found if len(one[1])), key=lambda one: (len(one[1]), one[0])
            )
            chosen: list[tuple[int, Integers, Floats]] = []
            for token, places, counts in found:
                left -= len(places)
                if left < 0 and chosen:
                    break
                chosen.append((token, places, counts))
            width = max(1, _ROOM // max(1, self.size))
            for start in range(0, len(chosen), width):
                self._add(scores[row], chosen[start : start + width], channel)
        return scores

    def _of(self, token: int) -> tuple[Integers, Floats]:
        """Return where a token occurs, and how often there."""
        at = int(np.searchsorted(self._tokens, np.uint64(token)))
        known = at < len(self._tokens) and self._tokens[at] == token
        part = slice(self._bounds[at], self._bounds[at + 1]) if known else slice(0, 0)
        places, counts = self._places[part], self._counts[part]
        if token in self._new:
            new = self._new[token]
            places = np.append(places, [*new])
            counts = np.append(counts, np.array([*new.values()], np.float32))
        return places, counts

    def _add(
        self,
        scores: Floats,
        found: Sequence[tuple[int, Integers, Floats]],
        channel: Channel,
    ) -> None:
        size, reach = self.size, channel.reach
        rarities = self.rarities(np.array([token for token, _, _ in found], np.uint32))
        owners = np.repeat(np.arange(len(found)), [len(places) for _, places, _ in found])
        places = np.concatenate([places for _, places, _ in found])
        counts = np.concatenate([counts for _, _, counts in found])
        edge = np.full(reach, -1, np.int64)
        talks = np.concatenate([edge, self._talks, edge])
        spread = np.zeros(len(found) * size, np.float32)
        touched = []
        for shift in range(-reach, reach + 1):
            near = talks[places + (reach + shift)] == talks[places + reach]
            targets = places[near] + shift
            keys = owners[near] * size + targets
            spread[keys] += counts[near] * _weight(shift, targets, channel)
            touched.append(keys)
        keys = np.concatenate(touched)
        last = np.empty(len(spread), np.int32)
        order = np.arange(len(keys), dtype=np.int32)
        last[keys] = order
        keys = keys[last[keys] == order]  # each once
        amounts = spread[keys]
        worth = rarities[keys // size] * amounts / (amounts + _HALF)
        scores += np.bincount(keys % size, weights=worth, minlength=size).astype(np.float32)


def _weight(shift: int, targets: Integers, channel: Channel) -> Floats | float:
    """Return how much what stands `shift` utterances before a target counts for it (after it, if negative)."""
    match shift:
        case 0:
            return 1.0
        case 1:
            return channel.before[targets]
        case -1:
            return channel.after[targets]
        case _:
            near = _BEFORE if shift > 0 else _AFTER
            return float(near * _FADING ** (abs(shift) - 1))
