import errno
import logging
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from server.failures import quieten

NAME = "tests.some_library"


@pytest.fixture
def library() -> Iterator[logging.Logger]:
    logger = logging.getLogger(NAME)
    yield logger
    logger.handlers.clear()
    logger.propagate = True


class Watch:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def accept(logger: logging.Logger) -> None:
    error = OSError(errno.EMFILE, "Too many open files")
    logger.error("out of resources\nsocket: what nobody should read", exc_info=error)


def test_the_same_trouble_is_told_once_a_minute_with_its_number(library: logging.Logger) -> None:
    watch = Watch()
    quieten(NAME, "trouble", watch)
    with capture_logs() as logs:
        for _ in range(1000):
            accept(library)
        watch.seconds = 61.0
        accept(library)
    assert [entry.get("left_out") for entry in logs] == [None, 999]
    assert logs[0]["code"] == "too-many-open-files"
    assert logs[0]["what"] == "out of resources"
    assert logs[0]["where"] == "OSError"


def test_another_trouble_is_told_at_once(library: logging.Logger) -> None:
    quieten(NAME, "trouble", Watch())
    with capture_logs() as logs:
        library.warning("one %s", 1)
        library.warning("one %s", 2)
        library.warning("another")
        library.info("nothing")
    assert [entry["what"] for entry in logs] == ["one 1", "another"]


def test_ever_new_kinds_of_trouble_are_not_kept_for_ever(library: logging.Logger) -> None:
    quieten(NAME, "trouble", Watch())
    with capture_logs() as logs:
        for number in range(500):
            library.warning(f"trouble {number}")
    assert len(logs) == 500
    assert len(library.handlers[0]._told) <= 100  # type: ignore[attr-defined]
