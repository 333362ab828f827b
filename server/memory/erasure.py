"""Takes the words of facts that are forgotten out of the exchanges in the store."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, select, update

from server.memory.consents import lose_waiting
from server.memory.counters import Part, count_change
from server.memory.erasing import Erased, Erasing
from server.memory.lineage import lose_answers, lose_pages, record_key
from server.memory.models import Page
from server.memory.pages import is_behind, owners_of
from server.memory.redaction import cut_out, holds, without, without_any
from server.memory.safety.events import lose_events, lose_quoted, open_kinds
from server.memory.schema import (
    OF_PERSONS,
    facts,
    grounds,
    line_vectors,
    lines,
    notes,
    pages,
    profile,
    sources,
)
from server.memory.sweeping import census, ids_of, lose_grounds, lose_words, persons_meant
from server.memory.terms import letters
from server.memory.tiers import drop_empty, lose_unread, unsay
from server.memory.unfinished import bury


class Telling(NamedTuple):
    """What an exchange has of facts that are to be forgotten."""

    quotes: list[str]
    """The words that they were drawn from."""
    is_source: bool
    """Whether one of them was drawn from it; else the same was said there once more."""


def pages_telling(connection: Connection, fact_ids: Sequence[str]) -> dict[str, Telling]:
    """Return the exchanges that tell of facts, by id: their sources, and those in which a quote stands word for word."""
    wanted = (facts.c.id, facts.c.person, facts.c.quote)
    known = connection.execute(select(*wanted).where(facts.c.id.in_(fact_ids))).all()
    spoken = {fact.person: _pages_of(connection, fact.person) for fact in known}
    telling: dict[str, Telling] = {}
    for fact in known:
        drawn_from = set(
            connection.scalars(select(sources.c.page).where(sources.c.fact == fact.id))
        )
        for page in spoken[fact.person]:
            if page.id in drawn_from or holds(page.said, fact.quote):
                before = telling.get(page.id, Telling([], is_source=False))
                is_source = before.is_source or page.id in drawn_from
                telling[page.id] = Telling([*before.quotes, fact.quote], is_source)
    return telling


def erase(connection: Connection, what: Erasing) -> Erased:
    """Delete everything that is named, in an open transaction, with all that was made of it alone.

    Facts that were drawn from whole exchanges go; where they were said elsewhere, too, those exchanges wait again. What one of
    the facts had replaced holds again, or is replaced by what had replaced that one.
    """
    persons = persons_meant(connection, what)
    before, open_before = census(connection, persons), open_kinds(connection, persons)
    cut = 0
    if what.person:
        bury(connection, ids_of(connection, what.person))
        for table in OF_PERSONS:
            connection.execute(delete(table).where(table.c.person == what.person))
    else:
        cut = _erase_parts(connection, what, persons)
    after = census(connection, persons)
    went = {kind: count - after[kind] for kind, count in before.items()} | {"cut": cut}
    still_open = open_kinds(connection, persons)
    signs = tuple(str(kind) for id_, kind in open_before.items() if id_ not in still_open)
    counts = {kind: count for kind, count in went.items() if count > 0}
    return Erased(frozenset(persons), counts, signs)


def _erase_parts(connection: Connection, what: Erasing, persons: Set[str]) -> int:
    """Do so for what is named by its ids; return how many exchanges stay without some of their sentences."""
    telling = pages_telling(connection, what.facts)
    for page, quotes in what.sentences.items():
        known = telling.get(page, Telling([], is_source=False))
        telling[page] = Telling([*known.quotes, *quotes], known.is_source)
    telling = {page: one for page, one in telling.items() if page not in what.pages}
    going = _facts_going(connection, what)
    again = _said_again(connection, going, {*what.pages, *telling})
    touched = {*telling, *what.answers, *what.pages}
    going += [id_ for id_ in facts_told(connection, touched) if id_ not in going]
    for id_ in going:
        pass_on(connection, id_)
    connection.execute(delete(facts).where(facts.c.id.in_(going)))
    said = _said_of(connection, telling)
    useless = take_out(connection, telling, what.answers)
    _lose_vectors_behind(connection, what.pages)
    removed = sorted({*useless, *what.pages})
    bury(connection, {*going, *removed})
    lose_events(connection, removed)
    lose_waiting(connection, set(removed), (), persons)
    remove_pages(connection, removed)
    lose_grounds(connection, persons, {*going, *removed})
    if what.words:
        lose_words(connection, persons, what.words)
    waiting = update(pages).where(pages.c.id.in_(again))
    connection.execute(waiting.values(extracted_at=None, attempts=0, retry_at=None))
    count_change(connection, Part.FACTS, persons)
    left = _said_of(connection, said)
    return sum(text != said[page] for page, text in left.items())


def _facts_going(connection: Connection, what: Erasing) -> list[str]:
    """Return the facts that are named, and those drawn from the pages that are, oldest first."""
    drawn = select(sources.c.fact).where(sources.c.page.in_(what.pages))
    wanted = select(facts.c.id).where(facts.c.id.in_(what.facts) | facts.c.id.in_(drawn))
    return list(connection.scalars(wanted.order_by(facts.c.said_at)))


def _said_again(connection: Connection, fact_ids: Sequence[str], but: Set[str]) -> list[str]:
    """Return the other pages that facts were drawn from."""
    query = select(sources.c.page).where(sources.c.fact.in_(fact_ids)).distinct()
    return sorted(set(connection.scalars(query)) - but)


def _said_of(connection: Connection, page_ids: Iterable[str]) -> dict[str, str]:
    query = select(pages.c.id, pages.c.said).where(pages.c.id.in_(list(page_ids)))
    return {row.id: row.said for row in connection.execute(query)}


def facts_told(connection: Connection, page_ids: Iterable[str]) -> list[str]:
    """Return the facts about the robot that were drawn from answers in these exchanges: they may tell what those told."""
    query = (
        select(facts.c.id)
        .join(sources, sources.c.fact == facts.c.id)
        .where(sources.c.page.in_(list(page_ids)), facts.c.about != "")
        .distinct()
        .order_by(facts.c.id)
    )
    return list(connection.scalars(query))


def take_out(
    connection: Connection, telling: Mapping[str, Telling], retold: Sequence[str]
) -> list[str]:
    """Cut the words of forgotten facts, which are deleted already, out of exchanges, and out of what was made of these.

    Where they can't be found in a source word for word, all that was said in it goes. The answers go, too.

    Args:
        connection: With an open transaction.
        telling: The exchanges as `pages_telling` has found them.
        retold: Those in whose answers the facts may have been told.

    Returns:
        The exchanges that nobody needs any more; the caller deletes them.
    """
    touched = {*telling, *retold}
    persons = set(owners_of(connection, touched).values())
    _lose_vectors_behind(connection, touched)
    _lose_notes(connection, persons, [quote for one in telling.values() for quote in one.quotes])
    lose_quoted(connection, {page: one.quotes for page, one in telling.items()}, persons)
    quotes = [quote for one in telling.values() for quote in one.quotes]
    lose_waiting(connection, set(telling), quotes, persons)
    needed = set(connection.scalars(select(sources.c.page).where(sources.c.page.in_(telling))))
    useless = []
    for page in connection.execute(select(pages).where(pages.c.id.in_(telling))).all():
        quotes, is_source = telling[page.id]
        left = _left(page.said, quotes, is_source=is_source)
        if page.id not in needed and (is_source or not left):
            useless.append(page.id)
        elif left != page.said:
            _change(connection, page, left)
        if page.id in needed:
            _shorten_quotes(connection, page.id, [*quotes, *cut_out(page.said, quotes)])
    unword(connection, retold)
    _lose_lines(connection, retold)
    retelling = update(pages).where(pages.c.id.in_(retold))
    connection.execute(retelling.values(heard=""))
    connection.execute(delete(grounds).where(grounds.c.page.in_(retold)))
    for part in (Part.PAGES, Part.CUTS, Part.PORTRAIT):
        count_change(connection, part, persons)
    return useless


def cut_down(connection: Connection, left: Sequence[Page]) -> None:
    """Give exchanges the words that are left of them; what was made of the others goes.

    Args:
        connection: With an open transaction.
        left: Pages that no record needs but day summaries, with what is to stay of what was said and heard.
    """
    stored = select(pages).where(pages.c.id.in_([page.id for page in left]))
    rows = {row.id: row for row in connection.execute(stored)}
    _lose_vectors_behind(connection, rows)
    for page in left:
        if page.id in rows:
            _change(connection, rows[page.id], page.said, page.heard)
    persons = {page.person for page in left}
    for part in (Part.PAGES, Part.CUTS, Part.PORTRAIT):
        count_change(connection, part, persons)


def _lose_vectors_behind(connection: Connection, page_ids: Iterable[str]) -> None:
    """Delete the vectors of the exchanges right after these: what follows an answer is embedded with it."""
    for page in connection.execute(select(pages).where(pages.c.id.in_(list(page_ids)))).all():
        next_one = (
            select(pages.c.id)
            .where(pages.c.person == page.person, is_behind(page.at, page.id))
            .order_by(pages.c.at, pages.c.id)
            .limit(1)
        )
        behind = line_vectors.c.page.in_(list(connection.scalars(next_one)))
        connection.execute(delete(line_vectors).where(behind))


def _lose_notes(connection: Connection, persons: Set[str], quotes: Sequence[str]) -> None:
    """Delete notes that quote one of these quotes, whatever exchange they were made in."""
    mine = select(notes.c.id, notes.c.quote).where(notes.c.person.in_(persons))
    for note in connection.execute(mine).all():
        if any(holds(note.quote, quote) or holds(quote, note.quote) for quote in quotes):
            connection.execute(delete(notes).where(notes.c.id == note.id))


def unword(connection: Connection, page_ids: Collection[str]) -> None:
    """Take back what was told of exchanges in other words than the person's, before they change or go.

    A model that was shown several at once may tell of one what was said in another.
    """
    of_these = pages.c.id.in_(page_ids)
    batches = select(pages.c.batch).where(of_these, pages.c.batch != "")
    query = select(pages.c.id).where(of_these | pages.c.batch.in_(batches))
    together = connection.scalars(query).all()
    unsay(connection, together)
    lose_answers(connection, together)
    noted = update(notes).where(notes.c.page.in_(together))
    connection.execute(noted.values(text=notes.c.quote))


def _lose_lines(connection: Connection, page_ids: Sequence[str]) -> None:
    """Delete what search needs of exchanges that are about to change; it makes that anew."""
    for table in (lines, line_vectors):
        connection.execute(delete(table).where(table.c.page.in_(page_ids)))


def _still_told(connection: Connection, person: str, left: str) -> list[str]:
    """Return the records of values in a profile that stand in what is left of an exchange."""
    mine = select(profile.c.field, profile.c.value).where(profile.c.person == person)
    there = letters(left)
    return [
        record_key(profile, person, row.field, row.value)
        for row in connection.execute(mine)
        if letters(row.value) in there
    ]


def _pages_of(connection: Connection, person: str) -> Sequence[Any]:
    return connection.execute(
        select(pages.c.id, pages.c.said).where(pages.c.person == person)
    ).all()


def _left(said: str, quotes: Sequence[str], *, is_source: bool) -> str:
    left = without(said, quotes)
    is_unfound = any(quotes) and left == said
    return "" if is_source and is_unfound else left


def _shorten_quotes(connection: Connection, page_id: str, cut: Sequence[str]) -> None:
    """Take what was cut out of a page out of the quotes, too, of the facts that stay."""
    drawn = select(sources.c.fact).where(sources.c.page == page_id)
    wanted = select(facts.c.id, facts.c.quote).where(facts.c.id.in_(drawn))
    for fact in connection.execute(wanted).all():
        left = without_any(fact.quote, cut)
        if left != fact.quote:
            connection.execute(update(facts).where(facts.c.id == fact.id).values(quote=left))


def _change(connection: Connection, page: Row[Any], said: str, heard: str = "") -> None:
    lose_pages(connection, [page.id], _still_told(connection, page.person, said))
    unword(connection, [page.id])
    _lose_lines(connection, [page.id])
    connection.execute(delete(notes).where(notes.c.page == page.id))
    change = update(pages).where(pages.c.id == page.id)
    connection.execute(change.values(said=said, heard=heard))


def pass_on(connection: Connection, fact_id: str) -> None:
    """Give what a fact replaced, before it goes, to what replaced it; to nothing if it is current."""
    heir = select(facts.c.superseded_by, facts.c.superseded_at).where(facts.c.id == fact_id)
    row = connection.execute(heir).one()
    connection.execute(
        update(facts)
        .where(facts.c.superseded_by == fact_id)
        .values(superseded_by=row.superseded_by, superseded_at=row.superseded_at)
    )


def remove_pages(connection: Connection, ids: Sequence[str]) -> None:
    """Delete pages and what was drawn from them alone."""
    persons = set(owners_of(connection, ids).values())
    lose_pages(connection, ids)
    unword(connection, ids)
    lose_unread(connection, ids)
    connection.execute(delete(pages).where(pages.c.id.in_(ids)))
    drop_empty(connection, persons)
    for part in (Part.PAGES, Part.CUTS, Part.PORTRAIT):
        count_change(connection, part, persons)
