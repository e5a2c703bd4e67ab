"""The mean of normal records: errors of the published protocols and of the library, and a figure of the search.

Joseph, Kulkarni, Mao and Wu (NeurIPS 2019) prove an error of order sigma / (epsilon sqrt(n)) for known sigma and two
rounds, if n is large enough for their thresholds. Counts are drawn from their exact distribution
(`GaussianMean.simulate`). docs/gaussian.md has the same ranges and shows the figure.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ldpfast._plots import BLACK, BLUE, GRAY, GREEN, ORANGE, PURPLE, VERMILION, finish
from ldpfast._plots import figure as new_figure
from ldpfast._typing import Floats
from ldpfast.estimation import GaussianMean

from ..demo.curve import Curve, Row
from ._study import JKMW, Experiment, Study

MEANS, SIGMAS = (0.0, 3.7, 1000.0, -250.3), (1.0, 5.0)
MU_BOUND, SIGMA_BOUNDS = 4096.0, (0.5, 16.0)
EPSILONS = (0.5, 1.0, 2.0)
SIZES, FULL_SIZES = (20_000, 200_000), (20_000, 200_000, 1_000_000)
REPETITIONS, QUICK_REPETITIONS = 50, 5  # per mean and sigma
MAX_MEDIAN = 5.0  # largest median of the normalized error that counts as "of order 1"

PAPER, ROBUST, EFFICIENT = "published, safe noise", "robust", "efficient"
VARIANTS = {PAPER: "paper", ROBUST: "robust", EFFICIENT: "efficient"}
COLORS = {PAPER: VERMILION, ROBUST: BLUE, EFFICIENT: GREEN}
SHAPES = {2: ("o", "-"), 1: ("s", "--")}  # marker and line, by the number of rounds

SHOWN_MEAN, SHOWN_SIGMA, SHOWN_BOUND, SHOWN_PEOPLE, SHOWN_EPSILON = -7.3, 1.0, 12.0, 100_000, 1.0
RESIDUES = (BLUE, ORANGE, GREEN, PURPLE)


class Method(NamedTuple):
    """A variant of the protocol, with known or unknown sigma, and its number of rounds."""

    variant: str
    known: bool  # whether sigma is known
    rounds: int

    def server(self, epsilon: float, sigma: float, n: int) -> GaussianMean:
        """Return the server for n people."""
        scale: dict[str, Any] = {"sigma": sigma} if self.known else {"sigma_bounds": SIGMA_BOUNDS}
        variant = VARIANTS[self.variant]
        return GaussianMean(epsilon, **scale, mu_bound=MU_BOUND, rounds=self.rounds, method=variant, n=n)


METHODS = [
    Method(variant, known, rounds)
    for known, rounds, variant in product((True, False), (2, 1), VARIANTS)
    if (variant, rounds) != (EFFICIENT, 1)
]


@dataclass(frozen=True)
class Errors:
    """Normalized errors of a method with n people: |estimate - mean| epsilon sqrt(n) / sigma.

    `coverage` and `warned` have one entry per epsilon.
    """

    method: Method
    n: int
    curve: Curve
    coverage: Floats  # fraction of 95 % intervals that contain the mean
    warned: Floats  # fraction of estimates with a warning

    def quantile(self, level: float) -> Floats:
        """Return a quantile of the errors, one per epsilon."""
        return np.array([np.quantile(errors, level) for errors in self.curve.errors])

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the curve with median, coverage and fraction of warnings."""
        for row, median, coverage, warned in zip(
            self.curve.rows(), self.quantile(0.5), self.coverage, self.warned, strict=True
        ):
            more = {"median": f"{median:.4g}", "coverage": f"{coverage:.4g}", "warned": f"{warned:.4g}"}
            yield {**{name: value for name, value in row.items() if name != "errors"}, **more, "errors": row["errors"]}


@dataclass(frozen=True)
class Search:
    """One search by pairs of cells: for each search level, widest first, cell width, debiased shares and kept cells."""

    widths: Floats
    shares: Floats  # shape (levels, 4)
    kept: tuple[int, ...]  # index of the lower one of the two cells kept

    @property
    def found(self) -> float:
        """Edge between the last two cells."""
        return float((self.kept[-1] + 1) * self.widths[-1])

    @property
    def end(self) -> float:
        """Upper end of the range."""
        return float(2 * self.widths[0])


