"""What a language model is asked in a benchmark: to answer from what memory found, and to judge an answer."""

import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from string import Template

from server.commands.dialogues import DialogueQuestion
from server.memory import Page
from server.memory.speakers import Speakers
from server.ports import Llm, TextDelta
from server.turn import Decoding, Message, Prompt

_MOST_ANSWER_TOKENS = 100
_MOST_VERDICT_TOKENS = 200
_NUMBER = r"[\s\"'”*]*[:：=][\s\"'*]*(0\.50?|[01](?:\.00?)?)(?!\d|\.\d)"
"""What a judge writes behind the name of a point, whatever marks it sets around name and number."""
SCALES: Mapping[str, frozenset[float]] = {
    "accuracy": frozenset({0.0, 1.0}),
    "correctness": frozenset({0.0, 0.5, 1.0}),
    "coherence": frozenset({0.0, 0.5, 1.0}),
}
"""What the paper has judged of GVD, and the points that can be given."""

_INSTRUCTIONS = {
    "en": "You answer questions about what $person and $other said to each other. Answer with the bare fact, in as few words as possible: "
    "not 'The race raised awareness for mental health.' but 'mental health'. A date is written as 17 July 2025; reckon 'last year' or "
    "'yesterday' from the date of the exchange it stands in. A duration is told in years, months or days.",
    "ja": "$personと$otherの会話について質問に答えます。答えだけを、できるだけ短い言葉で書いてください。日付は2025年7月17日の形で書き、「昨日」や「去年」は"
    "その会話の日付から数えます。",
    "zh": "你要回答关于$person和$other之间对话的问题。只写答案，越短越好。日期写成2025年7月17日，“昨天”“去年”从那段对话的日期算起。",
}
_HEADS = {
    "en": ("What is known of $person", "Relevant exchanges", "The last exchanges", "Question"),
    "ja": ("$personについてわかっていること", "関係のある会話", "最近の会話", "質問"),
    "zh": ("关于$person已知的情况", "相关对话", "最近的对话", "问题"),
}
_OTHER = {"en": "the assistant", "ja": "アシスタント", "zh": "助手"}
_JUDGE = {
    "en": "You judge an assistant that has a memory. Give three numbers. accuracy: 1 if the recalled exchanges hold the right answer, else 0. "
    "correctness: 1 if the reply says what the right answer says, 0.5 if it does so in part, else 0. coherence: 1 if the reply is fluent and fits "
    "the question, 0.5 if it does so in part, else 0. Write nothing but accuracy: N, correctness: N, coherence: N.",
    "ja": "記憶を持つアシスタントを採点します。数字を三つ書いてください。accuracy:思い出された会話に正解があれば1、なければ0。correctness:返事が正解と同じ内容なら1、"
    "一部なら0.5、違えば0。coherence:返事が自然で質問に合っていれば1、一部なら0.5、そうでなければ0。「accuracy: N, correctness: N, coherence: N」とだけ書いてください。",
    "zh": "你要给一个有记忆的助手打分。写三个数字。accuracy：回忆起的对话里有正确答案为1，没有为0。correctness：回答与正确答案一致为1，部分一致为0.5，不一致为0。"
    "coherence：回答通顺并且切题为1，部分如此为0.5，否则为0。只写“accuracy: N, correctness: N, coherence: N”。",
}
_JUDGED_HEADS = {
    "en": ("Question", "Right answer", "Recalled exchanges", "Reply"),
    "ja": ("質問", "正解", "思い出された会話", "返事"),
    "zh": ("问题", "正确答案", "回忆起的对话", "回答"),
}


@dataclass(frozen=True, slots=True)
class Material:
    """What a model answers from."""

    recalled: Sequence[Page]
    """Best first."""
    recent: Sequence[Page]
    portrait: Sequence[str]
    """Lines on who the person is."""


async def answer(
    llm: Llm, question: DialogueQuestion, material: Material, language: str, speakers: Speakers
) -> str:
    """Return what the model answers, in one line, without what it thinks aloud before.

    Raises:
        LlmError: It does not.
    """
    names = names_of(speakers, language)
    known, relevant, recent, asked = _headed(_HEADS, language, names)
    parts = (
        (known, "\n".join(material.portrait)),
        (relevant, written(_by_time(material.recalled), names)),
        (recent, written(material.recent, names)),
        (asked, question.text),
    )
    system = Template(_INSTRUCTIONS.get(language, _INSTRUCTIONS["en"])).substitute(names)
    return await _told(llm, system, parts, language, _MOST_ANSWER_TOKENS)


async def judge(
    llm: Llm,
    question: DialogueQuestion,
    recalled: Sequence[Page],
    reply: str,
    language: str,
    speakers: Speakers,
) -> dict[str, float] | None:
    """Return the points that the model gives a reply, by `SCALES`; None if it gives none that can be read.

    Raises:
        LlmError: It does not answer.
    """
    names = names_of(speakers, language)
    asked, right, exchanges, replied = _headed(_JUDGED_HEADS, language, names)
    parts = (
        (asked, question.text),
        (right, question.answer),
        (exchanges, written(_by_time(recalled), names)),
        (replied, reply),
    )
    system = _JUDGE.get(language, _JUDGE["en"])
    return read_verdict(await _told(llm, system, parts, language, _MOST_VERDICT_TOKENS))


def read_verdict(text: str) -> dict[str, float] | None:
    """Return the points in what a judge wrote, the last of each sort; None if one is missing or not on its scale."""
    points = {}
    for name, scale in SCALES.items():
        found = re.findall(name + _NUMBER, text, re.IGNORECASE)
        if not found or float(found[-1]) not in scale:
            return None
        points[name] = float(found[-1])
    return points


def names_of(speakers: Speakers, language: str) -> dict[str, str]:
    """Return how the two that talk are called in a prompt."""
    other = speakers.other[0] if speakers.other else _OTHER.get(language, _OTHER["en"])
    return {"person": speakers.person[0], "other": other}


def written(pages: Sequence[Page], names: Mapping[str, str]) -> str:
    """Write exchanges down, each with its date; what was not said is left out."""
    lines = []
    for page in pages:
        lines.append(f"[{page.at:%Y-%m-%d %H:%M}]")
        spoken = ((names["person"], page.said), (names["other"], page.heard))
        lines += [f"{name}: {' '.join(text.split())}" for name, text in spoken if text.strip()]
    return "\n".join(lines)


def _by_time(pages: Sequence[Page]) -> list[Page]:
    return sorted(pages, key=lambda page: page.at)


def _headed(
    heads: Mapping[str, tuple[str, ...]], language: str, names: Mapping[str, str]
) -> tuple[str, ...]:
    return tuple(Template(head).substitute(names) for head in heads.get(language, heads["en"]))


async def _told(
    llm: Llm, system: str, parts: Sequence[tuple[str, str]], language: str, most_tokens: int
) -> str:
    text = "\n\n".join(f"# {head}\n{body}" for head, body in parts if body)
    decoding = Decoding(temperature=0.0, max_tokens=most_tokens)
    prompt = Prompt(system, (Message("user", text),), language, decoding)
    written_so_far = ""
    async with aclosing(llm.stream(prompt)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                written_so_far += event.text
    return " ".join(written_so_far.rpartition("</think>")[2].split())
