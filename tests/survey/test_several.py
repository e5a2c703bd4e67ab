"""Questions of which people tick several options, their pairs, and their tables with other questions."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import matplotlib.pyplot as pyplot
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom

import ldpfast as ldp
from ldpfast.files import FileTable
from ldpfast.mechanisms import SetSelection
from ldpfast.reports import Counted, recipe_of
from ldpfast.results import Binomial, ClippedWarning, Debiasing
from ldpfast.survey import (
    Choice,
    Cross,
    Mean,
    Repeated,
    Several,
    Survey,
    Text,
    Together,
    YesNo,
    compare,
    pool,
    poststratify,
)

OPTIONS = ["fever", "cough", "rash", "ache", "chills", "nausea", "fatigue", "dizziness"]
K = len(OPTIONS)
N = 20_000
PROBABILITIES = [0.4, 0.2, 0.1, 0.02, 0.02, 0.01, 0.05, 0.005]


def ticks(n: int = N, most: int = 2) -> np.ndarray:
    """Return who ticks what, at most `most` options each; the second option goes with the first."""
    rng = np.random.default_rng(1)
    found = rng.random((n, len(OPTIONS))) < PROBABILITIES
    found[:, 1] |= found[:, 0] & (rng.random(n) < 0.3)
    found[found.sum(axis=1) > most] = False
    return found


X = ticks()
LISTS = [[option for option, own in zip(OPTIONS, row, strict=True) if own] for row in X.tolist()]
YES = np.arange(N) % 5 < 2
QUESTIONS = {"symptoms": Several(OPTIONS, most=2), "smokes": YesNo()}
EVERYTHING = {**QUESTIONS, "pairs": Together("symptoms"), "both": Cross("symptoms", "smokes")}
OPTIONAL = {
    "symptoms": Several(OPTIONS, most=2, optional=True),
    "smokes": YesNo(optional=True),
    "pairs": Together("symptoms"),
    "both": Cross("symptoms", "smokes"),
}
FORMS = {
    "lists": LISTS,
    "sets": list(map(set, LISTS)),
    "sets of an object array": np.array([*map(frozenset, LISTS), None], object)[:-1],
    "reversed and repeated": [[*row[::-1], *row] for row in LISTS],
    "texts": [" ; ".join(row) for row in LISTS],
    "rows of booleans": X,
    "rows of integers": X.astype(np.int64),
    "lists of booleans": pa.array(X.tolist()),
    "lists of zeros and ones": X.astype(int).tolist(),
    "slice of an array": pa.array([["rash"], None, *LISTS]).slice(2),
    "slice of rows": pa.array([[1] * K, *X.astype(int).tolist()], pa.list_(pa.int8(), K)).slice(1),
    "pieces": pa.chunked_array([pa.array(LISTS[:70], pa.list_(pa.string())), pa.array(LISTS[70:])]),
    "Arrow lists": pa.array(LISTS),
    "Arrow large lists of a dictionary": pa.array(LISTS, pa.large_list(pa.dictionary(pa.int8(), pa.string()))),
    "dictionary of texts": pa.array([";".join(row) for row in LISTS]).dictionary_encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_column_gives_the_same_reports(form):
    survey = Survey(EVERYTHING, 4.0)
    expected = survey.collect({"symptoms": LISTS, "smokes": YES}, rng=1)
    assert survey.collect({"symptoms": FORMS[form], "smokes": YES}, rng=1) == expected


def test_frames_of_pandas_and_polars_give_the_same_reports():
    survey = Survey(QUESTIONS, 4.0)
    expected = survey.collect({"symptoms": LISTS, "smokes": YES}, rng=1)
    texts = pd.Categorical([";".join(row) for row in LISTS])
    for symptoms in (LISTS, texts, list(map(set, LISTS))):
        assert survey.collect(pd.DataFrame({"symptoms": symptoms, "smokes": YES}), rng=1) == expected
    assert survey.collect(pl.DataFrame({"symptoms": LISTS, "smokes": YES}), rng=1) == expected


def truths() -> dict[str, np.ndarray]:
    together = X.T.astype(int) @ X / N
    return {
        "symptoms": X.mean(axis=0),
        "pairs": together[np.triu_indices(K, 1)],
        "both": np.stack([(X & ~YES[:, np.newaxis]).mean(axis=0), (X & YES[:, np.newaxis]).mean(axis=0)], axis=1),
    }


@pytest.mark.parametrize("questions", [EVERYTHING, OPTIONAL], ids=["needed", "optional"])
def test_all_intervals_hold_with_personal_keys(questions):
    """A hundred numbers at 99.99 % each, by coins of persons, which are the same in every run of this test."""
    people = {"symptoms": LISTS, "smokes": YES}
    result = Survey(questions, 6.0, answers="all").run(people, rng=ldp.PersonKeys(bytes(32), np.arange(N)))
    found = {"symptoms": result["symptoms"], "pairs": result["pairs"].pairs, "both": result["both"]}
    for name, answer in found.items():
        low, high = answer.interval(0.9999)
        truth = truths()[name]
        if questions is OPTIONAL and name == "both":
            low, high = low[:K, :2], high[:K, :2]
        assert ((low <= truth) & (truth <= high)).all(), name
    low, high = result["symptoms"].sizes.interval(0.9999)
    sizes = np.bincount(X.sum(axis=1), minlength=3) / N
    assert (low <= sizes).all()
    assert (sizes <= high).all()


@pytest.mark.parametrize("missing", [False, True])
def test_margins_and_conditional_shares_hold(missing):
    """The margins of a table of sets are those of its questions, and rows of `given` are shares in subgroups."""
    asked = OPTIONAL if missing else EVERYTHING
    survey = Survey(asked, 8.0, weights={name: int(name == "both") for name in asked})
    both = survey.run({"symptoms": LISTS, "smokes": YES}, rng=3)["both"]
    truth = {"smokes": [0.6, 0.4], "symptoms": X.mean(axis=0)}
    for name, shares in truth.items():
        low, high = both.margin(name).interval(0.9999)
        assert (low[: len(shares)] <= shares).all()
        assert (shares <= high[: len(shares)]).all()
    given = both.given("smokes")
    low, high = given.interval(0.9999)
    rates = np.array([X[~YES].mean(axis=0), X[YES].mean(axis=0)])
    assert (low[:2, :K] <= rates).all()
    assert (rates <= high[:2, :K]).all()
    low, high = both.given("symptoms").interval(0.9999)
    rates = np.array([[(~YES)[own].mean(), YES[own].mean()] for own in X.T])
    assert (low[:K, :2] <= rates).all()
    assert (rates <= high[:K, :2]).all()


def test_variances_of_a_table_of_sets_are_those_of_its_channel():
    """Of cells, margins and their covariances, over all reports of the exact channel, for eight people."""
    survey = Survey({"s": Several(3, most=2), "y": YesNo(), "b": Cross("s", "y")}, 1.5, weights={"s": 0, "y": 0})
    mechanism = survey.mechanisms["b"]
    assert isinstance(mechanism, SetSelection)
    (item,) = recipe_of(survey).items
    set_column, _answers = item.form.columns
    sets = set_column.canonical(set_column.read("s", pa.array([[], [0], [1, 2], [0, 2]])), np.arange(4))
    records = item.form.joined([sets.repeat(2, axis=0), np.array([0, 1] * 4)])
    law = recipe_of(mechanism).law
    reports = np.array(
        [
            [j in chosen for j in range(item.form.k)]
            for chosen in itertools.combinations(range(item.form.k), mechanism.size)
        ]
    ).astype(float)
    inside, outside = float(law.coin.inside), float(law.coin.outside)
    shared = np.array([reports[:, row].sum(axis=1) for row in records])
    probability = np.where(shared >= mechanism.threshold, inside, outside).mean(axis=0)
    assert probability.sum() == pytest.approx(1, abs=1e-12)
    p, q = float(law.moments.own), float(law.moments.other)
    decoded = (reports - q) / (p - q)
    table = replace(
        item.form.found(mechanism, Counted([np.zeros(item.form.k, np.int64)], 1)), counts=probability @ reports
    )
    has = np.zeros((8, item.form.k))
    np.put_along_axis(has, records, 1, axis=1)
    np.testing.assert_allclose(table.share, has.mean(axis=0), atol=1e-12)
    cells, margin, options = (table._cells(kept).reshape(-1, item.form.k) for kept in ([0, 1], [1], [0]))
    for first, second in ((cells, cells), (margin, margin), (options, options)):
        for i, j in itertools.product(range(len(first)), repeat=2):
            w, v = first[i], second[j]
            both = ((has @ w) * (has @ v)).mean()
            assert set(np.round(has @ w, 12)) <= {0.0, 1.0}
            a, b = decoded @ w, decoded @ v
            exact = probability @ (a * b) - (probability @ a) * (probability @ b)
            found = table.covariance(w[np.newaxis], v[np.newaxis], np.array([both]))[0]
            assert found == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_the_difference_of_two_options_has_the_largest_variance():
    """The variance with every possible share of people who tick both is at most the reported one, and one is equal."""
    survey = Survey({"s": Several(OPTIONS, most=2)}, 2.0)
    answer = survey.run({"s": LISTS}, rng=1)["s"]
    difference = answer.difference("fever", "cough")
    law = recipe_of(survey.mechanisms["s"]).law
    a, b = answer.value[:2]
    covariances = [float(law.covariance(a, b, both)) / N for both in np.linspace(0, b, 50)]
    variances = answer.stderr[0] ** 2 + answer.stderr[1] ** 2 - 2 * np.array(covariances)
    assert difference.stderr**2 == pytest.approx(variances.max(), rel=1e-9)
    assert difference.value == a - b
    low, high = difference.interval(0.9999)
    assert low < X[:, 0].mean() - X[:, 1].mean() < high


def test_unusual_cells_are_refused_and_named():
    survey = Survey(QUESTIONS, 2.0)
    for cells, error, message in (
        ([["fever"], ["measles"]], ValueError, "row 1 holds another option, or too many"),
        ([["fever"], ["fever", "cough", "rash"]], ValueError, "row 1 holds another option, or too many"),
        ([["fever"], None], ValueError, "row 1 has no value, which needs optional=True: an empty list"),
        (["fever", "fever;measles"], ValueError, "row 1 holds another option"),
        ([1.5, 2.5], TypeError, "must hold lists of at most 2 of the options 'fever'"),
        ([[1], [2]], ValueError, "row 0 holds another option"),
        (np.ones((2, 3), bool), ValueError, "must have rows of 8 zeros and ones"),
        (np.full((2, 8), 2), ValueError, "row 0 holds another option"),
        ([["fever", None], []], ValueError, "row 0 holds another option"),
        (pa.array([[True] + [False] * 7, [None] * 8]), ValueError, "row 1 holds another option"),
        (np.zeros((2, 8)), ValueError, "rows of zeros and ones must be integers or booleans"),
        (np.ones(2, bool), TypeError, "must hold lists of at most 2 .* got dtype bool"),
        (["fever,cough", "rash"], ValueError, "row 0 holds another option"),
    ):
        with pytest.raises(error, match=message):
            survey.privatize({"symptoms": cells, "smokes": [True, False]}, rng=1)


def test_an_empty_list_is_an_answer_and_a_missing_cell_is_none():
    survey = Survey({"s": Several(OPTIONS, most=2, optional=True)}, 8.0)
    cells = [[], None, ["fever"], ["fever", "cough"]] * 5000
    keys = ldp.PersonKeys(bytes(32), np.arange(20_000))
    answer = survey.run({"s": cells}, rng=keys)["s"]
    low, high = answer.missing.interval(0.9999)
    assert low < 0.25 < high
    low, high = answer.sizes.interval(0.9999)
    assert (low < 1 / 3).all()
    assert (high > 1 / 3).all()


def test_clip_makes_impossible_sets_no_answer_and_counts_them():
    survey = Survey({"s": Several(OPTIONS, most=2, optional=True)}, 2.0)
    cells = [["fever", "cough", "rash"], ["measles"], ["fever"], None]
    with pytest.warns(ClippedWarning, match="2 of 4 .*in column 's'"):
        clipped = survey.collect({"s": cells}, rng=1, clip=True)
    assert clipped == survey.collect({"s": [None, None, ["fever"], None]}, rng=1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((["a"],), "options"),
        ((["a", None],), "must not contain None"),
        ((["a", "b"], 3), "most must be"),
        ((["a", "b"], 0), "most must be"),
        ((300,), "most must be given"),
        ((65_530, 10), "options must be at most"),
    ],
)
def test_questions_that_cannot_be_asked(arguments, message):
    with pytest.raises(ValueError, match=message):
        Several(*arguments)


def test_tables_and_pairs_that_cannot_be_asked():
    with pytest.raises(ValueError, match="must name a Several question, got 'smokes'"):
        Survey({**QUESTIONS, "pairs": Together("smokes")}, 1.0)
    with pytest.raises(ValueError, match="most in"):
        Survey({"s": Several(5, most=1), "pairs": Together("s")}, 1.0)
    with pytest.raises(ValueError, match="got the Together 'pairs'"):
        Survey({**QUESTIONS, "pairs": Together("symptoms"), "c": Cross("pairs", "smokes")}, 1.0)
    with pytest.raises(TypeError, match="of must be the name"):
        Together(3)


def test_it_is_described_saved_and_read(tmp_path):
    for questions in (EVERYTHING, OPTIONAL):
        survey = Survey(questions, 3.0)
        assert Survey.from_dict(survey.to_dict()) == survey
        assert Survey.from_toml(survey.to_toml()).fingerprint == survey.fingerprint
        counted = survey.collect({"symptoms": LISTS, "smokes": YES}, rng=1)
        read = ldp.load(counted.to_bytes())
        assert read == counted
        assert read.estimate()["pairs"].pairs.value.tolist() == counted.estimate()["pairs"].pairs.value.tolist()
    path = tmp_path / "people.csv"
    path.write_text(
        "symptoms,smokes\n" + "".join(f"{';'.join(row) or ';'},{own}\n" for row, own in zip(LISTS, YES, strict=True))
    )
    survey = Survey(EVERYTHING, 3.0)
    assert survey.collect(FileTable([path], survey.column_questions), rng=1) == survey.collect(
        {"symptoms": LISTS, "smokes": YES}, rng=1
    )


def test_clients_give_the_reports_of_personal_keys():
    """Order, repetitions and the container do not matter; too many ticks are no answer."""
    survey = Survey(OPTIONAL, 3.0, answers="all")
    client = survey.client(bytes(32), 7)
    same = [["cough", "fever"], ("fever", "cough"), {"fever", "cough"}, "cough; fever", ["fever", "cough", "fever"]]
    assert len({client.answer({"symptoms": cell, "smokes": True}) for cell in same}) == 1
    none = [None, ["fever", "cough", "rash"], ["measles"], 3, [["fever"]], {"fever": 1}, b"fever"]
    assert len({client.answer({"symptoms": cell, "smokes": True}) for cell in none}) == 1
    keys = ldp.PersonKeys(bytes(32), [7])
    whole = survey.privatize({"symptoms": [["fever", "cough"]], "smokes": [True]}, rng=keys)
    assert recipe_of(survey).message(whole) == client.answer({"symptoms": same[0], "smokes": True})


def test_groups_are_compared_and_weighted():
    x, people = X, {"symptoms": LISTS, "smokes": YES, "region": np.where(np.arange(N) % 4 == 0, "N", "S")}
    results = Survey(OPTIONAL, 6.0, answers="all").run(people, by="region", rng=1)
    rows = compare(results).table
    assert [rows["answer"][i] for i in range(K)] == OPTIONS
    assert rows["question"].count("pairs") == K * (K - 1) // 2
    assert np.isfinite(rows["difference"]).all()
    with pytest.warns(UserWarning, match="left out: 'both'"):
        weighted = poststratify(results, {"N": 0.25, "S": 0.75})
    low, high = weighted["symptoms"].interval(0.9999)
    assert (low <= x.mean(axis=0)).all()
    assert (x.mean(axis=0) <= high).all()
    with pytest.raises(ValueError, match="weighted answer"):
        _ = weighted["symptoms"].sizes


def test_simulated_counts_have_the_expected_shares():
    survey = Survey(EVERYTHING, 3.0, answers="all")
    counted = ldp.simulate(survey, {"symptoms": LISTS, "smokes": YES}, 4_000_000, rng=1)
    result = counted.estimate()
    for name, answer in (("symptoms", result["symptoms"]), ("pairs", result["pairs"].pairs), ("both", result["both"])):
        low, high = answer.interval(0.99999)
        truth = truths()[name]
        assert (low <= truth).all()
        assert (truth <= high).all()


def test_large_sets_have_a_cube_and_no_sizes():
    answer = Survey({"s": Several(6)}, 2.0).run({"s": np.eye(6, dtype=int)[np.arange(N) % 6]}, rng=1)["s"]
    low, high = answer.interval(0.9999)
    assert (low < 1 / 6).all()
    assert (high > 1 / 6).all()
    with pytest.raises(ValueError, match="declare a smaller"):
        _ = answer.sizes


def test_two_sets_have_a_table_of_pairs():
    x, y = X, np.roll(X, 1, axis=1)
    asked = {"a": Several(OPTIONS, 2), "b": Several(OPTIONS, 2), "t": Cross("a", "b")}
    table = Survey(asked, 8.0, weights={"a": 0, "b": 0}).run({"a": x, "b": y}, rng=1)["t"]
    low, high = table.interval(0.9999)
    truth = x.T.astype(int) @ y / N
    assert (low <= truth).all()
    assert (truth <= high).all()
    low, high = table.margin("b").interval(0.9999)
    assert (low <= y.mean(axis=0)).all()
    assert (y.mean(axis=0) <= high).all()


def test_a_table_has_means_and_choices():
    asked = {
        "s": Several(OPTIONS, 2),
        "way": Choice(["a", "b", "c"]),
        "age": Mean(0, 100),
        "w": Cross("way", "s"),
        "m": Cross("s", "age"),
    }
    people = {"s": X, "way": np.array(["a", "b", "c"])[np.arange(N) % 3], "age": np.where(X[:, 0], 80.0, 20.0)}
    result = Survey(asked, 12.0, answers="all").run(people, rng=1)
    assert result["w"].value.shape == (3, K)
    low, high = result["m"].given("s").interval(0.9999)
    assert low[0, 1] < 0.8 < high[0, 1]  # an age of 80 counts as high with probability 0.8


def test_nobody_asked_is_no_answer():
    survey = Survey(EVERYTHING, 3.0, weights={"symptoms": 1, "smokes": 1000, "pairs": 1, "both": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = survey.run({"symptoms": LISTS[:1], "smokes": YES[:1]}, rng=1)
    assert result["symptoms"].n == 0
    assert np.isnan(result["symptoms"].value).all()
    with pytest.raises(ValueError, match="at least 1 report"):
        _ = result["symptoms"].sizes
    with pytest.raises(ValueError, match="at least 1 report"):
        result["both"].margin("smokes")
    assert "no answers" in str(result)
    survey = Survey(OPTIONAL, 3.0, weights={"symptoms": 0, "smokes": 1000, "both": 0})
    pairs = survey.run({"symptoms": LISTS[:1], "smokes": YES[:1]}, rng=1)["pairs"]
    for answer in (pairs, pairs.pairs, pairs.missing):
        assert answer.n == 0
        assert np.isnan(answer.value).all()
    assert np.isinf(pairs.pairs.stderr).all()


@pytest.mark.parametrize("options", [["a;b", "c"], ["", "c"], [" a", "c"], [1, "1"], [True, "True"]])
def test_options_that_a_text_does_not_name_need_lists(options):
    survey = Survey({"s": Several(options, optional=True)}, 2.0)
    for label in options:
        assert survey.privatize({"s": [[label], [label]]}, rng=1).num_rows == 2
    with pytest.raises(ValueError, match="must hold lists, because texts with ';' between options are not clear"):
        survey.privatize({"s": ["a;b", "c"]}, rng=1)
    client = survey.client(bytes(32), 7)
    assert client.answer({"s": str(options[0])}) == client.answer({"s": None})


def test_lists_of_zeros_and_ones_are_refused_where_they_may_be_options():
    """As options, the lists of the first column all are {0, 1}; as zeros and ones, no two are the same."""
    for k, rows in ((4, [[0, 1, 0, 1], [1, 0, 0, 0]]), (2, [[1, 0], [0, 1]]), (3, [[0, 0, 0], None])):
        survey = Survey({"s": Several(k, optional=True)}, 8.0)
        with pytest.raises(ValueError, match="got lists that may be either"):
            survey.privatize({"s": rows}, rng=1)
        assert survey.privatize({"s": np.array([row for row in rows if row])}, rng=1).num_rows
        assert survey.privatize({"s": [set(row or ()) for row in rows]}, rng=1).num_rows == 2
    survey = Survey({"s": Several(2)}, 8.0)
    low, _high = survey.run({"s": [[0, 1]] * 4000}, rng=1)["s"].interval(0.9999)
    assert (low > 0.9).all()


def test_a_table_without_people_is_one():
    survey = Survey(QUESTIONS, 2.0)
    for empty in ([], np.zeros((0, K), bool), pa.array([], pa.list_(pa.string())), pa.array([], pa.null())):
        assert survey.privatize({"symptoms": empty, "smokes": []}).num_rows == 0


def test_cells_of_rows_in_a_frame_from_a_file(tmp_path):
    survey = Survey(QUESTIONS, 4.0)
    expected = survey.collect({"symptoms": LISTS, "smokes": YES}, rng=1)
    pq.write_table(pa.table({"symptoms": LISTS, "smokes": YES}), tmp_path / "people.parquet")
    pd.DataFrame({"symptoms": LISTS, "smokes": YES}).to_json(tmp_path / "people.jsonl", orient="records", lines=True)
    for backend in ({}, {"dtype_backend": "pyarrow"}):
        assert survey.collect(pd.read_parquet(tmp_path / "people.parquet", **backend), rng=1) == expected
    for name in ("people.parquet", "people.jsonl"):
        assert survey.collect(FileTable([tmp_path / name], survey.column_questions), rng=1) == expected
    table = pa.table({"symptoms": LISTS, "smokes": YES})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=777))
    assert survey.collect(reader, rng=1) == expected


def test_the_number_of_ticks_is_a_number_of_python():
    assert Several(OPTIONS, np.int64(2)) == Several(OPTIONS, 2)
    assert type(Several(OPTIONS, np.int64(2)).most) is int


def test_waves_and_revisions_with_another_option():
    """An option more changes the coins of the question and of its tables; others keep theirs, and reports are pooled."""
    people, keys = {"symptoms": LISTS, "smokes": YES}, ldp.PersonKeys(bytes(32), np.arange(N))
    first = Survey(OPTIONAL, 8.0, series="weeks", waves=4)
    second = first.revise(change={"symptoms": Several([*OPTIONS, "other"], most=2, optional=True)})
    old, new = (survey.in_wave(3).privatize(people, rng=keys) for survey in (first, second))
    assert {name for name in OPTIONAL if not old.column(name).equals(new.column(name))} == {"symptoms", "pairs", "both"}
    waves = [first.in_wave(wave).collect(people, rng=keys) for wave in (1, 2)]
    both, one = pool(waves), waves[0].estimate()
    assert both["symptoms"].n > 1.9 * one["symptoms"].n
    assert both["pairs"].pairs.stderr.max() < 0.8 * one["pairs"].pairs.stderr.max()
    rows = compare({"1": one, "3": second.in_wave(3).run(people, rng=keys)})
    assert "other" not in rows.table["answer"]
    assert "other" in rows.apart["symptoms"]
    with pytest.raises(ValueError, match="must name a Several question, got 'symptoms'"):
        first.revise(remove=["symptoms"])


def test_surveys_with_sets_are_not_repeated():
    survey = Survey({"symptoms": Several(OPTIONS, 2), "smokes": YesNo()}, 4.0)
    with pytest.raises(ValueError, match="texts, sets of options and pairs have no permanent answers"):
        Repeated(survey, round=1.0, rounds=4)


def test_plans_are_upper_bounds_of_the_standard_errors():
    for questions in (EVERYTHING, OPTIONAL):
        survey = Survey(questions, 3.0)
        plan = survey.plan(N)
        result = survey.run({"symptoms": LISTS, "smokes": YES}, rng=1)
        answers = {"symptoms": result["symptoms"], "pairs": result["pairs"].pairs, "both": result["both"]}
        for name, expected in zip(plan.names, plan.expected, strict=True):
            if name in answers:
                assert answers[name].stderr.max() < 1.05 * expected, name


def test_text_questions_stay_as_they_are():
    with pytest.raises(ValueError, match="got the Text 'word'"):
        Survey({"word": Text(3), "smokes": YesNo(), "c": Cross("word", "smokes")}, 1.0)


# Targets --------------------------------------------------------------------------------------------------------------


def variance_of_nobody(questions, epsilon, name):
    """Return n x variance of a share of 0, by the mechanism that the survey has for a question."""
    mechanism = Survey(questions, epsilon, weights={other: int(other == name) for other in questions}).mechanisms[name]
    return float(np.ravel(recipe_of(mechanism).law.line.variance(0.0))[0])


@pytest.mark.parametrize(
    "k, epsilon, target",
    [
        (20, 0.25, 179),
        (20, 1.0, 8.5),
        (20, 2.0, 1.01),
        (20, 4.0, 0.064),
        (100, 1.0, 11.4),
        (100, 2.0, 1.95),
        (1000, 1.0, 12.1),
    ],
)
def test_variances_of_rare_options(k, epsilon, target):
    assert variance_of_nobody({"s": Several(k, most=3)}, epsilon, "s") == pytest.approx(target, rel=0.01)


@pytest.mark.parametrize("epsilon, target", [(1.0, 11.8), (2.0, 2.1), (4.0, 0.123)])
def test_variances_of_rare_pairs(epsilon, target):
    asked = {"s": Several(20, most=3), "t": Together("s")}
    assert variance_of_nobody(asked, epsilon, "t") == pytest.approx(target, rel=0.02)


@pytest.mark.parametrize("answers, epsilon, target", [(2, 1.0, 10.3), (2, 4.0, 0.072), (4, 1.0, 11.2)])
def test_variances_of_rare_cells(answers, epsilon, target):
    asked = {"s": Several(20, most=3), "y": Choice(answers), "c": Cross("s", "y")}
    assert variance_of_nobody(asked, epsilon, "c") == pytest.approx(target, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_squared_errors_are_the_variances(epsilon):
    """Of 20 options, 190 pairs and 40 cells, for people who were drawn from a population: within 2 % of the exact ones."""
    asked = {"s": Several(20, most=3), "y": YesNo(), "t": Together("s"), "c": Cross("s", "y")}
    survey = Survey(asked, epsilon, weights={"y": 0})
    rng = np.random.default_rng(1)
    kinds = np.zeros((200, 20), bool)  # of people, whose numbers are drawn
    for row in kinds:
        row[rng.choice(20, rng.integers(4), replace=False, p=np.arange(1, 21) / 210)] = True
    yes = rng.random(200) < 0.3
    truth = {
        "s": kinds.mean(axis=0),
        "t": (kinds.T.astype(int) @ kinds / 200)[np.triu_indices(20, 1)],
        "c": np.stack([(kinds & ~yes[:, np.newaxis]).mean(axis=0), (kinds & yes[:, np.newaxis]).mean(axis=0)], axis=1),
    }
    people = rng.integers(0, 200, 1_200_000)
    keys = ldp.PersonKeys(bytes(32), np.arange(len(people)))
    groups = survey.run(
        {"s": kinds[people], "y": yes[people], "group": np.arange(len(people)) // 3000}, by="group", rng=keys
    )
    for name, share in truth.items():
        answers = [result[name].pairs if name == "t" else result[name] for result in groups.values()]
        line = recipe_of(survey.mechanisms[name]).law.line
        found = [answer.n * (answer.value - share) ** 2 / line.variance(share) for answer in answers]
        # The mean of 400 x 20 squares or more, with a standard deviation of 1.5 each.
        assert np.mean(found) == pytest.approx(1, abs=0.02 if name != "s" else 0.05), name


@pytest.mark.long
def test_intervals_of_options_cover():
    """Exactly, by Clopper and Pearson: at least 95 %, and not much more with many people."""
    for (k, most), epsilon, n in itertools.product(
        [(20, 3), (100, 3), (20, 20)], [0.5, 1.0, 2.0, 4.0], [200, 1000, 10_000]
    ):
        survey = Survey({"s": Several(k, most)}, epsilon)
        law = recipe_of(survey.mechanisms["s"]).law
        line = law.line
        trials = int(n * law.asked)
        hits = np.arange(trials + 1)
        zero, one = (float(np.ravel(end)[0]) for end in (line.zero, line.one))
        rule = Binomial(hits, np.full(trials + 1, trials), Debiasing(zero, one))
        low, high = rule.bounds(np.zeros(trials + 1), np.zeros(trials + 1), 0.025)
        for share in (0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1):
            rate = (share - zero) / (one - zero)
            inside = (low <= share + 1e-12) & (share - 1e-12 <= high)
            covered = binom.pmf(hits, trials, rate)[inside].sum()
            assert covered > 0.95
            assert covered < {200: 0.995, 1000: 0.975, 10_000: 0.965}[n]


def test_pairs_and_tables_are_heat_maps_and_pairs_are_listed_once():
    result = Survey(OPTIONAL, 6.0).run({"symptoms": LISTS, "smokes": YES}, rng=1)
    for name in ("pairs", "both"):
        ax = result[name].plot()
        shown = np.ma.filled(ax.images[0].get_array(), np.nan)
        np.testing.assert_array_equal(shown, result[name].value)
    ax = result["pairs"].plot()
    assert sum(bool(text.get_text()) for text in ax.texts) == K * (K - 1)
    figure = result.plot()
    (panel,) = (ax for ax in figure.axes if ax.get_title(loc="left").startswith("pairs"))
    assert len(panel.get_yticks()) == K * (K - 1) // 2
    assert panel.get_xlim()[1] < 0.5  # no bar from 0 to 1 for the diagonal
    pyplot.close("all")
