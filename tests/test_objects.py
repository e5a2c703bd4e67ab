"""Columns of Python objects are read as what they hold: what pandas and databases make of columns with missing values."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast import analysis, central, designs, estimation
from ldpfast.survey import Mean, Survey, YesNo

from .support.cases import each
from .support.errors import raises
from .support.internals.shared import is_missing, typed

N = 120
FLAGS = np.arange(N) % 3 == 0
OTHERS = np.arange(N) % 5 > 1
NUMBERS = (np.arange(N) % 8) / 8  # exact as floats and decimals
X = np.cos(np.arange(N))[:, np.newaxis]
WARNER = designs.warner(0.9)
SIGNS = ldp.SignBit(0.0, 1.0, 2.0)
DECIMALS = [Decimal(value) for value in NUMBERS.tolist()]


def objects(values: list[Any]) -> dict[str, Any]:
    """Return values in containers of objects."""
    if isinstance(values[0], bool):
        return {"nullable": pd.array(values), "objects": pd.Series([*values, None], dtype=object).dropna()}
    return {"objects": np.array(values, object)}


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal."""
    if hasattr(one, "to_bytes"):
        return bool(one.to_bytes() == other.to_bytes())
    return np.array_equal(getattr(one, "value", one), getattr(other, "value", other), equal_nan=True)


