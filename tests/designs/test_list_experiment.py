"""List experiments: published tables, digits of R, enumeration of small studies, and mistakes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from ldpfast import designs
from ldpfast.results import DoubtfulWarning, SmallSampleWarning

from ..support.cases import each
from ..support.statistics import assert_coverage

LIST = designs.list_experiment(3)
# Counts of the survey of 1991 on race and politics: Table 1 of Blair and Imai (2012), 589 and 624 people.
CONTROL, TREATED = [8, 132, 222, 227, 0], [19, 123, 229, 219, 34]
COUNTS = np.repeat(np.r_[0:5, 0:5], [*CONTROL, *TREATED])
HAS_ITEM = np.repeat([False, True], [sum(CONTROL), sum(TREATED)])


def study_of_r():
    """Return people who are made of integers, as in the R script whose digits are below: counts, lists, weights, villages."""
    i = np.arange(1200)
    age, female = (i * 37 % 101) / 20 - 2.5, i % 3 == 0
    u, v = (i * 7919 % 10007) / 10007, (i * 5279 + 13) % 9973 / 9973
    z = u < 1 / (1 + np.exp(0.8 - 0.6 * age + 0.5 * female))
    others = binom.ppf(v, 3, 1 / (1 + np.exp(-(0.2 - 0.2 * age + 0.5 * z))))
    counts = np.maximum(others, 0).astype(int) + z * (i % 2)
    return pd.DataFrame({"age": age, "female": female.astype(float), "treated": i % 2, "count": counts})


DATA = study_of_r()


def test_published_estimates_are_reproduced():
    """The difference in means, .068 with the standard error .050, and the table of types of Blair and Imai in percent."""
    estimate = LIST.prevalence(COUNTS, HAS_ITEM)
    assert (round(estimate.value, 3), round(estimate.stderr, 2), estimate.n) == (0.068, 0.05, 1213)
    assert (estimate.epsilon, estimate.guarantee.definition) == (math.inf, "local")
    table = LIST.types(COUNTS, HAS_ITEM)
    published = {
        "yes": [-1.7, 1.0, 2.0, 5.4],
        "stderr of yes": [0.8, 2.4, 2.8, 0.9],
        "no": [3.0, 21.4, 35.7, 33.1],
        "stderr of no": [0.7, 1.7, 2.6, 2.2],
    }
    for name, percents in published.items():
        assert [round(100 * share, 1) for share in table[name]] == percents, name
    assert sum(table["yes"]) == pytest.approx(estimate.value)
    assert sum(table["yes"]) + sum(table["no"]) == pytest.approx(1)


def test_numbers_are_those_of_r():
    """Digits of R 4.2.2: t.test, and svyglm of the package survey for weights and clusters."""
    assert DATA["count"] @ (1 + np.arange(1200) % 7) == 9178
    estimate = LIST.prevalence(DATA["count"], DATA["treated"])
    assert estimate.value == pytest.approx(0.313333333333, abs=1e-12)
    np.testing.assert_allclose(estimate.interval(), [0.204059443309, 0.422607223357], atol=1e-11)
    weighted = LIST.prevalence(
        DATA["count"], DATA["treated"], weights=1 + np.arange(1200) % 4, clusters=np.arange(1200) // 12
    )
    assert (weighted.value, weighted.stderr) == pytest.approx((0.312777777778, 0.0970674734440), abs=1e-11)
    assert (weighted.interval()[1] - weighted.value) / weighted.stderr == pytest.approx(
        1.984216951, abs=1e-9
    )  # 99 degrees


@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
def test_the_difference_is_unbiased_with_its_variance():
    """All counts of two people with the sensitive statement and two without, by their probabilities."""
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(8)).reshape(4, 2)  # other true statements, and whether the sensitive one is
    control = np.r_[joint.sum(axis=1), 0]
    treated = np.r_[joint[:, 0], 0] + np.r_[0, joint[:, 1]]
    value, square, stated = 0.0, 0.0, 0.0
    for counts in itertools.product(range(5), range(5), range(4), range(4)):
        weight = np.prod(treated[list(counts[:2])]) * np.prod(control[list(counts[2:])])
        found = LIST.prevalence(counts, [1, 1, 0, 0])
        value += weight * found.value
        square += weight * found.value**2
        stated += weight * found.stderr**2
    assert value == pytest.approx(joint[:, 1].sum(), abs=1e-12)
    assert stated == pytest.approx(square - value**2, rel=1e-9)


def test_the_double_list_is_the_mean_of_two_differences():
    rng, n = np.random.default_rng(2), 2000
    treated, has = rng.random(n) < 0.5, rng.random(n) < 0.25
    base = rng.random(n)
    first, second = (binom.ppf(np.clip(base + rng.normal(0, 0.1, n), 0.01, 0.99), 3, 0.5).astype(int) for _ in "ab")
    first, second = first + (has & treated), second + (has & ~treated)
    double = LIST.prevalence_of_two_lists(first, second, treated)
    one, other = LIST.prevalence(first, treated), LIST.prevalence(second, ~treated)
    assert double.value == pytest.approx((one.value + other.value) / 2, abs=1e-12)
    a, b = (first - second)[treated] / 2, (second - first)[~treated] / 2
    assert double.stderr == pytest.approx(np.hypot(a.std(ddof=1) / len(a) ** 0.5, b.std(ddof=1) / len(b) ** 0.5))
    assert double.stderr < 0.5 * one.stderr
    assert abs(double.value - 0.25) < 4 * double.stderr


def test_people_of_weight_zero_are_not_in_the_sample():
    weights = (np.arange(1200) % 5 > 0).astype(float)
    inside = weights > 0
    for clusters in (None, np.arange(1200) // 12):
        whole = LIST.prevalence(DATA["count"], DATA["treated"], weights=weights, clusters=clusters)
        part = LIST.prevalence(
            DATA["count"][inside].to_numpy(),
            DATA["treated"][inside].to_numpy(),
            clusters=None if clusters is None else clusters[inside],
        )
        assert (whole.value, whole.n) == (pytest.approx(part.value), 960)
        assert whole.stderr == pytest.approx(part.stderr)


def test_the_sum_of_squares_of_clusters_widens_limits():
    twice = {"counts": np.tile(DATA["count"], 2), "treated": np.tile(DATA["treated"], 2)}
    plain = LIST.prevalence(DATA["count"], DATA["treated"])
    same = LIST.prevalence(**twice, clusters=np.tile(np.arange(1200), 2))
    assert same.stderr == pytest.approx(plain.stderr, rel=1e-3)
    assert LIST.prevalence(**twice).stderr < 0.75 * plain.stderr


def simulated(n, seed, effect=0.0):
    """Return counts and lists where a share of people leaves statements out if the sensitive one is there."""
    rng = np.random.default_rng(seed)
    treated, has, y = rng.random(n) < 0.5, rng.random(n) < 0.2, rng.binomial(3, 0.4, n)
    fewer = treated & (rng.random(n) < effect) & (y > 0)
    return y - fewer + (has & treated), treated


def test_a_design_effect_is_detected():
    """A quarter of the people counts one statement less if the sensitive one is there."""
    assert LIST.test(*simulated(4000, 1, effect=0.4)).pvalue < 1e-3
    assert LIST.test(*simulated(4000, 1)).pvalue > 0.2
    assert LIST.test(COUNTS, HAS_ITEM).statistic == pytest.approx(-0.01687 / 0.00837, rel=1e-3)


@pytest.mark.long
def test_the_test_of_a_design_effect_has_its_level_and_intervals_cover():
    rejected, hits, runs = 0, 0, 2000
    for seed in range(runs):
        data = simulated(300, seed)
        rejected += LIST.test(*data).pvalue < 0.05
        low, high = LIST.prevalence(*data).interval()
        hits += low < 0.2 < high
    assert rejected / runs < 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)
    assert_coverage(np.array([hits]), runs, 0.95, detects=0.9)


@each(
    "call, error, message",
    [
        (lambda: designs.list_experiment(0), ValueError, "items must be"),
        (lambda: designs.list_experiment(3.0), TypeError, "items must be"),
        (
            lambda: LIST.prevalence([4, 1, 1, 1], [0, 0, 1, 1]),
            ValueError,
            "counts must be integers from 0 to 3 for this",
        ),
        (lambda: LIST.prevalence([1, 1, 5, 1], [0, 0, 1, 1]), ValueError, "from 0 to 4 for this list, index 2 is not"),
        (lambda: LIST.prevalence([1, 1, 1.5, 1], [0, 0, 1, 1]), ValueError, "counts must be integers"),
        (lambda: LIST.prevalence([1, 1, np.nan, 1], [0, 0, 1, 1]), ValueError, "counts must be finite numbers"),
        (lambda: LIST.prevalence([1, 1, 1, 1], [0, 0, 1, 2]), ValueError, "treated must be False and True, or 0 and 1"),
        (lambda: LIST.prevalence([1, 1, 1], [0, 0, 1, 1]), ValueError, r"counts and treated must have shape \(n,\)"),
        (lambda: LIST.prevalence([1, 1, 1], [0, 0, 1]), ValueError, "treated must have two or more people with and"),
        (lambda: LIST.types([1, 1, 1], [0, 0, 1]), ValueError, "treated must have two or more people with and without"),
        (
            lambda: LIST.prevalence_of_two_lists([4, 1, 1, 1], [4, 1, 1, 1], [1, 1, 0, 0]),
            ValueError,
            "second must be integers from 0 to 3 for this list, index 0 is not",
        ),
        (
            lambda: LIST.prevalence(DATA["count"], DATA["treated"][::-1]),
            ValueError,
            "counts and treated must have the same pandas index",
        ),
    ],
)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_exchanged_groups_and_few_clusters_are_warnings():
    counts = np.arange(2000) // 2 % 3
    with pytest.warns(DoubtfulWarning, match=r"the prevalence is -1, beyond what chance explains: the groups may be"):
        LIST.prevalence(np.r_[np.ones(500), np.full(500, 2)], np.arange(1000) < 500)
    with pytest.warns(SmallSampleWarning, match="10 clusters are too few"):
        LIST.prevalence(counts, np.arange(2000) % 2, clusters=np.arange(2000) % 10)
