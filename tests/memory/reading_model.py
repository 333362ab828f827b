"""A language model by hand: it reads the pages that it is shown and writes what they say, in the form it was asked for."""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

import anyio

from server.ports import LlmEvent, LlmTraits, TextDelta, Usage
from server.prompting import PromptFiles
from server.turn import Prompt
from tests.fakes import PROMPTS, FakeEngine

_TURN = re.compile(
    r"^\[(\d+)\] .*\n(?:話し手|说话人|Speaker): (.*)\n(?:ロボット|机器人|Robot): (.*)$", re.M
)
_OF_A_DAY = re.compile(r"^\d\d:\d\d (.*)$", re.M)
_SENTENCE = re.compile(r"[^。！？!?.]+[。！？!?.]?")
_ASKS = re.compile(r"[？?]$|っけ|^(?:what|when|where|who|is|do|does|tell)\b", re.I)
_OF_ONESELF = {
    "ja": re.compile(r"私|うち|の(?:よ|。)|んだ|たよ|てる|だよ|たの"),
    "en": re.compile(r"\b(?:i|i'm|i've|my|we)\b", re.I),
}
_TO_SECOND_PERSON = (
    (r"\bI'm\b", "you are"), (r"\bI've\b", "you have"), (r"\bI am\b", "you are"), (r"\b(?:I|me)\b", "you"), (r"\b[Mm]y\b", "your"),
)  # fmt: skip
_SUBJECTS = {
    "ja": {
        "猫": ("猫", "タマ", "三毛"), "孫": ("孫", "芽衣"), "庭": ("トマト", "庭"), "コーラス": ("コーラス", "もみじ", "歌う"),
        "夫": ("夫", "上高地"), "体": ("アレルギー", "薬", "血圧", "眠れ"), "編み物": ("編み", "毛糸", "帽子"),
        "近所": ("山田", "佐藤"), "母": ("母", "おやき"),
    },
    "en": {
        "dog": ("Biscuit", "beagle", "dog"), "running": ("run", "ran", "kilometres", "marathon", "shoes"),
        "work": ("work", "bug", "test", "game", "Nina", "Karen", "release", "cows"), "wedding": ("Alice", "wedding", "speech", "Mark"),
        "Japanese": ("Japanese", "katakana", "exam"), "band": ("band", "bass", "gig", "Pete"), "health": ("allergic", "peanuts", "knee"),
    },
}  # fmt: skip
"""What the model takes for one subject, and by which words it knows it."""
_TRAITS = {
    "猫": "animals",
    "dog": "animals",
    "コーラス": "making-music",
    "band": "making-music",
    "孫": "family-closeness",
}
_FIELDS = (
    ("name", r"私は松本に住んでる(花江)|My name is (\w+)"), ("home", r"(松本)に住んで|I live in (\w+)"),
    ("work", r"I work as (a software tester)"), ("health", r"(えびアレルギー)|(allergic to peanuts)|(血圧の薬)"),
)  # fmt: skip
_MOODS = re.compile(r"疲れ|心配|うれし|tired|happy")
_ACKNOWLEDGED = {
    "ja": "そうなんですね。",
    "en": "I see, thank you for telling me.",
    "zh": "原来如此。",
}


class Work(StrEnum):
    """What a model is asked for."""

    REPLY = "reply"
    EXTRACT = "extract"
    PORTRAIT = "portrait"
    DAY = "summarize_day"


@dataclass(frozen=True)
class _Shown:
    """A turn as the model was shown it."""

    number: int
    said: str

    def subject(self, language: str) -> str:
        return next(
            (
                subject
                for subject, words in _SUBJECTS[language].items()
                if any(word in self.said for word in words)
            ),
            "",
        )

    def told(self, language: str) -> Iterator[str]:
        """Return the sentences in which the speaker tells of themselves."""
        for sentence in _SENTENCE.findall(self.said):
            plain = sentence.strip()
            if _OF_ONESELF[language].search(plain) and not _ASKS.search(plain):
                yield plain


