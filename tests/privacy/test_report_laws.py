"""Shuffled reports by the law of one report: enumeration of datasets, exact sums, targets, and laws of mechanisms."""

from __future__ import annotations

import functools
import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import PrivUnit, SketchResponse, TreeResponse, ViewResponse
from ldpfast.privacy import (
    Channel,
    DatasetLaw,
    Guarantee,
    ReportLaw,
    TwoLevel,
    laws_of_rows,
    shuffled,
    shuffled_delta,
)
from ldpfast.reports import recipe_of

from ..support.cases import each
from ..support.internals.privacy import blanket, two_outcomes
from ..support.shuffled_reports import histograms, worst_divergence

# Enumeration ----------------------------------------------------------------------------------------------------------


def exact_blanket(law, n, order):
    """Return the mean of the positive part of the sum of n values by enumeration, divided by n."""
    masses, values = np.append(law.masses, law.rest), np.append(law.first - order * law.second, 0.0)
    total = np.zeros(1)
    weight = np.ones(1)
    for _ in range(n):
        total = np.add.outer(total, values).ravel()
        weight = np.multiply.outer(weight, masses).ravel()
    return float(weight @ np.maximum(total, 0)) / n


def random_channel(generator, inputs, outputs):
    """Return a random channel: of two or many levels, with a pair of rows that is close for half of them."""
    kind, odds = generator.integers(4), math.exp(generator.uniform(0.3, 4))
    shape = (inputs, outputs)
    weights = np.where(generator.random(shape) < 0.5, 1, odds) if kind < 2 else odds ** generator.random(shape)
    rows = weights * generator.dirichlet(np.ones(outputs))
    rows /= rows.sum(axis=1, keepdims=True)
    if kind in (1, 3):
        rows[1] = rows[0] + generator.random() * (rows[1] - rows[0])
    return rows


def check_random_channels(trials, seed):
    """The divergence of every dataset is at most the bound, which is at most that for all channels of this epsilon."""
    generator = np.random.default_rng(seed)
    for trial in range(trials):
        rows, n = random_channel(generator, *generator.integers(2, [4, 5]).tolist()), trial % 4 + 1
        epsilon = Channel(rows).epsilon() + 1e-9
        at = epsilon * generator.random(3) ** 1.5
        orders = np.exp(at)
        truth = worst_divergence(rows, n, orders)
        found, weaker = shuffled_delta(Channel(rows), n, at), shuffled_delta(epsilon, n, at)
        assert (truth <= found * (1 + 1e-12) + 1e-15).all()
        assert (found <= weaker * (1 + 2e-3) + 1e-12).all()


def test_no_dataset_of_a_random_channel_is_above_the_bound():
    check_random_channels(25, 1)


@pytest.mark.claim("`shuffled` never states less than the loss of any finite channel.", "Composition and audits")
@pytest.mark.long
def test_no_dataset_of_many_random_channels_is_above_the_bound():
    check_random_channels(500, 2)


def test_one_law_is_above_all_pairs_of_many_rows():
    """Nine rows have 72 pairs: the law at each epsilon is above those of all of them, and a bound for every dataset."""
    generator = np.random.default_rng(7)
    for trial in range(4):
        rows = np.exp(generator.uniform(0.3, 4) * generator.random((9, 4)))
        rows /= rows.sum(axis=1, keepdims=True)
        (law,) = laws_of_rows(rows.tolist())
        base, at = rows.min(axis=0), law.ratios.max() ** np.array([0.0, 0.2, 0.6])
        found = shuffled_delta(Channel(rows), trial % 2 + 1, np.log(at))
        assert (worst_divergence(rows, trial % 2 + 1, at) <= found * (1 + 1e-12) + 1e-15).all()
        for order in at:
            own, any_channel = law.at(math.log(order))
            assert any_channel is law
            for i, j in itertools.permutations(range(9), 2):
                pair = ReportLaw(base, rows[i] / base, rows[j] / base, 1 - base.sum())
                points = np.append(own.first - order * own.second, pair.first - order * pair.second)
                assert (means_above(pair, order, points) <= means_above(own, order, points) * (1 + 1e-12) + 1e-14).all()


