"""Sums over positions and answers, by segments, and the parabola that is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ...support import reference
from ...support.internals.kernels import sgd
from ...support.internals.sgd import Segments, local_fit
from ...support.slices import slices


@given(st.integers(1, 300), st.floats(-1e3, 1e3), st.integers(0, 2**31), st.data())
def test_segments_and_fit_agree_with_direct_sums(n, place, seed, data):
    """Powers of the positions around their mean, over all positions and over those with answer 1; and the parabola."""
    rng = np.random.default_rng(seed)
    positions, ones = place + np.cumsum(rng.uniform(-1, 1, n)), rng.integers(0, 2, n)
    state, segments = sgd.QuantileState(float(positions[0])), Segments()
    for start, stop in slices(n, data.draw):
        while start < stop:
            now = min(stop - start, segments.room)
            powers = (positions[start : start + now] - state.origin) ** np.arange(5)[:, np.newaxis]
            moments = state.moments + powers[1:].sum(axis=1)
            answered_1 = state.ones + (powers[:3] * ones[start : start + now]).sum(axis=1)
            start += now
            position = float(positions[start] if start < n else 0.0)
            state = sgd.QuantileState(position, start, state.origin, moments, answered_1)
            if segments.advance(now):
                segments.close(local_fit.FitSums.of(state, segments.size))
                state.open_segment()
    assert segments.count == state.count == n
    first = reference.counted_from(n)
    kept, bits = positions[first:], ones[first:]
    sums = local_fit.merged(segments.without_burn_in(local_fit.FitSums.of(state, segments.size)))
    mean, size, moments, sums_of_ones = sums
    spread = np.ptp(positions) + 1  # the origins of the segments are positions too
    assert size == n - first
    assert mean == pytest.approx(kept.mean(), rel=0, abs=1e-12 * (spread + abs(place)))
    powers = (kept - mean) ** np.arange(1, 5)[:, np.newaxis]
    tolerance = 1e-11 * size * (spread + 1e-3 * abs(place)) ** np.arange(5)
    assert (np.abs(moments - powers.sum(axis=1)) <= tolerance[1:]).all()
    expected = [bits.sum(), *(bits * powers[:2]).sum(axis=1)]
    assert (np.abs(sums_of_ones - expected) <= tolerance[:3]).all()
    fit = local_fit.crossing(sums, -1e6, 1e6, 0.5)
    if fit is not None:
        v = (kept - fit.center) / fit.scale
        design = v[:, np.newaxis] ** np.arange(3)
        fitted = np.linalg.lstsq(design, bits.astype(float), rcond=None)[0]
        at = np.linspace(-1, 1, 5)
        excess, error = fit.excess(at)
        rows = at[:, np.newaxis] ** np.arange(3)
        np.testing.assert_allclose(excess + 0.5, rows @ fitted, rtol=0, atol=1e-5)
        variance = np.einsum("ai,ij,aj->a", rows, np.linalg.inv(design.T @ design), rows) / 4
        np.testing.assert_allclose(error, np.sqrt(variance), rtol=1e-4)
