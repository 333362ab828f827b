"""Tells remarks from questions: "it's a nice day today" tells of a day, and asks nothing of it.

"My plans for Saturday" and 明日の予定 ask, though nothing in them is the form of a question. So only what plainly declares is a
remark, and with the day alone ("明日空いてる") it stays open.
"""

import re

from server.memory.answer_types import wanted_types
from server.memory.asking import Asking
from server.memory.claims.english_subjects import read_subject
from server.memory.claims.english_verbs import is_verb_like
from server.memory.claims.english_words import WORD
from server.memory.statements import is_question, is_statement
from server.memory.terms import read_as, words_of
from server.memory.ties import is_of_the_world

_POLITE_JA = re.compile(
    r"(?:です|ます|ました|でした|ません|ませんでした|ましょう)[よわ]*[。.!！]*$"
    r"|(?:[うくすつぬむるいただ])(?:[よわぞぜ]|なあ|なぁ|んだ|んです|もん)[。.!！]*$"
)
_REMINDS_JA = re.compile(r"覚え|言っ(?:た|て)|話し?た|っけ|教え|たいん|願い|ねがい|か(?:い|の)?な")
_AGREES_JA = re.compile(r"[ねなぁー〜]+[。.!！]*$")
_ADJECTIVES_JA = {"形容詞", "形状詞"}
_AUXILIARIES_JA = {"です", "だ"}
_MORE = re.compile(r"[,.;:、。，；](?=.*\w)")
"""Behind it may follow what the rest is told for: "I'm off on Friday, anything on"."""
_HEDGED_EN = re.compile(
    r"\b(?:i (?:think|guess|believe|suppose|reckon|forgot)|not sure|wants?|going to)\b",
    re.IGNORECASE,
)
_ASIDE_EN = re.compile(r"^\W*(?:(?:oh|well|so|ah|wow|and|but|hey)\W+)*", re.IGNORECASE)
_PRONOUN_EN = re.compile(
    r"(?:i|we|it|he|she|they|there|this|that)(?:'(?:s|m|re|ve|ll|d))\b", re.IGNORECASE
)
_OF_THE_DAY_EN = re.compile(
    r"\W*(?:it(?:'s|\ is|\ was)\ (?:[\w-]+\ ){0,4}(?:day|morning|afternoon|evening|night|weather|weekend|outside|out)\b|it\ (?:rained|snowed|rains|snows)\b)",
    re.IGNORECASE,
)
_PRONOUNS_EN = {"i", "we", "it"}
_TAG_EN = re.compile(
    r"(?:n't|\bnot|\bright|\bare|\bis|\bdo|\bdid) ?(?:i|we|it|he|she|they|there)?\W*$",
    re.IGNORECASE,
)
_NOUN_ENDS_ZH = re.compile(r"(?:计划|安排|事情?|日程|行程|的|呢)[。.!！]*$")


def is_remark(text: str, language: str, asking: Asking) -> bool:
    """Say whether a query plainly declares something, and asks nothing.

    Args:
        text: Normalized.
        language: Two-letter code; the script wins where it disagrees.
        asking: The signs in it.
    """
    code = read_as(text, language)
    if is_question(text) or asking.tell or asking.orders or wanted_types(text, code):
        return False
    if code == "ja":
        return _declares_ja(text)
    if asking.asks or asking.recalls:
        return False
    if not (is_statement(text, code) or is_of_the_world(text) or _OF_THE_DAY_EN.match(text)):
        return False
    return _NOUN_ENDS_ZH.search(text) is None if code == "zh" else _declares_en(text)


def _declares_ja(text: str) -> bool:
    """Say whether a sentence ends as statements do; "it's hot, isn't it" is one, 明日だよね asks."""
    if _REMINDS_JA.search(text):
        return False
    if _POLITE_JA.search(text):
        return True
    agreed = None if _MORE.search(text) else _AGREES_JA.search(text)
    if agreed is None:
        return False
    words = [word for word in words_of(text[: agreed.start()]) if word.surface().strip()]
    while words and words[-1].surface() in _AUXILIARIES_JA:
        words.pop()
    return bool(words) and words[-1].part_of_speech()[0] in _ADJECTIVES_JA


def _declares_en(text: str) -> bool:
    """Say whether a sentence has a subject and a verb behind it: "my plans for Saturday" has none."""
    told = _ASIDE_EN.sub("", text)
    if _TAG_EN.search(told) or _HEDGED_EN.search(told) or _MORE.search(told):
        return False
    words = WORD.findall(told)
    subject = read_subject(words)
    if _PRONOUN_EN.match(told):
        return True
    return 0 < subject.end < len(words) and (
        is_verb_like(words[subject.end].lower()) or words[0].lower() in _PRONOUNS_EN
    )
