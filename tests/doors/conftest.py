from pathlib import Path
from typing import Any

import pytest

from server.access import Access
from server.config import Config
from tests.doors.premises import FixedClock
from tests.doors.visitors import Open


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def open_access(tmp_path: Path, clock: FixedClock) -> Open:
    """Open the access of one data folder, as often as a server is started on it."""

    def opened(**sections: Any) -> Access:
        return Access(Config(**sections), tmp_path, clock)

    return opened


@pytest.fixture
def access(open_access: Open) -> Access:
    return open_access()
