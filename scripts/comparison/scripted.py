"""A language model that follows rules: what each compared system, Omoide too, asks gets a well-formed answer, always the same one.

It draws facts as a willing but simple model would: every sentence that says something, with the name of its speaker
before it. It matters little: with all sentences, or with whole turns, mem0's recall@10 on a dialogue of LoCoMo was within
0.02 of this.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|(?:[^\W\u3040-\u30ff\u3400-\u9fff]|['’])+")
"""A letter of Japanese or Chinese, else a word."""
_FEWEST_UNITS = 4
_WORD = re.compile(r"\w{4,}|[\u3400-\u9fff\u30a1-\u30fc]{2,}")
_KEYWORDS = 5
_SAID = re.compile(r"^(?P<role>user|assistant): (?P<words>.+)$", re.MULTILINE | re.IGNORECASE)
_TIMED = re.compile(
    r"^(?P<role>User|Assistant): (?P<words>.+) \(Timestamp: (?P<time>[^()]*)\)$", re.MULTILINE
)
_NUMBERED = re.compile(
    r"^\[(?P<number>\d+)\] .*\n[^:\n]+: ?(?P<said>.*)\n[^:\n]+: ?(?P<heard>.*)$", re.MULTILINE
)
_OF_A_DAY = re.compile(r"^\d\d:\d\d (?P<said>.*)$", re.MULTILINE)
_ASKS = re.compile(r"[?？]")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_FIRST_PERSON = re.compile(r"\b(?:I|I['’]\w+|[Mm]y|[Ww]e|[Oo]ur)\b")
"""Japanese and Chinese leave the subject out."""
_MOST_OF_A_TURN = 5
_MOST_TOPICS = 4
_NO_PORTRAIT = json.dumps({"profile": [], "traits": [], "agent": []})


class UnknownPromptError(Exception):
    """Nobody said how to answer this."""


def answer(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the answer to a request.

    Args:
        messages: As in OpenAI's protocol; the first one says what is wanted, the last one on what.

    Raises:
        UnknownPromptError: It is none of the requests that the compared systems are known to make.
    """
    wanted, text = messages[0]["content"], messages[-1]["content"]
    for sign, form in _ANSWERS.items():
        if sign in wanted:
            return form(text)
    raise UnknownPromptError(f"no answer is known to {wanted[:80]!r}")


def facts(said: str) -> list[str]:
    """Return the sentences of a turn that say something, each with the name that stands before the turn."""
    name, named, words = said.partition(": ")
    before, spoken = (f"{name}: ", words) if named else ("", said)
    return [before + one for one in telling(spoken)]


def telling(spoken: str) -> list[str]:
    """Return the sentences that say something: the longer ones ("Wow!" is no fact), and the first one if there is none."""
    sentences = [one for one in _SENTENCE_END.split(spoken) if one.strip()]
    longer = [one for one in sentences if len(_UNIT.findall(one)) >= _FEWEST_UNITS]
    return longer or sentences[:1]


def keywords(text: str) -> list[str]:
    """Return the longest words of a text, in their order."""
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))
    longest = sorted(words, key=len, reverse=True)[:_KEYWORDS]
    return [word for word in words if word in longest]


def _memories(prompt: str) -> str:
    _, _, rest = prompt.partition("## New Messages\n")
    new, _, _ = rest.partition("\n\n## Observation Date")
    drawn = [
        {"text": fact, "attributed_to": turn["role"]}
        for turn in _SAID.finditer(new)
        for fact in facts(turn["words"])
    ]
    return json.dumps({"memory": [{"id": str(place), **one} for place, one in enumerate(drawn)]})


def _is_continuous(prompt: str) -> str:
    _, _, pages = prompt.partition("Previous Page:")
    before, _, now = pages.partition("Current Page:")
    common = set(keywords(_spoken(before))) & set(keywords(_spoken(now)))
    return "true" if common else "false"


def _spoken(text: str) -> str:
    return " ".join(turn["words"] for turn in _SAID.finditer(text))


def _overview(prompt: str) -> str:
    _, _, new = prompt.partition("New Dialogue:")
    return facts(_spoken(new))[0]