@dataclass(frozen=True)
class GaussianStudy(Study):
    """Errors of all methods and sizes, and one search to draw."""

    errors: tuple[Errors, ...]
    search: Search

    size = (9.0, 6.4)

    def of(self, method: Method) -> list[Errors]:
        """Return the errors of a method for all n, in increasing order."""
        return [found for found in self.errors if found.method == method]

    def gain(self, method: Method) -> float:
        """Return the published root mean squared error over that of a method of the library, for the largest n.

        Geometric mean over epsilon.
        """
        theirs, ours = (self.of(m)[-1].curve.errors for m in (method._replace(variant=PAPER), method))
        ratios = [np.mean(np.square(a)) / np.mean(np.square(b)) for a, b in zip(theirs, ours, strict=True)]
        return float(np.exp(np.mean(np.log(ratios)) / 2))

    @property
    def published(self) -> float:
        """Median error of the published two rounds with known sigma, for the largest n and all epsilons together."""
        return float(np.median(self.of(Method(PAPER, True, 2))[-1].curve.errors))

    @property
    def gains(self) -> list[float]:
        """Gains of all methods of the library."""
        return [self.gain(method) for method in METHODS if method.variant != PAPER]

    @property
    def coverage(self) -> float:
        """Coverage of the intervals of all methods of the library, averaged."""
        return float(np.mean([found.coverage for found in self.errors if found.method.variant != PAPER]))

    @property
    def holds(self) -> bool:
        return self.published <= MAX_MEDIAN and min(self.gains) > 1 and 0.93 <= self.coverage <= 0.97

    @property
    def verdict(self) -> str:
        return (
            f"n = {self.errors[-1].n:,}: median error of the published two rounds, known sigma, {self.published:.1f} sigma / "
            f"(epsilon sqrt n) (at most {MAX_MEDIAN:g}); published root mean squared error over that of the library, "
            f"{min(self.gains):.1f} to {max(self.gains):.0f} (above 1); all n: coverage of the library's 95 % intervals, "
            f"{100 * self.coverage:.1f} % (93 to 97)"
        )

    def curves(self) -> Iterator[Curve]:
        return (found.curve for found in self.errors)

    def rows(self) -> list[Row]:
        """Return the numbers, a row per method, n and epsilon."""
        return [row for found in self.errors for row in found.rows()]

    def draw(self, figure: Any) -> None:
        """Draw the search (docs/jkmw-protocols.png)."""
        (records, corner), (levels, bars) = figure.subplots(
            2, 2, width_ratios=(3, 1), height_ratios=(1, 3.6), sharex="col"
        )
        corner.remove()
        _draw_records(self.search, records)
        _draw_levels(self.search, levels)
        _draw_shares(self.search, bars)

    def draw_errors(self, figure: Any) -> None:
        """Draw median errors against epsilon: a row of panels each for known and unknown sigma, a column for each n."""
        sizes = sorted({found.n for found in self.errors})
        axes = figure.subplots(2, len(sizes), sharex=True, sharey="row", squeeze=False)
        for (known, n), ax in zip(product((True, False), sizes), axes.ravel(), strict=True):
            for found in self.errors:
                if (found.method.known, found.n) == (known, n):
                    _draw_errors(found, ax)
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
            ax.set_xticks([], minor=True)
            title = f"{'known' if known else 'unknown'} sigma, n = {n:,}"
            finish(ax, title, "epsilon", "|error| epsilon sqrt(n) / sigma (no unit)")
            ax.get_legend().remove()
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(
            handles, names, loc="outside lower center", ncols=5, title="median, with a band up to the 95 % quantile"
        )


class GaussianExperiment(Experiment):
    """Experiment with two figures: the search, and the errors."""

    def save(self, study: Study, folder: Any) -> list[Any]:
        """Write the figure, the numbers, and the errors as ``jkmw-protocols-errors.png``. See `Experiment.save`."""
        assert isinstance(study, GaussianStudy)
        paths, picture = super().save(study, folder), folder / f"{self.name}-errors.png"
        figure = new_figure(13.0, 9.0, "demo")
        study.draw_errors(figure)
        figure.savefig(picture, dpi=110, format="png")
        return [*paths, picture]


