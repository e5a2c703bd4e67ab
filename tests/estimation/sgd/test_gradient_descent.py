"""Private gradient descent: clipping, invalid responses, and standard errors."""

from __future__ import annotations

import copy
import itertools
import math
import warnings

import numpy as np
import pytest

from ldpfast.estimation import GradientDescent
from ldpfast.mechanisms import Gradient, RankCodebook, RankedSigns
from ldpfast.results import SmallSampleWarning

from ...support import reference
from ...support.cases import each
from ...support.examples import assert_same, assert_same_estimate
from ...support.internals import kernels
from ...support.internals.kernels import StreamId, privatize, sgd, stream
from ...support.internals.sgd import examples
from ...support.keys import FIXED_KEY, KEY
from ...support.keys import SEED as KEY_SEED
from ...support.noise_scales import l2_scale, linf_scale
from ...support.regression import random_examples

SEED = 20261201

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_plug_in_covariance_follows_the_formula(norm):
    """B^2 / d H^-2 for the l2 norm and B^2 H^-2 for the linf norm, whatever the data are, over 42 of 50 positions.

    The coefficient of the intercept is for a column of ones, not for the scaled column.
    """
    x, y = np.random.default_rng(1).uniform(-0.5, 0.5, (50, 2)), np.zeros(50)
    root = np.random.default_rng(2).normal(size=(3, 3))
    hessian = root @ root.T + np.eye(3)
    inverse = np.linalg.inv(hessian)
    noise = l2_scale(3, 2, math.hypot(1, 2)) ** 2 / 3 if norm == "l2" else linf_scale(3, 2, 2.0) ** 2
    model = GradientDescent("logistic", 2, 2.0, norm=norm, column=2.0)
    model.run(x, y, rng=1)
    expected = inverse @ np.diag([noise, noise, noise / 4]) @ inverse / 42
    np.testing.assert_allclose(model.plug_in_covariance(hessian), expected, rtol=1e-6)


def test_responses_outside_the_family_are_errors():
    for family, bad in (("logistic", 2), ("logistic", 0.5), ("logistic", -1), ("poisson", -1)):
        server = GradientDescent(family, 2, 1.0, residual=1.0)
        for shuffle in (False, True):
            with pytest.raises(
                ValueError, match=r"^x and y must be rows of 2 finite numbers and a response, .*; index 1 "
            ):
                server.run(np.zeros((3, 2)), [1, bad, 1], shuffle=shuffle)
        assert server.n == 0
        assert not server.position.any()
    for x, y in ((np.zeros((3, 3)), np.zeros(3)), (np.zeros(3), np.zeros(3)), (np.zeros((3, 2)), np.zeros(2))):
        with pytest.raises(ValueError, match=r"^[xy] must have shape "):
            server.run(x, y)


@pytest.mark.parametrize(
    "norm, size",
    [
        ("linf", 1e300),
        ("l2", 1e30),
        ("l2", 1e300),
    ],
)
def test_long_rows_are_clipped_to_the_ball(norm, size):
    """With one key, the steps are those of the row on the boundary in the same direction."""
    near, far = (GradientDescent("logistic", 3, 8.0, norm=norm) for _ in range(2))
    row, n = np.array([1.0, 0.0, 0.0]), 2000
    near.run(np.tile(row, (n, 1)), np.ones(n), rng=SEED)
    far.run(np.tile(size * row, (n, 1)), np.ones(n), rng=SEED)
    assert_same(far.position, near.position)


def test_one_answer_has_an_infinite_standard_error():
    server = GradientDescent("logistic", 3, 2.0)
    query = server.query()
    server.update(query, query.privatize(np.array([0.5, -0.5, 1.0, 1.0]), rng=0))
    assert np.isinf(server.estimate().stderr).all()


# The kernel against the reference -------------------------------------------------------------------------------------

