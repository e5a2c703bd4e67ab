"""Smooth sensitivity against brute force, and the exact privacy of releases with it."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ldpfast import central
from ldpfast.privacy import Guarantee, compose, group

from ..support.cases import each
from ..support.internals.central import SIZE, PublicGrid, smooth_sensitivity
from ..support.internals.shared import open_stream
from ..support.modules import module_of

release, calibration = module_of(central.trimmed_mean), module_of(central.calibrate)

GRID = (0.0, 1.0, 2.0, 3.0)
RELEASED = 331329.5


# Smooth sensitivity ---------------------------------------------------------------------------------------------------


def statistic(kind, data, share):
    """Return the statistic of a sorted tuple, computed directly."""
    n = len(data)
    if kind == "quantile":
        return data[max(1, math.ceil(share * n - 1e-9)) - 1]
    m = math.floor(share * n + 1e-9)
    kept = data[m : n - m]
    return sum(kept) / len(kept)


def neighbors_of(data):
    """Return all sorted tuples with one record replaced."""
    for i, value in itertools.product(range(len(data)), GRID):
        yield tuple(sorted((*data[:i], value, *data[i + 1 :])))


def distance(a, b):
    """Return the number of replacements that turn one multiset into another."""
    return sum(max(0, a.count(value) - b.count(value)) for value in GRID)


def brute_force(kind, share, n, beta):
    """Return, for every dataset on the grid, the maximum of exp(-beta distance) times the local sensitivity."""
    datasets = list(itertools.combinations_with_replacement(GRID, n))
    local = {
        d: max(abs(statistic(kind, d, share) - statistic(kind, other, share)) for other in neighbors_of(d))
        for d in datasets
    }
    return {d: max(math.exp(-beta * distance(d, other)) * local[other] for other in datasets) for d in datasets}


def sensitivity(kind, data, share, beta):
    if kind == "quantile":
        return central.smooth_sensitivity_quantile(data, share, beta, GRID[0], GRID[-1])
    return central.smooth_sensitivity_trimmed_mean(data, share, beta, GRID[0], GRID[-1])


@each("beta", [0.0, 0.05, 0.5, 3.0])
@each("n", [1, 2, 3, 4, 5])
@each(
    "kind, share", [("quantile", q) for q in (0.01, 0.25, 0.5, 0.8, 0.99)] + [("trimmed", t) for t in (0.0, 0.2, 0.4)]
)
def test_smooth_sensitivity_equals_brute_force(kind, share, n, beta):
    rng = np.random.default_rng(n)
    for data, expected in brute_force(kind, share, n, beta).items():
        assert sensitivity(kind, rng.permutation(data), share, beta) == pytest.approx(expected, rel=1e-14)
        if kind == "trimmed" and share == 0.0:
            assert central.smooth_sensitivity_mean(data, beta, 0.0, 3.0) == pytest.approx(expected, rel=1e-14)


def test_ranks_are_those_of_decimal_fractions():
    """0.07 * 100 is a little more than 7 in doubles, 0.29 * 100 a little less than 29."""
    assert [smooth_sensitivity.rank(q, 100) for q in (1e-9, 0.01, 0.07, 0.0701, 0.5, 0.999)] == [1, 1, 7, 8, 50, 100]
    assert [smooth_sensitivity.trimmed(t, 100) for t in (0.0, 0.01, 0.29, 0.2899, 0.499)] == [0, 1, 29, 28, 49]
    assert [smooth_sensitivity.rank(0.5, n) for n in (1, 2, 3, 4)] == [1, 1, 2, 2]


def over_all_pairs(z, beta, i_high, j_low, least):
    """Return the smooth sensitivity over all pairs of ranks, in O(n^2) time."""
    i, j = np.arange(i_high + 1)[:, None], np.arange(j_low, len(z))[None, :]
    steps = j - i - least
    values = np.where(steps >= 0, np.exp(-beta * np.maximum(steps, 0)) * (z[j] - z[i]), -1.0)
    return values.max()


@each("beta", [1e-9, 1e-4, 0.01, 0.3, 5.0, 1000.0])
@each("kind", ["uniform", "cauchy", "ties", "constant", "ends", "far"])
def test_smooth_sensitivity_equals_the_maximum_over_all_pairs(kind, beta):
    """For these sizes only some of the ranks are evaluated."""
    rng = np.random.default_rng(5)
    for n in (1, 2, 7, 64, 301, 800):
        x = {
            "uniform": rng.uniform(-1, 1, n),
            "cauchy": 1e-3 * rng.standard_cauchy(n),
            "ties": rng.integers(-2, 3, n) / 2,
            "constant": np.full(n, 0.25),
            "ends": rng.choice([-1.0, 1.0], n),
            "far": np.append(np.full(n - 1, -1e-9), 1e9),
        }[kind]
        z = np.concatenate([[-1.0], np.sort(np.clip(x, -1, 1)), [1.0]])
        for q in (0.001, 0.3, 0.5, 0.999):
            m = max(1, math.ceil(q * n - 1e-9))
            expected = over_all_pairs(z, beta, m, m, 1)
            assert central.smooth_sensitivity_quantile(x, q, beta, -1, 1) == pytest.approx(expected, rel=1e-12)
        for trim in (0.0, 0.1, 0.49):
            m = math.floor(trim * n + 1e-9)
            expected = over_all_pairs(z, beta, m + 1, n - m, n - 2 * m) / (n - 2 * m)
            assert central.smooth_sensitivity_trimmed_mean(x, trim, beta, -1, 1) == pytest.approx(expected, rel=1e-12)


def test_order_dtype_and_layout_do_not_matter():
    x = np.random.default_rng(2).uniform(-3, 3, 2000).astype(np.float32)
    expected = central.smooth_sensitivity_quantile(np.sort(x).astype(np.float64), 0.5, 0.02, -1, 1)
    strided = np.zeros(4000)
    strided[::2] = np.sort(x)
    read_only = np.sort(x).astype(">f8")
    read_only.flags.writeable = False
    for same in (x, x[::-1], strided[::2], read_only, x.astype(np.float64)):
        before = same.copy()
        assert central.smooth_sensitivity_quantile(same, 0.5, 0.02, -1, 1) == expected
        np.testing.assert_array_equal(same, before)


def test_records_that_are_not_finite_are_centered_or_rejected():
    for x in ([0.2, np.nan, 0.4], [np.nan, 0.2, 0.4], [0.2, 0.3, np.inf], [-np.inf, 0.0, 0.5], [0.1, 0.2, np.nan]):
        with pytest.raises(ValueError, match=r"x must be finite numbers .*; index \d is outside \(1 of 3 are\)"):
            central.smooth_sensitivity_quantile(x, 0.5, 0.1, 0, 1)
        centered = np.where(np.isfinite(x), x, 0.5)
        assert central.smooth_sensitivity_quantile(x, 0.5, 0.1, 0, 1, nan="center") == (
            central.smooth_sensitivity_quantile(centered, 0.5, 0.1, 0, 1)
        )


# The exact delta ------------------------------------------------------------------------------------------------------


def hockey_stick_by_quadrature(epsilon, p, q):
    """Return the hockey-stick divergence of two Laplace distributions, by quadrature between kinks and zeros."""

    def log_density(at, laplace):
        return -abs(at - laplace[0]) / laplace[1] - math.log(2 * laplace[1])

    places = sorted({p[0], q[0]} | {c + s * t for c, s in (p, q) for t in np.linspace(-60, 60, 61)})
    crossings = []
    for a, b in itertools.pairwise(places):
        ends = [log_density(t, p) - epsilon - log_density(t, q) for t in (a, b)]
        if ends[0] * ends[1] < 0:
            crossings.append(a + (b - a) * ends[0] / (ends[0] - ends[1]))
    places = sorted({*places, *crossings})
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for a, b in itertools.pairwise(places):
        at = (a + b + (b - a) * nodes) / 2
        densities = [np.exp(-abs(at - laplace[0]) / laplace[1]) / (2 * laplace[1]) for laplace in (p, q)]
        total += (b - a) / 2 * weights @ np.maximum(densities[0] - math.exp(epsilon) * densities[1], 0)
    return total


def closed_form(epsilon, p, q):
    with localcontext(calibration.DIGITS):
        return float(calibration._hockey_stick(Decimal(epsilon), tuple(map(Decimal, p)), tuple(map(Decimal, q))))


@each("epsilon", [0.0, 0.3, 2.0, 9.0])
@each("shift", [-1.0, 0.0, 1e-3, 2.5])
@each("ratio", [0.2, 0.999, 1.0, 1.05, 4.0])
def test_the_closed_form_equals_the_quadrature(epsilon, shift, ratio):
    for scale in (0.1, 0.7, 5.0):
        p, q = (0.5, scale * ratio), (0.5 + shift, scale)
        expected = hockey_stick_by_quadrature(epsilon, p, q)
        assert closed_form(epsilon, p, q) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_true_delta_of_the_published_noise():
    def published(epsilon, delta):
        return central.laplace_delta(epsilon, scale=2 / epsilon, beta=epsilon / (2 * math.log(1 / delta)))

    assert published(1, 1e-6) == pytest.approx(8.5e-9, rel=0.01)
    assert published(16, 1e-6) == pytest.approx(3.9e-6, rel=0.01)  # above the required delta
    for delta, limit in ((1e-2, 8.506), (1e-4, 10.136), (1e-6, 11.172), (1e-9, 12.262)):
        assert published(limit, delta) <= delta < published(limit + 0.001, delta)


@pytest.mark.parametrize(
    "epsilon, delta, powers, others, expected",
    [
        (16.0, 1e-6, (None, None, 0), (None, 1, 0), 3.9e-6),
        (12.0, 1e-2, (None, None, None, 2, 2), (None, None, 2, 2, 0), 1.77e-2),
    ],
)
def test_the_published_noise_exceeds_delta_on_explicit_datasets(epsilon, delta, powers, others, expected):
    """Medians of neighboring datasets on [0, 1] with records 0 or exp(-k beta), at large epsilon."""
    beta = epsilon / (2 * math.log(1 / delta))
    releases = []
    for ks in (powers, others):
        data = [0.0 if k is None else math.exp(-k * beta) for k in ks]
        spread = central.smooth_sensitivity_quantile(data, 0.5, beta, 0, 1)
        releases.append((data[len(data) // 2], 2 / epsilon * spread))
    true = max(closed_form(epsilon, *releases), closed_form(epsilon, *releases[::-1]))
    assert true == pytest.approx(expected, rel=0.01)
    assert true > 1.7 * delta


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_the_worst_case_is_the_largest_shift_and_ratio(epsilon):
    """On a grid of smaller shifts and ratios, for scales that `laplace_delta` accepts."""
    for factor, beta in itertools.product((1.0, 1.3, 2.0, 6.0), (0.01, 0.3, 2.0)):
        scale = factor / epsilon
        worst = central.laplace_delta(epsilon, scale=scale, beta=beta)
        last = np.zeros(9)
        for ratio in np.exp(beta * np.linspace(0, 1, 9)):
            deltas = [
                max(
                    closed_form(epsilon, (0, scale * ratio), (s, scale)),
                    closed_form(epsilon, (0, scale), (s, scale * ratio)),
                )
                for s in np.linspace(0, 1, 9)
            ]
            assert (np.diff(deltas) >= -1e-18).all()
            assert (np.array(deltas) >= last - 1e-18).all()
            last = np.array(deltas)
        assert last[-1] == pytest.approx(worst, rel=1e-9, abs=1e-15)


@each("epsilon, delta", [(0.01, 1e-9), (0.1, 0.3), (1.0, 1e-6), (16.0, 1e-6), (50.0, 1e-2)])
def test_calibration_attains_delta(epsilon, delta):
    scale, beta = central.calibrate(epsilon, delta=delta)
    assert central.laplace_delta(epsilon, scale=scale, beta=beta) <= delta
    assert central.laplace_delta(epsilon, scale=scale, beta=beta * (1 + 1e-9)) > delta
    for factor in (1.02, 1.1, 1.3, 1.5, 1.7, 1.9, 2.5):
        other = central.calibrate(epsilon, delta=delta, scale=factor / epsilon)
        assert other[0] == pytest.approx(factor / epsilon)
        assert scale / beta <= 1.03 * other[0] / other[1]
    if epsilon <= 1:  # the published choice is valid
        assert scale / beta < (2 / epsilon) / (epsilon / (2 * math.log(1 / delta))) / 1.4


@each("epsilon", [1e-12, 1e-3, 30.0, 1000.0])
@each("delta", [5e-324, 1e-100, 1e-9, 0.999])
def test_calibration_at_extreme_parameters(epsilon, delta):
    scale, beta = central.calibrate(epsilon, delta=delta)
    assert beta > 0
    assert 0 < central.laplace_delta(epsilon, scale=scale, beta=beta) <= delta
    assert central.laplace_delta(epsilon, scale=scale, beta=1.01 * beta) > delta
    assert (
        0
        < central.laplace_delta(epsilon, scale=scale, beta=1e-300)
        <= central.laplace_delta(epsilon, scale=scale, beta=1e-20)
    )


@pytest.mark.parametrize("epsilon", [1.0, 0.3, 1 / 3, 49.0])
def test_without_delta_the_noise_is_that_of_the_global_sensitivity(epsilon):
    scale, beta = central.calibrate(epsilon, delta=0.0)
    assert (scale, beta) == (pytest.approx(1 / epsilon, rel=1e-15), 0.0)
    assert central.laplace_delta(epsilon, scale=scale, beta=0.0) == 0.0
    assert central.laplace_delta(epsilon, scale=1 / epsilon, beta=0.0) == 0.0
    assert Fraction(scale) * Fraction(epsilon) >= 1


def test_delta_is_rounded_up():
    rng = np.random.default_rng(0)
    for epsilon, factor, beta in zip(
        rng.uniform(0.1, 5, 50), rng.uniform(1, 3, 50), rng.uniform(0.01, 1, 50), strict=True
    ):
        exact = calibration._delta(Decimal(epsilon), Decimal(factor / epsilon), Decimal(beta))
        assert Decimal(central.laplace_delta(epsilon, scale=factor / epsilon, beta=beta)) >= exact


@each("epsilon, delta", [(0.5, 1e-3), (1.0, 1e-6), (8.0, 1e-4)])
@each("kind, share", [("quantile", 0.5), ("quantile", 0.2), ("trimmed", 0.2)])
def test_delta_holds_for_all_neighboring_datasets_on_a_grid(kind, share, epsilon, delta):
    """The exact delta of the release, for every pair of neighboring datasets in {0, .., 3}^5."""
    scale, beta = central.calibrate(epsilon, delta=delta)
    releases = {
        data: (statistic(kind, data, share), scale * sensitivity(kind, data, share, beta))
        for data in itertools.combinations_with_replacement(GRID, 5)
    }
    pairs = {(releases[a], releases[b]) for a in releases for b in neighbors_of(a) if releases[a] != releases[b]}
    assert len(pairs) > 50
    worst = max(closed_form(epsilon, p, q) for p, q in pairs)
    assert worst <= delta
    assert worst > 0
    # Half of the scale for delta = 0 exceeds delta, so the test detects noise that is too small.
    small = [((p[0], p[1] / (scale * epsilon) / 2), (q[0], q[1] / (scale * epsilon) / 2)) for p, q in pairs]
    assert max(closed_form(epsilon, p, q) for p, q in small) > delta


# Releases -------------------------------------------------------------------------------------------------------------


def law(place, scale, reach):
    """Return the probabilities of the integers from -reach to reach for Laplace noise rounded down, from its definition."""
    with localcontext(calibration.DIGITS):
        b = Decimal(scale)

        def below(t):
            return (t / b).exp() / 2 if t < 0 else 1 - (-t / b).exp() / 2

        ends = [below(Decimal(k - place)) for k in range(-reach, reach + 2)]
        return [high - low for low, high in itertools.pairwise(ends)]


@pytest.mark.claim("A release with smooth sensitivity has at most the stated epsilon and delta.", "Trusted curator")
@each("epsilon, delta", [(1.0, 1e-6), (2.0, 1e-3), (3.0, 0.0), (8.0, 1e-4)])
@pytest.mark.parametrize("n", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3, 5))])
@each("kind, share", [("quantile", 0.5), ("quantile", 0.2), ("trimmed", 0.2), ("trimmed", 0.0)])
def test_the_exact_law_of_all_neighboring_datasets(kind, share, n, epsilon, delta):
    """The hockey-stick divergence of the integers that are released, for all neighbors in {0, .., 3}^n."""
    scale, beta = release._calibrate_rounded(epsilon, delta)
    m = smooth_sensitivity.rank(share, n) if kind == "quantile" else smooth_sensitivity.trimmed(share, n)
    laws = {}
    for data in itertools.combinations_with_replacement(range(len(GRID)), n):
        z = smooth_sensitivity.SortedRecords(np.array(data, np.uint32), 0.0, GRID[-1], 1.0)
        find = smooth_sensitivity.rank_sensitivity if kind == "quantile" else smooth_sensitivity.trimmed_sum_sensitivity
        bound = release._rounded_up(find(z, m, beta), beta)
        total = data[m - 1] if kind == "quantile" else sum(data[m : n - m])
        laws[tuple(map(float, data))] = (total, scale * bound)
    reach = math.ceil(60 * max(width for _, width in laws.values()))
    pairs = {(laws[a][0] - laws[b][0], laws[a][1], laws[b][1]) for a in laws for b in neighbors_of(a)}

    def worst(factor):
        """Return the largest divergence over all pairs of neighbors, with noise that is smaller by a factor."""
        found = {
            pair: law(*pair, reach)
            for pair in {(t, s / factor) for t, s, _ in pairs} | {(0, s / factor) for *_, s in pairs}
        }
        with localcontext(calibration.DIGITS):
            rate = Decimal(epsilon).exp()
            return max(
                sum(
                    (max(p - rate * q, 0) for p, q in zip(found[t, s / factor], found[0, r / factor], strict=True)),
                    Decimal(0),
                )
                for t, s, r in pairs
            )

    assert worst(1.0) <= Decimal(delta) + Decimal("1e-24")  # e^-60 is left out
    assert worst(2 * scale * epsilon) > 2 * Decimal(delta)  # so the test detects noise that is too small


def test_bounds_of_neighbors_include_the_errors_of_doubles():
    """A sensitivity with an error of `ERROR` still gives an upper bound, and a ratio of at most exp(beta + 4 ERROR)."""
    for true in (0.3, 1.0, 7.0, 2.0**31):
        low, high = (release._rounded_up(true * (1 + sign * smooth_sensitivity.ERROR), 0.1) for sign in (-1, 1))
        assert Fraction(low) >= max(Fraction(true), 1)
        assert Fraction(high) / Fraction(low) <= 1 + 3 * Fraction(smooth_sensitivity.ERROR)  # below exp(4 ERROR)
    assert release._rounded_up(5.0, 0.0) == 5.0
    for epsilon, delta in ((1.0, 1e-6), (1e-8, 1e-9), (1e-12, 0.5)):
        scale, beta = central.calibrate(epsilon, delta=delta)
        used = release._calibrate_rounded(epsilon, delta)
        assert used[0] == scale
        assert used[1] == 0.0 or used[1] + 4 * smooth_sensitivity.ERROR <= beta
    assert release._calibrate_rounded(1e-12, 1e-30)[1] == 0.0


@pytest.mark.parametrize("kind", ["uniform", "ties", "constant", "heavy"])
def test_the_error_of_the_sensitivity_of_integers_is_far_below_its_bound(kind):
    """Comparison with 60 digits over all pairs of ranks."""
    rng, n, m = np.random.default_rng(11), 60, 21
    x = {
        "uniform": rng.integers(0, SIZE, n),
        "ties": rng.integers(0, 4, n) << 20,
        "constant": np.full(n, 12345),
        "heavy": (2.0 ** rng.uniform(0, 32, n)).astype(np.int64),
    }[kind]
    z = smooth_sensitivity.SortedRecords(np.sort(x).astype(np.uint32), 0.0, SIZE - 1.0, 1.0)
    exact = [0, *sorted(map(int, x)), SIZE - 1]
    for beta in (1e-6, 0.01, 0.3, 2.0):
        with localcontext(calibration.DIGITS):
            e = Decimal(beta)
            pairs = [(i, j) for i in range(m + 1) for j in range(m, n + 2) if j > i]
            of_rank = max((-e * (j - i - 1)).exp() * (exact[j] - exact[i]) for i, j in pairs)
            pairs = [(i, j) for i in range(7) for j in range(n - 5, n + 2)]
            kept = n - 10
            trim = max((-e * (j - i - kept)).exp() * (exact[j] - exact[i]) for i, j in pairs if j - i >= kept)
            for got, want in (
                (smooth_sensitivity.rank_sensitivity(z, m, beta), of_rank),
                (smooth_sensitivity.trimmed_sum_sensitivity(z, 5, beta), trim),
            ):
                if want >= 1:  # below 1 the bound is 1
                    assert abs(Decimal(got) / want - 1) <= Decimal(smooth_sensitivity.ERROR) / 1000


def test_the_seeded_release_is_stable():
    """A change here changes the results of a given `rng` and belongs in the changelog."""
    assert release._release(0, 1e6, 1.0, open_stream(1)) == RELEASED


def test_the_trimmed_mean_is_released_as_calibrated():
    """The estimate is the release with the calibrated scale and the same stream, up to the grid."""
    x = np.random.default_rng(3).normal(0.1, 0.2, 500)
    scale, beta = central.calibrate(1.0, delta=1e-6)
    step = 2 / (SIZE - 1)
    spread = central.smooth_sensitivity_trimmed_mean(x, 0.1, beta, -1, 1)
    estimate = central.trimmed_mean(x, 0.1, epsilon=1.0, delta=1e-6, lower=-1, upper=1, rng=5)
    noise = release._release(0, spread * 400 / step, scale, open_stream(5)) * step / 400
    assert estimate.value == pytest.approx(stats.trim_mean(np.clip(x, -1, 1), 0.1) + noise, abs=4 * step)
    assert (estimate.guarantee.definition, estimate.epsilon, estimate.guarantee.delta) == ("approximate", 1.0, 1e-6)
    assert not estimate.guarantee.ideal
    pure = central.trimmed_mean(x, 0.1, epsilon=1.0, lower=-1, upper=1, rng=5)
    assert (pure.guarantee.definition, pure.guarantee.delta) == ("pure", 0.0)
    assert central.trimmed_mean(x, 0.1, epsilon=1.0, delta=1e-6, lower=-1, upper=1).value != estimate.value


def test_the_quantile_is_released_as_calibrated():
    x = np.random.default_rng(4).normal(0.1, 0.2, 501)
    scale, beta = central.calibrate(1.0, delta=1e-6)
    step = 2 / (SIZE - 1)
    spread = central.smooth_sensitivity_quantile(x, 0.25, beta, -1, 1)
    got = release.smooth_quantiles(x, [0.25], 1.0, 1e-6, -1, 1, open_stream(5))[0]
    noise = release._release(0, spread / step, scale, open_stream(5)) * step
    assert got == pytest.approx(np.quantile(x, 0.25, method="inverted_cdf") + noise, abs=4 * step)


@pytest.mark.parametrize("beta", [0.02, 0.3])
def test_the_grid_costs_less_than_5_percent_of_the_noise(beta):
    """The bound of the exact release and the sensitivity in doubles, for records that are spread and for equal ones."""
    grid = PublicGrid(0.0, 100.0, "uniform")
    for x in (np.random.default_rng(1).gamma(2.0, 3.0, 2000), np.random.default_rng(2).poisson(3.0, 2000)):
        data = smooth_sensitivity.SortedRecords.on_grid(x, grid, "raise")
        m = smooth_sensitivity.rank(0.5, data.n)
        bound = release._rounded_up(smooth_sensitivity.rank_sensitivity(data, m, beta), beta) * 100 / (SIZE - 1)
        ideal = central.smooth_sensitivity_quantile(x, 0.5, beta, 0, 100)
        assert bound == pytest.approx(max(ideal, 100 / SIZE), rel=0.05)


def test_releases_stay_within_the_bounds():
    x, stream = np.zeros(3), open_stream(1)
    quantiles = {release.smooth_quantiles(x, [0.5], 0.01, 1e-9, -1.0, 2.0, stream)[0] for _ in range(100)}
    assert {-1.0, 2.0} <= quantiles
    assert min(quantiles) == -1.0
    assert max(quantiles) == 2.0
    means = [central.trimmed_mean(x, 0.3, epsilon=0.01, lower=-1, upper=2, rng=i).value for i in range(50)]
    assert (min(means), max(means)) == (-1.0, 2.0)


def test_releases_of_constant_data_have_noise():
    """The smooth sensitivity of 20,000 equal records is below the smallest double, so the noise is that of one grid step."""
    x = np.zeros(20_000)
    assert central.smooth_sensitivity_quantile(x, 0.5, 0.5, -1, 1) == 0.0
    stream = open_stream(3)
    released = [release.smooth_quantiles(x, [0.5], 1.0, 1e-2, -1, 1, stream)[0] for _ in range(20)]
    assert 0 < max(map(abs, released)) < 1e-7
    assert len(set(released)) > 5


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 500.0])
def test_the_interval_of_the_trimmed_mean_covers(epsilon):
    """Coverage of 200 intervals of 95 % for two-point distributions, which have the largest variance.

    P(Binomial(200, 0.05) > 33) < 1e-9. Detects a coverage of 80 % or less almost surely.
    """
    rng, misses, n = np.random.default_rng(8), 0, 40
    truth = np.mean([stats.trim_mean(rng.choice([0.0, 1.0], n, p=[0.4, 0.6]), 0.1) for _ in range(5000)])
    for i in range(200):
        x = rng.choice([0.0, 1.0], n, p=[0.4, 0.6])
        estimate = central.trimmed_mean(x, 0.1, epsilon=epsilon, delta=1e-4, lower=0, upper=1, rng=i)
        low, high = estimate.interval()
        misses += not low <= truth <= high
        assert estimate.stderr == central.trimmed_mean(x * 0, 0.1, epsilon=epsilon, delta=1e-4, lower=0, upper=1).stderr
    assert misses <= 33


@each(
    "call, error, message",
    [
        (
            lambda: central.smooth_sensitivity_quantile([1.0], 0.0, 0.1, 0, 1),
            ValueError,
            r"q must be in \(0, 1\), got 0",
        ),
        (
            lambda: central.smooth_sensitivity_quantile([1.0], 1.0, 0.1, 0, 1),
            ValueError,
            r"q must be in \(0, 1\), got 1",
        ),
        (
            lambda: central.smooth_sensitivity_quantile([1.0], 0.5, -1, 0, 1),
            ValueError,
            "beta must be a finite number >= 0",
        ),
        (lambda: central.smooth_sensitivity_quantile([1.0], 0.5, math.nan, 0, 1), ValueError, "beta must be a finite"),
        (
            lambda: central.smooth_sensitivity_quantile([1.0], 0.5, 0.1, 1, 1),
            ValueError,
            "with lower < upper, got 1 and 1",
        ),
        (lambda: central.smooth_sensitivity_quantile([], 0.5, 0.1, 0, 1), ValueError, "at least 1 record"),
        (lambda: central.smooth_sensitivity_quantile([[1.0]], 0.5, 0.1, 0, 1), ValueError, r"shape \(n,\)"),
        (lambda: central.smooth_sensitivity_quantile(["a"], 0.5, 0.1, 0, 1), TypeError, "x must be real numbers"),
        (lambda: central.smooth_sensitivity_mean([1.0], 0.1, 2, 1), ValueError, "lower < upper, got 2 and 1"),
        (
            lambda: central.smooth_sensitivity_trimmed_mean([1.0], 0.5, 0.1, 0, 1),
            ValueError,
            r"trim must be in \[0, 1/2\)",
        ),
        (lambda: central.smooth_sensitivity_trimmed_mean([1.0], -0.1, 0.1, 0, 1), ValueError, "trim must be in"),
        (
            lambda: central.laplace_delta(1.0, scale=0.5, beta=0.1),
            ValueError,
            "scale must be at least 1 / epsilon = 1, got 0.5",
        ),
        (lambda: central.laplace_delta(0.0, scale=1.0, beta=0.1), ValueError, "epsilon must be a finite number > 0"),
        (lambda: central.calibrate(1.0, delta=1.0), ValueError, r"delta must be in \[0, 1\), got 1"),
        (lambda: central.calibrate(1.0, delta=-1e-9), ValueError, r"delta must be in \[0, 1\)"),
        (lambda: central.calibrate(1e9, delta=0.1), ValueError, r"epsilon must be in \[1e-12, 1000\]"),
        (lambda: central.laplace_delta(1e-13, scale=1e14, beta=0.1), ValueError, r"epsilon must be in \[1e-12, 1000\]"),
        (
            lambda: central.trimmed_mean([1.0], 0.1, epsilon=1, lower=0, upper=1, nan="drop"),
            ValueError,
            "nan must be one of",
        ),
        (lambda: central.trimmed_mean([1.0], 0.1, epsilon=-1, lower=0, upper=1), ValueError, "epsilon must be"),
        (lambda: central.trimmed_mean([math.nan], 0.1, epsilon=1, lower=0, upper=1), ValueError, "index 0 is outside"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.claim("A release whose guarantee is ideal only must be allowed, and says so.", "Trusted curator")
def test_releases_that_are_ideal_only_must_be_allowed():
    x = np.linspace(0, 1, 101)

    def release(**more):
        return central.m_estimate(x, "huber", epsilon=1.0, lower=0, upper=1, method="continuous", **more)

    for more in ({}, {"allow_ideal": False}):
        with pytest.raises(
            ValueError, match=r"allow_ideal must be True for .*, got False: its guarantee is for noise of real"
        ):
            release(**more)
    with pytest.raises(TypeError, match="allow_ideal must be a bool"):
        release(allow_ideal=1)
    estimate = release(allow_ideal=True)
    assert estimate.guarantee.ideal
    assert "ideal only" in repr(estimate)
    assert estimate.to_dict()["guarantee"]["ideal"]
    assert compose(estimate.guarantee, Guarantee("pure", 1.0)).ideal
    assert group(estimate.guarantee, 2).ideal


def test_other_releases_are_exact():
    x = np.linspace(0, 1, 101)
    for exact in (
        central.trimmed_mean(x, 0.1, epsilon=1.0, lower=0, upper=1),
        central.median(x, epsilon=1.0, delta=1e-6, lower=0, upper=1, method="smooth-sensitivity"),
        central.mean(x, epsilon=1.0, moment=math.inf, radius=1, noise="l2"),
        central.median(x, epsilon=1.0, lower=0, upper=1),
    ):
        assert not exact.guarantee.ideal
        assert not compose(exact.guarantee, exact.guarantee).ideal


def test_the_text_of_an_ideal_guarantee():
    assert (
        repr(Guarantee("pure", 1.0, ideal=True)) == "Guarantee(definition='pure', epsilon=1.0, delta=0.0, ideal=True)"
    )
    assert Guarantee("pure", 1.0, ideal=True) != Guarantee("pure", 1.0)