# Figures --------------------------------------------------------------------------------------------------------------


def _draw_records(search: Search, ax: Any) -> None:
    """Draw the density of the records and their mean."""
    x = np.linspace(-search.end, search.end, 1201)
    density = np.exp(-0.5 * ((x - SHOWN_MEAN) / SHOWN_SIGMA) ** 2) / (SHOWN_SIGMA * np.sqrt(2 * np.pi))
    ax.fill_between(x, density, color=GRAY, alpha=0.5, linewidth=0)
    ax.axvline(SHOWN_MEAN, color=BLACK, linestyle=":", linewidth=1.3)
    ax.annotate(
        f"true mean {SHOWN_MEAN:g}",
        (SHOWN_MEAN, 0.3),
        (SHOWN_MEAN + 2.4, 0.3),
        fontsize=10,
        va="center",
        arrowprops={"arrowstyle": "-", "color": BLACK, "linewidth": 0.8},
    )
    ax.set_ylim(0, 0.45)
    ax.set_title("The records, which the server does not see", fontsize=11)
    ax.set_xlabel("record (units of sigma)")
    ax.set_ylabel("density\n(per sigma)")
    ax.tick_params(labelbottom=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0)


def _draw_levels(search: Search, ax: Any) -> None:
    """Draw a row for each search level, with cells in the color of their residue.

    The four candidate cells have a strong color; the two that are kept have a frame.
    """
    half = 0.33
    low = -2  # first of the four candidate cells
    for row, (width, kept) in enumerate(zip(search.widths, search.kept, strict=True)):
        count = round(search.end / width)
        for cell in range(-count, count):
            candidate = low <= cell < low + 4
            for color, alpha in (("white", 1.0), (RESIDUES[cell % 4], 0.85 if candidate else 0.18)):
                place = [(cell * width, width)], (row - half, 2 * half)
                ax.broken_barh(*place, facecolor=color, alpha=alpha, edgecolor="white", linewidth=0.8)
            ax.text(
                (cell + 0.5) * width,
                row,
                str(cell % 4),
                ha="center",
                va="center",
                fontsize=10 if candidate else 8,
                color=BLACK if candidate else GRAY,
            )
        ends = kept * width, (kept + 2) * width
        ax.broken_barh(
            [(ends[0], 2 * width)], (row - half, 2 * half), facecolor="none", edgecolor=BLACK, linewidth=2.2, zorder=3
        )
        if row + 1 < len(search.widths):
            for end in ends:
                ax.plot([end, end], [row + half, row + 1 - half], "--", color=BLACK, linewidth=1.0, clip_on=False)
        low = 2 * kept
    last = len(search.widths) - 1
    ax.axvline(SHOWN_MEAN, color=BLACK, linestyle=":", linewidth=1.3, zorder=0)
    ax.annotate(
        f"found: {search.found:g}",
        (search.found, last + half),
        (search.found + 2.4, last + 0.68),
        fontsize=10,
        va="center",
        arrowprops={"arrowstyle": "->", "color": BLACK},
    )
    ax.set_yticks(range(last + 1), [f"{width:g}" for width in search.widths])
    ax.set_ylim(last + 0.85, -0.6)
    ax.set_xlim(-search.end, search.end)
    ax.set_title("The search: one group of people for each row", fontsize=11)
    ax.set_xlabel("record (units of sigma); the digit in a cell is its residue modulo 4")
    ax.set_ylabel("width of the cells (units of sigma)")
    ax.tick_params(left=False)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _draw_shares(search: Search, ax: Any) -> None:
    """Draw the debiased shares of the residues beside each search level."""
    height = 0.165
    for row, shares in enumerate(search.shares):
        for residue, share in enumerate(shares):
            place = row + (residue - 1.5) * height
            label = str(residue) if row == 0 else None
            ax.barh(place, share, height * 0.9, color=RESIDUES[residue], alpha=0.85, label=label)
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.set_ylim(len(search.widths) - 1 + 0.85, -0.6)
    ax.set_yticks([])
    ax.set_xlim(min(-0.05, float(search.shares.min()) - 0.03), 1)
    ax.set_title("Shares of the answers", fontsize=11)
    ax.set_xlabel("debiased share")
    ax.set_ylabel("residue, 0 to 3 from the top")
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    handles, names = ax.get_legend_handles_labels()
    corner: dict[str, Any] = {"loc": "upper right", "bbox_to_anchor": (0.985, 0.985)}
    ax.figure.legend(handles, names, title="residue", fontsize=10, frameon=False, **corner)


