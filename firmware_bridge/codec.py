"""The seam between wire protocols and the server: what every codec offers, and how it says no."""

from typing import Protocol, TypeAlias

from firmware_bridge.events import DeviceCommand, DeviceEvent

WireMessage: TypeAlias = bytes | str
"""One WebSocket message: text or binary."""


class ProtocolError(Exception):
    """A message that breaks the protocol. The connection cannot go on; close it with code 1002.

    Attributes:
        code: Stable slug for logs and clients, e.g. ``frame-truncated``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Codec(Protocol):
    """The server's side of one connection to a robot: bytes in, events out; commands in, bytes out.

    A codec is synchronous and stateful (Opus state, framing version, session id): make one per connection and
    feed it every message in order. It does no I/O, knows no clock, and needs no closing.
    """

    @property
    def name(self) -> str:
        """Name of the protocol, as in logs and `/api`."""

    @property
    def ignored(self) -> int:
        """How many messages were understood as harmless but unknown, and dropped."""

    def receive(self, message: WireMessage) -> list[DeviceEvent]:
        """Translate one message of the robot.

        What is unknown, empty or undecodable gives no event and is counted in `ignored`: a WebSocket delivers messages
        whole, so one bad packet, or a frame whose length field contradicts it, must not end a talk.

        Raises:
            ProtocolError: The peer does not speak this protocol, e.g. a text message that is no JSON object. Hostile
                input of any kind raises nothing else.
        """

    def send(self, command: DeviceCommand) -> list[WireMessage]:
        """Translate one command; an empty list if the protocol has no word for it.

        Raises:
            ValueError: The command breaks its own contract, e.g. audio at another rate than `Welcome` announced.
        """


class DeviceCodec(Protocol):
    """The robot's side of the same protocol, for simulators and tests."""

    @property
    def name(self) -> str:
        """Name of the protocol."""

    def receive(self, message: WireMessage) -> list[DeviceCommand]:
        """Translate one message of the server.

        Raises:
            ProtocolError: As in `Codec.receive`.
        """

    def send(self, event: DeviceEvent) -> list[WireMessage]:
        """Translate one event; an empty list if the protocol has no word for it."""
