"""Limits by the profile likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtri

from ldpfast import analysis, designs
from ldpfast.analysis._profile import _crossing
from ldpfast.results import DoubtfulWarning

from ..support.internals.analysis import Plane
from ..support.statistics import assert_coverage
from .populations import FORCED, THREE, binary


def log_likelihood(model, x, reports, params):
    """Return the log-likelihood of coefficients in the units of the columns."""
    rows = np.column_stack([np.ones(len(x)), x])
    odds = np.column_stack([np.zeros(len(x)), rows @ np.reshape(params, (-1, rows.shape[1])).T])
    shares = np.exp(odds - np.logaddexp.reduce(odds, axis=1)[:, np.newaxis])
    table = np.asarray(THREE if len(model.categories) == 3 else [[5 / 6, 1 / 6], [1 / 6, 5 / 6]], float)
    table = table / table.sum(axis=1, keepdims=True)
    return float(np.log((shares * table[:, reports].T).sum(axis=1)).sum())


@pytest.mark.long
@pytest.mark.parametrize("origin", [0.0, 2.0])
@pytest.mark.parametrize("design", [FORCED, THREE], ids=["two", "three"])
def test_at_a_limit_the_maximum_for_the_others_has_fallen_by_the_quantile(design, origin):
    x, reports = binary(800, [0.8], FORCED, seed=3)
    x = x + origin
    if design is THREE:
        reports = (reports + (x[:, 0] > origin + 0.5)).astype(int)
    model = analysis.RandomizedLogit(design).fit(x, reports)
    low, high = model.interval(0.9, method="profile")
    assert model.llf == pytest.approx(log_likelihood(model, x, reports, model.params), rel=1e-9)
    for place, limit in [*enumerate(low), *enumerate(high)]:

        def others(free, place=place, limit=limit):
            return -log_likelihood(model, x, reports, np.insert(free, place, limit))

        found = minimize(others, np.delete(model.params.ravel(), place))
        found = minimize(others, found.x, method="Nelder-Mead", options={"fatol": 1e-9, "xatol": 1e-7})
        assert model.llf + found.fun == pytest.approx(float(ndtri(0.95)) ** 2 / 2, abs=2e-5)


def test_the_limits_of_a_slope_have_its_unit():
    x, reports = binary(300, [0.8], FORCED, seed=3)
    small, large = (analysis.RandomizedLogit(FORCED).fit(x * unit, reports) for unit in (1.0, 1000.0))
    for one, other in zip(small.interval(method="profile"), large.interval(method="profile"), strict=True):
        np.testing.assert_allclose(other * [1, 1000], one, rtol=1e-5)


@pytest.mark.long
def test_limits_of_many_people_are_nearly_normal():
    x, reports = binary(50_000, [0.5, -0.2], FORCED)
    model = analysis.RandomizedLogit(FORCED).fit(x, reports)
    error = np.sqrt(np.diag(model.cov))
    for profile, normal in zip(model.interval(method="profile"), model.interval(), strict=True):
        np.testing.assert_allclose((profile - normal) / error, 0, atol=0.03)


def test_a_limit_that_is_not_reached_is_infinite():
    """With no true yes at all, the share can be as small as it likes."""
    reports = np.r_[np.ones(38), np.zeros(162)].astype(int)  # 19 %, where one sixth is forced
    model = analysis.RandomizedLogit(FORCED).fit(np.empty((200, 0)), reports)
    low, high = model.interval(method="profile")
    assert low[0] == -np.inf
    assert -3 < high[0] < 0
    level = np.sqrt(2 * (model.llf - log_likelihood(model, np.empty((200, 0)), reports, high)))
    assert level == pytest.approx(ndtri(0.975), abs=1e-4)


def test_a_profile_that_jumps_to_another_maximum_has_no_limit():
    """Almost nobody says the same where x is 1: the likelihood for any large slope is nearly the same."""
    x, reports = np.repeat([0, 0, 1, 1], [20, 48, 4, 8]), np.repeat([0, 1, 0, 1], [20, 48, 4, 8])
    model = analysis.RandomizedLogit(designs.crosswise(0.25)).fit(x[:, np.newaxis], reports)
    low, high = model.interval(method="profile")
    assert low.tolist() == [-np.inf, -np.inf]
    assert high[1] == np.inf


@pytest.mark.long
def test_profile_limits_cover_with_few_people():
    truth, hits = np.array([-0.3, 0.6]), np.zeros(2, int)
    missing = 0
    for seed in range(1000):
        x, reports = binary(120, truth[1:], FORCED, seed)
        try:
            low, high = analysis.RandomizedLogit(FORCED).fit(x, reports).interval(method="profile")
        except ValueError:
            missing += 1
            continue
        hits += (low < truth) & (truth < high)
    assert missing < 50
    assert_coverage(hits, 1000 - missing, 0.94, detects=0.88)


@pytest.mark.parametrize(
    "change, options, message",
    [
        ({}, {"method": "exact"}, "method must be"),
        ({}, {"confidence": 2, "method": "profile"}, "confidence must be"),
        (
            {"weights": np.ones(200)},
            {"method": "profile"},
            'method must be "normal" for a fit with weights or clusters',
        ),
    ],
)
def test_bad_input(change, options, message):
    x, reports = binary(200, [0.5], FORCED)
    model = analysis.RandomizedLogit(FORCED).fit(x, reports, **change)
    with pytest.raises(ValueError, match=message):
        model.interval(**options)


def test_a_jump_of_the_profile_is_found_in_few_steps(monkeypatch):
    """Where the profile jumps, interpolation is no use, and each value can take a hundred steps: it took 11,743 sums."""
    calls, sums = [], Plane.sums

    def counted(plane, params, *, observed):
        calls.append(params)
        return sums(plane, params, observed=observed)

    monkeypatch.setattr(Plane, "sums", counted)
    x, reports = binary(300, [0.8] * 4, FORCED, seed=37)
    model = analysis.RandomizedLogit(designs.warner(0.7)).fit(np.round(x), reports)
    with pytest.warns(DoubtfulWarning, match="higher elsewhere"):
        low, high = model.interval(method="profile")
    assert np.isneginf(low).tolist() == [True, False, False, False, True]
    assert np.isposinf(high).tolist() == [False, False, True, True, True]
    np.testing.assert_allclose(low[1:4], [0.433205, 0.896089, 0.030618], atol=2e-6)
    np.testing.assert_allclose(high[:2], [-0.746482, 9.473001], atol=2e-6)
    assert len(calls) < 4000


def test_smooth_profiles_need_few_steps():
    found = []

    def root(x):
        found.append(x)
        return np.sinh(x) - 2.0

    assert _crossing(root, (0.0, -2.0), (2.0, np.sinh(2.0) - 2)) == pytest.approx(np.arcsinh(2.0), abs=1e-6)
    assert len(found) <= 8
    assert _crossing(lambda x: np.inf if x > 1.9 else x - 1.2, (0.0, -1.2), (2.0, np.inf)) == pytest.approx(1.2)
    assert _crossing(lambda x: np.inf if x > 1.1 else x - 1.2, (0.0, -1.2), (2.0, np.inf)) == np.inf
    assert _crossing(lambda x: -0.5 if x < 1.3 else 0.5, (0.0, -2.0), (2.0, 0.5)) == np.inf
