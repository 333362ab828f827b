"""The event loop whose clock jumps to the next timer, for tests.

A module asks for it by overriding the fixture that chooses the loop:

    @pytest.fixture(scope="module")
    def anyio_backend() -> Backend:
        return VIRTUAL_TIME

`anyio.current_time`, `anyio.sleep` and every time-out follow the virtual clock. It stands still while something can run,
while a worker thread of `anyio.to_thread` or an engine computes, and while a memory is being written. Not for tests with sockets
or child processes: what comes from outside takes real time, which this clock does not know.
"""

from server.simulator.virtual_time import VIRTUAL_TIME, Backend, Deadlock, VirtualTimeLoop

__all__ = ["VIRTUAL_TIME", "Backend", "Deadlock", "VirtualTimeLoop"]
