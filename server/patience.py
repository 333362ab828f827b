"""How many wrong tokens a household may bring before nobody looks at any more of them."""

from server.callers import Caller
from server.errors import AccessError
from server.rates import Rates


class Patience:
    """For use inside the event loop only."""

    def __init__(self, per_minute: int) -> None:
        self._failures = Rates(per_minute)

    def check(self, caller: Caller, token: str) -> None:
        """Look at no more tokens of a household that came with too many wrong ones: one could be guessed else.

        Raises:
            AccessError: `too-many-failures`.
        """
        if token and not caller.is_local and self._failures.is_spent(caller.household):
            raise AccessError(
                "too-many-failures", "Too many wrong tokens came from there; try again in a minute."
            )

    def note(self, caller: Caller, error: AccessError) -> None:
        """Count a refusal, if it was for a token that was wrong."""
        if error.code == "token-wrong" and not caller.is_local:
            self._failures.take(caller.household)
