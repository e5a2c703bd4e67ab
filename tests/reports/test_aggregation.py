"""Aggregators give the same statistics for any order and any split of the reports."""

from __future__ import annotations

import copy
import functools
import math
import pickle
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.estimation import Frequencies, HistogramDensity, SeriesDensity, TruncatedMean, VectorMean
from ldpfast.mechanisms import for_categories
from ldpfast.reports import Aggregator, SampledSigns, Views, aggregator_with, recipe_of

from ..cards import KINDS
from ..support.aggregation import aggregate, counted_of, reports_of
from ..support.cases import each, each_kind
from ..support.errors import raises
from ..support.examples import assert_same, assert_same_estimate
from ..support.reference import rows_of_report, wide
from ..support.view_response import tally


@pytest.mark.claim("Aggregators that are merged in any order have the same bytes.", "Reproducibility")
@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=15)
@given(st.lists(st.integers(0, 200), max_size=6), st.randoms(use_true_random=False))
def test_merging_is_concatenation_in_any_order(kind, cuts, random):
    """The merged statistics must not depend on the order in which machines answer."""
    mechanism, reports = kind.mechanism, reports_of(kind, 200)
    whole = aggregate(mechanism, reports)
    parts = [aggregate(mechanism, part) for part in np.split(reports, sorted(cuts))]
    random.shuffle(parts)
    merged = functools.reduce(Aggregator.merge, parts)
    assert merged.n == 200
    assert merged.to_bytes() == whole.to_bytes()
    assert_same_estimate(merged.estimate(), whole.estimate())


@each_kind
def test_updating_is_concatenation(kind):
    mechanism, reports = kind.mechanism, reports_of(kind, 100)
    whole = aggregate(mechanism, reports)
    assert aggregate(mechanism, reports[:37], reports[37:]) == whole
    assert aggregate(mechanism, *reports[::-1]).to_bytes() == whole.to_bytes()  # single reports, in reverse order
    assert aggregate(mechanism, reports[:0], reports) == whole


@each_kind
def test_update_and_merge_return_the_aggregator_and_do_not_change_the_argument(kind):
    a, b = kind.mechanism.aggregator(), aggregate(kind.mechanism, reports_of(kind, 9))
    before = b.to_bytes()
    assert a.merge(b) is a
    assert a.update(reports_of(kind, 3)) is a
    assert (a.n, b.n) == (12, 9)
    assert b.to_bytes() == before


@each_kind
def test_merging_with_itself_is_refused(kind):
    a = aggregate(kind.mechanism, reports_of(kind, 50))
    before = a.to_bytes()
    with pytest.raises(ValueError, match="other must be another aggregator: its reports would count twice"):
        a.merge(a)
    assert a.to_bytes() == before


@each_kind
def test_reports_in_any_memory_layout_are_accepted(kind):
    reports = reports_of(kind, 30)
    whole = aggregate(kind.mechanism, reports)
    spaced = np.repeat(reports, 2, axis=0)[::2]
    for form in (spaced, reports[::-1], np.asfortranarray(reports), reports.astype(reports.dtype.newbyteorder(">"))):
        assert aggregate(kind.mechanism, form) == whole