MODELS = [
    ("logistic", 1, {}),
    ("logistic", 3, {"column": 0.5}),
    ("logistic", 5, {"residual": 0.4}),
    ("linear", 32, {"residual": 2.0, "radius": 0.8}),
    ("poisson", 100, {"residual": 3.0, "exponent": 0.7}),
    ("linear", 2, {"residual": 2.0, "projection": 0.02}),  # on the boundary in most steps
    ("logistic", 4100, {"column": 1.0}),  # one person fills a block
]


@each("dtype", [np.float32, np.float64])
@each("family, features, options", MODELS)
def test_a_run_with_the_l2_mechanism_equals_the_reference(isa, family, features, options, dtype, monkeypatch):
    """The normal numbers of the reference differ by 4e-6, and norms are summed in single precision.

    The tolerance, 1e-4 of every step, is larger than that. One wrong sign changes the last position by more than twenty times
    the tolerance.
    """
    n = 240 if features < 1000 else 9
    # The last piece starts within a block and fills more than one.
    monkeypatch.setattr(examples, "PIECE_NUMBERS", 70 * features)
    x, y = random_examples(family, n, features, dtype)
    full = "full" if features < 1000 else "diagonal"
    server = GradientDescent(family, features, 3.0, eta0=0.01, covariance=full, **options)
    result = server.run(x, y, rng=KEY_SEED)
    positions = reference.descent_l2(server, KEY, x, y, 70)
    tolerance = 1e-4 * 0.01 * server._question.ball.scale / math.sqrt(server.dim) * 2.5 * n**0.4
    np.testing.assert_allclose(server.position, positions[-1], rtol=0, atol=tolerance)
    mean, covariance = reference.random_scaling(positions[reference.counted_from(n) :])
    unit = server._unit()
    np.testing.assert_allclose(result.value, mean * unit, rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.stderr, np.sqrt(np.diag(covariance)) * unit, rtol=0, atol=tolerance)
    if full == "full":
        covariance *= np.outer(unit, unit)
        np.testing.assert_allclose(result.covariance, covariance, rtol=0, atol=0.01 * np.abs(covariance).max())


def test_full_blocks_of_128_people_equal_the_reference(isa):
    """Eight blocks with as many people as there is room for, and one person."""
    n = 1025
    x, y = random_examples("logistic", n, 3)
    server = GradientDescent("logistic", 3, 3.0, eta0=0.01)
    server.run(x, y, rng=KEY_SEED)
    assert server._kernel.rows == 128
    positions = reference.descent_l2(server, KEY, x, y, n)
    step = 0.01 * server._question.ball.scale / math.sqrt(server.dim)
    np.testing.assert_allclose(server.position, positions[-1], rtol=0, atol=1e-4 * step * 2.5 * n**0.4)


ONE_BY_ONE = [("linf", "half-space"), ("l2", "laplace"), ("linf", "laplace")]