class ReadingModel(FakeEngine):
    """Counts what it is asked, by the kind of work. Knows Japanese and English."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: dict[Work, list[Prompt]] = {work: [] for work in Work}
        files = PromptFiles(PROMPTS)
        self._begins = {
            files.in_language(work, language).splitlines()[0]: work
            for work in Work
            if work is not Work.REPLY
            for language in ("ja", "en")
        }

    def asked(self, *works: Work) -> int:
        """Return how often it was asked for some kinds of work."""
        return sum(len(self.prompts[work]) for work in works)

    def traits(self, language: str) -> LlmTraits:
        return LlmTraits(compact=False, prompt_budget_tokens=3000, local=False)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        work = self._begins.get(prompt.system.partition("\n")[0], Work.REPLY)
        self.prompts[work].append(prompt)
        await anyio.lowlevel.checkpoint()
        yield TextDelta(self._answer(work, prompt))
        yield Usage(100, 20)

    def _answer(self, work: Work, prompt: Prompt) -> str:
        talk, language = prompt.messages[-1].content, prompt.language
        shown = [_Shown(int(number), said) for number, said, _ in _TURN.findall(talk)]
        match work:
            case Work.EXTRACT:
                answer = _drawn(shown, language)
            case Work.PORTRAIT:
                answer = {"profile": _profile(shown), "traits": _traits(shown, language)}
            case Work.DAY:
                said = _OF_A_DAY.findall(talk)
                answer = {"summary": _in_brief(said, language), "follow_ups": []}
            case Work.REPLY:
                return _ACKNOWLEDGED[language]
        return f"```json\n{json.dumps(answer, ensure_ascii=False)}\n```"


def _drawn(shown: Sequence[_Shown], language: str) -> Mapping[str, Any]:
    subjects: dict[str, list[int]] = {}
    for turn in shown:
        if subject := turn.subject(language):
            subjects.setdefault(subject, []).append(turn.number)
    largest = sorted(subjects, key=lambda subject: -len(subjects[subject]))[:4]
    return {
        "facts": [
            {"turn": turn.number, "quote": told, "text": _of_you(told, language), "kind": "other"}
            for turn in shown
            for told in turn.told(language)
        ],
        "topics": [
            {"turns": subjects[subject], "keywords": [subject, *_words(subject, language, shown)],
             "summary": f"{subject}の話。" if language == "ja" else f"About {subject}."}
            for subject in largest
        ],
        "continues": [
            after.number
            for before, after in pairwise(shown)
            if after.subject(language) in ("", before.subject(language))
        ],
        "profile": _profile(shown),
        "traits": _traits(shown, language),
        "notes": [
            {"kind": "mood", "text": turn.said, "turn": turn.number, "quote": turn.said}
            for turn in shown
            if _MOODS.search(turn.said)
        ],
    }  # fmt: skip


def _of_you(told: str, language: str) -> str:
    """Say of the person what they said of themselves."""
    if language == "ja":
        return f"あなたは「{told.rstrip('。')}」と話した。"
    for first, second in _TO_SECOND_PERSON:
        told = re.sub(first, second, told)
    return told[0].upper() + told[1:]


def _words(subject: str, language: str, shown: Sequence[_Shown]) -> list[str]:
    talk = " ".join(turn.said for turn in shown)
    return [word for word in _SUBJECTS[language][subject] if word in talk]


def _profile(shown: Sequence[_Shown]) -> list[Mapping[str, Any]]:
    return [
        {"field": field, "value": found[found.lastindex or 0], "turn": turn.number, "quote": turn.said}
        for turn in shown
        for field, pattern in _FIELDS
        if (found := re.search(pattern, turn.said))
    ]  # fmt: skip


def _traits(shown: Sequence[_Shown], language: str) -> list[Mapping[str, Any]]:
    seen: dict[str, list[_Shown]] = {}
    for turn in shown:
        if dimension := _TRAITS.get(turn.subject(language)):
            seen.setdefault(dimension, []).append(turn)
    return [
        {
            "dimension": dimension,
            "level": "high",
            "turns": [turn.number for turn in turns],
            "quotes": [turn.said for turn in turns],
        }
        for dimension, turns in seen.items()
    ]


def _in_brief(said: Sequence[str], language: str) -> str:
    talk = " ".join(said)
    known = [
        subject
        for subject, words in _SUBJECTS[language].items()
        if any(word in talk for word in words)
    ]
    if language == "ja":
        return f"{'、'.join(known or ['一日'])}の話をした。"
    return f"You talked about {', '.join(known or ['the day'])}."
