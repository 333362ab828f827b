"""What a few exchanges are about, told without a model: keywords, and the most telling sentence of the person."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

from server.cutting import best_cut
from server.memory import lexicon
from server.memory.models import Page
from server.memory.statements import in_earnest, is_statement, sentences
from server.memory.terms import TELLING, Term, TermKind
from server.memory.wording import plain_analysis

Rarity: TypeAlias = Callable[[str], float]
"""Says how telling a term is by its key, more than 0: the less often the person says it, the more (BM25's idf)."""

MOST_KEYWORDS = 6
LONGEST_SENTENCE = 80
_QUESTION_SHARE = 0.5
"""How much a sentence that tells nothing of the speaker counts, beside one that does."""
_PAIR_ZH = re.compile(r"[\u3400-\u9fff]{2}")
_FRAME_ZH = re.compile(
    "喜欢|觉得|知道|可以|非常|特别|超级|如果|因为|所以|虽然|一定|一般|一直|一下|一起|一些|一样|一次|开始|正在|最近|最后|然后|之后|以前"
    "|后来|比如|当然|自己|现在|已经|应该|可能|还是|或者|而且|但是|只是|其实|真的|时候|东西|地方|问题|谢谢|推荐|看到|听到|想要|需要|帮助|随时"
    "|一[个只道朵本部张条件位家段]|最|很|太|真|再|又|叫做|[先将或而但次种]"
)
"""Words that stand in a Chinese sentence whatever it is about."""
_LONGEST_RUN = 6
_LOOSE_ENDS = " 、，,"


def keywords_of(pages: Sequence[Page], rarity: Rarity) -> tuple[str, ...]:
    """Return up to six words for what the person spoke of, the most telling first; in a form that people can read.

    Japanese in its dictionary form, English as a word, Chinese as a run of characters without grammar in it. Days and
    numbers are left out: they come back with any topic.
    """
    worth: dict[str, float] = defaultdict(float)
    for page in pages:
        for word, weight in _readable(
            telling_terms(page.said, page.language), page.language, rarity
        ):
            worth[word] += weight
    return tuple(sorted(worth, key=lambda word: -worth[word])[:MOST_KEYWORDS])


def summary_of(pages: Sequence[Page], rarity: Rarity) -> str:
    """Return the sentence of the person that says most of what these pages are about, shortened.

    It is one line, and empty only if nothing was said.
    """
    said = [(text, page.language) for page in pages for text in _said(page)]
    worth = [_worth(text, language, rarity) for text, language in said]
    return shortened(said[worth.index(max(worth))][0], LONGEST_SENTENCE) if said else ""


def says_something(page: Page) -> bool:
    """Say whether an exchange is about anything, as far as its words show it: "yes, right" is not."""
    return bool(telling_terms(page.said, page.language))


def telling_terms(text: str, language: str) -> list[Term]:
    """Return the terms of a text that may be what it is about, in its order."""
    terms = plain_analysis(text, language).terms
    return [term for term in terms if term.weight >= TELLING and term.kind is not TermKind.NUMBER]


def shortened(text: str, longest: int) -> str:
    """Return a text that has no more than `longest` characters, cut at a good place."""
    if len(text) <= longest:
        return text
    cut = best_cut(text, range(longest - 1, longest // 2, -1)) or longest - 1
    return f"{text[:cut].rstrip(_LOOSE_ENDS)}…"


def _said(page: Page) -> Iterator[str]:
    """Return the sentences of the person, each on one line, without those that are taken back; of a mere joke what ends it."""
    for text in in_earnest(page.said) or sentences(page.said)[-1:]:
        yield " ".join(text.split())


def _worth(sentence: str, language: str, rarity: Rarity) -> float:
    terms = {term.key: term.weight for term in telling_terms(sentence, language)}
    worth = sum(weight * rarity(key) for key, weight in terms.items())
    return worth if is_statement(sentence, language) else _QUESTION_SHARE * worth


def _readable(terms: Sequence[Term], language: str, rarity: Rarity) -> Iterator[tuple[str, float]]:
    """Return words for terms, and how telling each is. Pairs of Chinese characters that overlap make one run."""
    run = ""
    for term in terms:
        is_pair = language == "zh" and _PAIR_ZH.fullmatch(term.key) is not None
        if is_pair and run[-1:] == term.key[0]:
            run += term.key[1]
            continue
        yield from _pieces(run, rarity)
        run = term.key if is_pair else ""
        if not is_pair:
            yield _word(term, language), term.weight * rarity(term.key)
    yield from _pieces(run, rarity)


def _pieces(run: str, rarity: Rarity) -> Iterator[tuple[str, float]]:
    """Return what lies between the words that any Chinese sentence may have."""
    for piece in _FRAME_ZH.split(run):
        pairs = [piece[place : place + 2] for place in range(len(piece) - 1)]
        if pairs:
            yield piece[:_LONGEST_RUN], TELLING * max(map(rarity, pairs))


def _word(term: Term, language: str) -> str:
    if term.kind is TermKind.PERSON:
        return _people(language).get(term.key) or term.key.replace("_", " ")
    return term.sound if term.sound.isascii() else term.key


@cache
def _people(language: str) -> dict[str, str]:
    """Return the plainest word for each class of people."""
    known = lexicon.persons(language)
    words: dict[str, str] = {}
    for shelf in (known.words, known.phrases):
        for word, kinds in shelf.items():
            for kind in kinds:
                words.setdefault(kind, word)
    return words
