"""Turns written reply text into text that a voice can read, and into plain text for a display."""

import html
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from server.emotions import EMOJI
from server.markup import strip_markup
from server.readings import apply_readings, write_out

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uff66-\uff9f"
_HORIZONTAL_RULE = re.compile(r"^[ \t]*(?:[-*_=][ \t]*){3,}$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|[ \t|:-]*-[ \t|:-]*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|(?P<cells>.*?)\|?[ \t]*$", re.MULTILINE)

_MARKDOWN: Final = (
    (re.compile(r"\\(?=[\\`*_{}\[\]()#+.!<>|~-])"), ""),
    (re.compile(r"^[ \t]*(?:>[ \t]*)+", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE), r"\1"),
    (re.compile(r"^[ \t]*(?:[-*+•‣◦●○■□◆◇▶・][ \t]+|[•・](?=\w))", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*\[[ xX]\][ \t]+", re.MULTILINE), ""),
    (re.compile(r"\[\^[\w-]+\]:?"), ""),
    # A link or an image; the address may hold one pair of brackets, and a title may follow it.
    (re.compile(r"!?\[([^\[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)"), r"\1"),
    (re.compile(r"!?\[([^\[\]\n]+)\]\[[^\[\]\n]*\]"), r"\1"),
    (re.compile(r"(`+)([^`\n]+)\1"), r"\2"),
    (re.compile(r"~~(.+?)~~"), r"\1"),
    # Emphasis may have been cut in two, so its marks need no partner; a lone "*" between blanks or digits is a sign.
    (re.compile(r"\*{2,}|(?<=[^\s\d])\*|\*(?=[^\s\d])"), ""),
    (re.compile(r"(?<!\w)(_{1,3})(?=\w)(.+?)(?<=\w)\1(?!\w)"), r"\2"),
)
_NUMBERING = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]+(?=\S)", re.MULTILINE)
_URL = re.compile(
    r"<?\b(?:https?://|www\.)(?P<host>[\w.-]*\w)(?P<rest>[!#-'*-;=?-~]*)>?",
    re.ASCII,
)

# A kaomoji is a bracket around signs without a word, with arms on either side, or one of the plain ones.
_KAOMOJI = re.compile(
    r"(?:(?<![A-Za-z])[mｍo]|[ヽヾ＼\\┐ლʕ٩]){0,2}[(（ʕ](?P<face>[^()（）\n]{2,12})[)）ʔ](?:[mｍovb](?![A-Za-z])|[ﾉノ/／و┌!]){0,2}"
    r"|(?<![\w^])\^[_.o-]?\^;?(?![\w^])|(?<!\w)(?:[;:=]-?[)(DPp|]|[T>][_.][T<]|xD|XD|orz)(?!\w)"
)
_FACE = re.compile(
    r"[\^＾_´`｀≧≦∇▽￣ﾟ゜∀дДωᴥツ◕‿ಠ•・><；;].*[\^＾_´`｀≧≦∇▽￣ﾟ゜∀дДωᴥツ◕‿ಠ•・><；;]|([oOxXTQuU])_\1"
)
_WORD_IN_FACE = re.compile(rf"[A-Za-z0-9{_CJK}]{{2}}")

_KEYCAP = re.compile(r"(?<=[0-9])\ufe0f?\u20e3")
_EMOJI_RUN = re.compile(f"{EMOJI}+")
_STRAY_SIGNS = re.compile(
    r"(?<!\w)_+|_+(?!\w)|(?<!\d)\s?\*+|\*+(?!\s?\d)|[|~^\\`]+|(?<![A-Za-z])#+(?!\d)"
)
_FULL_WIDTH_IN_NUMBER = re.compile(r"(?<=\d)[：／．，－～](?=\d)|(?<=\d)％")
# Symbols that the rules for amounts or the engines themselves can read.
_READABLE_SYMBOLS: Final = "°+<=>~|^`$¥€£×÷±−⁄§©™≈≠"


def speakable(text: str, language: str, readings: Mapping[str, str] | None = None) -> str:
    """Return how a voice should read `text`; "" if there is nothing to say in it.

    Thoughts, code, tool calls, tags, Markdown, emoji and kaomoji are left out, an address shrinks to its host name, dates
    and amounts are written out. The result holds no markup of any kind, but plain characters such as "&" and "<" are
    not escaped: that is the business of an engine that wants XML.

    Args:
        text: Text as a language model or a person wrote it.
        language: Two-letter code of the voice's language.
        readings: Written form to the way to read it, e.g. ``{"日本橋": "にほんばし"}``.
    """
    return voice_text(plain_text(strip_markup(text)), language, readings)


def plain_text(text: str) -> str:
    """Return `text` without Markdown, for a display: labels of links, cells of tables, emoji and numbering stay."""
    text = _without_invisible(html.unescape(text))
    text = _TABLE_RULE.sub("", _HORIZONTAL_RULE.sub("", text))
    text = _TABLE_ROW.sub(_read_row, text)
    for pattern, replacement in _MARKDOWN:
        text = pattern.sub(replacement, text)
    return _without_blanks(text)


def voice_text(text: str, language: str, readings: Mapping[str, str] | None = None) -> str:
    """Return how a voice should read what `plain_text` returned; "" if there is nothing to say in it."""
    text = _URL.sub(_name_host, _NUMBERING.sub("", text))
    text = _EMOJI_RUN.sub(_blank_for, _KAOMOJI.sub(_drop_face, _KEYCAP.sub("", text)))
    text = "".join(map(_plain_character, text))
    text = _FULL_WIDTH_IN_NUMBER.sub(lambda sign: unicodedata.normalize("NFKC", sign[0]), text)
    text = write_out(apply_readings(text, readings or {}), language)
    text = _STRAY_SIGNS.sub("", text)
    text = re.sub(r"(?<=\w)\n", ", " if language == "en" else "、", text).replace("\n", " ")
    text = _without_blanks(text).lstrip("、，,。.;；:：!?！？)）」』 ")
    return text if any(character.isalnum() for character in text) else ""


def _without_invisible(text: str) -> str:
    """Drop control, zero-width and broken characters; joiners inside emoji stay."""
    return "".join(
        character
        for character in text
        if character in "\n\t\u200d" or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
    )


def _without_blanks(text: str) -> str:
    """Join blanks, and drop those beside a full-width mark."""
    text = re.sub(r"[^\S\n]+", " ", text)
    text = re.sub(r" ?\n\s*", "\n", text)
    return re.sub(r" (?=[、。，！？」』）])|(?<=[、。，！？「『（]) ", "", text).strip()


def _read_row(row: re.Match[str]) -> str:
    cells = [cell.strip() for cell in row["cells"].split("|") if cell.strip()]
    return ("、" if re.search(f"[{_CJK}]", row["cells"]) else ", ").join(cells)


def _name_host(url: re.Match[str]) -> str:
    host = url["host"].removeprefix("www.")
    tail = re.search(r"[.,;:!?]*\Z", url["rest"])
    return host + (tail[0] if tail else "")


def _drop_face(match: re.Match[str]) -> str:
    face = match["face"]
    if face is not None and (not _FACE.search(face) or _WORD_IN_FACE.search(face)):
        return match.group()
    return _blank_for(match)


def _blank_for(removed: re.Match[str]) -> str:
    """Return what takes the place of a removed picture: nothing where words are written without blanks."""
    around = (
        removed.string[removed.start() - 1 : removed.start()] + removed.string[removed.end() :][:1]
    )
    return "" if re.fullmatch(f"[{_CJK}]{{2}}", around) else " "


def _plain_character(character: str) -> str:
    """Return the plain form of ㎏, ½, ｱ or Ａ, and a blank for a symbol that no voice can read."""
    category = unicodedata.category(character)
    if character in _READABLE_SYMBOLS or category[0] in "PZ" or character == "\n":
        return character
    plain = unicodedata.normalize("NFKC", character)
    if category[0] == "S" and plain == character:
        return " "
    return plain if plain.strip() else character
