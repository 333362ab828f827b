"""Drawing what a talk asks of the persona: together with everything else of a batch, or for one layer alone."""

from collections.abc import Sequence
from functools import partial
from string import Template

from anyio import to_thread

from server.config_persona import Lock
from server.memory.answer_forms import LAYER
from server.memory.answers import read_layer
from server.memory.background import ask
from server.memory.extract import Extractor, Prompts, dialogue
from server.memory.harvest import Asked, Harvest
from server.memory.layers.fields import FIELDS, LayerName
from server.memory.layers.layers import Layers
from server.memory.layers.sorting_out import sorted_out
from server.memory.models import Page, Trait
from server.ports import Llm

_MOST_TOKENS = 400
_NONE = "-"


class PersonaExtractor:
    """An extractor that hands what a batch asks of the persona to the layers, and passes on the rest.

    Args:
        extractor: Does the work.
        layers: Where it goes; there, the locks decide.
    """

    def __init__(self, extractor: Extractor, layers: Layers) -> None:
        self.extractor = extractor
        self._layers = layers

    @property
    def gives_way(self) -> bool:
        """As that of the extractor inside."""
        return self.extractor.gives_way

    @property
    def asks_a_model(self) -> bool:
        """As that of the extractor inside."""
        return self.extractor.asks_a_model

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        """See `Extractor.extract`."""
        harvest = await self.extractor.extract(pages, attempt)
        self._layers.count_left_out(harvest.misfiled)
        await self._layers.take(harvest.persona)
        return harvest

    async def portray(
        self, pages: Sequence[Page], known: Sequence[Trait], attempt: int
    ) -> Harvest | None:
        """See `Extractor.portray`."""
        harvest = await self.extractor.portray(pages, known, attempt)
        if harvest is not None:
            self._layers.count_left_out(harvest.misfiled)
        return harvest


async def draw_layer(
    layer: LayerName, pages: Sequence[Page], llm: Llm, prompts: Prompts, layers: Layers
) -> list[tuple[Asked, str]]:
    """Let a model read some pages for one layer alone; return what was asked for and what became of each.

    Args:
        layer: Soul or Identity. What the model writes for another one is left out, and counted.
        pages: Of one person, oldest first; at least one.
        llm: The model.
        prompts: Holds ``layer``.
        layers: Where it goes.

    Raises:
        OmoideError: ``extraction-malformed``, or the model failed. Nothing was changed.
    """
    language = pages[-1].language
    system = layer_instruction(prompts, layer, language)
    answer = await ask(
        llm,
        system,
        dialogue(pages),
        language,
        0,
        schema=LAYER.schema(),
        most_tokens=_MOST_TOKENS,
        code="extraction-malformed",
    )
    drafts = read_layer(answer, system)
    found = await to_thread.run_sync(partial(sorted_out, drafts, pages, layer))
    layers.count_left_out(found.left_out)
    return await layers.take(found.asked)


def layer_instruction(prompts: Prompts, layer: LayerName, language: str) -> str:
    """Return what a model is told to draw one layer."""
    persona = prompts.persona()
    mine = [key for key in FIELDS if FIELDS[key].layer is layer]
    fixed = [key for key in mine if persona.fields[key].lock is Lock.LOCKED]
    return Template(prompts.in_language("layer", language)).safe_substitute(
        layer=str(layer),
        persona_fields=", ".join(key for key in mine if key not in fixed) or _NONE,
        fixed_fields=", ".join(fixed) or _NONE,
    )
