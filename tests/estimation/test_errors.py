"""Invalid input of the estimators: exact error messages, which contain no record."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import estimation
from ldpfast.estimation import (
    Frequencies,
    GradientDescent,
    HistogramDensity,
    MedianSGD,
    NewtonStep,
    RangeQueries,
    SeriesDensity,
    SparseMean,
    TruncatedMean,
    VectorMean,
    project_simplex,
)

from ..support.cases import each
from ..support.errors import CLIP_HINT, logged_text, raises, state_of_record

NAN, INF = float("nan"), float("inf")
WORDS = ("never", "often")
MECHANISMS = ("auto", "k-ary", "subset", "hadamard", "projective", "symmetric", "optimized")

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


def error_text(call, *arguments, **named):
    """Text of a TypeError or ValueError of a call, or "" if there is none."""
    try:
        call(*arguments, **named)
    except (TypeError, ValueError) as error:
        return logged_text(error)
    return ""


# Parameters -----------------------------------------------------------------------------------------------------------

# A rule: invalid values, the type of the error, and its message.

NOT_POSITIVE = ([0, -0.5], ValueError, "{name} must be a finite number > 0, got {value!r}")
NOT_FINITE = ([NAN, INF, -INF], ValueError, "{name} must be a finite number, got {value!r}")
NO_NUMBER = (["1", True, [1.0], 1j], TypeError, "{name} must be a number, got {kind}")
POSITIVE = (NOT_POSITIVE, NOT_FINITE, NO_NUMBER)
COUNT = (
    ([0, -3], ValueError, "{name} must be an integer >= 1, got {value}"),
    ([1.0, "3", [1]], TypeError, "{name} must be an integer, got {kind}"),
    ([True], TypeError, "{name} must be an integer, got bool"),
)


def choices(*allowed):
    text = ", ".join(map(repr, allowed))
    return ((["gauss", "", 3, None], ValueError, f"{{name}} must be one of {text}, got {{value!r}}"),)


def between(least, most):
    return (
        ([least - 1, most + 1], ValueError, f"{{name}} must be an integer in [{least}, {most}], got {{value}}"),
        *COUNT[1:],
    )


PEOPLE = between(1, 1 << 53)
WITHIN_60 = ([1e-90, 1e200], ValueError, "{name} must be in [1e-60, 1e60], got {value!r}")

truncated = partial(TruncatedMean, epsilon=1.0, moment=2, radius=1.0, n=100)
haar = partial(RangeQueries, 10, 1.0, method="haar")
median = partial(MedianSGD, 1.0, lower=0.0, upper=1.0)
sparse = partial(SparseMean, 3, 1.0, radius=1.0)
series = partial(SeriesDensity, 1.0, n=100)
newton = partial(NewtonStep, "logistic", 1, 1.0)
descent = partial(GradientDescent, family="linear", features=2, epsilon=1.0, residual=1.0)

RULES = [
    (truncated, "moment", ([1, 0.5, -2], ValueError, "{name} must be > 1, got {value!r}"), NOT_FINITE, NO_NUMBER),
    (truncated, "radius", *POSITIVE, WITHIN_60),
    (truncated, "n", *PEOPLE),
    (truncated, "method", ([0, -0.5], *NOT_POSITIVE[1:]), NOT_FINITE, ([True, None], *NO_NUMBER[1:])),
    (truncated, "method", ([1e-220], ValueError, "{name} must be at least 1e-200 for moment=2, radius=1, got {value!r}")),
    (truncated, "method", (["best", ""], ValueError, "{name} must be one of 'optimal', 'paper', got {value!r}")),
    (truncated, "noise", *choices("laplace", "sign-bit")),
    (truncated, "lower", NOT_FINITE, NO_NUMBER),
    (truncated, "upper", NOT_FINITE, NO_NUMBER),
    (median, "quantile", ([0, 1, -0.1, 1.5], ValueError, "{name} must be in (0, 1), got {value!r}")),
    (median, "quantile", NOT_FINITE, NO_NUMBER),
    (median, "quantile", ([1e-200, 1 - 1e-12], ValueError, "{name} must be in [1e-9, 1 - 1e-9], got {value!r}")),
    (median, "n", *PEOPLE),
    (partial(VectorMean, epsilon=1.0), "dim", *COUNT),
    (partial(VectorMean, 3, 1.0), "norm", *choices("l2", "linf")),
    (partial(VectorMean, 3, 1.0), "mechanism", *choices("auto", "half-space")),
    (partial(VectorMean, 3, 1.0), "radius", *POSITIVE),
    (partial(SparseMean, epsilon=1.0, radius=1.0), "dim", *between(1, 1 << 34)),
    (partial(SparseMean, 3, 1.0), "radius", *POSITIVE),
    (sparse, "penalty", ([-1, -0.5], ValueError, "{name} must be a number >= 0, got {value!r}")),
    (sparse, "penalty", NOT_FINITE, NO_NUMBER),
    (partial(Frequencies, 3, 1.0), "project", ([1, "yes", None], TypeError, "{name} must be a bool, got {kind}")),
    (partial(estimation.frequencies, [0, 1], 3, 1.0), "mechanism", *choices(*MECHANISMS)),
    (partial(SeriesDensity, 1.0), "n", *PEOPLE),
    (series, "smoothness", ([0.5, 0, -1, 1e9], ValueError, "{name} must be in (1/2, 100], got {value!r}")),
    (series, "smoothness", NOT_FINITE, NO_NUMBER),
    (series, "radius", *POSITIVE, WITHIN_60),
    (partial(SeriesDensity, 1.0), "n_terms", *between(1, 1 << 16)),
    (partial(HistogramDensity, 1.0), "n", *PEOPLE),
    (partial(HistogramDensity, 1.0), "bins", *between(2, 1 << 16)),
    (partial(HistogramDensity, 1.0, n=100), "noise", *choices("unary", "laplace")),
    (partial(HistogramDensity, 1.0, n=100), "lipschitz", *POSITIVE),
    (newton, "n", *between(4, 1 << 53)),
    (partial(RangeQueries, epsilon=1.0), "k", *between(2, 1 << 20)),
    (partial(RangeQueries, 10, 1.0), "branching", between(2, 1 << 20)[0], COUNT[2]),
    (partial(RangeQueries, 10, 1.0), "branching", ([2.0, [1]], TypeError, "{name} must be an integer, got {kind}")),
    (partial(RangeQueries, 10, 1.0), "branching", (["3"], ValueError, "{name} must be one of 'auto', got '3'")),
    (haar, "branching", ([3], ValueError, "{name} must be 2 for the method 'haar', got {value}")),
    (partial(RangeQueries, 10, 1.0), "method", *choices("hierarchy", "haar")),
    (descent, "family", *choices("logistic", "linear", "poisson")),
    (descent, "features", *between(1, 1 << 18)),
    (descent, "norm", *choices("l2", "linf")),
    (descent, "noise", *choices("auto", "half-space", "laplace")),
    (descent, "residual", *POSITIVE),
    (descent, "eta0", *POSITIVE),
    (descent, "exponent", ([0.5, 1, 0, 2], ValueError, "{name} must be in (1/2, 1), got {value!r}"), NOT_FINITE, NO_NUMBER),
    (descent, "projection", *POSITIVE),
    (descent, "covariance", *choices("diagonal", "full", "none")),
]  # fmt: skip
INVALID = [
    pytest.param(make, name, value, error, message, id=f"{getattr(make, 'func', make).__name__} {name}={value!r}")
    for make, name, *rules in RULES
    for values, error, message in rules
    for value in values
]


@each("make, name, value, error, message", INVALID)
def test_message_names_the_invalid_argument(make, name, value, error, message):
    with raises(error, message.format(name=name, value=value, kind=type(value).__name__)):
        make(**{name: value})


def test_message_names_the_invalid_mechanism():
    with pytest.raises(ValueError, match=r"^mechanism must be one of "):
        Frequencies(3, 1.0, mechanism="gauss")


@pytest.mark.parametrize(
    "name, value, message",
    [("moment", 1e7, "at most 1e6"), ("radius", 1e61, "in [1e-60, 1e60]"), ("radius", 1e-61, "in [1e-60, 1e60]")],
)
def test_moments_and_radii_beyond_double_precision(name, value, message):
    with raises(ValueError, f"{name} must be {message}, got {value!r}"):
        truncated(**{name: value})


@pytest.mark.parametrize("moment, radius", [(1e6, 1.0), (2, 1e60), (200, 1e60), (1.000001, 1e-60)])
def test_bounds_are_finite_for_extreme_moments_and_radii(moment, radius):
    problem = truncated(moment=moment, radius=radius)
    assert 0 < problem.bias_bound < np.inf
    assert 0 < problem.mean_squared_error().total < np.inf


EPSILONS = {
    "truncated": lambda e: truncated(epsilon=e),
    "sign-bit": lambda e: truncated(epsilon=e, noise="sign-bit"),
    "median": lambda e: MedianSGD(e, lower=0, upper=1),
    "naive": lambda e: estimation.naive_median([0.5], e, lower=0, upper=1),
    "l2": lambda e: VectorMean(3, e),
    "box": lambda e: VectorMean(3, e, norm="linf", lower=0, upper=1),
    "sparse": lambda e: SparseMean(3, e, radius=1.0),
    "frequencies": lambda e: Frequencies(3, e),
    "words": lambda e: Frequencies(WORDS, e, mechanism="k-ary"),
    "series": lambda e: SeriesDensity(e, n=100),
    "terms": lambda e: SeriesDensity(e, n_terms=3),
    "histogram": lambda e: HistogramDensity(e, n=100),
    "histogram laplace": lambda e: HistogramDensity(e, bins=3, noise="laplace"),
    "ranges": lambda e: RangeQueries(100, e),
    "haar": lambda e: RangeQueries(100, e, method="haar"),
    "descent": lambda e: descent(epsilon=e),
}


@each("make", EPSILONS.values(), ids=EPSILONS)
def test_invalid_epsilon(make):
    for values, error, message in POSITIVE:
        for value in values:
            with raises(error, message.format(name="epsilon", value=value, kind=type(value).__name__)):
                make(value)
    for value in (1e-300, 1e9):
        with pytest.raises(ValueError, match=r"^epsilon must be within what exact coins can certify, got "):
            make(value)


ENDS = {
    "median": lambda a, b: MedianSGD(1.0, lower=a, upper=b),
    "naive": lambda a, b: estimation.naive_median([0.5], 1.0, lower=a, upper=b),
    "box": lambda a, b: VectorMean(2, 1.0, norm="linf", lower=a, upper=b),
    "series": lambda a, b: SeriesDensity(1.0, n=100, lower=a, upper=b),
    "histogram": lambda a, b: HistogramDensity(1.0, n=100, lower=a, upper=b),
}


@each("make", ENDS.values(), ids=ENDS)
def test_invalid_ends(make):
    for a, b in ((1.0, 1.0), (1.5, 0.5), (0.0, -1e-9)):
        with raises(ValueError, f"lower and upper must be finite with lower < upper, got {a!r} and {b!r}"):
            make(a, b)
    for a in (NAN, INF, -INF):
        with raises(ValueError, f"lower must be a finite number, got {a!r}"):
            make(a, 1.0)
        with raises(ValueError, f"upper must be a finite number, got {a!r}"):
            make(0.0, a)
    for a in ("0", True):
        with raises(TypeError, f"lower must be a number, got {type(a).__name__}"):
            make(a, 1.0)
    with pytest.raises(ValueError, match=r"^lower and upper must be within 1e\d+ of zero"):
        make(0.0, 1e101)


def test_incompatible_arguments():
    for arguments, message in (
        ({"lower": 5.0}, "lower and upper must leave an interval within [-0.940151, 0.940151], got 5.0 and None"),
        ({"lower": 1, "upper": 0}, "lower and upper must leave an interval within [-0.940151, 0.940151], got 1 and 0"),
    ):
        with raises(ValueError, message):
            truncated(**arguments)
    box = "lower and upper must be left out with norm 'l2' or a radius: they are the ends of a box"
    for arguments, message in (
        ({"lower": 0}, "lower and upper must be given together"),
        ({"upper": 1}, "lower and upper must be given together"),
        ({"lower": 0, "upper": 1}, box),
        ({"norm": "linf", "radius": 1.0, "lower": 0, "upper": 1}, box),
        (
            {"norm": "linf", "lower": [0, 0], "upper": 1},
            "lower must be a number, or one for each of dim=3 coordinates, got 2",
        ),
        (
            {"norm": "linf", "lower": [0, 0, 2], "upper": 1},
            "lower and upper must be finite with lower < upper, got 2.0 and 1.0",
        ),
    ):
        with raises(ValueError, message):
            VectorMean(3, 1.0, **arguments)
    for make, arguments, message in (
        (SeriesDensity, {}, "n or n_terms must be given"),
        (SeriesDensity, {"n_terms": 3, "n": 100}, "n must be left out where n_terms is given"),
        (SeriesDensity, {"n_terms": 3, "smoothness": 2.0}, "smoothness must be left out where n_terms is given"),
        (SeriesDensity, {"n_terms": 3, "radius": 0}, "radius must be a finite number > 0, got 0"),
        (HistogramDensity, {}, "n or bins must be given, not both"),
        (HistogramDensity, {"bins": 3, "n": 100}, "n must be left out where bins is given"),
        (HistogramDensity, {"bins": 3, "lipschitz": 0}, "lipschitz must be a finite number > 0, got 0"),
    ):
        with raises(ValueError, message):
            make(1.0, **arguments)
    with raises(ValueError, "residual must be given for the family 'poisson', whose residuals have no bound"):
        GradientDescent("poisson", 2, 1.0)


@pytest.mark.parametrize("column", [-1, 1e-30, 1e30])
def test_invalid_column_of_the_intercept(column):
    with raises(ValueError, f"column must be 0 or in [1e-15, 1e15], got {column!r}"):
        descent(column=column)


# Categories -----------------------------------------------------------------------------------------------------------


def test_invalid_categories():
    for k in (1, 0, -3):
        with raises(ValueError, f"k must be an integer >= 2, got {k}"):
            Frequencies(k, 1.0)
    for k in (2.0, "ab", b"ab", None):
        with raises(TypeError, f"k must be an integer, or a list of labels, got {type(k).__name__}"):
            Frequencies(k, 1.0)
    for unordered in ({"a", "b"}, {"a": 0, "b": 1}):
        name = type(unordered).__name__
        with raises(TypeError, f"k must list the categories in the order of the estimates, got {name}, which has none"):
            Frequencies(unordered, 1.0)
    for labels in ([], ["a"]):
        with raises(ValueError, f"k must be at least 2 categories, got {len(labels)}"):
            Frequencies(labels, 1.0)
    for labels, repeated in ((["c", "a", "a", "b"], "'a'"), ([1, True], "1"), ([NAN, NAN], "nan")):
        with raises(ValueError, f"k must list each category once, got {repeated} more than once"):
            Frequencies(labels, 1.0)
    for labels in ([["a"], ["b"]], np.array([[1, 2], [3, 4]])):
        with raises(TypeError, "k must be a number of categories, or a list of labels that can be hashed"):
            Frequencies(labels, 1.0)


UNDECLARED = "x must be among the k=2 declared categories; index 0 is outside (1 of 1 are)"


@each("call", ["run", "privatize"])
@each("answer", ["seldom", "", b"never", None, NAN, pd.NA, pd.NaT, 0, True])
def test_undeclared_answer(call, answer):
    with raises(ValueError, UNDECLARED):
        getattr(Frequencies(WORDS, 1.0), call)(answer)


@pytest.mark.parametrize("values", [pa.array([1, 2]), pa.array([True]), pa.array([1.5])])
def test_arrow_arrays_of_another_type(values):
    with raises(TypeError, f"x must hold labels like the declared categories, got type {values.type}"):
        Frequencies(WORDS, 1.0).run(values)


def test_invalid_shapes_of_answers():
    for x in ([["never", "often"]], np.array([["never"]]), pd.DataFrame({"x": ["never"]}), pa.table({"x": ["never"]})):
        with raises(ValueError, f"x must have shape (n,), or () for one record, got shape {np.shape(x)}"):
            Frequencies(WORDS, 1.0).run(x)
    with raises(TypeError, "x must hold labels like the declared categories"):
        Frequencies(WORDS, 1.0).run(np.array(["never", []], object))
    with raises(ValueError, "clip must be False for categories, got True"):
        Frequencies(WORDS, 1.0).run(["never"], clip=True)


@each(
    "x",
    [
        [["never"], "often"],
        {"never"},
        {"never": 1},
        np.array("never"),
        pa.scalar("never"),
    ],
    ids=repr,
)
def test_unknown_containers_of_answers(x):
    assert re.match("$|(Type|Value)Error: x must", error_text(Frequencies(WORDS, 1.0).run, x))


# Records --------------------------------------------------------------------------------------------------------------

NUMBERS = {
    "truncated_mean": lambda x: estimation.truncated_mean(x, 1.0, moment=2, radius=1.0),
    "median": lambda x: estimation.median(x, 1.0, lower=0, upper=1),
    "quantile": lambda x: estimation.quantile(x, 0.1, 1.0, lower=0, upper=1),
    "naive_median": lambda x: estimation.naive_median(x, 1.0, lower=0, upper=1),
    "series_density": lambda x: estimation.series_density(x, 1.0),
    "series terms": lambda x: estimation.series_density(x, 1.0, n_terms=3),
    "histogram_density": lambda x: estimation.histogram_density(x, 1.0),
    "histogram laplace": lambda x: estimation.histogram_density(x, 1.0, bins=3, noise="laplace"),
}
ROWS = {
    "l2": lambda x: estimation.vector_mean(x, 1.0),
    "linf": lambda x: estimation.vector_mean(x, 1.0, norm="linf"),
    "box": lambda x: estimation.vector_mean(x, 1.0, norm="linf", lower=0, upper=1),
    "sparse": lambda x: estimation.sparse_mean(x, 1.0, radius=1.0),
    "problem": lambda x: VectorMean(3, 1.0).run(x),
}
WHAT = {
    "series_density": "numbers in [lower, upper] = [0.0, 1.0]",
    "series terms": "numbers in [lower, upper] = [0.0, 1.0]",
    "histogram_density": "numbers in [lower, upper] = [0.0, 1.0]",
    "histogram laplace": "numbers in [lower, upper] = [0.0, 1.0]",
    "l2": "rows of l2 norm at most radius = 1.0",
    "problem": "rows of l2 norm at most radius = 1.0",
    "linf": "rows of linf norm at most radius = 1.0",
    "sparse": "rows of linf norm at most radius = 1.0",
    "box": "rows of numbers in [lower, upper], coordinate by coordinate",
}


@each("name", [*NUMBERS, *ROWS])
@each("dtype", [np.float32, np.float64])
@each("bad", [NAN, INF, -INF, 1.0000002, -1e30])
def test_records_out_of_range(name, dtype, bad):
    call, what = NUMBERS.get(name) or ROWS[name], WHAT.get(name, "finite numbers")
    x = np.full(300 if name in NUMBERS else (300, 3), 0.25, dtype)
    x.reshape(300, -1)[[17, 200], -1] = bad
    if what == "finite numbers" and np.isfinite(bad):
        assert call(x).n == 300
        return
    if what.startswith("rows of l2") and bad == 1.0000002:
        x[[17, 200], 0] = 0.5
    with raises(ValueError, f"x must be {what}; index 17 is {state_of_record(bad)} (2 of 300 are){CLIP_HINT}"):
        call(x)


@each("call", [*NUMBERS.values(), *ROWS.values()], ids=[*NUMBERS, *ROWS])
def test_records_that_are_not_numbers(call):
    shape = (4,) if call in NUMBERS.values() else (4, 3)
    for dtype in ("complex128", "U3", "S3", "bool", "datetime64[s]", "longdouble"):
        with raises(TypeError, f"x must be real numbers (float32, float64 or integers), got dtype {np.dtype(dtype)}"):
            call(np.zeros(shape, dtype))
    with raises(TypeError, "x must be real numbers (float32, float64 or integers), got dtype object"):
        call(np.full(shape, "1", object))
    with raises(TypeError, "x must be an array of numbers, got list"):
        call([[1.0], [1.0, 2.0]])
    with raises(TypeError, "x must not be a masked array"):
        call(np.ma.masked_array(np.zeros(shape), True))


@each("call", NUMBERS.values(), ids=NUMBERS)
def test_invalid_shapes_and_sizes_of_numbers(call):
    with raises(ValueError, "x must have shape (n,), or () for one record, got shape (5, 3)"):
        call(np.zeros((5, 3)))
    with pytest.raises(
        ValueError, match=r"^(x must hold at least 1 record, got none|.* at least 1 report, got n = 0)$"
    ):
        call([])


@each("name", ROWS)
def test_invalid_shapes_and_sizes_of_rows(name):
    for shape in ((), (5,), (2, 3, 3), (4, 0)):
        with pytest.raises(ValueError, match=rf"^x must have (shape|dim=3).*{re.escape(f'got shape {shape}')}$"):
            ROWS[name](np.zeros(shape))
    with raises(ValueError, "an estimate needs at least 1 report, got n = 0"):
        ROWS[name](np.zeros((0, 3)))
    with raises(ValueError, "x must have dim=3 in its last axis, got shape (5, 4)"):
        VectorMean(3, 1.0).run(np.zeros((5, 4)))


def test_clip_must_be_a_bool():
    for clip in (1, 0, "no", None):
        with raises(TypeError, f"clip must be a bool, got {type(clip).__name__}"):
            VectorMean(3, 1.0).run(np.zeros((5, 3)), clip=clip)


def test_invalid_rows_and_responses():
    no_numbers = "must be real numbers (float32, float64 or integers), got dtype <U1"
    for x, y, error, message in (
        (np.zeros((5, 3)), np.zeros(5), ValueError, "x must have shape (n, features) with features=2, got shape (5, 3)"),
        (np.zeros(5), np.zeros(5), ValueError, "x must have shape (n, features) with features=2, got shape (5,)"),
        (np.zeros((5, 2)), np.zeros(4), ValueError, "y must have shape (5,), got shape (4,)"),
        (np.zeros((5, 2)), ["a"] * 5, TypeError, f"y {no_numbers}"),
        (np.zeros((5, 2), "U1"), np.zeros(5), TypeError, f"x {no_numbers}"),
        (np.zeros((0, 2)), [], ValueError, "an estimate needs at least 1 report, got n = 0"),
    ):  # fmt: skip
        with raises(error, message):
            descent().run(x, y)
    responses = {"logistic": (0.5, "0 or 1"), "linear": (INF, "a number"), "poisson": (-1.0, "a number >= 0")}
    for family, (bad, what) in responses.items():
        for place in (0, 1, 2):
            records = np.zeros((300, 3))
            records[[170, 200], place] = bad if place == 2 else NAN
            for shuffle in (False, True):
                with raises(
                    ValueError,
                    f"x and y must be rows of 2 finite numbers and a response, {what}; index 170 is outside (2 of 300 are)",
                ):
                    descent(family=family).run(records[:, :2], records[:, 2], shuffle=shuffle)


# Estimates ------------------------------------------------------------------------------------------------------------


def test_reports_of_another_problem():
    problem = VectorMean(3, 1.0)
    with raises(ValueError, "an estimate needs at least 1 report, got n = 0"):
        problem.estimate(problem.aggregator())
    with pytest.raises(ValueError, match=r"^other must aggregate answers to the same question: dim is 3, got 4$"):
        problem.estimate(VectorMean(4, 1.0).aggregator())
    with pytest.raises((TypeError, ValueError), match=r"^reports must "):
        problem.estimate(np.zeros((5, 4), np.float32))
    with raises(ValueError, "an estimate needs at least 1 report, got n = 0"):
        MedianSGD(1.0, lower=0, upper=1).estimate()


CONFIDENCES = {
    "region": VectorMean(3, 1.0).run(np.zeros((100, 3)), rng=1).region,
    "band": lambda c: SeriesDensity(1.0, n_terms=2).run(np.full(100, 0.5), rng=1).band([0.5], c),
    "bins": lambda c: HistogramDensity(1.0, bins=2).run(np.full(100, 0.5), rng=1).band([0.5], c, True),
    "quantile": lambda c: MedianSGD(9.0, lower=0, upper=1).run(np.linspace(0, 1, 900), rng=1).interval(c),
    "sparse": SparseMean(3, 1.0, radius=1.0).run(np.zeros((100, 3)), rng=1).interval,
}


@each("call", CONFIDENCES.values(), ids=CONFIDENCES)
def test_invalid_confidence(call):
    for confidence in (0, 1, -0.5, 1.5):
        with raises(ValueError, f"confidence must be in (0, 1), got {confidence!r}"):
            call(confidence)
    with raises(ValueError, "confidence must be a finite number, got nan"):
        call(NAN)
    with raises(TypeError, "confidence must be a number, got str"):
        call("0.9")


def test_invalid_points_of_a_density():
    density = SeriesDensity(1.0, n_terms=2).run(np.full(100, 0.5), rng=1)
    for call in (density, density.band, density.project()):
        with raises(TypeError, "points must be real numbers (float32, float64 or integers), got dtype <U1"):
            call(["a"])
        with raises(TypeError, "points must not be a masked array"):
            call(np.ma.masked_array([0.5], True))


def test_invalid_vectors_to_project():
    for v in (0.5, [], [[], []]):
        with raises(ValueError, f"v must have shape (..., k) with k >= 1, got shape {np.shape(v)}"):
            project_simplex(v)
    for v in ([NAN, 1], [INF, 0]):
        with raises(ValueError, "v must be finite numbers"):
            project_simplex(v)
    with raises(TypeError, "v must be real numbers (float32, float64 or integers), got dtype <U1"):
        project_simplex(["a"])


def test_invalid_populations():
    for values in ([], [1.0, NAN], [INF]):
        with raises(ValueError, "values must be finite numbers, at least one"):
            truncated().mean_squared_error(values)
    with raises(TypeError, "values must be real numbers (float32, float64 or integers), got dtype <U1"):
        truncated().mean_squared_error(["a"])


def test_invalid_hessians():
    model = descent()
    with raises(ValueError, "a covariance needs at least 1 report of a gradient, got none"):
        model.plug_in_covariance(np.eye(2))
    model.run(np.zeros((5, 2)), np.zeros(5))
    for bad in (np.eye(3), np.full((2, 2), NAN), np.zeros(2)):
        with raises(ValueError, f"hessian must be a finite matrix of shape (2, 2), got shape {bad.shape}"):
            model.plug_in_covariance(bad)
    for bad in (-np.eye(2), np.zeros((2, 2)), np.array([[1.0, 0.5], [0.0, 1.0]])):
        with raises(ValueError, "hessian must be symmetric and positive definite"):
            model.plug_in_covariance(bad)


# No record in a message, no side effect -------------------------------------------------------------------------------


@given(st.integers(112_345, 987_654), st.integers(0, 2), st.booleans())
def test_messages_contain_no_number_of_a_record(digits, place, negative):
    x = np.full(3, 0.25)
    x[place] = digits * (-1 if negative else 1)
    for name, call in (NUMBERS | ROWS).items():
        for bad in (x, x.astype(str), x.astype(object), [*x, NAN], [*x, [1]], np.array([[x]])):
            for records in (bad, [bad]) if name in ROWS else (bad,):
                assert str(digits) not in error_text(call, records).replace(".", "")


@pytest.mark.claim("Error messages never name an answer.", "Bad input")
@given(st.text("abcdefghij", min_size=8, max_size=12), st.integers(0, 2))
def test_messages_contain_no_answer(answer, place):
    x = ["never", "often", "never"]
    x[place] = answer
    problem = Frequencies(WORDS, 1.0)
    for bad in (
        x,
        np.array(x),
        pd.Series(x),
        pd.Categorical(x),
        pa.array(x),
        answer,
        [x],
        pa.array(x).dictionary_encode(),
    ):
        with pytest.raises(ValueError, match=r"^x must ") as caught:
            problem.run(bad)
        assert answer not in logged_text(caught.value)


@pytest.mark.claim("A record that is refused changes nothing in a protocol.", "Bad input")
@pytest.mark.parametrize(
    "protocol, good, bad",
    [
        (MedianSGD(1.0, lower=0, upper=1), [np.full(500, 0.5)], [np.append(np.full(500, 0.5), NAN)]),
        (descent(), [np.zeros((500, 2)), np.zeros(500)], [np.zeros((500, 2)), np.append(np.zeros(499), NAN)]),
    ],
    ids=["median", "descent"],
)
def test_invalid_record_does_not_change_a_protocol(protocol, good, bad):
    protocol.run(*good)
    before = protocol.estimate(), np.copy(protocol.position)
    with pytest.raises(ValueError, match=r"^x (and y )?must be "):
        protocol.run(*bad)
    assert protocol.estimate() == before[0]
    np.testing.assert_array_equal(protocol.position, before[1])
    assert protocol.n == 500


def test_invalid_record_does_not_advance_the_generator():
    rng = np.random.default_rng(1)
    problem, x = VectorMean(3, 1.0), np.zeros((50, 3))
    x[30] = 9
    with pytest.raises(ValueError, match=r"^x must be "):
        problem.privatize(x, rng=rng)
    assert rng.bytes(8) == np.random.default_rng(1).bytes(8)
    assert ldp.estimation.vector_mean(np.zeros((50, 3)), 1.0, rng=rng).n == 50
