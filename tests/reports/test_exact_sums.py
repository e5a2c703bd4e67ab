"""Sums of real reports, as integers of 128 bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.reports._sum_format import sums_of

from ..support.aggregation import aggregate, counted_of
from ..support.reference import wide

LOW_WORD = (1 << 64) - 1
LARGEST = 1 << 47  # largest integer of a report on a grid


@given(
    st.lists(st.integers(-LARGEST, LARGEST) | st.sampled_from([LARGEST, -LARGEST, -1, 0]), min_size=1, max_size=60),
    st.integers(0, 60),
)
def test_grid_sums_are_those_of_python_integers(js, cut):
    """Sums go down to -60 2^47, and sums of squares go up to 60 2^94, which exceeds 64 bits."""
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    reports = mechanism.grid * (np.array(js, np.float64) + 0.5)
    aggregator = aggregate(mechanism, reports[:cut]).merge(aggregate(mechanism, reports[cut:]))
    assert wide(counted_of(aggregator).states[0]) == [sum(js), sum(j * j for j in js)]
    assert aggregator.estimate().value == pytest.approx(
        mechanism.grid * (sum(js) / len(js) + 0.5), rel=1e-14, abs=1e-12
    )


@given(st.lists(st.integers(-(1 << 126), (1 << 126)), min_size=1, max_size=8))
def test_merging_carries_from_the_low_to_the_high_word(values):
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    total = mechanism.aggregator()
    for value in values:
        part = mechanism.aggregator()
        counted_of(part).states[0][...] = value & LOW_WORD, value >> 64 & LOW_WORD
        total.merge(part)
    wrapped = (sum(values) + (1 << 127)) % (1 << 128) - (1 << 127)
    assert wide(counted_of(total).states[0]) == [wrapped, wrapped]


@given(
    st.integers(-(1 << 120), 1 << 120) | st.integers(-(1 << 66), 1 << 66) | st.sampled_from([-1, 0, -1 << 64, -3 << 64])
)
def test_sums_convert_to_the_nearest_doubles(value):
    """Small negative numbers, whose low word is large, are included."""
    aggregator = ldp.Laplace(0.0, 1.0, 1.0).aggregator()
    counted_of(aggregator).states[0][...] = value & LOW_WORD, value >> 64 & LOW_WORD
    floats = sums_of(counted_of(aggregator).states[0])
    assert floats.tolist() == pytest.approx([float(value)] * 2, rel=2**-51, abs=0)


@pytest.mark.claim("Sums of reports are exact.", "Reproducibility")
def test_sums_of_two_million_reports_are_exact():
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    reports = np.full(2_000_000, mechanism.grid * (-LARGEST + 0.5))
    assert wide(counted_of(aggregate(mechanism, reports)).states[0]) == [
        -LARGEST * 2_000_000,
        LARGEST * LARGEST * 2_000_000,
    ]
