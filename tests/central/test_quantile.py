"""Private quantiles by the exponential mechanism: exact distribution, and its loss in integers."""

from __future__ import annotations

import functools
import itertools
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.central import median, quantile

from ..support import reference
from ..support.cases import each
from ..support.internals.central import SIZE, PublicGrid
from ..support.internals.kernels import order
from ..support.internals.shared import open_stream
from ..support.memory import peak_memory
from ..support.modules import module_of
from ..support.statistics import ALPHA

inside = module_of(quantile)

EPSILONS = [1e-4, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0]


@functools.cache
def exp_below(epsilon: float, divisor: int = 1) -> Fraction:
    """Return exp(epsilon / divisor), rounded down by a relative 1e-90."""
    with localcontext(prec=100):
        return Fraction((Decimal(epsilon) / divisor).exp()) * (1 - Fraction(1, 10**90))


# Privacy by the exact distribution ------------------------------------------------------------------------------------


def floored_weights(epsilon: float, n: int, top: int = 1 << 62) -> list[int]:
    """Return a wrong table, where each weight is rounded down."""
    ratio, table = inside._ratio(epsilon), [top]
    for _ in range(2 * n + 1):
        table.append(table[-1] * ratio >> 64)
    return table


def rounded_up_weights(epsilon: float, n: int, top: int = 1 << 62) -> list[int]:
    ratio, table = inside._ratio(epsilon), [top]
    for _ in range(2 * n + 1):
        table.append(-(-table[-1] * ratio >> 64))
    return table


@each("epsilon", [1e-18, 1e-9, *EPSILONS, 200.0, 1e4])
def test_a_half_rank_costs_a_quarter_of_epsilon(epsilon):
    """Each weight is at most exp(epsilon / 4) times the next, exactly. The ratio is the smallest sufficient integer."""
    ratio = inside._ratio(epsilon)
    with localcontext(prec=120):
        exact = (-Decimal(epsilon) / 4).exp() * (1 << 64)
        assert ratio - 1 < exact <= ratio
    table = [int(w) for w in inside.weights(epsilon, 3000)]
    assert all(0 < b < a for a, b in itertools.pairwise(table))
    assert all(Fraction(a, b) <= exp_below(epsilon, 4) for a, b in itertools.pairwise(table))
    assert table == rounded_up_weights(epsilon, 3000)[: len(table)]
    last = table[-1]
    assert len(table) == 6002 or -(-last * ratio >> 64) >= last  # constant from there on


@pytest.mark.parametrize("n", [65_535, 65_536, 70_000])
def test_weights_of_many_records_are_as_many_as_decrease(n):
    """They exceed the room of the first table, with an epsilon so small that all distances have weights, and a larger one."""
    for epsilon in (1e-4, 2e-3):
        room = np.empty(2 * n + 2, np.uint64)
        used = order.weights(inside._ratio(epsilon), room)
        assert (used == 2 * n + 2) == (epsilon == 1e-4)
        assert used > 1 << 16
        np.testing.assert_array_equal(inside.weights(epsilon, n), room[:used])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_weights_rounded_down_exceed_the_budget_of_a_half_rank(epsilon):
    wrong = floored_weights(epsilon, 3000)
    assert any(b == 0 or Fraction(a, b) > exp_below(epsilon, 4) for a, b in itertools.pairwise(wrong) if a)


@pytest.mark.parametrize("epsilon", [1e19, 1e300])
def test_no_weight_is_zero(epsilon):
    assert inside.weights(epsilon, 3).min() > 0


def datasets(n: int, size: int):
    return list(itertools.combinations_with_replacement(range(size), n))


def neighbors_of(x: tuple[int, ...], size: int):
    """Return all datasets with one record replaced."""
    for i in range(len(x)):
        for value in range(size):
            yield tuple(sorted((*x[:i], value, *x[i + 1 :])))


