"""Cuts running text into sentences while it is still being written, in Japanese, Chinese and English."""

import re
from collections.abc import Iterator
from typing import Final

from server.cutting import PHRASE, best_cut
from server.emotions import is_emoji
from server.punctuation import (
    BEFORE_NUMBER,
    CLAUSE_MARKS,
    CLOSERS,
    DOTTED,
    FULL_MARKS,
    HAN_OR_KANA,
    HIRAGANA,
    MARKS,
    MAY_END,
    NEVER_FIRST,
    PAIRS,
    STARTERS,
    TITLES,
    TWO_FACED,
)

_LONGEST_QUOTE = 60
"""A quote that is longer, or never closed, is split inside: it must not hold back the voice."""
_LONGEST_ADDRESS = 300
_LONGEST_RUN = 60
"""Marks, emoji or blanks in a row beyond which the rest is looked at as if it began anew: a run without an end must not be
walked over again with every character that is added to it."""
_SLICE = 256
"""Longer text is taken in slices, so that taking a piece off its head never copies all of it."""
_ADDRESS_STARTS: Final = ("https://", "http://", "www.")
_UNFINISHED_WORD = re.compile(r"(?:[A-Za-z0-9.]|\d[,:])\Z|\A\Z")


class _Undecided(Exception):  # noqa: N818 - a state, and never seen outside
    """The decision depends on text that has not come yet."""


class _Text:
    """Text of which more may come. Looking past its end is what makes a decision wait.

    All rules look at the text through `at`. So a cut that was found in a beginning of the text is found in every
    longer one, and streaming gives the same pieces as the whole text at once.
    """

    def __init__(self, text: str, *, final: bool) -> None:
        self.text = text
        self.final = final

    def at(self, index: int) -> str:
        """Return the character there, "" behind the end of the finished text."""
        if index < len(self.text):
            return self.text[index]
        if self.final:
            return ""
        raise _Undecided

    def after_blanks(self, index: int) -> int:
        """Return where the blanks at `index` end, within the line, or where they have become too many."""
        end = index + _LONGEST_RUN
        while index < end and self.at(index) != "\n" and self.at(index).isspace():
            index += 1
        return index


class SentenceSplitter:
    """Splits a stream of text; any cutting into chunks gives the same pieces.

    The pieces hold every character but blanks, in order. Signs without a letter or digit stay with a neighbour; they make a
    piece only at the very end, or where they fill `max_chars`. A sentence comes out with the first character behind it,
    because "！" may be followed by "？", "」" or an emoji, and "3." by "5".

    Args:
        max_chars: A longer stretch without a sentence's end is cut at the best place there is: behind a clause, at a
            blank, between Japanese phrases; never inside an English word or a number that is not longer itself.
        first_piece_chars: The first piece is already cut at a clause mark once it has so many characters, for an
            early start of the voice; 0 to never do that.
    """

    def __init__(self, *, max_chars: int = 120, first_piece_chars: int = 0) -> None:
        self._max_chars = max_chars
        self._first_piece_chars = first_piece_chars
        self._buffer = ""
        self._scanned = 0
        """How far the walk over the buffer has come: no later text can change what was decided up to there."""

    @property
    def in_progress(self) -> bool:
        """Whether text is held that belongs to the next piece."""
        return bool(self._buffer)

    def push(self, text: str) -> list[str]:
        """Take the next chunk and return the pieces that are certain now."""
        pieces: list[str] = []
        for start in range(0, len(text), _SLICE):
            self._buffer = (self._buffer + text[start : start + _SLICE]).lstrip()
            pieces += self._certain_pieces(final=False)
        return pieces

    def flush(self) -> list[str]:
        """Return all that is held: the text has ended."""
        pieces = list(self._certain_pieces(final=True))
        return pieces + self._take(len(self._buffer))

    def flush_sentences(self) -> list[str]:
        """Return what is held if it is a whole sentence, provided that nothing of what follows belongs to it."""
        held = self._buffer.rstrip()
        if re.search(r"\d\.\Z", held):
            return []  # may become 3.5
        with_next = _Text(held + " The", final=True)
        start = min(self._scanned, len(held))
        end = _Scan(with_next, len(with_next.text), 0, start).find_end()
        return self.flush() if end == len(held) else []

    def flush_words(self) -> list[str]:
        """Return what can be spoken of the text that is held, up to the last place between two words.

        For when the text stalls; the word at its end may not be complete.
        """
        pieces = self.flush_sentences()
        text = self._buffer
        cut = best_cut(text, range(len(text), 0, -1), at_least=PHRASE, best=PHRASE)
        if cut is None and not _UNFINISHED_WORD.search(text):
            cut = len(text)  # not sure to be a place between words, but there is no better one
        if cut is not None and _says_something(text[:cut]):
            pieces += self._take(cut)
        return pieces

    def _certain_pieces(self, *, final: bool) -> Iterator[str]:
        while self._buffer:
            text = _Text(self._buffer, final=final)
            scan = _Scan(text, self._max_chars, self._first_piece_chars, self._scanned)
            try:
                end = scan.find_end()
            except _Undecided:
                self._scanned = scan.here
                return
            if end is None:
                return
            yield from self._take(end)

    def _take(self, end: int) -> list[str]:
        piece, self._buffer = self._buffer[:end].strip(), self._buffer[end:].lstrip()
        self._scanned = 0
        if piece:
            self._first_piece_chars = 0
        return [piece] if piece else []


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)


