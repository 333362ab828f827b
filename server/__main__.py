"""Entry point of `omoide` and `python -m server`."""

import sys


def main() -> None:
    """Run the command line."""
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older one needs a sentence, not a traceback
        sys.exit(f"Omoide needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a console that knows no Japanese shall not end a talk
            reconfigure(errors="backslashreplace")

    from server.cli import app  # noqa: PLC0415 - not before Python is known to be new enough

    app()


if __name__ == "__main__":
    main()
