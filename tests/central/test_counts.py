"""Private counts of the cells of a table: the exact loss, labels, limits and their coverage, and mistakes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest

import ldpfast as ldp
from ldpfast.central import CountsEstimate, counts
from ldpfast.survey import Choice, Cross, Histogram, Mean, Number, Several, Text, YesNo

from ..support import reference
from ..support.cases import each
from ..support.errors import raises
from ..support.internals.shared import coin_integers
from ..support.modules import module_of
from ..support.statistics import assert_coverage, normal_margin

inside = module_of(counts)

N = 600
PEOPLE = {
    "smokes": np.arange(N) % 3 == 0,
    "way": np.resize(["foot", "car", "bus", "car"], N),
    "age": np.arange(N) % 90,
    "left": np.resize(np.array([True, False, None], object), N),
}
QUESTIONS = {
    "smokes": YesNo(),
    "way": Choice(["bus", "car", "foot"]),
    "age": Histogram([0, 18, 65, 90], integers=True),
    "left": YesNo(optional=True),
}

# Privacy --------------------------------------------------------------------------------------------------------------


@each("epsilon", [0.1, 1.0, 4.0, 20.0])
@each("cells, changed, sensitivity", [(2, 1, 1), (3, 2, 2)])
def test_the_loss_of_a_replaced_record(epsilon, cells, changed, sensitivity):
    """Exact loss of the coins in use: two counts of a table change by one, and one number if there are two cells.

    A coin that is one unit off, as those for another epsilon, would not have this loss.
    """
    coins = coin_integers.geometric(epsilon, sensitivity, 1, changed)
    pmf = reference.geometric_distribution(coins.groups, coins.carry, 128, 3)
    noise = {n: pmf[n if n >= 0 else -1 - n] for n in range(-len(pmf), len(pmf))}
    steps = [noise[n] / noise[n - 1] for n in range(-len(pmf) + 1, len(pmf))]
    worst = max(max(steps), 1 / min(steps)) ** changed
    with localcontext(prec=60):
        loss = (Decimal(worst.numerator) / Decimal(worst.denominator)).ln()
        assert loss <= Decimal(coins.epsilon_realized) <= Decimal(epsilon)
        assert loss >= Decimal(epsilon) * (1 - Decimal("1e-12"))
    question = {"x": Choice(cells)}
    found = counts({"x": [0]}, question, epsilon=epsilon, rng=1)
    assert found.guarantee == ldp.privacy.Guarantee("pure", coins.epsilon_realized)
    assert found.stderr[0] == math.sqrt(coins.noise_variance)


def test_a_replaced_record_changes_two_counts_by_one():
    """In any cell of a table with missing values, and of numbers that are out of range."""
    columns = inside._columns(QUESTIONS)
    shape = tuple(column.k for column in columns.values())
    frame = pd.DataFrame(PEOPLE)
    before, n = inside._counted(frame, columns, shape, True)
    assert (before.sum(), n) == (N, N)
    values = itertools.product([True, False], ["bus", "foot"], [-5, 17, 18, 1000], [None, True])
    for row, replaced in enumerate(values):
        other = frame.copy()
        for name, value in zip(QUESTIONS, replaced, strict=True):
            other.loc[row, name] = value
        moved = inside._counted(other, columns, shape, True)[0] - before
        assert np.abs(moved).sum() in (0, 2)
        assert moved.sum() == 0


def test_the_noise_does_not_depend_on_the_records():
    """The same stream gives the same noise for other records, and each cell of a large table has its own."""
    noise = []
    for seed in (1, 2):
        x = np.random.default_rng(seed).integers(0, 5000, 10_000)
        found = counts({"x": x}, {"x": Choice(5000)}, epsilon=1.0, rng=7)
        noise.append(found.value - np.bincount(x, minlength=5000))
    np.testing.assert_array_equal(*noise)
    assert (noise[0] % 1 == 0.5).all()
    assert abs(noise[0].mean()) < normal_margin(2) * found.stderr[0] / math.sqrt(5000)
    assert 0.8 < noise[0].var() / found.stderr[0] ** 2 < 1.2


def test_releases_differ_without_a_seed():
    released = {counts(PEOPLE, {"smokes": YesNo()}, epsilon=0.01).value[0] for _ in range(20)}
    assert len(released) > 10


# Labels and counts ----------------------------------------------------------------------------------------------------


@each("names", [("smokes",), ("way",), ("left",), ("age", "smokes"), ("way", "left", "age", "smokes")])
def test_a_table_has_the_counts_of_its_labels(names):
    """Labels decide: each cell is within the noise of the number of records with its labels, in every order of the axes."""
    found = counts(PEOPLE, {name: QUESTIONS[name] for name in names}, epsilon=40.0, rng=1)
    assert found.names == names
    shown = pd.DataFrame(
        {
            "smokes": np.where(PEOPLE["smokes"], "yes", "no"),
            "way": PEOPLE["way"],
            "age": np.select([PEOPLE["age"] < 18, PEOPLE["age"] < 65], ["0 to 17", "18 to 64"], "65 to 90"),
            "left": ["no answer" if x is None else "yes" if x else "no" for x in PEOPLE["left"]],
        }
    )
    expected = shown.groupby(list(names)).size()
    for place, labels in zip(np.ndindex(found.value.shape), itertools.product(*found.axes), strict=True):
        key = labels if len(labels) > 1 else labels[0]
        assert abs(found.value[place] - expected.get(key, 0)) == 0.5
    table = found.table()
    assert list(table.columns) == [*names, "count", "stderr", "low", "high"]
    for labels, count in zip(zip(*(table[name] for name in names), strict=True), table["count"], strict=True):
        assert abs(count - expected.get(labels if len(labels) > 1 else labels[0], 0)) == 0.5


def test_containers_give_the_same_table():
    """Also a categorical with its categories in another order, and a table in pieces."""
    questions = {name: QUESTIONS[name] for name in ("way", "age", "smokes")}
    expected = counts(PEOPLE, questions, epsilon=1.0, rng=3)
    frame = pd.DataFrame(PEOPLE)
    other = frame.assign(way=frame["way"].astype(pd.CategoricalDtype(["foot", "bus", "tram", "car"])))
    pa = pytest.importorskip("pyarrow")
    arrow = pa.table({name: PEOPLE[name] for name in questions})
    pieces = pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=7))
    lists = {name: list(PEOPLE[name]) for name in questions}
    for form in (frame, other, arrow, pieces, lists, frame.astype({"age": np.float32})):
        np.testing.assert_array_equal(counts(form, questions, epsilon=1.0, rng=3).value, expected.value)


def test_two_cells_add_up_to_the_number_of_records_and_have_half_the_noise():
    two, three = (counts({"x": [0] * 50}, {"x": Choice(k)}, epsilon=0.5, rng=1) for k in (2, 3))
    assert two.value.sum() == 50
    assert 1.9 < three.stderr[0] / two.stderr[0] < 2.1
    assert two.value[0] % 1 == two.value[1] % 1 == 0.5


def test_the_result_names_its_cells():
    found = counts(PEOPLE, {"smokes": YesNo(), "left": YesNo(optional=True)}, epsilon=1.0, rng=1)
    assert isinstance(found, CountsEstimate)
    described = found.to_dict()
    assert (described["names"], described["axes"]) == (["smokes", "left"], [["no", "yes"], ["no", "yes", "no answer"]])
    assert found.shares.labels[:3] == ("no, no", "no, yes", "no, no answer")
    assert np.allclose(found.shares.value, found.value / N)
    assert (found.shares.stderr > found.stderr / N).any()
    for same in (found, found.shares):
        with pytest.raises(ValueError, match=r"^estimates must be of different people"):
            same - (found if same is found else found.shares)
    swapped = counts(PEOPLE, {"left": YesNo(optional=True), "smokes": YesNo()}, epsilon=1.0, rng=1)
    with pytest.raises(ValueError, match=r"^estimates must answer the same question"):
        found - swapped
    assert (
        found - counts(PEOPLE, {"smokes": YesNo(), "left": YesNo(optional=True)}, epsilon=1.0, rng=2)
    ).value.shape == (2, 3)


# Limits ---------------------------------------------------------------------------------------------------------------


@each("epsilon", [0.2, 1.0, 3.0])
@each("tail", [1e-9, 0.005, 0.025, 0.2, 0.5])
def test_limits_are_the_closest_with_their_probability(epsilon, tail):
    """A noisy count is above the limit with probability `tail` at most, and with a larger one at the next whole number."""
    found = counts({"x": [0, 1, 2]}, {"x": Choice(3)}, epsilon=epsilon, rng=1)
    rate = epsilon / 2
    low, high = found.rule.bounds(found.value, found.stderr, tail)
    least = np.rint(found.value - low + 0.5).astype(int)  # the limit fails if the noise is at least this integer
    assert (high - found.value == found.value - low).all()
    failing = np.exp(-rate * least) / 2
    assert (failing <= tail * (1 + 1e-9)).all()
    assert (np.exp(-rate * (least - 1)) / 2 > tail).all()


def test_p_values_agree_with_limits():
    found = counts(PEOPLE, QUESTIONS, epsilon=1.0, rng=1)
    null = np.maximum(np.floor(found.value) - 3, 0)
    result = found.test(null)
    low = found.rule.bounds(found.value, found.stderr, result.pvalue / 2 * (1 - 1e-6))[0]
    assert (low <= null).all()
    assert (result.pvalue > 0.01).all()
    assert (result.pvalue[found.value >= 3] < 0.5).all()


@pytest.mark.long
@pytest.mark.claim(
    "Limits of released counts cover those of the records, and limits of shares the population.", "Trusted curator"
)
@each("epsilon", [0.1, 1.0])
def test_limits_cover(epsilon):
    """1,000 releases of a table of six cells, of 300 records that are drawn from a population, one of whose cells is empty."""
    rng, runs = np.random.default_rng(1), 1000
    population = np.array([0.5, 0.3, 0.1, 0.08, 0.02, 0.0])
    questions = {"a": YesNo(), "b": Choice(3)}
    records, released = np.zeros((2, 3), int), []
    for seed in range(runs):
        cell = rng.choice(6, 300, p=population)
        found = counts({"a": cell > 2, "b": cell % 3}, questions, epsilon=epsilon, rng=seed)
        low, high = found.interval()
        true = np.bincount(cell, minlength=6).reshape(2, 3)
        records += (low <= true) & (true <= high)
        released.append(found.value)
    # The limits of all releases at once, which take as long as those of one.
    rule = replace(found.shares.rule, counts=np.array(released))
    low, high = rule.bounds(rule.counts / 300, np.ones_like(rule.counts), 0.025)
    np.testing.assert_allclose((low[-1], high[-1]), found.shares.interval())
    shares = ((low <= population.reshape(2, 3)) & (population.reshape(2, 3) <= high)).sum(axis=0)
    assert_coverage(records, runs, 0.95, detects=0.88, most=0.985)
    assert_coverage(shares, runs, 0.95, detects=0.88)


# Mistakes -------------------------------------------------------------------------------------------------------------


@each(
    "question", [Mean(0, 9), Number(0, 9), Text(4), Several(["a", "b"])], ids=lambda question: type(question).__name__
)
def test_questions_without_declared_symbols_are_refused(question):
    name = type(question).__name__
    with raises(TypeError, f"questions must be YesNo, Choice or Histogram, got {name} for 'x'"):
        counts({"x": [1]}, {"x": question}, epsilon=1.0)


def test_mistakes_are_refused_before_anything_is_drawn():
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    for questions, frame, error, message in (
        ({}, PEOPLE, ValueError, "questions must"),
        ([YesNo()], PEOPLE, TypeError, "questions must"),
        ({"x": 3}, PEOPLE, TypeError, "question"),
        ({"smokes": YesNo(), "x": Cross("smokes", "left")}, PEOPLE, (TypeError, ValueError), "question"),
        ({"count": YesNo()}, {"count": [True]}, ValueError, "questions must not have the name of a column of numbers"),
        ({"x": YesNo()}, PEOPLE, ValueError, "frame must have one column 'x'"),
        ({"x": YesNo()}, {"x": []}, ValueError, "frame must hold at least 1 record, got none"),
        ({"left": YesNo()}, PEOPLE, ValueError, "column 'left' must hold booleans, or 0 and 1; row 2 has no value"),
        (
            {"way": Choice(["car", "foot"])},
            PEOPLE,
            ValueError,
            "column 'way' must hold the declared categories .*; row 2",
        ),
        ({"age": Histogram([0, 9, 50])}, PEOPLE, ValueError, "column 'age' must hold numbers in .*; row 51 is outside"),
        (
            {str(k): Choice(1 << 9, column="age") for k in range(3)},
            PEOPLE,
            ValueError,
            "questions must have at most 2.26",
        ),
    ):
        with pytest.raises(error, match=f"^{message}"):
            counts(frame, questions, epsilon=1.0, rng=rng)
    for change, error in (({"epsilon": 0}, ValueError), ({"clip": 1}, TypeError), ({"rng": "x"}, TypeError)):
        with pytest.raises(error):
            counts(PEOPLE, {"smokes": YesNo()}, **{"epsilon": 1.0, "rng": rng, **change})
    assert rng.bit_generator.state == before


def test_clipping_counts_everything():
    frame = {"x": [-1.0, 5.0, 99.0, np.nan], "way": ["foot", "tram", None, "car"]}
    questions = {"x": Histogram([0, 3, 9], optional=True), "way": Choice(["car", "foot"], optional=True)}
    found = counts(frame, questions, epsilon=60.0, clip=True, rng=1)
    expected = np.array([[0, 1, 0], [0, 0, 2], [1, 0, 0]])
    assert (np.abs(found.value - expected) == 0.5).all()
