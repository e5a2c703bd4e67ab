"""Smallest sufficient numbers of people and values of epsilon."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import bounds
from ldpfast.domains import Categories, Interval
from ldpfast.estimation import Frequencies, VectorMean
from ldpfast.mechanisms import Gradient
from ldpfast.reports import Codes, Vectors

from ..cards import CARDS
from ..support.cases import each
from ..support.problems import ARGUMENTS
from ..support.process import run_python

# Bounds ---------------------------------------------------------------------------------------------------------------


@each("problem", ARGUMENTS)
@each("side", ["upper", "lower"])
@each("share", [0.9, 0.1, 0.01])
def test_sample_size_is_the_smallest_sufficient_n(problem, side, share):
    function, fixed = getattr(bounds, problem), {**ARGUMENTS[problem], "epsilon": 0.8}
    error = share * getattr(function(n=1, **fixed), side)
    n = bounds.sample_size(function, error, side=side, **fixed)
    assert isinstance(n, int)
    assert getattr(function(n=n, **fixed), side) <= error
    if n > 1:
        assert getattr(function(n=n - 1, **fixed), side) > error


@given(st.sampled_from(sorted(ARGUMENTS)), st.floats(0.002, 1.0), st.floats(0.05, 1.0))
def test_epsilon_for_inverts_sample_size(problem, share, epsilon):
    """The epsilon for n people attains the error, and is at most the epsilon that gave n."""
    function, fixed = getattr(bounds, problem), ARGUMENTS[problem]
    error = share * function(n=1, epsilon=0.05, **fixed).upper
    try:
        n = bounds.sample_size(function, error, epsilon=epsilon, **fixed)
    except ValueError as refusal:
        assert "error must be reachable" in str(refusal)  # noqa: PT017
        return
    found = bounds.epsilon_for(function, error, n=n, **fixed)
    assert found <= epsilon * (1 + 1e-8)
    assert function(n=n, epsilon=found, **fixed).upper <= error
    if found > 1e-8:
        assert function(n=n, epsilon=found * (1 - 1e-6), **fixed).upper > error


@each("problem", ARGUMENTS)
def test_a_name_stands_for_its_function(problem):
    function, fixed = getattr(bounds, problem), ARGUMENTS[problem]
    error = 0.5 * function(n=1, epsilon=0.8, **fixed).upper
    n = bounds.sample_size(function, error, epsilon=0.8, **fixed)
    assert bounds.sample_size(problem, error, epsilon=0.8, **fixed) == n
    assert bounds.epsilon_for(problem, error, n=n, **fixed) == bounds.epsilon_for(function, error, n=n, **fixed)


def test_confidence():
    """Markov's inequality for a mean error, the tail of a half-width, and a normal interval for a mechanism."""
    one = bounds.sample_size(bounds.mean_l2, 0.01, confidence=0.9, dim=4, epsilon=1.0)
    assert one == bounds.sample_size(bounds.mean_l2, 0.001, dim=4, epsilon=1.0)
    width = bounds.sample_size(bounds.gaussian_mean, 0.1, confidence=0.8, epsilon=1.0, sigma=1.0)
    assert width == bounds.sample_size(bounds.gaussian_mean, 0.1, beta=0.2, epsilon=1.0, sigma=1.0)
    bit = ldp.SignBit(-1, 1, 1.0)
    plain, interval = bounds.sample_size(bit, 0.01), bounds.sample_size(bit, 0.01, confidence=0.95)
    assert plain == math.ceil(float(bit.variance(0.0)) / 0.01**2)
    assert interval / plain == pytest.approx(1.959964**2, rel=1e-3)


# Mechanisms -----------------------------------------------------------------------------------------------------------

EXTREMES = [case for card in CARDS.values() for case in card.extremes]


def expected_reports(mechanism, records):
    """Expectation of the decoded report of each record, one row per record."""
    if isinstance(mechanism, Gradient):
        return mechanism.encode(records)
    if isinstance(mechanism, ldp.Bins | ldp.Residue) or (isinstance(mechanism.domain, Categories) and len(records) > 2):
        return np.eye(len(records))
    return records.reshape(len(records), -1).astype(float)