def means_above(law, order, points):
    """Return the means of (X - t)^+ for some points t."""
    values = np.append(law.first - order * law.second, 0.0)
    return np.append(law.masses, law.rest) @ np.maximum(values[:, np.newaxis] - points, 0)


def test_channels_of_many_rows_are_below_any_channel():
    rows = np.exp(2 * np.random.default_rng(3).random((12, 12)))
    channel = Channel(rows / rows.sum(axis=1, keepdims=True))
    found, weaker = shuffled(channel, 5000, 1e-6), shuffled(channel.epsilon(), 5000, 1e-6)
    assert found.lower < found.epsilon < 0.62 * weaker.epsilon
    assert found.epsilon < 1.5 * found.lower


def check_arbitrary_channels(trials, seed):
    """The bound of randomized response, for pairs of records of any channel with the same epsilon, and up to five people."""
    generator = np.random.default_rng(seed)
    for trial in range(trials):
        outputs = int(generator.integers(2, 4))
        n = 5 if trial % 10 == 0 else int(generator.integers(2, 5))
        rows = random_channel(generator, 2 if n == 5 else int(generator.integers(2, 4)), outputs)
        odds = float((rows.max(axis=0) / rows.min(axis=0)).max())
        law = ReportLaw.of_two_level(TwoLevel.binary(odds * (1 + 1e-12)))
        for order in np.exp(math.log(odds) * generator.random(2)):
            truth = worst_divergence(rows, n, [order])[0]
            assert truth <= exact_blanket(law, n, order) * (1 + 1e-9) + 1e-14


def test_arbitrary_channels_are_below_randomized_response():
    check_arbitrary_channels(60, 3)


@pytest.mark.long
def test_five_thousand_arbitrary_channels_are_below_randomized_response():
    check_arbitrary_channels(5000, 4)


@each("trial", range(6))
def test_the_convolution_is_above_the_exact_sum_and_close(trial):
    generator = np.random.default_rng(10 + trial)
    rows = random_channel(generator, 2, 3)
    for law, n in itertools.product(laws_of_rows(rows.tolist()), (1, 2, 5)):
        plain = ReportLaw(law.masses, law.first, law.second, law.rest)
        for epsilon in Channel(rows).epsilon() * np.array([0.0, 0.2, 0.6]):
            exact = exact_blanket(plain, n, math.exp(epsilon))
            for fine in (blanket.FINE, blanket.COARSE):
                found = blanket.blanket_delta(plain, n, epsilon, fine)
                assert exact <= found * (1 + 1e-12)
                assert found <= exact * (1 + 0.2 * fine) + 1e-12


@each("n", [399, 400, 401, 1000, 1001, 99_999])
def test_the_convolution_agrees_with_the_distribution_of_two_counts(n):
    """Both are the same divergence for disjoint sets; one and two grids, with and without a rest of the blocks."""
    for odds in (1.5, 55.0, 3000.0):
        law = ReportLaw.of_two_level(TwoLevel.binary(odds))
        for epsilon in np.array([0.3, 1.0, 3.0]) / math.sqrt(n * min(1.0, 2 / odds)):
            if epsilon < 0.5 * math.log(odds):
                exact = shuffled_counts(odds, n, epsilon)
                found = blanket.blanket_delta(law, n, epsilon)
                assert exact * (1 - 1e-7) <= found
                assert found <= exact * (1 + 0.01)


