"""What a notebook shows of the objects of the package: no warnings, escaped texts, no scripts."""

from __future__ import annotations

import inspect
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ldpfast as ldp
from ldpfast import analysis, bounds, central, designs, estimation, privacy, reports, survey

from .support.cases import each
from .support.public import WITHOUT_INSTANCES, instances, public_objects, result_classes

OBJECTS = instances()
TABLES = [thing for thing in OBJECTS if hasattr(thing, "_repr_html_") and not hasattr(thing, "get_params")]


def name_of(thing):
    return type(thing).__name__


class Tables(HTMLParser):
    """Rows of texts of the tables in HTML, the tags in use, and whether every tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.tags, self.attributes, self.text, self._open = [], set(), set(), "", []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= set(attrs)
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += data
        else:
            self.text += data


def test_every_public_class_has_an_instance():
    classes = {*(thing for thing in public_objects().values() if inspect.isclass(thing)), *result_classes().values()}
    assert classes - {type(thing) for thing in OBJECTS} == WITHOUT_INSTANCES


WITHOUT_TEXT = {"FileTable", "GradientDescent", "NewtonStep", "RepeatedClient", "SurveyClient"}  # the text of Python
QUESTIONS = (survey.SurveyResult, survey.SurveyPlan, survey.SurveyComparison, survey.Table)  # shown as tables


@each("thing", OBJECTS, ids=name_of)
def test_objects_are_displayed_without_warnings(thing):
    """The text begins with the name of the class, or has the numbers of people and the guarantee of an estimate."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text, name = repr(thing), name_of(thing)
        if isinstance(thing, ldp.Estimate):
            assert f"n = {thing.n}, {thing._short_guarantee()})" in text
        elif isinstance(thing, reports.GroupedResults):
            assert re.match("group ", text)
            assert "groups, epsilon = " in text
        elif isinstance(thing, QUESTIONS):
            assert text.startswith("question ")
        elif isinstance(thing, survey.Explanation):
            assert text.startswith(f"# {thing.title}\n")
        elif isinstance(thing, analysis.RegressionSummary):
            assert text.startswith("name ")
        else:
            assert re.match(rf"<?{name}\b", text) or name in WITHOUT_TEXT, text
        assert bool(re.match(r"<\S+ object at 0x", text)) == (name in WITHOUT_TEXT)
        if hasattr(thing, "_repr_html_") and not hasattr(thing, "get_params"):
            assert Tables(thing._repr_html_()).rows
        if hasattr(thing, "_repr_mimebundle_"):
            assert name in thing._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("name", ["LinearRegression", "LogisticRegression", "PoissonRegression"])
def test_pipelines_are_displayed_without_warnings(name):
    """scikit-learn parses the docstrings of estimators, and knows the sections of numpydoc only."""
    model = getattr(estimation, name)
    assert name in make_pipeline(FunctionTransformer(), model())._repr_mimebundle_()["text/html"]
    assert "\n    Privacy\n" not in model.__doc__


def test_all_results_have_tables():
    shown = {type(thing) for thing in TABLES}
    expected = {
        thing
        for thing in (public_objects() | result_classes()).values()
        if inspect.isclass(thing) and issubclass(thing, ldp.Estimate)
    }
    expected |= {
        analysis.RegressionSummary,
        bounds.Bound,
        bounds.Comparison,
        designs.DesignReport,
        privacy.Channel,
        survey.SurveyPlan,
        survey.Publication,
        survey.SurveyComparison,
        survey.SurveyResult,
        survey.Table,
    }
    assert expected - WITHOUT_INSTANCES == shown


@each("thing", TABLES, ids=name_of)
def test_html_is_a_table_without_scripts_and_colors(thing):
    page = Tables(thing._repr_html_())
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert page.attributes <= {("style", "text-align: left"), ("style", "text-align: right")}
    assert len({len(row) for row in page.rows}) == 1
    assert len(page.rows) >= 2


@each("thing", [t for t in TABLES if isinstance(t, ldp.Estimate)], ids=name_of)
def test_tables_of_estimates_have_their_numbers(thing):
    page = Tables(thing._repr_html_())
    start = len(page.rows[0]) - 4
    assert page.rows[0][start + 1 :] == ["std. error", "low", "high"]
    numbers = [np.ravel(part) for part in (thing.value, thing.stderr, *thing._bounds())]
    rows = page.rows[1 : np.size(thing.value) + 1]
    if np.size(thing.value) > 60:
        numbers, rows = [np.concatenate([part[:30], part[-30:]]) for part in numbers], [*rows[:30], *page.rows[-30:]]
    found = np.array([row[start:] for row in rows], np.float64)
    assert found.shape == (len(numbers[0]), 4)
    for column, expected in zip(found.T, numbers, strict=True):
        finite = np.isfinite(expected)
        error = np.where(numbers[1] > 0, numbers[1], np.abs(numbers[0]) + 1e-6)[finite]
        assert (np.abs(column[finite] - expected[finite]) <= 0.051 * np.minimum(error, 1e300) + 1e-6).all()
        np.testing.assert_array_equal(column[~finite], expected[~finite])
    assert f"n = {thing.n:,}, {thing._short_guarantee()}, 95 % interval" in page.text