def _topics(prompt: str) -> str:
    _, _, talk = prompt.partition("Conversation content:")
    spoken = _spoken(talk)
    words = keywords(spoken)
    return json.dumps([{"theme": " ".join(words[:2]), "keywords": words, "content": spoken}])


def _keyword_list(prompt: str) -> str:
    _, _, rest = prompt.partition("concise:\n")
    text, _, _ = rest.rpartition("\n\nKeywords:")
    return ", ".join(keywords(text))


def _profile(prompt: str) -> str:
    _, _, rest = prompt.partition("**Latest User-AI Conversation:**")
    interests = ", ".join(keywords(_spoken(rest)))
    return f"Emotional Expression ( Medium ): talks about {interests}."


def _knowledge(prompt: str) -> str:
    lines: dict[str, list[str]] = {"user": [], "assistant": []}
    for turn in _TIMED.finditer(prompt):
        drawn = lines[turn["role"].lower()]
        drawn += [f"- {fact} ({turn['time']})" for fact in facts(turn["words"])]
    private, own = ("\n".join(drawn) or "None" for drawn in lines.values())
    return f"【User Private Data】\n{private}\n\n【Assistant Knowledge】\n{own}"


def _record(talk: str) -> str:
    """Draw facts from numbered turns: what somebody says of themselves, and no questions, as it is told."""
    turns = [
        (int(turn["number"]), turn["said"], turn["heard"]) for turn in _NUMBERED.finditer(talk)
    ]
    drawn = [
        {"turn": number, "quote": told, "text": _of_you(told), "kind": "other"}
        for number, said, _ in turns
        for told in [*filter(_is_own, telling(said))][:_MOST_OF_A_TURN]
    ]
    topics: list[dict[str, object]] = []
    of_topic: list[list[int]] = []
    continued = []
    before: set[str] = set()
    for number, said, heard in turns:
        words = keywords(f"{said} {heard}")
        goes_on = bool(before & set(words))
        if goes_on:
            continued.append(number)
        if of_topic and (goes_on or len(topics) == _MOST_TOPICS):
            of_topic[-1].append(number)
        elif words:
            of_topic.append([number])
            topics.append({"turns": of_topic[-1], "keywords": words, "summary": _about(words)})
        before = set(words)
    return json.dumps({"facts": drawn, "topics": topics, "continues": continued})


def _diary(talk: str) -> str:
    said = " ".join(turn["said"] for turn in _OF_A_DAY.finditer(talk))
    return json.dumps({"summary": _about(keywords(said)), "follow_ups": []})


def _about(words: Sequence[str]) -> str:
    wide = next((word for word in words if _WIDE.search(word)), "")
    if not wide:
        return f"You talked about {', '.join(words)}."
    return (
        f"{'、'.join(words)}の話をした。"
        if _KANA.search("".join(words))
        else f"聊了{'、'.join(words)}。"
    )


def _is_own(sentence: str) -> bool:
    is_of_speaker = _WIDE.search(sentence) or _FIRST_PERSON.search(sentence)
    return bool(is_of_speaker) and not _ASKS.search(sentence)


def _of_you(told: str) -> str:
    if not _WIDE.search(told):
        return f"You said: {told}"
    return (
        f"あなたは「{told.rstrip('。')}」と話した。"
        if _KANA.search(told)
        else f"你说过：“{told.rstrip('。')}”。"
    )


_ANSWERS: Mapping[str, Callable[[str], str]] = {
    "You are a Memory Extractor": _memories,
    "conversation continuity detector": _is_continuous,
    "conversation meta-summary updater": _overview,
    "expert in analyzing dialogue topics": _topics,
    "expert in keyword extraction": _keyword_list,
    "user preference analysis assistant": _profile,
    "knowledge extraction assistant": _knowledge,
    "You keep the record of a conversation": _record,
    "あなたは会話の記録係": _record,
    "你负责记录对话": _record,
    "You describe a person by what they say": lambda talk: _NO_PORTRAIT,
    "人となりを書き留める係": lambda talk: _NO_PORTRAIT,
    "记下他是怎样的人": lambda talk: _NO_PORTRAIT,
    "You keep the diary of a robot": _diary,
    "ロボットの日記係": _diary,
    "机器人写日记": _diary,
}
"""By words of the first message: mem0 asks for the first of these, MemoryOS for those up to knowledge, Omoide for the rest."""
