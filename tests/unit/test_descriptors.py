from collections.abc import Iterator

import pytest

from server.descriptors import raise_limit

resource = pytest.importorskip("resource")


@pytest.fixture
def limits() -> Iterator[tuple[int, int]]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_as_many_files_may_be_open_as_the_system_allows(limits: tuple[int, int]) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    raise_limit()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard == limits[1]
    assert soft == hard or soft >= 10_240
    raise_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
