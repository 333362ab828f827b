"""What the robot's body shows: emotions as the faces that each kind of device can draw."""

from collections.abc import Mapping
from typing import Final

from server.emotions import Emotion, emoji_for, emotion_named, emotion_of_emoji
from server.errors import OmoideError

__all__ = ["PROFILES", "Emotion", "emoji_for", "emotion_named", "emotion_of_emoji", "face_for"]

# M5Stack's StackChan draws only these; every name that it does not know becomes the neutral face. `doubtful` is its
# own word. `sleepy` also lowers the head and ends its idle motion, so nothing else may lead to it.
_STACKCHAN: Final[Mapping[Emotion, str]] = {
    Emotion.FUNNY: "happy",
    Emotion.LOVING: "happy",
    Emotion.WINKING: "happy",
    Emotion.COOL: "happy",
    Emotion.RELAXED: "happy",
    Emotion.DELICIOUS: "happy",
    Emotion.KISSY: "happy",
    Emotion.CONFIDENT: "happy",
    Emotion.SILLY: "happy",
    Emotion.THINKING: "doubtful",
    Emotion.CONFUSED: "doubtful",
    Emotion.SURPRISED: "doubtful",
    Emotion.SHOCKED: "doubtful",
    Emotion.EMBARRASSED: "doubtful",
}

# The expressions that every VRM avatar has; AIAvatarKit's names.
_VRM: Final[Mapping[Emotion, str]] = {
    Emotion.HAPPY: "joy",
    Emotion.LOVING: "joy",
    Emotion.KISSY: "joy",
    Emotion.SURPRISED: "joy",
    Emotion.CONFIDENT: "joy",
    Emotion.DELICIOUS: "joy",
    Emotion.LAUGHING: "fun",
    Emotion.FUNNY: "fun",
    Emotion.SILLY: "fun",
    Emotion.WINKING: "fun",
    Emotion.COOL: "fun",
    Emotion.RELAXED: "fun",
    Emotion.EMBARRASSED: "fun",
    Emotion.ANGRY: "angry",
    Emotion.SAD: "sorrow",
    Emotion.CRYING: "sorrow",
    Emotion.SHOCKED: "sorrow",
    Emotion.CONFUSED: "neutral",
    Emotion.THINKING: "neutral",
    Emotion.SLEEPY: "neutral",
}

_FACES: Final[Mapping[str, Mapping[Emotion, str]]] = {
    "xiaozhi": {},
    "stackchan": _STACKCHAN,
    "vrm": _VRM,
}

PROFILES: Final = tuple(_FACES)
"""The device profiles that `face_for` knows."""


def face_for(emotion: Emotion, device_profile: str) -> str:
    """Return the name of the face by which a device of this profile shows `emotion`.

    Args:
        emotion: What to show.
        device_profile: ``xiaozhi`` (all 21 names), ``stackchan`` (M5Stack's official robot) or ``vrm``.

    Raises:
        OmoideError: Code ``face-profile-unknown``.
    """
    faces = _FACES.get(device_profile)
    if faces is None:
        known = ", ".join(PROFILES)
        raise OmoideError(
            "face-profile-unknown",
            f"There is no device profile {device_profile!r}; use one of: {known}.",
        )
    return faces.get(emotion, emotion.value)
