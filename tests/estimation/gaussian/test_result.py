"""The estimate that `GaussianMean` returns."""

from __future__ import annotations

import json
import re

import pytest
from scipy import stats

from ldpfast.estimation import GaussianEstimate

from ...support.gaussian import design_of, make, quiet


def test_estimate_holds_its_attributes(options):
    estimate = quiet(make(options).simulate, 200_000, 3.7, 2.0, rng=1)
    assert isinstance(estimate, GaussianEstimate)
    assert estimate.n == 200_000
    assert (estimate.sigma is None) == ("sigma" in options)
    assert (estimate.goodness is None) == (options["method"] == "paper")
    assert estimate.kappa == make(options).plan(200_000).kappa
    assert abs(estimate.center - 3.7) < 4
    low, high = estimate.interval()
    margin = stats.norm.isf(0.025) * estimate.stderr
    assert (low, high) == (pytest.approx(estimate.value - margin), pytest.approx(estimate.value + margin))
    described = estimate.to_dict()
    for key in ("center", "kappa", "goodness"):
        assert described[key] == getattr(estimate, key)
    assert described["doubts"] == list(estimate.doubts)
    assert described["sigma"] == (None if estimate.sigma is None else estimate.sigma.to_dict())
    assert json.loads(json.dumps(described)) == described
    assert re.match(r"^\d\.\d+ \+- ", repr(estimate))


def test_guarantee_is_that_of_the_weakest_question(options):
    """Second questions are included. The guarantee is at most epsilon."""
    for epsilon in (0.3, 1.0, 4.0):
        server = make(options, epsilon)
        estimate = quiet(server.simulate, 200_000, 3.7, 2.0, rng=1)
        levels = design_of(server).levels.questions
        assert max(question.epsilon_realized for question in levels) <= estimate.epsilon <= epsilon
        if estimate.sigma is not None:
            assert estimate.sigma.guarantee == estimate.guarantee