def _draw_errors(found: Errors, ax: Any) -> None:
    method = found.method
    color, (marker, line) = COLORS[method.variant], SHAPES[method.rounds]
    label = f"{method.variant}, {'two rounds' if method.rounds == 2 else 'one round'}"
    median = found.quantile(0.5)
    ax.fill_between(found.curve.places, median, found.quantile(0.95), color=color, alpha=0.08, linewidth=0)
    ax.plot(found.curve.places, median, color=color, marker=marker, linestyle=line, label=label, markersize=5)


# Measurements ---------------------------------------------------------------------------------------------------------


def measure(
    method: Method, n: int, epsilons: Sequence[float], rng: np.random.Generator | None, repetitions: int
) -> Errors:
    """Simulate a method for all of `MEANS` and `SIGMAS`.

    Parameters
    ----------
    method : Method
    n : int
        Number of people.
    epsilons : sequence of float
    rng : None or Generator
        As for `GaussianMean.simulate`.
    repetitions : int
        Number of repetitions per mean and sigma.

    Returns
    -------
    errors : Errors
    """
    cases = list(product(MEANS, SIGMAS)) * repetitions
    errors, covered, warned = (np.empty((len(epsilons), len(cases))) for _ in range(3))
    for e, epsilon in enumerate(epsilons):
        servers = {sigma: method.server(epsilon, sigma, n) for sigma in SIGMAS}
        for c, (mu, sigma) in enumerate(cases):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                estimate = servers[sigma].simulate(n, mu, sigma, rng=rng)
            low, high = estimate.interval()
            errors[e, c] = abs(estimate.value - mu) * epsilon * n**0.5 / sigma
            covered[e, c], warned[e, c] = low <= mu <= high, bool(caught)
    sigmas = "known" if method.known else "unknown"
    labels = {"method": method.variant, "sigma": sigmas, "rounds": method.rounds, "n": n}
    curve = Curve(labels, "epsilon", tuple(epsilons), tuple(errors))
    return Errors(method, n, curve, covered.mean(axis=1), warned.mean(axis=1))


def search(rng: np.random.Generator | None) -> Search:
    """Run one search on simulated records, decoded by pairs of cells.

    Parameters
    ----------
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.

    Returns
    -------
    search : Search
    """
    server = GaussianMean(SHOWN_EPSILON, sigma=SHOWN_SIGMA, mu_bound=SHOWN_BOUND)
    sizes = server.plan(SHOWN_PEOPLE).rounds[0]
    draw = np.random.default_rng(rng)
    widths, shares = [], []
    for group in reversed(range(server.groups)):
        question = server.query(group).mechanism
        answers = question.run(draw.normal(SHOWN_MEAN, SHOWN_SIGMA, sizes[group]), rng=rng)
        widths.append(question.width)  # type: ignore[attr-defined]
        shares.append(np.asarray(answers.value))
    kept, low = [], -2
    for row in shares:
        pairs = [row[(low + i) % 4] + row[(low + i + 1) % 4] for i in range(3)]
        kept.append(low + int(np.argmax(pairs)))
        low = 2 * kept[-1]
    return Search(np.array(widths), np.array(shares), tuple(kept))


def run(rng: np.random.Generator | None, full: bool = False) -> GaussianStudy:
    """Run all methods. `full` selects the sizes and repetitions of the table in docs/gaussian.md."""
    repetitions, sizes = (REPETITIONS, FULL_SIZES) if full else (QUICK_REPETITIONS, SIZES)
    shown = search(rng)
    return GaussianStudy(
        tuple(measure(method, n, EPSILONS, rng, repetitions) for n in sizes for method in METHODS), shown
    )


EXPERIMENT = GaussianExperiment(
    "jkmw-protocols",
    f"{JKMW}, the four protocols",
    "The published two rounds with known sigma have a median error of at most "
    f"{MAX_MEDIAN:g} sigma / (epsilon sqrt(n)), and the variants of the library have smaller errors for every protocol "
    "and intervals with 95 % coverage (93 to 97).",
    run,
)
