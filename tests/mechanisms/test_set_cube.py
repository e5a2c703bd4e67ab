"""The sampled cube for sets: the kernel against the reference, the exact channel, and estimates among those who were asked."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import SetCube
from ldpfast.reports import SampledBits, recipe_of

from ..support import set_cube as reference
from ..support.cases import each
from ..support.channels import exact_rows
from ..support.exact import exact_log, least_double_not_below
from ..support.internals.kernels import privatize, stream
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.machine_records import sets_of
from ..support.reference import Words


def law(mechanism):
    return recipe_of(mechanism).law


def positions_of(mechanism, sets):
    return mechanism.domain.convert(mechanism.domain.records(sets)[0])


# Reports --------------------------------------------------------------------------------------------------------------

SOME = [  # k, most, epsilon, optional, records
    (2, 1, 1.0, False, 65),
    (9, 4, 4.0, True, 1025),
    (20, 20, 2.0, False, 33),
    (27, 9, 6.0, False, 65),
    (63, 5, 0.5, True, 33),
    (128, 40, 4.0, False, 40),
    (129, 129, 4.0, True, 33),
    (20_000, 3, 4.0, False, 5),
    (40_000, 2, 4.0, True, 3),
    (63, 9, 9.0, False, 7),
]
ALL = [
    (3, 3, 4.0, False, 64),
    (3, 2, 4.0, True, 65),
    (8, 3, 10.0, False, 33),
    (61, 20, 6.0, True, 7),  # 62 coordinates
    (63, 9, 8.5, True, 7),  # the last coordinate ends a word
    (64, 64, 9.0, True, 33),
    (100, 50, 8.0, False, 9),
    (300, 31, 10.0, True, 3),
]


@each("k, most, epsilon, optional, n", [*SOME, *ALL])
def test_reports_equal_the_reference(isa, k, most, epsilon, optional, n):
    """Items of one, two and four bytes, and packed signs: as one number, and rows that are drawn until they are accepted."""
    mechanism = SetCube(k, most, epsilon, optional=optional)
    sets = [*sets_of(k, most, n - 1), None if optional else frozenset({0})]
    rows, got = positions_of(mechanism, sets).tolist(), mechanism.privatize(sets, rng=SEED)
    is_sampled = isinstance(mechanism.report, SampledBits)
    assert is_sampled == ((k, most, epsilon, optional, n) in SOME)
    make = reference.sampled_options if is_sampled else reference.all_options
    parts = [make(law(mechanism), KEY, block, rows[512 * block :][:512]) for block in range(-(-n // 512))]
    if is_sampled:
        assert got.dtype == np.min_scalar_type(2 * (k + optional) - 1)
    else:
        got = np.unpackbits(got, axis=1, count=k + optional, bitorder="little")
    np.testing.assert_array_equal(got, np.concatenate(parts))


@each("k, epsilon", [(9, 4.0), (3, 4.0), (100, 8.0)])
def test_the_side_changes_exactly_at_the_threshold_of_the_coin(isa, k, epsilon):
    """heads = word gives the other side for the first person, heads = word + 1 the side of the record."""
    mechanism = SetCube(k, k, epsilon)
    cube = law(mechanism).cube
    word, rows = Words(FIXED_KEY, "SET_CUBE_SIGNS", 0).word(), positions_of(mechanism, sets_of(k, k, 40))
    agreements = []
    for heads in (word, word + 1):
        if cube.sampled == k:
            out = np.empty((40, -(-k // 8)), np.uint8)
            kernel = privatize.SetCapCube(k, k, k, heads, cube.threshold, cube.up_to)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, rows, out)
            signs = np.unpackbits(out, axis=1, count=k, bitorder="little")
            np.testing.assert_array_equal(signs, reference.all_options(law(mechanism), FIXED_KEY, 0, rows, heads))
            agreements.append(int((signs[0] == reference.signs(mechanism.domain, rows[0])).sum()))
        else:
            out = np.empty((40, cube.sampled), np.uint8)
            kernel = privatize.SetCube(k, k, k, cube.sampled, heads, cube.threshold, cube.up_to)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, rows, out)
            expected = reference.sampled_options(law(mechanism), FIXED_KEY, 0, rows, heads)
            np.testing.assert_array_equal(out, expected)
            own = reference.signs(mechanism.domain, rows[0])[out[0] >> 1]
            agreements.append(int((out[0] % 2 == own).sum()))
    assert agreements[0] < cube.threshold <= agreements[1]


@each("k, most, epsilon, optional", [(9, 4, 4.0, True), (3, 2, 4.0, True), (100, 40, 8.0, False)])
def test_the_signs_of_any_row_of_numbers_are_those_of_a_vertex(isa, k, most, epsilon, optional):
    """And a row whose last number is no position is not valid."""
    mechanism = SetCube(k, most, epsilon, optional=optional)
    rows = np.random.default_rng(k).integers(0, 1 << 16, (60, most)).astype(np.uint16)
    rows[:30] %= k + most + optional
    out = np.empty((60, *mechanism.report.shape), np.uint8)
    for n in (30, 60):
        valid = recipe_of(mechanism).kernel.privatize(stream.Stream(KEY), 0, rows[:n], out[:n])
        assert valid == (n == 30)
    for last, valid in ((k + most + optional - 1, True), (k + most + optional, False)):
        row = np.append(np.zeros(most - 1), last).astype(np.uint16)[np.newaxis]
        assert recipe_of(mechanism).kernel.privatize(stream.Stream(KEY), 0, row, out[:1].copy()) == valid
    is_sampled = isinstance(mechanism.report, SampledBits)
    expected = (reference.sampled_options if is_sampled else reference.all_options)(
        law(mechanism), KEY, 0, rows.tolist()
    )
    got = out if is_sampled else np.unpackbits(out, axis=1, count=k + optional, bitorder="little")
    np.testing.assert_array_equal(got, expected)


# The exact channel ----------------------------------------------------------------------------------------------------

SMALL = [
    SetCube(2, 1, 1.0),
    SetCube(3, 2, 4.0),
    SetCube(4, 2, 4.0),
    SetCube(5, 2, 4.0),
    SetCube(4, 3, 2.0, optional=True),
    SetCube(5, 3, 2.0),
    SetCube(5, 5, 1.0, optional=True),
]


@pytest.mark.claim(
    "The guarantee of sampled options of a set holds for the whole set, and is exact.", "Privacy of reports"
)
@each("mechanism", SMALL, ids=repr)
def test_the_guarantee_is_that_of_the_integers(mechanism):
    """The largest ratio of two rows of the channel; one more unit of the coin exceeds epsilon."""
    cube, whole = law(mechanism).cube, coin_integers.WORD
    rows = law(mechanism).rows()
    assert len({sum(row) for row in rows}) == 1
    ratio = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert mechanism.epsilon_realized == least_double_not_below(exact_log(ratio)) <= mechanism.epsilon
    heads, others = cube.coin.heads, 2**cube.sampled - cube.patterns
    assert ratio == Fraction(heads * others, (whole - heads) * cube.patterns)
    above = Fraction((heads + 1) * others, (whole - heads - 1) * cube.patterns)
    assert exact_log(above) > mechanism.epsilon


def all_reports(mechanism):
    """Return the sampled coordinates and the signs of all reports, in the order of the channel."""
    cube = law(mechanism).cube
    sets = combinations(range(cube.dim), cube.sampled)
    return [({j: z >> i & 1 for i, j in enumerate(chosen)}) for chosen in sets for z in range(1 << cube.sampled)]


@each("mechanism", SMALL, ids=repr)
def test_the_shares_of_those_who_are_asked_are_unbiased_with_their_covariance(mechanism):
    """Sums over all reports of a record: the mean and the variance of the influence of a person on an estimate.

    A person who is asked about an option moves its share by (decoded bit - share) / (probability of being asked).
    """
    k, cube, line = mechanism.k, law(mechanism).cube, law(mechanism).line
    reports, rows = all_reports(mechanism), exact_rows(mechanism)
    vertices = [reference.signs(mechanism.domain, record) for record in law(mechanism).records()]
    weights = np.random.default_rng(k).dirichlet(np.ones(len(rows)))
    share = weights @ np.array(vertices)
    asked = np.array([[j in report for j in range(cube.dim)] for report in reports])
    bits = np.array([[report.get(j, 0) for j in range(cube.dim)] for report in reports])
    for vertex, row in zip(vertices, rows, strict=True):
        np.testing.assert_allclose(row @ asked, cube.sampled / cube.dim, rtol=1e-12)
        np.testing.assert_allclose(row @ (asked * line(bits)) * cube.dim / cube.sampled, vertex, atol=1e-12)
    influence = asked * (line(bits) - share) * cube.dim / cube.sampled
    covariance = (influence.T * (weights @ rows)) @ influence
    both = (np.array(vertices).T * weights) @ np.array(vertices)
    stated = law(mechanism).covariance(share[:, np.newaxis], share, both)
    off = ~np.eye(cube.dim, dtype=bool)
    np.testing.assert_allclose(stated[off], covariance[off], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(covariance.diagonal(), line.variance(share) * cube.dim / cube.sampled, rtol=1e-9)


@each("mechanism", SMALL, ids=repr)
def test_decoded_reports_are_unbiased_with_their_variance(mechanism):
    k, cube = mechanism.k, law(mechanism).cube
    half = cube.scale
    decoded = np.array(
        [[0.5 + half * (2 * r[j] - 1) if j in r else 0.5 for j in range(k)] for r in all_reports(mechanism)]
    )
    domain = mechanism.domain
    ticks = domain.ticks(np.array(list(law(mechanism).records())))
    rows = exact_rows(mechanism)
    np.testing.assert_allclose(rows @ decoded, ticks, atol=1e-10)
    variance = rows @ decoded**2 - ticks
    known = len(ticks) - domain.optional  # arrays have no missing sets
    np.testing.assert_allclose(mechanism.variance(ticks[:known].astype(int)), variance[:known], rtol=1e-9)
    if isinstance(mechanism.report, SampledBits):
        items = np.array([[2 * j + bit for j, bit in report.items()] for report in all_reports(mechanism)], np.uint8)
        np.testing.assert_allclose(mechanism.decode(items), decoded, rtol=1e-12)


# Estimates ------------------------------------------------------------------------------------------------------------


@each("epsilon, sampled, expected", [(1.0, 1, 18.4), (2.0, 2, 4.1), (4.0, 4, 0.86)])
def test_the_variance_of_a_rare_option_is_that_of_the_table(epsilon, sampled, expected):
    """Times the number of people; among those who were asked. A mean over all people would have 1.86 at epsilon 4."""
    mechanism = SetCube(20, 20, epsilon)
    assert mechanism.sampled == sampled
    found = float(law(mechanism).line.variance(0.0)) * 20 / sampled
    assert found == pytest.approx(expected, rel=6e-3)
    empty = np.zeros(20, int)
    assert float(mechanism.variance(empty)[0]) == pytest.approx(found + (20 / sampled - 1) / 4)


@pytest.mark.long
def test_the_squared_error_is_the_variance():
    """In 4,000 studies of 500 people: within 7 % for shares of 0, 0.3 and 1 (the normal limits are 6 %)."""
    mechanism, rng = SetCube(20, 20, 4.0), np.random.default_rng(STATISTICS_SEED)
    population = {frozenset({0, 1}): 0.3, frozenset({0, 2}): 0.5, frozenset({0}): 0.2}
    truth = np.array([1.0, 0.3, 0.0])
    found = [ldp.simulate(mechanism, population, 500, rng=rng).estimate().value[[0, 1, 9]] for _ in range(4000)]
    variance = law(mechanism).line.variance(truth) * 20 / mechanism.sampled
    assert 500 * ((np.array(found) - truth) ** 2).mean(axis=0) == pytest.approx(variance, rel=0.07)


@pytest.mark.long
@each("share", [0.0, 0.01, 0.3, 1.0])
def test_intervals_cover(share):
    """In 3,000 studies of 200 people: 93.5 to 98 % of the intervals of an option that 50 people are asked about."""
    mechanism, rng = SetCube(8, 8, 2.0), np.random.default_rng(STATISTICS_SEED)
    people = round(200 * share)
    population = {sets: n for sets, n in ((frozenset({0}), people), (frozenset({1}), 200 - people)) if n}
    covered = 0
    for _ in range(3000):
        low, high = ldp.simulate(mechanism, population, 200, rng=rng).estimate().interval(0.95)
        covered += low[0] <= share <= high[0]
    assert 0.935 <= covered / 3000 <= 0.98


def test_hits_are_those_of_the_people_who_were_asked():
    """With an axis for groups; the estimate of the mechanism has the same shares."""
    for mechanism in (SetCube(6, 3, 2.0, optional=True), SetCube(3, 2, 4.0, optional=True)):
        sets = [*sets_of(mechanism.k, mechanism.most, 400), None] * 5
        reports = mechanism.privatize(sets, rng=SEED)
        state = recipe_of(mechanism).tally(reports)[0][0]
        hits, trials = law(mechanism).hits(state, len(sets))
        dim = mechanism.k + 1
        if mechanism.sampled < dim:
            assert hits.tolist() == [int((reports == 2 * j + 1).sum()) for j in range(dim)]
            assert trials.tolist() == [int((reports >> 1 == j).sum()) for j in range(dim)]
        else:
            assert hits.tolist() == np.unpackbits(reports, axis=1, count=dim, bitorder="little").sum(axis=0).tolist()
            assert trials.tolist() == [len(sets)] * dim
        estimate, line = mechanism.estimate(reports), law(mechanism).line
        np.testing.assert_array_equal(estimate.value, line(hits / trials)[:-1])
        share = np.clip(estimate.value, 0, 1)
        np.testing.assert_allclose(estimate.stderr, np.sqrt(line.variance(share) / trials[:-1]), rtol=1e-12)
        both = law(mechanism).hits(np.stack([state, 2 * state]), np.array([len(sets), 2 * len(sets)]))
        np.testing.assert_array_equal(both[0], np.stack([hits, 2 * hits]))
        np.testing.assert_array_equal(both[1], np.stack([trials, 2 * trials]))


def test_an_option_about_which_nobody_was_asked_has_no_share():
    mechanism = SetCube(20, 20, 1.0)
    estimate = mechanism.estimate(mechanism.privatize([{3}] * 4, rng=SEED))
    assert np.isnan(estimate.value).sum() >= 16
    low, high = estimate.interval()
    gaps = np.isnan(estimate.value)
    assert (low[gaps] == -np.inf).all()
    assert (high[gaps] == np.inf).all()
    assert np.isinf(estimate.stderr[gaps]).all()
    assert np.isfinite([low[~gaps], high[~gaps], estimate.value[~gaps]]).all()


def test_there_are_no_sizes():
    mechanism = SetCube(20, 20, 1.0)
    with pytest.raises(ValueError, match="declare a smaller `most`"):
        mechanism.sizes(mechanism.privatize([{3}] * 40, rng=SEED))


# Parameters -----------------------------------------------------------------------------------------------------------


@each(
    "arguments, message",
    [
        ((1, 1, 1.0), r"k must be an integer in \[2, 65532\], got 1"),
        ((5, 0, 1.0), r"most must be an integer in \[1, 5\], got 0"),
        ((5, 6, 1.0), r"most must be an integer in \[1, 5\], got 6"),
        ((40_000, 40_000, 1.0), r"most must be an integer in \[1, 25533\], got 40000"),
        ((5, 2, 0.0), "epsilon must be a finite number > 0"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        SetCube(*arguments)


def test_a_saved_aggregator_is_loaded():
    mechanism = SetCube(20, 20, 4.0, optional=True)
    counted = mechanism.collect([{3}, None, set()] * 20, rng=SEED)
    assert ldp.load(counted.to_bytes()) == counted
    assert ldp.load(counted.to_bytes()).question == mechanism
