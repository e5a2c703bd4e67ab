"""The kernel of `SeriesDensity`: the reports against the reference, the private coin, the rounding and the accuracy."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import SeriesDensity

from ..support import reference
from ..support.cases import each
from ..support.errors import CLIP_HINT, state_of_record
from ..support.examples import assert_same
from ..support.internals.kernels import privatize, stream
from ..support.keys import FIXED_KEY, KEY, SEED

POINT, HARMONIC = 3e-6, 1.5e-9  # error of a cosine, and its growth with the frequency


def reports(kernel: tuple, key: bytes, block: int, x: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the signs (0 or 1) of the reports of one block, and whether the kernel found all records valid."""
    out = np.full((len(x), (kernel[0] + 7) // 8), 0xAA, np.uint8)
    valid = privatize.Series(*kernel).privatize(stream.Stream(key), block, x, out)
    bits = np.unpackbits(out, axis=1, bitorder="little")
    assert not bits[:, kernel[0] :].any()
    return bits[:, : kernel[0]], valid


@each("dtype", [np.float32, np.float64])
@each("n", [1, 15, 16, 17, 100])
@each("terms", [1, 2, 7, 8, 9, 31, 32, 33, 64, 65, 100, 250])
def test_reports_equal_the_reference(isa, terms, n, dtype):
    x = np.random.default_rng(n).uniform(-3, 4.5, n).astype(dtype)
    x[: min(n, 2)] = (-3.0, 4.5)[:n]
    kernel = terms, -3.0, 4.5, 0xBB << 56
    n = min(n, privatize.Series(*kernel).rows)
    signs, valid = reports(kernel, KEY, 3, x[:n])
    assert valid
    assert_same(signs, reference.series_reports(kernel, KEY, 3, x[:n]))


@each("terms", [1, 32, 33, 1000, 65536])
def test_cosines_of_the_reference_have_the_stated_accuracy(terms):
    """The reference computes in the single precision of the kernel, and the reports are equal."""
    x = np.random.default_rng(terms).random(1000 if terms < 2000 else 50)
    expected = reference.series_terms(terms, 0.0, 1.0, x) / math.sqrt(2)
    error = np.abs(reference.series_points(terms, 0.0, 1.0, x) - expected)
    assert (error <= POINT + HARMONIC * (np.arange(terms) // 2 + 1)).all()


@each("terms", [1, 2, 32, 33, 100])
def test_the_sign_changes_exactly_at_the_threshold(isa, terms):
    """One unit more in `heads` changes the sign of exactly the report whose word equals the old threshold."""
    n, x = 20, np.linspace(0, 1, 20)
    words, coins = reference.Words(FIXED_KEY, "SERIES", 0), []
    for _ in range(2):
        words.take(16, "<u4")
        coins += words.take(16, "<u8").tolist()
        words.take(16 * -(-terms // 32), "<u4")
    for person in range(n):
        before, after = (reports((terms, 0.0, 1.0, coins[person] + more), FIXED_KEY, 0, x)[0] for more in (0, 1))
        changed = before != after
        assert changed[person].all()
        assert not np.delete(changed, person, axis=0).any()


@pytest.mark.parametrize("terms", [1, 31, 64])
def test_reports_of_two_records_are_equal_or_opposite(isa, terms):
    """Under one key, whatever the record is: also NaN, infinite and huge ones."""
    for dtype in (np.float32, np.float64):
        big = float(np.finfo(dtype).max)
        x = np.array([0.0, 0.2, 1.0, -1.0, big, -big, np.inf, -np.inf, np.nan, 1e-45], dtype)
        signs = np.array([reports((terms, 0.0, 1.0, 1 << 63), KEY, 0, x[i : i + 1])[0][0] for i in range(len(x))])
        assert (np.all(signs == signs[0], axis=1) | np.all(signs != signs[0], axis=1)).all()


@each("bad", [-1e-9, 1 + 1e-9, np.nan, np.inf, -np.inf])
@each("n", [1, 16, 37])
def test_invalid_records_are_found(isa, bad, n):
    x = np.linspace(0, 1, n)
    assert reports((5, 0.0, 1.0, 1 << 63), KEY, 0, x)[1]
    for at in {0, n // 2, n - 1}:
        spoiled = x.copy()
        spoiled[at] = bad
        assert not reports((5, 0.0, 1.0, 1 << 63), KEY, 0, spoiled)[1]
        text = rf"; index {at} is {state_of_record(bad)} \(1 of {n} are\)"
        with pytest.raises(ValueError, match=rf"^x must be .*{text}{re.escape(CLIP_HINT)}$"):
            SeriesDensity(1.0, n_terms=5).privatize(spoiled)


def expected_report(coordinates: tuple[Fraction, ...], p: Fraction) -> list[Fraction]:
    """Return the exact mean of the signs of a report for one random number that rounds all coordinates.

    The number is uniform in [-1, 1), and a coordinate is plus where the number is less. A tie keeps the direction.
    """
    k = len(coordinates)
    ends = sorted({Fraction(-1), Fraction(1), *coordinates})
    mean = [Fraction(0)] * k
    for low, high in itertools.pairwise(ends):
        vertex = [1 if low < c else -1 for c in coordinates]
        for direction in itertools.product((-1, 1), repeat=k):
            side = 1 if sum(u * v for u, v in zip(direction, vertex, strict=True)) >= 0 else -1
            weight = (high - low) / 2 / 2**k * (2 * p - 1) * side
            mean = [m + weight * u for m, u in zip(mean, direction, strict=True)]
    return mean


@each("k", [1, 2, 3, 4, 5])
def test_the_mean_is_exact_where_coordinates_share_their_rounding(k):
    """Enumerated in fractions: the mean of a report is the record divided by the scale, for any joint rounding."""
    p = Fraction(3, 4)
    record = tuple(Fraction(int(c), 100) for c in np.random.default_rng(k).integers(-100, 101, k))
    mean = expected_report(record, p)
    scale = mean[0] / record[0]
    assert mean == [scale * c for c in record]
    exact = ldp.LinfBall(k, math.log(3)).scale
    assert float(scale) == pytest.approx(1 / exact, rel=1e-12)


def test_coordinates_are_uncorrelated_in_squares():
    """The covariance of two signs is minus the product of their means, as for the l-infinity mechanism."""
    problem = SeriesDensity(2.0, n_terms=6)
    n, x = 400_000, 0.15
    packed = problem.privatize(np.full(n, x), rng=SEED)
    signs = 2.0 * np.unpackbits(packed, axis=1, count=6, bitorder="little") - 1
    mean = reference.series_terms(6, 0.0, 1.0, np.array([x]))[0] / problem.mechanism.scale
    np.testing.assert_allclose(signs.mean(axis=0), mean, atol=5 / math.sqrt(n))
    products = signs.T @ signs / n
    np.testing.assert_allclose(products - np.eye(6), 0, atol=5 / math.sqrt(n))
