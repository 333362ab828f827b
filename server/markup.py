"""Takes out of a streamed reply what is neither shown nor spoken: thoughts, code, tool calls and tags; reads emotions."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final, TypeAlias

from server.emotions import Emotion, emotion_named

ReplyEvent: TypeAlias = str | Emotion
"""A piece of text (never empty), or an emotion that was set at this place."""

_Taken: TypeAlias = tuple[int, ReplyEvent | None]
"""How many characters something has, and what becomes of them: an emotion, None for nothing, "" if they are text."""

# Elements whose content is not meant for the listener either. All other elements lose only their tags.
_HIDDEN_ELEMENTS = (
    "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
    "|tool_calls?|tool_response|tool_result|tools?|function_calls?|functions?|invoke|script|style"
)
_HIDDEN = re.compile(rf"<(?P<name>{_HIDDEN_ELEMENTS})(?:[\s=][^<>]*)?(?<!/)>", re.IGNORECASE)

# A tag, and every beginning of one that a chunk border may leave behind. "a < b" and "I <3 you" are neither.
_ATTRIBUTE = r"[\w:.-]+\s*=\s*(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'<>]+)"
_TAG = re.compile(
    rf"</?[A-Za-z][\w:.-]*(?:=[^\s<>]*)?(?:\s+{_ATTRIBUTE})*\s*/?>|<[|｜][^<>\n]*>|<!--.*?-->",
    re.DOTALL,
)
_TAG_BEGINNING = re.compile(
    rf"<(?:/?(?:[A-Za-z][\w:.-]*(?:=[^\s<>]*)?(?:\s+{_ATTRIBUTE})*"
    r"(?:\s+(?:[\w:.-]+(?:\s*=\s*(?:\"[^\"\n]*|'[^'\n]*|[^\s\"'<>]*)?)?)?)?\s*/?)?|[|｜][^<>\n]*|!(?:-(?:-.*)?)?)",
    re.DOTALL,
)
_TAG_VALUE = re.compile(r"=\s*[\"']?([^\"'<>/]+)")
_TAG_NAME = re.compile(r"</?([\w:-]+)")

# [joy], [face: joy], [1], 【4:0†source】; at the head of a reply, where a persona's cue stands, blanks may be inside.
# Each pattern also matches every beginning of what it matches, so that it can judge a bracket that is still open.
_WORD_TAG = re.compile(r"(?:\w+: ?)?[\w:=/.,†^-]*")
_CUE = re.compile(r"[^\n。！？!?,、\[\]【】]*")
_ROUND_TAG = re.compile(r"[^\n(（)）]*")
_CITATION = re.compile(r"[\w:]*†\w*|[a-z_]+", re.ASCII)
_LONGEST_BRACKET = 32
_LONGEST_TAG = 200
_LONGEST_NAME = 64
_WORD = re.compile(r"[A-Za-z0-9]+\.?")
_LONGEST_HIDDEN_CALL = 8000
"""Longest JSON object or call that is waited for; a longer one is cut off here and the rest is taken for text."""
_LONGEST_BEGINNING = 200
"""How far the sign is looked for that tells JSON or a call from an ordinary bracket."""
_SLICE = 256
"""Longer text is read in slices: what is read is cut off its head, and must not copy all that follows each time."""

_CLOSERS: Final = {"(": ")", "（": "）", "[": "]", "【": "】"}
_NESTING: Final = {"{": "}", "[": "]", "(": ")"}
_JSON = re.compile(r"\{\s*[\"'}]|\[\s*(?:\{\s*[\"'}]|\")")
_JSON_BEGINNING = re.compile(r"\{\s*|\[\s*(?:\{\s*)?")
_CALL_ARGUMENTS = re.compile(r"\(\s*(?:[{\"')]|[A-Za-z_]\w*\s*=)", re.ASCII)
_CALL_ARGUMENTS_BEGINNING = re.compile(r"\(\s*(?:[A-Za-z_]\w{0,40}\s*)?", re.ASCII)

_CANDIDATE = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)|(?P<fence>```|~~~|(?:`{1,2}|~{1,2})\Z)"
    r"|(?P<angle><)|(?P<brace>\{)|(?P<square>\[)|(?P<lens>【)|(?P<round>[(（])"
)


class _NeedsMore(Exception):  # noqa: N818 - a state, and never seen outside
    """What the held text is can't be known before more of it has come."""


