"""Reading a reply costs as much for each character at its end as at its beginning, whatever a model writes.

Counted in calls, never in time. What a single call looks at is bounded by what is held back, which is counted, too.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.markup import ReplyReader
from server.splitter import SentenceSplitter

LENGTHS = (1_000, 2_000)
MOST_HELD = 10_000
RUNS = [
    *"！!。.…😀「」【[(（{<`~\"'*_aあ1 \n-|、,",
    *(
        "。😀",
        "あ。",
        "[joy]",
        '{"a":',
        '{"a":"b',
        "f_x(",
        "f(",
        "a_",
        "a.",
        "<a ",
        "<think>x",
        "```",
    ),
    *("1.", "Dr. ", "http://", "「。」", "” ", "e.g. ", ". ", "！ ", "[[{", "(^_^", "あ\u0301"),
]
BEGINNINGS = [
    "",
    "あ",
    "あ。",
    "a",
    '{"a":"',
    "{ ",
    "f_x(",
    "f( ",
    "<a ",
    "「",
    "a.“",
    "http://",
    "[1",
]


@contextmanager
def profiled(look: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


def count_calls(work: Callable[[], object]) -> int:
    """Return how many calls of functions, of Python and of C, `work` makes."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    with profiled(count):
        work()
    return calls


def most_held(text: str, piece: int) -> int:
    """Return how many characters reader or splitter hold at most when they take something off the head of them."""
    most = 0

    def look(frame: FrameType, event: str, argument: object) -> None:
        nonlocal most
        if event == "call" and frame.f_code.co_name == "_take":
            taker = frame.f_locals["self"]
            held = taker._held if isinstance(taker, ReplyReader) else taker._buffer
            most = max(most, len(held))

    with profiled(look):
        read_and_split(text, piece)
    return most


def read_and_split(text: str, piece: int) -> None:
    """Send a text through reader and splitter in pieces."""
    reader, splitter = ReplyReader(), SentenceSplitter()
    for start in range(0, len(text), piece):
        for event in reader.feed(text[start : start + piece]):
            splitter.push(event)
    for event in reader.close():
        splitter.push(event)
    splitter.flush()


def calls_by_length(beginning: str, run: str, piece: int) -> list[int]:
    texts = [beginning + run * (length // len(run)) for length in LENGTHS]
    return [count_calls(partial(read_and_split, text, piece)) for text in texts]


@pytest.mark.parametrize("piece", [1, 1_000_000], ids=["by character", "at once"])
@pytest.mark.parametrize("run", RUNS, ids=ascii)
def test_twice_as_long_a_run_costs_no_more_than_twice_as_much(run: str, piece: int) -> None:
    short, long = calls_by_length("あ", run, piece)
    assert long <= 2.2 * short


@settings(max_examples=25)
@given(st.sampled_from(BEGINNINGS), st.lists(st.sampled_from(RUNS), min_size=1, max_size=3))
def test_twice_as_long_a_mixture_costs_no_more_than_twice_as_much(
    beginning: str, parts: list[str]
) -> None:
    short, long = calls_by_length(beginning, "".join(parts), 7)
    assert long <= 2.2 * short


@pytest.mark.parametrize("run", [" ", "x"], ids=ascii)
@pytest.mark.parametrize("beginning", BEGINNINGS, ids=ascii)
@pytest.mark.parametrize("piece", [500, 1_000_000], ids=["in pieces", "at once"])
def test_whatever_comes_little_is_held_at_any_moment(beginning: str, run: str, piece: int) -> None:
    assert most_held(beginning + run * (12_000 // len(run)), piece) < MOST_HELD