def shuffled_counts(odds, n, epsilon):
    """Return the divergence of randomized response by a sum over all numbers of fair bits within 12 standard deviations."""
    from scipy import stats

    rate, order = 2 / (odds + 1), math.exp(epsilon)
    reach = 40 * math.sqrt(n * rate * (1 - rate)) + 40
    t = np.arange(max(1, math.floor(n * rate - reach)), min(n, math.ceil(n * rate + reach)) + 1.0)
    miss = 1 / (odds + 1)
    gap = 1 / (1 + order) - miss
    c = np.floor(t * gap / (1 - 2 * miss))
    value = (1 + order) * gap * stats.binom.pmf(c, t - 1, 0.5) - (order - 1) * stats.binom.cdf(c - 1, t - 1, 0.5)
    return float(stats.binom.pmf(t - 1, n - 1, rate) @ np.maximum(value, 0))


def test_every_step_of_the_grid_is_a_bound():
    law = ReportLaw.of_laplace(4.0, 64)
    for n, epsilon in ((50, 1.0), (3000, 0.6)):
        found = [blanket.blanket_delta(law, n, epsilon, fine) for fine in (0.01, 0.04, 0.2, 1.0)]
        assert all(a <= b * (1 + 1e-6) for a, b in itertools.pairwise(found))
        assert found[1] <= found[0] * 1.01


# Two reports ----------------------------------------------------------------------------------------------------------


def exact_bits(p, q, n, order):
    """Return the largest divergence of the number of ones in fractions, over all records of the others, in both orders."""

    def added(law, rate):
        return [a * (1 - rate) + b * rate for a, b in zip([*law, 0], [0, *law], strict=True)]

    worst = Fraction(0)
    for m in range(n):
        law = [Fraction(1)]
        for k in range(n - 1):
            law = added(law, p if k < m else q)
        mine, theirs = added(law, p), added(law, q)
        for a, b in ((mine, theirs), (theirs, mine)):
            worst = max(worst, sum((max(x - order * y, Fraction(0)) for x, y in zip(a, b, strict=True)), Fraction(0)))
    return worst


@each("p, q", [(Fraction(3, 4), Fraction(1, 4)), (Fraction(5, 6), Fraction(1, 12)), (Fraction(1, 2), Fraction(1, 50))])
@each("n", [1, 2, 3, 9])
def test_two_reports_are_exact(p, q, n):
    law = ReportLaw.of_outcomes(p, q)
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        exact = exact_bits(p, q, n, Fraction(math.exp(epsilon)))
        found = law.outcomes.delta(n, epsilon)
        assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 10**9)) + Fraction(1, 10**13)


def test_transforms_of_two_reports_equal_enumeration():
    """For all numbers of others with each record, at the same time."""
    generator = np.random.default_rng(5)
    for _ in range(25):
        q, p = np.sort(generator.uniform(0.02, 0.98, 2))
        n = int(generator.integers(60, 250))
        epsilon = min(math.log(p / q) * 0.9, generator.uniform(1, 6) / math.sqrt(n * p * (1 - p)))
        order, m = math.exp(epsilon), np.arange(n)
        exact = two_outcomes._enumerated((p, 1 - p), (q, 1 - q), n, order)
        found = two_outcomes._by_transform((p, 1 - p), (q, 1 - q), m, n - 1 - m, order)
        # the enumeration is rounded up, by more for a small result
        assert exact * (1 - 1e-6) - 1e-290 <= found <= exact * 1.12 + 1e-250


@pytest.mark.parametrize(
    "mechanism, n, delta, expected",
    [
        (ldp.Warner(1.0), 1000, 1e-6, 0.12661),
        (ldp.Warner(2.0), 1000, 1e-6, 0.32332),
        (ldp.SignBit(0.0, 1.0, 2.0), 1000, 1e-6, 0.32332),
        (ldp.Warner(4.0), 100_000, 1e-8, 0.1097),
    ],
    ids=repr,
)
def test_two_reports_have_the_figures_of_the_worst_dataset(mechanism, n, delta, expected):
    digits = len(repr(expected)) - 2
    assert round(shuffled(mechanism, n, delta).epsilon, digits) == expected


