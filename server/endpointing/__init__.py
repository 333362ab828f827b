"""When an utterance is over: how long a silence has to be after what was said, and whose voice breaks it."""

from server.endpointing.background import Background
from server.endpointing.completeness import Completeness, completeness
from server.endpointing.endpoint import Endpoint
from server.endpointing.turn_ends import TurnEnds

__all__ = ["Background", "Completeness", "Endpoint", "TurnEnds", "completeness"]
