"""Cuts off what is asked or bid behind a statement in the same sentence: "My knee hurts, what can I do?"."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

from server.memory import lexicon
from server.memory.temporal.number_words import alternatives
from server.memory.terms import words_of

_JOINS = {"から", "ので", "けど", "けれど", "けれども", "けども", "が"}
_GIVES_REASON = {"から", "ので"}
# "I'd like to ask something, …" and "about my daughter's birthday, …" only lead to a question.
_LEADS_TO_ASKING = re.compile(
    r"(?:聞き|訊き|教え|お願い|相談|質問|知り|頼み|尋ね)|^(?:悪い|すま|すみません|申し訳|恐れ入り|失礼|ちょっと)|(?:の|って)(?:こと|件|話)(?:な|だ|です|$)|(?:たい|[にて]来た|にきた)(?:ん|の)?(?:だ|や|です)?$"
)
_FOR_NOW = re.compile(
    r"(?:暗い|明るい|寒い|暑い|眠い|うるさい|まぶしい|眩しい|静か|見えない|聞こえない|出かける|寝る)(?:です|んだ|ん)?$"
)
_IS_SOMETHING = re.compile(r"[一-龯ァ-ヶー](?:なん)?(?:だ|です)?$")
_ENDS_TIME = {"の", "な", "だ", "です"}
_CUT_EN = re.compile(
    r"(?:,|;|\s[-–—]|—)\s*(?=(?:(?:so|and|but)\s)?(?:who|what|when|where|which|why|how|do|does|did|is|are|can|could|will|would|should|shall"
    r"|please|remind|tell|wake|set|turn|play|call|show|give|help|find)\b)|\s(?=(?:so|and)\s(?:please|remind|wake|tell\ me|what|how|can\ you|could\ you)\b)",
    re.IGNORECASE,
)
_BIDS_ME_EN = re.compile(
    r"^(?:please\b|(?:remind|wake|tell|call|give|show|help)\ me\b|(?:can|could|will|would)\ you\b)",
    re.IGNORECASE,
)
_REGULAR_EN = (
    "hurts", "aches", "itches", "lives", "works", "wants", "needs", "likes",
    "loves", "hates", "starts", "turns", "plays", "arrives", "visits",
)  # fmt: skip
"""What people tell of themselves with regular verbs; those in -ed are known by their ending."""
_TAG_EN = re.compile(r"^\w+(?:n't)?\ (?:i|you|we|they|he|she|it|there)\W*$", re.IGNORECASE)
_NO_CLAUSE_EN = re.compile(
    r"^\W*(?:if|when|once|after|before|as|since|because|unless|while|until|whenever|about|suppose|say|on|in|at|for|with)\b|\bi(?:\ just)?\ (?:told|asked)\ you\b|\bi(?:'d)?\ (?:want|need|like)\ to\b|\bi'm\ (?:at|just)\b|\bthere's\ something\b|^\W*(?:um\W+)?(?:the|that)\ \w+\ (?:i|we|he|she|they)\b",
    re.IGNORECASE,
)
_PREDICATE_ZH = re.compile(r"[是有在要会去来了过叫住病婚得做吃买学疼痛敏怕爱养搬]")
_NO_CLAUSE_ZH = re.compile(r"^(?:如果|要是|假如|请问|你|当|等)|的[\u4e00-\u9fff]{1,4}$")


def parts(sentence: str, language: str, asks: Callable[[str], bool]) -> list[str]:
    """Cut a sentence in two where it tells something and then asks or bids; else return it whole.

    Args:
        sentence: One sentence.
        language: Two-letter code of it.
        asks: Says whether a text is a question or an order.
    """
    is_asking = asks(sentence)
    cuts = {"ja": _cuts_ja, "zh": _cuts_zh}.get(language, _cuts_en)
    for head, tail in cuts(sentence):
        if not asks(head) and ((is_asking and asks(tail)) or _BIDS_ME_EN.match(tail)):
            return [head, tail]
    return [sentence]


def _cuts_en(sentence: str) -> Iterator[tuple[str, str]]:
    for cut in _CUT_EN.finditer(sentence):
        head, tail = sentence[: cut.start()].strip(), sentence[cut.end() :].strip()
        tail = re.sub(r"^(?:so|and|but)\s", "", tail, flags=re.IGNORECASE)
        has_verb = _finite().search(head) is not None
        if has_verb and not _NO_CLAUSE_EN.search(head) and not _TAG_EN.match(tail):
            yield head, tail


def _cuts_zh(sentence: str) -> Iterator[tuple[str, str]]:
    for cut in re.finditer("[，,]", sentence):
        head = sentence[: cut.start()].strip()
        if _PREDICATE_ZH.search(head) and not _NO_CLAUSE_ZH.search(head):
            yield head, sentence[cut.end() :].strip()


def _cuts_ja(sentence: str) -> Iterator[tuple[str, str]]:
    words = words_of(sentence)
    for word, following in pairwise(words):
        join, end = word.surface(), word.end()
        if join == "の" and following.surface() == "で":
            join, end = "ので", following.end()
        elif join not in _JOINS or word.part_of_speech()[1] != "接続助詞":
            continue
        head = re.sub("な$", "", sentence[: word.begin()]).lstrip("、 ")
        if _stands_ja(head, gives_reason=join in _GIVES_REASON):
            yield head, sentence[end:].lstrip("も、, ")


def _stands_ja(head: str, *, gives_reason: bool) -> bool:
    """Say whether a clause says of whom or when, not only that it is cold, or what will be asked about."""
    if _LEADS_TO_ASKING.search(head) or _FOR_NOW.search(head):
        return False
    words = words_of(head)
    particles = {word.surface() for word in words if word.part_of_speech()[0] == "助詞"}
    if particles & {"は", "が"} or (not gives_reason and particles & {"に", "で", "を", "と"}):
        return True
    if gives_reason and _IS_SOMETHING.search(head):
        return True
    return any(
        word.part_of_speech()[2] == "副詞可能" and following.surface() not in _ENDS_TIME
        for word, following in pairwise(words)
    )


@cache
def _finite() -> re.Pattern[str]:
    """Return a pattern of English words that make a clause of a few words: "hurts", "is", "moved"."""
    irregular = lexicon.irregular_verbs()
    third = [f"{verb}s" for verb in {*irregular.values()}]
    words = alternatives(dict.fromkeys([*irregular, *third, *_REGULAR_EN]))
    return re.compile(
        rf"\b(?:am|is|are|was|were|has|have|had|will|can|can't|won't|\w{{2,}}ed)\b|\b(?:i|we|he|she|they|it)(?:'\w+|\s\w+)|\s{words}\b",
        re.IGNORECASE,
    )
