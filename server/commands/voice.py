"""Speaking a text into a sound, for tools that need somebody to talk to a server."""

from contextlib import aclosing

from server.audio import Audio, join
from server.ports import Tts, Voice


async def speak(text: str, language: str, tts: Tts) -> Audio:
    """Return the text as a sound.

    Raises:
        OmoideError: The voice is not installed or failed.
    """
    async with aclosing(tts.synthesize(text, Voice(language))) as pieces:
        spoken = [piece async for piece in pieces]
    return join(spoken, spoken[0].rate)