def test_the_worst_records_of_the_others_are_not_always_at_an_end():
    odds = Fraction(math.exp(2.0))
    p = odds / (odds + 1)
    yes, m = (float(p), float(1 - p)), np.arange(1000)
    found = [
        two_outcomes._by_transform(yes, yes[::-1], m[i : i + 1], 999 - m[i : i + 1], math.exp(0.32332))
        for i in (0, 2, 500, 997, 999)
    ]
    assert max(found[1], found[3]) > max(found[0], found[4])
    assert max(found[1], found[3]) > found[2]


@each("n", [300, 5000, 10**6])
def test_groups_of_records_are_bounds_for_their_members(n):
    law = ReportLaw.of_outcomes(Fraction(7, 8), Fraction(1, 5)).outcomes
    for epsilon in np.array([0.5, 2.0, 5.0]) / math.sqrt(n):
        single = law.near(n, epsilon)
        assert single * (1 - 1e-9) <= law.delta(n, epsilon) <= law.delta(n, epsilon, 64) * (1 + 1e-9)
        assert law.delta(n, epsilon) <= single * 1.02


@each(
    "mechanism",
    [
        ldp.Warner(1.0),
        ldp.RandomizedResponse(2, 3.0),
        ldp.SignBit(0.0, 1.0, 0.5),
        ldp.FiniteChannel([[30, 6], [3, 33]]),
    ],
    ids=repr,
)
def test_two_reports_have_the_integers_of_the_coin(mechanism):
    """A coin that is off by one unit of 2^-64 has other probabilities."""
    (first, second), total = mechanism.channel().integers, sum(mechanism.channel().integers[0])
    found = mechanism.report_laws[0].outcomes
    expected = {Fraction(first[0], total), Fraction(second[0], total)}
    assert {found.p, found.q} in (expected, {1 - x for x in expected})
    one_more = {Fraction(first[0] + 1, total), Fraction(second[0], total)}
    assert {found.p, found.q} not in (one_more, {1 - x for x in one_more})


# Laws of mechanisms ---------------------------------------------------------------------------------------------------


@each(
    "mechanism",
    [
        ldp.RandomizedResponse(5, 2.0),
        ldp.UnaryEncoding(3, 2.0),
        ldp.UnaryEncoding(3, 2.0, method="optimized"),
        ldp.SubsetSelection(5, 1.0),
        ldp.HadamardResponse(3, 1.0),
        ldp.Window(0.0, 1.0, 2.0),
        TreeResponse(9, 1.0, branching=3),
        TreeResponse(8, 1.5, branching=2, method="haar"),
        ViewResponse((2, 3), 1.0),
        ldp.LinfBall(2, 2.0, radius=1.0, ties="thin"),
    ],
    ids=repr,
)
def test_laws_of_mechanisms_are_above_those_of_all_pairs_of_rows(mechanism):
    """In the convex order: the mean of (X - t)^+ for all t."""
    laws = mechanism.report_laws
    assert len(laws) == 1
    rows = recipe_of(mechanism).law.rows()
    if rows is None:
        return
    table = np.array([[float(Fraction(w) / sum(map(Fraction, row))) for w in row] for row in rows])
    table = table[:, table.min(axis=0) > 0]
    base = table.min(axis=0)
    for order in (1.0, 1.1, math.exp(0.7 * mechanism.epsilon_realized)):
        mine, theirs = laws[0].first - order * laws[0].second, []
        for i, j in itertools.islice(itertools.permutations(range(len(table)), 2), 60):
            theirs.append(table[i] / base - order * table[j] / base)
        points = np.linspace(-order * mechanism.epsilon_realized * 3, math.exp(mechanism.epsilon_realized), 60)
        own = np.array([laws[0].masses @ np.maximum(mine - t, 0) + laws[0].rest * max(-t, 0) for t in points])
        rest = 1 - base.sum()
        for values in theirs:
            other = np.array([base @ np.maximum(values - t, 0) + rest * max(-t, 0) for t in points])
            assert (other <= own * (1 + 1e-9) + 1e-9).all()


