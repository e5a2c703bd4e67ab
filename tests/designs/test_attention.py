"""The crosswise model with attention questions: published figures, weights and clusters."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast import designs

from ..support.errors import raises
from ..support.statistics import assert_coverage

# Counts of the simulated answers that come with the package cWise of R: same to the sensitive question, same to the attention
# question, by the weight of the person. Both innocuous questions have a share of 0.15.
COUNTS = {1.25: [[116, 338], [252, 871]], 5.0: [[32, 87], [59, 245]]}
CELLS = [
    (same, known, weight, counts[same][known])
    for weight, counts in COUNTS.items()
    for same in (0, 1)
    for known in (0, 1)
]
SAME, KNOWN, WEIGHTS = (np.repeat([cell[place] for cell in CELLS], [cell[3] for cell in CELLS]) for place in range(3))
GIVEN = {"p": 0.15, "p_attention": 0.15}


def test_published_estimates_are_reproduced():
    """Naive 0.1950, corrected 0.1054, corrected with weights 0.1097; limits of 200 bootstrap samples beside ours."""
    assert round(designs.crosswise(0.15).prevalence(SAME).value, 4) == 0.1950
    plain = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN)
    weighted = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=WEIGHTS)
    assert (round(plain.value, 4), round(weighted.value, 4)) == (0.1054, 0.1097)
    np.testing.assert_allclose(plain.interval(), [0.0649, 0.1394], atol=0.01)
    np.testing.assert_allclose(weighted.interval(), [0.0596, 0.1503], atol=0.012)
    assert plain.stderr == pytest.approx(0.0208, rel=0.1)
    assert weighted.stderr == pytest.approx(0.0250, rel=0.1)
    assert weighted.n == 2000


def test_weights_and_clusters_are_those_of_repeated_people():
    plain = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN)
    same = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=np.full(2000, 3.0))
    assert same.value == pytest.approx(plain.value, abs=1e-12)
    assert same.stderr == pytest.approx(plain.stderr, rel=0.01)
    twice = designs.crosswise_with_attention(
        np.tile(SAME, 2), np.tile(KNOWN, 2), **GIVEN, clusters=np.tile(np.arange(2000), 2)
    )
    assert twice.stderr == pytest.approx(plain.stderr, rel=0.01)
    zero = np.where(np.arange(2000) % 4 == 0, 0.0, WEIGHTS)
    inside = zero > 0
    part = designs.crosswise_with_attention(SAME[inside], KNOWN[inside], **GIVEN, weights=WEIGHTS[inside])
    whole = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=zero)
    assert whole.n == 1500
    assert (whole.value, whole.stderr) == pytest.approx((part.value, part.stderr), rel=1e-9)
    np.testing.assert_allclose(whole.interval(), part.interval(), rtol=1e-9)
    clustered = {"clusters": np.arange(2000) // 20}
    np.testing.assert_allclose(
        designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=zero, clusters=np.arange(2000) // 20).stderr,
        designs.crosswise_with_attention(
            SAME[inside], KNOWN[inside], **GIVEN, weights=WEIGHTS[inside], clusters=clustered["clusters"][inside]
        ).stderr,
    )


@pytest.mark.parametrize("more", [{}, {"weights": WEIGHTS}, {"clusters": np.arange(2000) // 20}])
def test_subgroups_are_calls_of_their_own_whose_differences_are_known(more):
    by = np.where(np.arange(2000) // 20 % 2 == 0, "even", "odd")
    found = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, **more, by=by)
    assert list(found) == ["even", "odd"]
    for value, estimate in found.items():
        part = {name: values[by == value] for name, values in more.items()}
        alone = designs.crosswise_with_attention(SAME[by == value], KNOWN[by == value], **GIVEN, **part)
        stderr = alone.stderr * (np.sqrt(100 / 99 * 49 / 50) if "clusters" in more else 1)  # all clusters were drawn
        assert (estimate.value, estimate.stderr, estimate.n) == pytest.approx((alone.value, stderr, alone.n))
        np.testing.assert_allclose(estimate.interval(), alone.interval(), rtol=0.02 if "clusters" in more else 1e-9)
    difference = found["even"] - found["odd"]
    assert difference.stderr == pytest.approx(np.hypot(found["even"].stderr, found["odd"].stderr))
    shared = designs.crosswise_with_attention(
        SAME, KNOWN, **GIVEN, clusters=np.arange(2000) // 20, by=np.arange(2000) % 2
    )
    with pytest.raises(ValueError, match="people"):
        shared[0] - shared[1]


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_strata_and_replicate_weights_are_those_of_the_answers():
    """Villages of four strata, and the jackknife of these villages: nearly the same errors; groups of two columns."""
    village = np.arange(2000) // 20
    stratum = village // 25
    out = village[:, np.newaxis] == np.arange(100)
    same = stratum[:, np.newaxis] == np.arange(100) // 25
    weights = WEIGHTS[:, np.newaxis] * np.where(out, 0, np.where(same, 25 / 24, 1))
    replicates = designs.ReplicateWeights(weights, "jackknife", rscales=np.full(100, 24 / 25))
    linear, replicated = (
        designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=WEIGHTS, **sample)
        for sample in ({"clusters": village, "strata": stratum}, {"replicate_weights": replicates})
    )
    assert linear.value == pytest.approx(replicated.value)
    assert linear.stderr == pytest.approx(replicated.stderr, rel=0.05)
    assert linear.stderr != pytest.approx(
        designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=WEIGHTS).stderr, rel=1e-3
    )
    by = [np.arange(2000) % 2, np.repeat("all", 2000)]
    found = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, clusters=village, strata=stratum, by=by)
    assert list(found) == [(0, "all"), (1, "all")]


def test_the_standard_error_is_that_of_the_delta_method():
    """By numeric derivatives of the estimate in the two weighted means, whose covariance is that of the scores."""
    w = WEIGHTS / WEIGHTS.sum()
    means = np.array([w @ SAME, w @ KNOWN])
    scores = np.stack([w * (SAME - means[0]), w * (KNOWN - means[1])])
    cov = scores @ scores.T * 2000 / 1999

    def value(s, a):
        return ((s - 0.5) / ((a - 0.5) / 0.35) - 0.35) / (2 * 0.15 - 1)

    slopes = [(value(*(means + step)) - value(*(means - step))) / 2e-6 for step in 1e-6 * np.eye(2)]
    found = designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=WEIGHTS)
    assert found.value == pytest.approx(value(*means), abs=1e-12)
    assert found.stderr == pytest.approx(np.sqrt(slopes @ cov @ np.array(slopes)), rel=1e-6)


@pytest.mark.long
def test_intervals_of_weighted_and_clustered_people_cover():
    runs, hits = 1200, np.zeros(2, int)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        villages = np.repeat(np.arange(60), 15)
        has = rng.random(900) < np.repeat(rng.beta(2, 6, 60), 15)  # a mean share of 1/4
        attentive, weights = rng.random(900) < 0.85, np.exp(0.5 * rng.normal(size=900))
        first, second = rng.random((2, 900)) < 0.15
        guess, other = rng.random((2, 900)) < 0.5
        same, known = np.where(attentive, has == first, guess), np.where(attentive, ~second, other)
        for place, options in enumerate(({"weights": weights}, {"weights": weights, "clusters": villages})):
            low, high = designs.crosswise_with_attention(same, known, **GIVEN, **options).interval()
            hits[place] += low < 0.25 < high
    assert_coverage(hits[1:], runs, 0.95, detects=0.9)
    assert hits[0] < hits[1]  # without the villages, limits are too narrow


def test_mistakes_are_named():
    with raises(ValueError, "weights must have shape (2000,), one for each person, got shape (2,)"):
        designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, weights=[1, 2])
    with raises(ValueError, "by must have one value per person, got 3 for 2000 reports"):
        designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, by=[1, 2, 3])
    with pytest.raises(ValueError, match="clusters must have at least 2 different values, got 1"):
        designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, clusters=[1] * 2000)
    with raises(ValueError, "attention must be answers to a question of its own, got the same answers as in reports"):
        designs.crosswise_with_attention(SAME, SAME, **GIVEN)
    region = np.where(KNOWN == 0, "S", "N")
    with raises(
        ValueError, "group 'S': attention must show that people read the questions, got the attentive share -1.43"
    ):
        designs.crosswise_with_attention(SAME, KNOWN, **GIVEN, by=region)
    with raises(ValueError, "attention must be 'different' and 'same', or 0 and 1 without missing values, got nan"):
        designs.crosswise_with_attention(SAME, np.where(KNOWN == 1, 1.0, np.nan), **GIVEN)
    with raises(ValueError, "p_attention must be a probability such as 0.25 or '1/4', got 'x'"):
        designs.crosswise_with_attention(SAME, KNOWN, p=0.15, p_attention="x")
