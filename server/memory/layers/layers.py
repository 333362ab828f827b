"""The one way to read and to change Soul and Identity: `Layers.write`, through which every path goes and where the locks are.

A turn, what a model drew from a talk, the API, the command line and a file that is imported differ only in who writes
(`By`). The User layer can't be written: what is known of a person is changed where it is kept.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import structlog

from server.config_persona import Lock, PersonaSection
from server.errors import OmoideError
from server.memory.harvest import Asked
from server.memory.layers.document import Document, read_document, write_document
from server.memory.layers.fields import (
    FIELDS,
    OF_MANNERS,
    Field,
    FieldKey,
    LayerName,
    field_of,
    fields_of,
)
from server.memory.layers.normalizing import check_room, checked, labels_in
from server.memory.layers.persona import Files, Held, Origin, Persona, PersonaReader
from server.memory.layers.proposals import By, Occasion, Proposal, State, make_proposal
from server.memory.layers.refusals import (
    Outcome,
    is_full,
    is_locked,
    is_misfiled,
    is_no_proposal,
    is_unknown,
    is_view,
    says_nothing,
)
from server.memory.layers.requests import requests_in
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock
from server.punctuation import join_sentences
from server.short_ids import whole_id
from server.turn import Kept, Turn

log = structlog.get_logger(__name__)

Count: TypeAlias = Callable[[str, str, str], None]
"""Takes the key of a field, who wrote, and an `Outcome` or the code of the refusal."""

MOST_PENDING = 20
"""Proposals that wait; who asks again and again can't bury the others."""
_STRICTNESS = (Lock.OPEN, Lock.PROPOSED, Lock.LOCKED)
_NOBODY = Occasion()