def test_laplace_is_above_the_grid_for_all_pairs_of_integers():
    generator = np.random.default_rng(6)
    for steps, epsilon in ((3, 0.5), (8, 1.0), (8, 4.0), (25, 3.0)):
        y, decay = np.arange(-30 * steps, 30 * steps) + 0.5, epsilon / steps
        rows = np.array([math.tanh(decay / 2) * np.exp(-decay * (np.abs(y - i) - 0.5)) / 2 for i in range(steps + 1)])
        rows = rows * (1 - math.exp(-decay)) / math.tanh(decay / 2)
        rows[:, [0, -1]] /= -math.expm1(-decay)  # the first and the last cell hold the tails
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-9)
        base, law = rows.min(axis=0), ReportLaw.of_laplace(epsilon, 1024)
        for _ in range(12):
            i, j = generator.choice(steps + 1, 2, replace=False)
            order = math.exp(generator.uniform(-1, 1) * epsilon)
            values, own = (rows[i] - order * rows[j]) / base, law.first - order * law.second
            for t in np.linspace(min(own.min(), 0), own.max(), 80):
                other = base @ np.maximum(values - t, 0) + (1 - base.sum()) * max(-t, 0)
                assert other <= (law.masses @ np.maximum(own - t, 0) + law.rest * max(-t, 0)) * (1 + 1e-9) + 1e-9


@each("epsilon", [0.01, 1.0, 8.0, 60.0])
def test_laplace_has_the_mass_and_the_means_of_its_law(epsilon):
    law = ReportLaw.of_laplace(epsilon, 512)
    assert math.fsum(law.masses) == pytest.approx(math.exp(-epsilon / 2), rel=1e-12)
    assert math.fsum(law.masses) + law.rest >= 1
    assert law.masses @ law.first == pytest.approx(1.0, rel=1e-12)
    assert law.masses @ law.second == pytest.approx(1.0, rel=1e-12)
    fewer = ReportLaw.of_laplace(epsilon, 16)
    assert blanket.blanket_delta(law, 500, 0.1) <= blanket.blanket_delta(fewer, 500, 0.1) * (1 + 1e-3)


def test_products_are_laws_of_two_answers():
    """Two answers of Warner's design in one message: a channel of four reports."""
    one = [[Fraction(7, 8), Fraction(1, 8)], [Fraction(1, 8), Fraction(7, 8)]]
    both = [[a * b for a in one[x] for b in one[y]] for x, y in itertools.product(range(2), repeat=2)]
    law = ReportLaw.of_outcomes(Fraction(7, 8), Fraction(1, 8))
    product = law.product(law)
    for n, epsilon in ((3, 0.5), (1000, 0.3)):
        expected = shuffled_delta(Channel(both), n, epsilon)
        assert blanket.blanket_delta(product, n, epsilon) == pytest.approx(expected, rel=5e-3)
    two = ReportLaw.of_outcomes(*(Fraction(math.exp(s)) / (1 + Fraction(math.exp(s))) for s in (2.0, -2.0)))
    assert blanket.blanket_delta(two.product(two), 1000, 1.401) == pytest.approx(1e-6, rel=0.02)


