"""Gradient descent with a Newton step: phases, the estimate and its covariance, and what is sufficient."""

from __future__ import annotations

import copy
import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

from ldpfast.estimation import GradientDescent, NewtonStep
from ldpfast.estimation.sgd._step_bias import step_bias
from ldpfast.mechanisms import Gradient, Hessian
from ldpfast.reports import recipe_of
from ldpfast.results import DoubtfulWarning, SmallSampleWarning

from ...support.cases import each
from ...support.internals.sgd import examples
from ...support.protocol_state import opened, sealed

SEED = 20261122


def data(n, features=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, features))
    return x, (rng.random(n) < 1 / (1 + np.exp(-x.sum(axis=1)))).astype(float)


def test_people_are_asked_in_three_phases():
    server, (x, y) = NewtonStep("logistic", 2, 2.0, n=40), data(60)
    kinds = []
    for record in np.column_stack([x, y]):
        query = server.query()
        kinds.append((type(query.mechanism), query.mechanism.position))
        server.update(query, query.privatize(record))
    assert [kind for kind, _ in kinds] == [Gradient] * 10 + [Hessian] * 6 + [Gradient] * 44
    assert len({position for _, position in kinds[10:]}) == 1
    assert kinds[10][1] == tuple(server._steps._average.mean()[:2])
    assert (server.n, server._steps.n) == (60, 10)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_the_first_phase_is_gradient_descent():
    x, y = data(400)
    server, steps = NewtonStep("logistic", 2, 2.0, n=400, column=0.5), GradientDescent("logistic", 2, 2.0, column=0.5)
    found, expected = server.run(x[:100], y[:100], rng=SEED), steps.run(x[:100], y[:100], rng=SEED)
    np.testing.assert_array_equal(found.value, expected.value)
    np.testing.assert_array_equal(server.position, steps._average.mean()[:3])


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("noise, epsilon", [("auto", 4.0), ("half-space", 4.0), ("laplace", 16.0)])
def test_a_run_equals_the_estimate_from_the_reports_of_its_parts(noise, epsilon):
    """The same reports, with the record blocks in the same order.

    The covariance of the gradients is that of half-spaces, which is known, or that of the sample of reports.
    """
    x, y = data(4000, seed=3)
    server = NewtonStep("logistic", 2, epsilon, n=4000, radius=1.4, column=1.0, covariance="full", noise=noise)
    estimate = server.run(x, y, rng=SEED)
    steps = "half-space" if noise == "auto" else noise
    twin = GradientDescent("logistic", 2, epsilon, radius=1.4, column=1.0, noise=steps)
    stream = twin._randomness.stream(SEED)
    twin._walk(stream, examples.examples_of(twin._question.domain, x[:1000], y[:1000]), 1000)
    position = twin._average.mean()[:3]
    arguments = ("logistic", tuple(position.tolist()), epsilon)
    records = np.column_stack([x, y])
    second, first = (kind(*arguments, radius=1.4, column=1.0, noise=noise) for kind in (Hessian, Gradient))
    hessian_sum = second.decode(second.privatize(records[1000:1600], rng=stream)).mean(axis=0)
    slopes = first.decode(first.privatize(records[1600:], rng=stream))
    slope = slopes.mean(axis=0)
    inverse = np.linalg.inv(second.matrix(hessian_sum))
    np.testing.assert_allclose(estimate.value, position - inverse @ slope, rtol=1e-9)
    step, spread = inverse @ slope, second.variances / 600
    variance = recipe_of(first.ball).variance(np.zeros((1, 3)))[0, 0]
    if noise == "half-space":
        assert variance == pytest.approx(first.ball.scale**2 / 3, rel=1e-12)
        inner = np.eye(3) * variance / 2400
    else:
        inner = np.cov(slopes.T, bias=True) / 2400
    for i in range(3):  # covariance of E step for a symmetric matrix E of independent entries
        for k in range(3):
            inner[i, k] += spread[i] @ step**2 if i == k else spread[i, k] * step[i] * step[k]
    np.testing.assert_allclose(estimate.covariance, inverse @ inner @ inverse, rtol=1e-9)
    np.testing.assert_allclose(estimate.stderr, np.sqrt(np.diag(estimate.covariance)), rtol=1e-12)
    plug_in = server.plug_in_covariance(np.linalg.inv(inverse))
    np.testing.assert_allclose(plug_in, inverse @ inverse * variance / 2400, rtol=1e-9)


