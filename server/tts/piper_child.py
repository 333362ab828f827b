"""The Piper speech engine as a program of its own: requests on standard input, sound on standard output.

Run as a script by `server.tts.piper`, never imported: Piper is under the GPL, and nothing else of this project runs in
the same process. It uses nothing of the project either.

A request is one line of JSON, ``{"text": …, "speed": …}``. Answers are frames: one letter, the length of what follows
(4 bytes, big endian), and that. ``R`` ready, with the rate in hertz as text; ``A`` audio, s16le; ``E`` an error, as
text; ``.`` end of the answer, empty. Every request is answered by any number of ``A`` and one ``E`` or ``.``.
"""

import json
import os
import signal
import struct
import sys
from typing import BinaryIO


def main() -> None:
    """Load the voice named by the first argument; serve requests until standard input ends."""
    # Ctrl-C reaches every process of a terminal; this one ends when its input does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = _take_output()
    try:
        from piper import PiperVoice, SynthesisConfig  # noqa: PLC0415 - a failure is answered, not printed

        voice = PiperVoice.load(sys.argv[1])
    except Exception as error:
        _write(output, b"E", f"{type(error).__name__}: {error}".encode())
        return
    normal = voice.config.length_scale
    _write(output, b"R", str(voice.config.sample_rate).encode())
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
            settings = SynthesisConfig(length_scale=normal / request["speed"])
            for chunk in voice.synthesize(request["text"], settings):
                _write(output, b"A", chunk.audio_int16_bytes)
        except Exception as error:
            _write(output, b"E", type(error).__name__.encode())
        else:
            _write(output, b".", b"")


def _take_output() -> BinaryIO:
    """Keep standard output for frames, and send what libraries print to standard error."""
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return frames


def _write(output: BinaryIO, kind: bytes, payload: bytes) -> None:
    output.write(kind + struct.pack(">I", len(payload)) + payload)
    output.flush()


if __name__ == "__main__":
    main()
