"""Example mechanisms with matching random records, shared by all tests of the contract."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

import ldpfast as ldp
from ldpfast.mechanisms import Gradient, Hessian, LaplaceOneHot, Mechanism, SketchResponse, TreeResponse
from ldpfast.mechanisms._laplace_residue import LaplaceResidue
from ldpfast.mechanisms._smoothed_bins import SmoothedBins
from ldpfast.results import Binomial


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


CHANNELS = [ldp.FiniteChannel([[3, 1], [1, 3]]), ldp.FiniteChannel([[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 4, 2]])]
CATEGORIES = [
    *CHANNELS,
    ldp.Warner(1.0),
    *(ldp.RandomizedResponse(k, 1.5) for k in (2, 3, 8, 9, 128, 300, 70_000)),
    *(ldp.UnaryEncoding(k, 2.0, method=method) for k in (2, 8, 13, 128, 1000) for method in ("symmetric", "optimized")),
    *(LaplaceOneHot(k, 2.0) for k in (2, 13, 300)),
    *(ldp.HadamardResponse(k, 1.5) for k in (2, 13, 256, 300, 65_536, 70_000)),
    ldp.HadamardResponse(9, 20.0),
    *(ldp.ProjectiveGeometryResponse(k, 2.0) for k in (2, 13, 256, 300, 65_536, 70_000)),
    *(ldp.SubsetSelection(k, 1.5) for k in (2, 8, 13, 128, 1000)),
    *(ldp.SubsetSelection(k, 2.0, size=size) for k, size in ((13, 1), (13, 12), (65, 40))),
]
TREES = [
    TreeResponse(2, 1.0),
    TreeResponse(13, 3.0, branching=3),
    TreeResponse(12, 1.0, branching=2),
    TreeResponse(21, 0.5, branching=2, method="haar"),
    TreeResponse(5000, 1.0, branching=8),
]
SKETCHES = [
    SketchResponse(1.0, max_bytes=3, buckets=2, functions=2),
    SketchResponse(3.0, max_bytes=4, alphabet="abcd", prefixes=(1, 4), buckets=30, functions=3),
    SketchResponse(2.0, max_bytes=5, buckets=130, functions=8, salt="second"),
]
SYMBOLS = [
    ldp.Residue(0.7, -0.1, 4, 1.0),
    ldp.Bins([0.25], 1.0),
    ldp.Bins([-3, -2, -1, 0, 1, 2, 3], 2.0),
    SmoothedBins([0.5, 2.5], 1.0, spacing=1.0),
]
INTERVALS = [
    ldp.SignBit(-1.0, 3.0, 1.0),
    ldp.Laplace(-1.0, 3.0, 1.0),
    ldp.Laplace(10.0, 20.0, 0.25),
    ldp.Window(-1.0, 3.0, 1.0),
    ldp.Window(10.0, 20.0, 0.25, outputs=2),
    ldp.Window(-1.0, 3.0, 6.0, outputs=64),
    ldp.Window(-1.0, 3.0, 4.0, outputs=256),
]
WRAPPED = [LaplaceResidue(2.0, 0.25, 1.0), LaplaceResidue(7.5, -3.0, 0.25)]
VECTORS = [
    *(ldp.LinfBall(d, 1.0, radius=2.0, ties=ties) for d in (1, 2, 8, 27, 64, 100, 1000) for ties in ("keep", "thin")),
    *(ldp.L2Ball(d, 1.0, radius=2.0) for d in (1, 2, 3, 32, 100, 5000)),
    *(ldp.LaplaceVector(d, 1.0, radius=2.0, norm=norm) for d in (1, 3, 50) for norm in ("l2", "linf")),
    *(ldp.PrivUnit(d, epsilon, radius=2.0) for d, epsilon in ((1, 1.0), (2, 1.0), (3, 4.0), (100, 1.0), (300, 4.0))),
    *(ldp.SampledCube(d, 2.0, radius=2.0) for d in (1, 2, 8, 27, 100, 200)),
    ldp.SampledCube(9, 4.0, radius=2.0, sampled=9),
    ldp.SampledCube(64, 1.0, radius=2.0, sampled=64),
    ldp.SampledCube(200, 1.0, radius=2.0, sampled=62),
    *(ldp.RankedSigns(d, 2.0, radius=2.0, signs=signs) for d, signs in ((3, 3), (100, 70))),
    *(ldp.RankCodebook(d, 2.0, radius=2.0, vectors=vectors) for d, vectors in ((1, 16), (2, 16), (100, 64), (300, 1))),
]
GRADIENTS = [
    Gradient("logistic", (0.5,), 1.0),
    Gradient("logistic", (0.5, -0.25, 1.0, 0.0), 1.0, norm="linf", radius=2.0, column=1.0),
    Gradient("linear", tuple(np.linspace(-1, 1, 33).tolist()), 1.0, residual=2.0),
    Gradient("poisson", (0.1, -0.2, 0.5), 1.0, norm="l2", radius=1.0, column=0.5, residual=3.0, noise="laplace"),
    Gradient("linear", (0.1, -0.2), 1.0, norm="linf", residual=0.5, noise="laplace"),
]
HESSIANS = [
    Hessian("logistic", (0.5,), 1.0),
    Hessian("logistic", (0.5, -0.25, 1.0, 0.0), 1.0, norm="linf", radius=2.0, column=1.0),
    Hessian("linear", (0.1, -0.2, 0.3, 0.1, 0.5), 1.0, residual=2.0),
    Hessian("poisson", (0.1, -0.2, 0.5), 1.0, norm="l2", radius=1.0, column=0.5, residual=3.0, noise="laplace"),
]
MECHANISMS: list[Mechanism] = [
    *CATEGORIES,
    *TREES,
    *SKETCHES,
    *SYMBOLS,
    *INTERVALS,
    *WRAPPED,
    *VECTORS,
    *GRADIENTS,
    *HESSIANS,
]

EXAMPLES = [
    *(Example(m) for m in MECHANISMS if m not in SKETCHES[1:]),  # whose codes are more than records
    *(Example(m, "float32") for m in MECHANISMS if isinstance(m, ldp.L2Ball)),
    *(
        Example(m, "float32")
        for m in (*SYMBOLS[:2], *INTERVALS[:2], WRAPPED[0], ldp.LinfBall(27, 1.0), ldp.LaplaceVector(3, 1.0))
    ),
    *(Example(m, "float32") for m in (*GRADIENTS[:2], *HESSIANS[:2])),
    Example(ldp.PrivUnit(5, 4.0), "float32"),
    *(Example(m, "float32") for m in (INTERVALS[3], INTERVALS[5], ldp.RankCodebook(5, 4.0, vectors=7))),
    *(Example(ldp.SampledCube(d, 2.0), "float32") for d in (1, 27, 200)),
]

# One mechanism of each kind, for tests that do not depend on the parameters.
KINDS = [
    Example(ldp.Warner(1.0)),
    Example(ldp.RandomizedResponse(9, 1.5)),
    Example(ldp.UnaryEncoding(13, 2.0)),
    Example(ldp.HadamardResponse(9, 1.0)),
    Example(ldp.ProjectiveGeometryResponse(16, 1.0)),
    Example(ldp.SubsetSelection(13, 1.0)),
    Example(CHANNELS[1]),
    Example(TREES[2]),
    Example(SKETCHES[0]),
    Example(ldp.Residue(0.7, -0.1, 4, 1.0)),
    Example(ldp.Bins([-1, 0, 1], 1.0)),
    Example(ldp.SignBit(-1.0, 3.0, 1.0)),
    Example(ldp.Laplace(-1.0, 3.0, 1.0)),
    Example(WRAPPED[0]),
    Example(ldp.LinfBall(27, 1.0)),
    Example(ldp.L2Ball(5, 1.0)),
    Example(ldp.L2Ball(5, 1.0), "float32"),
    Example(ldp.LaplaceVector(3, 1.0)),
    Example(ldp.PrivUnit(5, 1.0)),
    Example(ldp.PrivUnit(5, 1.0), "float32"),
    Example(LaplaceOneHot(9, 1.0)),
    Example(ldp.Window(-1.0, 3.0, 1.0)),
    Example(ldp.SampledCube(27, 2.0)),
    Example(ldp.SampledCube(27, 2.0), "float32"),
    Example(ldp.RankCodebook(5, 1.0)),
    Example(ldp.RankedSigns(5, 1.0)),
    Example(GRADIENTS[1]),
    Example(HESSIANS[1]),
]


def decoded_shape(mechanism: Mechanism, n: int) -> tuple[int, ...]:
    """Return the shape of ``decode(privatize(x))`` for n records."""
    if isinstance(mechanism, ldp.Warner | ldp.SignBit | ldp.Laplace | ldp.Window | LaplaceResidue):
        return (n,)
    if isinstance(mechanism, ldp.FiniteChannel):
        return (n, len(mechanism.rows))
    if isinstance(mechanism, ldp.HadamardResponse | ldp.ProjectiveGeometryResponse):
        return (n, mechanism.k)
    return (n, getattr(mechanism.report, "k", None) or mechanism.report.dim)


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
