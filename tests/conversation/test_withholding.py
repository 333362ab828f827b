"""A model that is too small to mean what it says tells nobody of a death that nobody spoke of. In virtual time."""

import pytest

from firmware_bridge.events import TextSaid
from server.ports import LlmTraits
from tests.fakes import FakeDevice, FakeLlm
from tests.talks import make_house, shown, stops, talking, with_engines
from tests.virtual_time import VIRTUAL_TIME, Backend


class TinyLlm(FakeLlm):
    """A scripted model that counts as one of the embedded ones."""

    def traits(self, language: str) -> LlmTraits:
        return LlmTraits(compact=True, prompt_budget_tokens=300, local=True)


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def answers(said: str, reply: str, llm: type[FakeLlm] = TinyLlm) -> tuple[list[str], str]:
    """Return what is heard when a model answers so, and the error of the turn."""
    house, device = with_engines(make_house(["はい。"]), llm=llm([reply])), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid(said))
        await stops(device)
    return shown(device), house.recent.list()[0].error


@pytest.mark.parametrize(
    ("said", "reply", "language_says"),
    [
        ("孫の健太が12日に来るの。", "孫の健太は死んだ。", "お話は聞いています"),
        ("My grandson Leo comes on Friday.", "Leo was killed last year.", "I heard you"),
    ],
)
async def test_a_death_that_nobody_spoke_of_is_not_told_by_a_tiny_model(
    said: str, reply: str, language_says: str
) -> None:
    heard, error = await answers(said, reply)
    assert len(heard) == 1
    assert language_says in heard[0]
    assert error == "llm-withheld"


async def test_what_came_before_it_is_told_and_what_builds_on_it_is_not() -> None:
    heard, error = await answers(
        "孫の健太が12日に来るの。", "楽しみですね。健太は死んだ。かわいそうに。"
    )
    assert heard == ["楽しみですね。"]
    assert error == ""


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("主人が五年前に亡くなったの。", "亡くなったのはつらいですね。"),
        ("孫の健太が12日に来るの。", "健太さんに会えますね。"),
    ],
)
async def test_what_was_spoken_of_may_be_spoken_of(said: str, reply: str) -> None:
    assert await answers(said, reply) == ([reply], "")


async def test_a_large_model_is_left_to_say_what_it_means() -> None:
    reply = "徳川家康は1616年に亡くなりました。"
    assert await answers("徳川家康はどうなったの？", reply, FakeLlm) == ([reply], "")