@pytest.mark.long
@each("mechanism, records", EXTREMES, ids=[type(mechanism).__name__ for mechanism, _ in EXTREMES])
def test_worst_variance_of_a_mechanism(mechanism, records):
    """Populations of two extreme records, by the law of total variance.

    The variance of decoded reports is at most `worst_variance`, and within 2 % of it in some population.
    """
    worst, largest = mechanism.worst_variance, 0.0
    variances = np.asarray(mechanism.variance(records)).reshape(len(records), -1)
    means = expected_reports(mechanism, records)
    assert means.shape == variances.shape
    for share in np.linspace(0, 1, 101):
        for a in range(len(records)):
            for b in range(len(records)):
                within = share * variances[a] + (1 - share) * variances[b]
                between = share * (1 - share) * (means[a] - means[b]) ** 2
                total = (within + between).max()
                assert total <= worst * (1 + 1e-9)
                largest = max(largest, total)
    assert largest > 0.98 * worst


@pytest.mark.long
@pytest.mark.parametrize("mechanism, records", EXTREMES, ids=[type(mechanism).__name__ for mechanism, _ in EXTREMES])
def test_sample_size_of_a_mechanism(mechanism, records):
    """The error is the standard error of a coordinate of the mean report (of the mean gradient for `Gradient`)."""
    worst = mechanism.worst_variance
    n = bounds.sample_size(mechanism, 0.05)
    assert math.sqrt(worst / n) <= 0.05 < math.sqrt(worst / (n - 1))
    epsilon = bounds.epsilon_for(mechanism, 0.05, n=2 * n)
    assert epsilon < mechanism.epsilon
    same = bounds.epsilon_for(mechanism, 0.05, n=n)
    assert same == pytest.approx(mechanism.epsilon, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("noise", ["half-space", "laplace"])
def test_sample_size_of_a_gradient_is_that_of_its_ball(norm, noise):
    question = Gradient("logistic", (0.5, -0.25, 1.0), 1.0, norm=norm, radius=2.0, column=1.0, noise=noise)
    for confidence in (None, 0.9):
        n = bounds.sample_size(question, 0.05, confidence=confidence)
        assert n == bounds.sample_size(question.ball, 0.05, confidence=confidence)
        epsilon = bounds.epsilon_for(question, 0.05, n=n, confidence=confidence)
        assert epsilon == bounds.epsilon_for(question.ball, 0.05, n=n, confidence=confidence)


@dataclass(frozen=True)
class ForcedResponse(ldp.Mechanism):
    """A true answer except on 9 of 36 outcomes. Epsilon is not a parameter."""

    yes: int = 6

    def __post_init__(self):
        self.define(epsilon=2.31, epsilon_realized=2.31, domain=Categories(2), report=Codes(2))

    def channel_rows(self):
        return [[36 - self.yes, self.yes], [3, 33]]


@dataclass(frozen=True)
class WithoutVariance(ldp.Mechanism):
    """A mechanism in Python without a variance."""

    epsilon: float

    def __post_init__(self):
        self.define(epsilon_realized=self.epsilon, domain=Interval(0.0, 1.0), report=Vectors(1, 1.0))

    def privatize_block(self, records, words):
        return np.zeros((len(records), 1))


CHOSEN = [  # mechanisms and problems that choose a design for their epsilon
    lambda epsilon: ldp.SubsetSelection(300, epsilon),
    lambda epsilon: ldp.SampledCube(30, epsilon),
    lambda epsilon: ldp.SampledCube(30, epsilon, sampled=4),
    lambda epsilon: ldp.RankedSigns(30, epsilon),
    lambda epsilon: ldp.mechanisms.PrivUnit(30, epsilon),
    lambda epsilon: ldp.ProjectiveGeometryResponse(300, epsilon),
    lambda epsilon: Frequencies(300, epsilon),
    lambda epsilon: VectorMean(30, epsilon, norm="linf"),
]


@each("make", CHOSEN)
def test_a_design_is_chosen_anew_for_another_epsilon(make):
    one, other = make(1.0), make(5.0)
    for same in (one, copy.copy(one), pickle.loads(pickle.dumps(one)), replace(one)):
        assert same == one
        assert replace(same, epsilon=5.0) == other
    assert replace(one, epsilon=5.0).fingerprint == other.fingerprint
    assert type(one).from_dict(one.to_dict()).fingerprint == one.fingerprint


def test_a_design_that_was_given_is_kept():
    assert replace(ldp.SubsetSelection(300, 1.0, size=9), epsilon=5.0).size == 9
    assert replace(ldp.SubsetSelection(300, 1.0), size=9).size == 9
    assert replace(ldp.SampledCube(30, 1.0, sampled=4), epsilon=5.0).sampled == 4
    described = ldp.SubsetSelection(300, 1.0).to_dict()
    assert replace(ldp.SubsetSelection.from_dict(described), epsilon=5.0).size == described["size"]
    with pytest.raises(ValueError, match=r"mechanism must be for k=300 and epsilon=5.0"):
        replace(Frequencies(300, 1.0, mechanism="subset"), epsilon=5.0)


@pytest.mark.parametrize("make", [CHOSEN[0], CHOSEN[1], CHOSEN[4]])
def test_epsilon_for_does_not_depend_on_the_epsilon_of_the_mechanism(make):
    n = bounds.sample_size(make(2.0), 0.05)
    found = [bounds.epsilon_for(make(epsilon), 0.05, n=n) for epsilon in (0.3, 9.0)]
    assert found[0] == found[1] <= 2.0 * (1 + 1e-3)
    assert math.sqrt(make(found[0]).worst_variance / n) <= 0.05


@pytest.mark.long
def test_epsilon_for_finds_the_first_of_several_sufficient_epsilons():
    """The variance of the worst category jumps up where the space of the points changes."""
    mechanism = ldp.ProjectiveGeometryResponse(57, 1.0)
    n, grid = 1000, np.geomspace(2, 4, 100)
    errors = np.array([math.sqrt(replace(mechanism, epsilon=epsilon).worst_variance / n) for epsilon in grid])
    up = int(np.argmax(np.diff(errors)))
    assert errors[up + 1] > 1.1 * errors[up]
    found = bounds.epsilon_for(mechanism, 1.005 * errors[up], n=n)
    assert found <= grid[up]
    with pytest.raises(ValueError, match=r"^error must be reachable with epsilon <= 40 and n = 10, got 0.01$"):
        bounds.epsilon_for(ldp.mechanisms.PrivUnit(30, 1.0), 0.01, n=10)


def test_sample_size_of_a_custom_mechanism():
    """An asymmetric channel: the largest noise and the largest sampling error are not those of one population."""
    mechanism = ForcedResponse()
    yes = np.linspace(0, 1, 100_001) * (33 - 6) / 36 + 6 / 36  # share of the answer yes, for all populations
    largest = (yes * (1 - yes)).max() / ((33 - 6) / 36) ** 2
    assert bounds.sample_size(mechanism, 0.01) == math.ceil(largest / 0.01**2)
    with pytest.raises(TypeError, match=r"^target must have a parameter epsilon, got ForcedResponse\(yes=6\)$"):
        bounds.epsilon_for(mechanism, 0.01, n=10_000)
    with pytest.raises(NotImplementedError, match=r"^WithoutVariance\(epsilon=1\.0\) must have worst_variance$"):
        bounds.sample_size(WithoutVariance(1.0), 0.01)


# Bad input ------------------------------------------------------------------------------------------------------------


@each(
    "mechanism, length, shown",
    [
        (ldp.Warner(1.0), 1.0, r"\[0, 1\]"),
        (ldp.RandomizedResponse(4, 1.0), 1.0, r"\[0, 1\]"),
        (ldp.SignBit(-4.0, 20.0, 1.0), 24.0, r"\[-4, 20\]"),
        (ldp.Laplace(-4.0, 20.0, 1.0), 24.0, r"\[-4, 20\]"),
        (ldp.L2Ball(3, 1.0, radius=2.0), 4.0, r"\[-2, 2\]"),
    ],
)
def test_an_error_as_large_as_the_range_of_the_value_is_refused(mechanism, length, shown):
    """A standard error of 2 for a share means 2 percentage points, and one person would be enough for 2."""
    refused = pytest.raises(
        ValueError, match=f"^error must be below {length:g}, the length of the range {shown} of the value"
    )
    for confidence in (None, 0.95):
        with refused:
            bounds.sample_size(mechanism, length, confidence=confidence)
        with refused:
            bounds.epsilon_for(mechanism, 2 * length, n=100, confidence=confidence)
    assert bounds.sample_size(mechanism, 0.999 * length) >= 1


@each(
    "call, error, message",
    [
        (
            lambda: bounds.sample_size(bounds.median, 0, epsilon=1, radius=1),
            ValueError,
            "^error must be a finite number > 0",
        ),
        (
            lambda: bounds.sample_size(3, 0.1),
            TypeError,
            "^target must be a function of bounds, its name, or a mechanism, got int$",
        ),
        (
            lambda: bounds.sample_size("mode", 0.1, epsilon=1),
            ValueError,
            "^target must be one of .*'median'.*, got 'mode'",
        ),
        (
            lambda: bounds.sample_size(bounds.median, 0.1, confidence=1, epsilon=1, radius=1),
            ValueError,
            "^confidence must be",
        ),
        (lambda: bounds.sample_size(bounds.median, 0.1, epsilon=1), TypeError, "radius"),
        (lambda: bounds.sample_size("median", 0.1, epsilon=1), TypeError, "radius"),
        (
            lambda: bounds.sample_size(bounds.median, 1e-12, epsilon=1e-6, radius=1),
            ValueError,
            "^error must be reachable with",
        ),
        (
            lambda: bounds.sample_size(bounds.median, 0.1, epsilon=[[1], [2]], radius=1),
            ValueError,
            "^arguments other than n must be numbers",
        ),
        (
            lambda: bounds.sample_size(bounds.median, 0.1, side="best", epsilon=1, radius=1),
            ValueError,
            "^side must be one of",
        ),
        (
            lambda: bounds.sample_size(ldp.Warner(1), 0.1, radius=1),
            TypeError,
            "takes no further arguments, got 'radius'$",
        ),
        (
            lambda: bounds.epsilon_for(bounds.median, 0.1, n=10, radius=1),
            ValueError,
            "^error must be reachable with epsilon <= 44",
        ),
        (lambda: bounds.epsilon_for(bounds.median, 0.1, n=0, radius=1), ValueError, "^n must be an integer"),
        (
            lambda: bounds.epsilon_for(bounds.median, 0.1, n=10, radius=-1),
            ValueError,
            "Corollary 2, needs radius > 0, got radius=-1$",
        ),
        (
            lambda: bounds.epsilon_for("median", 0.1, n=10, radius=-1),
            ValueError,
            "Corollary 2, needs radius > 0, got radius=-1$",
        ),
        (lambda: bounds.epsilon_for("mode", 0.1, n=10), ValueError, "^target must be one of .*'median'.*, got 'mode'"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_bounds_of_two_points_load_neither_scipy_nor_compiled_code():
    loaded = run_python(
        "import sys, ldpfast; ldpfast.bounds.mean_1d(100, 1.0, moment=2); print(*sys.modules)"
    ).stdout.split()
    assert "ldpfast.bounds" in loaded
    unwanted = ("scipy", "matplotlib", "ldpfast._core", "ldpfast.mechanisms")
    assert [name for name in loaded if name.startswith(unwanted)] == []


def test_a_class_is_not_a_target():
    with pytest.raises(TypeError, match=r"target must be a function of bounds, its name, or .* got the class SignBit"):
        bounds.sample_size(ldp.SignBit, 0.5)
