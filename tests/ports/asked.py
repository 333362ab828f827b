"""Questions for the tests of language models, and how to ask them."""

from contextlib import aclosing

from server.ports import Llm, LlmEvent
from server.turn import Message, Prompt

TALK = {
    "ja": "小さなロボットと人の会話です。ロボットは短く答えます。\n\n人: こんにちは。\nロボ: こんにちは。今日はいい天気ですね。\n人: 好きな食べ物は何ですか。\nロボ: カレーが好きです。",
    "en": "You are a small friendly robot. You answer in one short sentence.",
}
QUESTION = {"ja": "日本の首都はどこですか。", "en": "Hello! How are you today?"}


def prompt_in(language: str, question: str = "", padding: str = "") -> Prompt:
    said = question or QUESTION[language]
    return Prompt(padding + TALK[language], (Message("user", said),), language)


async def ask(llm: Llm, prompt: Prompt) -> list[LlmEvent]:
    async with aclosing(llm.stream(prompt)) as events:
        return [event async for event in events]
