"""What a person wrote takes the place of a fact: in its form, and without waiting for a model."""

from collections.abc import Sequence
from pathlib import Path

import anyio

from server.memory.correcting import correct
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import Fact, Page
from tests.memory.remembering import Room, opened

CAT = "猫を飼い始めたんだ。"
SECONDS = 5
"""Far more than a correction takes on a busy machine, and less than for ever."""


async def corrected(room: Room, old: str, text: str) -> Fact | None:
    """Put a sentence in the place of the fact that holds a word."""
    [fact] = [one for one in await room.memory.archive.facts("hana") if old in one.text]
    return await correct(room.memory, fact.id, text, room.clock.now(), 0)


class Hanging(RulesExtractor):
    """Draws facts once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_go_on = anyio.Event(), anyio.Event()

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        self.begun.set()
        await self.may_go_on.wait()
        return await super().extract(pages, attempt)


async def test_a_correction_does_not_wait_for_a_model_that_draws_facts(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(CAT)
        await room.memory.extract()
        room.memory.consolidator.extractor = hanging = Hanging()
        room.tell("大阪に住んでいるよ。", person="taro")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await hanging.begun.wait()
            with anyio.move_on_after(SECONDS):
                await corrected(room, "猫", "犬を飼い始めたんだ。")
            known = await room.known()
            hanging.may_go_on.set()
        assert ["犬" in text for text in known] == [True]
        assert any("大阪" in text for text in await room.known("taro"))
