"""Colors, axes, figures and drawings shared by all plots."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from ._check import NO_LABEL
from ._extras import optional
from ._typing import Floats

# The palette of Okabe and Ito, which color-blind readers can distinguish.
BLACK = "#000000"
BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
ORANGE = "#E69F00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
YELLOW = "#F0E442"
GRAY = "#999999"
CURVES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, BLACK)
LINES, MARKERS = ("-", "--", ":", "-."), "osD^v"  # other styles tell curves apart where colors do not
ROW, COLUMN = 0.16, 0.45  # inches that a row of text and a column of short text need
LONGEST_LABEL = 48  # characters
HOLLOW = "hollow: the estimate is beyond this limit"  # caption of hollow points
TALLEST, SHORTEST = 12.0, 1.6  # inches of figures with one row per number
MAX_ROWS = 150  # of a figure with panels
COLUMN_ROWS = 50  # of a column of it
MIN_ROWS = 3  # of a panel, if it has as many
TITLE = 1.6  # rows that the title of a panel needs
MAX_TEXTS = 64  # cells of a heat map in which the number is written


def figure(width: float, height: float, extra: str = "plot") -> Any:
    """Create an empty figure of the given size in inches.

    `extra` is the extra of this package that installs matplotlib for the caller.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    return optional("matplotlib.figure", extra).Figure(figsize=(width, height), layout="constrained")


def axes(ax: Any, height: float = 4.8, width: float = 6.4) -> Any:
    """Return `ax`, or the axes of a new figure of the given size in inches if `ax` is None.

    The figure is one of pyplot, so that notebooks show it.

    Raises
    ------
    ImportError
        If matplotlib is not installed (extra "plot").
    TypeError
        If `ax` is not an `Axes`.
    """
    if ax is not None:
        if not hasattr(ax, "get_figure") or not hasattr(ax, "plot"):
            raise TypeError(f"ax must be a matplotlib Axes or None, got {type(ax).__name__}")
        return ax
    return optional("matplotlib.pyplot", "plot").subplots(figsize=(width, height), layout="constrained")[1]


def draw_grid(ax: Any, axis: str = "both") -> None:
    """Draw a light grid, and remove the frame at the top and at the right."""
    ax.grid(axis=axis, alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def finish(ax: Any, title: str, xlabel: str, ylabel: str, /, grid: str = "both", **legend: Any) -> None:
    """Set title, labels, grid and legend of a panel."""
    ax.set_title(title, fontsize=11)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    draw_grid(ax, grid)
    ax.legend(**{"fontsize": 9, "title_fontsize": 9, **legend})


def text_of(label: Any) -> str:
    """Return a label that matplotlib shows as it is: not as a formula, not too long, and not left out of a legend."""
    text = NO_LABEL.sub(_escaped, str(label))
    text = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 3]}..."
    return (" " + text if text.startswith("_") else text).replace("$", r"\$")


def _escaped(found: re.Match[str]) -> str:
    """Return a character that a picture in SVG cannot hold as text; line ends and tabs as they are."""
    return found.group() if found.group() in "\n\t" else f"U+{ord(found.group()):04X}"


def caption(is_hollow: bool) -> str:
    """Return the line of a caption that explains hollow points, if there are some."""
    return f"\n{HOLLOW}" * is_hollow


def height_of_rows(rows: int) -> float:
    """Return the height in inches of a figure with this number of rows, within limits."""
    return min(max(1.0 + 1.4 * ROW * rows, SHORTEST), TALLEST)


def rows_shown(rows: Sequence[int]) -> list[int]:
    """Return how many rows of every panel a figure of readable size has room for; none of the last panels if they are many.

    Panels with few rows have all of theirs; the others share the room that is left.
    """
    shown = list(rows)
    for most in range(max(rows, default=0), MIN_ROWS - 1, -1):
        shown = [min(count, most) for count in rows]
        if sum(shown) + TITLE * len(rows) <= MAX_ROWS:
            return shown
    room = np.cumsum([count + TITLE for count in shown]) <= MAX_ROWS
    return [count if fits else 0 for count, fits in zip(shown, room, strict=True)]