@each("kind", KINDS, ids=str)
@each("n", [1, 7, 63, 64, 65, 255, 256, 4095, 4097, 9000])
def test_statistics_of_any_number_of_reports_follow_the_definition(kind, n):
    """The numbers of reports are around the widths of the vector loops."""
    mechanism, reports = kind.mechanism, reports_of(kind, n)
    aggregator = aggregate(mechanism, reports)
    if hasattr(aggregator, "counts"):
        if isinstance(mechanism.report, SampledSigns):
            one_hot = (reports[:, :, None] == np.arange(2 * mechanism.report.dim)).sum(axis=1).reshape(n, -1, 2)
        elif isinstance(mechanism.report, Views):
            cells, pairs = tally(mechanism.sizes, [row.tobytes() for row in reports])
            assert aggregator.counts.tolist() == [*chain(*cells, *pairs)]
            return
        elif reports.ndim == 2:
            one_hot = np.unpackbits(reports, axis=1, count=mechanism.report.k, bitorder="little")
        else:
            one_hot = reports[:, None] == np.arange(mechanism.report.k)
        assert_same(aggregator.counts, one_hot.sum(axis=0).astype(np.int64))
    elif isinstance(mechanism, ldp.L2Ball | ldp.PrivUnit):
        shift = 0 if reports.dtype == np.float64 else 10
        steps = np.rint(mechanism.decode(reports).astype(np.float64) * (2.0 ** (40 - shift) / mechanism.scale))
        assert wide(counted_of(aggregator).states[0]) == [sum(map(int, column)) << shift for column in steps.T]
    elif isinstance(mechanism, ldp.RotatedSigns):
        expected = np.zeros(4096, np.int64)
        for seed, signs in reports.tolist():
            bits = np.array([signs >> j & 1 for j in range(mechanism.signs)])
            expected[rows_of_report(seed, 4096, mechanism.signs)] += 2 * bits - 1
        assert_same(counted_of(aggregator).states[0], expected)
    elif isinstance(mechanism, ldp.RankCodebook | ldp.RankedSigns):
        rows, bound = mechanism.decode(reports).astype(np.float32), mechanism.report.bound
        shares = rows * np.float32(1 / bound)
        steps = [
            np.rint(part.astype(float) * (2.0**30 / unit)) for part, unit in ((rows, bound), (shares * shares, 1.0))
        ]
        assert wide(counted_of(aggregator).states[0]) == [
            sum(map(int, column)) << 10 for part in steps for column in part.T
        ]
    else:
        lower = mechanism.report.lower
        j = np.rint((reports.reshape(n, -1) - lower) / mechanism.grid - 0.5).astype(np.int64)
        np.testing.assert_array_equal(lower + mechanism.grid * (j + 0.5), reports.reshape(n, -1))
        columns = [[int(v) for v in column] for column in j.T]
        assert wide(counted_of(aggregator).states[0]) == [sum(c) for c in columns] + [
            sum(v * v for v in c) for c in columns
        ]


@each("dim", [1, 9, 64, 257, 600])
@each("dtype", ["float32", "float64"])
def test_vector_sums_of_any_dimension_follow_the_definition(dim, dtype, isa):
    mechanism = ldp.L2Ball(dim, 1.0)
    x = np.full((40, dim), 0.5 / math.sqrt(dim), dtype)
    reports, shift = mechanism.privatize(x, rng=1), 10 if dtype == "float32" else 0
    steps = np.rint(reports.astype(np.float64) * (2.0 ** (40 - shift) / mechanism.scale))
    assert wide(counted_of(aggregate(mechanism, reports)).states[0]) == [sum(map(int, c)) << shift for c in steps.T]


def test_reports_of_both_precisions_merge():
    mechanism = ldp.L2Ball(5, 1.0)
    single, double = (mechanism.privatize(np.zeros((20, 5), dtype), rng=1) for dtype in ("float32", "float64"))
    merged = aggregate(mechanism, single).merge(aggregate(mechanism, double))
    assert merged.to_bytes() == aggregate(mechanism, double, single).to_bytes()
    total = single.astype(np.float64).sum(axis=0) + double.sum(axis=0)
    np.testing.assert_allclose(merged.estimate().value, total / 40, atol=mechanism.scale * 2**-30)


@each_kind
def test_an_estimate_without_reports_is_an_error(kind):
    for aggregator in (kind.mechanism.aggregator(), aggregate(kind.mechanism, reports_of(kind, 3)[:0])):
        with raises(ValueError, "an estimate needs at least 1 report, got n = 0"):
            aggregator.estimate()


def test_the_repr_names_the_source_and_the_number_of_reports():
    aggregator = aggregate(ldp.Warner(1.0), np.array([0, 1], np.uint8))
    assert repr(aggregator) == "<Aggregator of Warner(epsilon=1.0): n = 2>"


def test_an_aggregator_equals_no_number_and_has_no_hash():
    aggregator = aggregate(ldp.Warner(1.0), np.array([0, 1], np.uint8))
    assert aggregator != 3
    with pytest.raises(TypeError):
        hash(aggregator)


