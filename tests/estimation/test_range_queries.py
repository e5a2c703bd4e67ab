"""Range queries: estimates, intervals and their coverage, and the comparison with a flat histogram."""

from __future__ import annotations

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import Frequencies, RangeQueries
from ldpfast.mechanisms import TreeResponse

from ..support.examples import assert_same, assert_same_estimate
from ..support.internals.estimation import Haar, Hierarchy, Weights
from ..support.statistics import ALPHA, assert_coverage

PROBLEMS = [RangeQueries(50, 1.0), RangeQueries(50, 1.0, method="haar"), RangeQueries(65, 2.0, branching=8)]


def automatic_branching(k, epsilon):
    return RangeQueries(k, epsilon).mechanism.branching


def population(k):
    """A skewed distribution with two modes."""
    x = np.arange(k) / k
    shares = np.exp(-20 * x) + 0.3 * np.exp(-200 * (x - 0.6) ** 2) + 0.02
    return shares / shares.sum()


def records(k, n, seed):
    return np.random.default_rng(seed).choice(k, n, p=population(k))


@pytest.fixture(params=PROBLEMS, ids=repr)
def problem(request):
    return request.param


@pytest.fixture
def estimate(problem):
    return problem.run(records(problem.k, 20_000, 1), rng=1)


# Values ---------------------------------------------------------------------------------------------------------------


def test_without_noise_the_estimates_are_those_of_the_records():
    """At epsilon = 36, a report differs from the symbol of the record with a probability below 1e-13."""
    x = np.random.default_rng(1).permutation(np.repeat(np.arange(8), 1000))
    estimate = RangeQueries(8, 36.0, branching=8).run(x, rng=1)
    np.testing.assert_allclose(estimate.value, 1 / 8, atol=1e-12)
    np.testing.assert_allclose(estimate.cdf().value, np.arange(1, 9) / 8, atol=1e-12)
    assert estimate.quantile([0.1, 0.3, 0.6, 0.99]).value.tolist() == [0, 2, 4, 7]
    np.testing.assert_allclose(estimate.stderr, np.sqrt(7 / 64 / 8000), rtol=1e-6)


def test_ranges_functions_and_bins_agree(problem, estimate):
    k = problem.k
    assert estimate.value.sum() == pytest.approx(1, abs=1e-12)
    low, high = np.triu_indices(k + 1, 1)
    ranges = estimate.range(low, high)
    prefix = np.concatenate([[0], np.cumsum(estimate.value)])
    np.testing.assert_allclose(ranges.value, prefix[high] - prefix[low], atol=1e-12)
    bins = estimate.range(np.arange(k), np.arange(1, k + 1))
    np.testing.assert_allclose(bins.stderr, estimate.stderr, rtol=1e-9)
    cdf = estimate.cdf()
    np.testing.assert_allclose(cdf.value, prefix[1:], atol=1e-12)
    np.testing.assert_allclose(estimate.range(0, np.arange(1, k + 1)).stderr, cdf.stderr, rtol=1e-9, atol=1e-9)
    assert (cdf.value[-1], cdf.stderr[-1]) == (1.0, pytest.approx(0.0, abs=1e-9))
    points = np.array([[3, 0], [k - 1, 7]])
    assert_same(estimate.cdf(points).value, cdf.value[points])
    np.testing.assert_allclose(estimate.cdf(points).stderr, cdf.stderr[points], rtol=1e-9, atol=1e-9)


