"""Reads letters that only look like others as what they look like: "Yоur nаme" with Cyrillic letters, "Ｎａｍｅ", "Na\u200bme" with a sign in it that is not seen."""

import re
import unicodedata

_LOOK_LIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТѴХУаеѕіјкмнорстѵхуԁһԛԝӏгпвь"
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχγωѡ"
    "ІіЇїЁёОоՕօՍսոհցᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢɑɡɩ",
    "ABESIJKMHOPCTVXYaesijkmhopctvxydhqwlrnbb"
    "ABEZHIKMNOPTYXaeikvoptuxyww"
    "IiIiEeOoOoUunhgABCDEGHIJKLMNOPRTUVWYZagi",
)
"""Letters of other scripts by the Latin ones that they look like."""
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_UNSEEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    r"\U000e0000-\U000e0fff"
)
_UNSEEN_SIGNS = re.compile(f"[{_UNSEEN}]")
_READ = r"A-Za-z\u3040-\u30ff\u3400-\u9fff"
_UNSEEN_IN_WORDS = re.compile(f"(?<=[{_READ}])[{_UNSEEN}]+(?=[{_READ}])")


def in_plain_letters(text: str) -> str:
    """Return a text with plain letters in the words that mix Latin ones with others that look like them.

    A word that is wholly of another script stays: it is somebody's language. So do signs of which a picture is made.
    """
    joined = _UNSEEN_IN_WORDS.sub("", text)
    if joined.isascii():
        return joined
    return _WORD.sub(lambda word: _plain(word[0]), "".join(map(_ascii, joined)))


def as_it_looks(text: str) -> str:
    """Return a text as an eye reads it, for comparison alone: with plain letters all over, without accents and unseen signs."""
    plain = _UNSEEN_SIGNS.sub("", unicodedata.normalize("NFKC", text)).translate(_LOOK_LIKE)
    apart = (
        letter
        for sign in plain
        for letter in (unicodedata.normalize("NFD", sign) if sign < "\u0250" else sign)
    )
    return "".join(sign for sign in apart if not "\u0300" <= sign <= "\u036f")


def letters_of(text: str) -> str:
    """Return the letters and digits of a text alone, small and of one width: for comparison with words spelt in any way."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _ascii(sign: str) -> str:
    """Return the letter that a sign is a form of: of full width, in a circle, of a formula."""
    if sign.isascii():
        return sign
    plain = unicodedata.normalize("NFKC", sign)
    return plain if _LATIN.fullmatch(plain) else sign


def _plain(word: str) -> str:
    read = word.translate(_LOOK_LIKE)
    return read if _LATIN.search(word) and read.isascii() else word
