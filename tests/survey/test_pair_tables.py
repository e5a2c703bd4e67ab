"""Tables of every two of many questions: exact expectations, variances, margins, groups, and errors in many studies."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from ldpfast.mechanisms import ViewResponse
from ldpfast.reports import recipe_of
from ldpfast.survey import Pairs, Survey, YesNo

from ..support import view_response
from ..support.cases import each
from ..support.keys import STATISTICS_SEED
from ..support.modules import module_of

ASKED = Survey({"a": YesNo(), "b": YesNo(), "both": Pairs("a", "b")}, 4.0, weights={"a": 0, "b": 0})
PairTables = type(ASKED.run({"a": [True] * 50, "b": [False] * 50}, rng=1)["both"]._tables)
as_covariance = module_of(PairTables).as_covariance

SMALL = [
    ViewResponse([2, 2], 1.0),
    ViewResponse([2] * 4, 0.5),
    ViewResponse([2] * 4, 1.0),
    ViewResponse([2] * 4, 4.0),
    ViewResponse([2] * 5, 2.0),
    ViewResponse([3, 3, 3], 1.0),
    ViewResponse([3, 2, 4], 1.0),
    ViewResponse([3, 2, 4, 2], 5.0),
]


def reports_of(mechanism):
    """Yield all reports, with their kind, view and symbol."""
    sizes, design = mechanism.sizes, mechanism.design
    for flip, size in ((0, design.plain), (1, design.flip)):
        for view in combinations(range(len(sizes)), size) if size else ():
            symbols = 1 << size - 1 if flip else math.prod(sizes[i] for i in view)
            for symbol in range(symbols):
                yield view_response.packed(sizes, mechanism.report_bytes, flip, list(view), symbol), flip, view, symbol


def expected_state(mechanism, records, shares):
    """Return the expected counts of the reports of one person who is drawn from a population, by enumeration."""
    law, sizes, design = recipe_of(mechanism).law, mechanism.sizes, mechanism.design
    state = np.zeros(mechanism.report.state_layout[0])
    for report, flip, view, symbol in reports_of(mechanism):
        kind = (256 - design.share if flip else design.share) / 256
        coin = view_response.coin_of(law, flip, list(view))
        kept = (coin.keep - coin.words_per_symbol) / 2**coin.bits
        symbols = 1 << design.flip - 1 if flip else math.prod(sizes[i] for i in view)
        hit = np.array([view_response.symbol_of(sizes, flip, list(view), x) == symbol for x in records])
        chance = kind / math.comb(len(sizes), len(view)) * (kept * float(shares @ hit) + (1 - kept) / symbols)
        counts = mechanism.aggregator().update(np.frombuffer(report, np.uint8)[np.newaxis]).counts
        state += chance * counts
    return state


def population(sizes, seed=0):
    records = np.array(list(product(*map(range, sizes))))
    shares = np.random.default_rng([seed, *sizes]).dirichlet(np.full(len(records), 0.3))
    return records, shares


def table_of(records, shares, sizes, i, j):
    found = np.zeros((sizes[i], sizes[j]))
    np.add.at(found, (records[:, i], records[:, j]), shares)
    return found


@each("mechanism", SMALL, ids=repr)
def test_tables_of_expected_counts_are_those_of_the_population(mechanism):
    records, shares = population(mechanism.sizes)
    tables = PairTables.of(mechanism, expected_state(mechanism, records.tolist(), shares))
    for i, j in product(range(len(mechanism.sizes)), repeat=2):
        if i != j:
            truth = table_of(records, shares, mechanism.sizes, i, j)
            assert tables.table(i, j) == pytest.approx(truth, abs=1e-12)
            assert tables.shares(i) == pytest.approx(truth.sum(axis=1), abs=1e-12)


@each("mechanism", SMALL, ids=repr)
def test_all_tables_of_a_question_have_its_shares_as_margin(mechanism):
    """And covariances: their diagonal, those of the margins, and the sum of all cells, which is 1."""
    records, shares = population(mechanism.sizes)
    people = records[np.random.default_rng(1).choice(len(records), 3000, p=shares)]
    tables = PairTables.of(mechanism, mechanism.collect(people, rng=STATISTICS_SEED).counts)
    for i, j in product(range(len(mechanism.sizes)), repeat=2):
        if i == j:
            continue
        table, covariance = tables.table(i, j), tables.covariance(i, j)
        assert table.sum(axis=1) == pytest.approx(tables.shares(i), abs=1e-12)
        assert table == pytest.approx(tables.table(j, i).T, abs=1e-12)
        assert covariance.diagonal() == pytest.approx(tables.variance(i, j).ravel(), rel=1e-9)
        rows = np.kron(np.eye(mechanism.sizes[i]), np.ones(mechanism.sizes[j]))
        expected = tables.share_covariance(i)
        # The covariance of a table has its own estimate of the margins in plain views, with half of a report for each cell.
        assert rows @ covariance @ rows.T == pytest.approx(expected, rel=0.05, abs=0.02 * expected.max())
        assert np.ones(table.size) @ covariance @ np.ones(table.size) == pytest.approx(0, abs=1e-12)
        assert tables.share_covariance(i).diagonal() == pytest.approx(tables.share_variance(i), rel=1e-9)
        found = as_covariance(covariance)
        assert found.matrix == pytest.approx(covariance, abs=1e-12)


def test_states_of_groups_have_the_tables_of_each():
    for mechanism in (ViewResponse([2] * 6, 1.0), ViewResponse([3, 2, 4], 1.0), ViewResponse([3] * 4, 4.0)):
        rng = np.random.default_rng(0)
        parts = [rng.integers(0, mechanism.sizes, (n, len(mechanism.sizes))) for n in (500, 900)]
        states = [mechanism.collect(part, rng=i).counts for i, part in enumerate(parts)]
        both = PairTables.of(mechanism, np.stack(states))
        for g, state in enumerate(states):
            one = PairTables.of(mechanism, state)
            for i, j in combinations(range(len(mechanism.sizes)), 2):
                assert both.table(i, j)[g] == pytest.approx(one.table(i, j), rel=1e-12)
                assert both.variance(i, j)[g] == pytest.approx(one.variance(i, j), rel=1e-12)
                assert both.asked(i, j)[g] == one.asked(i, j)


def fair(rng, n, questions):
    return rng.integers(0, 2, (n, questions), np.uint8), lambda i, j: np.full((2, 2), 0.25)


def correlated(rng, n, questions):
    """Return answers that all become more frequent in one of two hidden groups, and their joint shares."""
    rates = np.linspace(0.05, 0.5, questions) + 0.4 * np.array([[0.0], [1.0]])
    group = (rng.random(n) < 0.4).astype(int)
    both = np.stack([1 - rates, rates], axis=-1)

    def truth(i, j):
        return sum(w * np.outer(both[g, i], both[g, j]) for g, w in ((0, 0.6), (1, 0.4)))

    return rng.random((n, questions)) < rates[group], truth


def mixed(rng, n, sizes):
    """Return answers with other frequencies in each of two hidden groups, and their joint shares."""
    rates = [[np.random.default_rng([g, i]).dirichlet(np.ones(r)) for i, r in enumerate(sizes)] for g in (0, 1)]
    group = rng.random(n) < 0.4
    columns = [
        np.where(group, rng.choice(r, n, p=rates[1][i]), rng.choice(r, n, p=rates[0][i])) for i, r in enumerate(sizes)
    ]
    return np.stack(columns, axis=1), lambda i, j: sum(
        w * np.outer(rates[g][i], rates[g][j]) for g, w in ((0, 0.6), (1, 0.4))
    )


def studies(mechanism, people, n, runs):
    """Return n times the mean squared error of a cell, the mean stated variance, and the coverage of 95 % intervals."""
    rng = np.random.default_rng(STATISTICS_SEED)
    error = variance = covered = 0.0
    batch = 50
    pairs = list(combinations(range(len(mechanism.sizes)), 2))
    for _ in range(0, runs, batch):
        x, truth = people(rng, n * batch)
        groups = mechanism.collect(x, by=np.repeat(np.arange(batch), n), rng=rng)
        tables = PairTables.of(mechanism, np.stack([groups[g].counts for g in range(batch)]))
        for i, j in pairs:
            left, spread = tables.table(i, j) - truth(i, j), tables.variance(i, j)
            error += n * (left**2).mean() / len(pairs)
            variance += n * spread.mean() / len(pairs)
            covered += (np.abs(left) < 1.959964 * np.sqrt(spread)).mean() / len(pairs)
    return error * batch / runs, variance * batch / runs, covered * batch / runs


@pytest.mark.long
@pytest.mark.claim("All tables of two of many questions have the stated variances and coverage.", "Estimates")
@pytest.mark.parametrize(
    "questions, epsilon, target, runs",
    [(10, 1.0, 28.8, 3000), (20, 1.0, 93.3, 1500), (20, 2.0, 21.4, 1500), (20, 4.0, 4.26, 1500)],
)
def test_the_squared_error_of_fair_answers_is_the_target(questions, epsilon, target, runs):
    """Studies of 10,000 people; the squared error and the stated variance within 2 %, that is about 4 standard errors."""
    mechanism = ViewResponse([2] * questions, epsilon)
    error, variance, covered = studies(mechanism, lambda rng, n: fair(rng, n, questions), 10_000, runs)
    assert error == pytest.approx(target, rel=0.02)
    assert variance == pytest.approx(target, rel=0.02)
    assert 0.94 < covered < 0.96


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_squared_error_of_other_answers_is_the_stated_variance(epsilon):
    for sizes, people in (
        ([2] * 10, lambda rng, n: correlated(rng, n, 10)),
        ([3] * 6, lambda rng, n: mixed(rng, n, [3] * 6)),
        ([2, 3, 4, 2, 5], lambda rng, n: mixed(rng, n, [2, 3, 4, 2, 5])),
    ):
        error, variance, covered = studies(ViewResponse(sizes, epsilon), people, 10_000, 500)
        assert error == pytest.approx(variance, rel=0.05)
        assert 0.94 < covered < 0.97
