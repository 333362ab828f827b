"""File descriptors: every connection needs one, so the process takes as many as the system lets it have."""

import structlog

log = structlog.get_logger(__name__)

_ALWAYS_ALLOWED = 10_240
"""macOS names no upper limit and refuses to go beyond this one."""


def raise_limit() -> None:
    """Raise the soft limit on open files to the hard one. Does nothing on Windows, which has no such limit."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (hard, _ALWAYS_ALLOWED):
        if soft in (wanted, resource.RLIM_INFINITY):
            return
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            continue
        log.debug("open-files-limit", before=soft, now=wanted)
        return
