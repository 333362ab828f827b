"""The memory of a running server, over its API."""

from dataclasses import asdict

from anyio import to_thread

from server.commands.api import Api, path_of
from server.commands.memory_kinds import Drawn, Listing, Row, Search
from server.memory.importing import person_in
from server.memory.selecting import Selector


class RemoteMemory:
    """The memory of a running server. See `MemoryAccess`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""
        answer = await self._api.ask("GET", "/api/memory/persons")
        return list(answer["persons"])

    async def facts(self, person: str, *, superseded: bool) -> Listing:
        """Return the facts of a person."""
        params = {"superseded": "true"} if superseded else {}
        answer = await self._api.ask("GET", f"{_path(person)}/facts", params)
        return Listing(list(answer["facts"]), int(answer.get("waiting", 0)))

    async def fact(self, fact_id: str) -> Row:
        """Return one fact."""
        return dict(await self._api.ask("GET", _path("facts", fact_id)))

    async def search(self, person: str, search: Search) -> list[Row]:
        """Return the candidates of a search."""
        params: dict[str, str | int] = {
            "q": search.text,
            "language": search.language,
            "limit": search.limit,
        }
        if search.at is not None:
            params["at"] = search.at.isoformat()
        answer = await self._api.ask("GET", f"{_path(person)}/search", params)
        return list(answer["candidates"])

    async def export(self, person: str) -> Row:
        """Return everything of a person."""
        return dict(await self._api.ask("GET", f"{_path(person)}/export"))

    async def correct(self, fact_id: str, text: str) -> Row:
        """Put a sentence in the place of a fact."""
        return dict(await self._api.ask("PUT", _path("facts", fact_id), body={"text": text}))

    async def forget(self, selector: Selector, *, dry_run: bool = False) -> Row:
        """Delete what a selector stands for, or only say what that is."""
        body = {**_asked(selector), "dry_run": dry_run}
        return dict(await self._api.ask("POST", "/api/memory/forget", body=body))

    async def bring_in(self, text: str, person: str, *, forgotten: bool) -> Row:
        """Store an export; what is wrong with it is found here."""
        one = await to_thread.run_sync(person_in, text, person)
        params = {"forgotten": "true"} if forgotten else {}
        return dict(await self._api.ask("POST", f"{_path(person)}/import", params, body=one))

    async def audit(self, last: int) -> list[Row]:
        """Return the record of erasures."""
        answer = await self._api.ask("GET", "/api/memory/audit", {"limit": last})
        return list(answer["entries"])

    async def reindex(self, person: str) -> int:
        """Make the vector index of a person anew."""
        return int((await self._api.ask("POST", f"{_path(person)}/reindex"))["embedded"])

    async def extract(self, person: str) -> Drawn:
        """Draw facts."""
        answer = await self._api.ask("POST", "/api/debug/extract", body={"person": person})
        waiting, interrupted = int(answer.get("waiting", 0)), bool(answer.get("interrupted"))
        return Drawn(list(answer["stored"]), waiting, interrupted)


def _asked(selector: Selector) -> dict[str, object]:
    """Return a selector as the API takes it."""
    named = asdict(selector) | {"facts": list(selector.facts)}
    named["day"] = selector.day.isoformat() if selector.day else None
    return named


def _path(*parts: str) -> str:
    return path_of("/api/memory", *parts)
