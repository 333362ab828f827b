"""The event loop whose clock jumps to the next timer, for tests.

A module asks for it by overriding the fixture that chooses the loop:

    @pytest.fixture(scope="module")
    def anyio_backend() -> Backend:
        return VIRTUAL_TIME
"""

from server.simulator.virtual_time import VIRTUAL_TIME, Backend, Deadlock, VirtualTimeLoop

__all__ = ["VIRTUAL_TIME", "Backend", "Deadlock", "VirtualTimeLoop"]