def test_kinds_are_mixtures():
    """A report of one of two designs, drawn at random and sent along, is a channel of four reports."""
    designs = [(Fraction(1, 3), Fraction(4, 5), Fraction(1, 5)), (Fraction(2, 3), Fraction(1, 2), Fraction(1, 6))]
    rows = [[w * r for w, *pair in designs for r in (pair[i], 1 - pair[i])] for i in range(2)]
    mixtures = [
        ReportLaw.mixture(
            [(w, ReportLaw.of_outcomes(*pair)) for w, pair in zip((Fraction(1, 3), Fraction(2, 3)), pairs, strict=True)]
        )
        for pairs in ([(p, q) for _, p, q in designs], [(1 - q, 1 - p) for _, p, q in designs])
    ]
    for n, epsilon in ((2, 0.3), (500, 0.2)):
        found = max(blanket.blanket_delta(mixture, n, epsilon) for mixture in mixtures)  # both orders of the records
        assert found == pytest.approx(shuffled_delta(Channel(rows), n, epsilon), rel=5e-3)


def test_sketches_and_caps_have_laws():
    for mechanism in (PrivUnit(100, 4.0), SketchResponse(4.0, max_bytes=8), ldp.LaplaceVector(2, 4.0, norm="linf")):
        assert shuffled(mechanism, 10_000, 1e-6).epsilon < 0.9 * shuffled(4.0, 10_000, 1e-6).epsilon
    assert shuffled(ldp.LaplaceVector(2, 4.0, norm="linf"), 1000, 1e-6).epsilon == pytest.approx(0.911, abs=2e-3)
    assert ldp.LaplaceVector(2, 4.0).report_laws is None


def test_channels_can_be_shuffled():
    rows = [[4, 2, 1], [1, 4, 2], [2, 1, 4]]
    exact, real = Channel(rows), Channel(np.array(rows) / 7)
    assert shuffled(exact, 100, 1e-6) == shuffled(ldp.FiniteChannel(rows), 100, 1e-6)
    assert shuffled(real, 100, 1e-6).epsilon == pytest.approx(shuffled(exact, 100, 1e-6).epsilon, rel=1e-6)
    some = Channel(rows, neighbors=[(0, 1)])
    assert shuffled(some, 100, 1e-6).epsilon == shuffled(some.epsilon(), 100, 1e-6).epsilon
    with pytest.raises(ValueError, match="finite"):
        shuffled(Channel([[1, 0], [0, 1]]), 100, 1e-6)


# Targets --------------------------------------------------------------------------------------------------------------


def makers(epsilon):
    return {
        "any mechanism": lambda: epsilon,
        "Warner, half-spaces": lambda: ldp.L2Ball(20, epsilon),
        "RandomizedResponse(10)": lambda: ldp.RandomizedResponse(10, epsilon),
        "UnaryEncoding optimized": lambda: ldp.UnaryEncoding(100, epsilon, method="optimized"),
        "UnaryEncoding symmetric": lambda: ldp.UnaryEncoding(100, epsilon),
        "SubsetSelection(100)": lambda: ldp.SubsetSelection(100, epsilon),
        "HadamardResponse(100)": lambda: ldp.HadamardResponse(100, epsilon),
        "RankedSigns(100)": lambda: ldp.RankedSigns(100, epsilon),
        "Laplace": lambda: ldp.Laplace(0, 1, epsilon),
    }


def targets():
    """Yield the name, the epsilon of one report, and pairs of an epsilon and a lower bound for each number of people."""
    for line in (Path(__file__).parent / "shuffled_epsilons.txt").read_text().splitlines():
        if not line.startswith("#"):
            head, cells = line.split(": ")
            name, epsilon = head.rsplit(", ", 1)
            yield name, float(epsilon), [tuple(map(float, cell.split())) for cell in cells.split(", ")]


@functools.cache
def shuffled_guarantee(name, epsilon, n):
    """Return the guarantee of n shuffled reports of a mechanism of the table."""
    return shuffled(makers(epsilon)[name](), n, 1e-6)


