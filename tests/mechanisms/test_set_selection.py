"""Set selection: the kernel against the reference, the exact channel, estimates, and the choice of the design."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.domains import Sets
from ldpfast.mechanisms import WholeSets
from ldpfast.privacy import Channel
from ldpfast.reports import recipe_of

from ..support import set_selection as reference
from ..support.cases import each
from ..support.errors import raises
from ..support.internals.kernels import privatize, ranges, stream
from ..support.internals.mechanisms import subset_selection
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.machine_records import sets_of
from ..support.statistics import assert_counts


def members(reports, d):
    """Return the sets of packed reports."""
    return [set(np.flatnonzero(row).tolist()) for row in np.unpackbits(reports, axis=1, count=d, bitorder="little")]


def law(mechanism):
    return recipe_of(mechanism).law


SetDesign = type(law(ldp.SetSelection(2, 1, 1.0)).design)


# Reports --------------------------------------------------------------------------------------------------------------

DESIGNS = [  # k, most, optional, size, threshold, records
    (2, 1, False, 2, 1, 65),
    (2, 2, False, 2, 1, 64),
    (2, 2, True, 2, 2, 9),
    (5, 3, False, 3, 2, 130),
    (20, 3, False, 2, 1, 1025),
    (20, 2, True, 3, 1, 33),
    (40, 4, False, 16, 1, 33),
    (45, 5, False, 17, 2, 33),
    (61, 3, False, 8, 1, 20),  # the last position is in the first word
    (62, 3, False, 8, 1, 20),  # and in the second one
    (100, 3, False, 9, 1, 300),
    (100, 3, False, 20, 1, 300),
    (123, 6, True, 30, 3, 40),
    (300, 40, False, 20, 3, 12),
    (300, 256, False, 30, 10, 8),
    (1000, 3, False, 86, 1, 70),
    (1000, 3, False, 4, 1, 70),
    (65_000, 3, False, 40, 1, 3),
]


@each("k, most, optional, size, threshold, n", DESIGNS)
def test_reports_equal_the_reference(isa, k, most, optional, size, threshold, n):
    mechanism = ldp.SetSelection(k, most, 1.0, optional=optional, size=size, threshold=threshold)
    design = law(mechanism).design
    records = [*sets_of(k, most, n - 1), None if optional else frozenset({0})]
    rows = mechanism.domain.convert(mechanism.domain.records(records)[0]).tolist()
    per_block, expected = 1024 // -(-design.positions // 64), []
    density = subset_selection.first_density(design.positions - design.own, design.size)
    for block in range(-(-n // per_block)):
        part = rows[per_block * block : per_block * (block + 1)]
        expected += reference.set_reports(design, mechanism._coin, density, KEY, block, part)
    reports = mechanism.privatize(records, rng=SEED)
    assert members(reports, design.positions) == expected
    assert mechanism.report.invalidity(reports) is None


@each("k, most, optional", [(2, 1, False), (3, 3, True), (20, 3, False), (300, 5, False), (255, 1, False)])
def test_codes_equal_the_reference(isa, k, most, optional):
    mechanism = ldp.SetSelection(k, most, 2.0, optional=optional, size=1)
    records = [*sets_of(k, most, 700), *([None] if optional else [])]
    rows, expected = mechanism.domain.convert(mechanism.domain.records(records)[0]).tolist(), []
    per_block = mechanism._recipe.kernel.rows
    for block in range(-(-len(rows) // per_block)):
        part = rows[per_block * block : per_block * (block + 1)]
        expected += reference.set_codes(law(mechanism).design, mechanism._coin, KEY, block, part)
    assert mechanism.privatize(records, rng=SEED).tolist() == expected


@each("k, most, size, threshold", [(4, 2, 2, 1), (9, 3, 4, 2), (70, 3, 20, 1)])
def test_the_report_has_own_positions_exactly_below_the_threshold(isa, k, most, size, threshold):
    """The first word of a block is the coin. heads = word gives too few of the positions, heads = word + 1 enough."""
    word, design = (
        reference.Words(FIXED_KEY, "SET_COINS", 0).word(),
        SetDesign(k + most, most, size, threshold),
    )
    for options in combinations(range(min(k, 6)), most):
        for heads, enough in ((word, False), (word + 1, True)):
            out = np.empty((1, -(-design.positions // 8)), np.uint8)
            density = subset_selection.first_density(k, size)
            kernel = privatize.SetSelection(k + most, most, size, threshold, heads, design.up_to, density)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, np.array([options], np.uint16), out)
            (report,) = members(out, design.positions)
            assert len(report) == size
            assert (len(report & set(options)) >= threshold) == enough


def test_a_code_is_an_own_position_exactly_below_the_threshold():
    word = reference.Words(FIXED_KEY, "SET_COINS", 0).word()
    for heads, own in ((word, False), (word + 1, True)):
        out = np.empty(1, np.uint8)
        privatize.SetPosition(23, 3, heads).privatize(
            stream.Stream(FIXED_KEY), 0, np.array([[1, 2, 20]], np.uint16), out
        )
        assert (out[0] in (1, 2, 20)) == own


def test_any_rows_of_numbers_give_the_report_of_some_record(isa):
    """Positions that do not ascend or are too large are moved; the kernel says that a record is not valid."""
    design = SetDesign(9, 3, 3, 1)
    kernel = privatize.SetSelection(9, 3, 3, 1, 1 << 63, design.up_to, subset_selection.first_density(6, 3))
    bad = np.array([[2, 2, 2], [5, 1, 0], [9, 9, 9], [65535, 0, 65535], [7, 8, 8]], np.uint16)
    good = np.array([[2, 3, 4], [5, 6, 7], [6, 7, 8], [6, 7, 8], [6, 7, 8]], np.uint16)
    reports = [np.empty((5, 2), np.uint8) for _ in range(2)]
    assert not kernel.privatize(stream.Stream(KEY), 0, bad, reports[0])
    assert kernel.privatize(stream.Stream(KEY), 0, good, reports[1])
    assert (reports[0] == reports[1]).all()


@pytest.mark.parametrize("numbered", [True, False])
def test_all_reports_have_their_probability(isa, numbered):
    """Also by the way of sets without a number of 63 bits. Detects errors of half a percentage point of a report."""
    n, design, record = 300_000, SetDesign(7, 2, 3, 1), [1, 6]
    heads = 3 << 62
    kernel = privatize.SetSelection(
        7, 2, 3, 1, heads, design.up_to if numbered else [], subset_selection.first_density(5, 3)
    )
    out = np.empty((n, 1), np.uint8)
    kernel.privatize(stream.Stream(KEY), 0, np.tile(np.array(record, np.uint16), (n, 1)), out)
    found = Counter(out[:, 0].tolist())
    expected = {
        sum(1 << i for i in chosen): heads / 2**64 / design.inside
        if set(chosen) & set(record)
        else (1 - heads / 2**64) / (design.outputs - design.inside)
        for chosen in combinations(range(7), 3)
    }
    assert found.keys() <= expected.keys()
    assert_counts([found[code] for code in expected], n, list(expected.values()), detects=0.005)


# The channel ----------------------------------------------------------------------------------------------------------

SMALL = [
    ldp.SetSelection(4, 2, 1.0, size=2, threshold=1),
    ldp.SetSelection(4, 2, 2.0, size=3, threshold=2),
    ldp.SetSelection(5, 3, 0.5, size=2, threshold=1),
    ldp.SetSelection(4, 2, 1.0, optional=True, size=2, threshold=1),
    ldp.SetSelection(4, 2, 1.0, optional=True, size=1),
    ldp.SetSelection(3, 1, 1.0),
    ldp.SetSelection(3, 1, 1.0, optional=True, size=2),
    ldp.SetSelection(2, 2, 3.0),
]


def exact(mechanism):
    """Return all records and reports as sets of positions, and the channel in fractions, from the integers of the coin."""
    design, coin, k, m = law(mechanism).design, mechanism._coin, mechanism.k, mechanism.most
    records = [set(s) | set(range(k, k + m - r)) for r in range(m + 1) for s in combinations(range(k), r)]
    if mechanism.optional:
        records.append(set(range(k, k + m - 1)) | {k + m})
    reports = [set(s) for s in combinations(range(design.positions), design.size)]
    inside = Fraction(coin.heads, (1 << 64) * design.inside)
    outside = Fraction((1 << 64) - coin.heads, (1 << 64) * (design.outputs - design.inside))
    rows = [[inside if len(r & t) >= design.threshold else outside for t in reports] for r in records]
    return records, reports, rows


@pytest.mark.claim("The guarantee of a set of options holds for the whole set, and is exact.", "Privacy of reports")
@each("mechanism", SMALL, ids=repr)
def test_the_guarantee_is_that_of_the_integers(mechanism):
    _, _, rows = exact(mechanism)
    assert all(sum(row) == 1 for row in rows)
    worst = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert worst <= Fraction(math.exp(mechanism.epsilon)) * (1 + Fraction(1, 2**50))
    assert Channel(rows).epsilon() == mechanism.epsilon_realized == mechanism.channel().epsilon()
    # One more unit of the coin would exceed epsilon.
    coin, design = mechanism._coin, law(mechanism).design
    more = Fraction((coin.heads + 1) * (design.outputs - design.inside), ((1 << 64) - coin.heads - 1) * design.inside)
    assert math.log(more) >= mechanism.epsilon or Channel([[more, 1], [1, more]]).epsilon() > mechanism.epsilon


@each("mechanism", SMALL, ids=repr)
def test_moments_are_those_of_the_channel(mechanism):
    """Shares, variances and the covariances of all pairs of positions, as sums over all reports in fractions."""
    records, reports, rows = exact(mechanism)
    moments, line = law(mechanism).moments, mechanism._recipe.decoding.line
    p, q, d = moments.own, moments.other, law(mechanism).design.positions
    for record, row in zip(records, rows, strict=True):
        pairs = list(zip(row, reports, strict=True))
        means = [sum(w for w, report in pairs if i in report) for i in range(d)]
        assert means == [p if i in record else q for i in range(d)]
        for i, j in combinations(range(d), 2):
            both = sum(w for w, report in pairs if i in report and j in report)
            assert both == moments.pairs[(i in record) + (j in record)]
            covariance = float((both - means[i] * means[j]) / (p - q) ** 2)
            shares = [float(i in record), float(j in record), float(i in record and j in record)]
            assert moments.covariance(*map(np.float64, shares)) == pytest.approx(covariance, rel=1e-9, abs=1e-12)
    assert float(line(float(p))) == pytest.approx(1)
    assert float(line(float(q))) == pytest.approx(0, abs=1e-12)


@each("mechanism", SMALL, ids=repr)
def test_levels_for_shuffling_are_those_of_the_channel(mechanism):
    records, reports, _ = exact(mechanism)
    least = law(mechanism).design.threshold
    hit = [[len(record & report) >= least for report in reports] for record in records]
    assert {sum(row) for row in hit} == {law(mechanism).design.inside}
    apart = max(sum(a and not b for a, b in zip(x, y, strict=True)) for x in hit for y in hit)
    assert law(mechanism).design.difference() == apart


@each("k, most, epsilon, optional", [(8, 3, 6.0, False), (10, 4, 8.0, True), (6, 5, 7.0, False)])
def test_levels_for_shuffling_with_larger_thresholds(k, most, epsilon, optional):
    design = law(ldp.SetSelection(k, most, epsilon, optional=optional)).design
    first = set(range(design.own))
    apart = 0
    for common in range(max(0, 2 * design.own - design.positions), design.own):
        other = set(range(design.own - common, 2 * design.own - common))
        reports = (set(chosen) for chosen in combinations(range(design.positions), design.size))
        apart = max(apart, sum(len(first & r) >= design.threshold > len(other & r) for r in reports))
    assert design.difference() == apart


# Estimates ------------------------------------------------------------------------------------------------------------


def test_the_variances_are_those_of_the_table():
    """Times the number of people, for a rare option and for a share of 0.3."""
    for k, most, epsilon, rare, common in (
        (20, 3, 0.25, 179, 188),
        (20, 3, 1, 8.51, 11.2),
        (20, 3, 2, 1.01, 2.80),
        (20, 3, 4, 0.0636, 0.991),
        (50, 5, 1, 16.4, 21.3),
        (50, 5, 2, 2.11, 6.0),
        (100, 3, 1, 11.3, 14.3),
        (100, 3, 2, 1.95, 3.98),
        (100, 10, 1, 33.2, 43.7),
        (1000, 3, 1, 12.1, 15.1),
    ):
        line = ldp.SetSelection(k, most, epsilon)._recipe.decoding.line
        assert (float(line.variance(0.0)), float(line.variance(0.3))) == pytest.approx((rare, common), rel=5e-3)


@pytest.mark.long
def test_the_squared_error_is_the_variance():
    """In 4,000 studies of 200 people: within 7 % for a rare and a common option (the normal limits are 6 %)."""
    mechanism, rng = ldp.SetSelection(20, 3, 1.0), np.random.default_rng(STATISTICS_SEED)
    population = {frozenset({0, 1}): 0.3, frozenset({2}): 0.5, frozenset(): 0.2}
    errors = np.array(
        [ldp.simulate(mechanism, population, 200, rng=rng).estimate().value[[0, 9]] - [0.3, 0] for _ in range(4000)]
    )
    line = mechanism._recipe.decoding.line
    assert 200 * (errors**2).mean(axis=0) == pytest.approx([float(line.variance(s)) for s in (0.3, 0.0)], rel=0.07)


@pytest.mark.long
@each(
    "mechanism",
    [
        *SMALL,
        ldp.SetSelection(20, 3, 4.0),
        ldp.SetSelection(20, 3, 1.0, optional=True),
        WholeSets(4, 2, 2.0),
        WholeSets(5, 2, 3.0, optional=True),
        WholeSets(6, 6, 4.0),
    ],
    ids=repr,
)
def test_sizes_are_unbiased_with_their_covariance(mechanism):
    """1,200 simulated studies: the mean of the estimates within 5.5 standard errors, the variances within 20 %."""
    k, m = mechanism.k, mechanism.most
    population = {frozenset(): 0.2, frozenset({0}): 0.3, frozenset(range(k - m, k)): 0.4}
    population[None if mechanism.optional else frozenset({1})] = 0.1
    truth = np.zeros(m + 1)
    for record, share in population.items():
        if record is not None:
            truth[len(record)] += share / (0.9 if mechanism.optional else 1)
    rng = np.random.default_rng(STATISTICS_SEED)
    found = [mechanism.sizes(ldp.simulate(mechanism, population, 20_000, rng=rng)) for _ in range(1200)]
    values, stated = np.array([f.value for f in found]), np.mean([f.covariance for f in found], axis=0)
    assert (np.abs(values.mean(axis=0) - truth) <= 5.5 * np.sqrt(stated.diagonal() / len(found))).all()
    assert values.var(axis=0) == pytest.approx(stated.diagonal(), rel=0.2)
    assert values.sum(axis=1) == pytest.approx(1)


def test_sizes_of_other_things_are_refused():
    mechanism = ldp.SetSelection(5, 2, 1.0)
    with raises(ValueError, "an estimate needs at least 1 report, got n = 0"):
        mechanism.sizes(mechanism.aggregator())
    with pytest.raises(ValueError, match=r"^other must aggregate answers to the same question"):
        mechanism.sizes(ldp.SetSelection(5, 2, 2.0).aggregator())
    reports = mechanism.privatize([{0}, {1, 2}] * 50, rng=1)
    assert mechanism.sizes(reports) == mechanism.sizes(mechanism.aggregator().update(reports))


# Records --------------------------------------------------------------------------------------------------------------


def test_all_forms_of_records_are_the_same():
    mechanism, sets = ldp.SetSelection(13, 4, 2.0), sets_of(13, 4, 200)
    rows = np.array([[option in ticks for option in range(13)] for ticks in sets])
    expected = mechanism.privatize(rows, rng=1)
    lists = [sorted(ticks, reverse=True) for ticks in sets]
    forms = [rows.astype(dtype) for dtype in ("u1", "i1", "i8", ">u2")]
    forms += [np.packbits(rows, axis=1, bitorder="little"), sets, lists, [tuple(ticks) for ticks in lists]]
    forms += [np.array([*lists, None], object)[:-1], pa.array(lists), [np.array(ticks, np.int16) for ticks in lists]]
    for form in forms:
        assert (mechanism.privatize(form, rng=1) == expected).all()
        assert mechanism.run(form, rng=1) == mechanism.estimate(expected)
    for record, row in zip(sets, rows, strict=True):
        assert mechanism.privatize(record, rng=1) == mechanism.privatize(row, rng=1)


def test_personal_keys_depend_on_the_set_alone():
    mechanism = ldp.SetSelection(70, 3, 1.0, size=9)
    keys = ldp.PersonKeys(bytes(32), np.arange(200), question="q")
    reports = mechanism.privatize([[5, 69, 1]] * 200, rng=keys)
    assert (mechanism.privatize([(1, 5, 69)] * 200, rng=keys) == reports).all()
    rows = np.zeros((200, 70), bool)
    rows[:, [1, 5, 69]] = True
    assert (mechanism.privatize(rows, rng=keys) == reports).all()
    assert (mechanism.privatize([{1, 5, 68}] * 200, rng=keys) != reports).any(axis=1).all()


@each(
    "x, bad, first",
    [
        ([{0}, {1, 2, 3, 4}], 1, 1),
        ([[0, 0], [1]], 1, 0),
        ([[0], [5]], 1, 1),
        ([[-1], [4]], 1, 0),
        ([{0}, None, None], 2, 1),
        ([[1, 10**30]], 1, 0),
        (np.array([[0, 1, 2, 0, 0]]), 1, 0),
        (np.array([[1, 1, 0, 1, 1], [0, 0, 0, 0, 256]]), 2, 0),
        (np.array([[0b100001]], np.uint8), 1, 0),
    ],
)
def test_sets_out_of_range_are_refused(x, bad, first):
    mechanism = ldp.SetSelection(5, 3, 1.0)
    some = f"{bad} of {len(x)} are" if len(x) > 1 else "1 of 1 are"
    with raises(
        ValueError,
        f"x must be sets of at most 3 different options, integers in [0, k) with k=5; index {first} is outside ({some})",
    ):
        mechanism.privatize(x)


@each(
    "x, error, message",
    [
        (
            [[0.5]],
            TypeError,
            "x must hold sets of integers, got one with other values; zeros and ones must be in an array",
        ),
        (
            [[True]],
            TypeError,
            "x must hold sets of integers, got one with other values; zeros and ones must be in an array",
        ),
        (["ab"], TypeError, "x must hold sets of integers, got one of type str"),
        ([1, 2], TypeError, "x must hold sets of integers, got one of type int"),
        ([0, 1, 0, 1], TypeError, "x must hold sets of integers, got one of type int"),
        ("ab", TypeError, "x must be sets in a list, or an array of zeros and ones, got str"),
        ({1: 2}, TypeError, "x must be sets in a list, or an array of zeros and ones, got dict"),
        (
            np.zeros((3, 4), int),
            ValueError,
            "x must have shape (n, k) or (n, ceil(k / 8)) with k=5, without n for one record, got shape (3, 4)",
        ),
        (np.zeros((3, 1), int), TypeError, "packed bits must have dtype uint8, got dtype int64"),
        (np.zeros((3, 5)), TypeError, "x must be integers, got dtype float64"),
    ],
)
def test_what_is_no_set_is_refused(x, error, message):
    with raises(error, message):
        ldp.SetSelection(5, 3, 1.0).privatize(x)


def test_lists_that_may_be_ticks_or_zeros_and_ones_are_refused():
    mechanism = ldp.SetSelection(2, 2, 1.0)
    with raises(
        TypeError, "x must hold sets or be an array of zeros and ones if k = 2, got lists, which may be either"
    ):
        mechanism.privatize([[0, 1], [1, 0]])
    assert len(mechanism.privatize([{0, 1}, [1], []])) == 3


def test_clip_is_refused():
    with raises(ValueError, "clip must be False for sets, got True"):
        ldp.SetSelection(5, 3, 1.0).privatize([{0}], clip=True)


@each("k", [2, 7, 8, 9, 63, 64, 65, 128, 1000])
def test_positions_are_those_of_the_ones(isa, k):
    """Rows of bytes and packed rows, with all numbers of ones up to one too many, and other numbers."""
    rng, most = np.random.default_rng(k), min(k - 1, 5)
    rows = np.zeros((200, k), np.uint8)
    for i, row in enumerate(rows):
        row[rng.choice(k, i % (most + 2), replace=False)] = 1
    found, packed = np.empty((200, most), np.uint16), np.empty((200, most), np.uint16)
    ranges.fill_positions(rows, k, found)
    ranges.fill_positions(np.packbits(rows, axis=1, bitorder="little"), k, packed)
    assert (found == packed).all()
    for row, positions in zip(rows, found.tolist(), strict=True):
        ones = np.flatnonzero(row).tolist()
        if len(ones) > most:
            assert positions[-1] == 65535
        else:
            assert positions == [*ones, *range(k, k + most - len(ones))]
    rows[7, k - 1] |= 2
    ranges.fill_positions(rows, k, found)
    assert found[7, -1] == 65535


# The design -----------------------------------------------------------------------------------------------------------


@each("k, most", [(2, 1), (5, 2), (8, 3), (20, 3), (20, 5), (50, 5)])
@each("epsilon", [0.25, 1.0, 2.0, 4.0, 6.0])
def test_the_design_has_the_smallest_variance(k, most, epsilon):
    """By the exact moments of all designs."""
    mechanism = ldp.SetSelection(k, most, epsilon)

    def worst(size, threshold):
        design = SetDesign(k + most, most, size, threshold)
        if not 1e-4 < design.inside / design.outputs < 1 - 1e-4:
            return math.inf
        odds = math.exp(epsilon)
        total = design.inside * odds + design.outputs - design.inside
        weights = [number * (odds if c >= threshold else 1) / total for c, number in enumerate(design.sets)]
        p = sum(c * w for c, w in enumerate(weights)) / most
        q = (size - most * p) / k
        ends = [(s * p * (1 - p) + (k - s) * q * (1 - q)) / (p - q) ** 2 / k for s in (0, most)]
        return max(ends)

    designs = {(z, t): worst(z, t) for z in range(1, min(k, (k + most) // 2) + 1) for t in range(1, min(z, most) + 1)}
    assert designs[mechanism.size, mechanism.threshold] == pytest.approx(min(designs.values()), rel=1e-9)


def test_sets_of_one_option_are_subset_selection():
    for epsilon in (0.5, 1.0, 3.0):
        one = ldp.SetSelection(20, 1, epsilon)
        subset = ldp.SubsetSelection(21, epsilon)
        assert one.size == subset.size
        assert one.epsilon_realized == subset.epsilon_realized


@each(
    "arguments, error, message",
    [
        ((1, 1, 1.0), ValueError, "k must be an integer in [2, 65532], got 1"),
        ((5, 0, 1.0), ValueError, "most must be an integer in [1, 5], got 0"),
        ((5, 6, 1.0), ValueError, "most must be an integer in [1, 5], got 6"),
        ((1000, 257, 1.0), ValueError, "most must be an integer in [1, 256], got 257"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, error, message):
    with raises(error, message):
        ldp.SetSelection(*arguments)


def test_a_design_that_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"^threshold must be at most size and most"):
        ldp.SetSelection(20, 3, 1.0, size=2, threshold=3)
    with pytest.raises(ValueError, match=r"^size must be an integer in \[1, 20\], got 21$"):
        ldp.SetSelection(20, 3, 1.0, size=21)


def test_the_distribution_of_simulated_counts_is_that_of_reports():
    """The same means and covariances of counts, by 1,500 simulated studies of 30 people, within 5 standard errors."""
    mechanism, rng = ldp.SetSelection(4, 2, 1.0, size=2), np.random.default_rng(STATISTICS_SEED)
    population, n = {frozenset({0, 1}): 0.4, frozenset({3}): 0.6}, 30
    _, reports, rows = exact(mechanism)
    drawn = np.array([ldp.simulate(mechanism, population, n, rng=rng).counts for _ in range(1500)])
    records = exact(mechanism)[0]
    weights = np.zeros(len(reports))
    for ticks, share in population.items():
        record = set(ticks) | set(range(4, 6 - len(ticks)))
        weights += share * np.array([float(w) for w in rows[records.index(record)]])
    ones = np.array([[i in report for i in range(6)] for report in reports], float)
    mean = weights @ ones
    covariance = (ones.T * weights) @ ones - np.outer(mean, mean)
    assert drawn.mean(axis=0) / n == pytest.approx(mean, abs=5 * np.sqrt(covariance.diagonal().max() / n / 1500))
    assert np.cov(drawn.T) / n == pytest.approx(covariance, abs=0.05)


@pytest.mark.parametrize("size", [1, 2])
def test_simulated_reports_of_one_set_have_their_size(size):
    mechanism = ldp.SetSelection(3, 2, 1.0, size=size)
    for seed in range(20):
        counts = ldp.simulate(mechanism, {frozenset({0, 2}): 2}, 2, rng=seed).counts
        assert counts.sum() == 2 * size
        assert counts.max() <= 2


def test_records_of_the_domain_ascend():
    domain = Sets(5, 3, optional=True)
    records, single = domain.records([{4, 0}, set(), None, [2, 1, 3]])
    assert records.tolist() == [[0, 4, 5], [5, 6, 7], [5, 6, 8], [1, 2, 3]]
    assert not single
    assert domain.ticks(records).sum() == 5