def test_covariance_gives_the_standard_errors_of_ranges(problem, estimate):
    covariance = estimate.covariance
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), estimate.stderr, rtol=1e-6)
    for low, high in ((0, 7), (3, 31), (20, problem.k)):
        part = covariance[low:high, low:high].sum()
        assert np.sqrt(part) == pytest.approx(estimate.range(low, high).stderr, rel=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-6 * covariance.max()
    few = RangeQueries(300, 1.0).run(records(300, 2000, 1), rng=1)
    assert few.covariance is None


def test_shapes_and_types(problem, estimate):
    one, many = estimate.range(2, 9), estimate.range([[1], [2]], [5, 6, 9])
    assert isinstance(one.value, float)
    assert isinstance(one.stderr, float)
    assert (many.value.shape, many.stderr.shape) == ((2, 3), (2, 3))
    assert many.value[1, 2] == pytest.approx(one.value)
    assert estimate.range([], []).value.shape == (0,)
    assert isinstance(estimate.cdf(3).value, float)
    assert isinstance(estimate.quantile().value, float)
    assert estimate.quantile([[0.2, 0.4]]).value.shape == (1, 2)
    for found in (one, many, estimate.cdf(), estimate.quantile([0.1, 0.9])):
        assert (found.n, found.guarantee) == (estimate.n, problem.mechanism.guarantee)
    assert estimate.range(0, 0).value == 0
    assert pickle.loads(pickle.dumps(estimate)).range(2, 9) == one


def test_quantile_is_where_the_distribution_function_reaches_the_probability(problem, estimate):
    cdf, q = estimate.cdf(), np.array([0.01, 0.25, 0.5, 0.9, 0.999])
    found = estimate.quantile(q)
    for value, level in zip(found.value, q, strict=True):
        below = np.flatnonzero(cdf.value < level)
        last = below[-1] + 1 if len(below) else 0
        assert value == (np.flatnonzero(cdf.value >= level)[0] + last) // 2
    band_low, band_high = cdf.interval(0.9)
    low, high = found.interval(0.9)
    for i, level in enumerate(q):
        assert low[i] == np.flatnonzero(band_high >= level)[0]
        below = np.flatnonzero(band_low < level)
        assert high[i] == min(problem.k - 1, below[-1] + 1 if len(below) else 0)
    assert (low <= found.value).all()
    assert (found.value <= high).all()
    wide = found.interval(0.9, simultaneous=True)
    narrow = found.interval(1 - 0.1 / 5)
    np.testing.assert_array_equal(wide[0], narrow[0])
    np.testing.assert_array_equal(wide[1], narrow[1])


def test_simultaneous_limits_are_those_of_bonferroni(estimate):
    cdf = estimate.cdf()
    low, high = cdf.interval(0.9, simultaneous=True)
    np.testing.assert_array_equal([low, high], cdf.rule.bounds(cdf.value, cdf.stderr, 0.05 / len(cdf.value)))
    normal = 2 * stats.norm.isf(0.05 / len(cdf.value)) * cdf.stderr
    assert (high - low >= normal * (1 - 1e-9) - 1e-15).all()
    assert (high - low <= normal * 1.2).all()


@pytest.mark.long
@pytest.mark.parametrize(
    "problem",
    [
        RangeQueries(16, 8.0),
        RangeQueries(64, 8.0, branching=4),
        RangeQueries(64, 8.0, method="haar"),
        RangeQueries(64, 8.0, branching=2),
    ],
    ids=repr,
)
def test_intervals_of_rare_ranges_cover(problem):
    """2 % of the people are in the upper half of the bins; with normal limits the coverage was 0.55 to 0.9.

    Detects a coverage of 0.79.
    """
    k, runs, n = problem.k, 250, 500
    shares = np.where(np.arange(k) < k // 2, 0.98, 0.02) / (k // 2)
    low, high = np.array([0, k // 2, k // 2, k - 1, k // 2]), np.array([k // 2, k, k // 2 + 1, k, k // 2 + k // 8])
    before = np.concatenate([[0], np.cumsum(shares)])
    truth, hits, rng = before[high] - before[low], np.zeros(len(low)), np.random.default_rng(20261123)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        for run in range(runs):
            lower, upper = problem.run(rng.choice(k, n, p=shares), rng=run).range(low, high).interval()
            hits += (lower <= truth) & (truth <= upper)
    assert_coverage(hits, runs, 0.95, detects=0.79)


# Coverage -------------------------------------------------------------------------------------------------------------


@cache
def outcomes(problem, runs=250, n=4000):
    """How often intervals cover the truth: of one function of the shares at random, and of all at once."""
    rng, shares, k = np.random.default_rng(20240611), population(problem.k), problem.k
    truth, counts = (
        np.concatenate([[0], np.cumsum(shares)]),
        dict.fromkeys(("bin", "cdf", "range", "all", "quantile"), 0),
    )
    for run in range(runs):
        found = problem.run(rng.choice(k, n, p=shares), rng=run)
        low, high = np.sort(rng.choice(np.arange(k + 1), 2, replace=False))
        if (low, high) == (0, k):
            low = 1
        at, q = rng.integers(0, k - 1), rng.uniform(0.02, 0.98)
        exact = np.searchsorted(truth[1:], q)
        for name, limits, value in (
            ("bin", [limit[at] for limit in found.interval()], shares[at]),
            ("cdf", found.cdf(at).interval(), truth[at + 1]),
            ("range", found.range(low, high).interval(), truth[high] - truth[low]),
            ("all", found.cdf().interval(simultaneous=True), truth[1:]),
            ("quantile", found.quantile(q).interval(), exact),
        ):
            counts[name] += bool(np.all((limits[0] <= value + 1e-9) & (value - 1e-9 <= limits[1])))
    return counts


@pytest.mark.long
@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_intervals_cover(problem):
    """250 runs; the coverage is in [0.93, 0.97], or conservative. Detects a coverage of 0.76."""
    counts = outcomes(problem)
    for name, count in counts.items():
        most = 1.0 if name in ("all", "quantile") else 0.97
        assert_coverage(count, 250, 0.93, detects=0.76, most=most, alpha=ALPHA / len(counts))


@pytest.mark.long
@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_errors_are_as_large_as_the_standard_errors(problem):
    """The sum of squared standardized errors of one function is about a chi-squared variable with 200 degrees of freedom.

    Detects variances that are wrong by a factor of 2.
    """
    shares, runs, n = population(problem.k), 200, 4000
    rng = np.random.default_rng(5)
    for low, high in ((0, 5), (7, 33)):
        total = 0.0
        for run in range(runs):
            found = problem.run(rng.choice(problem.k, n, p=shares), rng=run).range(low, high)
            total += ((found.value - shares[low:high].sum()) / found.stderr) ** 2
        assert stats.chi2.ppf(ALPHA, runs) < total < stats.chi2.isf(ALPHA, runs)


# Comparison with a flat histogram -------------------------------------------------------------------------------------


def tree_variances(mechanism):
    """Variances of all ranges for a uniform population and equally many reports of all levels, times the people."""
    k, h = mechanism.k, len(mechanism.levels)
    numbers = []
    for level in mechanism.levels:
        symbols = np.bincount(np.arange(k) // level.span, minlength=level.symbols) / k
        if level.signed:
            halves = np.zeros(2 * level.nodes)
            halves[: level.symbols] = symbols
            symbols = halves[0::2] - halves[1::2]
        numbers.append(symbols)
    kind = Haar if mechanism.method == "haar" else Hierarchy
    tree = kind(mechanism.levels, mechanism.branching, numbers, [1 / h] * h)
    return tree.variance(Weights.ranges(*np.triu_indices(k + 1, 1), k))


def flat_variances(k, epsilon):
    """The same for `Frequencies`, whose shares are shifted so that they add up to 1.

    The covariance of one decoded report is a I plus a constant, of which the shift leaves a (I - 1 1^T / k). The decoded shares
    of these mechanisms add up to 1, so that a (1 - 1 / k) is the variance of one of them.
    """
    mechanism = Frequencies(k, epsilon).mechanism
    assert isinstance(mechanism, ldp.RandomizedResponse | ldp.SubsetSelection)
    each = float(mechanism.debiasing.variance(1 / k)) * k / (k - 1)
    low, high = np.triu_indices(k + 1, 1)
    return each * (high - low) * (1 - (high - low) / k)


# epsilon: first power of two from which on both the mean and the largest variance are smaller, of "hierarchy" and "haar".
CROSSINGS = {0.25: (32, 32), 0.5: (32, 32), 1.0: (32, 32), 2.0: (32, 128), 4.0: (64, 256)}


@pytest.mark.long
@pytest.mark.parametrize("epsilon", CROSSINGS)
def test_number_of_bins_from_which_ranges_are_more_precise_than_with_a_flat_histogram(epsilon):
    sizes, worse = [2**j for j in range(3, 10)], ([4], [4])
    for k in sizes:
        flat = flat_variances(k, epsilon)
        for i, branching, method in ((0, automatic_branching(k, epsilon), "hierarchy"), (1, 2, "haar")):
            tree = tree_variances(TreeResponse(k, epsilon, branching=branching, method=method))
            if tree.mean() > 0.99 * flat.mean() or tree.max() > 0.99 * flat.max():
                worse[i].append(k)
    assert tuple(2 * sizes[-1:][0] if not found else 2 * found[-1] for found in worse) == CROSSINGS[epsilon]


def test_documented_ratio_for_1024_bins():
    flat, tree = flat_variances(1024, 1.0), tree_variances(RangeQueries(1024, 1.0).mechanism)
    assert flat.mean() / tree.mean() == pytest.approx(9.44, abs=0.02)
    assert flat.max() / tree.max() == pytest.approx(9.21, abs=0.02)


def test_automatic_branching():
    assert {k: automatic_branching(k, 1.0) for k in (2, 8, 64, 256, 1024, 1 << 20)} == {
        2: 2,
        8: 8,
        64: 4,
        256: 4,
        1024: 4,
        1 << 20: 2,
    }
    assert automatic_branching(1024, 12.0) == 1024  # k-ary response to the bin has almost no noise
    for k, epsilon in ((64, 1.0), (100, 0.5), (128, 2.0)):
        chosen, means = automatic_branching(k, epsilon), {}
        for b in (*range(2, 17), k):
            means[b] = tree_variances(TreeResponse(k, epsilon, branching=b)).mean()
        assert means[chosen] <= 1.02 * min(means.values())  # nodes of incomplete trees are not equally frequent


# Reports and states ---------------------------------------------------------------------------------------------------


def test_states_merge_and_can_be_saved(problem):
    reports = problem.privatize(records(problem.k, 5000, 2), rng=2)
    parts = [problem.aggregator().update(part) for part in np.array_split(reports, 3)]
    merged = ldp.Aggregator.from_bytes(parts[2].to_bytes()).merge(parts[0]).merge(parts[1])
    assert merged.counts.dtype == np.int64
    assert merged.to_bytes() == problem.aggregator().update(reports).to_bytes()
    expected = problem.estimate(reports)
    assert_same_estimate(problem.estimate(merged), expected)
    assert_same_estimate(merged.question.estimate(merged).quantile([0.3]), expected.quantile([0.3]))


def test_questions_with_other_trees_do_not_merge():
    states = [
        RangeQueries(64, 1.0),
        RangeQueries(64, 1.0, branching=2),
        RangeQueries(64, 1.0, method="haar"),
        RangeQueries(65, 1.0),
    ]
    assert len({question.fingerprint for question in states}) == 4
    for other in states[1:]:
        with pytest.raises(ValueError, match="other must aggregate answers to the same question: "):
            states[0].aggregator().merge(other.aggregator())


def test_a_problem_is_what_its_description_says(problem):
    assert RangeQueries.from_dict(problem.to_dict()) == problem
    assert eval(repr(problem), {"RangeQueries": RangeQueries}) == problem
    assert RangeQueries(64, 1.0).branching == "auto"
    assert RangeQueries(64, 1.0).mechanism == RangeQueries(64, 1.0, branching=4).mechanism


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(problem, threads):
    x, before = records(problem.k, 60_000, 3), ldp.get_num_threads()
    expected = problem.run(x, rng=3)
    try:
        ldp.set_num_threads(threads)
        found = problem.run(x, rng=3)
        assert_same_estimate(found, expected)
        assert_same_estimate(found.cdf(), expected.cdf())
        assert_same(problem.privatize(x, rng=3), problem.privatize(x, rng=3))
    finally:
        ldp.set_num_threads(before)


def test_personal_keys_give_one_report_per_person():
    problem, x = RangeQueries(50, 1.0), records(50, 200, 4)
    keys = ldp.PersonKeys(bytes(range(32)), np.arange(200), question="age")
    reports = problem.privatize(x, rng=keys)
    order = np.random.default_rng(1).permutation(200)
    again = problem.privatize(x[order], rng=ldp.PersonKeys(bytes(range(32)), order, question="age"))
    assert_same(again, reports[order])


@pytest.mark.long
def test_a_million_bins():
    """2^20 bins, most of them with fewer than one person: means of 2^10 bins are compared with their standard errors."""
    k, n = 1 << 20, 300_000
    x = (np.random.default_rng(1).beta(2, 5, n) * k).astype(np.int64)
    for problem in (RangeQueries(k, 2.0), RangeQueries(k, 2.0, method="haar")):
        estimate = problem.run(x, rng=1)
        ends = np.arange(0, k + 1, 1 << 14)
        found = estimate.range(ends[:-1], ends[1:])
        errors = (found.value - np.diff(np.searchsorted(np.sort(x), ends)) / n) / found.stderr
        assert np.abs(errors).max() < stats.norm.isf(ALPHA / 128)
        low, high = estimate.quantile([0.1, 0.5, 0.9]).interval(1 - ALPHA)
        exact = np.quantile(x, [0.1, 0.5, 0.9], method="inverted_cdf")
        assert (low <= exact).all()
        assert (exact <= high).all()
        low, high = estimate.quantile(0.5).interval()
        assert high - low < k / 16


# Bad input ------------------------------------------------------------------------------------------------------------


def test_invalid_ranges_points_and_probabilities(estimate):
    k = len(estimate.value)
    for call, error, message in (
        (lambda: estimate.range(5, 4), ValueError, "low must be at most high, got 5 and 4"),
        (lambda: estimate.range([1, 9], [2, 3]), ValueError, "low must be at most high, got 9 and 3"),
        (lambda: estimate.range(-1, 4), ValueError, rf"low must be integers in \[0, {k}\], got -1"),
        (lambda: estimate.range(0, k + 1), ValueError, rf"high must be integers in \[0, {k}\], got {k + 1}"),
        (lambda: estimate.range(0.5, 4), TypeError, "low must be integers, got dtype float64"),
        (
            lambda: estimate.range([0, 1], [3, 4, 5]),
            ValueError,
            r"low and high must have shapes that broadcast, got \(2,\) and \(3,\)",
        ),
        (lambda: estimate.cdf(k), ValueError, rf"points must be integers in \[0, {k - 1}\], got {k}"),
        (lambda: estimate.quantile(1.0), ValueError, r"q must be in \(0, 1\), got 1.0"),
        (lambda: estimate.quantile([0.5, 0.0]), ValueError, r"q must be in \(0, 1\), got 0.0"),
        (lambda: estimate.quantile(float("nan")), ValueError, r"q must be in \(0, 1\), got nan"),
    ):
        with pytest.raises(error, match=f"^{message}$"):
            call()


def test_few_reports_give_a_warning():
    problem = RangeQueries(64, 1.0)
    with pytest.warns(ldp.SmallSampleWarning, match="n = 299 is too small for the interval of a range to be reliable"):
        problem.run(records(64, 299, 1), rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem.run(records(64, 300, 1), rng=1)


def test_clip_is_refused_for_bins():
    with pytest.raises(ValueError, match=r"^clip must be False for categories, got True$"):
        RangeQueries(8, 1.0).run([1, 2], clip=True)
