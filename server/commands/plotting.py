"""What every picture needs: matplotlib, which may be missing, and a file that can be written."""

from pathlib import Path
from typing import Any

from server.errors import ConfigError, EngineMissing


def load_pyplot() -> Any:
    """Import matplotlib's drawing functions, for files and not for a screen.

    Raises:
        EngineMissing: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional

        mpl.use("Agg")
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError as error:
        raise EngineMissing("Plots need matplotlib. Run `pip install matplotlib`.") from error
    return plt


def refuse_unwritable(path: Path | None) -> None:
    """Refuse a picture that can't be drawn, before the work that it is to show. None is no picture.

    Raises:
        ConfigError: ``plot-unwritable``.
    """
    if path is not None and (path.suffix.casefold() != ".png" or not path.parent.is_dir()):
        raise ConfigError(
            f"{path} can't be drawn: name a file that ends in .png, in a folder that is there.",
            code="plot-unwritable",
        )
