"""Reads the claims of Chinese sentences."""

import re
from dataclasses import replace
from functools import cache

from server.memory import lexicon
from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER, Claim, Sense

_CUT = re.compile(
    r"[，。,；;！!：]\s*|(?=但是|可是|不过(?!敏)|而且|因为|所以)|(?<=[\u3400-\u9fff])(?=但(?!是))"
)
_SELF = re.compile(r"^(?:(我|咱)|你)(?:们|自己)?")
_OWNED = re.compile(r"^家?(?:养)?的?|^的?家?的?")
_SOMEBODY = re.compile(r"^(?:他|她)(?!们)")
_LEADING = re.compile(
    r"^(?:但是?|可是|不过|而且|因为|所以|然后|还有|其实|现在|以前|曾经|平时|最近|那么|对了|也|嗯|哦)+"
)
_NO_NEGATION = re.compile(
    r"不错|不过(?!敏)|不但|不仅|不久|差不多|不好意思|没问题|不同|不管|不断|不得不|不只|对不起|了不起|没想到|忘不了|不然|无论|只不过"
)
_NEGATION = re.compile(r"不|没|未|无(?=[法需])|别(?!人|的)")
_DENIES = re.compile(r"戒(?:了|烟|酒|掉)|停止|取消|讨厌|恨")
"""Verbs that deny what they are said of."""
_WISHED = re.compile(
    r"想(?!起|到|念|法)|希望|考虑|犹豫|梦想|差点|应该|愿意|纠结|盼|也许|可能"
    r"|梦[见到]|做(?:了)?[一个场]*(?:噩|恶|怪)?梦|(?:小说|故事|剧本|话剧|漫画|梦|电影|游戏)(?:里|中)(?![最面])"
    r"|[写编][^，。]*的(?:小说|故事|剧本|话剧)|^(?:在)?(?:故事|小说|剧本|梦)?里面?(?=[我他她])"
)
"""What is wished for, dreamt or made up."""
_AHEAD = re.compile(
    r"(?<![重主需首摘只])要(?!求|素|点|是)|(?<![开约聚集晚机社])会(?!议|面|员|话|说)|打算|准备|将(?!来)|计划|安排|得去|必须|需要"
)
_PAST = re.compile(r"(?<![为除])了(?!解)|(?<![不经通超])过(?!年|节|生日|周末|来|去|敏|会)|刚|已经")
_FORMER = re.compile(r"以前|曾经?|过去(?!了)|原来|从前|小时候|当年")
_TIME = r"[今明昨前后]天|[上下这]?个?(?:周|星期|礼拜)[一二三四五六日天末]?|[今明去前后]年|[上下这]个?月|早上|晚上|[上下中]午|[0-9一二三四五六七八九十]+[点月号日年]"
_SKIPPED = re.compile(
    r"^(?:也|都|很|还|最|真|非常|特别|一直|总是|经常|常常|不|没有?|会|要|想|能|可以|就|已经|刚刚?|曾经?|以前|现在|打算|正在|在|每天|目前|"
    + _TIME
    + r")+"
)
_IF = re.compile(r"如果|要是|假如|的话|万一")
_REASON = re.compile(r"((?:因为|由于)[^，。]{1,12}?)(?=而(?!且)|没|不(?![舒好太]))而?")
"""A reason that stands before what follows from it, without a mark."""
_REPORTED = re.compile(
    r"((?:^|(?<=[，。]))(?!请?(?:不要|不许|不准|不用|别|甭))(?!.{0,4}(?:医生|大夫|护士|检查|报告|体检))[^我咱你，。：:]{1,8}?"
    r"(?:说|觉得|认为|以为|骂|怀疑|告诉[我你]|[跟对][我你]说))(?:[，,：:]|(?=[我你]))"
)
"""What somebody else says of the speaker, up to what they say; a doctor's finding is as good as the speaker's own word."""
_FRAME = re.compile(r"^你(?:说|提到|表示|告诉)(?:过|了|我)*[，:：]?")


def chinese_claims(sentence: str) -> list[Claim]:
    """Return the claims of a sentence, in order. A clause without a subject has that of the one before."""
    text = _FRAME.sub("", sentence.strip()) or sentence
    text = _REPORTED.sub(r"\1：", _REASON.sub(r"\1，", text))
    conditional = _IF.search(text) is not None
    found: list[Claim] = []
    topic: Claim | None = None
    for part in _CUT.split(text):
        words = part.strip()
        if not words:
            continue
        claim = _claim(words, topic, conditional=conditional)
        if found and _REPORTED.fullmatch(f"{found[-1].words}："):
            said_by = (found[-1].subject - {SPEAKER}) or {SOMEBODY}
            claim = replace(claim, told_of=claim.told_of | said_by)
        if not words.startswith(("因为", "由于")):
            topic = claim
        found.append(claim)
    return found


def chinese_matter(text: str) -> str:
    """Return a text without the words that only say when, whether and how really."""
    plain = re.sub(_TIME, "", _FRAME.sub("", text))
    for pattern in (_WISHED, _AHEAD, _FORMER, _DENIES):
        plain = pattern.sub("", plain)
    return re.sub(
        "喜欢|讨厌|现在|目前|去|来|因为|由于|所以|而且?|但是?|可是|一直|经常|通常|已经|正在",
        "",
        plain,
    )


def _claim(words: str, before: Claim | None, *, conditional: bool) -> Claim:
    subject, rest = _subject(_LEADING.sub("", words))
    told_of = subject & (_classes() | {SOMEBODY})
    if not subject and before is not None:
        subject, told_of = before.subject & (_classes() | {SOMEBODY, SPEAKER}), before.told_of
    negations = len(_NEGATION.findall(_NO_NEGATION.sub(" ", words))) + len(_DENIES.findall(words))
    sense, wished = _sense(words), _WISHED.search(words) is not None
    verb = _SKIPPED.sub("", rest)[:1]
    unreal = wished or sense is Sense.AHEAD
    return Claim(
        words, subject, told_of, verb, negations % 2 == 1, sense, wished, unreal, conditional
    )


def _subject(words: str) -> tuple[frozenset[str], str]:
    """Return the subject that a clause begins with, perhaps behind a time, and what follows it."""
    start = words.find("我") if "我" in words[:8] else words.find("你") if "你" in words[:8] else 0
    words = words[max(start, 0) :]
    self_ = _SELF.match(words)
    rest = words[self_.end() :] if self_ else words
    owned = _OWNED.sub("", rest)
    for phrase, name in _living():
        if owned.startswith(phrase):
            return frozenset({name}), owned[len(phrase) :]
    if self_:
        return frozenset({SPEAKER if self_.group(1) else LISTENER}), rest
    other = _SOMEBODY.match(words)
    if other:
        return frozenset({SOMEBODY}), words[other.end() :]
    return frozenset(), words


@cache
def _classes() -> frozenset[str]:
    return frozenset(kinds[0] for kinds in lexicon.persons("zh").phrases.values())


@cache
def _living() -> list[tuple[str, str]]:
    """Return words for people with their classes, and for pets, the longest first."""
    people = [(phrase, kinds[0]) for phrase, kinds in lexicon.persons("zh").phrases.items()]
    notions = lexicon.concepts("zh").phrases.items()
    pets = [(phrase, phrase) for phrase, kinds in notions if "pet" in kinds]
    return sorted(people + pets, key=lambda each: len(each[0]), reverse=True)


def _sense(words: str) -> Sense | None:
    if _FORMER.search(words):
        return Sense.FORMER
    if _AHEAD.search(words):
        return Sense.AHEAD
    return Sense.PAST if _PAST.search(words) else Sense.RESULT
