"""Power of tests of two samples beside those of a paper, as a table in Markdown: ``python -m benchmarks.power``.

The tests of J. Mun, S. Kwak, I. Kim, "Minimax optimal two-sample testing under local differential privacy" (2024, arXiv
2411.09064), the package privateAB: k-ary response with a chi-square statistic, bits that are flipped with a projected
chi-square statistic, and Laplace noise on each indicator with an unbiased estimate of the squared distance, which is compared
with permutations. They are written here after the paper, with NumPy, because the package needs torch.

Shares differ by `bump` alternately up and down, as in the examples of the package, or in one label only.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from scipy.stats import chi2

import ldpfast as ldp
from ldpfast.survey import Choice, Survey, two_sample

PERMUTATIONS = 199
SETTINGS = (  # labels, people in each group, epsilon, bump, kind
    (4, 1_000, 0.9, 0.04, "alternating"), (4, 1_000, 2.0, 0.02, "alternating"), (40, 5_000, 1.0, 0.012, "alternating"),
    (40, 5_000, 2.0, 0.006, "alternating"), (40, 5_000, 2.0, 0.06, "one label"), (200, 5_000, 4.0, 0.0012, "alternating"),
    (200, 5_000, 4.0, 0.025, "one label"), (4, 1_000, 0.9, 0.0, "equal"), (200, 5_000, 4.0, 0.0, "equal"),
)  # fmt: skip


def shares(k: int, bump: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares in both groups."""
    equal = np.full(k, 1 / k)
    if kind == "one label":
        return equal, equal + np.concatenate([[bump], np.full(k - 1, -bump / (k - 1))])
    step = bump * np.where(np.arange(k) % 2 == 0, -1, 1)
    return equal - step, equal + step


def response(groups: list[np.ndarray], k: int, epsilon: float, rng: np.random.Generator) -> float:
    """k-ary response; the statistic of Pearson with the pooled shares of the reports."""
    mechanism = ldp.RandomizedResponse(k, epsilon)
    counts = np.array([np.bincount(mechanism.privatize(group, rng=rng), minlength=k) for group in groups], float)
    expected = counts.sum(axis=0) * counts.sum(axis=1, keepdims=True) / counts.sum()
    return float(chi2.sf(((counts - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(), k - 1))


def flipped_bits(groups: list[np.ndarray], k: int, epsilon: float, rng: np.random.Generator) -> float:
    """Bits of an indicator that are flipped; the difference of means without its mean over the labels, in its covariance."""
    mechanism = ldp.UnaryEncoding(k, epsilon, method="symmetric")
    bits = [
        np.unpackbits(mechanism.privatize(group, rng=rng), axis=1, count=k, bitorder="little").astype(float)
        for group in groups
    ]
    difference = bits[1].mean(axis=0) - bits[0].mean(axis=0)
    difference -= difference.mean()
    pooled = np.concatenate(bits)
    size = 1 / sum(1 / len(group) for group in groups)
    return float(chi2.sf(size * difference @ np.linalg.solve(np.cov(pooled.T), difference), k - 1))


def laplace(groups: list[np.ndarray], k: int, epsilon: float, rng: np.random.Generator) -> float:
    """Laplace noise on each indicator; an unbiased estimate of the squared distance, against permutations."""
    n = len(groups[0])
    labels = np.concatenate(groups)
    noisy = np.eye(k)[labels] + rng.laplace(scale=2 / epsilon, size=(2 * n, k))
    squares = (noisy**2).sum(axis=1)

    def distance(first: np.ndarray) -> float:
        a, b = noisy[first], noisy[~first]
        sums = a.sum(axis=0), b.sum(axis=0)
        own = [(s @ s - squares[part].sum()) / (n * (n - 1)) for s, part in zip(sums, (first, ~first), strict=True)]
        return float(sum(own) - 2 * sums[0] @ sums[1] / n**2)

    first = np.arange(2 * n) < n
    found = distance(first)
    above = sum(distance(rng.permutation(first)) >= found for _ in range(PERMUTATIONS))
    return (1 + above) / (1 + PERMUTATIONS)


def ours(groups: list[np.ndarray], k: int, epsilon: float, rng: np.random.Generator) -> float:
    """A survey with one question, with the mechanism that it takes."""
    survey = Survey({"label": Choice(k)}, epsilon)
    results = [survey.run({"label": group}, rng=rng)["label"] for group in groups]
    return float(two_sample(*results).pvalue)


TESTS = {"ldpfast": ours, "k-ary response": response, "flipped bits": flipped_bits, "Laplace noise": laplace}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, help="pairs of samples for each setting (400)")
    runs = parser.parse_args().runs
    print(f"| labels | people in each group | epsilon | difference | {' | '.join(TESTS)} |")
    print("| --- " * (4 + len(TESTS)) + "|")
    for k, n, epsilon, bump, kind in SETTINGS:
        tests = {name: test for name, test in TESTS.items() if test is not laplace or n * k <= 50_000}  # seconds beyond
        rejected, rng = Counter[str](), np.random.default_rng(1)
        for _ in range(runs):
            groups = [rng.choice(k, n, p=p) for p in shares(k, bump, kind)]
            rejected.update(name for name, test in tests.items() if test(groups, k, epsilon, rng) < 0.05)
        cells = [f"{rejected[name] / runs:.2f}" if name in tests else "" for name in TESTS]
        difference = "none" if kind == "equal" else f"{bump:g}, {kind}"
        print(f"| {k} | {n:,} | {epsilon:g} | {difference} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