OF_FLAGS = {
    "prevalence": WARNER.prevalence,
    "prevalence_by": lambda x: WARNER.prevalence_by(x, OTHERS)[True],
    "crosswise_with_attention": lambda x: designs.crosswise_with_attention(x, OTHERS, p=0.2, p_attention=0.2),
    "attention": lambda x: designs.crosswise_with_attention(OTHERS, x, p=0.2, p_attention=0.8),
    "two samples": lambda x: designs.unrelated_question_two_samples(x, OTHERS, p=(0.7, 0.2)),
    "logit": lambda x: analysis.RandomizedLogit(WARNER).fit(X, x).params,
    "logit with a covariate": lambda x: (
        analysis.RandomizedLogit(WARNER).fit(pd.DataFrame({"x": list(x)}), OTHERS).params
    ),
    "predictor": lambda x: analysis.RandomizedPredictor(WARNER).fit(X, x, NUMBERS).params,
    "outcome": lambda x: analysis.RandomizedPredictor(WARNER, "logit").fit(X, OTHERS, x).params,
    "classifier": lambda x: analysis.LabelClassifier(WARNER).fit(X, x).coef_,
    "joint": lambda x: estimation.joint([x, OTHERS], [WARNER, WARNER]),
    "conditional_means": lambda x: estimation.conditional_means(NUMBERS, x, WARNER),
    "conditional_quantiles": lambda x: estimation.conditional_quantiles(NUMBERS, x, 0.5, rates=0.1),
    "codes": lambda x: estimation.conditional_means(NUMBERS, x, [[3, 1], [1, 3]]),
    "mechanism": lambda x: ldp.Warner(1.0).privatize(x, rng=1),
    "bits": lambda x: designs.BitChannel(1, own=0.7, other=0.2).estimate(np.array(x, object)[:, np.newaxis]),
    "survey": lambda x: Survey({"x": YesNo()}, 1.0).collect({"x": x}, rng=1),
    "responses": lambda x: estimation.GradientDescent("logistic", 1, 4.0).run(X, x, rng=1),
    "classes": lambda x: estimation.LogisticRegression(4.0, method="sgd", random_state=1).fit(X, x).coef_,
}
OF_NUMBERS = {
    "mechanism": lambda x: SIGNS.privatize(x, rng=1),
    "collect": lambda x: SIGNS.collect(x, rng=1),
    "estimation": lambda x: estimation.truncated_mean(x, 2.0, moment=2.0, radius=1.0, rng=1),
    "median": lambda x: estimation.median(x, 2.0, lower=0.0, upper=1.0, rng=1),
    "survey": lambda x: Survey({"x": Mean(0, 1)}, 1.0).collect({"x": x}, rng=1),
    "values": lambda x: estimation.conditional_means(x, FLAGS, WARNER),
    "quantiles": lambda x: estimation.conditional_quantiles(x, FLAGS, 0.5, WARNER),
    "outcome": lambda x: analysis.RandomizedPredictor(WARNER).fit(X, FLAGS, x).params,
    "weights": lambda x: WARNER.prevalence(FLAGS, weights=x),
    "covariate": lambda x: analysis.RandomizedLogit(WARNER).fit(pd.DataFrame({"x": list(x)}), FLAGS).params,
    "rows": lambda x: analysis.RandomizedLogit(WARNER).fit(np.array(x, object)[:, np.newaxis], FLAGS).params,
    "responses": lambda x: estimation.LinearRegression(4.0, method="sgd", random_state=1).fit(X, x).coef_,
    "central mean": lambda x: central.mean(x, epsilon=1.0, moment=2.0, radius=1.0, rng=1),
    "central quantile": lambda x: central.quantile(x, 0.5, epsilon=1.0, lower=0.0, upper=1.0, rng=1),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("part", [slice(0, 8), slice(8, None)])
def test_objects_of_yes_and_no(part):
    """Booleans, integers, floats and decimals, in containers of objects, are those in arrays of numbers."""
    for name in list(OF_FLAGS)[part]:
        check_flags(name)


def check_flags(name: str) -> None:
    call = OF_FLAGS[name]
    expected = call(FLAGS)
    integers = FLAGS.astype(int).tolist()
    kinds = {"booleans": FLAGS.tolist(), "integers": integers, "decimals": [Decimal(value) for value in integers]}
    if name not in ("mechanism", "classifier"):  # whose records are integers; classes are what they are
        kinds["floats"] = FLAGS.astype(float).tolist()
    for kind, values in kinds.items():
        for container, given in objects(values).items():
            assert same(call(given), expected), (name, kind, container)


@pytest.mark.filterwarnings("ignore::UserWarning")
@each("name", OF_NUMBERS)
def test_objects_of_numbers(name):
    call = OF_NUMBERS[name]
    expected = call(NUMBERS)
    for kind, values in {"floats": NUMBERS.tolist(), "decimals": DECIMALS}.items():
        for container, given in objects(values).items():
            assert same(call(given), expected), (name, kind, container)


@each(
    "values, expected",
    [
        ([True, False, np.True_], np.array([True, False, True])),
        ([1, np.int8(2), 3], np.array([1, 2, 3])),
        ([Decimal("1.00"), 2], np.array([1, 2])),
        ([Decimal("1.5"), 2], np.array([1.5, 2.0])),
        ([Fraction(1, 2), np.float32(0.25)], np.array([0.5, 0.25])),
        ([1, None], np.array([1.0, np.nan])),
        ([Decimal("NaN"), 0.5], np.array([np.nan, 0.5])),
        ([None, np.nan, pd.NA, pd.NaT], np.full(4, np.nan)),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])),
    ],
)
def test_arrays_of_objects_have_the_dtype_of_what_they_hold(values, expected):
    found = typed("x", np.array(values, object))
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")


@each(
    "values", [["a", 1], [True, 1], [1, object()], [b"1"], [1j], [10**400], [2**70], ["1.5"], [pd.Timestamp(0), None]]
)
def test_other_objects_stay_what_they_are(values):
    """In them are texts, booleans among numbers, integers beyond 64 bits, and times."""
    given = np.array(values, object)
    found = typed("x", given)
    assert found is given or (values == [2**70] and found.tolist() == [2.0**70])


