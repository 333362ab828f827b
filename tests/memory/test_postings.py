"""The window model: scores equal those of the formula written out, however the index came to be."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.lines import Tokens
from server.memory.postings import Channel, Floats, Postings

WORDS = [0, 1, 7, 2**31, 2**32 - 2, 2**32 - 1]
UNKNOWN = 99


def tokens(*some: int) -> Tokens:
    return np.array(some, np.uint32)


def channel_of(
    query: Sequence[int], size: int, reach: int = 4, before: float = 0.45, after: float = 0.25
) -> Channel:
    weights = [np.full(size, weight, np.float32) for weight in (before, after)]
    return Channel(tokens(*query), reach, *weights)


@dataclass(frozen=True)
class Store:
    """Utterances of which a few words are known, in talks, and a question."""

    lines: list[list[int]]
    talks: list[int]
    channel: Channel

    def postings(self, at_once: int | None = None) -> Postings:
        """Build the index, the first of the lines at once and each of the others by itself."""
        cut = len(self.lines) if at_once is None else at_once
        built = Postings([tokens(*line) for line in self.lines[:cut]], self.talks[:cut])
        for line, talk in zip(self.lines[cut:], self.talks[cut:], strict=True):
            built.add(tokens(*line), talk)
        return built

    def cut(self, size: int) -> "Store":
        """Return what was there when there were so many lines."""
        before, after = (weights[:size] for weights in (self.channel.before, self.channel.after))
        channel = replace(self.channel, before=before, after=after)
        return replace(self, lines=self.lines[:size], talks=self.talks[:size], channel=channel)

    def by_formula(self) -> list[float]:
        """Return the scores as section 3 of the notes on retrieval has them."""
        return [self._score(place) for place in range(len(self.lines))]

    def _score(self, place: int) -> float:
        score = 0.0
        for token in self.channel.tokens.tolist():
            count = float(self._count(token, place, 0))
            count += float(self.channel.before[place]) * self._count(token, place, -1)
            count += float(self.channel.after[place]) * self._count(token, place, 1)
            for k in range(2, 5):
                count += 0.45 * 0.6 ** (k - 1) * self._count(token, place, -k)
                count += 0.25 * 0.6 ** (k - 1) * self._count(token, place, k)
            score += self.rarity(token) * count / (count + 0.5)
        return score

    def _count(self, token: int, place: int, shift: int) -> int:
        other = place + shift
        within = abs(shift) <= self.channel.reach and 0 <= other < len(self.lines)
        if not within or self.talks[other] != self.talks[place]:
            return 0
        return self.lines[other].count(token)

    def rarity(self, token: int) -> float:
        found = sum(token in line for line in self.lines)
        return math.log(1 + (len(self.lines) - found + 0.5) / (found + 0.5))


@st.composite
def stores(draw: st.DrawFn) -> Store:
    lines = draw(st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=14))
    size = len(lines)
    begins = draw(st.lists(st.sampled_from([0, 0, 0, 1]), min_size=size, max_size=size))
    weights = st.lists(st.floats(0, 1, width=32), min_size=size, max_size=size)
    channel = Channel(
        tokens(*draw(st.lists(st.sampled_from([*WORDS, UNKNOWN]), unique=True))),
        draw(st.integers(0, 4)),
        np.array(draw(weights), np.float32),
        np.array(draw(weights), np.float32),
    )
    return Store(lines, np.cumsum(begins, dtype=np.int64).tolist(), channel)


def assert_close(found: Floats, expected: Sequence[float]) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@given(stores(), st.integers(0, 14))
def test_scores_are_those_of_the_formula(store: Store, at_once: int) -> None:
    postings = store.postings(min(at_once, len(store.lines)))
    assert_close(postings.match([store.channel])[0], store.by_formula())
    every = [*WORDS, UNKNOWN]
    assert_close(postings.rarities(tokens(*every)), [store.rarity(token) for token in every])


@given(stores(), st.integers(0, 14))
def test_adding_one_by_one_equals_building_at_once(store: Store, at_once: int) -> None:
    whole, grown = store.postings(), store.postings(min(at_once, len(store.lines)))
    assert grown.size == whole.size == len(store.lines)
    np.testing.assert_array_equal(grown.match([store.channel]), whole.match([store.channel]))


@given(stores(), st.randoms(use_true_random=False))
def test_the_order_of_a_querys_tokens_does_not_matter(store: Store, random: Random) -> None:
    shuffled = store.channel.tokens.tolist()
    random.shuffle(shuffled)
    other = replace(store.channel, tokens=tokens(*shuffled))
    postings = store.postings()
    np.testing.assert_array_equal(postings.match([store.channel]), postings.match([other]))


@given(stores(), stores())
def test_channels_are_scored_apart(store: Store, other: Store) -> None:
    two = [store.channel, replace(store.channel, tokens=other.channel.tokens)]
    postings = store.postings()
    together = postings.match(two)
    for row, channel in zip(together, two, strict=True):
        np.testing.assert_array_equal(row, postings.match([channel])[0])


@pytest.mark.parametrize("lines", [[], [[]], [[1]]])
def test_the_smallest_stores_can_be_asked_and_grow(lines: list[list[int]]) -> None:
    postings = Postings([tokens(*line) for line in lines], [0] * len(lines))
    for query in ([], [1], [1, UNKNOWN]):
        scores = postings.match([channel_of(query, len(lines))])
        assert scores.shape == (1, len(lines))
        assert scores.any() == (lines == [[1]] and 1 in query)
    assert postings.match([]).shape == (0, len(lines))
    postings.add(tokens(1, 1), 0)
    assert postings.match([channel_of([1], len(lines) + 1)])[0, -1] > 0


def test_neighbours_count_in_their_own_talk_only() -> None:
    postings = Postings([tokens(), tokens(1), tokens()], [0, 0, 1])
    before, here, after = postings.match([channel_of([1], 3)])[0].tolist()
    assert here > before > 0
    assert after == 0


def test_a_word_asked_and_answered_is_one_hit() -> None:
    once = Postings([tokens(1), *[tokens()] * 20], [0] * 21)
    twice = Postings([tokens(1), tokens(1), *[tokens()] * 19], [0] * 21)
    query = channel_of([1], 21)
    alone = once.match([query])[0, 0] / once.rarities(tokens(1))[0]
    both = twice.match([query])[0, 1] / twice.rarities(tokens(1))[0]
    assert alone < both < 1.2 * alone


def test_what_occurs_nowhere_is_the_most_telling() -> None:
    postings = Postings([tokens(1, 2), tokens(1)], [0, 0])
    common, rare, unknown = postings.rarities(tokens(1, 2, 3)).tolist()
    assert common < rare < unknown
    assert postings.rarities(tokens()).tolist() == []


def test_more_tokens_than_are_worked_on_at_once_add_up() -> None:
    size, many = 3_000, 2_000  # 1,333 tokens at once
    random = np.random.default_rng(0)
    lines = [random.integers(0, many, 10).astype(np.uint32) for _ in range(size)]
    postings = Postings(lines, [place // 50 for place in range(size)])
    half = many // 2
    asked = [range(many), range(half), range(half, many)]
    whole, first, second = postings.match([channel_of(query, size) for query in asked])
    np.testing.assert_allclose(whole, first + second, rtol=1e-4)


def crowded(lines: int, *, everywhere: int) -> Postings:
    """Return an index of lines apart from each other; token 0 is in so many of them, token 1 in the first."""
    built = [tokens(*[1] * (place == 0), *[0] * (place < everywhere)) for place in range(lines)]
    return Postings(built, range(lines))


def test_up_to_sixty_thousand_occurrences_are_looked_at() -> None:
    postings = crowded(60_000, everywhere=59_999)
    scores = postings.match([channel_of([0, 1], 60_000)])[0]
    assert scores[1] > 0


def test_beyond_them_the_most_frequent_tokens_are_left_out() -> None:
    postings = crowded(60_001, everywhere=60_000)
    scores = postings.match([channel_of([0, 1], 60_001)])[0]
    assert scores[0] > 0
    assert not scores[1:].any()


def test_a_query_of_one_frequent_token_alone_is_still_looked_for() -> None:
    postings = crowded(60_002, everywhere=60_001)
    scores = postings.match([channel_of([0], 60_002)])[0]
    assert (scores > 0).sum() == 60_001


def test_which_of_two_frequent_tokens_is_left_out_does_not_hang_on_their_order() -> None:
    postings = Postings([tokens(place // 31_000) for place in range(62_000)], range(62_000))
    orders = [channel_of(query, 62_000) for query in ([0, 1], [1, 0])]
    one, other = postings.match(orders)
    np.testing.assert_array_equal(one, other)
    assert (one > 0).sum() == 31_000


def test_neighbours_that_were_added_and_those_that_were_there_count_alike() -> None:
    postings = Postings([tokens(1), tokens(2)], [0, 0])
    postings.add(tokens(1, 1, 3), 0)
    postings.add(tokens(2), 1)
    store = Store([[1], [2], [1, 1, 3], [2]], [0, 0, 0, 1], channel_of([1, 2, 3], 4))
    assert_close(postings.match([store.channel])[0], store.by_formula())


@given(stores(), st.integers(0, 14), st.integers(0, 14))
def test_copies_grow_and_those_before_stay_as_they_were(
    store: Store, first: int, second: int
) -> None:
    first, second = sorted(min(cut, len(store.lines)) for cut in (first, second))
    early = store.cut(first).postings()
    late = early.copy()
    for place in range(first, second):
        late.add(tokens(*store.lines[place]), store.talks[place])
    last = late.copy()
    for place in range(second, len(store.lines)):
        last.add(tokens(*store.lines[place]), store.talks[place])
    for grown, size in ((early, first), (late, second), (last, len(store.lines))):
        whole = store.cut(size)
        expected = whole.postings().match([whole.channel])
        assert grown.size == size
        np.testing.assert_array_equal(grown.match([whole.channel]), expected)