@pytest.mark.long
def test_the_intercept_is_the_coefficient_of_one():
    """Whatever its column is."""
    x, y = data(60_000)
    for column in (0.5, 2.0):
        server = NewtonStep("logistic", 2, 8.0, n=len(x), radius=1.5, column=column, covariance="full")
        estimate = server.run(x, y + 0.0, rng=SEED)
        low, high = estimate.interval(1 - 1e-9)
        assert (low < [1.0, 1.0, 0.0]).all()
        assert (high > [1.0, 1.0, 0.0]).all()


@pytest.mark.long
@pytest.mark.parametrize("noise", ["auto", "half-space", "laplace"])
@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_the_noise_of_the_hessian_at_the_sufficient_n(norm, noise):
    """It is the limit times the assumed curvature, or the likelihood is the reason."""
    for dim in (1, 2, 6):
        server = NewtonStep("linear", dim, 1.0, n=100, norm=norm, noise=noise, radius=2.0, column=1.0, residual=1.0)
        n = server.sufficient_n
        square = 4.0 / (dim if norm == "l2" else 1)
        assert server._row_noise() / math.sqrt(0.15 * n) == pytest.approx(0.17 * square / 3, rel=1e-3)
        other = NewtonStep("logistic", dim, 1.0, n=100, norm=norm, noise=noise, radius=2.0, column=1.0)
        variance = other._gradient.noise_variance * square / (square / 12) ** 2
        assert math.sqrt(variance / (0.6 * other.sufficient_n)) <= 0.12 * (1 + 1e-9)


@pytest.mark.long
def test_too_few_people_are_a_warning_and_rows_that_hardly_vary_too():
    server, (x, y) = NewtonStep("logistic", 2, 8.0, n=2000), data(2000)
    with pytest.warns(SmallSampleWarning, match=rf"at least {server.sufficient_n} people"):
        server.run(x, y, rng=SEED)
    n = 2 * server.sufficient_n
    x, y = data(n)
    x[:, 1] = 0.01 * x[:, 0]
    with pytest.warns(DoubtfulWarning, match="smallest eigenvalue"):
        found = NewtonStep("logistic", 2, 8.0, n=n).run(x, y, rng=SEED)
    assert found.stderr[1] > 0.2


@pytest.mark.claim("Coefficients beyond `projection` give a `DoubtfulWarning`.", "Estimates")
@pytest.mark.parametrize("separated", [False, True], ids=["large coefficients", "separated classes"])
@pytest.mark.parametrize("protocol", [NewtonStep, GradientDescent])
def test_coefficients_beyond_the_projection_are_a_warning(protocol, separated):
    """The coefficient is 20, and the largest norm 5. With a projection that allows it, there is no warning."""
    rng, n = np.random.default_rng(SEED), 200_000
    x = rng.uniform(-1, 1, (n, 1))
    y = (x[:, 0] > 0) * 1.0 if separated else (rng.random(n) < 1 / (1 + np.exp(-20 * x[:, 0]))) * 1.0
    people: Any = {"n": n} if protocol is NewtonStep else {}
    with pytest.warns(DoubtfulWarning, match=r"near the largest one, projection=5: .* Choose a larger projection"):
        protocol("logistic", 1, 8.0, **people).run(x, y, rng=SEED)
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * x[:, 0]))) * 1.0
    protocol("logistic", 1, 8.0, **people, projection=5.0).run(x, y, rng=SEED)  # warnings are errors


def test_a_response_beyond_the_projection_is_a_warning():
    rng, n = np.random.default_rng(SEED), 200_000
    x = rng.uniform(-1, 1, (n, 1))
    with pytest.warns(
        DoubtfulWarning, match="projection=5: the coefficients may be beyond it, .* or divide the response"
    ):
        NewtonStep("linear", 1, 8.0, n=n, residual=1.0).run(x, 4.5 * x[:, 0], rng=SEED)


def test_an_invalid_record_changes_nothing():
    server, (x, y) = NewtonStep("logistic", 2, 2.0, n=100), data(100)
    before = server.to_bytes()
    for i in (3, 30, 99):
        bad = x.copy()
        bad[i, 1] = np.nan
        with pytest.raises(ValueError, match=rf"x and y must be .*; index {i} is outside \(1 of 100 are\)"):
            server.run(bad, y)
        assert server.to_bytes() == before


