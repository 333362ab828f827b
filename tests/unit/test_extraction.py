"""Which engine draws facts and sums up days: a model only if it can."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from server.config import Config
from server.errors import LlmError
from server.extraction import choose_extractor, choose_summarizer
from server.memory.day_summaries import ModelSummarizer, RulesSummarizer
from server.memory.extract import ModelExtractor, RulesExtractor
from server.ports import LlmTraits
from server.prompting import PromptFiles
from tests.fakes import PROMPTS, FakeLlm, Step
from tests.memory.remembering import answer

JA = answer(
    (1, "昨日、妹の美咲と動物園に行ってきたんだ。", "あなたは昨日、妹の美咲と動物園に行った。")
)
EN = answer(
    (1, "I went to the zoo with my sister Misaki", "You went to the zoo with your sister Misaki.")
)
ZH = answer((1, "昨天我和妹妹美咲去了动物园", "你昨天和妹妹美咲去了动物园。"))


async def chosen(llm: FakeLlm, language: str = "ja", engine: str = "auto") -> type[Any]:
    config = Config(persona={"language": language}, extraction={"engine": engine})
    return type(await choose_extractor(config, llm, PromptFiles(PROMPTS)))


@pytest.mark.parametrize(("language", "draws"), [("ja", JA), ("en", EN), ("zh", ZH)])
async def test_a_model_that_can_draw_a_fact_draws_them(language: str, draws: str) -> None:
    llm = FakeLlm([], draws=[[draws]])
    assert await chosen(llm, language) is ModelExtractor
    assert len(llm.background_prompts) == 1


@pytest.mark.parametrize(
    "draws",
    [
        ['{"facts": []}'],
        ["楽しかったですね！"],
        [LlmError("llm-empty", "no")],
        [
            answer(
                (
                    1,
                    "昨日、妹の花子と動物園に行ってきたんだ。",
                    "あなたは妹の花子と動物園に行った。",
                )
            )
        ],
        [answer((1, "パンダがかわいかったよ。", "あなたはパンダがかわいいと思った。"))],
    ],
)
async def test_a_model_that_cannot_is_not_trusted(draws: list[Step]) -> None:
    with capture_logs() as logs:
        assert await chosen(FakeLlm([], draws=[draws])) is RulesExtractor
    [line] = [line for line in logs if line["event"] == "extraction-engine"]
    assert line["engine"] == "rules"
    assert line["reason"]


async def test_a_model_that_can_not_be_reached_may_be_able_all_the_same() -> None:
    """What waits is tried again, and falls to the rules in the end."""
    llm = FakeLlm([], draws=[[LlmError("llm-unreachable", "no")]])
    assert await chosen(llm) is ModelExtractor


async def test_a_model_that_is_too_small_is_not_even_asked() -> None:
    class Small(FakeLlm):
        def traits(self, language: str) -> LlmTraits:
            return LlmTraits(compact=True, prompt_budget_tokens=300, local=True)

    llm = Small([], draws=[[JA]])
    assert await chosen(llm) is RulesExtractor
    assert llm.background_prompts == []


async def test_what_is_configured_is_not_put_to_the_test() -> None:
    llm = FakeLlm([], draws=[["nonsense"]])
    assert await chosen(llm, engine="llm") is ModelExtractor
    assert await chosen(llm, engine="rules") is RulesExtractor
    assert llm.background_prompts == []


@pytest.mark.parametrize(
    ("engine", "draws", "sums_up"),
    [
        ("auto", JA, ModelSummarizer),
        ("auto", '{"facts": []}', RulesSummarizer),
        ("rules", JA, RulesSummarizer),
        ("llm", '{"facts": []}', ModelSummarizer),
    ],
)
async def test_days_are_summed_up_by_what_draws_facts_unless_it_is_said(
    engine: str, draws: str, sums_up: type[Any]
) -> None:
    config = Config(summaries={"engine": engine})
    llm, prompts = FakeLlm([], draws=[[draws]]), PromptFiles(PROMPTS)
    extractor = await choose_extractor(config, llm, prompts)
    with capture_logs() as logs:
        summarizer = choose_summarizer(config, llm, prompts, extractor)
    assert type(summarizer) is sums_up
    told = "llm" if sums_up is ModelSummarizer else "rules"
    assert [line["engine"] for line in logs if line["event"] == "summary-engine"] == [told]
    assert summarizer.gives_way == (sums_up is ModelSummarizer)
