"""Segments of running sums, and the burn-in that is left out."""

from __future__ import annotations

import copy
import math

from ...support import reference
from ...support.cases import each
from ...support.internals.kernels import sgd
from ...support.internals.sgd import Average, Segments, local_fit
from ...support.protocol_state import state_of


@each("n", [1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 1000])
def test_burn_in_is_the_largest_power_of_two_up_to_a_quarter(n):
    """Fewer than 4 positions have no burn-in."""
    burn_in = 0 if n < 4 else 2 ** math.floor(math.log2(n / 4))
    assert reference.counted_from(n) == burn_in
    state, segments, average = sgd.QuantileState(0.0), Segments(), Average((4, 32))
    for _ in range(n):
        for sums in (segments, average):
            assert sums.room == 2 ** math.floor(math.log2(max(sums.count, 1)) + (sums.count > 0)) - sums.count
        if segments.advance(1):
            segments.close(local_fit.FitSums.of(state, segments.size))
        average.advance(1)
    kept = local_fit.merged(segments.without_burn_in(local_fit.FitSums.of(state, segments.size)))
    assert kept.size == average.kept == n - burn_in


def test_copies_of_segments_and_states_are_independent():
    state, segments = sgd.QuantileState(0.0), Segments()
    for _ in range(5):
        if segments.advance(1):
            segments.close(local_fit.FitSums.of(state, segments.size))
            state.open_segment()
    before = state_of([segments, state])
    twins = segments.copy(), copy.copy(state)
    assert state_of(twins) == before
    assert twins[0].advance(3)
    twins[0].close(local_fit.FitSums.of(sgd.QuantileState(1.0, 5, 0.0, (1.0,) * 4, (1.0,) * 3), twins[0].size))
    assert state_of([segments, state]) == before
    assert segments.count == 5
