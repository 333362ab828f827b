"""How long a reply may take: until its first token, between two tokens, and altogether."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from anyio import current_time, fail_after

from server.config import LlmSection
from server.errors import LlmError
from server.turn import Prompt

T = TypeVar("T")

BACKGROUND_FACTOR = 5.0
"""How much longer everything may take where nobody waits for the answer."""


class Patience:
    """Bounds every wait of one reply. Built when the reply is asked for."""

    def __init__(self, config: LlmSection, who: str, factor: float = 1.0) -> None:
        """Start the clock.

        Args:
            config: The three durations.
            who: Names the model in the error message.
            factor: By which they are multiplied.
        """
        self._config = config
        self._who = who
        self._factor = factor
        self._started_at = current_time()
        self._has_begun = False

    def begin(self) -> None:
        """Note that the first token is there: from now on the idle time counts."""
        self._has_begun = True

    @property
    def first_token_seconds_left(self) -> float:
        """What remains of the time for the first token."""
        return self._left(self._config.first_token_seconds)

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
            value = f"{getattr(self._config, setting):g}"
            if self._factor != 1.0:
                value += f", times {self._factor:g} in the background"
            raise LlmError(
                "llm-timeout",
                f"{self._who} took too long (llm.{setting} = {value}). Use a faster model, or raise the setting.",
            ) from error

    def _allowance(self) -> tuple[float, str]:
        total = self._left(self._config.total_seconds)
        if self._has_begun:
            idle = self._config.idle_seconds * self._factor
            return min((idle, "idle_seconds"), (total, "total_seconds"))
        return min((self.first_token_seconds_left, "first_token_seconds"), (total, "total_seconds"))

    def _left(self, seconds: float) -> float:
        return self._started_at + seconds * self._factor - current_time()


def patience_for(prompt: Prompt, config: LlmSection, who: str) -> Patience:
    """Start the clock for a prompt: background work may take its time."""
    is_background = prompt.decoding is not None and prompt.decoding.background
    return Patience(config, who, BACKGROUND_FACTOR if is_background else 1.0)
