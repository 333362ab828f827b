"""Opens the store of a data folder for a command that changes it, without a server and without any model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio import to_thread

from server.commands.reach import Place
from server.folder_lock import lock_data
from server.memory.cipher import cipher_of
from server.memory.store import Store
from server.memory.writer import Writer


@asynccontextmanager
async def open_store(place: Place) -> AsyncIterator[tuple[Store, Writer]]:
    """Open the store of a folder and what writes to it, for the block; nobody else may be at work there.

    Raises:
        OmoideError: A server is running there, or the folder can't be used.
    """
    file = place.data / "memory" / "memory.db"
    with lock_data(place.data):
        store = await to_thread.run_sync(Store, file, cipher_of(place.config.store))
        writer = Writer(store)
        try:
            yield store, writer
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(writer.close)
                await to_thread.run_sync(store.close)
