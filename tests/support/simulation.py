"""Comparison of simulated errors with bounds."""

from __future__ import annotations

import math
import warnings

import numpy as np

import ldpfast as ldp

from .statistics import normal_margin


def run_ignoring_small_samples(server, *records, rng):
    """Return the estimate of a protocol, without the warnings that its interval is unreliable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        warnings.simplefilter("ignore", ldp.DoubtfulWarning)
        return server.run(*records, rng=rng).value


def assert_mean_error_between(bound, errors, near):
    """Check that the mean of `errors` is between the bounds, and at least the fraction `near` of the upper bound.

    The margin fits a normal error of the mean. `near` detects an
    upper bound that is far too large.
    """
    errors = np.asarray(errors)
    margin = normal_margin(2) * errors.std(ddof=1) / math.sqrt(len(errors))
    assert errors.mean() + margin > bound.lower
    assert errors.mean() - margin < bound.upper
    assert errors.mean() > near * bound.upper