def worst_loss(n: int, size: int, target: int, table) -> Fraction:
    """Return the largest ratio of probabilities, over all outcomes and all pairs of neighboring datasets."""
    weights = {x: reference.rank_weights(x, size, target, table) for x in datasets(n, size)}
    total = {x: sum(w) for x, w in weights.items()}
    worst = Fraction(1)
    for x in weights:
        for y in set(neighbors_of(x, size)):
            top = max(Fraction(a, b) for a, b in zip(weights[x], weights[y], strict=True))
            worst = max(worst, top * Fraction(total[y], total[x]))
    return worst


@each("epsilon", [1e-4, 0.5, 3.0, 50.0])
@each("n, size", [(1, 6), (2, 6), (3, 5), (4, 4), (5, 3)])
def test_the_loss_is_at_most_epsilon_on_all_neighboring_datasets(n, size, epsilon):
    """The table in use, for all targets, in integers only."""
    table = [int(w) for w in inside.weights(epsilon, n)]
    for target in range(2 * n + 1):
        assert worst_loss(n, size, target, table) <= exp_below(epsilon)


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("epsilon", [0.7, 2.0])
def test_weights_rounded_down_exceed_epsilon(epsilon, wrong):
    """Six records on a grid of 10^40 points, with a short table of small weights.

    Intervals between records have one weight, as in the kernel. The loss is close to epsilon, and exceeds it with weights
    rounded down.
    """
    n, size, target = 6, 10**40, 9
    table = (floored_weights if wrong else rounded_up_weights)(epsilon, n, 40)
    if wrong:
        table = [max(1, w) for w in table]

    def weights_and_sizes(x):  # for single points and for the intervals between them
        places = sorted({0, size - 1, *x, *(v + 1 for v in x if v + 1 < size)})
        ends = [*places[1:], size]
        found = {}
        for g, end in zip(places, ends, strict=True):
            below, up_to = sum(v < g for v in x), sum(v <= g for v in x)
            found[g] = table[max(0, 2 * below - target, target - 2 * up_to)], end - g
        return found

    worst = Fraction(1)
    spots = (0, 5, size - 1)
    for x in itertools.combinations_with_replacement(spots, n):
        for y in {tuple(sorted((*x[:i], v, *x[i + 1 :]))) for i in range(n) for v in spots}:
            a, b = weights_and_sizes(x), weights_and_sizes(y)
            ta, tb = (sum(w * c for w, c in part.values()) for part in (a, b))
            for g in (0, 1, 4, 5, 6, size - 2, size - 1):
                wa, wb = (part[max(p for p in part if p <= g)][0] for part in (a, b))
                worst = max(worst, Fraction(wa, wb) * Fraction(tb, ta))
    assert (worst > exp_below(epsilon)) == wrong
    assert worst > exp_below(epsilon * 0.8)


