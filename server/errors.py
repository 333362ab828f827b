"""The errors of Omoide: a stable code for programs, a sentence that says what to do for people.

OmoideError
├── ConfigError       the configuration can't be used
├── AsrError          speech could not be turned into text
├── LlmError          the language model gave no usable answer
├── TtsError          a sentence could not be turned into sound
├── StoreError        memory can't be read or written
│   └── OutdatedError     what is to be stored was made of words that have been forgotten meanwhile
├── EngineMissing     an engine, its package or its weights are not installed
├── AudioError        a file or a stream is not audio that can be read
└── AccessError       the caller may not do this
"""


class OmoideError(Exception):
    """Base of every error that a user may see.

    Attributes:
        code: Stable kebab-case slug, e.g. ``llm-timeout``. Appears in the API, in logs and in the trace.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ConfigError(OmoideError):
    """The configuration can't be used; the message names file, line and the nearest right name."""

    def __init__(self, message: str, code: str = "config-invalid") -> None:
        super().__init__(code, message)


class AsrError(OmoideError):
    """Speech could not be turned into text."""


class LlmError(OmoideError):
    """The language model gave no usable answer."""


class TtsError(OmoideError):
    """A sentence could not be turned into sound."""


class StoreError(OmoideError):
    """Memory can't be read or written; nothing that was stored is lost by it."""


class OutdatedError(StoreError):
    """What is to be stored was made of words some of which have been forgotten meanwhile: make it anew."""

    def __init__(self) -> None:
        super().__init__("store-outdated", "What it was made of has been forgotten meanwhile.")


class EngineMissing(OmoideError):  # noqa: N818 - it names a state, like FileNotFoundError's cousins
    """An engine, its package or its weights are not installed; the message names the command that helps."""

    def __init__(self, message: str, code: str = "engine-missing") -> None:
        super().__init__(code, message)


class AudioError(OmoideError):
    """A file or a stream is not audio that can be read."""

    def __init__(self, message: str, code: str = "audio-unreadable") -> None:
        super().__init__(code, message)


class AccessError(OmoideError):
    """The caller may not do this."""
