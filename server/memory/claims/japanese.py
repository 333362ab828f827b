"""Reads the claims of Japanese sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER, Claim, Sense
from server.memory.terms import HONORIFICS, letters, words_of

_JOINTS = {"けど", "けれど", "けれども", "が", "から", "ので", "のに", "し"}
_TOPIC = {"は", "が", "も", "って"}
_SPEAKERS = {"私", "僕", "俺", "うち", "儂"}
_LISTENERS = {"貴方", "君", "御前"}
_HANGING = re.compile(r"(?:[てで]|ずに|(?<![がけどしらのば])、)$")
"""Ends a clause that has its time and its wish from the one behind it."""
_TOPIC_MARK = re.compile(r"[はもの]|って")
_SELVES = {SPEAKER, LISTENER}
_PRONOUNS = {"彼", "彼女", "彼奴", "此奴", "其奴"}
_NEGATIONS = {"ない", "無い", "ぬ", "ず"}
_LIGHT = {
    "居る", "有る", "為る", "成る", "来る", "行く", "仕舞う", "思う", "言う", "話す", "下さる", "呉れる", "貰う", "置く", "見る", "感ずる",
    "上げる", "いける", "駄目", "良い", "分かる", "知る", "考える",
}  # fmt: skip
"""Verbs that only colour another when they follow it."""
_LEADS_TO_LIGHT = {"て", "で", "と", "って", "は", "も", "ば"}
_BECOMES = {"為る", "成る"}
_GIVES = {"呉れる": "上げる", "遣る": "上げる", "下さる": "上げる", "差し上げる": "上げる"}
"""Verbs that differ in who gives to whom only."""
_SHELLS = {
    "予定",
    "積もり",
    "計画",
    "筈",
    "様",
    "事",
    "訳",
    "物",
    "所",
    "気",
    "必要",
    "為",
    "考え",
    "方",
    "状態",
    "頃",
    "の",
    "感じ",
    "ん",
}
"""Nouns that a whole clause leads to: 行く予定だ."""
_OBLIGED = re.compile(
    r"な(?:きゃ|くちゃ|ければ|いと|くては)(?:いけ|なら|だめ|ダメ|駄目)?(?:ない|ません|なかった|ませんでした)?"
)
_NO_NEGATION = re.compile(
    r"忘れないで|間違いな|違いな|仕方な|しょうがな|たまらな|ない(?:うち|よう)に|しか(?=.{0,12}?(?:な[いかく]|ませ))|なんでもな|じゃないですか|問題な"
)
_WISHED = re.compile(
    r"[おこごそとのぼもろよ]う(?:か|と|かな)|迷[っいう]|悩[んむみ]|考え(?:て|中)|検討|べき|憧れ|目指|夢|ところだった"
    r"|そうにな|方がいい|ほうがいい|かどうか|希望|願|らしい"
)
_WISHES = {"たい", "たがる", "欲しい"}
_AHEAD = re.compile(
    r"予定|つもり|計画|ことに(?:し|な[っりる])|決め|なきゃ|なくちゃ|なければ|必要がある|ないと|[るくすつむぶぐう]ことになっ"
)
_FORMER = re.compile(r"以前|前[はに]|昔|かつて|元々|もともと|[頃ころ]は|時代")
_ENDED = {"止める", "辞める", "やめる", "禁煙", "禁酒", "絶つ"}
_CONDITION = re.compile(r"(?:たら|だら|なら|れば|ければ|場合は?)(?![いだなよ]|らな)")


def japanese_claims(sentence: str) -> list[Claim]:
    """Return the claims of a sentence, in order. A clause without a subject has the topic of the one before; what has が ends with its clause."""
    text = re.sub(
        r"(?:という?)?(?:こと)?(?:を|と)(?:話し|言い|述べ|語り)(?:た|ました)。?$|と(?:話|言|述べ|語)っ?[しっべ]?(?:た|ている|ていた)。?$",
        "",
        sentence.strip(),
    )
    found: list[Claim] = []
    conditional = False
    for part in _parts(text):
        words = words_of(part)
        subject, told_of = _subject(words)
        if not subject and not told_of and found and _TOPIC_MARK.search(found[-1].words):
            subject, told_of = found[-1].subject, found[-1].told_of
        if _CONDITION.search(part) and not _OBLIGED.search(part):
            conditional = True
        found.append(_claim(part, words, subject, told_of, conditional=conditional))
    for place in range(len(found) - 2, -1, -1):
        if _HANGING.search(found[place].words) and found[place].sense is Sense.PRESENT:
            after = found[place + 1]
            found[place] = replace(
                found[place], sense=after.sense, wished=after.wished, unreal=after.unreal
            )
    return found


def japanese_matter(text: str) -> str:
    """Return a text without the words that only say when, whether and how really."""
    return re.sub(f"{_FORMER.pattern}|予定|つもり|計画|考え|必要|希望", " ", text)


def _parts(text: str) -> Iterator[str]:
    words = words_of(text)
    start = 0
    for place, word in enumerate(words[:-1]):
        if not _is_joint(words, place):
            continue
        yield text[start : word.end()]
        start = word.end()
    if text[start:].strip("、。 "):
        yield text[start:]


def _is_joint(words: Sequence[Morpheme], place: int) -> bool:
    word, after = words[place], words[place + 1].surface()
    surface, (part, detail) = word.surface(), word.part_of_speech()[:2]
    if surface in ("。", "！", "!", "？"):
        return True
    if after in ("、", "，"):
        return False  # the mark is the joint
    if surface in ("、", "，"):
        before = words[place - 1] if place else word
        part, detail, _, _, _, form = before.part_of_speech()
        ends = (
            detail in ("接続助詞", "終助詞")
            or form.startswith("終止形")
            or (part in ("動詞", "助動詞") and form.startswith("連用形"))
        )
        return ends or before.surface() in _JOINTS | {
            "て",
            "で",
            "たら",
            "ば",
            "なら",
            "だら",
            "り",
        }
    if surface == "に" and place and words[place - 1].surface() == "ず":
        return True
    if part == "助詞" and detail == "接続助詞" and surface not in ("て", "で"):
        return surface in _JOINTS or (
            surface == "ば" and after not in ("なら", "いけ", "いい", "良い")
        )
    if (
        surface == "で"
        and place
        and words[place - 1].surface() == "の"
        and words[place - 1].part_of_speech()[1] == "準体助詞"
    ):
        return True
    if surface in ("て", "で") and detail == "接続助詞":
        follower = words[place + 1]
        return follower.normalized_form() not in _LIGHT | {
            "欲しい",
            "頂く",
        } and follower.part_of_speech()[0] not in ("助詞", "助動詞", "補助記号")
    return (
        surface in ("たら", "だら", "なら")
        and part == "助動詞"
        and after not in ("いい", "良い", "な")
    )


def _subject(words: Sequence[Morpheme]) -> tuple[frozenset[str], frozenset[str]]:
    """Return who does or is what the clause tells, and all that it tells of."""
    people = lexicon.persons("ja")
    subject: set[str] = set()
    told_of: set[str] = set()
    chain: set[str] = set()
    owned = False
    for place, word in enumerate(words):
        surface, form = word.surface(), word.normalized_form()
        after = words[place + 1].surface() if place + 1 < len(words) else ""
        classes = people.of(form) or people.of(surface)
        _, detail, more = word.part_of_speech()[:3]
        if form in _PRONOUNS and (after in _TOPIC or after == "の"):
            chain.add(SOMEBODY)
        elif classes:
            chain.add(classes[0])
            owned = False
        elif more == "人名" or (detail == "固有名詞" and (more != "地名" or after in HONORIFICS)):
            chain.add(letters(form))
            owned = False
        elif form in _SPEAKERS:
            chain.add(SPEAKER)
        elif form in _LISTENERS and (surface not in HONORIFICS or not chain):
            chain.add(LISTENER)
        elif surface in HONORIFICS or surface in ("の", "・", "達", "たち"):
            owned = surface == "の"
            continue
        elif (
            surface in _TOPIC
            or (surface == "に" and after in ("は", "も"))
            or (surface == "、" and chain and place == len(chain))
        ):
            if owned:
                told_of |= chain - _SELVES
            elif chain:
                own = chain - _SELVES or chain
                subject |= own
                told_of |= own - _SELVES
            chain, owned = set(), False
        elif owned and chain and word.part_of_speech()[0] in ("名詞", "接尾辞", "接頭辞"):
            if after in _TOPIC:
                told_of |= chain - _SELVES
                chain, owned = set(), False
            continue
        else:
            chain, owned = set(), False
    return frozenset(subject), frozenset(told_of)


def _claim(
    part: str,
    words: Sequence[Morpheme],
    subject: frozenset[str],
    told_of: frozenset[str],
    *,
    conditional: bool,
) -> Claim:
    place = _predicate(words)
    tail = words[place + 1 :]
    forms = [word.normalized_form() for word in tail]
    negations = 0 if _OBLIGED.search(part) else sum(form in _NEGATIONS for form in forms)
    negations -= len(_NO_NEGATION.findall(part)) if negations else 0
    verb = _verb(words, place)
    told = words[place].normalized_form() if words else ""
    if "dislike" in lexicon.concepts("ja").of(told) and told != "駄目":
        negations += 1
    negations += verb in _ENDED
    wished = _WISHED.search(part) is not None or any(
        word.normalized_form() in _WISHES for word in words
    )
    past = any(
        word.normalized_form() == "た" and word.surface() not in ("たら", "だら") for word in tail
    )
    sense = _sense(part, words[place] if words else None, forms, past)
    unreal = wished or sense is Sense.AHEAD
    return Claim(
        part, subject, told_of, verb, negations % 2 == 1, sense, wished, unreal, conditional
    )


def _predicate(words: Sequence[Morpheme]) -> int:
    """Return the place of the last word that says something: 飼っ in 飼っている, 行く in 行く予定だ."""
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        part, detail = word.part_of_speech()[:2]
        form = word.normalized_form()
        before = words[place - 1].surface() if place else ""
        if (
            part not in ("動詞", "形容詞", "形状詞", "名詞")
            or detail == "助動詞語幹"
            or form in _NEGATIONS | _SHELLS
        ):
            continue
        follows = place > 0 and (
            before in _LEADS_TO_LIGHT
            or words[place - 1].normalized_form() in _NEGATIONS
            or words[place - 1].part_of_speech()[0] in ("形容詞",)
        )
        follows = follows or (before == "に" and form in _BECOMES)
        if form in _LIGHT and place and (follows or before in ("られ", "し", "なきゃ", "なくちゃ")):
            continue
        return place
    return 0


def _verb(words: Sequence[Morpheme], place: int) -> str:
    if not words:
        return ""
    word = words[place]
    if word.normalized_form() == "為る" and place:
        back = place - 1 if words[place - 1].surface() != "を" else place - 2
        return words[max(back, 0)].normalized_form()
    after = words[place + 1].normalized_form() if place + 1 < len(words) else ""
    is_verb = word.part_of_speech()[0] == "動詞" or after == "為る"
    return _GIVES.get(word.normalized_form(), str(word.normalized_form())) if is_verb else ""


def _sense(part: str, predicate: Morpheme | None, forms: Sequence[str], past: bool) -> Sense | None:
    is_verb = predicate is not None and (predicate.part_of_speech()[0] == "動詞" or "為る" in forms)
    goes_on = "てる" in forms or "とる" in forms or "居る" in forms
    if _AHEAD.search(part):
        return Sense.AHEAD
    if past:
        return Sense.FORMER if goes_on or not is_verb or _FORMER.search(part) else Sense.PAST
    if goes_on:
        return Sense.RESULT
    if (
        not is_verb
        or predicate is None
        or predicate.normalized_form() in ("有る", "居る", "出来る", "分かる")
    ):
        return Sense.STATE
    return Sense.PRESENT
