"""Coins of the mechanisms: a bias of 2^-12 of a coin is detected, from the frequency of one event.

In each case an event of the report has exactly the probability of the coin, which is computed here from `epsilon` alone. The
number of records is the smallest for which `assert_counts` detects a shift of the probability by 2^-12 with a probability of at
least 0.99, either way. It is 10^8 or more for a coin of 1/2 to 3/4, and fewer for coins near 1, so that slow mechanisms have a
larger `epsilon` here than in `cards.KINDS`.

A bias of one unit of an integer is detected by exact tests: of the integers by ../test_coins.py and the exact channels of each
mechanism, and of the comparison in a kernel by the tests whose names have "exactly": in test_warner.py
`test_the_truth_is_kept_exactly_below_the_threshold`, and its counterparts in the file of each mechanism. The first reports from
a key are also compared with those of the reference twins (`test_reports_equal_the_reference`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast._core import privatize
from ldpfast._core.kernel import Kernel
from ldpfast.mechanisms import LaplaceOneHot, SketchResponse
from ldpfast.mechanisms._laplace_residue import LaplaceResidue
from ldpfast.mechanisms._window import MIXTURES, best_design

from ..cards import KINDS
from ..support.keys import STATISTICS_SEED
from ..support.statistics import ALPHA, POWER, assert_counts, rejection

SHIFT = 2.0**-12
PIECE_BYTES = 1 << 20  # bytes of records that are privatized together


def least_records(p: float, alpha: float = ALPHA) -> int:
    """Return a number of records for which `assert_counts` detects `SHIFT`, a few percent above the smallest at most."""
    errors = stats.norm.isf(alpha / 2) + stats.norm.isf(1 - POWER)
    n = math.ceil(0.96 * errors**2 * p * (1 - p) / SHIFT**2)
    while min(rejection(n, p, true, alpha) for true in (p - SHIFT, p + SHIFT) if 0 <= true <= 1) < POWER:
        n = math.ceil(1.02 * n)
    return n


@dataclass(frozen=True)
class Case:
    """A coin: `count` returns how often an event of probability `p` happens in the reports on copies of a record.

    There are `trials` trials per report.
    """

    mechanism: ldp.Mechanism
    record: object
    p: float
    count: Callable[[np.ndarray], int]
    trials: int = 1
    dtype: str | None = None

    def __str__(self) -> str:
        return repr(self.mechanism) if self.dtype is None else f"{self.mechanism!r}-{self.dtype}"

    @cached_property
    def reports(self) -> int:
        return -(-least_records(self.p) // self.trials)

    @property
    def n(self) -> int:
        return self.reports * self.trials

    def total(self, reports: int) -> int:
        """Return how often the event happens in so many reports."""
        record = np.asarray(self.record, self.dtype)
        return sum(self.count(piece) for piece in pieces(self.mechanism, record, reports))


def logistic(t: float) -> float:
    return 1 / (1 + math.exp(-t))


def equal_to(code: int) -> Callable[[np.ndarray], int]:
    return lambda reports: np.count_nonzero(reports == code)


def in_set(mechanism: ldp.Mechanism, record: int) -> Callable[[np.ndarray], int]:
    """Return a function that counts reports among the codes that are most probable for the record."""
    row = mechanism.channel().matrix[record]
    inside = row > (row.min() + row.max()) / 2
    return lambda reports: np.count_nonzero(inside[reports])


def response(k: int, epsilon: float) -> float:
    """Return the probability of the true answer of k-ary randomized response."""
    return math.exp(epsilon) / (math.exp(epsilon) + k - 1)


def of_set(size: int, outputs: int, epsilon: float) -> float:
    """Return the probability of a set, all of whose codes have e^epsilon times the probability of the others."""
    return math.exp(epsilon) * size / (math.exp(epsilon) * size + outputs - size)


def ones(byte_masks: list[int]) -> Callable[[np.ndarray], int]:
    """Return a function that counts the ones of packed bits in some positions of each byte of a row."""
    masks = np.array(byte_masks, np.uint8)
    return lambda reports: int(np.bitwise_count(reports & masks).sum(dtype=np.int64))


def at_least_ones(least: int) -> Callable[[np.ndarray], int]:
    return lambda reports: np.count_nonzero(np.bitwise_count(reports).sum(axis=1) >= least)


def unary(k: int, epsilon: float, method: str, x: int) -> list[Case]:
    """Return the coin of the person's category and that of the others."""
    mechanism = ldp.UnaryEncoding(k, epsilon, method=method)
    own, other = (logistic(epsilon / 2), logistic(-epsilon / 2)) if method == "symmetric" else (0.5, logistic(-epsilon))
    mine = [1 << (x - 8 * byte) if 0 <= x - 8 * byte < 8 else 0 for byte in range(-(-k // 8))]
    rest = [~mask & 255 for mask in mine]
    return [Case(mechanism, x, own, ones(mine)), Case(mechanism, x, other, ones(rest), k - 1)]


def cases() -> list[Case]:
    found = [
        Case(ldp.Warner(1.0), 1, logistic(1.0), np.count_nonzero),
        Case(ldp.RandomizedResponse(9, 1.5), 4, response(9, 1.5), equal_to(4)),
        *unary(13, 2.0, "symmetric", 5),
        unary(13, 2.0, "optimized", 5)[1],  # the coin of the category is fair
        Case(ldp.Residue(0.7, -0.1, 4, 1.0), 0.3, response(4, 1.0), equal_to(0)),
        Case(ldp.Bins([-1, 0, 1], 1.0), 0.5, response(4, 1.0), equal_to(2)),
        Case(ldp.SignBit(-1.0, 3.0, 1.0), 3.0, logistic(1.0), np.count_nonzero),
    ]
    hadamard, space = ldp.HadamardResponse(9, 1.0), ldp.ProjectiveGeometryResponse(16, 6.0)
    found.append(Case(hadamard, 2, logistic(1.0), in_set(hadamard, 2)))
    hyperplane = (space.order ** (space.length - 1) - 1) // (space.order - 1)
    found.append(Case(space, 2, of_set(hyperplane, space.report.k, 6.0), in_set(space, 2)))
    sets = ldp.SubsetSelection(13, 6.0, size=4)
    found.append(Case(sets, 2, of_set(4, 13, 6.0), ones([1 << 2, 0])))
    sketch = SketchResponse(6.0, max_bytes=1, buckets=2, functions=1)
    bucket = int(sketch._hashes[0].buckets(sketch.domain.records("a")[0])[0, 0])
    found.append(Case(sketch, b"a", logistic(6.0), equal_to(bucket)))
    window, design = ldp.Window(-1.0, 3.0, 1.0), best_design(1.0, 16)
    mixed, codes = design.mixed / MIXTURES, design.steps + design.width
    inside = (1 - mixed) * of_set(design.width, codes, 1.0)
    found.append(Case(window, -1.0, inside, lambda codes, width=design.width: np.count_nonzero(codes < width)))
    found.append(Case(window, -1.0, mixed * logistic(1.0), equal_to(codes)))
    # The record is zero: the vectors have the signs of the pattern. One of four is more probable.
    found.append(
        Case(ldp.RankedSigns(2, 7.0), np.zeros(2), of_set(1, 4, 7.0), lambda r: np.count_nonzero(r[:, 1] == 2))
    )
    axis, codebook = np.eye(5)[0], ldp.RankCodebook(5, 7.0, vectors=1)
    for dtype in ("float32", "float64"):
        found += [
            Case(ldp.LinfBall(27, 6.0), np.ones(27), logistic(6.0), at_least_ones(14), dtype=dtype),
            Case(ldp.L2Ball(5, 6.0), axis, logistic(6.0), lambda z: np.count_nonzero(z[:, 0] > 0), dtype=dtype),
            Case(codebook, axis, logistic(7.0), lambda r: np.count_nonzero(codebook.decode(r)[:, 0] > 0), dtype=dtype),
        ]
        for dim, sampled, epsilon in ((27, 3, 8.0), (9, 9, 10.0)):
            cube = ldp.SampledCube(dim, epsilon, sampled=sampled)
            patterns = sum(math.comb(sampled, a) for a in range(cube.threshold, sampled + 1))
            plus = at_least_ones(cube.threshold)
            count = plus if sampled == dim else lambda items, count=plus: count(items & 1)
            p = of_set(patterns, 1 << sampled, epsilon)
            found.append(Case(cube, np.ones(dim), p, count, dtype=dtype))
    return found


def pieces(mechanism: ldp.Mechanism, record: np.ndarray, n: int) -> Iterator[np.ndarray]:
    """Yield the reports on n copies of a record, piece by piece, so that they stay in the cache."""
    rows = max(1, PIECE_BYTES // max(4, record.nbytes))
    x = np.broadcast_to(record, (rows, *record.shape)).copy()
    rng = np.random.default_rng(STATISTICS_SEED)
    for start in range(0, n, rows):
        yield mechanism.privatize(x[: n - start], rng=rng)


@pytest.mark.claim("The compiled code draws its coins with the stated probabilities.", "Privacy of reports")
@pytest.mark.parametrize("case", cases(), ids=str)
def test_coins_have_their_probability(case):
    """Detects a bias of a coin by 2^-12."""
    assert_counts(case.total(case.reports), case.n, case.p, detects=SHIFT)


def with_kernel(mechanism: ldp.Mechanism, kernel: Kernel) -> ldp.Mechanism:
    """Return the mechanism with another kernel; everything else claims the probabilities of the original one."""
    object.__setattr__(mechanism, "_recipe", replace(mechanism._recipe, kernel=kernel))
    return mechanism


def shifted() -> Iterator[Case]:
    """Yield cases whose kernel has a coin that is larger by 2^-12."""
    unit = 1 << 52
    warner = ldp.Warner(1.0)
    coin = warner._coin
    coin = replace(coin, keep=coin.keep + unit, words_per_symbol=coin.words_per_symbol - unit)
    yield Case(with_kernel(warner, privatize.Warner(coin)), 1, logistic(1.0), np.count_nonzero)
    bit = ldp.SignBit(-1.0, 3.0, 1.0)
    coin = bit._coin
    kernel = privatize.SignBit(-1.0, 3.0, coin.heads + (1 << coin.bits - 12), coin.bits)
    yield Case(with_kernel(bit, kernel), 3.0, logistic(1.0), np.count_nonzero)
    sets = ldp.SubsetSelection(13, 6.0, size=4)
    kernel = privatize.SubsetSelection(13, 4, sets._coin.heads + unit, 10)
    yield Case(with_kernel(sets, kernel), 2, of_set(4, 13, 6.0), ones([1 << 2, 0]))
    cube = ldp.LinfBall(27, 6.0)
    kernel = privatize.LinfBall(27, 1.0, cube._recipe.coin.heads + unit, 0)
    yield Case(with_kernel(cube, kernel), np.ones(27), logistic(6.0), at_least_ones(14))
    ball = ldp.L2Ball(5, 6.0)
    kernel = privatize.L2Ball(5, 1.0, ball.scale, ball._recipe.coin.heads + unit)
    yield Case(with_kernel(ball, kernel), np.eye(5)[0], logistic(6.0), lambda z: np.count_nonzero(z[:, 0] > 0))


@pytest.mark.parametrize("case", list(shifted()), ids=str)
def test_a_shifted_coin_is_detected(case):
    """The exact probability that the test above rejects the shifted coin is at least 0.99.

    With twice as many records it is so close to 1 that this run must reject it.
    """
    assert rejection(case.n, case.p, case.p + SHIFT) >= POWER
    assert rejection(2 * case.n, case.p, case.p + SHIFT) >= 1 - ALPHA
    with pytest.raises(AssertionError, match=r"^count \(\) is "):
        assert_counts(case.total(2 * case.reports), 2 * case.n, case.p, detects=SHIFT)


# Noise ----------------------------------------------------------------------------------------------------------------

GROUP = 32  # values of a group of binary digits
NOISE = [  # mechanism, a record on the grid, and the rate of the noise, for one unit of the report
    (ldp.Laplace(-1.0, 3.0, 1.0), -1.0, 1 / 4),
    (LaplaceResidue(2.0, 0.25, 1.0), -0.75, 1 / 2),
    (LaplaceOneHot(9, 1.0), 0, 1 / 2),
    (ldp.LaplaceVector(3, 11.4), -np.eye(3)[0], 11.4 / (2 * math.sqrt(3))),
]


def digit_counts(sizes: np.ndarray, digits: int) -> np.ndarray:
    """Return how often each group of five digits has each value, one row per group."""
    rows = []
    for first in range(0, digits, 15):  # three groups at once
        joint = np.bincount(sizes >> first & (1 << 15) - 1, minlength=1 << 15).reshape(GROUP, GROUP, GROUP)
        rows += [joint.sum(axis=(0, 1)), joint.sum(axis=(0, 2)), joint.sum(axis=(1, 2))]
    return np.array(rows[: -(-digits // 5)])


@pytest.mark.parametrize(
    "mechanism, record, rate",
    [NOISE[0], *(pytest.param(*case, marks=pytest.mark.long) for case in NOISE[1:])],
    ids=lambda v: repr(v) if hasattr(v, "epsilon") else "",
)
def test_noise_has_the_probabilities_of_its_digits(mechanism, record, rate):
    """Detects an error of 2^-12 of the probability of a value of a group of digits or of a carry, and of 2^-11 of a sign.

    The integer noise is G or -1 - G with a fair sign, where G is geometric with the given rate per unit of the report. So its
    groups of five binary digits are independent.
    """
    digits, record = mechanism._coin.digits, np.asarray(record)
    firsts, values = np.arange(0, digits, 5)[:, np.newaxis], np.arange(GROUP)
    ideal = np.where(firsts + np.log2(values + 1) <= digits, np.exp(-rate * mechanism.grid * 2.0**firsts * values), 0)
    p = np.append(ideal / ideal.sum(axis=1, keepdims=True), math.exp(-rate * mechanism.grid * 2.0**digits))
    n = max(least_records(q, ALPHA / len(p)) for q in (p.max(), p[np.abs(p - 0.5).argmin()]))
    index = np.ravel(mechanism._recipe.law.numbers(record[np.newaxis]) - mechanism.report.lower) / mechanism.grid
    reports = -(-n // len(index))
    counts, negative = np.zeros(len(p), np.int64), 0
    for piece in pieces(mechanism, record, reports):
        noise = (piece.reshape(-1, len(index)) - mechanism.report.lower) * (1 / mechanism.grid) - (index + 0.5)
        noise = np.rint(noise).astype(np.int64).ravel()
        signs = noise >> 63
        noise ^= signs
        counts += np.append(digit_counts(noise, digits), np.count_nonzero(noise >> digits))
        negative -= int(signs.sum())
    assert_counts(counts, reports * len(index), p, detects=SHIFT)
    assert_counts(negative, reports * len(index), 0.5, detects=2 * SHIFT)


def test_gradients_have_the_coins_of_their_balls():
    """The ball privatizes them with its own kernel, which the tests above cover."""
    for mechanism in (example.mechanism for example in KINDS):
        if hasattr(mechanism, "ball"):
            assert mechanism._recipe.kernel is mechanism.ball._recipe.kernel


def test_every_compiled_mechanism_is_covered():
    tested = {type(case.mechanism) for case in cases()} | {type(mechanism) for mechanism, *_ in NOISE}
    kinds = [getattr(example.mechanism, "ball", example.mechanism) for example in KINDS]
    assert {type(kind) for kind in kinds if isinstance(kind._recipe.kernel, Kernel)} == tested
