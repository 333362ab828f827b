"""The desk at which people look through safety events: list them, acknowledge them, close them."""

from functools import partial

from anyio import to_thread

from server.memory.safety.models import Review, SafetyEvent, State
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock


class SafetyDesk:
    """A part of `server.memory.Memory`. Every method raises `StoreError` if the store can't do it."""

    def __init__(self, store: Store, writer: Writer, clock: Clock) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock

    async def find(
        self, person: str | None = None, state: State | None = None
    ) -> list[SafetyEvent]:
        """Return events, of everybody if no person is named and in any state, oldest first."""
        await self._writer.settle()
        return await to_thread.run_sync(self._store.safety.find, person, state)

    async def get(self, event_id: str) -> SafetyEvent | None:
        """Return one event, or None."""
        return await to_thread.run_sync(self._store.safety.get, event_id)

    async def beginning(self, beginning: str) -> dict[str, str]:
        """Return the events whose ids begin so, each with its person."""
        await self._writer.settle()
        return await to_thread.run_sync(self._store.ids.events, beginning)

    async def review(
        self, event_id: str, state: State, by: str, note: str = ""
    ) -> SafetyEvent | None:
        """Acknowledge or close an event; return it as it is then, or None if there is none.

        What is closed stays as it is.

        Args:
            event_id: Which event.
            state: `State.ACKNOWLEDGED` or `State.CLOSED`.
            by: Who looked at it.
            note: What they have to say about it.
        """
        review = Review(state, by, self._clock.now(), note)
        return await self._writer.run(partial(self._store.safety.review, event_id, review))