@each("people", [3, 0, -1, 2.5, "9", None])
def test_bad_numbers_of_people(people):
    with pytest.raises((TypeError, ValueError), match=r"^n must be"):
        NewtonStep("logistic", 2, 1.0, n=people)


def test_sums_of_nobody_are_refused():
    server, (x, y) = NewtonStep("logistic", 2, 2.0, n=100), data(20)
    with pytest.warns(SmallSampleWarning):
        server.run(x, y, rng=SEED)  # steps only
    header, payload = opened(server)
    numbers = np.frombuffer(payload, "<f8").copy()
    for i in (1, 5):
        changed = numbers.copy()
        changed[i] = 1.0
        with pytest.raises(ValueError, match=re.escape("sums that 0 reports cannot have")):
            NewtonStep.from_bytes(sealed(header, changed.tobytes()))


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("noise", ["auto", "half-space"])
def test_parts_have_the_answers_of_one_server(noise):
    """Answers to one server and to two parts have the same sums. Their order makes no difference but rounding."""
    (x, y), n = data(400), 300
    server = NewtonStep("logistic", 2, 8.0, n=n, noise=noise, covariance="full")
    server.run(x[: server._n_steps], y[: server._n_steps], rng=SEED)
    parts, whole = [server._held_part(), server._held_part()], copy.copy(server)
    rows, rng = np.column_stack([x, y]), np.random.default_rng(1)
    for record in rows[server._n_steps :]:
        is_hessian = bool(rng.random() < server._hessian_share)
        question = server._held_question(is_hessian)
        report = question.report.validate(question.privatize(record))
        for one in (parts[rng.integers(2)], whole):
            one._tally_held(is_hessian, report)
    for part in parts:
        server._merge_part(NewtonStep.from_bytes(part.to_bytes()))
    assert (server.n, server._hessians) == (whole.n, whole._hessians)
    assert server.n == 400
    for found, expected in zip(server._saved(), whole._saved(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(server.estimate().covariance, whole.estimate().covariance, rtol=1e-9)


def test_few_gradients_are_a_warning():
    """The intervals need gradients, however many people there are."""
    x = np.random.default_rng(2).uniform(-0.7, 0.7, (60_000, 2))
    server = NewtonStep("linear", 2, 8.0, n=len(x), residual=1.0)
    least = math.ceil(0.6 * server.sufficient_n / 2)
    first = server._n_steps + server._n_hessians + least - 1
    assert first > server.sufficient_n
    message = (
        f"n = {first} is too small for the intervals to be reliable: {least - 1} people have reported their gradient, "
    )
    with pytest.warns(SmallSampleWarning, match=re.escape(f"{message}at least {least} are needed")):
        server.run(x[:first], x[:first] @ [0.6, -0.4], rng=SEED)
    estimate = server.run(x[first:], x[first:] @ [0.6, -0.4], rng=SEED)  # warnings are errors
    assert (np.abs(estimate.value - [0.6, -0.4]) < 6 * estimate.stderr).all()


def test_impossible_numbers_of_hessians_are_refused():
    server, (x, y) = NewtonStep("logistic", 2, 2.0, n=100), data(60)
    with pytest.warns(SmallSampleWarning):
        server.run(x, y, rng=SEED)
    header, payload = opened(server)
    for count in (-1.0, 0.5, 36.0):
        numbers = np.frombuffer(payload, "<f8").copy()
        numbers[0] = count
        with pytest.raises(ValueError, match=re.escape(f"{count:g} Hessians, which 60 answers cannot have")):
            NewtonStep.from_bytes(sealed(header, numbers.tobytes()))


@pytest.mark.long
def test_laplace_intervals_cover_with_many_clipped_residuals():
    """60 runs of two intervals: below 0.85 with probability below 1e-6 if they cover 0.95."""
    z = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, (50_000, 1))
        y = 0.3 * x[:, 0] + 0.2 + rng.normal(0, 4, 50_000)
        found = NewtonStep("linear", 1, 60.0, n=50_000, column=1.0, residual=1.0, noise="laplace").run(x, y, rng=seed)
        z.append((found.value - [0.3, 0.2]) / found.stderr)
    assert (np.abs(z) < 1.96).mean() > 0.85


@pytest.mark.long
@pytest.mark.parametrize("mean, doubtful", [(1.0, False), (6.0, True)])
def test_large_counts_are_doubtful(mean, doubtful):
    rng, n = np.random.default_rng(6), 60_000
    x = rng.uniform(-1, 1, (n, 1))
    y = rng.poisson(mean * np.exp(0.3 * x[:, 0]))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        NewtonStep("poisson", 1, 8.0, n=n, column=1.0, residual=3.0).run(x, y, rng=SEED)
    assert doubtful == any("fitted mean of a row of zeros" in str(warning.message) for warning in seen)


@pytest.mark.long
@pytest.mark.claim("Intervals of logistic models allow for the bias of a single Newton step.", "Estimates")
def test_intervals_cover_coefficients_of_binary_features_at_the_sufficient_n():
    """60 runs with a feature of -1 and 1. Normal limits cover 0.81, because the bias of a long step is a standard error."""
    truth, covering = np.array([1.5, -0.3]), 0
    n = NewtonStep("logistic", 1, 4.0, n=4, column=1.0).sufficient_n
    for run in range(60):
        rng = np.random.default_rng(run)
        x = rng.choice([-1.0, 1.0], (n, 1))
        y = (rng.random(n) < 1 / (1 + np.exp(-(x[:, 0] * truth[0] + truth[1])))).astype(float)
        server = NewtonStep("logistic", 1, 4.0, n=n, column=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulWarning)  # of a long step, in 1 of 100 runs
            low, high = server.run(x, y, rng=run).interval()
        covering += int(((low <= truth) & (truth <= high)).sum())
    assert covering >= 106  # of 120; with coverage 0.95, below this with probability 1e-3 and fixed seeds


@pytest.mark.parametrize("family, weight", [("logistic", 0.25), ("poisson", 1.0)])
def test_the_error_of_a_step_from_exact_reports_is_about_the_stated_bias(family, weight):
    """One step from a position with exact Hessian and gradient, for rows of two values.

    The error is mostly within the bias, seldom above it, for means from 0.1 to 0.9 (logistic) or around 1 (poisson).
    """
    mean = {"logistic": lambda z: 1 / (1 + np.exp(-z)), "poisson": np.exp}[family]
    curvature = {"logistic": lambda z: mean(z) * (1 - mean(z)), "poisson": np.exp}[family]
    rng, ratios = np.random.default_rng(1), []
    for _ in range(200):
        x = np.column_stack([rng.choice([-1.0, 1.0], (400, 2)), np.ones(400)])
        truth = rng.uniform(-0.7, 0.7, 3)
        held = truth + rng.normal(0, 0.15, 3)
        hessian = (x * curvature(x @ held)[:, np.newaxis]).T @ x / 400
        step = np.linalg.solve(hessian, x.T @ (mean(x @ held) - mean(x @ truth)) / 400)
        bias, move = step_bias(family, step, np.linalg.inv(hessian), 1.0)
        mean_weight = min(weight, float(curvature(x @ held).mean()))
        assert move == pytest.approx(math.sqrt(step @ hessian @ step / mean_weight), rel=1e-9)
        ratios.append(float((np.abs(held - step - truth) / bias).max()))
    assert np.mean(np.array(ratios) <= 1) > {"logistic": 0.97, "poisson": 0.7}[family]
    assert max(ratios) < 2


def test_a_linear_model_has_no_bias_of_a_step():
    bias, move = step_bias("linear", np.array([0.5, -1.0]), np.eye(2), 1.0)
    assert (bias.tolist(), move) == ([0.0, 0.0], 0.0)


def test_a_step_that_is_too_long_is_a_warning():
    """A held position that is far from the coefficients, as if the steps had not moved."""
    rng, n = np.random.default_rng(4), 40_000
    x = rng.choice([-1.0, 1.0], (n, 1))
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * x[:, 0]))).astype(float)
    server = NewtonStep("logistic", 1, 4.0, n=n, column=1.0, eta0=1e-6)
    with pytest.warns(DoubtfulWarning, match=r"^the Newton step moves the linear predictor by 1\.\d"):
        server.run(x, y, rng=1)
