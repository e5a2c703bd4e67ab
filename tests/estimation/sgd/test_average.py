"""Means and standard errors of positions from sums by segments."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ...support import reference
from ...support.internals.sgd import Average
from ...support.protocol_state import state_of
from ...support.slices import slices


@given(st.integers(1, 300), st.booleans(), st.integers(0, 2**31), st.data())
def test_segments_agree_with_direct_sums(n, full, seed, data):
    rng = np.random.default_rng(seed)
    positions = rng.uniform(-3, 3, 3) + np.cumsum(rng.normal(size=(n, 3)), axis=0)
    average = Average((4, 32), 3 if full else None)
    for start, stop in slices(n, data.draw):
        while start < stop:
            now = min(stop - start, average.room)
            totals = average.sums[0, :3] + np.cumsum(positions[start : start + now], axis=0)
            s = np.arange(average.size + 1, average.size + now + 1)[:, np.newaxis]
            average.sums[:, :3] += [
                totals[-1] - average.sums[0, :3],
                totals.sum(0),
                (totals**2).sum(0),
                (s * totals).sum(0),
            ]
            if average.matrix is not None:
                average.matrix += totals.T @ totals
            average.advance(now)
            start += now
    assert average.count == n
    mean, covariance = reference.random_scaling(positions[reference.counted_from(n) :])
    size = np.abs(positions).max()
    np.testing.assert_allclose(average.mean()[:3], mean, rtol=0, atol=1e-12 * size)
    if n > 1:
        np.testing.assert_allclose(average.stderr()[:3] ** 2, np.diag(covariance), rtol=1e-9, atol=1e-10 * size**2)
    if full:
        np.testing.assert_allclose(average.covariance(), covariance, rtol=1e-9, atol=1e-10 * size**2)
    assert not average.mean()[3:].any()


def test_copy_is_independent():
    average = Average((4, 32), 2)
    for _ in range(5):
        average.advance(1)
    twin, before = average.copy(), state_of(average)
    assert state_of(twin) == before
    twin.sums += 1
    twin.matrix += 1
    twin.advance(3)
    assert state_of(average) == before
    assert average.count == 5
