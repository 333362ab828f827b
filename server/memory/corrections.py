"""Words by which somebody says that they correct themselves: 間違えた, "sorry", "no wait", 不对.

At the head of a sentence they are no part of what it tells.
"""

import re

_HEAD = re.compile(
    r"""^\W*(?:
        (?:(?:あ[あっ]?|え|おっと)[、,。\s]*)?(?:(?:いや+|いえ|ちょっと待って|待って|違う|違った|違います|ちがう|ごめん(?:なさい|ね)?|すみません|失礼(?:しました)?|(?:言い)?間違え(?:た|ました|ちゃった|ちゃいました|てた|てました)
            |(?:言い)?間違い(?:でした|だった|です)?|訂正(?:します|です|させて)?|(?:そう|そこ)?(?:じゃ|では)な(?:くて|くって|い(?:です)?)|正しくは|やっぱり?)(?:わ|よ|ね|、|,|。|！|!|\s|…|・)*)+(?<=[、,。！!\s…])
        | (?:(?:oh|ah|oops|um+|uh+|well|but|and)\b[\s,.!]*)*(?:(?:sorry|no+|nope|wait(?:\ a\ (?:minute|second|moment))?|hang\ on|hold\ on|actually|correction|oops|my\ (?:mistake|bad|apologies)|i\ (?:made\ a\ mistake|was\ wrong|misspoke|got\ (?:that|it)\ wrong)
            |that(?:'s|\ is|\ was)\ (?:wrong|not\ right|incorrect|a\ mistake)|let\ me\ correct\ (?:that|myself)|not\ quite)\b[\s,.;:!—–-]*)+(?:(?<=[,.;:!—–-])|(?<=[,.;:!—–-]\s))(?:i\ mean[t]?\b[\s,:]*(?:that\ )?)?
        | (?:oh,?\ )?(?:no+|sorry|wait),?\ (?:wait|sorry|no),?\ +(?=(?:i|i'm|i've|my|we|our|it|it's|he|she|the)\b)
        | i\ meant?\b[\s,:]+(?:that\ )?(?=(?:i|i'm|i've|my|we|our|he|she|it)\b)
        | (?:[哦啊呃嗯噢][，,\s]*)?(?:(?:不对|不是|不不?|错了|(?:我)?(?:说|搞|讲|记|弄)错了|更正(?:一下)?|抱歉|对不起|不好意思|等等|等一下|应该说)(?:[，,。！!：:\s])+)+
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_CONTRASTS = re.compile(
    r"(?:じゃ|では)な(?:く|い)(?:て|って)?、?|\bnot\b.{1,40}\bbut\b|,\s*not\s+\w+\W*$|不是.{1,20}(?:而是|，是|,是)",
    re.IGNORECASE,
)


def without_correction(sentence: str) -> str:
    """Return a sentence without the words at its head that call it a correction; as it is if there is nothing else."""
    rest = _HEAD.sub("", sentence, count=1)
    if rest == sentence or is_only_correction(sentence):
        return sentence
    return rest[0].upper() + rest[1:] if sentence[:1].isupper() else rest


def is_only_correction(sentence: str) -> bool:
    """Say whether a sentence has nothing but such words: "Sorry." before what is right."""
    head = _HEAD.match(f"{sentence.strip()}, ")
    return head is not None and not any(map(str.isalnum, f"{sentence.strip()}, "[head.end() :]))


def corrects(sentence: str) -> bool:
    """Say whether a sentence calls itself a correction, at its head or by saying what is not so."""
    return without_correction(sentence) != sentence or _CONTRASTS.search(sentence) is not None
