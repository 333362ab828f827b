"""What is counted: turns, their stages and connections, in the format of Prometheus."""

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from server.turn import Happening, Turn

_SECONDS = (
    0.01,
    0.025,
    0.05,
    0.1,
    0.2,
    0.3,
    0.5,
    0.75,
    1.0,
    1.5,
    2.0,
    3.0,
    5.0,
    8.0,
    15.0,
    30.0,
    60.0,
)


class Metrics:
    """A `TurnObserver` with its own registry, so that several servers can live in one process.

    Attributes:
        connections: How many robots are connected. The gateway keeps it.
        dropped_sound: Seconds of sound that were not listened to. Connections keep it.
        media_type: Of what `render` returns.
    """

    media_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.connections = Gauge(
            "omoide_connections", "Robots that are connected.", registry=self._registry
        )
        self.dropped_sound = Counter(
            "omoide_dropped_sound_seconds",
            "Sound that was not listened to: more than the limits allow, or before the hello.",
            registry=self._registry,
        )
        self._turns = Counter(
            "omoide_turns",
            "Turns by outcome: answered, interrupted, silent (nothing was said or heard), failed.",
            ["outcome"],
            registry=self._registry,
        )
        self._errors = Counter(
            "omoide_turn_errors", "Failed turns by error code.", ["code"], registry=self._registry
        )
        self._stages = Histogram(
            "omoide_stage_seconds",
            "Time a turn spent in a stage.",
            ["stage"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._first_audio = Histogram(
            "omoide_first_audio_seconds",
            "From the last voiced sample, or the text, to the first packet of the reply.",
            buckets=_SECONDS,
            registry=self._registry,
        )

        self._missed = Counter(
            "omoide_recall_missed",
            "Parts of memory (facts, pages, priming) that a turn went without: late, failed.",
            ["part", "reason"],
            registry=self._registry,
        )
        self._stopped = Counter(
            "omoide_reply_stopped",
            "Replies that were stopped before they went against what is known, by kind and attempt.",
            ["kind", "attempt"],
            registry=self._registry,
        )
        self._provisional_texts = Counter(
            "omoide_provisional_texts",
            "How often what was said before a pause was recognised before the utterance had ended.",
            registry=self._registry,
        )
        self._layer_writes = Counter(
            "omoide_layer_writes",
            "Attempts to change Soul or Identity: the field, who made them, and what became of them.",
            ["field", "by", "outcome"],
            registry=self._registry,
        )

    def count_layer_write(self, field: str, by: str, outcome: str) -> None:
        """Count an attempt to change the persona; may be called from any thread."""
        self._layer_writes.labels(field, by, outcome).inc()

    def turn_finished(self, turn: Turn) -> None:
        """Count a finished turn."""
        self._turns.labels(_outcome(turn)).inc()
        if turn.error:
            self._errors.labels(turn.error).inc()
        for part, reason in turn.recalled.missed.items():
            self._missed.labels(part, reason.value).inc()
        for stopped in turn.stopped:
            self._stopped.labels(stopped.kind, str(stopped.attempt)).inc()
        for stage, spent_ms in turn.stages_ms.items():
            self._stages.labels(stage.value).observe(spent_ms / 1000)
        texts = sum(event.happening is Happening.PROVISIONAL_TEXT for event in turn.events)
        self._provisional_texts.inc(texts)
        if turn.first_audio_ms is not None:
            self._first_audio.observe(turn.first_audio_ms / 1000)

    def render(self) -> bytes:
        """Return everything in the text format that Prometheus reads."""
        return generate_latest(self._registry)


def _outcome(turn: Turn) -> str:
    if turn.error:
        return "failed"
    if turn.interrupted:
        return "interrupted"
    return "answered" if turn.heard else "silent"
