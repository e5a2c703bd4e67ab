"""Draw the speed chart of the README: ``python benchmarks/chart.py out.json [docs/benchmarks.png]``.

Reads the JSON of ``pytest benchmarks --benchmark-json=out.json`` or of ``python -m ldpfast bench --json out.json``. One panel
compares with privacy packages, the other with numerical code without a privacy guarantee.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

LABELS = {
    "response-128": "k-ary response, k = 128",
    "unary-128": "unary encoding, 128 bits",
    "linf-128": r"$\ell_\infty$ ball, dim 128",
    "linf-1024": r"$\ell_\infty$ ball, dim 1024",
    "l2-100": r"$\ell_2$ ball, dim 100",
    "l2-1000": r"$\ell_2$ ball, dim 1000",
    "laplace": "Laplace noise",
    "sign-bit": "sign bit",
    "residue-4": "residue modulo 4",
    "count-128": "counting 128-bit reports",
    "count-1024": "counting 1024-bit reports",
    "run-linf-128": r"records to mean, $\ell_\infty$, dim 128",
    "frequencies-response-128": "records to shares, k-ary",
    "frequencies-unary-128": "records to shares, unary",
    "frequencies-1024": "frequencies, k = 1024",
    "series-32": "density, series of 32 terms",
    "median": "median by descent",
    "median-any-time": "median by descent, any time",
    "gaussian": "Gaussian mean, two rounds",
    "central-mean": "central mean",
    "central-median": "central median",
    "central-gaussian": "discrete Gaussian noise",
    "logistic-float32": "logistic regression, dim 50",
    "logistic-float64": "the same, float64",
}

INK, GRAY, PALE = "#1b1f24", "#6b7480", "#e6e9ed"


@dataclass(frozen=True)
class Look:
    """Style of a library: label in the legend, color, marker, size, filled or hollow."""

    label: str
    color: str
    marker: str
    size: float
    hollow: bool = False


LOOKS = {
    "ldpfast": Look("ldpfast, 1 thread", "#d9480f", "o", 9.5),
    "ldpfast, 2 threads": Look("ldpfast, 2 threads", "#d9480f", "o", 9.5, hollow=True),
    "numpy": Look("NumPy", "#1971c2", "s", 7.0),
    "numba": Look("numba, 1 thread", "#2b8a3e", "D", 6.5),
    "numba, 2 threads": Look("numba, 2 threads", "#2b8a3e", "D", 6.5, hollow=True),
    "multi-freq-ldpy": Look("multi-freq-ldpy", "#7048e8", "^", 7.5),
    "pure-ldp": Look("pure-ldp", "#a61e6a", "v", 7.5),
    "diffprivlib": Look("diffprivlib", "#5c3c1e", "P", 7.5),
    "opendp": Look("OpenDP", "#495057", "X", 7.5),
}


@dataclass(frozen=True)
class Panel:
    """Libraries with the same kind of guarantee."""

    title: str
    subtitle: str
    rivals: tuple[str, ...]


PANELS = (
    Panel(
        "Privacy packages",
        "OpenDP and ldpfast sample exactly; ldpfast draws from a cryptographic generator.",
        ("multi-freq-ldpy", "pure-ldp", "diffprivlib", "opendp"),
    ),
    Panel(
        "Numerical code without a privacy guarantee",
        "NumPy and numba: generators that are not cryptographic, coins of 16 to 61 bits or noise in floating point.",
        ("numpy", "numba", "numba, 2 threads"),
    ),
)


@dataclass
class Numbers:
    """Nanoseconds per unit by task and library, unit and limit by task, and a description of the machine."""

    cost: dict[str, dict[str, float]]
    unit: dict[str, str]
    limit: dict[str, float]
    about: str


def from_pytest(data: dict[str, Any]) -> Numbers:
    """Read the JSON of pytest-benchmark."""
    cost: dict[str, dict[str, float]] = {}
    unit: dict[str, str] = {}
    limit: dict[str, float] = {}
    for row in data["benchmarks"]:
        info = row["extra_info"]
        if info["name"] in LABELS and info["correct"]:
            unit[info["name"]] = info["unit"]
            cost.setdefault(info["name"], {})[info["library"]] = info["ns_per_unit"]
            if info["library"] == "ldpfast" and "limit_ns" in info:
                limit[info["name"]] = info["limit_ns"]
    cpu = data["machine_info"].get("cpu", {}).get("brand_raw", data["machine_info"]["machine"])
    return Numbers(cost, unit, limit, f"{cpu}, Python {data['machine_info']['python_version']}")


def from_report(data: dict[str, Any]) -> Numbers:
    """Read the JSON of ``python -m ldpfast bench``."""
    cost: dict[str, dict[str, float]] = {}
    unit: dict[str, str] = {}
    limit: dict[str, float] = {}
    for row in data["tasks"]:
        if row["name"] not in LABELS or not row["correct"]:
            continue
        unit[row["name"]] = row["unit"]
        cost[row["name"]] = {"ldpfast": row["ldpfast"]}
        if row["numpy_correct"]:
            cost[row["name"]]["numpy"] = row["numpy"]
        if row["two_threads_ns"]:
            cost[row["name"]]["ldpfast, 2 threads"] = row["two_threads_ns"]
        limit[row["name"]] = row["limit"]
    about = data["machine"]
    return Numbers(
        cost, unit, limit, f"{about['cpu']} ({about['isa']}), Python {about['python']}, NumPy {about['numpy']}"
    )


def brief(cost: float) -> str:
    """Format a number with three significant digits."""
    return f"{cost:.2f}" if cost < 10 else f"{cost:.1f}" if cost < 100 else f"{cost:,.0f}"


def draw_row(ax: Axes, y: float, costs: dict[str, float], limit: float | None) -> None:
    """Draw one task: a marker for each library, and a tick for the limit."""
    ends = [min(costs.values()), max(costs.values())]
    ax.plot(ends, [y, y], color=PALE, linewidth=3.0, zorder=1, solid_capstyle="round")
    if limit is not None:
        ax.plot([limit] * 2, [y - 0.3, y + 0.3], color=INK, linewidth=1.6, zorder=2)
    for library, look in reversed(LOOKS.items()):
        if library in costs:
            ax.plot(
                costs[library], y, look.marker, color=look.color, markersize=look.size, zorder=5 - 2 * look.hollow,
                markerfacecolor="none" if look.hollow else look.color,
                markeredgecolor=look.color if look.hollow else "white", markeredgewidth=1.4 if look.hollow else 0.8,
            )  # fmt: skip
    ax.annotate(
        brief(costs["ldpfast"]), (costs["ldpfast"], y), (0, 7.5), textcoords="offset points", ha="center", va="bottom",
        fontsize=8.5, color=LOOKS["ldpfast"].color, fontweight="bold", zorder=6,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip
    slowest = max(costs, key=lambda library: costs[library])
    if costs[slowest] > 20 * costs["ldpfast"]:
        times = costs[slowest] / costs["ldpfast"]
        ax.annotate(
            f"{LOOKS[slowest].label}, {float(f'{times:.2g}'):,.0f} times", (costs[slowest], y), (0, 7.5),
            textcoords="offset points", ha="center", va="bottom", fontsize=8, color=GRAY,
        )  # fmt: skip


def draw_panel(ax: Axes, panel: Panel, rows: dict[str, dict[str, float]], numbers: Numbers) -> None:
    """Draw all tasks of a panel."""
    limits = numbers.limit
    for i, (name, costs) in enumerate(rows.items()):
        y = len(rows) - 1 - i
        draw_row(ax, y, costs, limits.get(name))
        for text, up, size, color in ((LABELS[name], 0.15, 10, INK), (f"per {numbers.unit[name]}", -0.23, 8, GRAY)):
            ax.annotate(
                text, (-0.012, y + up), xycoords=("axes fraction", "data"), ha="right", va="center", fontsize=size,
                color=color,
            )  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(-0.6, len(rows) - 0.25)
    ax.set_yticks([])
    values = [x for costs in rows.values() for x in costs.values()] + [limits[name] for name in rows if name in limits]
    low, high = min(values) / 1.5, max(values) * 4
    ax.set_xlim(low, high)
    labels = {0.1: "0.1 ns", 1: "1 ns", 10: "10 ns", 100: "100 ns", 1e3: "1 µs", 1e4: "10 µs", 1e5: "100 µs"}
    ticks = [t for t in labels if low <= t <= high]
    ax.set_xticks(ticks, [labels[t] for t in ticks])
    ax.set_xlabel("time per unit in nanoseconds (ns) or microseconds (µs)", fontsize=9, color=GRAY)
    ax.tick_params(axis="x", colors=GRAY, labelsize=9, length=0)
    ax.tick_params(axis="x", which="minor", length=0)
    ax.grid(axis="x", color=PALE, linewidth=0.8, zorder=0)
    ax.set_axisbelow(True)
    for side in ax.spines.values():
        side.set_visible(False)
    present = [library for library in LOOKS if any(library in costs for costs in rows.values())]
    handles = [
        Line2D(
            [], [], linestyle="none", marker=LOOKS[library].marker, color=LOOKS[library].color,
            markersize=LOOKS[library].size * 0.85, label=LOOKS[library].label,
            markerfacecolor="white" if LOOKS[library].hollow else LOOKS[library].color, markeredgewidth=1.2,
        )
        for library in present
    ]  # fmt: skip
    handles.append(
        Line2D([], [], linestyle="none", marker="|", color=INK, markersize=11, markeredgewidth=1.6, label="limit")
    )
    ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(-0.36, 1.0), ncols=7, frameon=False, fontsize=9,
        handletextpad=0.3, columnspacing=1.4, labelcolor=INK,
    )  # fmt: skip


def rows_of(panel: Panel, numbers: Numbers) -> dict[str, dict[str, float]]:
    """Return the tasks that a library of the panel performs, with the times of ldpfast and of these libraries."""
    shown = ("ldpfast", "ldpfast, 2 threads", *panel.rivals)
    rows = {
        name: {lib: numbers.cost[name][lib] for lib in shown if lib in numbers.cost.get(name, {})} for name in LABELS
    }
    return {name: costs for name, costs in rows.items() if "ldpfast" in costs and set(costs) & set(panel.rivals)}


def draw(numbers: Numbers) -> Figure:
    """Draw the chart: the panels that have rows, one above the other."""
    rows = {panel: rows_of(panel, numbers) for panel in PANELS}
    panels = [panel for panel in PANELS if rows[panel]]
    head, foot = 1.25, 0.55
    height = foot + sum(head + 0.45 + 0.5 * len(rows[panel]) for panel in panels)
    figure = Figure(figsize=(10, height), dpi=160, facecolor="white")
    FigureCanvasAgg(figure)
    top = height
    for panel in panels:
        size = 0.5 * len(rows[panel])
        ax = figure.add_axes((0.275, (top - head - size) / height, 0.7, size / height))
        draw_panel(ax, panel, rows[panel], numbers)
        for text, down, style in (
            (
                f"{panel.title}: time per unit, left is faster",
                0.22,
                {"fontsize": 13, "fontweight": "bold", "color": INK},
            ),
            (panel.subtitle, 0.55, {"fontsize": 9, "color": GRAY}),
        ):
            figure.text(0.02, (top - down) / height, text, va="top", **style)
        top -= head + 0.45 + size
    limit = "limit: random bytes at the speed of the key stream, or memory traffic, whichever is longer.  "
    figure.text(0.02, 0.14 / height, f"{limit}{numbers.about}", fontsize=8, color=GRAY, va="bottom")
    return figure


def main(source: str, target: str = "docs/benchmarks.png") -> None:
    data = json.loads(Path(source).read_text())
    numbers = from_pytest(data) if "benchmarks" in data else from_report(data)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    draw(numbers).savefig(target)
    print(f"wrote {target}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