def panels_of_rows(rows: Sequence[int]) -> tuple[Any, Any]:
    """Create a figure with one panel below the other, in columns if they are high, and return it with its panels.

    Parameters
    ----------
    rows : sequence of int
        Number of rows of every panel, at most those of `rows_shown`.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    heights = [count + TITLE for count in rows]
    columns = min(len(rows), math.ceil(sum(heights) / COLUMN_ROWS)) or 1
    parts: list[list[float]] = [[] for _ in range(columns)]
    filled = 0.0
    for height in heights:  # a column ends where its share of all heights does
        parts[min(int((filled + height / 2) * columns / sum(heights)), columns - 1)].append(height)
        filled += height
    parts = [part for part in parts if part]
    tallest = max(map(sum, parts))
    page = figure(8 * len(parts), 0.26 * tallest + 0.6)
    grid = page.add_gridspec(1, len(parts))
    panels = []
    for column, part in enumerate(parts):
        inner = grid[column].subgridspec(len(part), 1, height_ratios=part)
        panels += [page.add_subplot(inner[i]) for i in range(len(part))]
    return page, panels


def largest(size: Floats, count: int) -> list[int]:
    """Return the places of the largest numbers, ascending. NaN is smaller than all."""
    order = np.argsort(-np.nan_to_num(size, nan=-np.inf), kind="stable")
    return sorted(order[:count].tolist())


def left_out(names: Sequence[str]) -> str:
    """Return the line of a caption that names what a figure has no room for; empty if there is nothing."""
    listed = ", ".join(map(text_of, names[:3])) + f" and {len(names) - 3} more" * (len(names) > 3)
    return f"\nnot shown: {listed}" if names else ""


def _step(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50, ... that is at least a number."""
    steps = (digit * int(10**power) for power in count() for digit in (1, 2, 5))
    return next(step for step in steps if step >= least)


def label_rows(ax: Any, labels: Sequence[Any]) -> None:
    """Label the places 0, 1, ... of the vertical axis, from the top down. Leave labels out that would overlap."""
    step = _step(len(labels) * ROW / (ax.bbox.height / ax.figure.dpi))
    places = [index for index in range(0, len(labels), step) if str(labels[index])]
    ax.set_yticks(places, [text_of(labels[index]) for index in places], fontsize=9)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def draw_intervals(ax: Any, labels: Sequence[Any], value: Floats, low: Floats, high: Floats) -> bool:
    """Draw numbers with their intervals, one row per number from the top down.

    A number outside of its interval, such as a negative share, is drawn as a hollow point at the nearer limit.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    labels : sequence
        Label of every row.
    value, low, high : ndarray
        Numbers and limits. Infinite limits are not drawn.

    Returns
    -------
    is_hollow : bool
        Whether there are hollow points, which the caption has to explain (`HOLLOW`).
    """
    if not len(labels):
        ax.set_yticks([])
        ax.text(0.5, 0.5, "nothing was found", transform=ax.transAxes, ha="center", va="center", fontsize=9)
        return False
    places, finite = np.arange(len(labels)), np.isfinite(low) & np.isfinite(high)
    thick = min(4.0, 50 * ax.bbox.height / ax.figure.dpi / len(labels))  # points; thinner where rows are narrow
    ends = np.column_stack([low, high, np.full(len(places), np.nan)])[finite]  # one line with gaps: fast for many rows
    ax.plot(ends.ravel(), np.repeat(places[finite], 3), color=SKY, linewidth=thick, solid_capstyle="butt")
    outside = (value < low) | (value > high)
    ax.plot(np.where(outside, np.nan, value), places, "o", color=BLACK, markersize=thick)
    if outside.any():
        nearer = np.clip(value, low, high)[outside]
        hollow = {"markerfacecolor": "white", "markersize": thick + 1, "clip_on": False, "zorder": 3}
        ax.plot(nearer, places[outside], "o", color=BLACK, **hollow)
    label_rows(ax, labels)
    draw_grid(ax, "x")
    return bool(outside.any())


def draw_errors(ax: Any, labels: Sequence[Any], errors: Sequence[float], markers: Sequence[str]) -> None:
    """Draw positive numbers on a logarithmic axis, one row per number from the top down. Zeros are not drawn."""
    for place, (error, marker) in enumerate(zip(errors, markers, strict=True)):
        if 0 < error < math.inf:
            ax.plot([error], [place], marker, color=BLUE, markersize=6)
    label_rows(ax, labels)
    ax.set_xscale("log")
    ax.margins(x=0.1)
    draw_grid(ax, "x")