def check_targets(lines, sizes):
    """Figures of four digits."""
    for name, epsilon, cells in lines:
        for n, (target, lower) in zip((100, 1000, 10_000, 1_000_000), cells, strict=True):
            if n in sizes:
                found = shuffled_guarantee(name, epsilon, n).epsilon
                assert lower * (1 - 1e-3) <= found <= target * (1 + 1e-3), (name, epsilon, n, found)
                if name.startswith("Warner"):  # the bits themselves, not those about a direction
                    exact = shuffled(ldp.Warner(epsilon), n, 1e-6).epsilon
                    assert lower * (1 - 1e-3) <= exact <= found, (epsilon, n, exact)


def test_epsilons_of_a_thousand_people_are_at_their_targets():
    check_targets([line for line in targets() if line[1] == 4.0], {1000})


# Lower bounds ---------------------------------------------------------------------------------------------------------


def divergence_of_dataset(rows, first, second, others, n, order):
    """Return the divergence for n - 1 others who all have one record."""
    mine, theirs = (histograms([rows[x], *[rows[others]] * (n - 1)]) for x in (first, second))
    return float(np.maximum(mine - order * theirs, 0).sum())


@each(
    "mechanism",
    [
        ldp.RandomizedResponse(3, 2.0),
        ldp.UnaryEncoding(2, 2.0),
        ldp.UnaryEncoding(3, 1.0, method="optimized"),
        ldp.SubsetSelection(4, 1.0),
        ldp.HadamardResponse(3, 1.0),
        ldp.ProjectiveGeometryResponse(3, 1.0),
        ldp.FiniteChannel([[4, 2, 1], [1, 4, 2], [2, 1, 4]]),
        ldp.FiniteChannel([[5, 1, 1], [2, 4, 1], [1, 1, 5]]),
    ],
    ids=repr,
)
def test_lower_bounds_are_those_of_datasets(mechanism):
    """Never above the exact divergence, and at most half a percent below it."""
    rows = mechanism.channel().matrix
    datasets = max(mechanism.report_laws, key=lambda law: law.spread).datasets
    assert len(datasets) >= 2
    triples = list(itertools.product(range(min(3, len(rows))), repeat=3))
    for n, share in itertools.product((1, 3), (0.0, 0.6)):
        epsilon = share * mechanism.epsilon_realized
        order = math.exp(epsilon)
        exact = [divergence_of_dataset(rows, i, j, x, n, order) for i, j, x in triples if i != j]
        for dataset in datasets:
            found = dataset.delta(n, epsilon)
            above = min((value for value in exact if value >= found), default=0.0)
            assert found <= above <= found * 1.005 + 1e-9
        assert max(dataset.delta(n, epsilon) for dataset in datasets) <= worst_divergence(rows, n, [order])[0]


def test_lower_bounds_of_laplace_are_those_of_its_grid():
    """Reports are grouped to the cells between integers."""
    steps, epsilon = 3, 2.0
    decay = epsilon / steps
    cells = np.arange(-60, 60) + 0.5
    rows = np.array(
        [math.tanh(decay / 2) * np.exp(-decay * np.abs(cells - i)) * math.cosh(decay / 2) for i in (0, steps)]
    )
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-9)
    edges = np.searchsorted(cells, np.arange(steps + 1))
    rows = np.array([[part.sum() for part in np.split(row, edges)] for row in rows])
    for number, dataset in enumerate(DatasetLaw.of_laplace(epsilon, steps)):
        for n, order in itertools.product((1, 2, 4), (1.0, 2.0)):
            exact = divergence_of_dataset(rows, 0, 1, number, n, order)
            assert exact * 0.995 <= dataset.delta(n, math.log(order)) <= exact * (1 + 1e-12)


