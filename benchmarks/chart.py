"""The chart of the README: ``python benchmarks/chart.py out.json [docs/benchmarks.png]``.

Takes the JSON of ``pytest benchmarks --benchmark-json=out.json`` or of ``python -m ldpfast bench --json out.json``.
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

TASKS = {
    "response-128": ("k-ary response, k = 128", "person"),
    "unary-128": ("unary encoding, 128 bits", "person"),
    "linf-128": (r"$\ell_\infty$ ball, dim 128", "coordinate"),
    "linf-1024": (r"$\ell_\infty$ ball, dim 1024", "coordinate"),
    "l2-100": (r"$\ell_2$ ball, dim 100", "coordinate"),
    "l2-1000": (r"$\ell_2$ ball, dim 1000", "coordinate"),
    "laplace": ("Laplace noise", "value"),
    "sign-bit": ("sign bit", "value"),
    "residue-4": ("residue modulo 4", "person"),
    "count-128": ("counting 128-bit reports", "report"),
    "count-1024": ("counting 1024-bit reports", "report"),
    "run-linf-128": (r"records to mean, $\ell_\infty$, dim 128", "coordinate"),
    "frequencies-response-128": ("records to shares, k-ary", "person"),
    "frequencies-unary-128": ("records to shares, unary", "person"),
    "frequencies-1024": ("frequencies, k = 1024", "person"),
    "series-32": ("density, series of 32 terms", "person"),
    "median": ("median by descent", "person"),
    "median-any-time": ("median by descent, any time", "person"),
    "gaussian": ("Gaussian mean, two rounds", "person"),
    "central-mean": ("central mean", "value"),
    "central-median": ("central median", "record"),
    "central-gaussian": ("discrete Gaussian noise", "sample"),
    "logistic-float32": ("logistic regression, dim 50", "person"),
    "logistic-float64": ("the same, float64", "person"),
}

SUBTITLE = (
    "ldpfast: exact coins, cryptographic generator. NumPy and numba: as fast as we could, their coins are neither."
)
INK, GREY, PALE = "#1b1f24", "#6b7480", "#e6e9ed"


@dataclass(frozen=True)
class Look:
    """How a library appears: label in the legend, colour, marker, size, filled or hollow."""

    label: str
    colour: str
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


@dataclass
class Numbers:
    """ns per unit by task and library, the limit by task, and a line about the machine."""

    cost: dict[str, dict[str, float]]
    limit: dict[str, float]
    about: str


def from_pytest(data: dict[str, Any]) -> Numbers:
    cost: dict[str, dict[str, float]] = {}
    limit: dict[str, float] = {}
    for row in data["benchmarks"]:
        info = row["extra_info"]
        if info["name"] in TASKS and info["correct"]:
            cost.setdefault(info["name"], {})[info["library"]] = info["ns_per_unit"]
            if info["library"] == "ldpfast" and "limit_ns" in info:
                limit[info["name"]] = info["limit_ns"]
    cpu = data["machine_info"].get("cpu", {}).get("brand_raw", data["machine_info"]["machine"])
    return Numbers(cost, limit, f"{cpu}, Python {data['machine_info']['python_version']}")


def from_report(data: dict[str, Any]) -> Numbers:
    cost: dict[str, dict[str, float]] = {}
    limit: dict[str, float] = {}
    for row in data["tasks"]:
        if row["name"] not in TASKS or not row["correct"]:
            continue
        cost[row["name"]] = {"ldpfast": row["ldpfast"]}
        if row["numpy_correct"]:
            cost[row["name"]]["numpy"] = row["numpy"]
        if row["two_threads_ns"]:
            cost[row["name"]]["ldpfast, 2 threads"] = row["two_threads_ns"]
        limit[row["name"]] = row["limit"]
    about = data["machine"]
    return Numbers(cost, limit, f"{about['cpu']} ({about['isa']}), Python {about['python']}, NumPy {about['numpy']}")


def brief(cost: float) -> str:
    """Three digits."""
    return f"{cost:.2f}" if cost < 10 else f"{cost:.1f}" if cost < 100 else f"{cost:,.0f}"


def draw_row(ax: Axes, y: float, name: str, numbers: Numbers) -> None:
    costs = numbers.cost[name]
    ends = [min(costs.values()), max(costs.values())]
    ax.plot(ends, [y, y], color=PALE, linewidth=3.0, zorder=1, solid_capstyle="round")
    if name in numbers.limit:
        ax.plot([numbers.limit[name]] * 2, [y - 0.3, y + 0.3], color=INK, linewidth=1.6, zorder=2)
    for library, look in reversed(LOOKS.items()):
        if library in costs:
            ax.plot(
                costs[library], y, look.marker, color=look.colour, markersize=look.size, zorder=5 - 2 * look.hollow,
                markerfacecolor="none" if look.hollow else look.colour,
                markeredgecolor=look.colour if look.hollow else "white", markeredgewidth=1.4 if look.hollow else 0.8,
            )  # fmt: skip
    ax.annotate(
        brief(costs["ldpfast"]), (costs["ldpfast"], y), (0, 7.5), textcoords="offset points", ha="center", va="bottom",
        fontsize=8.5, color=LOOKS["ldpfast"].colour, fontweight="bold", zorder=6,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip
    slowest = max(costs, key=lambda library: costs[library])
    if costs[slowest] > 100:
        times = costs[slowest] / costs["ldpfast"]
        ax.annotate(
            f"{LOOKS[slowest].label}, {float(f'{times:.2g}'):,.0f} times", (costs[slowest], y), (0, 7.5),
            textcoords="offset points", ha="center", va="bottom", fontsize=8, color=GREY,
        )  # fmt: skip


def draw(numbers: Numbers) -> Figure:
    names = [name for name in TASKS if "ldpfast" in numbers.cost.get(name, {})]
    figure = Figure(figsize=(10, 1.9 + 0.5 * len(names)), dpi=160, facecolor="white")
    FigureCanvasAgg(figure)
    height = figure.get_size_inches()[1]
    ax = figure.add_axes((0.275, 0.72 / height, 0.7, 1 - (0.72 + 1.22) / height))
    for i, name in enumerate(names):
        y = len(names) - 1 - i
        draw_row(ax, y, name, numbers)
        task, unit = TASKS[name]
        for text, up, size, colour in ((task, 0.15, 10, INK), (f"per {unit}", -0.23, 8, GREY)):
            ax.annotate(
                text, (-0.012, y + up), xycoords=("axes fraction", "data"), ha="right", va="center", fontsize=size,
                color=colour,
            )  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(-0.6, len(names) - 0.25)
    ax.set_yticks([])
    low, high = (f(x for costs in numbers.cost.values() for x in costs.values()) for f in (min, max))
    low = min([low, *numbers.limit.values()])
    ax.set_xlim(low / 1.5, high * 4)
    ticks = [t for t in (0.1, 1, 10, 100, 1e3, 1e4, 1e5) if low / 1.5 <= t <= high * 4]
    labels = {0.1: "0.1 ns", 1: "1 ns", 10: "10 ns", 100: "100 ns", 1e3: "1 µs", 1e4: "10 µs", 1e5: "100 µs"}
    ax.set_xticks(ticks, [labels[t] for t in ticks])
    ax.tick_params(axis="x", colors=GREY, labelsize=9, length=0)
    ax.tick_params(axis="x", which="minor", length=0)
    ax.grid(axis="x", color=PALE, linewidth=0.8, zorder=0)
    ax.set_axisbelow(True)
    for side in ax.spines.values():
        side.set_visible(False)
    present = [library for library in LOOKS if any(library in costs for costs in numbers.cost.values())]
    handles = [
        Line2D(
            [], [], linestyle="none", marker=LOOKS[library].marker, color=LOOKS[library].colour,
            markersize=LOOKS[library].size * 0.85, label=LOOKS[library].label,
            markerfacecolor="white" if LOOKS[library].hollow else LOOKS[library].colour, markeredgewidth=1.2,
        )
        for library in present
    ]  # fmt: skip
    if numbers.limit:
        handles.append(
            Line2D([], [], linestyle="none", marker="|", color=INK, markersize=11, markeredgewidth=1.6, label="limit")
        )
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.012, 1 - 0.56 / height), ncols=5, frameon=False, fontsize=9,
        handletextpad=0.3, columnspacing=1.6, labelcolor=INK,
    )  # fmt: skip
    title: dict[str, Any] = {"fontsize": 14, "fontweight": "bold", "color": INK, "va": "top"}
    figure.text(0.02, 1 - 0.18 / height, "Time per unit: left is faster", **title)
    figure.text(0.02, 1 - 0.45 / height, SUBTITLE, fontsize=9.5, color=GREY, va="top")
    limit = "limit: random bytes at the speed of the key stream, plus memory traffic.  " if numbers.limit else ""
    figure.text(0.02, 0.14 / height, f"{limit}{numbers.about}", fontsize=8, color=GREY, va="bottom")
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
