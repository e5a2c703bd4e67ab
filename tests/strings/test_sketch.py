"""Sketches: the exact channel, unbiased shares with the stated variance, and intervals that cover."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import CountMeanSketch
from ldpfast.mechanisms import HadamardResponse, RandomizedResponse, SketchResponse
from ldpfast.mechanisms._sketch_response import BucketResponse
from ldpfast.reports import recipe_of

from ..support.cases import each
from ..support.errors import raises
from ..support.keys import STATISTICS_SEED
from ..support.statistics import assert_counts, normal_margin

TINY = SketchResponse(1.5, max_bytes=2, alphabet="ab", prefixes=(1, 2), buckets=2, functions=2)
ALL = ["", "a", "b", "aa", "ab", "ba", "bb"]
WORDS = np.array([f"w{i}" for i in range(60)])
ZIPF = 1 / np.arange(1, 61)
ZIPF /= ZIPF.sum()


def exact_rows(mechanism: SketchResponse, words: list[str]) -> list[list[Fraction]]:
    """Return the probabilities of all codes from the weights of the parts and the integers of the response."""
    channel = [[Fraction(entry) for entry in row] for row in recipe_of(mechanism.response).law.rows()]
    channel = [[entry / sum(row) for entry in row] for row in channel]
    rows, _ = mechanism.domain.records(words)
    levels = len(mechanism.prefixes)
    weights = [Fraction(1, 2), *[Fraction(1, 2 * levels)] * levels] if levels else [Fraction(1)]
    found: list[list[Fraction]] = [[] for _ in words]
    for weight, hashes in zip(weights, mechanism._hashes, strict=True):
        for function in range(mechanism.functions):
            for row, bucket in zip(found, hashes.buckets(rows)[:, function].tolist(), strict=True):
                row += [weight / mechanism.functions * entry for entry in channel[bucket]]
    return found


@pytest.mark.claim("A report about a string loses at most `epsilon_realized`.", "Strings")
def test_the_exact_channel_has_the_stated_ratio():
    rows = exact_rows(TINY, ALL)
    assert all(sum(row) == 1 for row in rows)
    ratios = [a / b for one in rows for other in rows for a, b in zip(one, other, strict=True)]
    assert math.exp(TINY.epsilon_realized) >= float(max(ratios)) > math.exp(TINY.epsilon_realized - 1e-9)
    assert TINY.epsilon_realized <= 1.5
    for row in rows:  # part and function do not depend on the string
        shares = [sum(row[start : start + 2]) for start in range(0, len(row), 2)]
        assert shares == [Fraction(1, 4)] * 2 + [Fraction(1, 8)] * 4
    np.testing.assert_allclose(
        recipe_of(TINY).law.probabilities(TINY.domain.records(ALL)[0]), np.array(rows, float), rtol=1e-12
    )


@each(
    "mechanism",
    [
        TINY,
        SketchResponse(2.0, max_bytes=3, buckets=7, functions=3),
        SketchResponse(1.0, max_bytes=5, prefixes=(2, 4, 5), buckets=40, functions=2),
    ],
    ids=str,
)
@each("word", ["", "ab"])
def test_reports_have_the_exact_distribution(mechanism, word):
    n = 200_000
    reports = mechanism.privatize(np.full(n, word), rng=STATISTICS_SEED)
    counts = np.bincount(reports, minlength=mechanism.report.k)
    expected = np.array(exact_rows(mechanism, [word])[0], float)
    for count, probability in zip(counts.tolist(), expected.tolist(), strict=True):
        assert_counts(count, n, probability, detects=0.01)


@pytest.mark.parametrize("epsilon, buckets", [(9.0, 256), (9.0, 257), (14.0, 65_536), (14.0, 65_537)])
def test_codes_of_any_width_are_those_of_the_response(epsilon, buckets):
    """With such an epsilon, most reports are the bucket itself: codes of 1, 2 and 4 bytes, of all people of a block."""
    mechanism, n = SketchResponse(epsilon, max_bytes=6, buckets=buckets, functions=1), 3000
    words = np.array([f"w{i}" for i in range(n)])
    assert type(mechanism.response) is RandomizedResponse
    buckets_of = mechanism._hashes[0].buckets(mechanism.domain.records(words)[0])[:, 0]
    truth = float(Fraction(recipe_of(mechanism.response).coin.keep, 1 << recipe_of(mechanism.response).coin.bits))
    assert_counts(int((mechanism.privatize(words, rng=STATISTICS_SEED) == buckets_of).sum()), n, truth, detects=0.05)


def test_there_are_at_most_63_prefixes():
    """One function of each of 64 parts, with a response that keeps nearly every bucket: all parts are reported."""
    prefixes = tuple(range(1, 65))
    mechanism = SketchResponse(20.0, max_bytes=63, prefixes=prefixes[:63], buckets=2, functions=1)
    reports = mechanism.privatize(np.full(5000, "a" * 63), rng=STATISTICS_SEED)
    buckets_of = [int(h.buckets(mechanism.domain.records(["a" * 63])[0])[0, 0]) for h in mechanism._hashes]
    assert sorted(set(reports.tolist())) == [2 * part + bucket for part, bucket in enumerate(buckets_of)]
    with pytest.raises(ValueError, match="prefixes must be at most 63 ascending lengths"):
        SketchResponse(20.0, max_bytes=64, prefixes=prefixes, buckets=2, functions=1)


def test_the_simulated_counts_have_the_same_distribution():
    n = 100_000
    counted = ldp.simulate(TINY, {"a": 0.5, "ab": 0.5}, n, rng=STATISTICS_SEED)
    expected = np.array(exact_rows(TINY, ["a", "ab"]), float).mean(axis=0)
    for count, probability in zip(counted.counts.tolist(), expected.tolist(), strict=True):
        assert_counts(count, n, probability, detects=0.01)


@pytest.mark.parametrize(
    "epsilon, buckets, kind",
    [(1.0, 2, RandomizedResponse), (9.0, 20, RandomizedResponse), (4.0, 1 << 16, BucketResponse)],
)
def test_the_response_has_the_smallest_variance(epsilon, buckets, kind):
    mechanism = SketchResponse(epsilon, buckets=buckets)
    assert type(mechanism.response) is kind
    assert mechanism.response.report.k <= 2 * buckets
    assert mechanism.line.variance(0.0) <= HadamardResponse(buckets, epsilon).debiasing.line.variance(0.0) * 1.01


def test_states_messages_and_tables_are_those_of_every_problem():
    problem = CountMeanSketch(2.0, max_bytes=5, buckets=32, functions=4)
    reports = problem.privatize(WORDS, rng=1)
    server = problem.aggregator().update([problem.message(report) for report in reports])
    assert server == problem.aggregator().update(problem.to_arrow(reports)) == problem.collect(WORDS, rng=1)
    again = ldp.Aggregator.from_bytes(server.to_bytes())
    assert again.question == problem
    shares = again.estimate().shares(WORDS)
    np.testing.assert_array_equal(shares.value, problem.estimate(reports).shares(list(WORDS)).value)
    with pytest.raises(ValueError, match="salt"):
        server.merge(CountMeanSketch(2.0, max_bytes=5, buckets=32, functions=4, salt="2").aggregator())


def test_a_person_gives_the_same_report_for_the_same_string():
    problem = CountMeanSketch(1.0, max_bytes=5, buckets=32)
    keys = ldp.PersonKeys(bytes(32), np.arange(60), question="word")
    expected = problem.privatize(WORDS, rng=keys)
    for form in (list(WORDS), [word.encode() for word in WORDS], np.char.encode(WORDS)):
        np.testing.assert_array_equal(problem.privatize(form, rng=keys), expected)
    one = problem.privatize(WORDS[7:8], rng=ldp.PersonKeys(bytes(32), [7], question="word"))
    assert one[0] == expected[7]
    assert (problem.privatize(WORDS[::-1].copy(), rng=keys) != expected).any()


# Shares ---------------------------------------------------------------------------------------------------------------

RUNS, N = 600, 4000
ASKED = ["w0", "w5", "w59", "absent"]
TRUE = np.array([ZIPF[0], ZIPF[5], ZIPF[59], 0.0])


@pytest.fixture(scope="module")
def runs():
    """Shares of a few strings with other hash functions in every run."""
    rng = np.random.default_rng(STATISTICS_SEED)
    found = []
    for run in range(RUNS):
        problem = CountMeanSketch(4.0, max_bytes=6, buckets=64, functions=4, salt=str(run))
        found.append(problem.run(rng.choice(WORDS, N, p=ZIPF), rng=rng))
    return found


@pytest.mark.claim("Over all choices of the hash functions, shares are unbiased.", "Strings")
@pytest.mark.long
def test_shares_are_unbiased_over_the_hash_functions(runs):
    values = np.array([run.shares(ASKED).value for run in runs])
    error = values.std(axis=0, ddof=1) / math.sqrt(RUNS)
    assert (np.abs(values.mean(axis=0) - TRUE) < normal_margin(4) * error).all()


@pytest.mark.long
def test_the_variance_is_the_documented_one(runs):
    values = np.array([run.shares(ASKED).value for run in runs])
    mechanism = CountMeanSketch(4.0, max_bytes=6, buckets=64, functions=4).mechanism
    scale, m = 64 / 63, 64
    noise = scale**2 * mechanism.line.variance(TRUE / scale + 1 / m) / N
    collisions = ((ZIPF**2).sum() - TRUE**2) / (4 * (m - 1))
    ratio = values.var(axis=0, ddof=1) / (noise + collisions)
    low, high = stats.chi2.ppf([1e-6, 1 - 1e-6], RUNS - 1) / (RUNS - 1)
    assert ((low * 0.9 < ratio) & (ratio < high * 1.1)).all()
    assert (collisions > 0.2 * noise).all()  # so that both parts matter


def test_the_second_moment_is_an_upper_limit_that_is_seldom_exceeded(runs):
    true = (ZIPF**2).sum()
    found = np.array([run.second_moment for run in runs])
    assert (found >= true).mean() > 0.95
    assert np.median(found) < 3 * true


@pytest.mark.claim("Intervals of shares of strings cover, with the noise, the sample and the collisions.", "Strings")
def test_intervals_cover_rare_frequent_and_absent_strings(runs):
    limits = [run.shares(ASKED).interval() for run in runs]
    covered = np.array([(low <= TRUE) & (high >= TRUE) for low, high in limits]).mean(axis=0)
    assert (covered > 0.95 - 3 * math.sqrt(0.05 * 0.95 / RUNS)).all()
    shares = runs[0].shares(ASKED)
    low, high = shares.interval()
    assert (high - low < 2 * 3.92 * shares.stderr).all()  # twice the width of normal limits


def test_simultaneous_limits_are_wider_and_belong_to_all_strings_of_a_call(runs):
    shares = runs[0].shares(ASKED)
    (low, high), (lower, higher) = shares.interval(), shares.interval(simultaneous=True)
    assert (lower < low).all()
    assert (higher > high).all()
    single = runs[0].shares("w0")
    assert single.categories == ("w0",)
    assert single.value[0] == shares.value[0]


@pytest.mark.claim("Simultaneous intervals hold for all strings of a call.", "Strings")
@pytest.mark.long
def test_simultaneous_limits_hold_for_ten_thousand_absent_strings():
    """Beside a string that nine in ten have, half of the runs have an absent string that collides with it."""
    absent, collided = [f"q{i}" for i in range(10_000)], 0
    for run in range(6):
        problem = CountMeanSketch(4.0, max_bytes=8, salt=str(run))
        estimate = problem.run(np.where(np.arange(50_000) % 10 > 0, "frequent", "rare"), rng=run)
        shares = estimate.shares(absent)
        low, high = shares.interval(simultaneous=True)
        assert (low <= 0).all()
        assert (high >= 0).all()
        collided += shares.value.max() > 0.9 / 16 - 4 * shares.stderr[0]
    assert collided > 0
    assert estimate.shares("frequent").interval()[0][0] > 0.8


@pytest.mark.claim("A collision that raises a share does not make its interval too short.", "Strings")
def test_an_interval_allows_for_the_collision_that_raised_its_share():
    """A collision in one of two functions shows a share of 0.9 as 0.95, so that the rest seems too small to have collided."""
    for salt in map(str, range(1000)):
        problem = CountMeanSketch(6.0, max_bytes=4, buckets=16, functions=2, salt=salt)
        first, second = problem.mechanism._hashes[0].buckets(problem.domain.records(["a", "b"])[0])
        if (first == second).sum() == 1:
            break
    reports = problem.privatize(["a"] * 36_000 + ["b"] * 4_000, rng=1)
    shares = problem.estimate(reports).shares(["a", "b"])
    assert shares.value[0] > 0.94
    low, high = shares.interval()
    assert low[0] <= 0.9 <= high[0]
    assert low[1] <= 0.1 <= high[1]


@pytest.mark.claim("A person who lies moves the share of a string by at most the stated amount.", "Strings")
def test_a_liar_moves_a_share_by_the_stated_amount_at_most():
    problem = CountMeanSketch(2.0, max_bytes=4, buckets=64, functions=4)
    honest = problem.privatize(["a"] * 900, rng=1)
    domain, mechanism = problem.domain, problem.mechanism
    bucket = mechanism._hashes[0].buckets(domain.records(["z"])[0])[0, 0]
    codes = [
        code for code in range(mechanism.response.report.k) if mechanism.response.supported(np.array([code]))[0, bucket]
    ]
    worst = problem.estimate(np.append(honest, np.full(100, codes[0], honest.dtype))).shares("z").value[0]
    fair = problem.estimate(np.append(honest, problem.privatize(["a"] * 100, rng=2))).shares("z").value[0]
    assert 0.5 * problem.largest_shift(100, 1000) < worst - fair <= problem.largest_shift(100, 1000)


@pytest.mark.parametrize(
    "arguments, kind, message",
    [
        ({"buckets": 1}, ValueError, "buckets must be an integer >= 2 and <= 1048576, got 1"),
        ({"functions": 65}, ValueError, "functions must be an integer >= 1 and <= 64, got 65"),
        ({"salt": 3}, TypeError, "salt must be a text, got int"),
        (
            {"buckets": 1 << 20, "functions": 64, "max_bytes": 300},
            ValueError,
            "max_bytes must be an integer >= 1 and <= 255, got 300",
        ),
    ],
)
def test_bad_arguments(arguments, kind, message):
    with pytest.raises(kind) as error:
        CountMeanSketch(1.0, **arguments)
    assert str(error.value).split(",")[0].split(" ")[0] == message.split(" ")[0]
    assert str(error.value).endswith(message.rpartition(", got ")[2])


def test_bad_strings_and_prefixes():
    estimate = CountMeanSketch(1.0, max_bytes=3, buckets=8).run(["a", "b"], rng=1)
    with raises(ValueError, "strings must be at least one string, got none"):
        estimate.shares([])
    with pytest.raises(
        ValueError, match=r"^strings must be strings of at most 3 bytes without zero bytes; index 1 is not$"
    ):
        estimate.shares(["a", "long"])
    with pytest.raises(TypeError, match=r"^strings must be strings of at most 3 bytes"):
        estimate.shares(3)
    for prefixes in [(2, 1, 3), (1, 1, 3), (1, 2), (0, 3)]:
        with pytest.raises(ValueError, match=r"^prefixes must be"):
            SketchResponse(1.0, max_bytes=3, prefixes=prefixes, buckets=4)
    with pytest.raises(ValueError, match=r"at most 2\^28 codes, got"):
        SketchResponse(1.0, max_bytes=64, prefixes=tuple(range(2, 65)), buckets=1 << 20, functions=64)
