"""Colors, axes and figures shared by all plots."""

from __future__ import annotations

from typing import Any

from ._extras import optional

# The palette of Okabe and Ito, which color-blind readers can distinguish.
BLACK, BLUE, VERMILION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
ORANGE, PURPLE, SKY, YELLOW, GRAY = "#E69F00", "#CC79A7", "#56B4E9", "#F0E442", "#999999"


def figure(width: float, height: float, extra: str = "plot") -> Any:
    """Create an empty figure of the given size in inches.

    `extra` is the extra of this package that installs matplotlib for the caller.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    return optional("matplotlib.figure", extra).Figure(figsize=(width, height), layout="constrained")


def axes(ax: Any) -> Any:
    """Return `ax`, or the axes of a new figure if `ax` is None.

    Raises
    ------
    ImportError
        If matplotlib is not installed (extra "plot").
    """
    return optional("matplotlib.figure", "plot").Figure(layout="constrained").add_subplot() if ax is None else ax


def finish(ax: Any, title: str, xlabel: str, ylabel: str, /, grid: str = "both", **legend: Any) -> None:
    """Set title, labels, grid and legend of a panel."""
    ax.set_title(title, fontsize=11)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(axis=grid, alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(**{"fontsize": 9, "title_fontsize": 9, **legend})
