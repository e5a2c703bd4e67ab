"""Randomized response of whole sets: the kernel against the reference, the exact channel, and estimates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import WholeSets
from ldpfast.reports import recipe_of

from ..support import whole_sets as reference
from ..support.cases import each
from ..support.channels import exact_rows
from ..support.exact import exact_log, least_double_not_below
from ..support.internals.kernels import privatize, stream
from ..support.keys import FIXED_KEY, KEY, SEED
from ..support.machine_records import sets_of
from ..support.reference import Words


def law(mechanism):
    return recipe_of(mechanism).law


# Reports --------------------------------------------------------------------------------------------------------------

DESIGNS = [  # k, most, optional
    (2, 1, False),
    (2, 2, True),
    (5, 2, False),
    (7, 7, True),
    (8, 3, False),
    (22, 2, False),
    (16, 16, False),
    (15, 15, True),
    (35, 4, False),
    (72, 3, True),
    (361, 2, False),
    (300, 1, True),
    (65_532, 1, True),
]


@each("k, most, optional", DESIGNS)
@each("n", [65, 2100])
def test_reports_equal_the_reference(isa, k, most, optional, n):
    mechanism = WholeSets(k, most, 8.0, optional=optional)
    sets = [*sets_of(k, most, n - 1), None if optional else frozenset({0})]
    symbols = reference.codes(k, most, sets)
    got, expected = mechanism.privatize(sets, rng=SEED), []
    per_block = recipe_of(mechanism).kernel.rows
    for block in range(-(-n // per_block)):
        expected += reference.reports(mechanism._coin, KEY, block, symbols[per_block * block :][:per_block])
    assert got.tolist() == expected
    assert got.dtype == np.min_scalar_type(mechanism.report.k - 1)
    assert mechanism.report.k == len(reference.all_sets(k, most)) + optional


@each("k, most, optional", [(2, 2, True), (5, 2, False), (7, 7, True), (16, 4, False), (15, 15, False), (40, 3, True)])
def test_every_set_has_its_code(isa, k, most, optional):
    """At epsilon 44 a report is the true code."""
    mechanism = WholeSets(k, most, 30.0, optional=optional)
    sets = [frozenset(chosen) for chosen in reference.all_sets(k, most)] + [None] * optional
    assert mechanism.privatize(sets, rng=SEED).tolist() == list(range(len(sets)))
    supported = law(mechanism).supported(np.arange(len(sets)))
    assert [frozenset(np.flatnonzero(row).tolist()) for row in supported] == [chosen or frozenset() for chosen in sets]
    assert law(mechanism).symbols(law(mechanism).sets).tolist() == list(range(len(sets)))


@each("k, most", [(5, 2), (30, 2)])
def test_the_truth_is_kept_exactly_below_the_threshold(isa, k, most):
    """A threshold equal to the word reports the empty set, one unit more the true one, for words that report it directly."""
    coin = WholeSets(k, most, 3.0)._coin
    whole, sets = 1 << coin.bits, coin.k
    record = np.tile(np.arange(k, k + most, dtype=np.uint16), (1, 1))
    record[0, 0] = 1
    record[0, 1:] = np.arange(k, k + most - 1)
    word = int(Words(FIXED_KEY, "WHOLE_SETS", 0).take(1, f"<u{coin.bits // 8}")[0])
    each_symbol = (whole - word) // sets & -2
    assert each_symbol > 0
    for threshold, kept in ((word, False), (word + 1, True)):
        made = type(coin)(sets, coin.bits, threshold + each_symbol, each_symbol, 1.0)
        out = np.empty(1, np.min_scalar_type(sets - 1))
        privatize.WholeSets(made, k, most, False).privatize(stream.Stream(FIXED_KEY), 0, record, out)
        assert (out[0] == 2) == kept
        assert kept or out[0] == 0


@each("k, most, optional", [(5, 3, True), (16, 4, False), (300, 1, False)])
def test_any_rows_of_numbers_give_the_report_of_some_set(isa, k, most, optional):
    mechanism = WholeSets(k, most, 30.0, optional=optional)
    rows = np.random.default_rng(k).integers(0, 1 << 16, (400, most)).astype(np.uint16)
    rows[:200] %= k + most + optional
    out = np.empty(400, np.min_scalar_type(mechanism.report.k - 1))
    for n in (200, 400):
        valid = recipe_of(mechanism).kernel.privatize(stream.Stream(KEY), 0, rows[:n], out[:n])
        assert valid == (n == 200)
    for last, valid in ((k + most + optional - 1, True), (k + most + optional, False)):
        row = np.append(np.zeros(most - 1), last).astype(np.uint16)[np.newaxis]
        assert recipe_of(mechanism).kernel.privatize(stream.Stream(KEY), 0, row, out[:1].copy()) == valid
    assert mechanism.report.invalidity(out) is None


# The exact channel ----------------------------------------------------------------------------------------------------

SMALL = [WholeSets(2, 1, 1.0), WholeSets(4, 2, 2.0), WholeSets(5, 2, 3.0, optional=True), WholeSets(4, 4, 4.0)]


@each("mechanism", SMALL, ids=repr)
def test_the_guarantee_is_that_of_the_integers(mechanism):
    """The largest ratio of two rows of the channel; one more word for the truth exceeds epsilon."""
    rows, coin = law(mechanism).rows(), mechanism._coin
    assert [sum(row) for row in rows] == [1 << coin.bits] * coin.k
    ratio = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert mechanism.epsilon_realized == least_double_not_below(exact_log(ratio)) <= mechanism.epsilon
    fewer = coin.words_per_symbol - (2 if coin.bits == 32 else 1)
    assert exact_log(Fraction((1 << coin.bits) - (coin.k - 1) * fewer, fewer)) > mechanism.epsilon
    positions = mechanism.domain.convert(np.array(list(law(mechanism).records()), np.uint16))
    sets = [
        None if row[-1] == mechanism.k + mechanism.most else {j for j in row if j < mechanism.k} for row in positions
    ]
    symbols = reference.codes(mechanism.k, mechanism.most, [None if s is None else frozenset(s) for s in sets])
    assert [row.index(max(row)) for row in rows] == symbols


@each("mechanism", SMALL, ids=repr)
def test_shares_are_unbiased_with_their_covariance(mechanism):
    """Options and missing sets, as sums over all codes."""
    k, domain = mechanism.k, mechanism.domain
    rows, line = exact_rows(mechanism), law(mechanism).line
    counts = np.eye(len(rows), dtype=np.int64)
    hits, trials = law(mechanism).hits(counts, np.ones(len(rows), np.int64))  # of one report of each code
    assert (trials == 1).all()
    truth = domain.ticks(np.array(list(law(mechanism).records()))).astype(float)
    if domain.optional:
        truth = np.column_stack([truth, np.arange(len(rows)) == len(rows) - 1])
    np.testing.assert_allclose(rows @ line(hits), truth, atol=1e-12)
    weights = np.random.default_rng(k).dirichlet(np.ones(len(rows)))
    share, decoded = weights @ truth, line(hits)
    covariance = (decoded.T * (weights @ rows)) @ decoded - np.outer(share, share)
    both = (truth.T * weights) @ truth
    with_missing = np.arange(truth.shape[1]) == k
    stated = law(mechanism).covariance(share[:, np.newaxis], share, both, with_missing=with_missing)
    upper = np.triu_indices(truth.shape[1], 1)
    np.testing.assert_allclose(stated[upper], covariance[upper], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(line.variance(share), covariance.diagonal(), rtol=1e-9)


def test_hits_of_groups_are_those_of_each_group():
    mechanism = WholeSets(6, 3, 4.0, optional=True)
    sets = [*sets_of(6, 3, 400), None]
    reports = mechanism.privatize(sets, rng=SEED)
    state = recipe_of(mechanism).tally(reports)[0][0]
    hits, trials = law(mechanism).hits(state, len(sets))
    chosen = law(mechanism).supported(reports)
    assert hits.tolist() == [*chosen.sum(axis=0).tolist(), int((reports == mechanism.report.k - 1).sum())]
    assert trials.tolist() == [len(sets)] * 7
    many = law(mechanism).hits(np.stack([state, 0 * state, 3 * state]), np.array([len(sets), 0, 3 * len(sets)]))
    np.testing.assert_array_equal(many[0], np.stack([hits, 0 * hits, 3 * hits]))
    estimate = mechanism.estimate(reports)
    np.testing.assert_allclose(estimate.value, law(mechanism).line(hits / trials)[:-1], rtol=1e-12)
    variance = law(mechanism).line.variance(np.append(np.clip(estimate.value, 0, 1), 0))[:-1]
    np.testing.assert_allclose(estimate.stderr, np.sqrt(variance / len(sets)), rtol=1e-12)


def test_many_counts_are_added_exactly():
    """Counts that doubles cannot hold."""
    mechanism = WholeSets(5, 2, 3.0)
    counts = np.full(mechanism.report.k, (1 << 58) + 1)
    assert law(mechanism).options(counts).tolist() == [5 * ((1 << 58) + 1)] * 5


# Parameters -----------------------------------------------------------------------------------------------------------


@each(
    "arguments, message",
    [
        ((1, 1, 1.0), r"k must be an integer in \[2, 65532\], got 1"),
        ((5, 0, 1.0), r"most must be an integer in \[1, 5\], got 0"),
        ((5, 6, 1.0), r"most must be an integer in \[1, 5\], got 6"),
        ((17, 17, 1.0), "k and most must give at most 65536 sets, got k=17 and most=17"),
        ((40_000, 20_000, 1.0), "k and most must give at most 65536 sets, got k=40000 and most=20000"),
        ((5, 2, 50.0), "epsilon must be within what exact coins can certify, got 50.0"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        WholeSets(*arguments)


def test_with_a_missing_set_there_is_one_set_more():
    with pytest.raises(ValueError, match="at most 65536 sets, got k=16 and most=16"):
        WholeSets(16, 16, 1.0, optional=True)
    assert WholeSets(16, 16, 1.0).report.k == 1 << 16


def test_sets_of_one_option_are_randomized_response():
    whole, response = WholeSets(20, 1, 2.0), ldp.RandomizedResponse(21, 2.0)
    assert whole.epsilon_realized == response.epsilon_realized
    assert law(whole).line == response.debiasing


def test_a_saved_aggregator_is_loaded():
    mechanism = WholeSets(5, 2, 4.0, optional=True)
    counted = mechanism.collect([{3}, None, set()] * 20, rng=SEED)
    assert ldp.load(counted.to_bytes()) == counted
    assert ldp.load(counted.to_bytes()).question == mechanism
