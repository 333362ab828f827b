"""In which utterances tokens occur, and how well each utterance, with those around it, matches a query's tokens.

The window model: what a neighbour says counts as a part of what is said here *before* saturation, so that a word that
is asked for in one turn and answered in the next is one hit and not two.
"""

from collections.abc import Sequence
from copy import copy
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
        self._begins, self._ends = _bounds_of(self._talks)
        lengths = [len(tokens) for tokens in lines]
        tokens = np.concatenate([*lines, np.zeros(0, np.uint32)]).astype(np.uint64)
        places = np.repeat(np.arange(len(lines), dtype=np.uint64), lengths)
        keys, counts = np.unique(tokens << np.uint64(32) | places, return_counts=True)
        self._places = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        self._counts = counts.astype(np.float32)
        found, starts = np.unique(keys >> np.uint64(32), return_index=True)
        self._tokens: Tokens = found.astype(np.uint32)
        self._bounds = np.append(starts, len(keys))
        self._new: dict[int, dict[int, int]] = {}
        self._own: set[int] = set()
        """Tokens whose entries in `_new` no other copy has."""

    @property
    def size(self) -> int:
        """How many utterances there are."""
        return len(self._talks)

    def copy(self) -> "Postings":
        """Return the same, to be added to while this object stays as it is."""
        twin: Postings = copy(self)
        twin._new, twin._own = dict(self._new), set()
        self._own = set()
        return twin

    def add(self, tokens: Tokens, talk: int) -> None:
        """Add an utterance that follows those that are there."""
        place = self.size
        for token in tokens.tolist():
            if token not in self._own:
                self._new[token] = dict(self._new.get(token, ()))
                self._own.add(token)
            found = self._new[token]
            found[place] = found.get(place, 0) + 1
        goes_on = place > 0 and self._talks[-1] == talk
        begins = int(self._begins[-1]) if goes_on else place
        self._talks = np.append(self._talks, talk)
        self._begins = np.append(self._begins, begins)
        self._ends = np.append(self._ends, place + 1)
        self._ends[begins:] = place + 1

    def rarities(self, tokens: Tokens) -> Floats:
        """Return how telling tokens are (BM25's idf); one that occurs nowhere is the most telling."""
        return self._rarities(self._occurrences(tokens)[1])

    def match(self, channels: Sequence[Channel]) -> Floats:
        """Return how well each utterance matches a query: shape (channels, utterances), sums of rarities."""
        scores = np.zeros((len(channels), self.size), np.float32)
        width = max(1, _ROOM // max(1, self.size))
        for row, channel in enumerate(channels):
            bounds, sizes = self._occurrences(channel.tokens)
            order = np.lexsort((channel.tokens, sizes))
            order = order[sizes[order] > 0]
            allowed = np.cumsum(sizes[order]) <= _MOST_POSTINGS
            allowed[:1] = True
            chosen = order[allowed]
            for start in range(0, len(chosen), width):
                some = chosen[start : start + width]
                found = [
                    self._of(token, *between)
                    for token, between in zip(
                        channel.tokens[some].tolist(), bounds[some].tolist(), strict=True
                    )
                ]
                scores[row] += self._rarities(sizes[some]) @ self._saturated(found, channel)
        return scores

    def _occurrences(self, tokens: Tokens) -> tuple[Integers, Integers]:
        """Return between which entries each token stands, new ones apart, and in how many utterances it is in all."""
        at = np.searchsorted(self._tokens, tokens)
        known = np.append(self._tokens, np.uint32(0))[at] == tokens
        known &= at < len(self._tokens)
        first = self._bounds[np.where(known, at, 0)]
        bounds = np.stack([first, np.where(known, self._bounds[at + known], first)], axis=1)
        sizes: Integers = bounds[:, 1] - bounds[:, 0]
        if self._new:
            sizes += np.array([len(self._new.get(one, ())) for one in tokens.tolist()], np.int64)
        return bounds, sizes

    def _rarities(self, sizes: Integers) -> Floats:
        found = sizes.astype(np.float32)
        return np.log1p((self.size - found + 0.5) / (found + 0.5)).astype(np.float32)

    def _of(self, token: int, start: int, end: int) -> tuple[Integers, Floats]:
        """Return where a token occurs, and how often there."""
        places, counts = self._places[start:end], self._counts[start:end]
        if token in self._new:
            new = self._new[token]
            places = np.append(places, [*new])
            counts = np.append(counts, np.array([*new.values()], np.float32))
        return places, counts

    def _saturated(self, found: Sequence[tuple[Integers, Floats]], channel: Channel) -> Floats:
        """Return how far tokens are borne out, from 0 to 1: shape (tokens, utterances)."""
        reach = channel.reach
        width = self.size + 2 * reach  # neighbours of the first and the last have room to go astray
        owners = np.repeat(np.arange(len(found)), [len(places) for places, _ in found])
        places = np.concatenate([places for places, _ in found])
        counts = np.concatenate([counts for _, counts in found])
        shifts = np.arange(-reach, reach + 1)[:, None]
        amounts = counts * _weights(shifts, places, channel)
        amounts *= (shifts >= self._begins[places] - places) & (
            shifts < self._ends[places] - places
        )
        spread = np.zeros(len(found) * width, np.float32)
        np.add.at(spread, (owners * width + places + reach + shifts).ravel(), amounts.ravel())
        spread = spread.reshape(len(found), width)[:, reach : width - reach]
        return spread / (spread + np.float32(_HALF))


def _bounds_of(talks: Integers) -> tuple[Integers, Integers]:
    """Return for each utterance where its talk begins, and where the next one does."""
    cuts = np.flatnonzero(np.diff(talks)) + 1
    starts, ends = np.append([0], cuts), np.append(cuts, [len(talks)])
    lengths = ends - starts
    return np.repeat(starts, lengths), np.repeat(ends, lengths)


def _weights(shifts: Integers, places: Integers, channel: Channel) -> Floats:
    """Return how much what stands at each place counts for what stands `shifts` after it: shape (shifts, places)."""
    far = np.where(shifts > 0, _BEFORE, _AFTER) * _FADING ** (np.abs(shifts) - 1.0)
    weights = np.repeat(np.where(shifts == 0, 1.0, far).astype(np.float32), len(places), axis=1)
    if channel.reach:
        last = len(channel.before) - 1
        weights[channel.reach + 1] = channel.before[np.minimum(places + 1, last)]
        weights[channel.reach - 1] = channel.after[np.maximum(places - 1, 0)]
    return weights