def split(text: str, *, max_chars: int = 120) -> list[str]:
    """Split a whole text into sentences. See `SentenceSplitter`."""
    splitter = SentenceSplitter(max_chars=max_chars)
    return splitter.push(text) + splitter.flush()


class _Scan:
    """One walk over the text, from the start of a piece, or from where an earlier walk got stuck, to its end."""

    def __init__(self, text: _Text, max_chars: int, first_piece_chars: int, here: int) -> None:
        self._text = text
        self._max_chars = max_chars
        self._first_piece_chars = first_piece_chars
        self.here = here

    def find_end(self) -> int | None:
        """Return where the first piece of the text ends, None if the text ends first.

        Raises:
            _Undecided: More text must come first; the walk can go on from `here` then.
        """
        while character := self._text.at(self.here):
            if self.here >= self._max_chars:
                return self._forced_cut(self.here)
            if character == "\n" and _says_something(self._text.text[: self.here]):
                return self.here
            self.here, is_end = self._step(self.here, character)
            if is_end and _says_something(self._text.text[: self.here]):
                return self.here
        return None

    def _step(self, here: int, character: str) -> tuple[int, bool]:
        """Return where the thing at `here` ends, and whether the sentence may end with it."""
        if character in MARKS:
            return self._pass_marks(here)
        if character in PAIRS and self._opens(here, character):
            return self._pass_pair(here)
        if character in "hHwW":
            return self._pass_address(here), False
        return here + 1, self._ends_first_piece(here, character)

    def _ends_first_piece(self, here: int, character: str) -> bool:
        if not 0 < self._first_piece_chars <= here + 1 or character not in CLAUSE_MARKS:
            return False
        return character not in ",;:" or self._text.at(here + 1).isspace()

    def _pass_address(self, here: int) -> int:
        beginning = self._address_beginning(here)
        if not beginning:
            return here + 1
        end = here + beginning
        while end - here < _LONGEST_ADDRESS and self._is_in_address(self._text.at(end)):
            end += 1
        while self._text.text[end - 1] in ".,!?:;'":
            end -= 1
        return end

    def _address_beginning(self, here: int) -> int:
        """Return the length of the "https://" or "www." at `here`, 0 if there is none."""
        for start in _ADDRESS_STARTS:
            length = 0
            while length < len(start) and self._text.at(here + length).lower() == start[length]:
                length += 1
            if length == len(start):
                return length
        return 0

    @staticmethod
    def _is_in_address(character: str) -> bool:
        return (
            character.isascii()
            and character.isprintable()
            and character not in ' <>"()'
            and character != ""
        )

    def _opens(self, here: int, character: str) -> bool:
        if character != '"' or here == 0:
            return True
        before = self._text.text[here - 1]
        return before.isspace() or before in PAIRS or HAN_OR_KANA.match(before) is not None

    def _pass_pair(self, here: int) -> tuple[int, bool]:
        """Pass a quote or bracket as a whole, if it is closed soon."""
        close = self._find_closer(here)
        if close is None:
            return here + 1, False
        inner_end = close - 1
        while self._text.text[inner_end] in CLOSERS:
            inner_end -= 1
        if self._text.text[inner_end] not in MARKS:
            return close + 1, False
        end = self._pass_company(close + 1)
        following = self._text.after_blanks(end)
        return end, self._follows_quote(self._text.at(following), following > end, begins=here == 0)

    def _find_closer(self, here: int) -> int | None:
        wanted = [PAIRS[self._text.at(here)]]
        for index in range(here + 1, here + _LONGEST_QUOTE):
            character = self._text.at(index)
            if character in ("", "\n"):
                return None
            if character == wanted[-1]:
                wanted.pop()
                if not wanted:
                    return index
            elif character in PAIRS and character != '"':
                wanted.append(PAIRS[character])
        return None

    def _follows_quote(self, character: str, blank: bool, *, begins: bool) -> bool:
        """Say whether `character` behind a quoted sentence begins a new one.

        「え、本当？」と is one sentence with what follows, 「はい。」次は is not, nor is "Ok." Then.
        """
        if character in ("", "\n"):
            return True
        if character in MARKS + CLOSERS + NEVER_FIRST or HIRAGANA.match(character):
            return False
        if blank:
            return not character.islower()
        return begins and (HAN_OR_KANA.match(character) is not None or character in PAIRS)

    def _pass_company(self, here: int) -> int:
        """Pass everything that stays with the mark before it: more marks, closers, emoji."""
        end = here + _LONGEST_RUN
        while here < end:
            if self._keeps_company(here):
                here += 1
                continue
            following = self._text.after_blanks(here)
            if following == here or not self._joins_over_blank(self._text.at(following)):
                return here
            here = following
        return here

    def _keeps_company(self, here: int) -> bool:
        character = self._text.at(here)
        if character == "":
            return False
        if character in TWO_FACED:
            following = self._text.at(here + 1)
            return (
                following == "" or following.isspace() or following in MARKS + CLOSERS + TWO_FACED
            )
        return character in MARKS or character in CLOSERS or is_emoji(character)

    @staticmethod
    def _joins_over_blank(character: str) -> bool:
        if character == "":
            return False
        return character in FULL_MARKS or character in "!?)" or is_emoji(character)

    def _pass_marks(self, here: int) -> tuple[int, bool]:
        end = self._pass_company(here)
        following = self._text.after_blanks(end)
        character = self._text.at(following)
        if character in ("", "\n"):
            return end, True
        if character in NEVER_FIRST:
            return end, False
        run = self._text.text[here:end].rstrip(CLOSERS + TWO_FACED)
        blank = following > end
        if run in (".", "．"):
            return end, self._full_stop_ends(here, following, blank=blank)
        if not blank and character.isascii() and (character.isalnum() or character in "=/&@_-"):
            # "wait…what" and "a!b" go on, but a full-width mark ends the sentence even there.
            return end, run[-1] in "。｡！？"
        goes_on = set(run) <= set(".…‥") and character.islower()
        return end, not goes_on

    def _full_stop_ends(self, stop: int, following: int, *, blank: bool) -> bool:
        """Say whether the single "." at `stop` ends a sentence; `following` is the next thing on the line."""
        character = self._text.at(following)
        if not blank and not HAN_OR_KANA.match(character) and character not in PAIRS:
            return False  # 3.5, e.g., Node.js
        start = stop
        while (
            start
            and not self._text.text[start - 1].isspace()
            and self._text.text[start - 1] not in PAIRS
        ):
            start -= 1
        word = self._text.text[start:stop]
        if word.isdecimal() and self._numbers_an_item(start, word):
            return False
        name = word.casefold().lstrip("\"'*_`")
        if name in TITLES:
            return False
        if name in BEFORE_NUMBER:
            return not character.isdecimal()
        initial = len(word) == 1 and word.isupper() and word != "I"
        if initial or name in MAY_END or DOTTED.fullmatch(name):
            return self._starts_after_abbreviation(following, name)
        return not character.islower() or (len(name) >= 4 and name.isalpha())

    def _numbers_an_item(self, start: int, word: str) -> bool:
        before = self._text.text[:start].rstrip()
        return len(word) <= 3 and (not any(map(str.isalnum, before)) or before[-1] in ":：")

    def _starts_after_abbreviation(self, following: int, name: str) -> bool:
        character = self._text.at(following)
        if not character.isalpha() or HAN_OR_KANA.match(character):
            return not character.isdecimal()
        if character.islower():
            return False
        if name in ("a.m", "p.m", "etc", "al"):
            return True
        end = following
        while end - following < 12 and (self._text.at(end).isalpha() or self._text.at(end) == "'"):
            end += 1
        return self._text.text[following:end] in STARTERS

    def _forced_cut(self, here: int) -> int:
        """Return the best place to cut a piece that has become too long; the scan stands at `here`."""
        window = self._text.text[: self._max_chars + 1]
        spoken = next((i for i, character in enumerate(window) if character.isalnum()), 0)
        middle = max(spoken, self._max_chars // 3)
        late, early = range(self._max_chars, middle, -1), range(middle, spoken, -1)
        cut = best_cut(window, late) or best_cut(window, early)
        return cut or here  # one single word: an address, or no text at all
