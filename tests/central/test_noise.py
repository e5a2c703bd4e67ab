"""The public grid of a private sum: sensitivities in integers, rounding, and the limit of the noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ldpfast.central._noise import _precise_root
from ldpfast.privacy import Guarantee

from ..support import reference
from ..support.cases import each
from ..support.internals.central import SumGrid, noise
from ..support.internals.kernels import Stream, tally
from ..support.internals.shared import open_stream
from ..support.keys import FIXED_KEY
from ..support.statistics import ALPHA, bernstein_radius


def total(row, radius=1.0):
    """Return a clipped row as integers of the fine grid."""
    row = np.ascontiguousarray(np.atleast_2d(row))
    state = np.zeros((row.shape[1], 2), np.uint64)
    tally.add_clipped(row, row.shape[1], radius, np.empty(2 * row.shape[1]), state)
    return np.array(reference.wide(state), dtype=object)


def pairs_of_rows(dim, rng):
    """Yield pairs of rows inside and outside of the unit ball: antipodal, on a diagonal, on an axis, random, huge."""
    axis, diagonal = np.eye(dim)[0], np.full(dim, dim**-0.5)
    yield axis, -axis
    yield diagonal, -diagonal
    yield np.nextafter(axis, 2), np.nextafter(-axis, -2)
    yield diagonal * (1 + 1e-16 * np.arange(dim)), -diagonal
    yield 1e30 * diagonal, -1e30 * axis
    for _ in range(40):
        x = rng.standard_normal(dim)
        x /= np.linalg.norm(x)
        yield x, -x
        yield x * rng.choice([0.3, 1.0, 5.0]), rng.standard_normal(dim)
        yield x, np.sign(x) * -diagonal


@pytest.mark.claim("The sensitivity of a mean holds for the rounded sums that the program computes.", "Trusted curator")
@each("dtype", [np.float32, np.float64])
@each("radius", [1.0, 1.7, 1e-3])
@each("dim", [1, 2, 5, 100])
def test_sensitivities_bound_the_change_of_the_rounded_sum(dim, radius, dtype):
    """Span, l1 diameter and l2 diameter in integers, after clipping, adding and rounding with the same offsets."""
    rng, closest = np.random.default_rng(dim), 0.0
    grids = [SumGrid.of(dim, steps) for steps in (1, 7, 1024, 10_240)] + [SumGrid(dim, 1), SumGrid(dim, 3)]
    for x, y in pairs_of_rows(dim, rng):
        a, b = total((radius * x).astype(dtype), radius), total((radius * y).astype(dtype), radius)
        others = np.array([int(v) for v in rng.integers(-(1 << 60), 1 << 60, dim)], dtype=object)
        for grid in grids:
            assert math.isqrt(sum(int(v) ** 2 for v in a - b)) <= grid.diameter
            key = rng.bytes(32)
            moved = np.array(grid.round(others + a, Stream(key)), dtype=object) - np.array(
                grid.round(others + b, Stream(key)), dtype=object
            )
            assert max(abs(moved)) <= grid.span
            assert sum(abs(moved)) <= grid.l1
            assert sum(moved**2) <= grid.l2_squared
            closest = max(closest, sum(abs(moved)) / grid.l1)
    assert closest > 0.6  # the bound is not far too large


@each("dim", [1, 2, 3, 5, 100, 1001])
def test_rounding_adds_at_most_one_step_per_coordinate(dim):
    """All residues of the worst row."""
    for step in (1, 2, 3, 7):
        grid = SumGrid(dim, step)
        for t in (grid.diameter, grid.diameter - 1, grid.diameter // 2):
            most = max((t + r) // step - r // step for r in range(step))
            assert most <= t // step + 1
            assert most <= grid.span
    assert SumGrid(dim, 5).l1 >= Fraction(SumGrid(dim, 5).diameter * math.isqrt(dim), 5) + dim - 1
    assert SumGrid(dim, 5).l2_squared >= Fraction(SumGrid(dim, 5).diameter, 5) ** 2


@each("dim, root", [(1, 1), (2, 2), (4, 2), (5, 3), (100, 10), (101, 11)])
def test_a_grid_has_the_stated_number_of_coarse_steps(dim, root):
    """`steps` times the root of the dimension in a diameter of 2^41 fine steps, and never less than one fine step in each."""
    for steps in (1, 7, 1024, 1 << 38):
        grid = SumGrid.of(dim, steps)
        if steps * root <= 1 << 41:
            assert grid.step * steps * root <= 1 << 41 < (grid.step + 1) * steps * root
    assert SumGrid.of(dim, (1 << 41) // root).step == SumGrid.of(dim, 1 << 42).step == 1


def test_rounding_can_add_a_whole_step():
    """The nominal sensitivity is too small, because the rounded sum can move by one more step."""
    grid = SumGrid(1, 1 << 39)
    moved = max(
        abs(grid.round([s + 2 * noise.FINE], Stream(bytes([i] * 32)))[0] - grid.round([s], Stream(bytes([i] * 32)))[0])
        for i in range(64)
        for s in (1, 12345678901)
    )
    assert moved == 4
    s, key = 0, bytes(32)
    moved = {
        grid.round([s + k], Stream(key))[0] - grid.round([s], Stream(key))[0] for k in range(0, grid.step, 1 << 33)
    }
    assert moved == {0, 1}


def test_rounding_keeps_the_mean():
    """With a step of 2^31, each sum is rounded to one of the two nearest grid points."""
    grid, n = SumGrid(4096, 1 << 31), 4096
    state = np.array([k * 524_288 for k in range(n)], dtype=object)
    found = np.array(grid.round(state, Stream(FIXED_KEY)))
    assert set(found.tolist()) == {0, 1}
    expected = np.arange(n) / 4096
    assert abs(found.sum() - expected.sum()) <= n * bernstein_radius(1 / 6, 1.0, n, ALPHA)


@pytest.mark.parametrize("dim", [1, 4])
def test_sums_are_clamped_before_the_noise_is(dim):
    """The kernel clamps its noise at 2^47, so a report beyond 2^47 - |sum| would reveal the sum."""
    grid, n = SumGrid.of(dim, 1024), 50
    most = max(abs(v) for v in grid.round(n * total(np.eye(dim)[0]), Stream(FIXED_KEY)))
    assert most + grid.limit(n) < 1 << 47
    assert grid.limit(n) > (1 << 47) - n * 2000
    with pytest.raises(ValueError, match="x must hold fewer records for integers of 48 bits, got"):
        grid.limit(1 << 47)


@pytest.mark.long
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_the_variance_of_noise_in_a_ball(dim):
    """Density proportional to exp(-|w| / s): the mean of |w|^2 is dim (dim + 1) s^2. Detects a factor of 1.15."""
    made, runs = noise.BallNoise.of(dim, Guarantee("local", 1.0)), 4000
    stream = open_stream(7)
    squares = np.array([(made.add(np.zeros(dim, object), 1, stream) ** 2).mean() for _ in range(runs)])
    assert made.variance == pytest.approx((dim + 1) * float(made.scale) ** 2, rel=1e-12)
    assert squares.mean() == pytest.approx(made.variance, rel=0.13)


def test_the_root_of_a_dimension_is_rounded_up_and_exact_for_squares():
    for dim in (1, 4, 9, 10_000):
        assert _precise_root(dim) == math.isqrt(dim)
    for dim in (2, 3, 5, 99):
        assert 0 < _precise_root(dim) - math.sqrt(dim) < 2**-31
