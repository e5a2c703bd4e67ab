"""The cap mechanism PrivUnit: its parameters, the published errors, and the distribution of its reports."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import ldpfast as ldp
from ldpfast import bounds
from ldpfast.mechanisms import _priv_unit
from ldpfast.privacy import Guarantee, audit, compose
from ldpfast.reports import Aggregator, Vectors

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.kernels import Stream
from ..support.internals.mechanisms import half_space_constant
from ..support.internals.shared import Words
from ..support.keys import KEY, STATISTICS_SEED
from ..support.statistics import ALPHA, assert_counts, assert_coverage, bernstein_radius, count_limits, hoeffding_radius

WORD = 1 << 64
DIMS = (1, 2, 3, 4, 5, 10, 100, 1000)
EPSILONS = (1e-6, 0.01, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0)


def density(dim, t):
    """Return the density of a coordinate of a uniform direction, for dim >= 2."""
    log_constant = special.gammaln(dim / 2) - special.gammaln((dim - 1) / 2) - math.log(math.pi) / 2
    return math.exp(log_constant + (dim - 3) / 2 * math.log1p(-t * t))


def exact_share(dim, threshold):
    """Return P(U_1 >= gamma) as a fraction, for odd dim >= 3: the density is a polynomial."""
    k, gamma = (dim - 3) // 2, Fraction(threshold)

    def integral(t):
        return sum((-1) ** i * math.comb(k, i) * t ** (2 * i + 1) / (2 * i + 1) for i in range(k + 1))

    return (integral(Fraction(1)) - integral(gamma)) / (2 * integral(Fraction(1)))


# Parameters -----------------------------------------------------------------------------------------------------------

# Dimension, epsilon; total squared error of half-spaces, PrivUnit, p, gamma, ratio of the errors; PrivUnitG, ProjUnit.
ERRORS = """
100  0.5 2604.58 2504.93 .545629 .01997633 .962 2517.98 2509.80
100  1   730.887 629.348 .590116 .03982994 .861 633.002 634.228
100  2   268.464 160.364 .671837 .07872221 .597 161.666 165.285
100  4   167.178 42.8181 .793571 .15106821 .256 43.5296 47.8904
100  8   155.506 12.7325 .904739 .26985155 .082 13.2888 18.2645
1000 0.5 26172.3 25166.8 .545269 .00630344 .962 25179.9 25171.3
1000 1   7350.88 6326.38 .589404 .01257153 .861 6330.04 6330.91
1000 2   2705.80 1615.37 .670474 .02487306 .597 1616.68 1619.91
1000 4   1688.37 434.603 .791207 .04791312 .257 435.320 439.157
1000 8   1571.12 132.347 .901397 .08659816 .084 132.912 136.945
"""


def normal_error(dim, epsilon):
    """Return the total squared error of PrivUnitG, the same shape with normal directions N(0, I/d) and the best gamma."""
    excess = math.expm1(epsilon)

    def error(x):  # x = sqrt(d) gamma
        m = excess * stats.norm.pdf(x) / (1 + excess * stats.norm.sf(x)) / math.sqrt(dim)
        return 1 / m**2 + x / math.sqrt(dim) / m - 1

    return optimize.minimize_scalar(error, bounds=(0, 10), method="bounded", options={"xatol": 1e-9}).fun


def projected_error(dim, epsilon, k):
    """Return the total squared error of ProjUnit: PrivUnit on a random projection to k dimensions."""
    log_length = [special.gammaln((j + 1) / 2) - special.gammaln(j / 2) for j in (k, dim)]
    return (ldp.PrivUnit(k, epsilon).scale / math.exp(log_length[0] - log_length[1])) ** 2 - 1


def printed(number, text):
    """Check that a number is `text`, rounded to its digits."""
    digits = len(text.partition(".")[2])
    assert abs(number - float(text)) <= 0.5 * 10.0**-digits * (1 + 1e-9), (number, text)


@each("row", ERRORS.split("\n")[1:-1])
def test_errors_and_parameters_to_the_printed_digits(row):
    dim, epsilon, half_space, error, p, gamma, ratio, normal, projected = row.split()
    dim, epsilon = int(dim), float(epsilon)
    mechanism, x = ldp.PrivUnit(dim, epsilon), np.eye(dim)[0]
    printed(mechanism.variance(x).sum(), error)
    printed(ldp.L2Ball(dim, epsilon).variance(x).sum(), half_space)
    printed(mechanism.cap_probability, p)
    printed(mechanism.threshold, gamma)
    printed(mechanism.variance(x).sum() / ldp.L2Ball(dim, epsilon).variance(x).sum(), ratio)
    printed(normal_error(dim, epsilon), normal)
    printed(projected_error(dim, epsilon, dim // 10), projected)


@each("dim", [2, 3, 4, 5, 10, 100, 1000])
@each("gamma", [0.0, 1e-9, 0.01, 0.3, 0.7, 0.75, 0.99])
def test_share_and_moment_of_the_cap_are_integrals_of_the_density(dim, gamma):
    """The substitution t = sin(a) removes the singularity of dim = 2 at t = 1."""

    def weight(a):
        return density(dim, math.sin(a)) * math.cos(a)

    low = math.asin(gamma)
    high = min(math.pi / 2 * (1 - 1e-9), low + 40 / math.sqrt(dim))
    for found, power in ((_priv_unit.cap_share(dim, gamma), 0), (_priv_unit.cap_moment(dim, gamma), 1)):
        whole, _ = integrate.quad(
            lambda a, power=power: weight(a) * math.sin(a) ** power, low, high, epsabs=0, epsrel=1e-11
        )
        assert found == pytest.approx(whole, rel=1e-7, abs=1e-290)


@each("dim", [3, 5, 9, 33, 101])
@each("epsilon", [1e-6, 0.5, 1.0, 3.0, 8.0, 20.0])
def test_the_ratio_of_the_densities_is_below_e_to_the_epsilon(dim, epsilon):
    """Exact, from the integer of the coin and the exact share of the cap. More than 4e-12 below it would be a loss."""
    mechanism = ldp.PrivUnit(dim, epsilon)
    share, heads = exact_share(dim, mechanism.threshold), mechanism._heads
    ratio = Fraction(heads, WORD - heads) * (1 - share) / share
    with localcontext(prec=80):
        loss = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        assert 0 < Decimal(epsilon) - loss < Decimal("4e-12")


@each("dim", DIMS)
@each("epsilon", EPSILONS)
def test_the_threshold_is_the_mean_of_the_cosine(dim, epsilon):
    """gamma = m, the smallest error: neighbors of gamma have a larger one. The margin of p is seen at small epsilons."""
    mechanism = ldp.PrivUnit(dim, epsilon, radius=3.0)
    assert mechanism.threshold * mechanism.scale / 3 == pytest.approx(1, abs=1e-11 + 4e-12 / epsilon)

    def slope(gamma):
        excess = math.expm1(epsilon)
        return excess * _priv_unit.cap_moment(dim, gamma) / (1 + excess * _priv_unit.cap_share(dim, gamma))

    if dim > 1:
        best = slope(mechanism.threshold)
        assert best * mechanism.scale / 3 == pytest.approx(1, abs=1e-9 + 4e-12 / epsilon)
        for gamma in np.linspace(0, 1, 41):
            assert slope(gamma) <= best * (1 + 1e-14)


@each("epsilon", EPSILONS)
def test_closed_forms_of_dimensions_one_and_three(epsilon):
    line, space = ldp.PrivUnit(1, epsilon), ldp.PrivUnit(3, epsilon)
    assert line.scale == pytest.approx(1 / math.tanh(epsilon / 2), rel=1e-11 + 4e-12 / epsilon)
    assert line.cap_probability == pytest.approx(special.expit(epsilon), rel=1e-11)
    assert space.threshold == pytest.approx(math.tanh(epsilon / 4), rel=1e-12)
    assert space.scale == pytest.approx(1 / math.tanh(epsilon / 4), rel=1e-11 + 4e-12 / epsilon)
    assert space.cap_probability == pytest.approx(special.expit(epsilon / 2), rel=1e-11)


@each("dim", [2, 5, 100])
@each("epsilon", [0.1, 1.0, 4.0])
def test_the_second_moment_of_the_cosine_makes_the_covariance_isotropic(dim, epsilon):
    """E t^2 = 1/d + (1 - 1/d) gamma m, by integration: the variance along the record is the mean one, (1/m^2 - 1)/d."""
    mechanism = ldp.PrivUnit(dim, epsilon)
    gamma, p = mechanism.threshold, mechanism.cap_probability
    edge, m = math.asin(gamma), 1 / mechanism.scale

    def moment(power, low, high):
        return integrate.quad(
            lambda a: density(dim, math.sin(a)) * math.cos(a) * math.sin(a) ** power, low, high, epsrel=1e-12, limit=500
        )[0]

    inside, outside = (edge, math.pi / 2 * (1 - 1e-9)), (-math.pi / 2 * (1 - 1e-9), edge)
    means = [
        p * moment(power, *inside) / moment(0, *inside) + (1 - p) * moment(power, *outside) / moment(0, *outside)
        for power in (1, 2)
    ]
    assert means[0] == pytest.approx(m, rel=1e-6)
    assert means[1] == pytest.approx(1 / dim + (1 - 1 / dim) * gamma * m, rel=1e-6)
    assert means[1] / m**2 - 1 == pytest.approx(mechanism.variance(np.eye(dim)[0])[0], rel=1e-5)


def test_the_error_is_never_above_that_of_half_spaces():
    for dim in DIMS:
        for epsilon in EPSILONS:
            cap, half = ldp.PrivUnit(dim, epsilon), ldp.L2Ball(dim, epsilon)
            assert cap.scale <= half.scale * (1 + 1e-11 + 4e-12 / epsilon)


def test_bounds_compare_the_error_of_all_coordinates():
    """The largest error of a coordinate is not that of all of them at once: the norm of a report is B."""
    cap = ldp.PrivUnit(50, 4.0, radius=2.0)
    table = bounds.compare("mean_l2", 3000, 4.0, dim=50, radius=2.0, mechanisms=[cap])
    assert table.best.mechanism == repr(cap)
    assert table.best.error == pytest.approx(cap.scale**2 / 3000, rel=1e-12)
    assert table.best.error < 50 * cap.worst_variance / 3000 / 2


# Guarantee ------------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "A guarantee for real numbers only is marked as ideal, also in estimates, saved states and sums of losses.",
    "Privacy of reports",
)
def test_the_guarantee_is_ideal_and_is_carried_into_the_estimate():
    mechanism = ldp.PrivUnit(3, 1.0)
    assert mechanism.guarantee == Guarantee("local", 1.0, ideal=True)
    estimate = mechanism.run(np.zeros((40, 3)), rng=1)
    assert estimate.guarantee.ideal
    assert "epsilon = 1, ideal only" in repr(estimate)
    assert estimate.to_dict()["guarantee"]["ideal"]
    assert compose(estimate.guarantee, ldp.Warner(1.0).guarantee).ideal
    again = Aggregator.from_bytes(mechanism.aggregator().update(mechanism.privatize(np.zeros(3))).to_bytes())
    assert again.estimate().guarantee.ideal
    assert not ldp.L2Ball(3, 1.0).run(np.zeros((40, 3)), rng=1).guarantee.ideal


@pytest.mark.long
@pytest.mark.parametrize("dim, epsilon", [(1, 1.0), (2, 0.5), (3, 4.0), (20, 1.0), (100, 2.0)])
def test_the_event_of_the_cap_has_the_ratio_e_to_the_epsilon(dim, epsilon):
    """For opposite records the event <Z, v> >= 1 has probabilities p and p / e^epsilon.

    Detects an error of 0.8 percentage points in either.
    """
    n, mechanism = 200_000, ldp.PrivUnit(dim, epsilon)
    v = np.random.default_rng(dim).normal(size=dim)
    v /= np.linalg.norm(v)
    edge = mechanism.threshold * mechanism.scale * (1 - 1e-9)  # 1, below rounding and the margin of p
    counts = []
    for sign in (1, -1):
        reports = mechanism.privatize(np.tile(sign * v, (n, 1)), rng=STATISTICS_SEED + sign, clip=True)
        counts.append(int((reports @ v >= edge).sum()))
    p = mechanism.cap_probability * np.exp([0.0, -epsilon])
    assert_counts(counts, n, p, detects=0.008)
    low, high = count_limits(n, p)
    assert math.log((counts[0] - p[0] * n + low[0]) / (counts[1] - p[1] * n + high[1])) <= epsilon
    assert audit(mechanism, v * (1 - 1e-15), -v * (1 - 1e-15), 50_000, confidence=1 - ALPHA, rng=2) <= epsilon


# Distribution ---------------------------------------------------------------------------------------------------------

N = 200_000


@each("dim", [2, 3, 4, 5, 30, 400])
@each("draw", ["sphere", "cap"])
def test_redrawn_cosines_have_their_distribution(dim, draw):
    """The Dvoretzky-Kiefer-Wolfowitz inequality (Massart 1990). Detects a shift of 1.5 percent of the probability."""
    gamma = 1 / math.sqrt(dim)
    if draw == "sphere":
        found, low = _priv_unit.sphere_cosines(dim, N, Words(Stream(KEY), 0)), 0.0
    else:
        found, low = _priv_unit.cap_cosines(dim, gamma, N, Words(Stream(KEY), 0)), gamma
    found = found[~np.isnan(found)]
    assert len(found) > N / 4
    if draw == "sphere":
        assert_counts((found < 0).sum(), len(found), 0.5, detects=0.015, alpha=ALPHA / 2)
        found = np.abs(found)
    # P(|U_1| <= t) = I_(t^2)(1/2, (d - 1)/2)
    below = special.betainc(0.5, (dim - 1) / 2, np.sort(found) ** 2)
    start = special.betainc(0.5, (dim - 1) / 2, low**2)
    uniform = (below - start) / (1 - start)
    steps = np.arange(len(found) + 1) / len(found)
    distance = max(np.abs(uniform - steps[1:]).max(), np.abs(uniform - steps[:-1]).max())
    assert distance <= hoeffding_radius(len(found), ALPHA / 2)


def record(dim, length):
    """Return a row of this length without zeros."""
    v = np.random.default_rng(7).normal(size=dim) + 0.1
    return v * (length / np.linalg.norm(v))


@pytest.mark.long
@pytest.mark.parametrize("length", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("dim, epsilon", [(1, 1.0), (2, 1.0), (2, 6.0), (3, 0.5), (6, 3.0), (40, 2.0), (40, 8.0)])
def test_reports_have_the_record_as_mean_and_the_stated_covariance(dim, epsilon, length):
    """Mean, second moments along 9 directions and total, by Bernstein's inequality: |report| = B.

    The covariance is ((B^2 - 1) / d) I + (1 - |x|^2) v v^T, and (B^2 / d) I at 0. Detects a bias of seven standard errors
    and a variance that is wrong by a few percent.
    """
    mechanism, x = ldp.PrivUnit(dim, epsilon), record(dim, length * (1 - 1e-12))
    z = mechanism.privatize(np.tile(x, (N, 1)), rng=STATISTICS_SEED)
    b2 = mechanism.scale**2
    np.testing.assert_allclose((z**2).sum(axis=1), b2, rtol=1e-12)
    directions = np.random.default_rng(8).normal(size=(9, dim))
    directions[:dim] = np.eye(dim)[:9] if dim <= 9 else np.eye(9, dim)[: len(directions[:dim])]
    directions[-1] = record(dim, 1.0)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    v = record(dim, 1.0) if length else np.zeros(dim)
    noise = b2 / dim if length == 0 else (b2 - 1) / dim
    variance = noise + (1 - length**2) * (directions @ v) ** 2
    along = z @ directions.T
    radius = bernstein_radius(variance, 2 * mechanism.scale, N, ALPHA / 20)
    assert (np.abs(along.mean(axis=0) - directions @ x) <= radius).all()
    square = variance + (directions @ x) ** 2  # its variance is at most b2 times its mean, because it is at most b2
    assert (np.abs((along**2).mean(axis=0) - square) <= bernstein_radius(b2 * square, b2, N, ALPHA / 20)).all()
    stated = mechanism.variance(x)
    np.testing.assert_allclose(stated, noise + (1 - length**2) * v**2, rtol=1e-9)
    assert stated.sum() == pytest.approx(b2 - length**2, rel=1e-9)


@pytest.mark.parametrize("length", [1.0, 0.0])
def test_reports_are_isotropic(length):
    """On the sphere the covariance is the same in all directions, whatever the record; at the center as well.

    Entries of Z Z^T are in [-B^2, B^2]: Hoeffding's inequality for all of them. Detects errors of 3 percent of B^2 / 2.
    """
    dim, x = 4, record(4, length * (1 - 1e-12))
    mechanism = ldp.PrivUnit(dim, 2.0, radius=3.0)
    z = mechanism.privatize(np.tile(3 * x, (N, 1)), rng=STATISTICS_SEED) / mechanism.scale
    square = (3 / mechanism.scale) ** 2
    expected = (1 - square * (length > 0)) / dim * np.eye(dim) + square * np.outer(x, x)
    np.testing.assert_allclose(z.T @ z / N, expected, rtol=0, atol=2 * hoeffding_radius(N, ALPHA / dim**2))


def test_large_rows_are_drawn_in_blocks_that_depend_on_the_dimension_only():
    """Blocks of fewer rows for longer rows, and never an empty block."""
    for dim, rows in ((1, 4096), (16, 4096), (17, 3855), (5000, 13), (65_536, 1), (1_000_000, 1)):
        assert ldp.PrivUnit(dim, 1.0)._recipe.kernel.rows == rows
    x = np.zeros((3, 65_537))
    x[:, 0] = 1
    mechanism = ldp.PrivUnit(65_537, 4.0)
    reports = mechanism.privatize(x, rng=1)
    np.testing.assert_allclose(np.linalg.norm(reports, axis=1), mechanism.scale, rtol=1e-12)
    assert len(np.unique(reports[:, 1])) == 3


# Standard errors ------------------------------------------------------------------------------------------------------


def test_standard_errors_are_exact_for_the_worst_population_and_conservative_for_others():
    """The worst population for coordinate j is +-r e_j with equal probabilities; total moments are at most B^2 always."""
    dim, n, radius = 5, 400, 2.0
    mechanism = ldp.PrivUnit(dim, 4.0, radius=radius)
    stderr = mechanism.run(np.zeros((n, dim)), rng=1).stderr
    x = np.zeros((2, dim))
    x[:, 0] = radius, -radius
    total = (mechanism.variance(x) + x**2).mean(axis=0)  # variance of a report of a random member
    assert np.all(stderr**2 * n >= total * (1 - 1e-12))
    assert stderr[0] ** 2 * n == pytest.approx(total[0], rel=1e-12)
    assert mechanism.worst_variance == pytest.approx(total[0], rel=1e-12)
    assert total[0] > 2 * mechanism.scale**2 / dim  # the rule for reports with equal second moments would be too small
    for x in np.random.default_rng(1).normal(size=(50, dim)):
        row = x * (radius * 0.9 / np.linalg.norm(x))
        assert np.all(mechanism.variance(row) + row**2 <= mechanism.worst_variance * (1 + 1e-12))


def test_the_format_has_the_second_moment_of_isotropic_reports_by_default():
    assert Vectors(4, 6.0).second_moment == 9.0
    assert Vectors(4, 6.0, 20.0).second_moment == 20.0
    estimate = ldp.L2Ball(4, 1.0).run(np.zeros((9, 4)), rng=1)
    np.testing.assert_allclose(estimate.stderr, ldp.L2Ball(4, 1.0).scale / 6, rtol=1e-12)


@pytest.mark.long
def test_intervals_cover_the_worst_population():
    """The mean of 200 reports is normal to a good approximation, so 95 % limits cover 95 %. Detects a coverage of 0.91."""
    mechanism, x = ldp.PrivUnit(20, 8.0), np.zeros((200, 20))
    x[:, 3] = np.resize([1.0, -1.0], 200) * (1 - 1e-15)
    generator, covered = np.random.default_rng(STATISTICS_SEED), 0
    population = np.random.default_rng(3)
    for _ in range(2000):
        low, high = mechanism.run(x[population.integers(0, 200, 200)], rng=generator).interval()
        covered += bool(low[3] <= 0 <= high[3])
    assert_coverage(covered, 2000, 0.95, detects=0.91)


# Input ----------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clip_projects_rows_and_maps_nan_to_the_center(dtype):
    """Powers of two keep the direction exactly, so the reports are those of the projected rows."""
    mechanism, rng = ldp.PrivUnit(3, 2.0), np.random.default_rng(1)
    inside = rng.normal(size=(100, 3))
    inside = (inside / np.linalg.norm(inside, axis=1, keepdims=True)).astype(dtype)
    expected = mechanism.privatize(inside * dtype(2), rng=5, clip=True)
    np.testing.assert_array_equal(mechanism.privatize(inside * dtype(1024), rng=5, clip=True), expected)
    np.testing.assert_allclose(mechanism.privatize(inside, rng=5, clip=True), expected, rtol=0, atol=1e-3)
    strange = inside.copy()
    strange[::2, 0] = np.nan
    center = inside.copy()
    center[::2] = 0
    np.testing.assert_array_equal(
        mechanism.privatize(strange, rng=5, clip=True), mechanism.privatize(center, rng=5, clip=True)
    )
    infinite = np.array([[np.inf, 0, 0], [-np.inf, np.inf, 1], [np.finfo(dtype).max] * 3] * 30, dtype)
    reports = mechanism.privatize(infinite, rng=5, clip=True)
    np.testing.assert_allclose(np.linalg.norm(reports, axis=1), mechanism.scale, rtol=1e-5)
    assert (reports[::3, 0] > 0).mean() > 0.5


def test_tiny_rows_are_valid():
    """Rows whose squares underflow count as the center."""
    mechanism = ldp.PrivUnit(3, 2.0)
    noise = (mechanism.scale**2 - 1) / 3
    for size in (0.0, 5e-324, 1e-200, 3.4e-162, 1e-151, 1e-149, 1e-10):
        row = np.array([size, 0, 0])
        reports = mechanism.privatize(np.tile(row, (50, 1)), rng=1)
        np.testing.assert_allclose(np.linalg.norm(reports, axis=1), mechanism.scale, rtol=1e-12)
        expected = [noise + 1, noise, noise] if size > 1e-150 else [noise + 1 / 3] * 3
        np.testing.assert_allclose(mechanism.variance(row), expected)


@pytest.mark.parametrize("dim", [1, 2, 3, 50])
def test_a_record_along_its_own_normal_vector_has_a_valid_report(dim):
    """The first cosine is 1 up to rounding, and above 1 for some of the records."""
    mechanism, n = ldp.PrivUnit(dim, 2.0), 1000
    normal = special.ndtri(_priv_unit._uniform(Words(Stream(KEY), 0), n * dim)).reshape(n, dim)
    x = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    assert dim == 1 or (np.einsum("ij,ij->i", normal, x) > np.sqrt(np.einsum("ij,ij->i", normal, normal))).any()
    reports = mechanism.privatize_block(x, Words(Stream(KEY), 0))
    np.testing.assert_allclose(np.linalg.norm(reports, axis=1), mechanism.scale, rtol=1e-12)


def test_the_channel_is_infinite():
    with raises(ValueError, "PrivUnit(dim=2, epsilon=1.0, radius=1.0) has too many reports to enumerate"):
        ldp.PrivUnit(2, 1.0).channel()


@pytest.mark.parametrize("epsilon", [5e-324, 1e-7, 40.5, 1e300])
def test_epsilon_must_be_in_the_range_of_the_doubles(epsilon):
    with raises(
        ValueError, f"epsilon must be in [1e-06, 40], where doubles hold the shape of the cap, got {epsilon!r}"
    ):
        ldp.PrivUnit(3, epsilon)


@each(
    "arguments, error, message",
    [
        ((0, 1.0), ValueError, f"dim must be an integer in [1, {1 << 32}], got 0"),
        (((1 << 32) + 1, 1.0), ValueError, f"dim must be an integer in [1, {1 << 32}], got {(1 << 32) + 1}"),
        ((2.0, 1.0), TypeError, "dim must be an integer, got float"),
        ((2, 0.0), ValueError, "epsilon must be a finite number > 0, got 0.0"),
        ((2, "1"), TypeError, "epsilon must be a number, got str"),
        ((2, 1.0, 0), ValueError, "radius must be a finite number > 0, got 0"),
        ((2, 1.0, 1e19), ValueError, "radius must be in [1e-18, 1e18], where single precision holds the reports, got 1e+19"),
    ],
)  # fmt: skip
def test_parameters_are_checked(arguments, error, message):
    with raises(error, message):
        ldp.PrivUnit(*arguments[:2], **dict(zip(["radius"], arguments[2:], strict=False)))


@each("epsilon", [1e-6, 40.0])
@each("dim", [1, 2, 3, 100, 1 << 32])
def test_the_ends_of_the_parameters_are_allowed(dim, epsilon):
    mechanism = ldp.PrivUnit(dim, epsilon)
    assert 1 <= mechanism.scale <= half_space_constant(dim) / math.tanh(epsilon / 2) * (1 + 1e-5)
    assert 0 < mechanism.threshold <= 1
    if dim <= 100:
        x = np.eye(dim)[:1].repeat(50, axis=0)
        reports = mechanism.privatize(x, rng=1)
        np.testing.assert_allclose(np.linalg.norm(reports, axis=1), mechanism.scale, rtol=1e-12)
