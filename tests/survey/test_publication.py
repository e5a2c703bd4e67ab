"""Tables that can be published: nearest tables, sums, rounding, groups, suppressed numbers and quality."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls

import ldpfast as ldp
from ldpfast.reports import Aggregator
from ldpfast.survey import Choice, Cross, Mean, Number, Pairs, Several, Survey, Text, YesNo, calibrate, pool

from ..support.cases import each
from ..support.errors import raises
from ..support.publications import LINKED, WAYS, column, people_of

MANY = 10**12  # people, so that rounding does not matter

# Nearest tables -------------------------------------------------------------------------------------------------------


def nearest(value, covariance, design, equations, right):
    """Return the numbers >= 0 that satisfy equations, and whose sums are nearest to estimates, by another algorithm (NNLS)."""
    size, vectors = np.linalg.eigh(covariance)
    known = size > 1e-9 * size.max()  # shares that always add up to 1 have one direction without an error
    root = vectors[:, known].T / np.sqrt(size[known])[:, np.newaxis]
    heavy = 1e5 / np.sqrt(size[known].min())
    matrix = np.concatenate([root @ design, heavy * equations])
    return nnls(matrix, np.concatenate([root @ value, heavy * right]))[0]


def test_a_table_is_the_nearest_one_without_negative_cells():
    survey = Survey({"x": Choice(list("abcdef"))}, 1.0)
    result = survey.run({"x": ["a"] * 700 + ["b"] * 300}, rng=5)
    answer = result["x"]
    assert answer.value.min() < 0
    expected = nearest(answer.value, answer.covariance, np.eye(6), np.ones((1, 6)), np.ones(1))
    found = column(result.publish(population=MANY, suppress=None), "x", "share")
    assert found == pytest.approx(expected, abs=2e-6)
    assert (found == 0).any()
    assert np.abs(found - np.maximum(answer.value, 0) / np.maximum(answer.value, 0).sum()).max() > 0.01  # no cutting


def test_linked_tables_are_the_nearest_ones_to_all_estimates():
    """The cells of both tables of three questions, with the estimates of the five questions, which are of different people."""
    asked = {
        "a": Choice(list("xyz")),
        "b": Choice(list("pq")),
        "c": Choice(list("rs")),
        "ab": Cross("a", "b"),
        "bc": Cross("b", "c"),
    }
    survey = Survey(asked, 1.5)
    rng = np.random.default_rng(1)
    people = {name: rng.choice(list(labels), 1500) for name, labels in (("a", "xyz"), ("b", "pq"), ("c", "rs"))}
    people["a"] = rng.choice(list("xyz"), 1500, p=[0.02, 0.03, 0.95])
    result = survey.run(people, rng=4)
    ab, bc = np.eye(6, 10).reshape(3, 2, 10), np.eye(10)[6:].reshape(2, 2, 10)  # each cell as a sum of the unknowns
    design = np.concatenate([ab.sum(1), ab.sum(0), bc.sum(0), ab.reshape(6, 10), bc.reshape(4, 10)])
    values = np.concatenate([np.ravel(result[name].value) for name in asked])
    blocks = np.zeros((17, 17))
    start = 0
    for name in asked:
        size = np.size(result[name].value)
        blocks[start : start + size, start : start + size] = result[name].covariance
        start += size
    first = np.arange(10) < 6
    equations = np.concatenate([[1.0 * first, 1.0 * ~first], ab.sum(0) - bc.sum(1)])
    found = nearest(values, blocks, design, equations, np.array([1.0, 1.0, 0.0, 0.0]))
    assert (found == 0).any()
    publication = result.publish(population=MANY, suppress=None)
    assert column(publication, "ab", "share") == pytest.approx(found[:6], abs=1e-5)
    assert column(publication, "bc", "share") == pytest.approx(found[6:], abs=1e-5)


def test_estimates_that_agree_are_published_as_they_are():
    survey = Survey({"way": Choice(WAYS), "smoker": YesNo()}, 4.0)
    result = survey.run(people_of(20_000, ways=(0.2, 0.3, 0.5)), rng=1)
    publication = result.publish(population=MANY)
    assert column(publication, "way", "share") == pytest.approx(result["way"].value, abs=1e-9)
    for key, expected in zip(("stderr", "low", "high"), (result["way"].stderr, *result["way"].interval()), strict=True):
        assert column(publication, "way", key) == pytest.approx(expected, abs=1e-6)
    assert column(publication, "smoker", "share") == pytest.approx([1 - result["smoker"].value, result["smoker"].value])
    assert column(publication, "smoker", "low")[1] == pytest.approx(result["smoker"].interval()[0], abs=1e-6)


def test_a_question_that_is_asked_twice_is_known_better():
    people = people_of(20_000, ways=(0.2, 0.3, 0.5))
    result = Survey({"way": Choice(WAYS), "smoker": YesNo(), "ws": Cross("way", "smoker")}, 3.0).run(people, rng=1)
    own, pooled = result["way"].stderr, column(result.publish(), "way", "stderr")
    assert (pooled < own).all()
    assert (pooled > own / np.sqrt(2) * 0.9).all()


def test_answers_of_the_same_people_are_not_counted_twice():
    """With hardly any noise, the question and the table hold the same answers, and together tell no more than one."""
    asked = {"smoker": YesNo(), "way": Choice(WAYS), "ws": Cross("way", "smoker")}
    result = Survey(asked, 45.0, answers="all").run(people_of(4000), rng=1)
    share, error = (column(result.publish(), "smoker", key)[1] for key in ("share", "stderr"))
    assert error == pytest.approx((share * (1 - share) / 4000) ** 0.5, rel=0.01)


# Sums and rounding ----------------------------------------------------------------------------------------------------


def sums(frame, names, kept):
    """Return the sums of the numbers of people of a table of questions over all but some of them."""
    rows = frame[(frame[names] != "_T").all(axis=1) & (frame["UNIT_MEASURE"] == "PS")]
    rows = rows[(rows[[name for name in QUESTIONS if name not in names]] == "_T").all(axis=1)]
    return rows.groupby(kept, observed=True)["OBS_VALUE"].sum().sort_index()


QUESTIONS = ["way", "smoker", "owner"]


@each("options", [{}, {"round": 7}, {"population": 123_457, "round": 10}])
def test_groups_crosses_and_margins_add_up_exactly(options):
    results = Survey(LINKED, 2.0).run(people_of(4000), by="region", rng=3)
    frame = results.publish(suppress=None, **options).to_frame()
    assert (frame["OBS_VALUE"] >= 0).all()
    assert (frame["OBS_VALUE"] % options.get("round", 1) == 0).all()
    for names in (["way", "smoker"], ["smoker", "owner"]):
        for one in names:
            kept = ["region", one]
            assert sums(frame, names, kept).equals(sums(frame, [one], kept))
    totals = frame["region"] == "_T"
    cells = ["TABLE", *QUESTIONS]
    groups = frame[~totals].groupby(cells, observed=True)["OBS_VALUE"].sum().sort_index()
    assert groups.equals(frame[totals].set_index(cells)["OBS_VALUE"].sort_index().rename("OBS_VALUE"))
    sizes = frame.groupby(["TABLE", "region"])["OBS_VALUE"].sum().unstack()
    assert (sizes.nunique() == 1).all()


def test_numbers_of_three_tables_with_common_margins_are_whole():
    """Each question is in two tables, so that rounding one table at a time would not end."""
    asked = {"a": Choice(list("xyz")), "b": Choice(list("pqr")), "c": Choice(list("tuv"))}
    pairs = list(itertools.combinations("abc", 2))
    survey = Survey({**asked, **{"".join(pair): Cross(*pair) for pair in pairs}}, 3.0)
    rng = np.random.default_rng(1)
    people = {name: rng.choice(list(question.categories), 900) for name, question in asked.items()}
    publication = survey.run(people, rng=1).publish(suppress=None, population=97)
    tables = {pair: column(publication, "".join(pair), "people").reshape(3, 3) for pair in pairs}
    for pair, table in tables.items():
        assert table.sum() == 97
        assert table.min() >= 0
        assert (table == table.astype(int)).all()
        for axis, name in enumerate(pair):
            assert np.array_equal(table.sum(axis=1 - axis), column(publication, name, "people"))
        exact = column(
            survey.run(people, rng=1).publish(suppress=None, population=MANY), "".join(pair), "share"
        ).reshape(3, 3)
        assert np.abs(table - 97 * exact).max() < 2


def test_largest_remainders_are_rounded_up():
    survey = Survey({"x": Choice(list("abc"))}, 8.0)
    result = survey.run({"x": ["a"] * 5000 + ["b"] * 3000 + ["c"] * 2000}, rng=1)
    exact = column(result.publish(population=MANY), "x", "share") * 7
    found = column(result.publish(population=7), "x", "people")
    up = np.argsort(-(exact % 1))[: 7 - int(np.floor(exact).sum())]
    expected = np.floor(exact)
    expected[up] += 1
    assert found.tolist() == expected.tolist()


def test_a_wide_base_of_rounding_widens_errors_and_limits():
    result = Survey({"x": Choice(list("abc"))}, 8.0).run({"x": ["a", "a", "b", "c"] * 5000}, rng=1)
    fine, wide = result.publish(), result.publish(round=5000)
    assert column(wide, "x", "people").tolist() == [10_000, 5000, 5000]
    assert (column(wide, "x", "stderr") ** 2 - column(fine, "x", "stderr") ** 2) == pytest.approx(1 / 16 / 12)
    assert (column(wide, "x", "low") < column(fine, "x", "low") - 0.1).all()


def test_margins_of_a_table_with_a_wide_base_are_rounded_once():
    """The largest of 100 remainders alone would leave rare rows without people, and common ones with more than 100 %."""
    rng = np.random.default_rng(1)
    labels = list("abcdefghij")
    people = {"a": rng.choice(labels, 100_000), "b": rng.choice(labels, 100_000, p=[0.145] * 6 + [0.0325] * 4)}
    result = Survey({"a": Choice(labels), "b": Choice(labels), "ab": Cross("a", "b")}, 6.0).run(people, rng=1)
    fine, wide = result.publish(suppress=None), result.publish(suppress=None, round=1000)
    for name in "ab":
        assert np.abs(column(wide, name, "people") - column(fine, name, "people")).max() < 1001
        moved = np.abs(column(wide, name, "share") - column(fine, name, "share"))
        assert (column(wide, name, "stderr") >= moved - 1e-5).all()


@each("asked", [{"apps": Several(["a", "b"])}, {"name": Text(2, "abc", n=4000)}])
def test_limits_of_other_numbers_contain_those_that_are_rounded(asked):
    survey, people = Survey(asked, 8.0), {"apps": ["a", "a;b", "a"] * 600, "name": ["a", "b", "a"] * 600}
    result = survey.run({name: people[name] for name in asked}, rng=1)
    publication = result.publish(round=1000, suppress=None)
    for name in asked:
        share, low, high = (column(publication, name, key) for key in ("share", "low", "high"))
        assert ((low <= share) & (share <= high) & (share <= 1)).all()
        assert (column(publication, name, "stderr") > np.abs(share - np.round(share * 1800) / 1800)).all()
        assert (column(publication, name, "stderr") > 0.1).all()
    with raises(ValueError, "round must be at most the number of people of each group, got 10000"):
        result.publish(round=10_000)


# Groups ---------------------------------------------------------------------------------------------------------------


def test_groups_of_people_who_all_answer_the_same():
    people = {"z": [True] * 1200, "town": np.arange(1200) % 40}
    publication = Survey({"z": YesNo()}, 4.0).run(people, by="town", rng=5).publish(suppress=None)
    assert publication.tables["z"]["people"] == [0, 30] * 40 + [0, 1200]


@each("seed", [0, 4, 6])
def test_groups_with_hardly_any_people_in_most_cells(seed):
    """Cells of all people that are nearly 0 hold those of the groups there."""
    survey = Survey({"a": Choice(list("xyz")), "b": YesNo(), "ab": Cross("a", "b")}, 3.0)
    people = {"a": ["x"] * 150, "b": [False] * 147 + [True] * 3, "town": np.arange(150) % 6}
    publication = survey.run(people, by="town", rng=seed).publish(suppress=None)
    assert all(sum(table["people"]) == 300 for table in publication.tables.values())


@each("seed", [0, 3, 14])
def test_groups_of_three_people_with_two_answers_each(seed):
    """Their joint shares are known so badly that some sums of answers of the same people would have negative variances."""
    survey = Survey({"a": Choice(list("xyz")), "b": YesNo(), "ab": Cross("a", "b")}, 8.0, answers=2)
    people = {"a": ["x", "y", "z"] * 20, "b": [True, False, False] * 20, "group": np.arange(60) % 20}
    tables = survey.run(people, by="group", rng=seed).publish(suppress=None).tables
    assert all(min(table["stderr"]) > 1e-3 for table in tables.values())


def test_sizes_of_groups_add_up_to_the_population():
    people = {"x": ["a", "b", "c"] * 400, "town": np.arange(1200) % 40}
    results = Survey({"x": Choice(list("abc")), "z": YesNo()}, 4.0).run(people | {"z": [True] * 1200}, by="town", rng=1)
    for population, base, total in ((1010, 1, 1010), (dict.fromkeys(range(40), 1400), 1000, 56_000)):
        tables = results.publish(population=population, round=base, suppress=None).tables
        assert all(sum(table["people"][: -len(table) // 41]) == total for table in tables.values())
    with raises(ValueError, "population must be at most 9007199254740992 in all groups together, got 4e+17"):
        results.publish(population=dict.fromkeys(range(40), 1e16))


def test_rounding_in_many_small_groups_keeps_the_shares_of_all():
    """Each group has 10 people, and less than half a person in each rare cell."""
    n = 3000
    way = np.repeat(list("abcdefgh"), [900, 900, 900, 60, 60, 60, 60, 60])
    town = np.random.default_rng(1).permutation(n) % 300
    results = Survey({"x": Choice(list("abcdefgh"))}, 6.0).run({"x": way, "town": town}, by="town", rng=1)
    shares = [column(results.publish(population=size, suppress=None), "x", "share")[-8:] for size in (n, MANY)]
    assert np.abs(shares[0] - shares[1]).max() <= 1 / n


def test_rare_answers_of_small_groups_do_not_add_up_to_too_many():
    """Groups that are projected alone have nearly twice as many people on foot."""
    n = 3000
    people = people_of(n) | {"town": np.arange(n) % 30}
    survey = Survey({"way": Choice(WAYS)}, 1.0)
    results = survey.run(people, by="town", rng=2)
    table = results.publish(suppress=None).tables["way"]
    found = np.array(table["people"][-3:]) / n
    total = column(survey.run(people, rng=2).publish(suppress=None), "way", "share")
    assert found == pytest.approx(total, abs=0.5 * table["stderr"][-3])
    alone = sum(column(results[town].publish(suppress=None), "way", "people") for town in results) / n
    assert alone[0] > 1.8 * found[0]


def test_sizes_of_groups_are_matched_by_label():
    results = Survey({"smoker": YesNo()}, 4.0).run(people_of(3000), by="region", rng=1)
    sizes = {"W": 1000, "N": 7000, "S": 2000}
    frame = results.publish(population=sizes, suppress=None).to_frame()
    assert frame.groupby("region")["OBS_VALUE"].sum().to_dict() == {**sizes, "_T": 10_000}
    given = [pd.Series(sizes), pd.Series(sizes)[["N", "W", "S"]]]
    assert all(results.publish(population=one, suppress=None).to_frame().equals(frame) for one in given)
    assert results.publish(population=9000, suppress=None).to_frame().query("region == '_T'")["OBS_VALUE"].sum() == 9000


def test_groups_of_several_columns_have_a_column_each():
    people = people_of(2000) | {"sex": np.where(np.arange(2000) % 2, "f", "m")}
    publication = Survey({"smoker": YesNo()}, 4.0).run(people, by=["region", "sex"], rng=1).publish()
    assert list(publication.tables["smoker"].columns)[:3] == ["region", "sex", "smoker"]
    assert {"region", "sex", "smoker"} <= set(publication.to_frame().columns)


def test_a_group_without_answers_is_suppressed_and_counts_as_the_others():
    people = {"a": [True, False] * 2000, "b": ["x", "y"] * 2000, "by": ["one"] * 3999 + ["two"]}
    results = Survey({"a": YesNo(), "b": Choice(list("xy"))}, 3.0).run(people, by="by", rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        empty = [name for name in "ab" if not results["two"][name].n]
    publication = results.publish()
    table = publication.tables[empty[0]]
    assert np.isnan(table["people"][2:4]).all()
    assert not np.isnan(table["people"][:2] + table["people"][4:]).any()


# Suppressed numbers and quality ---------------------------------------------------------------------------------------


def test_numbers_with_a_large_relative_error_are_suppressed():
    result = Survey(LINKED, 2.0).run(people_of(3000), rng=1)
    everything, limited = result.publish(suppress=None).to_frame(), result.publish(suppress=0.3).to_frame()
    rule = everything["STDERR"] > 0.3 * everything["OBS_VALUE"]
    assert rule.any()
    assert not rule.all()
    assert (limited["OBS_STATUS"] == "Q").equals(rule)
    numbers = ["OBS_VALUE", "STDERR", "LOWER", "UPPER", "SHARE"]
    assert limited.loc[rule, numbers].isna().all(axis=None)
    pd.testing.assert_frame_equal(limited.loc[~rule], everything.loc[~rule])
    assert sum(result.publish(suppress=0.3).quality["suppressed"]) == rule.sum()


def test_the_quality_report():
    survey = Survey({"way": Choice(WAYS), "visits": Number(0, 9, optional=True), "owner": YesNo(optional=True)}, 2.0)
    people = {"way": ["foot"] * 3000, "visits": [20.0, 5.0, None] * 1000, "owner": [True, False, None] * 1000}
    with pytest.warns(ldp.results.ClippedWarning):
        result = survey.run(people, rng=1, clip=True)
    publication = result.publish(invited=4000)
    quality = pd.DataFrame(publication.quality.columns).set_index("table")
    assert quality.index.tolist() == ["way", "visits", "owner"]
    assert (quality["people"] == 3000).all()
    assert (quality["response"] == 0.75).all()
    assert quality["answers"].tolist() == [result[name].n for name in quality.index]
    assert quality["no answer"].iloc[1:].tolist() == pytest.approx([1 / 3, 1 / 3], abs=0.1)
    assert quality["clipped"].tolist()[0] == 0
    assert quality["clipped"]["visits"] == 1000
    assert (quality["epsilon"] == result.guarantee.epsilon).all()
    share, error = column(publication, "owner", "share"), column(publication, "owner", "stderr")
    assert quality["design effect"]["owner"] == pytest.approx(
        (error**2).sum() / (share * (1 - share)).sum() * 3000, rel=1e-3
    )
    assert 0.93 < quality["expected coverage"]["owner"] < 0.98
    assert any("0.5 times" in note for note in publication.notes)


def test_quality_of_tables_without_spread_or_answers():
    """The mean in the cell "no answer" of a table is no share, and one answer of all has no design effect."""
    survey = Survey({"x": Choice(list("abc"), optional=True), "m": Mean(0, 5), "both": Cross("x", "m")}, 4.0)
    people = {"x": ["a", "b", None] * 300, "m": [4.0] * 900}
    quality = survey.run(people, rng=1).publish().quality
    assert quality["no answer"][0] == pytest.approx(1 / 3, abs=0.1)
    assert np.isnan(quality["no answer"][1:]).all()
    alone = Survey({"x": Choice(list("abc"))}, 4.0).run({"x": ["a"]}, rng=1).publish()
    assert alone.tables["x"]["people"][0] == 1
    assert np.isnan(alone.quality["design effect"]).all()
    two = Survey({"x": YesNo(), "y": YesNo()}, 4.0).run({"x": [True], "y": [True]}, rng=1).publish().quality
    unasked = two["answers"].index(0)
    assert np.isnan([two["design effect"][unasked], two["expected coverage"][unasked]]).all()


def test_other_numbers_are_within_their_range():
    asked = {
        "apps": Several(["a", "b", "c"]),
        "name": Text(2, "=1bc", n=4000),
        "hours": Mean(0, 24),
        "seconds": Number(0, 9),
    }
    rng = np.random.default_rng(1)
    people = {"apps": ["a", "a;b", ""] * 1334, "name": ["=1", "b", "c"] * 1334}
    people |= {"hours": rng.uniform(0, 24, 4002), "seconds": rng.uniform(0, 9, 4002)}
    result = Survey(asked, 8.0).run(people, rng=1)
    publication = result.publish(suppress=None)
    assert publication.tables["hours"]["value"] == pytest.approx(
        [result["hours"].value], abs=result["hours"].stderr / 5
    )
    assert publication.tables["seconds"]["seconds"][0] == "mean"
    assert (
        np.round(column(publication, "apps", "share"), 3).tolist()
        == np.round(result["apps"].value.clip(0, 1), 3).tolist()
    )
    shares = publication.to_frame().query("UNIT_MEASURE == 'PS'")["SHARE"]
    assert shares.between(0, 1).all()


def test_means_of_a_cross_are_those_of_its_cells():
    rng = np.random.default_rng(1)
    smoker = rng.random(40_000) < 0.3
    people = {"smoker": smoker, "visits": np.where(smoker, 6, 2)}
    result = Survey({"smoker": YesNo(), "visits": Mean(0, 20, optional=True), "both": Cross("visits", "smoker")}, 4.0)
    result = result.run(people, rng=1)
    table, given = result.publish().tables["both"], result["both"].given("smoker")
    assert table["smoker"] == ["no", "yes"]
    assert table["value"] == pytest.approx(given.value, abs=2 * given.stderr.max())
    assert table["stderr"] == pytest.approx(given.stderr, rel=0.2)
    assert all(low < truth < high for low, truth, high in zip(table["low"], (2, 6), table["high"], strict=True))


# Other results --------------------------------------------------------------------------------------------------------


def test_counts_that_are_merged_and_saved_have_the_same_tables():
    survey = Survey(LINKED, 2.0, answers=2)
    whole = survey.run(people_of(2000), rng=1).publish()
    reports = survey.privatize(people_of(2000), rng=1)
    parts = [survey.aggregator().update(part) for part in (reports.slice(0, 700), reports.slice(700))]
    merged = Aggregator.from_bytes(parts[0].merge(parts[1]).to_bytes()).estimate().publish()
    pd.testing.assert_frame_equal(whole.to_frame(), merged.to_frame())
    again = pickle.loads(pickle.dumps(survey.run(people_of(2000), rng=1))).publish()
    pd.testing.assert_frame_equal(whole.to_frame(), again.to_frame())  # no new draws


def test_calibrated_tables_have_the_calibrated_estimates():
    results = Survey({"way": Choice(WAYS), "smoker": YesNo()}, 4.0).run(
        people_of(9000, ways=(0.2, 0.3, 0.5)), by="region", rng=1
    )
    weighted = calibrate(results, {"region": {"N": 0.2, "S": 0.3, "W": 0.5}})
    publication = weighted.publish(population=MANY)
    assert column(publication, "way", "share") == pytest.approx(weighted["way"].value, abs=1e-9)
    assert column(publication, "way", "stderr") == pytest.approx(weighted["way"].stderr, rel=1e-6)


def test_questions_without_tables_are_left_out_with_a_warning():
    survey = Survey({"a": YesNo(), "b": YesNo(), "c": YesNo(), "all": Pairs("a", "b")}, 4.0, weights={"a": 0, "b": 0})
    result = survey.run({"a": [True, False] * 500, "b": [True] * 1000, "c": [True] * 1000}, rng=1)
    with pytest.warns(ldp.results.DoubtfulWarning, match="left out of the tables.*'all'$"):
        assert list(result.publish().tables) == ["c"]


def test_mistakes():
    survey = Survey({"smoker": YesNo()}, 2.0, series="health", waves=2)
    keys = ldp.PersonKeys(bytes(32), np.arange(400))
    waves = [survey.in_wave(wave).collect({"smoker": [True] * 400}, rng=keys) for wave in (1, 2)]
    assert sum(waves[0].estimate().publish(suppress=None).tables["smoker"]["people"]) == waves[0].n
    with raises(
        ValueError, "the result must be that of one survey or wave, its groups or their calibration, to be published"
    ):
        pool(waves).publish()
    plain = Survey({"smoker": YesNo()}, 2.0).run({"smoker": [True] * 400, "by": ["a", "b"] * 200}, by="by", rng=1)
    with raises(TypeError, "population must be a whole number, or numbers by group, got list"):
        plain.publish(population=[200, 200])
    with raises(
        ValueError, "population must have the labels 'a', 'b', or be an array in their order; label 0 is another one"
    ):
        plain.publish(population={"c": 1, "a": 1})
    with raises(ValueError, "round must be at most the number of people of each group, got 1000"):
        plain.publish(round=1000)
    with raises(ValueError, "invited must be at least the 400 people who took part, got 399"):
        plain.publish(invited=399)
    with raises(TypeError, "round must be an integer, got float"):
        plain["a"].publish(round=0.5)
    with raises(ValueError, "suppress must be a finite number > 0, got 0"):
        plain["a"].publish(suppress=0)
    bits = ldp.Warner(1.0).run([True, False], by=["a", "b"], rng=1)
    with raises(TypeError, "results must be those of a survey, got those of a Warner"):
        bits.publish()