class Layers:
    """Soul and Identity of one agent. A `TurnObserver`: give it every finished turn, after memory.

    Args:
        files: The files that the persona starts from.
        section: Name, and who may change what.
        store: Where what is set by hand is kept.
        writer: Of that store.
        clock: The time.
        count: Told of every attempt to write, with no words of it.
    """

    def __init__(
        self,
        files: Files,
        section: PersonaSection,
        store: Store,
        writer: Writer,
        clock: Clock,
        count: Count = lambda _field, _by, _outcome: None,
    ) -> None:
        self.agent = section.name
        self._reader = PersonaReader(files, section)
        self._table = store.personas
        self._writer = writer
        self._clock = clock
        self._count = count
        self._document = Document()

    def load(self) -> None:
        """Take up what was set by hand. Blocks.

        Raises:
            OmoideError: ``layers-newer``, ``layers-damaged`` or ``store-…``; nothing has been changed.
        """
        text = self._table.document(self.agent)
        try:
            self._document = read_document(text) if text else Document()
        except OmoideError as error:
            raise OmoideError(error.code, f"The persona in the memory: {error}") from error

    def persona(self) -> Persona:
        """Return what holds now; quick enough for every turn.

        Raises:
            ConfigError: As `PersonaReader.read`.
        """
        return self._reader.read(self._document)

    def proposals(self, state: State | None = State.PENDING) -> Sequence[Proposal]:
        """Return what is proposed, oldest first. Blocks."""
        return self._table.proposals(self.agent, state)

    async def write(
        self,
        layer: str,
        field: str,
        value: str | Sequence[str],
        by: By,
        occasion: Occasion = _NOBODY,
    ) -> Outcome:
        """Put a value into a field, or propose it, as the lock of the field and who writes have it.

        Args:
            layer: ``soul`` or ``identity``.
            field: Of that layer, and of no other.
            value: A text or lines; from a person who may set them they replace what is there, and nothing at all brings
                back what the file says. From a talk they are added where a field holds several.
            by: Who writes.
            occasion: Where it was asked for.

        Raises:
            OmoideError: ``layer-…``: locked, unknown, a view, the value is too long, or belongs to another field. Nothing
                was changed. Or ``store-…``.
        """
        lines = (value,) if isinstance(value, str) else tuple(value)
        change = partial(self._write, layer, field, lines, by, occasion, False)
        return await self._writer.run(change)

    async def propose(self, layer: str, field: str, value: str | Sequence[str], by: By) -> Outcome:
        """Propose a value, even where it could be written; raises as `write`."""
        lines = (value,) if isinstance(value, str) else tuple(value)
        return await self._writer.run(partial(self._write, layer, field, lines, by, _NOBODY, True))

    async def accept(self, proposal_id: str) -> Proposal:
        """Let what was proposed hold.

        Raises:
            OmoideError: ``proposal-unknown``, ``layer-locked`` if the field has been locked since, or as `write`.
        """
        return await self._writer.run(partial(self._accept, proposal_id))

    async def reject(self, proposal_id: str) -> Proposal:
        """Turn a proposal down. The same words from the same talk are not proposed again.

        Raises:
            OmoideError: ``proposal-unknown``.
        """

        def reject() -> Proposal:
            proposal = self._pending(proposal_id)
            self._table.reject(proposal.id, self._clock.now())
            return proposal

        return await self._writer.run(reject)

    async def set_lock(self, layer: str, field: str, lock: Lock) -> None:
        """Say who may change a field from now on. For whoever runs the server only.

        Raises:
            OmoideError: ``layer-unknown`` or ``layer-view``.
        """
        key = FieldKey(_known(layer, field).key)
        await self._writer.run(lambda: self._put(self._document.with_lock(key, lock)))

    async def take_over(self, text: str) -> Mapping[str, str]:
        """Write what a container holds, each field for itself, as somebody who imports it; return what became of each.

        Its locks can make a field stricter and never looser: a file does not open what is closed.

        Raises:
            OmoideError: ``layers-newer`` or ``layers-damaged``; then nothing was changed.
        """
        document = read_document(text)
        became: dict[str, str] = {}
        for key, lines in document.values.items():
            field = FIELDS[key]
            try:
                became[key] = await self.write(field.layer, field.name, lines, By.IMPORT)
            except OmoideError as error:
                became[key] = error.code
        for key, lock in document.locks.items():
            held = self.persona().fields[key].lock
            if _STRICTNESS.index(lock) > _STRICTNESS.index(held):
                await self.set_lock(FIELDS[key].layer, FIELDS[key].name, lock)
        return became

    @property
    def container(self) -> str:
        """Return what was set by hand, as `take_over` takes it."""
        return write_document(self._document)

    def turn_finished(self, turn: Turn) -> None:
        """Take note of what was asked for in a finished turn. Returns at once."""
        if turn.transcript and turn.kept is not Kept.NOTHING and not turn.off_record:
            self._writer.submit(partial(self._hear, turn))

    async def take(self, asked: Sequence[Asked]) -> list[tuple[Asked, str]]:
        """Write what a model drew from a talk; return what became of each: an `Outcome`, or the code of the refusal."""

        def take() -> list[tuple[Asked, str]]:
            return [
                (one, self._try(one.key, one.value, By.MODEL, Occasion(one.person, one.page)))
                for one in asked
            ]

        return await self._writer.run(take) if asked else []

    def count_left_out(self, reasons: Mapping[str, int]) -> None:
        """Count what was drawn from a talk and never got as far as to be written."""
        for reason, number in reasons.items():
            for _ in range(number):
                self._count("unknown", By.MODEL, reason)

    def _hear(self, turn: Turn) -> None:
        said = turn.transcript.text if turn.transcript else ""
        for request in requests_in(said):
            # What is held back is in no exchange: the proposal goes with its person alone.
            page = "" if turn.withheld else turn.id
            self._try(request.key, request.value, By.VOICE, Occasion(turn.person, page))

    def _try(self, key: FieldKey, line: str, by: By, occasion: Occasion) -> str:
        """Write for somebody who is not told when it is refused."""
        field = FIELDS[key]
        try:
            return self._write(field.layer, field.name, (line,), by, occasion, False)
        except OmoideError as error:
            log.info("layer-write-refused", field=field.key, by=str(by), code=error.code)
            return error.code

    def _write(
        self,
        layer: str,
        name: str,
        lines: tuple[str, ...],
        by: By,
        occasion: Occasion,
        only_propose: bool,
    ) -> Outcome:
        told = "unknown"  # what a caller names may be anything
        try:
            field = _known(layer, name)
            told = field.key
            outcome = self._write_field(field, lines, by, occasion, only_propose)
        except OmoideError as error:
            self._count(told, by, error.code)
            raise
        self._count(told, by, outcome)
        return outcome

    def _write_field(
        self,
        field: Field,
        lines: tuple[str, ...],
        by: By,
        occasion: Occasion,
        only_propose: bool,
    ) -> Outcome:
        key = FieldKey(field.key)
        held = self.persona().fields[key]
        kept = self._checked(field, lines)
        if held.lock is Lock.LOCKED:
            raise is_locked(field)
        is_talk = only_propose or not by.may_set
        if not kept and (is_talk or held.origin is not Origin.HAND):
            raise says_nothing(field)
        wanted = _added(field, held, kept) if is_talk else kept
        if wanted == held.lines:
            return Outcome.UNCHANGED
        self._check_room(field, checked(field, wanted))
        if only_propose or (held.lock is Lock.PROPOSED and not by.may_set):
            return self._propose(key, kept, by, occasion)
        self._put(self._document.with_value(key, wanted))
        return Outcome.WRITTEN

    def _checked(self, field: Field, lines: tuple[str, ...]) -> tuple[str, ...]:
        kept = checked(field, lines)
        for line in kept:
            others = labels_in(line) | {one.key for one in requests_in(line)}
            if others - {FieldKey(field.key)} or labels_in(line):
                raise is_misfiled(field)
        return kept

    def _check_room(self, field: Field, lines: Sequence[str]) -> None:
        held = self.persona().fields
        others = [one for one in fields_of(field.layer) if one is not field]
        check_room(field, lines, [line for one in others for line in held[FieldKey(one.key)].lines])

    def _propose(
        self, key: FieldKey, lines: tuple[str, ...], by: By, occasion: Occasion
    ) -> Outcome:
        pending = self.proposals()
        if any(one.key is key and one.lines == lines for one in pending):
            return Outcome.UNCHANGED
        if len(pending) >= MOST_PENDING:
            raise is_full(MOST_PENDING)
        proposal = make_proposal(self.agent, key, lines, by, occasion, self._clock.now())
        is_new = self._table.propose(self.agent, proposal)
        if is_new:
            log.info("persona-proposed", field=str(key), by=str(by), hint="omoide persona show")
        return Outcome.PROPOSED if is_new else Outcome.UNCHANGED

    def _accept(self, proposal_id: str) -> Proposal:
        proposal = self._pending(proposal_id)
        field = FIELDS[proposal.key]
        held = self.persona().fields[proposal.key]
        if held.lock is Lock.LOCKED:
            raise is_locked(field)
        wanted = checked(field, _added(field, held, proposal.lines))
        self._check_room(field, wanted)
        self._put(self._document.with_value(proposal.key, wanted), accepted=proposal.id)
        self._count(field.key, proposal.by, Outcome.ACCEPTED)
        return proposal

    def _pending(self, proposal_id: str) -> Proposal:
        waiting = {one.id: one for one in self.proposals()}
        proposal = waiting.get(whole_id(proposal_id, waiting) or "")
        if proposal is None:
            raise is_no_proposal(proposal_id)
        return proposal

    def _put(self, document: Document, accepted: str = "") -> None:
        self._table.put(self.agent, write_document(document), self._clock.now(), accepted)
        self._document = document


def _known(layer: str, name: str) -> Field:
    """Return the field that a writer names; a field of another layer is none of this one."""
    if layer == LayerName.USER:
        raise is_view()
    field = field_of(layer, name)
    if field is None:
        raise is_unknown(layer, name)
    return field


def _added(field: Field, held: Held, lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a field holds with lines from a talk: beside what is there, if it holds several lines or manners."""
    if field.most > 1:
        return tuple(dict.fromkeys((*held.lines, *lines)))
    if FieldKey(field.key) not in OF_MANNERS:
        return lines
    wanted = "".join(held.lines)
    for line in lines:
        if line not in wanted:
            wanted = join_sentences((wanted, line))
    return (wanted,)