class ReplyReader:
    """Reads one streamed reply, chunk by chunk; any cutting into chunks gives the same result.

    Taken out are: `<think>…</think>` and its like, code fences, JSON, function calls such as ``set_led({"red": 255})``,
    tags in angle brackets, and tags in square brackets or 【】 – all of them at the head of a reply, further on only
    those that look like a tag, so that 【重要】 and ``[the docs](https://…)`` survive. Round brackets are a tag only around
    a known emotion: "(see p. 2)" survives.

    A block that is never closed hides everything after it: better an apology than a voice that reads thoughts or code.
    An ordinary bracket is held back for at most some 200 characters, text outside of brackets never longer than one word.
    """

    def __init__(self, *, at_head: bool = True) -> None:
        self._held = ""
        self._until: re.Pattern[str] | None = None
        self._nesting = _Nesting()
        self._at_head = at_head
        self._final = False

    def feed(self, text: str) -> list[ReplyEvent]:
        """Take the next chunk of the reply and return what is certain now."""
        slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
        return _joined(event for piece in slices for event in self._read(piece))

    def release_word(self) -> list[ReplyEvent]:
        """Return the word that is held back in case it is the name of a call. For when the reply stalls."""
        if self._until is not None or not _WORD.fullmatch(self._held):
            return []
        word, self._held = self._held, ""
        return list(self._say(word))

    def close(self) -> list[ReplyEvent]:
        """Return what was held back, once the reply has ended."""
        self._final = True
        return _joined(self._read())

    def _read(self, text: str = "") -> Iterator[ReplyEvent]:
        self._held += text
        while self._held:
            if self._until is not None and not self._skip_hidden(self._until):
                return
            candidate = _CANDIDATE.search(self._held)
            plain = self._held[: candidate.start()] if candidate else self._held
            yield from self._say(plain)
            self._held = self._held[len(plain) :]
            if candidate is None:
                return
            try:
                taken, event = self._take(str(candidate.lastgroup), candidate.group())
            except _NeedsMore:
                return
            if event == "":
                yield from self._say(self._held[:taken])
            elif event is not None:
                yield event
            self._held = self._held[taken:]

    def _say(self, text: str) -> Iterator[ReplyEvent]:
        self._at_head = self._at_head and not text.strip()
        if text:
            yield text

    def _skip_hidden(self, until: re.Pattern[str]) -> bool:
        """Drop text up to the end of the hidden block; return whether the end was found."""
        end = until.search(self._held)
        if end is None:
            self._held = "" if self._final else self._held[-_LONGEST_TAG:]
            return False
        self._held = self._held[end.end() :]
        self._until = None
        return True

    def _take(self, kind: str, found: str) -> _Taken:
        match kind:
            case "name":
                taken = self._take_name(found)
            case "fence":
                taken = self._take_fence(found)
            case "angle":
                taken = self._take_angle()
            case "brace":
                taken = self._take_json() or (1, "")
            case "square":
                taken = self._take_json() or self._take_square()
            case "lens":
                taken = self._take_enclosed(_CITATION)
            case _:
                taken = self._take_enclosed(None)
        return taken

    def _take_name(self, name: str) -> _Taken:
        """Take a function call; a name that nothing is called by is text."""
        if len(name) > _LONGEST_NAME:
            return _LONGEST_NAME, ""
        rest = self._held[len(name) :]
        if not rest:
            self._wait_unless_final()
        if rest == "." and not self._final:
            raise _NeedsMore
        if not rest.startswith("("):
            return len(name), ""
        if "_" not in name and not _CALL_ARGUMENTS.match(rest, 0, _LONGEST_BEGINNING):
            if len(rest) < _LONGEST_BEGINNING and _CALL_ARGUMENTS_BEGINNING.fullmatch(rest):
                self._wait_unless_final()
            return len(name), ""
        return len(name) + self._nested_length(rest), None

    def _take_fence(self, found: str) -> _Taken:
        if len(found) < 3:  # at the end of what has come: the rest of the fence may follow
            self._wait_unless_final()
            return len(found), ""
        self._until = re.compile(re.escape(found))
        return len(found), None

    def _take_json(self) -> _Taken | None:
        if _JSON.match(self._held, 0, _LONGEST_BEGINNING):
            return self._nested_length(self._held), None
        if len(self._held) < _LONGEST_BEGINNING and _JSON_BEGINNING.fullmatch(self._held):
            self._wait_unless_final()
        return None

    def _nested_length(self, text: str) -> int:
        """Return the length of the JSON or argument list that `text` begins with; all of it if it never ends."""
        end = self._nesting.find_end(text[:_LONGEST_HIDDEN_CALL])
        if end is None and len(text) < _LONGEST_HIDDEN_CALL:
            self._wait_unless_final()
        self._nesting = _Nesting()
        return end or min(len(text), _LONGEST_HIDDEN_CALL)

    def _take_angle(self) -> _Taken:
        tag = _TAG.match(self._held, 0, _LONGEST_TAG)
        if tag is None:
            if len(self._held) < _LONGEST_TAG and _TAG_BEGINNING.fullmatch(self._held):
                self._wait_unless_final()
            return 1, ""
        hidden = _HIDDEN.fullmatch(tag.group())
        if hidden:
            self._until = re.compile(rf"</{hidden['name']}\s*>", re.IGNORECASE)
            return tag.end(), None
        return tag.end(), _angle_emotion(tag.group())

    def _take_square(self) -> _Taken:
        taken, event = self._take_enclosed(_WORD_TAG)
        if event == "":
            return taken, event
        following = self._held[taken : taken + 1]
        if not following:
            self._wait_unless_final()
        return (1, "") if following == "(" else (taken, event)  # [label](address) is a link

    def _take_enclosed(self, unknown: re.Pattern[str] | None) -> _Taken:
        """Take a bracketed tag.

        Args:
            unknown: What the name of a tag looks like that is taken out although no emotion is known by it; None if
                there is no such tag in this kind of bracket.
        """
        opener = self._held[0]
        inside, closed, _ = self._held[1 : _LONGEST_BRACKET + 2].partition(_CLOSERS[opener])
        if len(inside) > _LONGEST_BRACKET or not self._tag_shape(unknown).fullmatch(inside):
            return 1, ""
        if not closed:
            self._wait_unless_final()
            return 1, ""
        event: ReplyEvent | None = emotion_named(inside)
        if event is None and (unknown is None or not inside.strip()):
            event = ""
        elif event is None and self._at_head:
            event = Emotion.NEUTRAL
        elif event is None and unknown is not None and not unknown.fullmatch(inside):
            event = ""
        return (1, "") if event == "" else (len(inside) + 2, event)

    def _tag_shape(self, unknown: re.Pattern[str] | None) -> re.Pattern[str]:
        """Return what the inside of a tag looks like at this place."""
        if unknown is None:
            return _ROUND_TAG
        return _CUE if self._at_head else _WORD_TAG

    def _wait_unless_final(self) -> None:
        if not self._final:
            raise _NeedsMore