# Counts ---------------------------------------------------------------------------------------------------------------


def test_counts_are_a_copy():
    aggregator = aggregate(ldp.RandomizedResponse(3, 1.0), np.array([0, 2, 2], np.uint8))
    assert_same(aggregator.counts, np.array([1, 0, 2]))
    aggregator.counts[...] = 7
    assert_same(aggregator.counts, np.array([1, 0, 2]))


def test_counts_of_packed_bits_are_in_little_bit_order():
    reports = np.array([[0b00000001, 0b10], [0b10000001, 0b00]], np.uint8)
    assert aggregate(ldp.UnaryEncoding(10, 1.0), reports).counts.tolist() == [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    assert aggregate(ldp.LinfBall(10, 1.0), reports).counts.tolist() == [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def test_counts_of_flags_are_numbers_of_zeros_and_ones():
    assert aggregate(ldp.Warner(1.0), np.array([0, 1, 1], np.uint8)).counts.tolist() == [1, 2]
    assert aggregate(ldp.SignBit(0, 1, 1.0), np.array([0, 1, 1], np.uint8)).counts.tolist() == [1, 2]


# Aggregators of different mechanisms ----------------------------------------------------------------------------------


@pytest.mark.claim("Aggregators of different questions are not merged, and neither of them changes.", "Saved states")
@each(
    "a, b, difference",
    [
        (ldp.Warner(1.0), ldp.Warner(2.0), "epsilon is 1, got 2"),
        (ldp.Warner(1.0), ldp.SignBit(0, 1, 1.0), 'mechanism is "Warner", got "SignBit"'),
        (
            ldp.UnaryEncoding(8, 1.0),
            ldp.UnaryEncoding(8, 1.0, method="optimized"),
            'method is "symmetric", got "optimized"',
        ),
        (ldp.LinfBall(8, 1.0), ldp.LinfBall(8, 1.0, ties="thin"), 'ties is "keep", got "thin"'),
        (ldp.LinfBall(8, 1.0), ldp.LinfBall(9, 1.0), "dim is 8, got 9"),
        (ldp.Laplace(0, 1, 1.0), ldp.Laplace(0, 2, 1.0), "upper is 1, got 2"),
        (Frequencies(["a", "b"], 1.0), Frequencies(["b", "a"], 1.0), 'k[0] is "a", got "b"'),
        (Frequencies(["a", "b"], 1.0), Frequencies(["a", "b", "c"], 1.0), 'k[2] is nothing, got "c"'),
        (Frequencies(2, 1.0), Frequencies(["a", "b"], 1.0), 'k is 2, got ["a","b"]'),
        (Frequencies(2, 1.0), for_categories(2, 1.0), 'problem is "Frequencies", got nothing'),
        (
            VectorMean(2, 1.0, norm="linf", lower=[-1, 0], upper=[1, 1]),
            VectorMean(2, 1.0, norm="linf", lower=[-1, 0], upper=[1, 2]),
            "upper[1] is 1, got 2",
        ),
        (HistogramDensity(1.0, bins=4), HistogramDensity(1.0, bins=4, upper=100.0), "upper is 1, got 100"),
        (
            TruncatedMean(1.0, moment=2, radius=1.0, n=900),
            TruncatedMean(1.0, moment=2, radius=1.0, n=901),
            "n is 900, got 901",
        ),
        (SeriesDensity(1.0, n_terms=4), SeriesDensity(1.0, n_terms=4, lower=-1.0), "lower is 0, got -1"),
    ],
)
def test_merging_answers_to_different_questions_names_the_first_difference(a, b, difference):
    ours, theirs = a.aggregator(), b.aggregator()
    before = ours.to_bytes(), theirs.to_bytes()
    with raises(ValueError, f"other must aggregate answers to the same question: {difference}"):
        ours.merge(theirs)
    assert a.fingerprint != b.fingerprint
    assert (ours.to_bytes(), theirs.to_bytes()) == before


@pytest.mark.parametrize("other", [None, 3, b"", ldp.Warner(1.0)])
def test_merging_with_another_type_is_a_type_error(other):
    with raises(TypeError, f"other must be an Aggregator, got {type(other).__name__}"):
        ldp.Warner(1.0).aggregator().merge(other)


# Batches --------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("A named batch is counted once.", "Saved states")
def test_a_batch_is_counted_once():
    """The name is refused again after `merge` and in a saved state, and nothing changes then."""
    mechanism = ldp.Warner(1.0)
    reports = mechanism.privatize([0, 1, 1], rng=1)
    first = mechanism.aggregator().update(reports, batch="2026-11-21/part-7").update(reports)
    second = mechanism.aggregator().update(reports, batch="part-8")
    merged = mechanism.aggregator().merge(first).merge(second)
    assert merged.n == 9
    for aggregator in (first, ldp.Aggregator.from_bytes(first.to_bytes()), merged):
        before = aggregator.to_bytes()
        with raises(ValueError, "batch must be new, got '2026-11-21/part-7', which was already counted"):
            aggregator.update(reports, batch="2026-11-21/part-7")
        assert aggregator.to_bytes() == before
    for other in (first, second):
        with raises(ValueError, "other must hold no batch that was already counted, got 1 of them"):
            merged.merge(other)
    assert merged.n == 9
    assert merged.update(reports, batch="part-9").n == 12


def test_reports_that_are_refused_leave_the_name_of_their_batch_free():
    aggregator = ldp.Warner(1.0).aggregator()
    with pytest.raises(ValueError, match=r"^reports must "):
        aggregator.update(np.array([2], np.uint8), batch="a")
    assert aggregator.update(np.array([1], np.uint8), batch="a").n == 1


def test_batches_count_for_equality_and_their_order_does_not():
    mechanism, reports = ldp.Warner(1.0), np.array([1, 0], np.uint8)
    one = mechanism.aggregator().update(reports, batch="a").update(reports, batch="b")
    other = mechanism.aggregator().update(reports, batch="b").update(reports, batch="a")
    assert one == other
    assert one.to_bytes() == other.to_bytes()
    assert one != mechanism.aggregator().update(reports, batch="a").update(reports, batch="c")


@pytest.mark.parametrize("name", [b"a", 3, True])
def test_the_name_of_a_batch_is_text(name):
    with raises(TypeError, f"batch must be a str, got {type(name).__name__}"):
        ldp.Warner(1.0).aggregator().update(np.array([1], np.uint8), batch=name)


# Shares that cannot be shares -----------------------------------------------------------------------------------------


@pytest.mark.claim(
    "Reports that another mechanism made give a `DoubtfulWarning` if their shares do not add up.", "Estimates"
)
@each("epsilon", [0.5, 1.0, 3.0])
@each("theirs, ours", [("symmetric", "optimized"), ("optimized", "symmetric")])
def test_reports_of_another_method_are_a_warning(theirs, ours, epsilon):
    """Plain arrays have no label, but the shares then do not add up to 1."""
    reports = ldp.UnaryEncoding(20, epsilon, method=theirs).privatize(np.arange(10_000) % 20, rng=1)
    mechanism = ldp.UnaryEncoding(20, epsilon, method=ours)
    with pytest.warns(ldp.DoubtfulWarning, match=r"^the shares add up to -?[0-9.]+, .* another epsilon$") as caught:
        found = mechanism.estimate(reports)
    assert float(str(caught[0].message).split()[5].rstrip(",")) == pytest.approx(found.value.sum(), rel=0.01)


@each("k, epsilon, n", [(2, 10.0, 1), (1000, 1.0, 3), (50, 5.0, 100_000), (3, 40.0, 1000)])
@each("method", ["symmetric", "optimized"])
def test_shares_of_the_right_mechanism_are_no_warning(k, epsilon, n, method):
    mechanism = ldp.UnaryEncoding(k, epsilon, method=method)
    for seed in range(20):
        mechanism.run(np.arange(n) % k, rng=seed)  # warnings are errors


def test_the_total_of_very_many_ones_does_not_overflow():
    """A hundred counts of more than 2^58 add up to more than 2^64."""
    mechanism, n = ldp.UnaryEncoding(100, 1.0), 1 << 60
    p, q = recipe_of(mechanism).coin.p, recipe_of(mechanism).coin.q
    count = round(n * (q + (p - q) / 100))
    estimate = aggregator_with(mechanism, [np.full(100, count)], n).estimate()  # warnings are errors
    np.testing.assert_allclose(estimate.value, 0.01, rtol=1e-9)


def counts_of(mechanism, counts):
    """Return an aggregator with the given counts of codes."""
    aggregator = mechanism.aggregator()
    return aggregator_with(
        aggregator.question, [np.asarray(counts, counted_of(aggregator).states[0].dtype)], int(np.sum(counts))
    )


@pytest.mark.claim("An estimate farther outside its range than noise explains gives a `DoubtfulWarning`.", "Estimates")
@each(
    "mechanism, counts, entry",
    [
        (ldp.FiniteChannel([[3, 1], [1, 3]]), [0, 1200], r"entry 1 is 1.5, outside of \[0, 1\]"),
        (ldp.FiniteChannel([[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 4, 2]]), [4000, 0, 0, 0], "entry 0 is "),
        (
            ldp.RandomizedResponse(4, 1.0),
            [0, 0, 3000, 0],
            r"entry 2 is 2.75, (?=.* and 3 more of 4 are outside as well)",
        ),
        (ldp.Warner(1.0), [10, 0], "the estimate is -0.5"),
        (ldp.SignBit(10, 20, 1.0), [0, 100], r"the estimate is 2.*, outside of \[10, 20\]"),
        (ldp.ProjectiveGeometryResponse(7, 1.0), [100, *[0] * 6], "entry . is "),
        (ldp.HadamardResponse(3, 1.0), [0, 100, 0, 0], "entry . is "),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ldp.Mechanism) else "",
)
def test_reports_that_no_shares_explain_are_a_warning(mechanism, counts, entry):
    """The value and the limits stay as they are; differences need them."""
    n = sum(counts)
    scale = 1 if n >= 1000 else 100
    aggregator = counts_of(mechanism, np.multiply(counts, scale))
    with pytest.warns(ldp.DoubtfulWarning, match=f"^{entry}.*by more than noise explains"):
        estimate = aggregator.estimate()
    low, high = recipe_of(mechanism).decoding.value_range
    assert (np.max(estimate.value) > high) or (np.min(estimate.value) < low)


@each("n", [1, 2, 10, 100, 10_000])
def test_the_most_extreme_counts_that_shares_explain_are_no_warning(n):
    """All people have one category, and all reports are of one code: the probability is 0.75^n, or that of k-ary response."""
    for mechanism in (ldp.FiniteChannel([[3, 1], [1, 3]]), ldp.RandomizedResponse(2, 1.0), ldp.Warner(1.0)):
        aggregator = counts_of(mechanism, [0, n])
        probability = mechanism.channel().matrix.max() ** n
        if probability > 1e-9:
            aggregator.estimate()  # warnings are errors
        elif probability < 1e-14:
            with pytest.warns(ldp.DoubtfulWarning, match="by more than noise explains"):
                aggregator.estimate()


@each("k", [2, 30, 1000])
@each("epsilon", [0.1, 1.0, 8.0])
def test_shares_at_the_end_of_their_range_are_no_warning(k, epsilon):
    """Everyone has one category: half of the estimates are outside of [0, 1]."""
    for mechanism in (
        ldp.RandomizedResponse(k, epsilon),
        ldp.UnaryEncoding(k, epsilon),
        ldp.HadamardResponse(k, epsilon),
    ):
        for n in (1, 30, 3000):
            mechanism.run(np.zeros(n, int), rng=k + n)  # warnings are errors


# Copies ---------------------------------------------------------------------------------------------------------------


@each_kind
def test_copies_are_independent(kind):
    reports = reports_of(kind, 20)
    aggregator = aggregate(kind.mechanism, reports[:8])
    before = aggregator.to_bytes()
    for twin in (copy.copy(aggregator), copy.deepcopy(aggregator), pickle.loads(pickle.dumps(aggregator))):
        assert twin == aggregator
        twin.update(reports[8:], batch="rest")
        assert aggregator.to_bytes() == before
