"""Plots of results: the artists hold the numbers of the results, and labels say what they are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bounds, central, estimation, survey

from .support.cases import each
from .support.extras import remove_extras
from .support.internals.shared import plots
from .support.labels import has_unit
from .support.process import run_python

RNG = np.random.default_rng(1)
SURVEY = survey.Survey(
    {
        "age": survey.Mean(0, 100),
        "way": survey.Choice(["foot", "car", "$5 _train_"], optional=True),
        "income": survey.Histogram([0, 10, 40]),
        "both": survey.Cross("way", "income"),
    },
    6.0,
)
PEOPLE = {
    "age": RNG.uniform(0, 100, 20_000),
    "way": np.array(["foot", "car", None], object)[RNG.integers(0, 3, 20_000)],
    "income": RNG.uniform(0, 40, 20_000),
}
ANSWERS = SURVEY.run(PEOPLE, rng=1)
WAYS = ["foot", "bicycle", "car"]
ESTIMATES = {
    "number": ldp.Warner(1.0).run(np.arange(1000) % 4 == 0, rng=1),
    "labels": estimation.frequencies(WAYS * 500, [*WAYS, "other"], 1.0, rng=1),
    "projected": estimation.frequencies(np.arange(1500) % 3, 30, 1.0, project=True, rng=1),
    "codes": estimation.frequencies(np.arange(2000) % 50, 50, 1.0, rng=1),
    "vector": estimation.vector_mean(RNG.uniform(-0.4, 0.4, (1000, 5)), 1.0, rng=1),
    "sparse": estimation.sparse_mean(np.tile([0.8, 0.0, 0.0], (2000, 1)), 1.0, radius=1.0, rng=1),
    "gaussian": estimation.GaussianMean(1.0, sigma=1.0, mu_bound=10.0).simulate(100_000, 3.0, 1.0, rng=1),
    "central mean": central.mean(RNG.normal(size=(500, 2)), epsilon=1.0, moment=2.0, radius=3.0, rng=1),
    "answer": ANSWERS["way"],
    "mean": ANSWERS["age"],
    "bins": ANSWERS["income"],
    "conditional": ANSWERS["both"].given("income"),
    "points": estimation.RangeQueries(16, 1.0).run(np.arange(2000) % 16, rng=1).cdf([[3, 5], [7, 9]]),
}
SHARES = ("number", "labels", "projected", "codes", "answer", "bins", "conditional", "points")
BOUND = bounds.mean_l2(np.geomspace(1e3, 1e6, 7), 10, 1.0)
MAKERS = {
    **{name: estimate.plot for name, estimate in ESTIMATES.items()},
    "range": estimation.RangeQueries(16, 1.0).run(np.arange(2000) % 16, rng=1).plot,
    "density": estimation.histogram_density(RNG.beta(2, 5, 2000), 2.0, bins=5, rng=1).plot,
    "projected density": estimation.series_density(RNG.beta(2, 5, 2000), 2.0, n_terms=4, rng=1).project().plot,
    "cube": central.histogram_density(RNG.random(500), epsilon=1.0, bins=5, rng=1).plot,
    "square": central.histogram_density(RNG.random((500, 2)), epsilon=1.0, bins=5, rng=1).plot,
    "cross": ANSWERS["both"].plot,
    "trade-off": ldp.Warner(1.0).channel().plot,
    "channel": lambda ax=None: ldp.RandomizedResponse(4, 1.0).channel().plot(ax, kind="matrix"),
    "bounds": lambda ax=None: BOUND.plot(ax, x=np.geomspace(1e3, 1e6, 7), xlabel="number of people"),
    "bound": bounds.mean_l2(1000, 10, 1.0).plot,
    "comparison": bounds.compare("multinomial", 1000, 1.0, k=10).plot,
    "influence": lambda ax=None: central.plot_influence(["mean"], [1.0, 2.0], lower=0, upper=3, ax=ax),
}
matplotlib_figure = pytest.importorskip("matplotlib.figure")


def segments(ax):
    """Return the ends of the intervals, shape (rows, 2), and their places."""
    x, y = (np.reshape(part, (-1, 3)) for part in ax.get_lines()[0].get_data())
    assert np.isnan(x[:, 2]).all()
    np.testing.assert_array_equal(y[:, 0], y[:, 1])
    return x[:, :2], y[:, 0]


def new_axes(width=6.0, height=4.0):
    return matplotlib_figure.Figure((width, height), layout="constrained").add_subplot()


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.long
def test_every_plot_has_labels_and_can_be_drawn(name):
    """Both labels are there, with a unit; only a single number has no label for its row. Nothing warns."""
    ax = MAKERS[name]()
    labels = [ax.get_xlabel(), ax.get_ylabel()]
    if name in ("number", "gaussian", "mean"):
        assert labels.pop() == ""
    if name == "cross":  # the labels are the names of the questions
        assert [label.partition("\n")[0] for label in labels] == ["income", "way"]
    else:
        assert [label for label in labels if not has_unit(label)] == []
    ax.figure.canvas.draw()


@each("name", MAKERS)
def test_plots_draw_on_the_axes_of_the_caller(name):
    ax = new_axes()
    assert MAKERS[name](ax) is ax
    assert ax.has_data()


@each("name", MAKERS)
def test_a_path_is_not_an_axes(name):
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes or None, got str"):
        MAKERS[name]("plot.png")


@each("name", ESTIMATES)
def test_intervals_and_values_are_those_of_the_estimate(name):
    estimate = ESTIMATES[name]
    ax = estimate.plot(confidence=0.9, simultaneous=True)
    ends, places = segments(ax)
    limits = np.array([np.ravel(limit) for limit in estimate.interval(0.9, simultaneous=True)])
    low, high = np.clip(limits, 0, 1) if name in SHARES else limits
    np.testing.assert_array_equal(ends.T, [low, high])
    np.testing.assert_array_equal(places, np.arange(np.size(estimate.value)))
    value = np.ravel(estimate.value)
    inside = (low <= value) & (value <= high)
    np.testing.assert_array_equal(ax.get_lines()[1].get_xdata(), np.where(inside, value, np.nan))
    np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), places)
    assert ("hollow" in ax.get_xlabel()) == (len(ax.get_lines()) > 2) == (not inside.all())
    if not inside.all():
        np.testing.assert_array_equal(ax.get_lines()[2].get_xdata(), np.clip(value, low, high)[~inside])
        np.testing.assert_array_equal(ax.get_lines()[2].get_ydata(), places[~inside])
        assert ax.get_lines()[2].get_markerfacecolor() == "white"
    assert "90 % interval, simultaneous" in ax.get_xlabel()
    assert f"n = {estimate.n:,}, {estimate._short_guarantee()}" in ax.get_xlabel()
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row is at the top


def test_rows_have_the_labels_of_the_estimate():
    assert [text.get_text() for text in ESTIMATES["labels"].plot().get_yticklabels()] == [*WAYS, "other"]
    assert ESTIMATES["labels"].plot().get_xlabel().startswith("share with 95 % interval\n")
    assert ESTIMATES["projected"].plot().get_xlabel().startswith("projected share, and share with 95 % interval\n")
    assert ESTIMATES["labels"].plot().get_ylabel() == "category"
    assert [text.get_text() for text in ESTIMATES["points"].plot().get_yticklabels()] == [
        "0, 0",
        "0, 1",
        "1, 0",
        "1, 1",
    ]
    assert [text.get_text() for text in ESTIMATES["number"].plot().get_yticklabels()] == []
    assert [text.get_text() for text in ESTIMATES["bins"].plot().get_yticklabels()] == ["0 to 10", "10 to 40"]


def test_labels_are_texts_of_limited_length_and_no_formulas():
    assert plots.text_of("$a$") == r"\$a\$"
    assert plots.text_of("_a") == " _a"
    assert plots.text_of("a" * 49) == "a" * 45 + "..."
    assert plots.text_of("a" * 48) == "a" * 48
    ANSWERS["way"].plot().figure.canvas.draw()  # a formula "$5 _train_" would be a warning


@each("height", [1.5, 3.0, 8.0])
@each("rows", [3, 50, 400])
def test_labels_of_rows_do_not_overlap(rows, height):
    ax = new_axes(height=height)
    plots.draw_intervals(ax, [f"category {i}" for i in range(rows)], *np.zeros((3, rows)))
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) >= 2
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))


def test_a_new_figure_has_room_for_fifty_labels():
    ax = ESTIMATES["codes"].plot()
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) == 50
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))


@pytest.mark.parametrize("columns", [["a"] * 8, ["a long label"] * 8, list(map(str, range(300)))])
def test_labels_of_columns_do_not_overlap(columns):
    ax = new_axes()
    plots.draw_matrix(ax, np.zeros((2, len(columns))), ["a", "b"], columns, "share")
    ax.figure.canvas.draw()
    labels = ax.get_xticklabels()
    if labels[0].get_rotation() == 0:
        boxes = [label.get_window_extent() for label in labels]
        assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
    else:  # parallel texts, whose distance is measured across
        apart = np.diff([label.get_position()[0] for label in labels]) * ax.bbox.width / len(columns)
        height = labels[0].get_fontsize() * ax.figure.dpi / 72
        assert (apart * np.sin(np.pi / 4) >= height).all()


def test_infinite_limits_are_not_drawn():
    estimate = central.quantile(RNG.normal(size=500), 0.5, epsilon=1.0, lower=-5, upper=5, rng=1)
    ax = estimate.plot()
    assert len(segments(ax)[0]) == 0
    assert ax.get_lines()[1].get_xdata() == [estimate.value]
    assert ax.get_xlabel().startswith("quantile 0.5, no interval (unit of the records)\n")


def test_the_distribution_function_is_a_step_function_with_its_band():
    estimate = estimation.RangeQueries(16, 1.0).run(np.arange(2000) % 16, rng=1)
    ax, cdf = estimate.plot(confidence=0.8), estimate.cdf()
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), np.clip(cdf.value, 0, 1))
    assert ax.get_lines()[0].get_drawstyle() == "steps-post"
    band = ax.collections[0].get_paths()[0].vertices
    low, high = np.clip(cdf.interval(0.8), 0, 1)
    assert set(low) | set(high) <= set(band[:, 1])
    assert "80 %, pointwise" in [text.get_text() for text in ax.get_legend().get_texts()]
    again = estimate.plot(simultaneous=True)
    assert "95 %, simultaneous" in [text.get_text() for text in again.get_legend().get_texts()]


def test_the_projected_density_is_drawn():
    density = estimation.series_density(RNG.beta(2, 5, 2000), 2.0, n_terms=4, rng=1).project()
    x, y = density.plot().get_lines()[0].get_data()
    np.testing.assert_array_equal(y, density(x))


def test_the_histogram_of_a_curator_has_intervals():
    density = central.histogram_density(RNG.random(500), epsilon=1.0, bins=5, rng=1)
    ax = density.plot(confidence=0.5)
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata()[:-1], 5 * density.value)
    assert set(5 * density.interval(0.5)[0]) <= set(ax.collections[0].get_paths()[0].vertices[:, 1])
    assert "50 % interval" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_table_of_two_questions_is_a_heat_map_with_its_numbers():
    answer = ANSWERS["both"]
    ax = answer.plot(confidence=0.9)
    np.testing.assert_array_equal(ax.images[0].get_array(), answer.value)
    low, high = answer.interval(0.9)
    texts = [text.get_text().split("\n+- ") for text in ax.texts]
    assert len(texts) == answer.value.size
    np.testing.assert_allclose([float(value) for value, _ in texts], answer.value.ravel(), atol=5e-4)
    np.testing.assert_allclose([float(half) for _, half in texts], np.ravel(high - low) / 2, atol=5e-4)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["foot", "car", r"\$5 _train_", "no answer"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0 to 10", "10 to 40"]
    assert ax.get_ylabel() == "way"
    assert ax.get_xlabel().startswith("income\nn = ")
    assert "90 % interval" in ax.figure.axes[1].get_ylabel()


def test_the_figure_of_a_survey_has_the_numbers_of_all_answers():
    figure = ANSWERS.plot(confidence=0.9)
    for ax, answer in zip(figure.axes, ANSWERS.values(), strict=True):
        np.testing.assert_array_equal(segments(ax)[0].T, [np.ravel(end) for end in answer.interval(0.9)])
        value = np.ravel(answer.value)
        shown = np.where(np.clip(value, *answer.range) == value, value, np.nan)  # the others are hollow
        np.testing.assert_array_equal(ax.get_lines()[1].get_xdata(), shown)


def test_no_point_of_a_survey_is_outside_of_its_interval():
    """Nobody says yes: the estimate is negative, and its limits are cut at 0."""
    asked = survey.Survey({"yes": survey.YesNo(), "way": survey.Choice(4)}, 1.0)
    for seed in range(4):
        result = asked.run({"yes": np.zeros(400, bool), "way": np.zeros(400, int)}, rng=seed)
        figure = result.plot()
        hollow = 0
        for ax, answer in zip(figure.axes, result.values(), strict=True):
            low, high = map(np.ravel, answer.interval())
            solid, *others = ax.get_lines()[1:]
            value = solid.get_xdata()
            drawn = np.isfinite(value)
            assert ((low[drawn] <= value[drawn]) & (value[drawn] <= high[drawn])).all()
            for points in others:
                places = points.get_ydata()
                assert set(points.get_xdata()) <= {*low[places], *high[places]}
                hollow += len(places)
            assert drawn.sum() + sum(len(points.get_ydata()) for points in others) == len(value)
        assert (hollow > 0) == ("hollow" in figure.axes[-1].get_xlabel())
        assert hollow == sum((np.ravel(a.value) < 0).sum() + (np.ravel(a.value) > 1).sum() for a in result.values())


def test_the_plan_of_a_survey_has_a_curve_per_question():
    plan = SURVEY.plan(1000)
    panels = plan.plot().axes
    assert [ax.get_ylabel() for ax in panels] == [f"standard error ({unit})" for unit in dict.fromkeys(plan.units)]
    drawn = {}
    for ax in panels:
        *curves, mark = ax.get_lines()
        assert mark.get_xdata() == [1, 1]
        styles = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in curves}
        assert len(styles) == len(curves)
        drawn |= {line.get_label(): line for line in curves}
    assert set(drawn) == set(plan.names)
    for name, stderr in zip(plan.names, plan.stderr, strict=True):
        np.testing.assert_array_equal(drawn[name].get_xdata(), [1, 2, 3, 4])
        np.testing.assert_array_equal(drawn[name].get_ydata(), stderr)


def test_infinite_standard_errors_of_a_plan_are_not_drawn():
    plan = survey.SurveyPlan(100, ("a", "b"), np.array([[0.1, np.inf], [0.2, 0.3]]), 1)
    np.testing.assert_array_equal(plan.plot().axes[0].get_lines()[0].get_ydata(), [0.1, np.nan])


def test_a_channel_is_a_heat_map_of_its_probabilities():
    channel = ldp.RandomizedResponse(4, 1.0).channel()
    ax = channel.plot(kind="matrix")
    np.testing.assert_array_equal(ax.images[0].get_array(), channel.matrix)
    np.testing.assert_allclose([float(t.get_text()) for t in ax.texts], channel.matrix.ravel(), atol=1e-3)
    assert ax.get_xlabel() == "report (number from 0)\nepsilon = 1"
    assert ax.get_ylabel() == "input (number from 0)"
    assert len(ldp.RandomizedResponse(20, 1.0).channel().plot(kind="matrix").texts) == 0  # no room for 400 numbers
    with pytest.raises(ValueError, match=r"^kind must be one of 'trade-off', 'matrix', got 'rows'$"):
        channel.plot(kind="rows")


def test_bounds_are_drawn_against_their_argument():
    people = np.geomspace(1e3, 1e6, 7)
    ax = BOUND.plot(x=people, xlabel="number of people")
    for line, errors in zip(ax.get_lines(), (BOUND.lower, BOUND.upper, BOUND.nonprivate), strict=True):
        np.testing.assert_array_equal(line.get_data(), [people, errors])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of people", "squared error (squared unit of the parameter)")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_one_bound_has_a_row_per_number():
    bound = bounds.mean_l2(1000, 10, 1.0)
    ax = bound.plot()
    assert [line.get_xdata()[0] for line in ax.get_lines()] == [bound.lower, bound.upper, bound.nonprivate]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["lower bound", "upper bound", "without privacy"]
    vacuous = bounds.Bound(0.0, 1.0, 1.0, "", 0.5, "squared error").plot()
    assert vacuous.get_yticklabels()[0].get_text() == "lower bound: 0"
    assert len(vacuous.get_lines()) == 2


@each(
    "bound, x, message",
    [
        (BOUND, None, r"x must be numbers > 0 of the shape \(7,\) of the bounds, got None"),
        (BOUND, [1.0, 2.0], r"x must be numbers > 0 of the shape \(7,\) of the bounds, got 1 in shape \(2,\)"),
        (BOUND, np.arange(7), r"x must be numbers > 0 of the shape \(7,\) of the bounds, got 0 in shape \(7,\)"),
        (bounds.mean_l2(10, 2, 1.0), 10, "x must be None for bounds that are numbers"),
        (
            bounds.mean_l2([[10, 20]], 2, 1.0),
            None,
            r"plot requires bounds of at most one dimension, got shape \(1, 2\)",
        ),
    ],
)
def test_bounds_need_positions_of_their_shape(bound, x, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        bound.plot(x=x)


def test_a_comparison_has_a_row_per_mechanism():
    comparison = bounds.compare("mean_l2", 1000, 1.0, dim=10)
    ax = comparison.plot()
    *marks, bound = ax.get_lines()
    assert [line.get_xdata()[0] for line in marks] == [row.error for row in comparison.rows]
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"{r.mechanism} ({r.kind})" for r in comparison.rows]
    assert bound.get_xdata() == [comparison.bound.lower] * 2
    assert ax.get_xlabel() == "squared error (squared unit of the parameter)\nmean_l2, n = 1,000, epsilon = 1"


def test_colors_differ_in_gray():
    """A value is told apart from its interval, and so are the ends of the color scale of a matrix."""
    colors, cm = pytest.importorskip("matplotlib.colors"), pytest.importorskip("matplotlib.cm")

    def gray(color):
        return float(np.dot(colors.to_rgb(color), [0.299, 0.587, 0.114]))

    assert abs(gray(plots.SKY) - gray(plots.BLACK)) > 0.4
    scale = [gray(cm.Blues(x)) for x in np.linspace(0, 1, 9)]
    assert (np.diff(scale) < 0).all()


@each("name", MAKERS)
def test_plots_without_matplotlib_say_what_to_install(name, monkeypatch):
    remove_extras(monkeypatch)
    with pytest.raises(ImportError, match=r"^matplotlib is not installed: run pip install matplotlib"):
        MAKERS[name]()


def test_invalid_confidence_is_reported_before_matplotlib_is_needed(monkeypatch):
    remove_extras(monkeypatch)
    for name in ("labels", "density", "range", "cube", "cross"):
        with pytest.raises(ValueError, match=r"^confidence must be in \(0, 1\), got 2$"):
            MAKERS[name](confidence=2)


def test_results_and_their_html_load_no_matplotlib():
    code = "import sys, ldpfast as ldp; print(len(ldp.Warner(1.0).run([True] * 50, rng=1)._repr_html_()) > 100)"
    result = run_python(f"{code}; print('matplotlib' in sys.modules)")
    assert result.stdout == "True\nFalse\n", result.stderr


def test_plots_are_not_shown(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")

    def show(*args, **kwargs):
        raise AssertionError("show was called")

    monkeypatch.setattr(pyplot, "show", show)
    before = set(pyplot.get_fignums())
    ESTIMATES["labels"].plot()
    assert len(set(pyplot.get_fignums()) - before) == 1  # a notebook shows it


# Many rows ------------------------------------------------------------------------------------------------------------


def test_the_room_of_a_figure_is_shared_by_its_panels():
    assert plots.rows_shown([3, 10, 0]) == [3, 10, 0]
    assert plots.rows_shown([1000]) == [148]
    assert plots.rows_shown([2, 1000, 1000]) == [2, 71, 71]
    many = plots.rows_shown([5] * 100)
    assert many == [3] * 32 + [0] * 68
    assert plots.largest(np.array([1.0, np.nan, 3.0, 2.0]), 2) == [2, 3]
    assert plots.left_out(["a", "b_", "c", "d", "e"]) == "\nnot shown: a, b_, c and 2 more"


@pytest.mark.long
def test_plots_of_many_rows_have_a_readable_size_and_say_what_they_leave_out(tmp_path):
    """6 questions with 12 labels in 25 groups: 1,950 rows, and 1,728 differences."""
    asked = survey.Survey({f"q{i}": survey.Choice(12, optional=True) for i in range(6)}, 4.0)
    rng = np.random.default_rng(1)
    frame = {name: rng.integers(0, 12, 4000) for name in asked.questions} | {"region": rng.integers(0, 25, 4000)}
    frame["q1"][frame["region"] == 7] = 5
    results = asked.run(frame, by="region", rng=1)
    comparison = survey.compare(results)
    for figure, note in (
        (results.plot(), "q1: the 23 of 325 rows that differ most from the mean of all groups"),
        (comparison.plot(), "q1: difference of shares, the 23 largest of 288, in standard errors"),
    ):
        width, height = figure.get_size_inches()
        assert width <= 24
        assert height <= 15
        assert len(figure.axes) == 6
        titles = [ax.get_title(loc="left") for ax in figure.axes]
        assert titles[1] == note
        shown = [text.get_text() for text in figure.axes[1].get_yticklabels()]
        assert len(shown) == 23
    assert any("7" in text and "5" in text for text in shown)  # the difference that there is
    figure = survey.compare({name: results[name] for name in list(results)[:3]}).plot_trends()
    assert max(figure.get_size_inches()) <= 24
    wide = survey.Survey({f"q{i}": survey.YesNo() for i in range(90)}, 2.0).run(
        {f"q{i}": [True] * 200 for i in range(90)}, rng=1
    )
    figure = wide.plot(tmp_path / "wide.png")
    assert max(figure.get_size_inches()) <= 24
    assert len(figure.axes) == 57
    assert "not shown: q57, q58, q59 and 30 more" in figure.axes[-1].get_xlabel()
