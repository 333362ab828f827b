"""Times of the turn that is running: every stage and every wait, from whatever depth it is measured.

The turn is found through a context variable, so an engine can record its own waits without being handed anything.
Outside a turn (warm-up, background work) the same calls record nothing.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import anyio
import structlog

from server.failures import log_fault
from server.ports import Clock, TurnObserver
from server.turn import Happening, Kept, Stage, Turn, TurnEvent

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Running:
    turn: Turn
    started: float


WAITS = (Stage.LLM_LOAD, Stage.LLM_QUEUE, Stage.TTS_LOAD, Stage.TTS_QUEUE)

_running: ContextVar[_Running | None] = ContextVar("running_turn", default=None)


class Turns:
    """Opens the record of each turn and hands the finished one to whoever reads it."""

    def __init__(
        self,
        clock: Clock,
        observers: Sequence[TurnObserver] = (),
        witnesses: Sequence[TurnObserver] = (),
        judge: Callable[[Turn], None] = lambda turn: None,
    ) -> None:
        """Say who reads.

        Args:
            clock: When a turn begins.
            observers: Get every finished turn but those of guests: who keeps anything belongs here.
            witnesses: Get those of guests, too, and keep no word of them.
            judge: Says in a turn, before that, what of it may not be stored.
        """
        self._clock = clock
        self._judge = judge
        self._observers = tuple(observers)
        self._witnesses = tuple(witnesses)
        self._open: dict[str, Turn] = {}
        self._marks: dict[str, dict[object, Kept]] = {}
        """What every block that forgets has left of the open turns."""

    @contextmanager
    def record(self, device: str, person: str, *, is_guest: bool = False) -> Iterator[Turn]:
        """Record one turn; on leaving, however that happens, every observer gets it, or what may be kept of it.

        An observer that fails is logged: neither the others nor the talk may suffer from it.
        """
        turn = Turn(uuid.uuid4().hex[:12], device, person, self._clock.now(), is_guest)
        self._open[turn.id], self._marks[turn.id] = turn, {}
        token = _running.set(_Running(turn, anyio.current_time()))
        mark(Happening.TURN_START)
        try:
            yield turn
        finally:
            mark(Happening.TURN_END)
            _running.reset(token)
            del self._open[turn.id], self._marks[turn.id]
            if turn.kept is Kept.WORDS:
                turn.drop_answer()
            if turn.kept is not Kept.NOTHING:
                self._judge_or_hide(turn)
                self._hand_out(turn)

    @contextmanager
    def forgetting(
        self, is_meant: Callable[[Turn], bool], is_retold: Callable[[Turn], bool] | None = None
    ) -> Iterator[None]:
        """Let nobody keep the turns that are running and meant, nor those that begin while the block forgets the rest.

        A block that fails forgets nothing: what still runs is kept again, unless another block has forgotten it.

        Args:
            is_meant: Says of a turn whether nothing of it may be kept.
            is_retold: Says of any other turn whether its answer may not be kept.
        """

        def kept_of(turn: Turn) -> Kept:
            if is_meant(turn):
                return Kept.NOTHING
            return Kept.WORDS if is_retold is not None and is_retold(turn) else Kept.ALL

        block = object()
        self._mark(block, kept_of)
        try:
            yield
        except BaseException:
            self._mark(block, lambda _: Kept.ALL)
            raise
        self._mark(block, kept_of)

    def _mark(self, block: object, kept_of: Callable[[Turn], Kept]) -> None:
        for turn in self._open.values():
            marks = self._marks[turn.id]
            marks[block] = kept_of(turn)
            turn.kept = min(marks.values())

    def _judge_or_hide(self, turn: Turn) -> None:
        """Have a turn judged; of one that can't be, nothing is stored or shown."""
        try:
            self._judge(turn)
        except Exception as error:
            log_fault("judge-fault", error, turn=turn.id)
            turn.off_record = True

    def _hand_out(self, turn: Turn) -> None:
        observers = () if turn.is_guest else self._observers
        for observer in (*observers, *self._witnesses):
            try:
                observer.turn_finished(turn)
            except Exception as error:
                name = type(observer).__name__
                log_fault("observer-fault", error, observer=name, turn=turn.id)


def mark(happening: Happening, code: str = "", at: float | None = None) -> None:
    """Note that something happened in the running turn: now, or at a moment of `anyio.current_time` that is past."""
    running = _running.get()
    if running is not None:
        at_ms = ((anyio.current_time() if at is None else at) - running.started) * 1000
        running.turn.events.append(TurnEvent(happening, round(at_ms, 1), code))


def turn_device() -> str:
    """Return the device of the running turn; empty outside of one."""
    running = _running.get()
    return running.turn.device if running is not None else ""


def add_stage(stage: Stage, seconds: float) -> None:
    """Add to the time that the running turn spent in `stage`."""
    running = _running.get()
    if running is not None:
        spent = running.turn.stages_ms
        spent[stage] = round(spent.get(stage, 0.0) + seconds * 1000, 1)


_MILESTONES = {
    Stage.LLM_FIRST_TOKEN: Happening.LLM_FIRST_TOKEN,
    Stage.TTS_FIRST_AUDIO: Happening.TTS_FIRST_AUDIO,
}


class Laps:
    """Measures a row of milestones: each stage lasts from the one before to the first time it is reached.

    Waits that were recorded meanwhile as stages of their own (queues, loading) are taken out, so nothing counts twice.
    """

    def __init__(self) -> None:
        self._since = anyio.current_time()
        self._waited = _waited_ms()
        self._reached: set[Stage] = set()

    def reach(self, name: Stage) -> None:
        """Note that the milestone at the end of `name` is reached; later calls for the same stage do nothing."""
        if name in self._reached:
            return
        self._reached.add(name)
        if name in _MILESTONES:
            mark(_MILESTONES[name])
        now, waited = anyio.current_time(), _waited_ms()
        add_stage(name, max(0.0, now - self._since - (waited - self._waited) / 1000))
        self._since, self._waited = now, waited


def _waited_ms() -> float:
    running = _running.get()
    return sum(running.turn.stages_ms.get(wait, 0.0) for wait in WAITS) if running else 0.0


@contextmanager
def stage(name: Stage) -> Iterator[None]:
    """Measure what happens inside as `name`, even if it fails or is cancelled."""
    started = anyio.current_time()
    try:
        yield
    finally:
        add_stage(name, anyio.current_time() - started)
