"""Makes every engine ready at the start, and tries again those that could not be."""

from collections.abc import Awaitable, Callable, Mapping

import anyio
import structlog

from server.errors import OmoideError
from server.failures import log_fault
from server.ports import Engine

log = structlog.get_logger(__name__)

FIRST_WAIT_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 3600.0
"""Between two tries, doubled each time: what is not installed stays missing, a service that was down comes back."""


class Warming:
    """What is ready of the engines of one server.

    Args:
        stages: The engines by the name of their stage.
        settle: What else a stage needs once its engine is warm. May be done again.
    """

    def __init__(
        self, stages: Mapping[str, Engine], settle: Mapping[str, Callable[[], Awaitable[object]]]
    ) -> None:
        self._stages = stages
        self._settle = settle
        self._next: dict[str, tuple[float, float]] = {}
        """When a stage is tried again, on the clock of `anyio.current_time`, and how long the wait after that is."""
        self.troubles: dict[str, OmoideError] = {}
        """Why a stage is not ready, by its name."""

    async def warm(self, name: str) -> bool:
        """Load the engine of a stage; return whether it works. Nothing is raised: what goes wrong is in `troubles`."""
        engine, started = self._stages[name], anyio.current_time()
        if not await self._noting(name, engine.warm_up):
            return False
        seconds = round(anyio.current_time() - started, 1)
        log.info("engine-warm", stage=name, engine=engine.name, seconds=seconds)
        return True

    async def settle(self, name: str) -> bool:
        """Do what else a stage needs; return whether that went well."""
        step = self._settle.get(name)
        return step is None or await self._noting(name, step)

    async def try_again(self) -> None:
        """Make ready what is in trouble and whose wait is over."""
        now = anyio.current_time()
        for name in tuple(self.troubles):
            due, wait = self._next.get(name, (now, FIRST_WAIT_SECONDS))
            if now < due:
                continue
            self._next[name] = (now + wait, min(2 * wait, LONGEST_WAIT_SECONDS))
            if await self.warm(name) and await self.settle(name):
                del self.troubles[name], self._next[name]
                log.info("engine-recovered", stage=name)

    async def _noting(self, name: str, work: Callable[[], Awaitable[object]]) -> bool:
        try:
            await work()
        except OmoideError as error:
            trouble = error
        except Exception as error:
            log_fault("engine-fault", error, stage=name)
            kind = type(error).__name__
            trouble = OmoideError("internal-error", f"The engine has a fault ({kind}).")
        else:
            return True
        self.troubles[name] = trouble
        log.warning("engine-trouble", stage=name, code=trouble.code, reason=str(trouble))
        return False
