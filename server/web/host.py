"""What the HTTP door needs of the program around it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import anyio
from fastapi import Request

from server.access import Access
from server.callers import Caller
from server.config import Config
from server.conversation import Engines
from server.errors import OmoideError
from server.forgetting import Forgetting
from server.memory import Memory
from server.memory.layers.layers import Layers
from server.ports import Clock, Engine
from server.prompting import PromptFiles
from server.recording import RecentTurns
from server.telemetry import Metrics


class WebHost(Protocol):
    """Implemented by the program, and by a small fake in tests."""

    @property
    def config(self) -> Config:
        """The configuration."""

    @property
    def data(self) -> Path:
        """The folder for everything that is kept."""

    @property
    def clock(self) -> Clock:
        """The time, in the zone of the configuration."""

    @property
    def access(self) -> Access:
        """Who may come in."""

    @property
    def metrics(self) -> Metrics:
        """What is counted."""

    @property
    def recent(self) -> RecentTurns:
        """The last turns."""

    @property
    def memory(self) -> Memory:
        """What is remembered."""

    @property
    def layers(self) -> Layers:
        """Soul and Identity."""

    @property
    def prompts(self) -> PromptFiles:
        """The texts that the model is told."""

    @property
    def engines(self) -> Engines:
        """What listens, thinks and speaks."""

    @property
    def forgetting(self) -> Forgetting:
        """What deletes what is known of a person."""

    @property
    def stages(self) -> Mapping[str, Engine]:
        """The engines by the name of their stage."""

    @property
    def warm(self) -> anyio.Event:
        """Set when every engine is warm or has failed."""

    @property
    def troubles(self) -> Mapping[str, OmoideError]:
        """What could not be warmed up, by stage."""


def host_of(request: Request) -> WebHost:
    """Return the program that a request is for."""
    host: WebHost = request.app.state.host
    return host


def caller_of(request: Request) -> Caller:
    """Return who sent a request, as the guard has found out."""
    caller: Caller = request.state.caller
    return caller
