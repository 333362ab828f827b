"""How long a reply may take: until its first token, between two tokens, and altogether."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from anyio import current_time, fail_after

from server.config import LlmSection
from server.errors import LlmError

T = TypeVar("T")


class Patience:
    """Bounds every wait of one reply. Built when the reply is asked for."""

    def __init__(self, config: LlmSection, who: str) -> None:
        """Start the clock.

        Args:
            config: The three durations.
            who: Names the model in the error message.
        """
        self._config = config
        self._who = who
        self._started_at = current_time()
        self._has_begun = False

    def begin(self) -> None:
        """Note that the first token is there: from now on the idle time counts."""
        self._has_begun = True

    @property
    def first_token_seconds_left(self) -> float:
        """What remains of the time for the first token."""
        return self._started_at + self._config.first_token_seconds - current_time()

    async def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        """Await `call()`.

        Raises:
            LlmError: ``llm-timeout``; the message says which setting bounds the wait.
        """
        seconds, setting = self._allowance()
        try:
            with fail_after(max(0.0, seconds)):
                return await call()
        except TimeoutError as error:
            raise LlmError(
                "llm-timeout",
                f"{self._who} took too long (llm.{setting} = {getattr(self._config, setting):g}). Use a faster model, or "
                "raise the setting.",
            ) from error

    def _allowance(self) -> tuple[float, str]:
        total = self._started_at + self._config.total_seconds - current_time()
        if self._has_begun:
            return min((self._config.idle_seconds, "idle_seconds"), (total, "total_seconds"))
        return min((self.first_token_seconds_left, "first_token_seconds"), (total, "total_seconds"))
