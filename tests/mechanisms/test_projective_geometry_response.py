"""Projective geometry response: the kernel against the reference, the exact channel, and the choice of the field."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.mechanisms import _hyperplane_sums

from ..support import set_responses as reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.mechanisms import best_mechanism, projective_geometry_response, projective_space
from ..support.internals.shared import coin_integers, finite_field
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.reference import Words
from ..support.statistics import ALPHA, assert_counts

SMALL = [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2), (4, 3), (5, 3), (8, 2), (9, 2), (7, 3)]  # order, length


def in_space(monkeypatch, k, epsilon, order, length):
    """Return the mechanism in a given space."""
    monkeypatch.setattr(
        projective_geometry_response, "best_geometry", lambda *_: projective_space.Geometry(order, length)
    )
    return ldp.ProjectiveGeometryResponse(k, epsilon)


def reference_of(mechanism):
    return reference.ProjectiveReference(finite_field.field(mechanism.order), mechanism.length)


# Reports --------------------------------------------------------------------------------------------------------------


@each(
    "k, epsilon, space, n, record, report",
    [
        (2, 1.0, (2, 2), 1, "u1", "u1"),
        (3, 0.5, (2, 2), 2, "u1", "u1"),
        (100, 0.1, (2, 7), 65, "u1", "u1"),
        (16, 1.0, (4, 3), 2049, "u1", "u1"),
        (40, 0.5, (3, 4), 8, "u1", "u1"),
        (128, 1.0, (4, 5), 64, "u1", "u2"),
        (256, 2.0, (8, 4), 511, "u1", "u2"),
        (257, 2.0, (8, 4), 513, "u2", "u2"),
        (700, 1.6, (5, 5), 65, "u2", "u2"),
        (1000, 4.0, (49, 3), 9, "u2", "u2"),
        (4000, 5.0, (64, 3), 63, "u2", "u2"),
        (100, 4.6, (101, 2), 70, "u1", "u1"),
        (4000, 4.2, (67, 3), 65, "u2", "u2"),
        (50_000, 2.1, (9, 6), 257, "u2", "u4"),
        (66_000, 5.5, (257, 3), 64, "u4", "u4"),
        (66_000, 1.5, (4, 9), 64, "u4", "u4"),
    ],
)
def test_reports_equal_the_reference(isa, monkeypatch, k, epsilon, space, n, record, report):
    mechanism = in_space(monkeypatch, k, epsilon, *space)
    x = np.random.default_rng(n).integers(0, k, n).astype(record)
    x[-1] = k - 1
    reports = mechanism.privatize(x, rng=SEED)
    assert reports.dtype == np.dtype(report)
    expected, other = [], reference_of(mechanism)
    for block in range(-(-n // 2048)):
        part = x[2048 * block : 2048 * (block + 1)]
        expected += other.reports(mechanism._coin.heads, KEY, block, part)
    assert reports.tolist() == expected


@each("order, length", [(2, 3), (4, 3), (7, 2), (67, 2)])
def test_the_report_is_orthogonal_exactly_below_the_threshold(isa, order, length):
    """The first word of a block is a coin. heads = word gives another point, heads = word + 1 an orthogonal one."""
    word, field = Words(FIXED_KEY, "PROJECTIVE_RESPONSE", 0).word(), finite_field.field(order)
    points = reference.all_points(order, length)
    for x in range(len(points)):
        for heads, orthogonal in ((word, False), (word + 1, True)):
            tables = (field.sum.tolist(), field.product.tolist()) if order <= 64 else None
            kernel = privatize.ProjectiveResponse(len(points), order, length, heads, tables)
            out = np.empty(1, np.uint8)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, np.array([x], np.uint8), out)
            assert (reference.inner(field, points[x], points[out[0]]) == 0) == orthogonal


@each("order, length", [*SMALL, (67, 2)])
def test_reports_are_uniform_within_and_outside_of_the_hyperplane(order, length):
    """All values of the uniform integer: each point of the hyperplane once for heads, each other one once for tails."""
    field = finite_field.field(order)
    other = reference.ProjectiveReference(field, length)
    for x, point in enumerate(other.points):
        zero = [reference.inner(field, point, z) == 0 for z in other.points]
        for tails in (False, True):
            found = [other.report(x, tails, draw) for draw in range(other.draws(tails))]
            assert np.bincount(found, minlength=len(zero)).tolist() == [int(flag != tails) for flag in zero]


# The sets -------------------------------------------------------------------------------------------------------------


@each("order, length", SMALL)
def test_two_hyperplanes_have_the_same_number_of_common_points(monkeypatch, order, length):
    points = reference.all_points(order, length)
    mechanism = in_space(monkeypatch, len(points), 1.0, order, length)
    space, field = mechanism._space, finite_field.field(order)
    assert [tuple(v) for v in space.elements(np.arange(space.points)).tolist()] == points
    member = mechanism.supported(np.arange(len(points)))
    np.testing.assert_array_equal(member, [[reference.inner(field, z, x) == 0 for x in points] for z in points])
    sizes = member.T.astype(int) @ member
    np.testing.assert_array_equal(sizes, space.common + (space.hyperplane - space.common) * np.eye(len(points)))


@pytest.mark.long
@each("order", [q for q in finite_field.orders() if q <= 71])
@each("length", [2, 3, 4])
def test_hits_are_the_reports_that_support_a_category(monkeypatch, order, length):
    """All small fields and the first ones without tables, for some of the categories and for all of them."""
    points, rng = projective_space.Geometry(order, length).points, np.random.default_rng(order)
    if points > 6000:
        return
    counts = rng.integers(0, 1000, points)
    for k in (2, points) if points < 1000 else (300,):
        mechanism = in_space(monkeypatch, k, 1.0, order, length)
        expected = counts @ mechanism.supported(np.arange(points))
        np.testing.assert_array_equal(mechanism.debiasing.hits(counts), expected)


@each("order, length", [(2, 9), (3, 8), (9, 4), (31, 3), (67, 3), (149, 4), (1021, 3)])
def test_hits_are_the_same_code_by_code_and_for_all_codes(isa, monkeypatch, order, length):
    """Against the reports that support some categories, which other code finds, for few codes and for many."""
    points, rng = projective_space.Geometry(order, length).points, np.random.default_rng(order)
    k, counts = points - 1, np.zeros(points, np.int64)
    counts[rng.integers(0, points, 300)] = rng.integers(1, 1 << 20, 300)
    mechanism = in_space(monkeypatch, min(k, 1 << 24), 1.0, order, length)
    items, codes = rng.integers(0, k, 50), np.flatnonzero(counts)
    expected = counts[codes] @ mechanism.supported(codes, items)
    for cost in (0.0, 1e30):
        monkeypatch.setattr(_hyperplane_sums, "SPARSE_COST", cost)
        found = mechanism.debiasing.hits(counts)
        np.testing.assert_array_equal(found[items], expected)
        last = (
            counts @ mechanism.supported(np.arange(points), np.array([0, k - 1])) if points < 1e5 else found[[0, k - 1]]
        )
        np.testing.assert_array_equal(found[[0, k - 1]], last)


@each("order, length", [(2, 9), (3, 7), (4, 5), (5, 4), (9, 4), (27, 3), (61, 3), (67, 3)])
def test_hits_of_many_reports_are_exact(monkeypatch, order, length):
    """2^33 and 2^61 reports, whose sums do not fit 32 bits, and all of them with one code."""
    mechanism = in_space(monkeypatch, 90, 1.0, order, length)
    monkeypatch.setattr(_hyperplane_sums, "SPARSE_COST", 1e30)
    points = mechanism._space.points
    member = mechanism.supported(np.arange(points)).astype(np.int64)
    for n in (1 << 33, 1 << 61):
        counts = np.random.default_rng(1).multinomial(n, np.random.default_rng(2).dirichlet(np.ones(points)))
        one = np.zeros(points, np.int64)
        one[points // 2] = n
        for state in (counts, one):
            np.testing.assert_array_equal(mechanism.debiasing.hits(state), state @ member)


@pytest.mark.parametrize("k, epsilon", [(40, 1.0), (3000, 2.0), (22_000, 5.0)])
def test_estimates_of_some_items_are_those_of_all(k, epsilon):
    mechanism, rng = ldp.ProjectiveGeometryResponse(k, epsilon), np.random.default_rng(k)
    for n in (10, 20_000):
        counted = mechanism.collect(rng.integers(0, k, n), rng=SEED)
        every, items = counted.estimate(), np.array([k - 1, 0, 7, 7])
        some = counted.estimate(items=items)
        np.testing.assert_array_equal(some.value, every.value[items])
        np.testing.assert_array_equal(some.stderr, every.stderr[items])
        np.testing.assert_array_equal(some.interval(), np.array(every.interval())[:, items])


@each("items", [[], [40], [-1], [0.5], [[1]], ["a"], 3])
def test_items_that_are_no_categories_are_refused(items):
    counted = ldp.ProjectiveGeometryResponse(40, 1.0).collect([1, 2], rng=SEED)
    with pytest.raises((TypeError, ValueError), match=r"^items must be"):
        counted.estimate(items=items)


# The exact channel ----------------------------------------------------------------------------------------------------


@each("epsilon", [1e-6, 0.1, 1.0, 4.0, 30.0, 44.0])
@each("k", [2, 5, 16])
def test_the_guarantee_is_that_of_the_integers(k, epsilon):
    mechanism = ldp.ProjectiveGeometryResponse(k, epsilon)
    coin, space = mechanism._coin, mechanism._space
    assert mechanism.channel().epsilon() == mechanism.epsilon_realized <= epsilon
    worst = Fraction(coin.heads * (space.points - space.hyperplane), ((1 << 64) - coin.heads) * space.hyperplane)
    rows = mechanism._recipe.law.rows()
    assert max(Fraction(a, b) for row in rows for a in row for b in row) == worst
    assert coin_integers.log_up(worst) == mechanism.epsilon_realized


@each("k, epsilon", [(2, 0.1), (5, 2.0), (7, 0.5), (13, 1.0), (21, 1.4)])
def test_decoded_reports_are_unbiased_with_the_stated_variance(k, epsilon):
    """Fractions, summed over all codes."""
    mechanism = ldp.ProjectiveGeometryResponse(k, epsilon)
    coin, space = mechanism._coin, mechanism._space
    p = coin.inside * space.hyperplane
    q = coin.inside * space.common + coin.outside * (space.hyperplane - space.common)
    line = mechanism.debiasing.line
    assert (line.zero, line.one) == (float(-q / (p - q)), float((1 - q) / (p - q)))
    supported = mechanism.supported(np.arange(space.points)).T.astype(int)
    for x, row in enumerate(mechanism._recipe.law.rows()):
        whole, weights = sum(row), np.array(row, dtype=object)
        mean = [Fraction(int(weight), whole) for weight in supported.astype(object) @ weights]
        assert mean == [p if j == x else q for j in range(k)]
        variance = [float(m * (1 - m) / (p - q) ** 2) for m in mean]
        np.testing.assert_allclose(mechanism.variance(np.array([x]))[0], variance, rtol=1e-12)
        assert sum(variance) == pytest.approx(best_mechanism.total_variance(mechanism), rel=1e-12)


@pytest.mark.parametrize("order, length", [(2, 4), (3, 3), (4, 3), (5, 3)])
def test_the_covariance_of_two_categories_has_two_values(monkeypatch, order, length):
    """It depends on whether the points of the two categories and of the record lie on a line. Fractions, all codes."""
    k = projective_space.Geometry(order, length).points
    mechanism = in_space(monkeypatch, k, 1.0, order, length)
    coin, space = mechanism._coin, mechanism._space
    member = mechanism.supported(np.arange(k)).astype(int)
    s, c = space.hyperplane, space.common
    q = coin.inside * c + coin.outside * (s - c)
    fewer = space.first(length - 3) if length > 2 else 0
    x, found = 0, set()
    for i in range(1, k):
        for j in range(1, i):
            three = int((member[:, i] & member[:, j] & member[:, x]).sum())
            both = coin.inside * three + coin.outside * (c - three)
            weights = mechanism._recipe.law.rows()[x]
            exact = Fraction(
                sum(w for w, m in zip(weights, member[:, i] & member[:, j], strict=True) if m), sum(weights)
            )
            assert exact == both
            found.add((three, both - q * q))
    assert {three for three, _ in found} == {c, fewer}
    assert sorted(value > 0 for _, value in found) == [False, True]


@given(st.integers(2, 60), st.sampled_from([0.3, 1.0, 1.5, 3.0]), st.integers(0, 2**32 - 1))
def test_the_covariance_of_an_estimate_is_that_of_its_reports(k, epsilon, seed):
    """Against an enumeration of the decoded reports."""
    mechanism = ldp.ProjectiveGeometryResponse(k, epsilon)
    reports = np.random.default_rng(seed).integers(0, mechanism.report.k, 50).astype(mechanism.report.code)
    estimate, decoded = mechanism.estimate(reports), mechanism.decode(reports)
    np.testing.assert_allclose(estimate.value, decoded.mean(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(estimate.covariance, np.cov(decoded.T, ddof=0) / 50, rtol=1e-9, atol=1e-9)


# The choice of the space ----------------------------------------------------------------------------------------------


def total_of(space, k, epsilon):
    odds, s, c, points = math.exp(epsilon), space.hyperplane, space.common, space.points
    whole = s * odds + points - s
    p, q = s * odds / whole, (c * odds + s - c) / whole
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / ((s - c) * math.expm1(epsilon) / whole) ** 2


@pytest.mark.long
@each("epsilon", [0.01, 1.0, 2.0, 4.0, 6.0, 10.0])
@each("k", [2, 3, 5, 16, 128, 1024, 65_536, 1 << 20, 1 << 24])
def test_the_space_has_the_smallest_total_variance_or_few_points_within_one_percent_of_it(k, epsilon):
    """Among all fields and all lengths, with at least k and at most 2^26 points."""
    mechanism = ldp.ProjectiveGeometryResponse(k, epsilon)
    spaces = [
        projective_space.Geometry(q, t)
        for q in finite_field.orders()
        for t in range(2, 27)
        if k / 2 < q ** (t - 1) <= 1 << 26
    ]
    totals = {s: total_of(s, k, epsilon) for s in spaces if k <= s.points <= 1 << 26}
    assert mechanism._space in totals
    good = [space for space, total in totals.items() if total <= 1.01 * min(totals.values())]
    if small := [space for space in good if space.points <= 1 << 24]:
        assert mechanism._space == min(small, key=lambda space: totals[space])
    else:
        assert mechanism._space.points == min(space.points for space in good)
    assert best_mechanism.total_variance(mechanism) == pytest.approx(totals[mechanism._space], rel=1e-8)


def test_the_points_have_codes_of_few_bits():
    for k, epsilon, order, length, bits in (
        (1000, 2.0, 8, 5, 13),
        (22_000, 5.0, 149, 3, 15),
        (3_307_948, 5.0, 149, 4, 22),
        (10**6, 6.0, 337, 4, 26),
        (3_307_948, 2.0, 9, 8, 23),
        (1 << 24, 1.0, 4, 13, 25),
    ):
        mechanism = ldp.ProjectiveGeometryResponse(k, epsilon)
        assert (mechanism.order, mechanism.length, mechanism.report_bits) == (order, length, bits)


# Sampling -------------------------------------------------------------------------------------------------------------


def test_reports_follow_the_channel():
    """Detects errors of a cell above 0.9 percentage points, for three categories."""
    mechanism, n = ldp.ProjectiveGeometryResponse(16, 1.0), 100_000
    for x in (0, 7, 15):
        counts = np.bincount(mechanism.privatize(np.full(n, x), rng=STATISTICS_SEED), minlength=21)
        assert_counts(counts, n, mechanism.channel().matrix[x], detects=0.009, alpha=ALPHA / 3)


# Input ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, (1 << 24) + 1, 2.5, True])
def test_a_wrong_number_of_categories_is_refused(k):
    with pytest.raises((TypeError, ValueError), match=r"^k must be an integer"):
        ldp.ProjectiveGeometryResponse(k, 1.0)


@each("epsilon", [5e-324, 1e-200, 1e-20, 50.0, 150.0, 1e300])
def test_an_epsilon_that_no_coin_certifies_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
        ldp.ProjectiveGeometryResponse(10, epsilon)


@pytest.mark.parametrize("k, record, report", [(5, "u1", "u1"), (300, "u2", "u2"), (70_000, "u4", "u4")])
def test_the_report_of_an_invalid_record_is_that_of_the_last_category(k, record, report):
    mechanism = ldp.ProjectiveGeometryResponse(k, 1.0)
    kernel, outputs = mechanism._recipe.kernel, []
    for value in (k - 1, k, np.iinfo(record).max):
        out = np.empty(300, report)
        kernel.privatize(stream.Stream(FIXED_KEY), 0, np.full(300, value, record), out)
        outputs.append(out.tolist())
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize("k, dtype", [(5, "u1"), (300, "u2"), (70_000, "u4")])
def test_a_record_outside_of_the_domain_is_refused(k, dtype):
    mechanism, x = ldp.ProjectiveGeometryResponse(k, 1.0), np.zeros(2100, dtype)
    mechanism.privatize(x)
    for value in (k, np.iinfo(dtype).max):
        x[2060] = value
        with pytest.raises(ValueError, match=rf"^x must be integers in \[0, k\) with k={k}; index 2060 is outside"):
            mechanism.privatize(x)


@pytest.mark.parametrize("order, length", [(8209, 2), (1, 3), (2, 1), (2, 33)])
def test_the_kernel_refuses_a_field_or_a_space_that_is_too_large_or_too_small(order, length):
    with pytest.raises(ValueError, match="the field or the space is too large"):
        privatize.ProjectiveResponse(2, order, length, 1 << 63)
