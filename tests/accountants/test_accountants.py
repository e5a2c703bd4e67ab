"""Composition and the Gaussian mechanism, compared with dp-accounting and OpenDP (`make accountants`)."""

from __future__ import annotations

import math

import numpy as np
import opendp.prelude as opendp
import pytest
from dp_accounting.pld import common, privacy_loss_distribution, privacy_loss_mechanism

import ldpfast as ldp
from ldpfast import privacy

from ..support.internals.privacy import loss_grid


@pytest.mark.claim("Composition agrees with the loss distributions of dp-accounting.", "Composition and audits")
def test_composition_agrees_with_dp_accounting():
    """Rounds of randomized response, compared with discretized loss distributions of dp_accounting, which are rounded up."""
    one = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(0.1, 0.0), value_discretization_interval=1e-4
    )
    theirs = one.self_compose(50)
    for epsilon in (0.5, 1.0, 2.0):
        ours = privacy.composition_delta([0.1] * 50, epsilon)
        assert ours == pytest.approx(theirs.get_delta_for_epsilon(epsilon), rel=1e-2)
        assert ours <= theirs.get_delta_for_epsilon(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon, n, rounds", [(1.0, 1000, 100), (4.0, 10_000, 100), (1.0, 50, 10)])
def test_rounds_agree_with_dp_accounting(epsilon, n, rounds):
    """The distributions of the losses of one round, composed by dp_accounting."""
    mechanism = ldp.Warner(epsilon)

    def curve(at):
        return float(privacy.shuffled_delta(mechanism, n, at))

    grid = loss_grid.LossGrid.of_curves(curve, curve, epsilon, 2000)
    losses = (np.arange(len(grid.masses)) - 2000) * grid.step
    some = grid.masses > 1e-40
    upper = np.log(grid.masses[some])
    lower = {i: float(log) for i, log in enumerate(upper - losses[some])}
    lower[-1] = math.log1p(-math.fsum(math.exp(log) for log in lower.values()))
    one = privacy_loss_distribution.from_two_probability_mass_functions(
        lower, {i: float(log) for i, log in enumerate(upper)}, value_discretization_interval=1e-4, symmetric=True
    )
    theirs = one.self_compose(rounds).get_epsilon_for_delta(1e-6)
    ours = privacy.compose_rounds(mechanism, rounds, n=n, delta=1e-6).epsilon
    assert ours == pytest.approx(theirs, rel=0.01)


def test_sigma_and_delta_agree_with_dp_accounting():
    """Analytic calibration and delta of dp_accounting."""
    for epsilon, delta in ((0.1, 1e-5), (0.5, 1e-5), (1.0, 1e-6), (2.0, 1e-3), (10.0, 1e-6)):
        theirs = privacy_loss_mechanism.GaussianPrivacyLoss.from_privacy_guarantee(
            common.DifferentialPrivacyParameters(epsilon, delta), sensitivity=2.0
        )
        assert privacy.gaussian_sigma(epsilon, delta, sensitivity=2.0) == pytest.approx(
            theirs.standard_deviation, rel=1e-5
        )
        assert theirs.get_delta_for_epsilon(epsilon / 2) == pytest.approx(
            privacy.gaussian_delta(epsilon / 2, sigma=theirs.standard_deviation, sensitivity=2.0), rel=1e-9
        )


def test_sigma_agrees_with_opendp():
    """The privacy map of opendp for the same noise."""
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False)), opendp.l2_distance(T=float)
    for epsilon, delta in ((0.5, 1e-5), (1.0, 1e-6), (2.0, 1e-3)):
        sigma = privacy.gaussian_sigma(epsilon, delta)
        measurement = opendp.m.make_gaussian(*space, scale=sigma)
        theirs = opendp.c.make_zCDP_to_approxDP(measurement).map(1.0)
        assert theirs.epsilon(delta) >= epsilon  # by concentrated privacy, so not below the exact epsilon
        assert theirs.epsilon(delta) <= 1.5 * epsilon
