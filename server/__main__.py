"""Entry point of `omoide` and `python -m server`.

Imports next to nothing at first, so that Ctrl-C is in good hands as early as can be.
"""

import os
import signal
import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command line, and end the process."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        # Nothing is open yet, and an exception out of nowhere is more than some packages bear while they are imported.
        signal.signal(signal.SIGINT, lambda *_: _stop_at_once())
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older one needs a sentence, not a traceback
        sys.exit(f"Omoide needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a console that knows no Japanese shall not end a talk
            reconfigure(errors="backslashreplace")

    from server.cli import app  # noqa: PLC0415 - not before Python is known to be new enough

    _leave(_run(app, before))


def _run(app, before) -> int:  # type: ignore[no-untyped-def]  # their types would have to be imported
    """Run the commands and return the exit code; Ctrl-C has its usual meaning meanwhile."""
    from server.called import command  # noqa: PLC0415 - likewise

    try:
        signal.signal(signal.SIGINT, before)
        app(prog_name=command())
    except SystemExit as ended:
        if not isinstance(ended.code, int):  # a message, for the interpreter to print
            raise
        return ended.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseExceptionGroup as group:
        if group.split(KeyboardInterrupt)[1] is not None:
            raise
        return INTERRUPTED
    return 0


def _stop_at_once() -> None:
    _say_stopped()
    os._exit(INTERRUPTED)


def _say_stopped() -> None:
    print("Stopped.", file=sys.stderr, flush=True)  # noqa: T201


def _leave(code: int) -> None:
    """End the process, without waiting for models that are still being loaded or are computing.

    Everything was closed by now. Native code that comes back into an interpreter that is ending aborts the process.
    """
    import threading  # noqa: PLC0415

    if code == INTERRUPTED:
        _say_stopped()
    if threading.active_count() > 1:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # whoever read it is gone
                continue
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