def strip_markup(text: str) -> str:
    """Return a whole text, not taken for the head of a reply, without what `ReplyReader` takes out."""
    reader = ReplyReader(at_head=False)
    events = reader.feed(text) + reader.close()
    return "".join(event for event in events if not isinstance(event, Emotion))


def _joined(events: Iterator[ReplyEvent]) -> list[ReplyEvent]:
    """Join pieces of text that follow each other."""
    joined: list[ReplyEvent] = []
    for is_emotion, group in groupby(events, key=lambda event: isinstance(event, Emotion)):
        found = list(group)
        joined += found if is_emotion else ["".join(found)]
    return joined


class _Nesting:
    """Finds where a bracket is closed, outside of string literals, in a text that grows.

    It remembers how far it has come, so that no character is looked at twice.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._quote = ""
        self._is_escaped = False
        self._seen = 0

    def find_end(self, text: str) -> int | None:
        """Return where the bracket at the start of `text` is closed; None if it isn't yet.

        Args:
            text: The text of the last call, or a longer one that begins with it.
        """
        for character in text[self._seen :]:
            self._seen += 1
            if self._quote:
                self._read_literal(character)
            elif character == '"':
                self._quote = character
            elif character in _NESTING:
                self._open.append(_NESTING[character])
            elif self._open and character == self._open[-1]:
                self._open.pop()
                if not self._open:
                    return self._seen
        return None

    def _read_literal(self, character: str) -> None:
        if character == self._quote and not self._is_escaped:
            self._quote = ""
        self._is_escaped = character == "\\" and not self._is_escaped


def _angle_emotion(tag: str) -> Emotion | None:
    """Read <face name="joy"/>, <emotion=joy> and <joy>; a closing tag says nothing."""
    if tag.startswith("</"):
        return None
    values = [*_TAG_VALUE.findall(tag), *_TAG_NAME.findall(tag)]
    return next((emotion for value in values if (emotion := emotion_named(value))), None)
