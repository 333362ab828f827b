"""Which engine draws facts and sums up days: the language model if it passes a test at the start, else the rules."""

from datetime import UTC, datetime

import structlog

from server.config import Config
from server.errors import OmoideError
from server.memory.day_summaries import DaySummarizer, ModelSummarizer, RulesSummarizer
from server.memory.extract import Extractor, ModelExtractor, RulesExtractor
from server.memory.models import Page
from server.ports import Llm
from server.prompting import PromptFiles

log = structlog.get_logger(__name__)

_CAN_NOT = frozenset({"extraction-malformed", "llm-empty"})
"""What shows that a model can't draw facts, rather than that it could not be asked."""
_TRIALS = {
    "ja": ("昨日、妹の美咲と動物園に行ってきたんだ。パンダがかわいかったよ。", "美咲"),
    "en": ("Yesterday I went to the zoo with my sister Misaki. The pandas were so cute.", "Misaki"),
    "zh": ("昨天我和妹妹美咲去了动物园，熊猫很可爱。", "美咲"),
}
"""Something that a person might say, and a name that a fact drawn from it has to hold."""


async def choose_extractor(config: Config, llm: Llm, prompts: PromptFiles) -> Extractor:
    """Return what draws facts under this configuration.

    With ``extraction.engine: auto`` a model that is too small to follow instructions is not even asked, and one that can't
    draw a fact from a sentence made up for the purpose is not trusted with those of people.
    """
    engine = config.extraction.engine
    language = config.persona.language
    week_start = config.retrieval.week_start
    if engine == "rules" or (engine == "auto" and llm.traits(language).compact):
        log.info("extraction-engine", engine="rules")
        return RulesExtractor(week_start)
    extractor = ModelExtractor(
        llm, prompts, week_start, config.persona.name, heeds_signs=config.safety.enabled
    )
    if engine == "llm":
        log.info("extraction-engine", engine="llm")
        return extractor
    reason = await _try(extractor, language)
    log.info("extraction-engine", engine="rules" if reason else "llm", reason=reason)
    return RulesExtractor(week_start) if reason else extractor


def choose_summarizer(
    config: Config, llm: Llm, prompts: PromptFiles, extractor: Extractor
) -> DaySummarizer:
    """Return what sums up days under this configuration; with ``summaries.engine: auto`` what draws the facts, too."""
    engine = config.summaries.engine
    if engine == "auto":
        engine = "llm" if isinstance(extractor, ModelExtractor) else "rules"
    log.info("summary-engine", engine=engine)
    return ModelSummarizer(llm, prompts) if engine == "llm" else RulesSummarizer()


async def _try(extractor: Extractor, language: str) -> str:
    """Return why a model can't draw facts; empty if it can."""
    said, name = _TRIALS.get(language, _TRIALS["en"])
    page = Page(said, "", datetime(2026, 5, 3, 12, tzinfo=UTC), language, id="trial")
    try:
        harvest = await extractor.extract([page], 0)
    except OmoideError as error:
        # Who can't be reached may be able all the same: what waits is tried again, and falls to the rules in the end.
        return error.code if error.code in _CAN_NOT else ""
    return "" if any(name in fact.text for fact in harvest.facts) else "no fact in the trial"