def draw_band(
    ax: Any, x: Floats, value: Floats, low: Floats, high: Floats, *, label: str, band: str, **line: Any
) -> None:
    """Draw a curve with a band and their legend. With ``drawstyle="steps-post"``, both are step functions."""
    step = {"steps-post": "post"}.get(line.get("drawstyle", ""))
    ax.fill_between(x, low, high, step=step, color=SKY, alpha=0.35, linewidth=0, label=band)
    ax.plot(x, value, color=BLUE, label=label, **line)
    ax.legend()


def draw_trends(ax: Any, names: Sequence[Any], labels: Sequence[Any], value: Floats, low: Floats, high: Floats) -> None:
    """Draw numbers in the order of some names, with their intervals: one curve per label, one beside the other.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    names : sequence
        Labels of the horizontal axis.
    labels : sequence
        Label of every curve; an empty one for a single curve without a legend.
    value, low, high : ndarray, shape (names, labels)
        Numbers and limits.
    """
    places = np.arange(len(names))
    for i, label in enumerate(labels):
        color, shift = CURVES[i % len(CURVES)], 0.06 * (i - (len(labels) - 1) / 2)
        style = {"color": color, "linestyle": LINES[i // len(CURVES) % len(LINES)]}
        ax.plot(
            places + shift, value[:, i], marker=MARKERS[i % len(MARKERS)], markersize=4, label=text_of(label), **style
        )
        ax.vlines(places + shift, low[:, i], high[:, i], color=color, alpha=0.5, linewidth=2)
    step = _step(len(names) * COLUMN / (ax.bbox.width / ax.figure.dpi))
    ax.set_xticks(places[::step], [text_of(name) for name in names[::step]], fontsize=9)
    draw_grid(ax)
    if any(map(str, labels)):
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))


def draw_matrix(
    ax: Any, values: Floats, rows: Sequence[Any], columns: Sequence[Any], quantity: str, texts: Sequence[str] = ()
) -> None:
    """Draw a heat map, with a color bar, the labels of rows and columns, and texts in the cells.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    values : ndarray, shape (rows, columns)
        Numbers. White is 0 or the smallest number; darker is more. NaN is white.
    rows, columns : sequence
        Labels.
    quantity : str
        Label of the color bar.
    texts : sequence of str
        Texts of all cells, row by row. They are left out if there are more than 64.
    """
    known = values[np.isfinite(values)]
    lowest, highest = float(known.min(initial=0.0)), float(known.max(initial=0.0))
    image = ax.imshow(values, aspect="auto", cmap="Blues", interpolation="nearest", vmin=lowest, vmax=highest)
    ax.figure.colorbar(image, ax=ax, label=quantity)
    label_rows(ax, rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    longest = max(len(str(label)) for label in columns)
    room = ROW if longest > 5 else COLUMN
    step = _step(len(columns) * room / (ax.bbox.width / ax.figure.dpi))
    names = list(map(text_of, columns[::step]))
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if longest > 5 else {}
    ax.set_xticks(range(0, len(columns), step), names, fontsize=9, **turned)
    if len(texts) <= MAX_TEXTS:
        for index, text in enumerate(texts):
            row, column = divmod(index, len(columns))
            dark = values[row, column] > lowest + 0.6 * (highest - lowest)
            ax.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")


def draw_bounds(ax: Any, x: Floats, lower: Floats, upper: Floats, nonprivate: Floats) -> None:
    """Draw a lower and an upper bound along an axis, with the estimator without privacy, on logarithmic axes.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    x : ndarray
        Positions on the axis.
    lower, upper, nonprivate : ndarray
        Errors. Lower bounds far below all upper ones are not drawn.
    """
    shown = np.where(lower > upper.min() * 1e-6, lower, np.nan)
    ax.fill_between(x, shown, upper, color=BLUE, alpha=0.12, linewidth=0)
    ax.plot(x, shown, color=BLUE, label="lower bound for every procedure")
    ax.plot(x, upper, color=VERMILION, linestyle="-.", label="upper bound for the best of ldpfast")
    if nonprivate.min() > 0:
        ax.plot(x, nonprivate, color=BLACK, linestyle="--", label="without privacy")
    ax.set_xscale("log")
    ax.set_yscale("log")
    draw_grid(ax)