def test_missing_values_among_booleans_are_told():
    for missing in (None, np.nan, pd.NA):
        for call in (
            WARNER.prevalence,
            ldp.Warner(1.0).privatize,
            lambda x: estimation.joint([x, x], [WARNER, WARNER]),
        ):
            with pytest.raises(ValueError, match=r"^(x|reports) must have no missing values, got 1 in 3$"):
                call(pd.Series([True, missing, False], dtype=object))
    with raises(ValueError, "X, column 'civic', must have no missing values, got 1 in 3"):
        analysis.RandomizedLogit(WARNER).fit(pd.DataFrame({"civic": [True, None, False]}), [0, 1, 1])
    with raises(ValueError, "reports must be 'no' and 'yes', or 0 and 1 without missing values, got nan"):
        WARNER.prevalence(pd.Series([1, None, 0], dtype=object))
    assert not any(map(is_missing, (0, "", False, "NaN", Decimal(0))))


def test_a_missing_number_among_objects_is_the_center_where_records_are_clipped():
    given = pd.Series([1, None, 0.5], dtype=object)
    assert np.array_equal(SIGNS.privatize(given, rng=1, clip=True), SIGNS.privatize([1, np.nan, 0.5], rng=1, clip=True))
    with pytest.raises(ValueError, match="index 1 is NaN"):
        SIGNS.privatize(given)


def test_numbers_of_several_types_are_a_column_of_a_survey():
    survey = Survey({"x": Mean(0, 2), "y": YesNo(optional=True)}, 1.0)
    mixed = {"x": [Decimal("1.5"), 1, 0.5], "y": pd.Series([True, None, False], dtype=object)}
    plain = {"x": [1.5, 1.0, 0.5], "y": pa.array([True, None, False])}
    assert survey.collect(mixed, rng=1) == survey.collect(plain, rng=1)


# Arrow ----------------------------------------------------------------------------------------------------------------

WAYS = ["car", "foot", "car", "bus"]
HALVES = np.array([0.5, 1.5, 0.5, 2.5], np.float16)
PRICES = [Decimal("0.50"), Decimal("1.50"), Decimal("0.50"), Decimal("2.50")]
CODES = pa.array([0, 1, 0, 2], pa.int8())


@each(
    "given, labels",
    [
        (pa.array(WAYS, pa.string_view()), ["car", "foot", "bus"]),
        (pa.chunked_array([pa.array(WAYS[:1], pa.string_view()), WAYS[1:]], pa.string_view()), ["car", "foot", "bus"]),
        (
            pa.DictionaryArray.from_arrays(CODES, pa.array(["car", "foot", "bus"], pa.string_view())),
            ["car", "foot", "bus"],
        ),
        (pa.array([way.encode() for way in WAYS], pa.binary_view()), [b"car", b"foot", b"bus"]),
        (pa.array(HALVES), [0.5, 1.5, 2.5]),
        (pa.DictionaryArray.from_arrays(CODES, pa.array(HALVES[[0, 1, 3]])), [0.5, 1.5, 2.5]),
        (pa.array(PRICES), [0.5, 1.5, 2.5]),
        (pa.array(PRICES), [Decimal("0.5"), Decimal("1.5"), Decimal("2.5")]),
        (pa.array([10 * price for price in PRICES]), [5, 15, 25]),
        (pa.array(PRICES, pa.decimal256(50, 4)), [0.5, 1.5, 2.5]),
        (pl.Series(PRICES), [0.5, 1.5, 2.5]),
        (pl.Series(WAYS), ["car", "foot", "bus"]),
        (pl.Series(WAYS, dtype=pl.Categorical), ["car", "foot", "bus"]),
    ],
)
def test_frequencies_take_every_type_of_arrow(given, labels):
    expected = estimation.frequencies([0, 1, 0, 2], 3, 2.0, rng=1)
    assert np.array_equal(estimation.frequencies(given, labels, 2.0, rng=1).value, expected.value)


def test_codes_are_integers_or_decimals_of_arrow():
    expected = estimation.frequencies([0, 1, 0, 2], 3, 2.0, rng=1)
    for given in (CODES, CODES.cast(pa.decimal128(5, 2)), pa.chunked_array([CODES[:2], CODES[2:]])):
        assert np.array_equal(estimation.frequencies(given, 3, 2.0, rng=1).value, expected.value)
