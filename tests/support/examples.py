"""Random records of a mechanism, and comparison of reports and estimates bit by bit."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

import ldpfast as ldp
from ldpfast.mechanisms import Mechanism
from ldpfast.reports import SampledBits
from ldpfast.results import Binomial

from .machine_records import category_rows, ticks


def records_of(mechanism: Mechanism, n: int, seed: int = 0, dtype: Any = np.float64) -> np.ndarray:
    """Return n random records from the whole domain of `mechanism`, in the dtype of its kernel."""
    rng = np.random.default_rng([seed, zlib.crc32(repr(mechanism).encode())])
    domain = mechanism.domain
    if type(domain).__name__ == "Categories":
        return rng.integers(0, domain.k, n).astype(np.min_scalar_type(domain.k - 1))
    if type(domain).__name__ == "Strings":
        letters = rng.integers(ord("a"), ord("d"), (n, domain.max_bytes)).astype(np.uint8)
        letters[np.arange(domain.max_bytes) >= rng.integers(0, domain.max_bytes + 1, (n, 1))] = 0
        return letters.view(f"S{domain.max_bytes}")[:, 0]
    if type(domain).__name__ == "Sets":
        return ticks(n, domain.k, domain.most)[rng.permutation(n)]
    if type(domain).__name__ == "Tuples":
        return category_rows(n, domain.sizes)[rng.permutation(n)]
    if type(domain).__name__ == "Reals":
        return (3 * rng.standard_normal(n)).astype(dtype)
    if type(domain).__name__ == "Interval":
        return rng.uniform(domain.lower, domain.upper, n).astype(dtype)
    if type(domain).__name__ == "Examples":
        responses = {"logistic": rng.integers(0, 2, n), "linear": rng.normal(size=n), "poisson": rng.poisson(2, n)}
        return np.column_stack([rng.normal(size=(n, domain.features)), responses[domain.family]]).astype(dtype)
    if domain.norm == "linf":
        return rng.uniform(-domain.radius, domain.radius, (n, domain.dim)).astype(dtype)
    x = rng.standard_normal((n, domain.dim))
    length = domain.radius * rng.uniform(0, 0.999, (n, 1))
    return (x * length / np.linalg.norm(x, axis=1, keepdims=True)).astype(dtype)


@dataclass(frozen=True)
class Example:
    """A mechanism and the dtype of its records."""

    mechanism: Mechanism
    dtype: str = "float64"

    def records(self, n: int, seed: int = 0) -> np.ndarray:
        return records_of(self.mechanism, n, seed, self.dtype)

    def blocks(self, count: int) -> int:
        """Return the number of records in `count` blocks and a half, which threads and vectors do not divide evenly."""
        rows = self.mechanism._recipe.kernel.rows
        return count * rows + (rows + 1) // 2

    def __str__(self) -> str:
        name = repr(self.mechanism).replace("epsilon=", "").replace(" ", "")
        return name if self.dtype == "float64" else f"{name}-{self.dtype}"


def assert_same(actual: Any, expected: Any) -> None:
    """Check that arrays are equal in dtype, shape and every bit."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert actual.tobytes() == expected.tobytes()


def assert_same_estimate(actual: ldp.Estimate, expected: ldp.Estimate) -> None:
    """Check that estimates are equal in every bit, including intervals and covariance."""
    assert_same(actual.value, expected.value)
    assert_same(actual.stderr, expected.stderr)
    assert (actual.n, actual.guarantee) == (expected.n, expected.guarantee)
    if isinstance(expected.rule, Binomial):  # limits are functions of these counts, which take long to compute
        assert isinstance(actual.rule, Binomial)
        assert_same(actual.rule.hits, expected.rule.hits)
        assert_same(actual.rule.n, expected.rule.n)
        for share in (0.0, 1.0):
            assert_same(actual.rule.debiasing(share), expected.rule.debiasing(share))
    else:
        for ours, theirs in zip(actual._bounds(), expected._bounds(), strict=True):
            assert_same(ours, theirs)
    assert (actual.covariance is None) == (expected.covariance is None)
    if actual.covariance is not None:
        assert_same(actual.covariance, expected.covariance)


def mean_of_decoded(mechanism: Mechanism, decoded: np.ndarray) -> np.ndarray:
    """Return what the estimate must be: the mean of decoded reports.

    For sampled bits it is the mean of those who were asked; others are decoded as 1/2.
    """
    report = mechanism.report
    if not isinstance(report, SampledBits):
        return decoded.mean(axis=0, dtype=np.float64)
    asked = (decoded != 0.5).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return 0.5 + (decoded - 0.5).sum(axis=0) * report.sampled / report.dim / asked