def test_labels_are_escaped():
    estimate = estimation.frequencies(["<b>&", "a"] * 50, ["<b>&", "a"], 1.0, rng=1)
    html = estimate._repr_html_()
    assert "<b>" not in html
    assert Tables(html).rows[1][0] == "<b>&"
    table = survey.Table({"<i>": ["</td>"], "x": [0.5]})
    assert Tables(table._repr_html_()).rows == [["<i>", "x"], ["</td>", "0.5"]]


def test_long_tables_show_the_first_and_the_last_rows():
    page = Tables(survey.Table({"x": list(range(1000))})._repr_html_())
    assert [row[0] for row in page.rows[1:]] == [*map(str, range(30)), "...", *map(str, range(970, 1000))]
    assert page.text == "60 of 1,000 rows are shown"
    assert len(Tables(survey.Table({"x": list(range(60))})._repr_html_()).rows) == 61
    estimate = estimation.frequencies(np.arange(500), 500, 1.0, rng=1)
    assert Tables(estimate._repr_html_()).text.endswith("95 % interval; 60 of 500 rows are shown")


def test_wide_channels_show_the_first_reports():
    page = Tables(ldp.RandomizedResponse(100, 1.0).channel()._repr_html_())
    assert page.rows[0] == ["input", *(f"report {j}" for j in range(16))]
    assert "the first 16 reports are shown" in page.text
    small = Tables(ldp.Warner(1.0).channel()._repr_html_())
    np.testing.assert_allclose(np.array(small.rows[1:], float)[:, 1:], ldp.Warner(1.0).channel().matrix, atol=1e-4)


def test_bounds_and_comparisons_have_their_numbers():
    bound = bounds.mean_l2([10, 100], 3, 1.0)
    page = Tables(bound._repr_html_())
    assert page.rows[0] == ["index", "lower", "upper", "rate", "nonprivate", "gap"]
    numbers = np.array(page.rows[1:], float)[:, 1:]
    expected = [bound.lower, bound.upper, bound.rate, bound.nonprivate, bound.gap]
    np.testing.assert_allclose(numbers.T, expected, rtol=1e-3)
    assert page.text == f"{bound.loss}; {bound.source}"
    comparison = bounds.compare("multinomial", 1000, 1.0, k=5)
    rows = Tables(comparison._repr_html_()).rows[1:]
    assert [row[0] for row in rows] == [row.mechanism for row in comparison.rows]
    np.testing.assert_allclose([float(row[1]) for row in rows], [row.error for row in comparison.rows], rtol=1e-3)


def test_parts_of_an_estimate_are_rows():
    gaussian = estimation.GaussianMean(1.0, sigma_bounds=(0.5, 2.0), mu_bound=10.0).simulate(100_000, 3.0, 1.0, rng=1)
    rows = Tables(gaussian._repr_html_()).rows
    assert [row[:2] for row in rows[:1]] == [["parameter", "estimate"]]
    assert [row[0] for row in rows[1:]] == ["mean", "standard deviation"]
    assert float(rows[2][1]) == pytest.approx(gaussian.sigma.value, abs=0.005)
    asked = survey.Survey({"x": survey.YesNo(optional=True)}, 3.0)
    answer = asked.run({"x": [True, None] * 200}, rng=1)["x"]
    rows = Tables(answer._repr_html_()).rows
    assert [row[0] for row in rows[1:]] == ["", "no answer"]
    assert float(rows[2][1]) == pytest.approx(answer.missing.value, abs=0.001)


def test_limits_of_answers_are_clipped_wherever_they_are_shown():
    asked = survey.Survey({"x": survey.Choice(["a", "b"])}, 1.0)
    answer = asked.run({"x": ["a"] * 100}, rng=1)["x"]
    low, high = answer.interval()
    assert high[0] == 1.0
    assert low[1] == 0.0
    np.testing.assert_array_equal(answer.to_dict()["interval"], [low, high])
    rows = Tables(answer._repr_html_()).rows[1:]
    assert (float(rows[0][-1]), float(rows[1][-2])) == (1.0, 0.0)


def test_numbers_without_a_standard_error_are_shown():
    estimate = central.quantile(np.arange(500.0), 0.5, epsilon=1.0, lower=0, upper=1e6, rng=1)
    rows = Tables(estimate._repr_html_()).rows
    assert rows[1] == [f"{estimate.value:.6g}", "inf", "-inf", "inf"]


def test_estimates_have_two_digits_of_their_standard_error():
    table = survey.Table(
        {
            "name": ["a", "b", "c", "d"],
            "estimate": [0.1, 45440.4, 0.0028, 1.0],
            "stderr": [0.005942, 876.8, 0.0083, 0.0],
            "low": [0.08844, 43696.2, 0.0, float("nan")],
            "z": [16.829, 51.82, 0.337, 1.0],
            "n": [9952, 7127, 3035, 1],
        }
    )
    assert table.to_texts() == {
        "name": ["a", "b", "c", "d"],
        "estimate": ["0.1000", "45440", "0.0028", "1"],
        "stderr": ["0.0059", "877", "0.0083", "0"],
        "low": ["0.0884", "43696", "0.0000", "nan"],
        "z": ["16.83", "51.82", "0.337", "1"],
        "n": ["9952", "7127", "3035", "1"],
    }
    assert survey.Table({"estimate": [0.1]}).to_texts() == {"estimate": ["0.1"]}
    assert repr(table).splitlines()[1] == "a       0.1000  0.0059  0.0884  16.83  9952"