def test_lower_bounds_of_bits_are_exact_sums():
    for odds in (Fraction(3, 2), Fraction(150)):
        p = odds / (odds + 1)
        datasets = [DatasetLaw.of_sets(TwoLevel.binary(odds), sets) for sets in ((0, 0.5, 0, 0), (0, 0, 0.5, 0))]
        for n, spread in itertools.product((5, 60, 3000, 10**6), (0.5, 3.0, 5.0)):
            epsilon = min(0.8 * math.log(odds), spread / math.sqrt(n / float(odds)))
            for dataset, rate in zip(datasets, (float(p), float(1 - p)), strict=True):
                exact = divergence_of_bits(float(p), rate, n, math.exp(epsilon))
                if exact > 1e-20:  # where binomial probabilities in doubles are accurate enough
                    assert exact * (0.99 if n > 10 else 0.97) <= dataset.delta(n, epsilon) <= exact * (1 + 1e-9)


def divergence_of_bits(p, others, n, order):
    """Return the divergence of the number of ones if the others have them with one probability."""
    from scipy import stats

    reach = 12 * math.sqrt(n * others * (1 - others)) + 60
    ones = np.arange(max(0, math.floor(n * others - reach)), min(n, math.ceil(n * others + reach)) + 1)
    before, same = stats.binom.pmf(ones - 1, n - 1, others), stats.binom.pmf(ones, n - 1, others)
    mine, theirs = p * before + (1 - p) * same, (1 - p) * before + p * same
    return float(np.maximum(mine - order * theirs, 0).sum())


def test_guarantees_say_between_which_epsilons():
    loose = shuffled(ldp.UnaryEncoding(20, 1.0), 1000, 1e-6)
    assert 0.8 * loose.epsilon < loose.lower < 0.98 * loose.epsilon
    printed = [float(number) for number in re.findall(r"between (\S+) and (\S+),", str(loose))[0]]
    assert loose.lower - 1e-4 < printed[0] <= loose.lower < loose.epsilon <= printed[1] < loose.epsilon + 1e-4
    assert eval(repr(loose), {"Guarantee": Guarantee}).lower == loose.lower
    assert loose.to_dict()["lower"] == loose.lower
    for exact in (ldp.Warner(1.0), ldp.RandomizedResponse(10, 1.0), ldp.FiniteChannel([[30, 6], [3, 33]])):
        tight = shuffled(exact, 1000, 1e-6)
        assert tight.lower is None
        assert str(tight) == repr(tight)
        assert "lower" not in tight.to_dict()
    any_mechanism = shuffled(1.0, 1000, 1e-6)
    warner = shuffled(ldp.Warner(1.0), 1000, 1e-6)
    assert 0.995 * warner.epsilon < any_mechanism.lower < warner.epsilon < any_mechanism.epsilon
    assert shuffled(1.0, 1000, 0.0).lower is None
    with pytest.raises(ValueError, match="lower must be in"):
        Guarantee("approximate", 1.0, 1e-6, lower=1.1)


def check_lower_bounds(lines, sizes):
    for name, epsilon, cells in lines:
        for n, (target, lower) in zip((100, 1000, 10_000, 1_000_000), cells, strict=True):
            if n in sizes:
                found = shuffled_guarantee(name, epsilon, n)
                if found.lower is not None:
                    assert lower * 0.96 <= found.lower <= min(lower * (1 + 2e-3), 0.98 * found.epsilon), (
                        name,
                        epsilon,
                        n,
                    )
                elif name not in WITHOUT_DATASETS:
                    assert lower >= 0.96 * target, (name, epsilon, n)


WITHOUT_DATASETS = ("Warner, half-spaces", "RankedSigns(100)")


def test_lower_bounds_of_a_thousand_people_are_those_of_the_table():
    check_lower_bounds([line for line in targets() if line[1] == 2.0], {1000})


@pytest.mark.long
def test_all_epsilons_and_lower_bounds_are_those_of_the_table():
    lines, sizes = list(targets()), {100, 1000, 10_000, 1_000_000}
    assert sum(len(cells) for *_, cells in lines) == 180
    check_targets(lines, sizes)
    check_lower_bounds(lines, sizes)
    assert shuffled(1.0, 10**11, 1e-6).lower is None  # the epsilon is that of fewer people
