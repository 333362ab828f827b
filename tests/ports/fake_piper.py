"""A program that speaks the protocol of the Piper child without Piper, for the tests of what is around it.

The text of a request says what it does: it speaks one sample per character, whose value is the length of the text.
"""

import json
import os
import struct
import sys
import time


def write(kind: bytes, payload: bytes = b"") -> None:
    sys.stdout.buffer.write(kind + struct.pack(">I", len(payload)) + payload)
    sys.stdout.buffer.flush()


def main() -> None:
    voice = sys.argv[1]
    if "broken" in voice:
        write(b"E", b"ImportError: no piper")
        return
    if "mute" in voice:
        return
    write(b"R", b"22050")
    for line in sys.stdin.buffer:
        text = json.loads(line)["text"]
        if text == "die":
            write(b"A", b"\0\0" * 10)
            os._exit(1)
        if text == "hang":
            time.sleep(60)
        if text == "fail":
            write(b"E", b"ValueError")
            continue
        samples = struct.pack(f"<{len(text)}h", *[len(text)] * len(text))
        half = len(samples) // 4 * 2
        write(b"A", samples[:half])
        if text.startswith("slow"):
            time.sleep(0.3)
        write(b"A", samples[half:])
        write(b".")


main()