@each("norm, noise", ONE_BY_ONE)
@each("family, features, options", MODELS[:6])
def test_a_run_equals_the_protocol_step_by_step(isa, family, features, options, norm, noise, monkeypatch):
    """These mechanisms have one record block per person, so one key gives both the same reports, bit for bit.

    The estimate follows from the positions by the formulas of the paper on random scaling.
    """
    monkeypatch.setattr(examples, "PIECE_NUMBERS", 50 * features)
    n, options = 100, options | {"norm": norm, "noise": noise, "covariance": "full"}
    x, y = random_examples(family, n, features)
    server, other = (GradientDescent(family, features, 2.0, **options) for _ in range(2))
    key, positions = stream.Stream(KEY), []
    for record in np.column_stack([x, y.astype(np.float32)]):
        query = other.query()
        other.update(query, query.privatize(record, rng=key))
        positions.append(other.position)
    result = server.run(x, y, rng=stream.Stream(KEY))
    assert_same(server.position, other.position)
    assert_same_estimate(result, other.estimate())
    mean, spread = reference.random_scaling(np.array(positions)[reference.counted_from(n) :])
    unit = server._unit()
    size = np.abs(positions).max()
    np.testing.assert_allclose(result.value, mean * unit, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(result.stderr**2, np.diag(spread) * unit**2, rtol=1e-8, atol=1e-14 * size**2)
    spread *= np.outer(unit, unit)
    np.testing.assert_allclose(result.covariance, spread, rtol=1e-8, atol=1e-10 * np.abs(spread).max())
    assert np.linalg.norm(positions, axis=1).max() <= server.projection * (1 + 1e-12)


@each("features, epsilon, kind", [(2, 2.0, RankCodebook), (40, 4.0, RankCodebook), (40, 24.0, RankedSigns)])
def test_steps_have_the_best_mechanism_of_the_ball(isa, features, epsilon, kind):
    """A run equals the protocol, saved in the middle, whose servers decode reports by the mechanism's own `decode`."""
    server = GradientDescent("logistic", features, epsilon, column=0.5, noise="auto")
    assert isinstance(server.query().mechanism.ball, kind)
    x, y = random_examples("logistic", 60, features)
    other, key = copy.copy(server), stream.Stream(KEY)
    for number, record in enumerate(np.column_stack([x, y.astype(np.float32)])):
        query = other.query()
        other.update(query, query.privatize(record, rng=key))
        other = GradientDescent.from_bytes(other.to_bytes()) if number == 30 else other
    assert_same_estimate(server.run(x, y, rng=stream.Stream(KEY)), other.estimate())
    assert_same(server.position, other.position)


@each("covariance", ["diagonal", "full"])
def test_without_intervals_the_coefficients_are_the_same(covariance):
    x, y = random_examples("logistic", 300, 3)
    given, none = (GradientDescent("logistic", 3, 2.0, covariance=kind) for kind in (covariance, "none"))
    with pytest.warns(SmallSampleWarning):
        first = given.run(x, y, rng=KEY_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = none.run(x, y, rng=KEY_SEED)
    assert_same(second.value, first.value)
    assert second.covariance is None
    assert np.isnan([second.stderr, *second.interval()]).all()
    assert GradientDescent.from_bytes(none.to_bytes()).covariance == "none"


@pytest.mark.parametrize("isa", [isa for isa in kernels.isas() if isa != "plain"], indirect=True)
@each("dtype", [np.float32, np.float64])
@each("norm, noise", [("l2", "half-space"), ("l2", "auto"), *ONE_BY_ONE])
@each("shuffle", [False, True])
def test_a_run_gives_the_same_bits_on_every_instruction_set(isa, norm, noise, shuffle, dtype):
    for features in (1, 17, 32, 70):
        x, y = random_examples("logistic", 200, features, dtype)
        options = {"norm": norm, "noise": noise, "column": 1.0, "covariance": "full"}
        first, second = (GradientDescent("logistic", features, 2.0, **options) for _ in range(2))
        before = kernels.isa()
        ours = first.run(x, y, rng=KEY_SEED, shuffle=shuffle)
        kernels.set_isa("plain")
        assert_same_estimate(second.run(x, y, rng=KEY_SEED, shuffle=shuffle), ours)
        assert_same(second.position, first.position)
        kernels.set_isa(before)


@pytest.mark.parametrize("norm, noise", [("l2", "half-space"), ("l2", "auto"), *ONE_BY_ONE])
def test_a_shuffled_run_equals_a_run_over_the_rows_in_another_order(isa, norm, noise, monkeypatch):
    """The order comes from the first record block of the key; each row is read once, in its place."""
    monkeypatch.setattr(examples, "PIECE_NUMBERS", 100)
    x, y = random_examples("logistic", 333, 5)
    seed = np.empty(256, np.uint32)
    stream.raw(KEY, StreamId.RAW, 0, seed)
    order = np.random.default_rng(seed.tolist()).permutation(333)
    server, other = (GradientDescent("logistic", 5, 2.0, norm=norm, noise=noise) for _ in range(2))
    key = stream.Stream(KEY)
    key.take(1)
    expected = other.run(x[order], y[order], rng=key)
    assert_same_estimate(server.run(x, y, rng=KEY_SEED, shuffle=True), expected)


@pytest.mark.parametrize("dim", [1, 5, 33])
def test_a_step_projects_the_position_and_adds_it_to_the_sums(isa, dim):
    """Long steps end on the sphere; the sums are those of the positions after the steps."""
    model = Gradient("linear", (0.0,) * dim, 1.0, residual=1.0).descent(2.0)
    position, sums, matrix = np.zeros(model.padded), np.zeros((4, model.padded)), np.zeros((dim, dim))
    expected, total, totals = np.zeros(dim), np.zeros(dim), []
    for s in range(1, 40):
        report = np.zeros(model.padded)
        report[:dim] = np.random.default_rng(s).normal(size=dim)
        model.step(report, 0.9, s - 1, position, sums, matrix)
        expected = expected - 0.9 * report[:dim]
        expected *= min(1, 2 / np.linalg.norm(expected))
        total = total + expected
        totals.append(total)
        np.testing.assert_allclose(position[:dim], expected, rtol=0, atol=1e-12)
        assert not position[dim:].any()
    rows = np.array(totals)
    numbers = np.arange(1, 40)[:, np.newaxis]
    wanted = [rows[-1], rows.sum(axis=0), (rows**2).sum(axis=0), (numbers * rows).sum(axis=0)]
    np.testing.assert_allclose(sums[:, :dim], wanted, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(matrix, rows.T @ rows, rtol=1e-10, atol=1e-10)
    assert not sums[:, dim:].any()


# Privacy --------------------------------------------------------------------------------------------------------------


@each("dtype", [np.float32, np.float64])
@each("norm", ["l2", "linf"])
@each("family", ["logistic", "linear", "poisson"])
def test_steps_for_two_records_are_equal_or_opposite(isa, family, norm, dtype):
    """Under one key the first step of `run` is one vector or its opposite, whatever the record is."""
    most = float(np.finfo(dtype).max)
    rows = itertools.product([0.0, 0.3, -0.7, most, -most, 1e-30], repeat=2)
    steps = []
    for row, y in itertools.product(rows, (0, 1)):
        server = GradientDescent(family, 2, 1.0, norm=norm, column=0.5, residual=1.0)
        server.run(np.array([row], dtype), [y], rng=11)
        steps.append(server.position)
    assert {tuple(step) for step in steps} == {tuple(steps[0]), tuple(-steps[0])}


@pytest.mark.parametrize("norm, stream_id", [("l2", "L2_SIGN"), ("linf", "LINF_SIGN")])
def test_the_sign_of_a_step_changes_exactly_at_the_threshold(isa, norm, stream_id):
    """heads = word and heads = word + 1 give opposite steps, after equal steps of the people before.

    `run` compares the word of each person with the integer of the ball.
    """
    x, rates = np.linspace(-1, 1, 15).reshape(5, 3), np.full(5, 0.1)
    for person in range(5):
        words = reference.Words(FIXED_KEY, stream_id, 0 if norm == "l2" else person)
        word = int(words.take(2 * person + 2 if norm == "l2" else 2, "<u8")[-1])  # two words per person
        steps = []
        for heads in (word, word + 1):
            ball = privatize.L2Ball(3, 2.0, 1.0, heads) if norm == "l2" else privatize.LinfBall(3, 2.0, heads, 0)
            model = sgd.GradientDescent(3, 2.0, 0.0, math.inf, math.inf, 0, norm == "linf", ball, 1.0)
            positions = []
            for n in (person, person + 1):
                position, sums = np.zeros(model.padded), np.zeros((4, model.padded))
                model.run(stream.Stream(FIXED_KEY), 0, x[:n], np.ones(n), None, rates[:n], 0.0, position, sums)
                positions.append(position[:3])
            steps.append(positions[1] - positions[0])
        np.testing.assert_allclose(steps[0], -steps[1], rtol=0, atol=1e-15)
        assert np.abs(steps[0]).max() > 0.01
