"""Heeds what people want to be remembered: grants their wishes, asks for what is private, and says what of a turn may be stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from server.config import ConsentSection, Policy, SecrecySection
from server.memory.consent import Wish, agrees, wish_of
from server.memory.consents import Consent, Pending, Remembering, Rule
from server.memory.discretion import Discretion
from server.memory.layers.requests import requests_in
from server.memory.orders import is_of_manner
from server.memory.private import Category, category_of
from server.memory.secrecy import redact, redact_turn
from server.memory.statements import sentences
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock
from server.turn import Heeded, Transcript, Turn

_ANSWER_MINUTES = 2.0
"""For so long a "yes" is the answer to what the robot asked."""
VOICE = "voice"
"""By what way somebody decided who said it."""


@dataclass(frozen=True, slots=True)
class _Asked:
    category: Category
    at: datetime
    turn: str
    """Id of the turn at the end of which it was to be heard."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands with one person."""

    state: Remembering
    policies: Mapping[Category, Policy]
    pending: Sequence[Pending]
    rules: Sequence[Rule]
    """What the robot is to do for good."""


class Consenting:
    """Knows the decisions of everybody. `load` it once; the other methods run in the event loop."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        section: ConsentSection,
        secrecy: SecrecySection,
        window: timedelta,
        clock: Clock,
    ) -> None:
        """Say where decisions are kept.

        Args:
            store: Keeps them.
            writer: Writes them.
            section: What holds where a person has decided nothing.
            secrecy: What nobody wants to be written down.
            window: Silence after which a talk is over.
            clock: Tells the time.
        """
        self._store = store
        self._writer = writer
        self._section = section
        self._secrecy = secrecy
        self.without_secrets: Callable[[str, str], str] = partial(redact, section=secrecy)
        """Returns a text of a language as it may be stored."""
        self._window = window
        self._clock = clock
        self._states: dict[str, Remembering] = {}
        self._choices: dict[str, dict[Category, Policy]] = {}
        self._last: dict[str, datetime] = {}
        """When those last spoke who do not want this talk to be remembered."""
        self._rules: dict[str, list[Rule]] = {}
        self._asked: dict[tuple[str, str], _Asked] = {}
        """What has just been asked, by person and robot: a yes to another robot is an answer to something else."""
        self._discretion = Discretion(window)
        self._before: dict[str, str] = {}
        """The last words in the talk with each: a bare number may answer "What is the PIN?"."""
        self._unsettled: dict[str, set[Category]] = {}
        """The matters of which something waits and that have been asked for."""

    def load(self) -> None:
        """Read what was decided. Blocks.

        Raises:
            StoreError: The store can't be read.
        """
        now = self._clock.now()
        self._choices = self._store.consents.choices()
        self._unsettled = self._store.consents.unsettled()
        self._rules = self._store.consents.rules()
        for one in self._store.consents.states():
            self._states[one.person] = one.state
            if one.state is Remembering.TALK:
                self._last[one.person] = now

    def withholds(self, person: str) -> bool:
        """Return whether nothing may be recalled or stored of a person at the moment."""
        state = self._states.get(person, Remembering.ON)
        if state is Remembering.TALK and self._is_over(person):
            self._put(person, Remembering.ON, VOICE)
            return False
        return state is not Remembering.ON

    def policy(self, person: str, category: Category) -> Policy:
        """Return what is done with what a person says on a private matter."""
        chosen = self._choices.get(person, {}).get(category)
        return chosen or Policy(getattr(self._section, str(category)))

    def rules(self, person: str) -> tuple[str, ...]:
        """Return what the robot is to do for good with a person, the first agreed to first."""
        return tuple(rule.text for rule in self._rules.get(person, ()))

    def drop(self, person: str) -> None:
        """Let go of what a person has decided of private matters and of what waits: it is forgotten with the rest.

        Whether they are remembered at all is not.
        """
        caches: tuple[dict[str, Any], ...] = (
            self._choices,
            self._rules,
            self._unsettled,
            self._before,
        )
        for kept in caches:
            kept.pop(person, None)
        for key in [key for key in self._asked if key[0] == person]:
            del self._asked[key]
        self._discretion.drop(person)

    def judge(self, turn: Turn) -> None:
        """Take secrets out of a turn, and say in it what else may not be stored: by what was said, and by what is decided.

        What a turn answers of earlier ones counts, too: it is shown with it. A guest decides nothing: nothing is stored of
        them at all, a decision or what waits for one as little as the rest.
        """
        redact_turn(turn, self._secrecy, self._before.get(turn.person, ""))
        if turn.is_guest or not turn.transcript or not turn.question:
            return
        wished = wish_of(turn.question.text)
        if wished is not None and not turn.off_record:
            self._grant_late(turn.person, wished.wish)
        turn.off_record = turn.off_record or wished is not None or self.withholds(turn.person)
        if not turn.off_record:
            own = self._private(turn.person, turn.transcript)
            half = self._discretion.second_half(turn)
            if half and self.policy(turn.person, half[1]) is not Policy.KEEP:
                own.append(half)
            is_whole = turn.question == turn.transcript  # then nothing was handed on to it
            handed_on = [] if is_whole else self._private(turn.person, turn.question)
            withheld = tuple(dict.fromkeys(sentence for sentence, _ in (*own, *handed_on)))
            turn.withheld = (*withheld, *self._discretion.retold(turn))
            self._discretion.note(turn, withheld)
            self._let_wait(turn, turn.transcript.language, own)
            self._let_hold(turn, turn.transcript)
        self._before[turn.person] = turn.heard or turn.transcript.text
        self._hear_out(turn)
        if turn.person in self._last:
            self._last[turn.person] = self._clock.now()

    def _grant_late(self, person: str, wish: Wish) -> None:
        """Grant what narrows memory for a turn that was cut before it could be heeded; nobody is remembered by mistake."""
        state = {Wish.STOP: Remembering.OFF, Wish.TALK: Remembering.TALK}.get(wish)
        if state is not None and self._states.get(person) is not Remembering.OFF:
            self._put(person, state, VOICE)

    def _let_wait(self, turn: Turn, language: str, private: Sequence[tuple[str, Category]]) -> None:
        """Set sentences of a turn aside until the person agrees."""
        waiting = [
            Pending(
                f"{turn.id}-{number}",
                turn.person,
                turn.device,
                sentence,
                language,
                category,
                turn.started_at,
            )
            for number, (sentence, category) in enumerate(private)
            if self.policy(turn.person, category) is Policy.ASK
            and not requests_in(sentence)  # of the persona: it has locks of its own
        ]
        if waiting:
            self._writer.submit(partial(self._store.consents.wait, waiting))

    def _let_hold(self, turn: Turn, said: Transcript) -> None:
        """Let orders hold at once where nobody has to agree to them; those to the persona have locks of their own."""
        if self.policy(turn.person, Category.RULES) is not Policy.KEEP:
            return
        agreed = [
            Rule(
                f"{turn.id}-{number}", turn.person, sentence, said.language, turn.started_at, VOICE
            )
            for number, sentence in enumerate(sentences(said.text))
            if category_of(sentence, said.language) is Category.RULES and not requests_in(sentence)
        ]

        def store() -> None:
            self._store.consents.agree(agreed)
            self.reload()

        if agreed:  # the next question may come before anything is written
            self._rules.setdefault(turn.person, []).extend(agreed)
            self._writer.submit(store)

    def _hear_out(self, turn: Turn) -> None:
        """Take back what was asked at the end of a turn that was cut: nobody can agree to what they have not heard."""
        asked = self._asked.get((turn.person, turn.device))
        if asked is None or asked.turn != turn.id:
            return
        if turn.interrupted or turn.error:
            del self._asked[turn.person, turn.device]
        else:
            self._unsettled.setdefault(turn.person, set()).add(asked.category)

    async def heed(self, turn: Turn) -> Heeded:
        """Do what a person wants of the memory; return what the robot says to that.

        A wish and the answer to a question of the robot are granted at once and answered in fixed words: what the robot
        says it does is what it does.

        Raises:
            StoreError: It can't be done; nothing has changed.
        """
        asked = self._asked.pop((turn.person, turn.device), None)
        if not turn.question:
            return Heeded()
        text = turn.question.text
        if (wished := wish_of(text)) is not None:
            return await self._grant(turn, wished.wish)
        if asked is not None and self._clock.now() - asked.at < timedelta(minutes=_ANSWER_MINUTES):
            agreed = agrees(text)
            if agreed is not None:
                turn.off_record = True
                await self._answered(turn.person, asked.category, agreed=agreed)
                return Heeded(instead="consent-kept" if agreed else "consent-dropped")
        if self.withholds(turn.person):
            turn.off_record = True  # even if they want it otherwise before the turn is over
            turn.unkept = "consent"
            return Heeded()
        private = self._private(turn.person, turn.question)
        turn.unagreed = tuple(one for one, category in private if category is Category.RULES)
        if private:
            turn.unkept = "private"
        elif self._writer.trouble is not None:  # it waits for a disk that may never come back
            turn.unkept = "store"
        return self._ask(turn, turn.question)

    async def standing(self, person: str) -> Standing:
        """Return how it stands with a person.

        Raises:
            StoreError: The store can't be read.
        """
        self.withholds(person)
        return Standing(
            self._states.get(person, Remembering.ON),
            {category: self.policy(person, category) for category in Category},
            await self._writer.run(partial(self._store.consents.pending_of, person)),
            tuple(self._rules.get(person, ())),
        )

    async def set(self, person: str, state: Remembering, actor: str) -> None:
        """Decide whether a person is remembered. What is stored stays as it is.

        Raises:
            StoreError: It can't be stored; nothing has changed.
        """
        await self._writer.run(self._decision(person, state, actor))

    async def choose(self, person: str, category: Category, policy: Policy, actor: str) -> None:
        """Decide what is done with what a person says on a private matter, and with what waits for that.

        Raises:
            StoreError: It can't be stored; nothing has changed.
        """
        now = self._clock.now()

        def decide() -> None:
            self._store.consents.choose(person, category, policy, now, actor)
            self._choices.setdefault(person, {})[category] = policy

        await self._writer.run(decide)
        await self._writer.run(self.reload)

    async def settle(self, person: str, ids: Sequence[str], actor: str, *, accept: bool) -> int:
        """Store what waited of a person as said when it was said, or delete it; return how many sentences.

        An order holds from then on; one that holds already is ended by deleting it.

        Raises:
            StoreError: It can't be done; nothing has changed.
        """
        if accept:
            now = self._clock.now()
            change = partial(self._store.consents.accept, person, ids, now, actor)
            number = len(await self._writer.run(change))
        else:
            number = await self._writer.run(partial(self._store.consents.drop, person, ids))
        await self._writer.run(self.reload)
        return number

    def reload(self) -> None:
        """Read anew what waits and which rules hold, after something was taken out of the store. Blocks."""
        self._unsettled = self._store.consents.unsettled()
        self._rules = self._store.consents.rules()

    async def _answered(self, person: str, category: Category, *, agreed: bool) -> None:
        """Do what was agreed to. An order is agreed to alone, a matter for good; no voice agrees to more than a manner."""
        if category is not Category.RULES:
            policy = Policy.KEEP if agreed else Policy.DROP
            await self.choose(person, category, policy, VOICE)
            return
        waiting = await self._writer.run(partial(self._store.consents.pending_of, person))
        ids = [one.id for one in waiting if one.category is category and is_of_manner(one.text)]
        await self.settle(person, ids, VOICE, accept=agreed)

    async def _grant(self, turn: Turn, wish: Wish) -> Heeded:
        turn.off_record = True
        person = turn.person
        match wish:
            case Wish.STOP:
                await self.set(person, Remembering.OFF, VOICE)
            case Wish.TALK if self._states.get(person) is Remembering.OFF:
                return Heeded(instead=f"consent-{Wish.STOP}")
            case Wish.TALK:
                await self.set(person, Remembering.TALK, VOICE)
            case Wish.RESUME:
                await self.set(person, Remembering.ON, VOICE)
            case Wish.NOT_THIS:
                pass
        return Heeded(instead=f"consent-{wish}", unsaid=wish is Wish.NOT_THIS)

    def _ask(self, turn: Turn, said: Transcript) -> Heeded:
        """Ask for a private matter, once: not if something of it waits already."""
        person = turn.person
        unsettled = self._unsettled.get(person, set()) | self._being_asked(person)
        for sentence, category in self._private(person, said):
            if self.policy(person, category) is not Policy.ASK or category in unsettled:
                continue
            if category is Category.RULES and not is_of_manner(sentence):
                continue
            self._asked[person, turn.device] = _Asked(category, self._clock.now(), turn.id)
            return Heeded(after=f"consent-ask-{category}")
        return Heeded()

    def _being_asked(self, person: str) -> frozenset[Category]:
        """Return the matters that other robots are asking for at the moment."""
        fresh = self._clock.now() - timedelta(minutes=_ANSWER_MINUTES)
        return frozenset(
            asked.category
            for (whose, _), asked in self._asked.items()
            if whose == person and asked.at > fresh
        )

    def _private(self, person: str, said: Transcript) -> list[tuple[str, Category]]:
        """Return the sentences on private matters that are not simply kept."""
        return [
            (sentence, category)
            for sentence in sentences(said.text)
            if (category := category_of(sentence, said.language)) is not None
            and self.policy(person, category) is not Policy.KEEP
        ]

    def _is_over(self, person: str) -> bool:
        last = self._last.get(person)
        now = self._clock.now().astimezone(UTC)
        return last is None or now - last.astimezone(UTC) > self._window

    def _put(self, person: str, state: Remembering, actor: str) -> None:
        """Decide at once, and store it when its turn comes."""
        self._note(person, state)
        self._writer.submit(self._decision(person, state, actor))

    def _decision(self, person: str, state: Remembering, actor: str) -> Callable[[], None]:
        """Return what stores a decision: what is in mind follows in the order in which the store is written."""
        consent = Consent(person, state, self._clock.now(), actor)

        def decide() -> None:
            self._store.consents.put(consent)
            self._note(person, state)

        return decide

    def _note(self, person: str, state: Remembering) -> None:
        if state is Remembering.TALK:  # first: a talk without a last word is over
            self._last[person] = self._clock.now()
        self._states[person] = state
        if state is not Remembering.TALK:
            self._last.pop(person, None)