@pytest.mark.claim("The released quantile loses at most epsilon.", "Trusted curator")
@each("seed", range(15))
def test_the_loss_is_at_most_epsilon_with_totals_of_the_kernel(seed):
    """Probabilities of points near records and between them, on the grid of 2^32 points, for neighboring datasets."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(1, 40)), float(rng.choice([0.3, 2.0, 20.0]))
    table = inside.weights(epsilon, n)
    spots = rng.choice([0, 1, 7, 2**31, 2**32 - 2, 2**32 - 1], n)
    x = np.where(rng.random(n) < 0.5, spots, rng.integers(0, SIZE, n)).astype(np.uint64)
    for target in sorted({0, n // 2, n, 2 * n - 1, 2 * n}):
        for _ in range(6):
            y = x.copy()
            y[rng.integers(n)] = rng.choice([0, 2**32 - 1, int(rng.integers(0, SIZE))])
            a, b = np.sort(x), np.sort(y)
            ta, tb = order.masses(a, 0, SIZE, target, table), order.masses(b, 0, SIZE, target, table)
            for g in {0, SIZE - 1, *a.tolist(), *b.tolist(), *(int(v) + 1 for v in x if v + 1 < SIZE)}:
                wa, wb = (weight_of(z, g, target, table) for z in (a, b))
                loss = Fraction(wa, wb) * Fraction(tb, ta)
                assert max(loss, 1 / loss) <= exp_below(epsilon)


def weight_of(z, g, target, table):
    below, up_to = int(np.searchsorted(z, g)), int(np.searchsorted(z, g, "right"))
    distance = max(0, 2 * below - target, target - 2 * up_to)
    return int(table[min(distance, len(table) - 1)])


# The grid -------------------------------------------------------------------------------------------------------------


@each("prior", ["uniform", "cauchy"])
@each("lower, upper", [(0.0, 1.0), (-3.0, 5.0), (1e6, 1e6 + 1), (-1e-9, 1e-9), (-1e100, 1e100)])
def test_every_grid_point_has_its_own_index(lower, upper, prior):
    grid = PublicGrid(lower, upper, prior)
    indices = [0, 1, 2, 12345, SIZE // 2 - 1, SIZE // 2, SIZE - 3, SIZE - 2, SIZE - 1]
    values = np.array([grid.value(i) for i in indices])
    assert (np.diff(values) >= 0).all()
    found = grid.indices(values, "raise").astype(int)
    # With quartiles far from zero, the tangent loses the last digits of an angle.
    slack = 2 if lower == 1e6 or prior == "cauchy" else 0
    assert np.abs(found - indices).max() <= slack
    if prior == "uniform":
        assert (values[0], values[-1]) == (lower, upper)
        assert grid.indices(np.array([lower - 1, upper + 1]), "raise").tolist() == [0, SIZE - 1]
    else:
        assert values[0] < lower < upper < values[-1]
        quarter = (lower + (upper - lower) / 2 - (upper - lower) / 2, upper)
        assert np.abs(grid.indices(np.array(quarter), "raise") / SIZE - [0.25, 0.75]).max() < 1e-9


def test_the_end_points_of_the_grid_are_the_bounds():
    for lower, upper in ((-0.62, 0.04), (0.0, 1.0), (-0.1, 0.7)):
        grid = PublicGrid(lower, upper, "uniform")
        assert (grid.value(0), grid.value(SIZE - 1)) == (lower, upper)


def test_indices_are_the_nearest_points():
    grid, rng = PublicGrid(-2.0, 3.0, "uniform"), np.random.default_rng(1)
    x = rng.uniform(-2.5, 3.5, 300_000)
    expected = np.rint(np.clip((x + 2) * ((SIZE - 1) / 5), 0, SIZE - 1))
    assert (grid.indices(x, "raise") == expected).all()
    narrow = x[:1000].astype(np.float32)
    assert (grid.indices(narrow, "raise") == grid.indices(narrow.astype(float), "raise")).all()
    whole = np.arange(-4, 5)
    assert (grid.indices(whole, "raise") == grid.indices(whole.astype(float), "raise")).all()


@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
def test_huge_records_are_clipped_without_a_warning(prior):
    grid = PublicGrid(0.0, 1e-3, prior)
    assert grid.indices(np.array([1.7e308, -1.7e308]), "raise").tolist() == [SIZE - 1, 0]


# The distribution of the public function ------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
@pytest.mark.parametrize(
    "q, x", [(0.5, [0.1, 0.4, 0.4, 0.9]), (0.25, [0.2, 0.7]), (0.9, [0.5]), (0.5, [0.0, 1.0, 1.0])]
)
def test_values_follow_the_distribution(q, x, prior):
    """Chi-square over the points and the intervals between records, from 4000 seeds.

    Single points have probabilities of 2^-32. Detects 15 % of a probability of 1/5.
    """
    epsilon, n, reps = 2.0, len(x), 4000
    grid, table = PublicGrid(0.0, 1.0, prior), inside.weights(2.0, n)
    z, target = np.sort(grid.indices(np.array(x), "raise")).astype(int), round(2 * n * q)
    cuts = sorted({0, *z.tolist(), *(v + 1 for v in z.tolist() if v + 1 < SIZE)})
    probabilities = np.array(
        [weight_of(z, g, target, table) * (end - g) for g, end in zip(cuts, [*cuts[1:], SIZE], strict=True)], float
    )
    probabilities /= probabilities.sum()
    values = np.array(
        [quantile(x, q, epsilon=epsilon, lower=0, upper=1, prior=prior, rng=i).value for i in range(reps)]
    )
    found = grid.indices(values, "raise").astype(int)
    seen = np.bincount(np.searchsorted(cuts, found, "right") - 1, minlength=len(cuts))
    common = probabilities * reps >= 5
    assert seen[~common].sum() <= 2
    statistic = np.sum((seen - reps * probabilities)[common] ** 2 / (reps * probabilities)[common])
    assert stats.chi2.sf(statistic, max(1, common.sum() - 1)) > ALPHA


def test_values_are_uniform_within_an_interval():
    """With one record at the lower end and q near 1, all 32 bits of the value above it are uniform."""
    values = [quantile([0.0], 0.9, epsilon=1.0, lower=0, upper=1, rng=i).value for i in range(3000)]
    assert stats.kstest(values, "uniform").pvalue > ALPHA
    low = np.rint(np.array(values) * (SIZE - 1)).astype(int) & 31
    assert stats.chisquare(np.bincount(low, minlength=32)).pvalue > ALPHA


def test_values_follow_the_cauchy_prior_for_tiny_epsilon():
    """All weights are nearly equal, so the value has the distribution of the prior, half of it outside the quartiles."""
    values = np.array(
        [median([0.0, 1.0], epsilon=1e-9, lower=-1, upper=3, prior="cauchy", rng=i).value for i in range(3000)]
    )
    assert stats.kstest(values, stats.cauchy(1, 2).cdf).pvalue > ALPHA
    assert 0.4 < np.mean((values < -1) | (values > 3)) < 0.6


DATA = {
    "continuous": np.random.default_rng(0).normal(0.5, 0.1, 999),
    "duplicates": np.random.default_rng(1).integers(0, 5, 1000) / 4,
    "constant": np.full(500, 0.25),
    "bounds": np.repeat([0.0, 1.0], [300, 200]),
    "outside": np.random.default_rng(2).normal(0.5, 2.0, 777),
    "one": np.array([0.3]),
    "two": np.array([0.7, 0.2]),
    "three": np.array([0.7, 0.2, 0.2]),
}


@each("prior", ["uniform", "cauchy"])
@each("q", [0.01, 0.5, 0.9])
@each("name", DATA)
def test_rank_error_covers_the_rank(name, q, prior):
    """The number of misses in 60 runs at 80 % is compared with a binomial distribution. Detects 55 % misses.

    Ranks are those of the records on the grid.
    """
    grid, x, misses, reps = PublicGrid(0.0, 1.0, prior), DATA[name], 0, 60
    z = np.sort(grid.indices(x, "raise"))
    for seed in range(reps):
        estimate = quantile(x, q, epsilon=1.0, lower=0, upper=1, prior=prior, rng=seed)
        error, at = estimate.rank_error(0.8), grid.indices(np.array([estimate.value]), "raise")[0]
        below, up_to = np.searchsorted(z, at) / len(z), np.searchsorted(z, at, "right") / len(z)
        misses += not below - error <= q + 1e-12 and q - 1e-12 <= up_to + error
    assert stats.binom.sf(misses - 1, reps, 0.2) > ALPHA


@pytest.mark.claim("The stated error of a rank holds for all data.", "Trusted curator")
@each("epsilon", EPSILONS)
def test_rank_error_covers_the_worst_data(epsilon):
    """In the worst data all records are far away on one side, and every other point has the distance h."""
    n = 2000
    estimate = median(np.linspace(0, 1, n), epsilon=epsilon, lower=0, upper=1, rng=1)
    table = [int(w) for w in estimate.table]
    for confidence in (0.5, 0.95, 0.999999):
        error = estimate.rank_error(confidence)
        if error == 1.0:
            continue
        h = round(2 * error * n)  # half ranks, including a quarter of a rank for the rounding of the target
        beyond = table[min(h, len(table) - 1)] * SIZE
        assert beyond <= (1 - confidence) * table[0] * (1 + 1e-9)
    assert estimate.rank_error(0.999) >= estimate.rank_error(0.9)


@each("epsilon", EPSILONS)
@each("n", [1, 2, 3, 40])
def test_tables_longer_and_shorter_than_the_data(epsilon, n):
    x = np.random.default_rng(n).random(n)
    for q in (1e-9, 0.3, 0.5, 1 - 1e-9):
        estimate = quantile(x, q, epsilon=epsilon, lower=0, upper=1, rng=5)
        assert 0 <= estimate.value <= 1
        assert len(estimate.table) <= 2 * n + 2
        assert 0 < estimate.rank_error() <= 1


def test_large_epsilon_gives_nearly_the_exact_quantile():
    x = np.random.default_rng(4).random(2001)
    assert median(x, epsilon=50.0, lower=0, upper=1, rng=1).value == pytest.approx(np.median(x), abs=2e-3)
    assert quantile(x, 0.1, epsilon=50.0, lower=0, upper=1, rng=1).value == pytest.approx(np.quantile(x, 0.1), abs=2e-3)
    assert median(np.full(99, 7.0), epsilon=5.0, lower=0, upper=10, rng=1).value == pytest.approx(7, abs=1e-8)


def test_the_table_grows_up_to_the_size_of_the_data():
    """The table grows beyond its first 2^16 entries."""
    n = 50_000
    assert len(inside.weights(1e-6, n)) == 2 * n + 2
    assert len(inside.weights(1e-3, 10**6)) < 2 * 10**6
    x = np.random.default_rng(5).random(n)
    assert 0 <= median(x, epsilon=1e-6, lower=0, upper=1, rng=1).value <= 1


# The result -----------------------------------------------------------------------------------------------------------


def test_order_layout_and_dtype_do_not_matter(tmp_path):
    x = np.random.default_rng(6).random(200_001).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    options = {"epsilon": 1.0, "lower": 0, "upper": 1, "rng": 8}
    expected = median(x, **options)
    for form in (
        np.sort(x),
        x[::-1],
        x.astype(np.float64),
        x.astype(">f4"),
        np.repeat(x, 2)[::2],
        np.load(tmp_path / "x.npy", mmap_mode="r"),
    ):
        assert median(form, **options) == expected
    assert median(x[:99].tolist(), **options) == median(x[:99], **options)
    assert quantile(x, 0.5, **options) == expected
    whole = np.arange(10, dtype=np.int8)
    assert median(whole, **{**options, "upper": 9}) == median(whole.astype(float), **{**options, "upper": 9})


def test_attributes_of_the_result():
    estimate = quantile([0.1, 0.2], 0.25, epsilon=2, lower=0, upper=1, rng=1)
    assert estimate.guarantee == ldp.privacy.Guarantee("pure", 2.0)
    assert (estimate.q, estimate.n, estimate.stderr) == (0.25, 2, math.inf)
    assert estimate.interval() == (-math.inf, math.inf)
    assert "epsilon = 2" in repr(estimate)
    assert estimate.to_dict()["q"] == 0.25
    with pytest.raises(ValueError, match=r"confidence must be in \(0, 1\)"):
        estimate.rank_error(1.0)
    smooth = median(np.linspace(0, 1, 999), epsilon=1, delta=1e-6, lower=0, upper=1, method="smooth-sensitivity", rng=1)
    assert smooth.guarantee == ldp.privacy.Guarantee("approximate", 1.0, 1e-6)
    assert smooth.rank_error() == 1.0


# Several quantiles ----------------------------------------------------------------------------------------------------


@each("options", [{}, {"method": "smooth-sensitivity", "delta": 1e-6}], ids=["exponential", "smooth-sensitivity"])
@each("m", [1, 3, 7])
def test_several_quantiles_share_epsilon_and_delta(m, options):
    """Each is drawn with its part; the parts add up to at most the whole, and to at least all of it but rounding."""
    x, q = np.linspace(0, 1, 5000), np.arange(1, m + 1) / (m + 1)
    several = quantile(x, q, epsilon=0.7, lower=0, upper=1, rng=1, **options)
    assert several.to_dict()["q"] == q.tolist()
    assert several.value.shape == several.stderr.shape == q.shape
    assert 0.7 * (1 - 1e-15) <= several.guarantee.epsilon <= 0.7
    delta = options.get("delta", 0.0)
    assert delta * (1 - 1e-15) <= several.guarantee.delta <= delta
    assert sum([Fraction(inside._part(0.7, m))] * m) <= Fraction(0.7)
    part = quantile(x, q[0], epsilon=inside._part(0.7, m), lower=0, upper=1, rng=1, **{**options, **_parts(options, m)})
    assert part.value in several.value
    if not options:
        np.testing.assert_array_equal(several.table, inside.weights(inside._part(0.7, m), 5000))


def _parts(options, m):
    return {"delta": inside._part(options["delta"], m)} if options else {}


def test_several_quantiles_ascend_with_their_probabilities():
    """With a small epsilon they are drawn in any order. Their ranks decide, in the order in which they are asked for."""
    x, q = np.random.default_rng(1).random(30), [0.75, 0.25, 0.5]
    unsorted = 0
    for seed in range(50):
        found = quantile(x, q, epsilon=0.1, lower=0, upper=1, rng=seed)
        assert found.value[1] <= found.value[2] <= found.value[0]
        drawn = ldp._random.open_stream(seed)
        table, points = inside.weights(inside._part(0.1, 3), 30), PublicGrid(0.0, 1.0, "uniform").indices(x, "raise")
        raw = [inside.choose(points, round(60 * p), table, drawn) / (SIZE - 1) for p in sorted(q)]
        assert np.allclose(np.sort(raw), np.sort(found.value))
        unsorted += raw != sorted(raw)
    assert unsorted > 10


def test_noise_of_several_quantiles_is_independent():
    """Also with a seed: 50 pairs of equal quantiles with smooth sensitivity differ."""
    x = np.linspace(0, 1, 400)
    options = {"method": "smooth-sensitivity", "delta": 1e-6, "epsilon": 4.0, "lower": 0, "upper": 1}
    pairs = np.array([quantile(x, [0.5, 0.5 + 1e-9], rng=seed, **options).value for seed in range(50)])
    assert (np.diff(pairs) > 0).all()


def test_rank_errors_hold_for_all_quantiles_at_once():
    """200 releases of nine deciles: the stated bound holds for all of them in at least 95 % of releases."""
    n, q = 2000, np.arange(1, 10) / 10
    x = np.sort(np.random.default_rng(1).random(n))
    held, error = 0, quantile(x, q, epsilon=1.0, lower=0, upper=1, rng=1).rank_error()
    single = quantile(x, 0.5, epsilon=1.0 / 9, lower=0, upper=1, rng=1).rank_error()
    assert single < error < 1.2 * single
    for seed in range(200):
        value = quantile(x, q, epsilon=1.0, lower=0, upper=1, rng=seed).value
        below, up_to = (np.searchsorted(x, value, side) / n for side in ("left", "right"))
        held += bool(((below - error <= q) & (q <= up_to + error)).all())
    assert held >= 185


def test_lists_without_or_with_other_shapes_are_refused():
    for bad, shape in (([], "(0,)"), ([[0.5]], "(1, 1)")):
        message = f"q must be a number or have shape (m,) with m >= 1, got shape {shape}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            quantile([0.5], bad, epsilon=1.0, lower=0, upper=1)


# Input ----------------------------------------------------------------------------------------------------------------


def test_records_that_are_not_finite_are_centered_or_rejected():
    x = np.linspace(0, 1, 1000)
    x[[3, 500]] = np.nan, -np.inf
    options = {"epsilon": 1.0, "lower": 0, "upper": 1, "rng": 8}
    good = x.copy()
    good[[3, 500]] = 0.5
    assert median(x, nan="center", **options) == median(good, **options)
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match="x must be finite") as caught:
        median(x, **{**options, "rng": rng})
    assert str(caught.value) == "x must be finite numbers (or nan='center'); index 3 is outside (2 of 1000 are)"
    assert rng.bit_generator.state == before


GOOD = {"x": [0.1, 0.2], "q": 0.5, "epsilon": 1.0, "lower": 0, "upper": 1}
BAD = [
    ({"q": 0}, ValueError, r"q must be in \(0, 1\), got 0"),
    ({"q": 1.0}, ValueError, r"q must be in \(0, 1\), got 1.0"),
    ({"q": "median"}, TypeError, "q must be real numbers"),
    ({"epsilon": 0}, ValueError, "epsilon must be a finite number > 0"),
    ({"epsilon": 1e-30}, ValueError, "epsilon must be larger for weights of 64 bits, got 1e-30"),
    ({"lower": 1}, ValueError, "lower and upper must be finite with lower < upper"),
    ({"upper": math.inf}, ValueError, "upper must be a finite number"),
    ({"lower": -1e200}, ValueError, "lower and upper must be within 1e100"),
    ({"method": "laplace"}, ValueError, "method must be one of 'exponential', 'smooth-sensitivity'"),
    ({"prior": "normal"}, ValueError, "prior must be one of 'uniform', 'cauchy'"),
    ({"nan": "drop"}, ValueError, "nan must be one of"),
    ({"delta": 0.1}, ValueError, "delta must be 0 for method='exponential', got 0.1"),
    ({"method": "smooth-sensitivity"}, ValueError, r"delta must be in \(0, 1\), got 0.0"),
    ({"method": "smooth-sensitivity", "delta": 1}, ValueError, r"delta must be in \(0, 1\), got 1"),
    ({"method": "smooth-sensitivity", "delta": 0.1, "prior": "cauchy"}, ValueError, 'prior must be "uniform"'),
    ({"x": []}, ValueError, "x must hold at least 1 record, got none"),
    ({"x": [[0.1]]}, ValueError, r"x must have shape \(n,\), got shape \(1, 1\)"),
    ({"x": 0.5}, ValueError, r"x must have shape \(n,\), got shape \(\)"),
    ({"x": ["a"]}, TypeError, "x must be real numbers"),
    ({"x": [math.nan]}, ValueError, r"x must be finite numbers \(or nan='center'\); index 0 is outside \(1 of 1 are\)"),
    ({"rng": 1.5}, TypeError, "rng must be None, an int"),
]


@each("change, error, message", BAD, ids=[str(next(iter(c.items())))[:40] for c, *_ in BAD])
def test_bad_input_is_rejected_before_anything_is_drawn(change, error, message):
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(error, match=message):
        quantile(**{"rng": rng, **GOOD, **change})
    assert rng.bit_generator.state == before


def test_records_that_are_rejected_draw_nothing():
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match="index 0 is outside"):
        quantile(**{**GOOD, "x": [math.nan], "method": "smooth-sensitivity", "delta": 0.1}, rng=rng)
    assert rng.bit_generator.state == before


def test_an_epsilon_that_the_calibration_rejects_draws_nothing():
    """The calibration of the smooth sensitivity raises for this epsilon after the checks of single arguments."""
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match=r"^epsilon must be "):
        quantile([1.0, 2.0], 0.5, epsilon=1e4, delta=1e-6, lower=0, upper=3, method="smooth-sensitivity", rng=rng)
    assert rng.bit_generator.state == before


def test_a_memory_map_takes_8_bytes_per_record(tmp_path):
    n = 1_000_000
    np.save(tmp_path / "records.npy", np.random.default_rng(1).uniform(0, 1, n))
    records = np.load(tmp_path / "records.npy", mmap_mode="r")
    assert peak_memory(lambda: median(records, epsilon=1.0, lower=0, upper=1, rng=1)) < 8.5 * n


def test_points_that_are_left_out_have_the_last_weight(monkeypatch):
    """The sum of all weights is the same for the points near the target as for all points."""
    windows = []

    def chosen(stream, block, near, low, size, twice_target, table):
        windows.append(order.masses(near, low, size, twice_target, table))
        return 0

    monkeypatch.setattr(inside, "order", SimpleNamespace(choose=chosen, masses=order.masses, weights=order.weights))
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 12):
        points = rng.integers(0, 1 << 31, n).astype(np.uint32)
        for away in (1, 2, 3, 4, 7, 30):
            table = np.array([1 << 40 - h for h in range(away)], np.uint64)
            for twice_target in range(2 * n + 1):
                inside.choose(points, twice_target, table, open_stream(1))
                whole = order.masses(np.sort(points).astype(np.uint64), 0, SIZE, twice_target, table)
                assert windows[-1] == whole, (n, away, twice_target)
