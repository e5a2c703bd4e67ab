"""Print the measured levels of the tests of distributions, and draw their power.

    python experiments/level_table.py [--runs N] [--figure docs/power.png] > table.md

The grid takes about an hour on two processors. With --figure, only the figure is drawn.
"""

import argparse
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import chi2_contingency

sys.path.append(str(Path(__file__).resolve().parents[1]))

import ldpfast as ldp
from ldpfast import _plots
from ldpfast.reports import recipe_of
from ldpfast.survey import Choice, CrossAnswer, Survey, YesNo, two_sample
from ldpfast.survey._shares import Shares

LABELS = (2, 5, 30, 200, 1000)
PEOPLE = (20, 200, 2000, 20_000, 1_000_000, 10_000_000)
EPSILONS = (0.25, 1.0, 2.0, 8.0)
LEVEL = 0.05
FEW_RUNS = 100
MANY = 100  # labels from which on tests that draw reports, and of independence, are simulated less often
SLOW = 10**12  # squared labels times people from which on all tests are
PEOPLE_OF_TABLES = 50  # people per label from which on independence is simulated; with few, one test draws for seconds
DIFFERENCES = np.linspace(0, 0.1, 11)
POWER_EPSILONS, POWER_PEOPLE = (0.5, 1.0, 2.0, 4.0), 20_000


def answer(k: int, epsilon: float, shares: np.ndarray, n: int, seed: int) -> ldp.survey.Answer:
    """Return the answer of n simulated people to a question with k labels."""
    survey = Survey({"q": YesNo() if k == 2 else Choice(k)}, epsilon)
    return recipe_of(survey).declared["q"].answer(simulated(survey.mechanisms["q"], shares, n, seed), 1)


def table(k: int, epsilon: float, n: int, seed: int) -> CrossAnswer:
    """Return the joint answers of n simulated people to two questions with k labels in all, which are independent."""
    rows, columns = _sides(k)
    margins = [np.arange(1, side + 1) / (side * (side + 1) / 2) for side in (rows, columns)]
    mechanism = ldp.mechanisms.for_categories(rows * columns, epsilon)
    declared = recipe_of(Survey({"a": Choice(rows), "b": Choice(columns)}, epsilon)).declared
    shares = simulated(mechanism, np.outer(*margins).ravel(), n, seed)
    return CrossAnswer.of(("a", "b"), tuple(declared.values()), shares, 1)


def simulated(mechanism: ldp.Mechanism, shares: np.ndarray, n: int, seed: int) -> Shares:
    """Return the estimated shares of n simulated people."""
    return Shares.of(mechanism, ldp.simulate(mechanism, shares, n, rng=seed)._counts.group())


def _sides(k: int) -> tuple[int, int]:
    """Return the numbers of rows and columns of a table with about k cells."""
    rows = max(2, int(np.sqrt(k)))
    return rows, max(2, round(k / rows))


def levels(case: tuple[int, int, float, int]) -> str:
    """Return a row of the table: the shares of true hypotheses that are rejected."""
    warnings.simplefilter("ignore")
    k, n, epsilon, runs = case
    shares = np.arange(1, k + 1) / (k * (k + 1) / 2)
    pvalues: dict[str, list[float]] = {"fit": [], "two": [], "independence": []}
    draws = answer(k, epsilon, shares, n, 0).goodness_of_fit(shares).method != "chi-square"
    if k**2 * n >= SLOW or (draws and k > MANY):
        runs //= 4  # such tests take seconds
    for seed in range(runs):
        a, b = (answer(k, epsilon, shares, size, 2 * seed + i) for i, size in enumerate((n, n + n // 2)))
        pvalues["fit"].append(a.goodness_of_fit(shares, rng=seed).pvalue)
        pvalues["two"].append(two_sample(a, b, rng=seed).pvalue)
        if n >= PEOPLE_OF_TABLES * k and (k <= MANY or seed < FEW_RUNS):
            pvalues["independence"].append(table(k, epsilon, n, seed).independence(rng=seed).pvalue)
    rejected = (f"{np.mean(np.array(found) < LEVEL):.3f}" if found else "" for found in pvalues.values())
    return f"| {k} | {n:,} | {epsilon:g} | {runs} | {' | '.join(rejected)} |"


def powers(case: tuple[float, float, int]) -> float:
    """Return the share of pairs of samples whose difference is found: one of five shares is larger in one of them."""
    warnings.simplefilter("ignore")
    epsilon, difference, runs = case
    shares = np.full((2, 5), 0.2)
    shares[1] += difference * np.array([1, -0.25, -0.25, -0.25, -0.25])
    if not np.isfinite(epsilon):
        rng = np.random.default_rng(1)
        counts = rng.multinomial(POWER_PEOPLE, shares, (runs, 2))
        return float(np.mean([chi2_contingency(pair).pvalue < LEVEL for pair in counts]))
    pairs = (
        [answer(5, epsilon, row, POWER_PEOPLE, 2 * seed + i) for i, row in enumerate(shares)] for seed in range(runs)
    )
    return float(np.mean([two_sample(*pair, rng=1).pvalue < LEVEL for pair in pairs]))


def draw(path: str, runs: int, pool: ProcessPoolExecutor) -> None:
    """Draw the power of the test of two samples."""
    figure = _plots.figure(6.4, 4.0)
    ax = figure.subplots()
    epsilons = (*POWER_EPSILONS, float("inf"))
    found = list(pool.map(powers, [(epsilon, d, runs) for epsilon, d in product(epsilons, DIFFERENCES)]))
    for i, epsilon in enumerate(epsilons):
        label = f"epsilon = {epsilon:g}" if np.isfinite(epsilon) else "without privacy"
        style = {"color": _plots.CURVES[i], "marker": _plots.MARKERS[i], "markersize": 4}
        ax.plot(DIFFERENCES, found[i * len(DIFFERENCES) : (i + 1) * len(DIFFERENCES)], label=label, **style)
    ax.axhline(LEVEL, color="0.4", linewidth=0.8, linestyle=":")
    title = f"Two samples of {POWER_PEOPLE:,} people, five labels, level {LEVEL:g}"
    _plots.finish(ax, title, "difference of one share", "share of differences that are found")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="simulations of each case")
    parser.add_argument("--figure", help="file of the figure of power")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        if arguments.figure:
            draw(arguments.figure, arguments.runs, pool)
            return
        print("| labels | people | epsilon | runs | fit | two samples | independence |\n" + "| --- " * 7 + "|")
        cases = [(k, n, e, arguments.runs) for k, n, e in product(LABELS, PEOPLE, EPSILONS) if k**2 * n <= SLOW]
        for row in pool.map(levels, cases):
            print(row, flush=True)


if __name__ == "__main__":
    main()
