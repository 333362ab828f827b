"""`omoide memory forget` and `omoide memory audit`: what would go, letting it go, and the record of that."""

from collections.abc import Callable, Collection, Mapping

from server.commands.counts import in_words
from server.commands.memory_access import open_access
from server.commands.memory_kinds import MemoryAccess, Row
from server.commands.reach import Place
from server.commands.report import Report, Tell, describe_error
from server.commands.table import tell_table
from server.errors import ConfigError
from server.memory.selecting import Selector

NOTHING: Mapping[str, Mapping[str, object]] = {
    "forget": {
        "forgotten": 0,
        "kind": "",
        "persons": [],
        "counts": {},
        "total": 0,
        "open_signs": [],
        "examples": [],
        "holds_again": [],
        "error": None,
    },
    "audit": {"entries": [], "error": None},
}
"""The shape of each command's JSON object when nothing came of it."""


async def forget(
    selector: Selector, place: Place, tell: Tell, confirm: Callable[[], bool] = lambda: True
) -> Report:
    """Delete what is named, after saying what that is.

    Args:
        selector: What is named.
        place: Where the memory is.
        tell: Told what would go, what went, and which facts hold again because what had replaced them is gone.
        confirm: Asks whether that is meant; asked once what would go has been told.

    Raises:
        OmoideError: Something that is named is unknown, then nothing is deleted; or the memory can't be had.
    """
    nothing = NOTHING["forget"]
    async with open_access(place) as memory:
        found = await memory.forget(selector, dry_run=True)
        whole = dict(found)
        if not found["total"]:
            tell("Nothing of that is remembered.")
            return Report({**nothing, **whole})
        tell(f"This goes: {in_words(found['counts'])}. Only a backup brings it back.")
        if signs := found.get("open_signs"):
            tell(
                f"Nobody has looked yet at {len(signs)} of the danger signs among it ({', '.join(sorted(set(signs)))}): see "
                "`omoide safety list`. A webhook that has not been told of one is told that there was one, without the words."
            )
        for example in found["examples"]:
            tell(f"    {example}")
        if not confirm():
            refusal = ConfigError(
                "Nothing was deleted. Add --yes if that is meant.", "confirmation-missing"
            )
            return Report({**nothing, **whole, "error": describe_error(refusal)}, ok=False)
        before = {row["id"] for row in await _holding(found["persons"], memory)}
        went = await memory.forget(selector)
        tell(f"Forgotten: {in_words(went['counts'])}.")
        again = [row for row in await _holding(found["persons"], memory) if row["id"] not in before]
        for row in again:
            tell(f"Holds again: {row['id']}  {row['text']}")
    forgotten = went["counts"].get("facts", 0)
    ids = [row["id"] for row in again]
    return Report({**nothing, **whole, **went, "forgotten": forgotten, "holds_again": ids})


async def audit(last: int, place: Place, tell: Tell) -> Report:
    """Show what was erased, by whom and how much, without the text.

    Raises:
        OmoideError: The memory can't be had.
    """
    async with open_access(place) as memory:
        entries = await memory.audit(last)
    if entries:
        rows = [(one["at"][:19], one["actor"], one["kind"], str(one["count"])) for one in entries]
        tell_table([("TIME (UTC)", "BY", "WHAT", "RECORDS"), *rows], tell)
    else:
        tell("Nothing was erased yet.")
    return Report({**NOTHING["audit"], "entries": entries})


async def _holding(persons: Collection[str], memory: MemoryAccess) -> list[Row]:
    """Return the facts that hold of some persons."""
    known = set(await memory.persons())
    listings = [
        await memory.facts(person, superseded=False) for person in sorted(known & set(persons))
    ]
    return [row for listing in listings for row in listing.facts]
