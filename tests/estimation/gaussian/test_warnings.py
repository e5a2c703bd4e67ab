"""Warnings and doubts of `GaussianMean`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ldpfast as ldp

from ...support.cases import each
from ...support.gaussian import KNOWN, LIKELIHOOD_PROTOCOLS, SEED, UNKNOWN, design_of, make, normals, quiet
from ...support.statistics import normal_margin


def warnings_of(call, *arguments, **options):
    """The warnings of a call, and its result."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        estimate = call(*arguments, **options)
    return [(warning.category, str(warning.message)) for warning in found], estimate


def people_for(server, kappa):
    """The number of people for which the search, with half of the people, has this kappa."""
    return 2 * design_of(server).levels.people(kappa)


def test_warnings_name_the_file_of_the_caller():
    server = make(KNOWN)
    n = people_for(server, 3.0)
    x = np.where(np.arange(n) % 2 == 0, -60.0, 60.0)
    for group in range(server.groups):
        query = server.query(group)
        server.update(query, query.privatize(x[group::2], rng=group))
    server.close_round()
    server.update(server.query(), server.query().privatize(x, rng=1))
    for call in (
        lambda: server.estimate(),
        lambda: server.run(x, rng=1),
        lambda: server.simulate(n, 170.0, 30.0, rng=1),
    ):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
        assert found
        assert {warning.filename for warning in found} == {__file__}


@pytest.mark.parametrize("scale", [KNOWN, UNKNOWN])
def test_kappa_between_2_and_8_is_a_warning(scale):
    """Below 2 it is an error."""
    server = make(scale)
    for kappa in (2.5, 5.0, 7.5):
        found, estimate = warnings_of(server.simulate, people_for(server, kappa), 3.7, 2.0, rng=SEED)
        assert 2 <= estimate.kappa < 8
        assert found[0] == (
            ldp.SmallSampleWarning,
            f"kappa = {estimate.kappa:.1f} is below 8: the search may have failed, and the interval holds only if it has not",
        )
    assert warnings_of(server.simulate, people_for(server, 9.0), 3.7, 2.0, rng=SEED)[0] == []
    with pytest.raises(ValueError, match=r"^n must be at least "):
        server.simulate(people_for(server, 1.9), 3.7, 2.0)


def test_published_thresholds_need_a_larger_kappa():
    server = make({"method": "paper", **KNOWN})
    found, estimate = warnings_of(server.simulate, people_for(server, 20), 3.7, 2.0, rng=SEED)
    assert estimate.kappa < 130
    assert (ldp.DoubtfulWarning, "the published thresholds need more answers to the search") in found
    assert found[0][0] is ldp.SmallSampleWarning
    assert found[0][1].startswith(f"kappa = {estimate.kappa:.1f} is below 130:")
    assert [message for kind, message in found if kind is ldp.DoubtfulWarning] == list(estimate.doubts)


@each("sign", [-1, 1])
@each("rounds", [1, 2])
@each("scale", [KNOWN, UNKNOWN])
def test_mean_beyond_its_bound_is_detected(scale, rounds, sign):
    """Up to the range of the top level."""
    server = make({"rounds": rounds, **scale}, mu_bound=80.0)
    mu = sign * (80 + design_of(server).levels.range) / 2
    assert abs(mu) > 85
    found, estimate = warnings_of(server.simulate, 200_000, mu, 2.0, rng=SEED)
    assert (ldp.DoubtfulWarning, "the mean is beyond mu_bound = 80") in found
    assert abs(estimate.value - mu) < normal_margin() * estimate.stderr


@each("times", [3.0, -5.3, 100.0])
@each("rounds", [1, 2])
def test_mean_far_beyond_the_range_contradicts_the_second_answers(rounds, times):
    """The search mistakes the mean for another one, which the second answers contradict.

    Bits for a threshold are all equal. Periodic questions have other periods than the search.
    """
    found, estimate = warnings_of(
        make({"rounds": rounds, **KNOWN}, mu_bound=80.0).simulate, 200_000, 80 * times, 2.0, rng=SEED
    )
    assert {kind for kind, _ in found} == {ldp.DoubtfulWarning}
    assert estimate.doubts


@pytest.mark.claim("Records that are far from normal give a `DoubtfulWarning` in `GaussianMean`.", "Estimates")
@each("options", LIKELIHOOD_PROTOCOLS, ids=repr)
def test_records_far_from_normal_are_detected(options):
    rng, n = np.random.default_rng(SEED), 200_000
    x = np.where(rng.random(n) < 0.5, -30.0, 30.0) + rng.normal(0, 2, n)
    found, estimate = warnings_of(make(options).run, x, rng=SEED)
    assert estimate.goodness < 1e-6
    assert (ldp.DoubtfulWarning, f"the answers do not fit a normal distribution (p = {estimate.goodness:.1g})") in found


@pytest.mark.long
@each("epsilon", [0.5, 1.0, 4.0, 8.0])
@each("options", LIKELIHOOD_PROTOCOLS, ids=repr)
def test_normal_records_raise_no_doubts(options, epsilon):
    """The test of fit has a p-value limit of 1e-6. In 20 runs, two false alarms have a probability of 2e-10."""
    server, alarms = make(options, epsilon), 0
    for factor in (9.0, 40.0):
        n = people_for(server, factor)
        for run in range(10):
            alarms += any("fit" in doubt for doubt in quiet(server.simulate, n, 3.7, 2.0, rng=run).doubts)
    assert alarms <= 1


def test_mean_far_from_the_center_is_doubted():
    """The second answers come from people whose mean is more than two standard deviations away."""
    server = make(KNOWN, mu_bound=100.0)
    for group in range(server.groups):
        query = server.query(group)
        server.update(query, query.privatize(normals(3000, mu=0.0, seed=group), rng=group))
    server.close_round()
    query = server.query()
    server.update(query, query.privatize(normals(300_000, mu=9.0), rng=1))
    found, _ = warnings_of(server.estimate)
    assert any("more than two standard deviations" in message or "do not fit" in message for _, message in found)
