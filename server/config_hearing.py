"""The sections of the configuration that say what of the sound that arrives is somebody speaking to the robot."""

from typing import Annotated

from pydantic import Field

from server.config_section import Section


class EchoSection(Section):
    """What of the sound is the robot's own voice."""

    enabled: bool = True
    longest_delay_ms: Annotated[int, Field(ge=100, le=2000)] = 600
    loudest_db: Annotated[float, Field(ge=-60, le=40)] = 6.0
    cancelled_db: Annotated[float, Field(ge=-60, le=40)] = -12.0
    softest_db: Annotated[float, Field(ge=-80, le=0)] = -38.0
    margin_db: Annotated[float, Field(ge=0, le=20)] = 8.0
    text_likeness: Annotated[float, Field(ge=0.5, le=1)] = 0.75
