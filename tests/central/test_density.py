"""Private histograms on the unit cube: the exact loss, the stated risk, and the density."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

import ldpfast as ldp
from ldpfast.central import CubeHistogram, histogram_density

from ..support import reference
from ..support.cases import each
from ..support.internals.shared import coin_integers
from ..support.modules import module_of
from ..support.statistics import normal_margin

inside = module_of(histogram_density)

# Privacy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
def test_loss_of_two_counts_that_change_by_one(epsilon):
    """Exact loss of the coins in use over every pair of reports up to two carries; beyond them the ratios repeat."""
    coins = coin_integers.geometric(epsilon, 2, 1, 2)
    pmf = reference.geometric_distribution(coins.groups, coins.carry, 128, 3)
    noise = {n: pmf[n if n >= 0 else -1 - n] for n in range(-len(pmf), len(pmf))}
    steps = [noise[n] / noise[n - 1] for n in range(-len(pmf) + 1, len(pmf))]
    worst = max(max(steps), 1 / min(steps)) ** 2  # one count goes up, the other down, noise is independent
    with localcontext(prec=60):
        loss = (Decimal(worst.numerator) / Decimal(worst.denominator)).ln()
        assert loss <= Decimal(coins.epsilon_realized) <= Decimal(epsilon)
        assert loss >= Decimal(epsilon) * (1 - Decimal("1e-12"))
    assert histogram_density([0.5], epsilon=epsilon, bins=2, rng=1).guarantee == ldp.privacy.Guarantee(
        "pure", coins.epsilon_realized
    )


def test_a_replaced_record_changes_two_counts_by_one():
    rng = np.random.default_rng(1)
    for dim, bins in ((1, 7), (2, 4), (3, 3)):
        x = rng.uniform(-0.2, 1.2, (50, dim))
        before = inside._counts(x, bins, dim, "raise")
        assert before.sum() == 50
        for value in (0.0, 1.0, -5.0, 9.0, 1 / bins, np.nextafter(1, 0), np.nan, np.inf):
            y = x.copy()
            y[rng.integers(50)] = value
            moved = inside._counts(y, bins, dim, "center") - before
            assert np.abs(moved).sum() in (0, 2)
            assert moved.sum() == 0


def test_the_noise_is_an_integer_plus_one_half():
    """The same stream gives the same noise for other records."""
    x = np.random.default_rng(2).random(1000)
    found = histogram_density(x, epsilon=0.3, bins=10, rng=4)
    added = found.value * 1000 - np.histogram(x, 10, (0, 1))[0]
    np.testing.assert_allclose(added - 0.5, np.rint(added - 0.5), atol=1e-9)
    again = histogram_density(np.zeros(1000), epsilon=0.3, bins=10, rng=4).value * 1000
    again[0] -= 1000
    np.testing.assert_allclose(added, again, atol=1e-9)


# The estimate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2])
def test_shares_are_unbiased_with_the_stated_error(dim):
    """Mean of 1500 releases of the same counts, within normal limits of the noise, whose variance is exact.

    Detects an error of the variance of 25 %.
    """
    x, reps, bins = np.random.default_rng(3).beta(2, 5, (200, dim)), 1500, 3
    counts = inside._counts(x, bins, dim, "raise").reshape((bins,) * dim)
    values = np.array([histogram_density(x, epsilon=0.8, bins=bins, rng=i).value for i in range(reps)])
    variance = coin_integers.geometric(0.8, 2, 1, 2).noise_variance / 200**2
    assert np.abs(values.mean(axis=0) - counts / 200).max() <= normal_margin(2 * counts.size) * math.sqrt(
        variance / reps
    )
    assert np.mean((values - counts / 200) ** 2) == pytest.approx(
        variance, rel=normal_margin(2) * math.sqrt(5.5 / values.size)
    )
    q = math.exp(-0.4)
    assert variance * 200**2 == pytest.approx(2 * q / (1 - q) ** 2 + 0.25, rel=1e-9)
    found = histogram_density(x, epsilon=0.8, bins=bins, rng=0)
    share = np.clip(found.value, 0, 1)
    np.testing.assert_allclose(found.stderr, np.sqrt(share * (1 - share) / 200 + variance), rtol=1e-12)


def records_of_peaked_density(rng, n, dim):
    """Return n records with density 1 + product of (1 - 2 x) / 3, whose slopes are below 1."""
    x = rng.random((n, dim))
    keep = rng.random(n) < (1 + np.prod(1 - 2 * x, axis=1) / 3) / (4 / 3)
    while not keep.all():
        x[~keep] = rng.random(((~keep).sum(), dim))
        again = rng.random((~keep).sum()) < (1 + np.prod(1 - 2 * x[~keep], axis=1) / 3) / (4 / 3)
        keep[np.flatnonzero(~keep)[again]] = True
    return x


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("bins", [None, 1, 3, 8])
@pytest.mark.parametrize("epsilon", [0.2, 2.0])
@pytest.mark.long
def test_risk_is_above_the_error(epsilon, bins, dim):
    """Integrated squared error of 200 estimates, on a grid of 48 points per axis, with the margin of a normal error.

    With 8 bins, where the bias is small, the risk is at most 1.5 times the error.
    """
    n, reps, rng = 400, 200, np.random.default_rng(4)
    middle = (np.arange(48) + 0.5) / 48
    points = np.stack(np.meshgrid(*[middle] * dim, indexing="ij"), axis=-1)
    truth = 1 + np.prod(1 - 2 * points, axis=-1) / 3
    errors = np.empty(reps)
    for i in range(reps):
        x = records_of_peaked_density(rng, n, dim)
        found = histogram_density(x if dim > 1 else x[:, 0], epsilon=epsilon, bins=bins, rng=i)
        errors[i] = np.mean((found(points if dim > 1 else points[:, 0]) - truth) ** 2)
    margin = normal_margin() * errors.std() / math.sqrt(reps)
    assert errors.mean() <= found.risk + margin
    if bins == 8:
        assert found.risk <= 1.5 * (errors.mean() + margin)


def test_bias_of_the_steepest_density_is_attained():
    """With slope L everywhere, the squared bias of m cells is L^2 / (12 m^2)."""
    for bins in (1, 2, 5):
        x = np.linspace(0, 1, 20_000, endpoint=False) + 1 / 40_000
        density = 1 + 0.8 * (x - 0.5)
        cells = density.reshape(bins, -1)
        lost = np.mean((cells - cells.mean(axis=1, keepdims=True)) ** 2)
        without = inside._risk(bins, 10**15, 1.0, 1, 0.8)
        assert lost == pytest.approx(without, rel=1e-6)


@each("lipschitz", [0.1, 1.0, 30.0])
@each("dim", [1, 2, 3])
@each("n", [1, 10, 1000, 10**6])
@each("epsilon", [0.01, 1.0, 10.0])
def test_best_bins_equals_brute_force(epsilon, n, dim, lipschitz):
    variance = coin_integers.geometric(epsilon, 2, 1, 2).noise_variance
    most = min(3000, math.floor((1 << 26) ** (1 / dim) + 1e-9))
    risks = [inside._risk(m, n, variance, dim, lipschitz) for m in range(1, most + 1)]
    best = inside.best_bins(n, epsilon, dim, lipschitz)
    assert best < most
    assert best == 1 + int(np.argmin(risks))
    x = np.full((min(n, 50), dim), 0.3)
    if n <= 10:
        found = histogram_density(x[:n] if n < 50 else x, epsilon=epsilon, lipschitz=lipschitz, rng=1)
        assert found.bins == inside.best_bins(found.n, epsilon, dim, lipschitz)


def test_best_bins_at_the_limit_of_cells():
    assert inside.best_bins(10**15, 10.0, 1, 1e6) <= 1 << 26
    assert inside.best_bins(10**15, 10.0, 2, 1e9) == 8192
    assert inside.best_bins(10**15, 10.0, 13, 1e9) == 4
    assert inside.best_bins(10**15, 10.0, 26, 1e9) == 2
    assert inside.best_bins(10**15, 10.0, 27, 1e9) == 1
    assert inside.best_bins(1, 1.0, 5000) == 1


def test_counts_of_cells():
    """Both ends belong to the cube, inner edges to the cell above. Records outside are clipped."""
    x = np.array([0.0, 0.25, 0.5, 0.75, 1.0, -3.0, 7.0, np.nextafter(0.25, 0)])
    assert inside._counts(x, 4, 1, "raise").tolist() == [3, 1, 1, 3]
    plane = np.array([[0.1, 0.9], [0.1, 0.9], [0.6, 0.2]])
    assert inside._counts(plane, 2, 2, "raise").reshape(2, 2).tolist() == [[0, 2], [1, 0]]
    big = np.random.default_rng(5).random((100_000, 3)).astype(np.float32)
    assert (
        inside._counts(big, 4, 3, "raise").reshape(4, 4, 4) == np.histogramdd(big.astype(float), 4, [(0, 1)] * 3)[0]
    ).all()


def test_huge_records_are_clipped_without_a_warning():
    assert inside._counts(np.array([1.7e308, -1.7e308]), 4, 1, "raise").tolist() == [1, 0, 0, 1]


def test_dtype_layout_and_order_do_not_matter(tmp_path):
    x = np.random.default_rng(6).random((150_000, 2)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    options = {"epsilon": 1.0, "bins": 5, "rng": 8}
    expected = histogram_density(x, **options)
    for form in (
        x[::-1],
        x.astype(np.float64),
        np.asfortranarray(x),
        x.astype(">f4"),
        np.load(tmp_path / "x.npy", mmap_mode="r"),
    ):
        assert histogram_density(form, **options) == expected
    assert histogram_density(x[:9].tolist(), **options) == histogram_density(x[:9], **options)
    assert histogram_density([0, 1, 1], **options) == histogram_density([0.0, 1.0, 1.0], **options)


# The result -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def line():
    return histogram_density(np.random.default_rng(7).random(5000), epsilon=1.0, bins=4, rng=1)


@pytest.fixture
def plane():
    return histogram_density(np.random.default_rng(7).random((5000, 2)), epsilon=1.0, bins=3, rng=1)


def test_the_density_at_points(line, plane):
    np.testing.assert_array_equal(line([0.0, 0.2, 0.25, 0.99, 1.0]), 4 * line.value[[0, 0, 1, 3, 3]])
    assert line([-1e-9, 1.0000001, math.nan]).tolist() == [0, 0, 0]
    assert isinstance(line(0.5), float)
    assert line(np.zeros((2, 3, 1, 5))).shape == (2, 3, 1, 5)
    assert line(np.zeros(0)).shape == (0,)
    assert line([0, 1]).tolist() == [4 * line.value[0], 4 * line.value[3]]
    assert isinstance(plane([0.1, 0.9]), float)
    assert plane([0.1, 0.9]) == 9 * plane.value[0, 2]
    assert plane(np.full((4, 5, 2), 0.5)).shape == (4, 5)
    assert plane([[0.5, 1.1], [0.5, 0.5]]).tolist() == [0, 9 * plane.value[1, 1]]
    np.testing.assert_allclose(np.mean(line((np.arange(400) + 0.5) / 400)), line.value.sum())
    for bad in (0.5, [0.1, 0.2, 0.3]):
        with pytest.raises(ValueError, match=r"points must have shape \(\.\.\., 2\), got shape"):
            plane(bad)
    with pytest.raises(TypeError, match="points must be real numbers"):
        line(["a"])


def test_the_density_is_zero_far_outside(line):
    assert line([math.inf, -math.inf, 1e308]).tolist() == [0, 0, 0]


def test_project_gives_the_nearest_distribution(line):
    projected = line.project()
    assert isinstance(projected, CubeHistogram)
    assert (projected.value >= 0).all()
    assert projected.value.sum() == pytest.approx(1)
    assert (projected.risk, projected.n, projected.guarantee) == (line.risk, line.n, line.guarantee)
    rough = histogram_density(np.full((20, 2), 0.1), epsilon=0.1, bins=4, rng=3)
    assert rough.value.min() < 0
    nearest = rough.project().value
    assert nearest.shape == (4, 4)
    found = optimize.minimize(
        lambda v: np.sum((v - rough.value.ravel()) ** 2),
        np.full(16, 1 / 16),
        jac=lambda v: 2 * (v - rough.value.ravel()),
        bounds=[(0, 1)] * 16,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(nearest.ravel(), found.x, atol=1e-5)


def test_plots(line, plane):
    figure = pytest.importorskip("matplotlib.figure")
    assert line.plot().get_ylabel() == "density (per unit of the records)"
    axes = plane.plot()
    np.testing.assert_array_equal(axes.images[0].get_array(), 9 * plane.value.T)  # the first axis is drawn to the right
    axes.figure.canvas.draw()
    mine = figure.Figure().add_subplot()
    assert line.project().plot(mine) is mine
    with pytest.raises(ValueError, match="plot requires a histogram of at most 2 dimensions, got 3"):
        histogram_density(np.zeros((5, 3)), epsilon=1.0, bins=2, rng=1).plot()


def test_plot_rejects_three_dimensions_without_matplotlib():
    with pytest.raises(ValueError, match="plot requires a histogram of at most 2 dimensions, got 3"):
        histogram_density(np.zeros((5, 3)), epsilon=1.0, bins=2, rng=1).plot()


def test_attributes_of_the_result(line):
    assert line.bins == 4
    assert "epsilon = 1" in repr(line)
    assert line.to_dict()["n"] == 5000
    low, high = line.interval(0.99, simultaneous=True)
    assert (low < line.value).all()
    assert (low[np.arange(4)] <= 0.25).all()
    assert (high >= 0.25).all()


# Input ----------------------------------------------------------------------------------------------------------------


def test_records_that_are_not_finite_are_centered_or_rejected():
    x = np.random.default_rng(8).random((400, 2))
    good = x.copy()
    x[5, 1], x[300, 0] = np.nan, np.inf
    good[5, 1], good[300, 0] = 0.5, 0.5
    options = {"epsilon": 1.0, "bins": 3, "rng": 8}
    assert histogram_density(x, nan="center", **options) == histogram_density(good, **options)
    with pytest.raises(
        ValueError, match=r"x must be finite numbers \(or nan='center'\); index 5 is outside \(2 of 400 are\)$"
    ):
        histogram_density(x, **options)


GOOD = {"x": [0.1, 0.2], "epsilon": 1.0}
BAD = [
    ({"epsilon": 0}, ValueError, "epsilon must be a finite number > 0"),
    ({"epsilon": 1e-30}, ValueError, "epsilon must be within what exact coins can certify"),
    ({"epsilon": 500.0}, ValueError, "epsilon must be within what exact coins can certify"),
    ({"lipschitz": 0}, ValueError, "lipschitz must be a finite number > 0"),
    ({"bins": 0}, ValueError, "bins must be an integer >= 1, got 0"),
    ({"bins": 2.5}, TypeError, "bins must be an integer, got float"),
    ({"bins": (1 << 26) + 1}, ValueError, r"bins must be at most 2\^26 in total, got 67108865 for each of 1 axes"),
    ({"bins": 2, "x": np.zeros((3, 27))}, ValueError, r"bins must be at most 2\^26 in total"),
    ({"nan": "drop"}, ValueError, "nan must be one of"),
    ({"x": []}, ValueError, "x must hold at least 1 record, got none"),
    ({"x": np.zeros((0, 2))}, ValueError, "x must hold at least 1 record, got none"),
    ({"x": 0.5}, ValueError, r"x must have shape \(n,\), got shape \(\)"),
    ({"x": np.zeros((2, 2, 2))}, ValueError, "x must have shape"),
    ({"x": ["a"]}, TypeError, "x must be real numbers"),
    ({"x": [math.nan]}, ValueError, r"index 0 is outside \(1 of 1 are\)"),
    ({"rng": []}, TypeError, "rng must be None, an int"),
]


@each("change, error, message", BAD, ids=[str(next(iter(c.items())))[:40] for c, *_ in BAD])
def test_bad_input_is_rejected_before_anything_is_drawn(change, error, message):
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(error, match=message):
        histogram_density(**{"rng": rng, **GOOD, **change})
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("change", [{"x": np.zeros((3, 70))}, {"lipschitz": 1e300}], ids=["70 axes", "steep"])
def test_extreme_arguments_give_a_value_or_an_error(change):
    try:
        histogram_density(**{**GOOD, **change}, rng=1)
    except ValueError as error:
        assert str(error).startswith(("x must", "lipschitz must"))  # noqa: PT017


def test_bad_arguments_of_best_bins():
    for arguments, message in (
        ((0, 1.0), r"n must be an integer in \[1, 9007199254740992\]"),
        ((5, -1.0), "epsilon must be a finite number > 0"),
        ((5, 1.0, 0), "dim must be an integer >= 1"),
        ((5, 1.0, 1, 0.0), "lipschitz must be a finite number > 0"),
    ):
        with pytest.raises(ValueError, match=message):
            inside.best_bins(*arguments)


# The reference --------------------------------------------------------------------------------------------------------


def test_probabilities_of_the_reference_add_up():
    """The probabilities are exact fractions."""
    coins = coin_integers.geometric(1.0, 2, 1, 2)
    pmf = reference.geometric_distribution(coins.groups, coins.carry, 128, 2)
    rest = Fraction(coins.carry, 1 << 128) ** 2
    assert sum(pmf) == 1 - rest
    assert all(a > b for a, b in itertools.pairwise(pmf))
