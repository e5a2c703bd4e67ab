"""Simulated errors of procedures, compared with bounds."""

from __future__ import annotations

import math
import warnings

import numpy as np

import ldpfast as ldp


def run_ignoring_small_samples(server, *records):
    """The estimate of a protocol, without the warning that its interval is unreliable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        return server.run(*records).value


def assert_mean_error_between(bound, errors, near):
    """The mean of `errors` is between the bounds, and at least the fraction `near` of the upper one.

    The margin is six standard errors of the mean: wrong in less than 1e-8 of the builds. `near` keeps the upper bound from
    being so large that the test has no power.
    """
    errors = np.asarray(errors)
    margin = 6 * errors.std(ddof=1) / math.sqrt(len(errors))
    assert errors.mean() + margin > bound.lower
    assert errors.mean() - margin < bound.upper
    assert errors.mean() > near * bound.upper
