"""Columns of all types that tables have, and the errors for cells that are not valid."""

from __future__ import annotations

import datetime
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast._frames import whole_column
from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, YesNo

from ..support.cases import each
from ..support.internals.kernels import MISSING, ROWS, UNDECLARED, Column
from ..support.internals.survey import questions

WORDS = ("red", "green", "blue")
N = 40
CODES = np.arange(N) % 3
TEXTS = [WORDS[code] for code in CODES]


def symbols(question, values, clip=False):
    column = questions.column_of(question).read("c", whole_column("c", values), clip=clip)
    return column.symbols(0, column.n).tolist()


def numbers(question, values):
    column = questions.column_of(question).read("c", whole_column("c", values), clip=False)
    return column.numbers(0, column.n).tolist()


TEXT_COLUMNS = {
    "list": TEXTS,
    "array": np.array(TEXTS),
    "objects": np.array(TEXTS, object),
    "series": pd.Series(TEXTS),
    "string series": pd.Series(TEXTS, dtype="string"),
    "categorical": pd.Categorical(TEXTS),
    "categorical series": pd.Series(TEXTS, dtype="category"),
    "other categories": pd.Series(pd.Categorical(TEXTS, categories=["blue", "pink", "red", "green"])),
    "arrow": pa.array(TEXTS),
    "large arrow": pa.array(TEXTS, pa.large_string()),
    "arrow slice": pa.array(["x", *TEXTS]).slice(1),
    "chunks": pa.chunked_array([TEXTS[:7], TEXTS[7:]]),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "dictionary slice": pa.array(["x", *TEXTS]).dictionary_encode().slice(1),
    "dictionary of 8 bits": pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int8()), WORDS),
    "chunks of dictionaries": pa.chunked_array(
        [pa.array(TEXTS[:7]).dictionary_encode(), pa.array(TEXTS[7:]).dictionary_encode()]
    ),
    "polars": pl.Series(TEXTS),
    "polars categorical": pl.Series(TEXTS, dtype=pl.Categorical),
}


@each("kind", TEXT_COLUMNS)
def test_labels_in_every_kind_of_column(kind):
    assert symbols(Choice(WORDS), TEXT_COLUMNS[kind]) == CODES.tolist()


NUMBER_TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


@each("dtype", NUMBER_TYPES)
@each("kind", ["numpy", "strided", "pandas", "arrow", "slice", "nullable", "polars", "swapped"])
def test_numbers_in_every_kind_of_column(dtype, kind):
    plain = np.arange(N).astype(dtype)
    values = {
        "numpy": plain,
        "strided": np.repeat(plain, 2)[::2],
        "pandas": pd.Series(plain),
        "arrow": pa.array(plain),
        "slice": pa.array(np.arange(-3, N).astype(dtype)).slice(3),
        "nullable": pd.Series(plain, dtype=pd.Series(plain).convert_dtypes(dtype_backend="numpy_nullable").dtype),
        "polars": pl.Series(plain),
        "swapped": plain.astype(plain.dtype.newbyteorder()),
    }[kind]
    assert numbers(Mean(0, 100), values) == list(range(N))
    if "float" not in dtype:
        assert symbols(Choice(range(N)), values) == list(range(N))
        assert symbols(Choice(list(range(-2, N))), values) == list(range(2, N + 2))


BOOLEANS = [bool(i % 3 == 0) for i in range(N)]


@each(
    "values",
    [
        BOOLEANS,
        np.array(BOOLEANS),
        np.array(BOOLEANS).astype(int),
        np.array(BOOLEANS).astype(float),
        pd.Series(BOOLEANS),
        pd.Series(BOOLEANS, dtype="boolean"),
        pd.Series(BOOLEANS, dtype="category"),
        pa.array(BOOLEANS),
        pa.array([True, True, True, *BOOLEANS]).slice(3),
        pa.array(BOOLEANS).dictionary_encode() if hasattr(pa.array(BOOLEANS), "dictionary_encode") else BOOLEANS,
        pl.Series(BOOLEANS),
    ],
    ids=lambda values: type(values).__name__,
)
def test_booleans(values):
    assert symbols(YesNo(), values) == [int(b) for b in BOOLEANS]
    assert numbers(Mean(0, 1), values) == [float(b) for b in BOOLEANS]


def test_decimals_and_dates():
    days = [datetime.date(1970, 1, 1 + i) for i in range(30)]
    for values in (
        pa.array(days),
        pa.array(days, pa.date64()),
        pd.Series(pd.to_datetime(days)),
        np.array(days, "M8[D]"),
        days,
    ):
        assert numbers(Histogram([0, 10, 31]), values) == list(range(30))
        assert symbols(Choice(days), pa.array(days)) == list(range(30))
    at = [datetime.datetime(1970, 1, 2, 23, 59), datetime.datetime(1969, 12, 31, 1, 0)]
    assert numbers(Mean(-5, 5), at) == [1.0, -1.0]
    assert numbers(Mean(0, 10), [Decimal("1.25"), Decimal("2.5")]) == [1.25, 2.5]
    assert symbols(Choice([Decimal("1.25"), Decimal("2.5")]), [Decimal("2.5"), Decimal("1.25")]) == [1, 0]
    assert Histogram(days[:3]).edges == (0.0, 1.0, 2.0)
    assert Mean(days[0], days[9]).upper == 9.0


MISSING_COLUMNS = [
    [True, None, False],
    np.array([1.0, np.nan, 0.0]),
    pd.Series([True, None, False], dtype="boolean"),
    pd.Series([1, None, 0]),
    pd.Series([True, None, False], dtype="category"),
    pa.array([True, None, False]),
    pa.array([1, None, 0]),
    pa.array([1.0, float("nan"), 0.0]),
    pa.array([1, None, 0]).dictionary_encode(),
    pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array([1, None, 0])),
    pl.Series([True, None, False]),
]


@each("values", MISSING_COLUMNS, ids=lambda values: type(values).__name__)
def test_missing_values(values):
    assert symbols(YesNo(optional=True), values) == [1, 2, 0]
    assert symbols(YesNo(), values) == [1, MISSING, 0]
    found = numbers(Mean(0, 1, optional=True), values)
    assert found[::2] == [1.0, 0.0]
    assert np.isnan(found[1])


@pytest.mark.parametrize("values", [[None, None], pa.nulls(2), pa.nulls(2, pa.string()), pd.Series([None, None])])
def test_columns_without_any_value(values):
    assert symbols(Choice(WORDS, optional=True), values) == [3, 3]
    assert symbols(Choice(WORDS), values) == [MISSING, MISSING]


@each("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@each("value", [2, 6])
def test_one_undeclared_integer_on_either_side_is_an_error(dtype, value):
    survey = Survey({"a": Choice([3, 4, 5])}, 1.0)
    x = np.full(1000, 4, dtype)
    x[777] = value
    with pytest.raises(ValueError, match="column 'a' must hold the declared categories 3, 4, 5; row 777 holds another"):
        survey.run({"a": x}, rng=1)


def test_undeclared_labels():
    assert symbols(Choice(WORDS), ["red", "pink"]) == [0, UNDECLARED]
    assert symbols(Choice(WORDS, optional=True), ["red", "pink"]) == [0, UNDECLARED]
    assert symbols(Choice(WORDS, optional=True), ["red", "pink"], clip=True) == [0, 3]
    assert symbols(Choice(WORDS), ["red", "pink"], clip=True) == [0, UNDECLARED]
    assert symbols(Choice(5), np.array([0, 4, 5, -1])) == [0, 4, UNDECLARED, UNDECLARED]
    assert symbols(Choice([1 << 40, -5]), np.array([-5, 1 << 40, 0])) == [1, 0, UNDECLARED]


# Whole frames ---------------------------------------------------------------------------------------------------------

SURVEY = Survey({"color": Choice(WORDS), "age": Mean(0, 100), "yes": YesNo(column="answer")}, 2.0)
COLUMNS = {"color": TEXTS, "age": np.arange(N) * 1.0, "answer": np.arange(N) % 2 == 0, "other": [object()] * N}
PLAIN = {name: values for name, values in COLUMNS.items() if name != "other"}


class Exported:
    """An object that exports nothing but an Arrow stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class ExportedArray:
    """An object that exports nothing but an Arrow array."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


@each(
    "frame",
    [
        COLUMNS,
        MappingProxyType(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(PLAIN).convert_dtypes(),
        pd.DataFrame(PLAIN).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(PLAIN),
        pa.table(PLAIN),
        pa.RecordBatch.from_pydict(PLAIN),
        Exported(pa.table(PLAIN)),
        ExportedArray(pa.RecordBatch.from_pydict(PLAIN)),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_every_kind_of_frame_gives_the_same_reports(frame):
    assert SURVEY.privatize(frame, rng=3).equals(SURVEY.privatize(PLAIN, rng=3))
    assert SURVEY.run(frame, rng=3).to_dict() == SURVEY.run(PLAIN, rng=3).to_dict()


def test_values_that_python_does_not_have():
    for values in (pa.array([2**31 - 1], pa.date32()), pa.array([b"\xff"]).view(pa.string())):
        with pytest.raises(TypeError, match="column 'c' must hold the declared categories"):
            symbols(Choice(["a", "b"]), values)
    with pytest.raises(TypeError, match="column 'c' must hold numbers"):
        numbers(Mean(0, 1), pa.array([2**61 + 1], pa.timestamp("s")))
    wrong = pa.DictionaryArray.from_arrays(pa.array([7], pa.int8()), pa.array([1.0]), safe=False)
    with pytest.raises(TypeError, match="column 'c' must hold numbers"):
        numbers(Mean(0, 1), wrong)
    assert symbols(Choice([1, 2]), wrong) == [UNDECLARED]
    assert numbers(Mean(-2, 2), pa.array([-1, 86_399, -86_401], pa.timestamp("s"))) == [-1.0, 0.0, -2.0]


def test_unsigned_integers_do_not_wrap_around():
    assert symbols(Choice([-2, -1, 0, 1]), np.array([2**64 - 1, 0, 1], np.uint64)) == [UNDECLARED, 2, 3]
    assert symbols(Choice([-2, -1, 0, 1]), pa.array([2**64 - 1, 0, None], pa.uint64())) == [UNDECLARED, 2, MISSING]
    assert symbols(Choice([-3, -2]), np.array([2**64 - 2], np.uint64)) == [UNDECLARED]


def test_columns_of_pandas_with_other_indexes_are_refused():
    a, b = pd.Series([True, False]), pd.Series([True, False], index=[1, 0])
    survey = Survey({"a": YesNo(), "b": YesNo()}, 1.0)
    with pytest.raises(ValueError, match="columns 'a' and 'b' must have the same pandas index"):
        survey.run({"a": a, "b": b})
    assert survey.privatize({"a": a, "b": b.to_numpy()}).num_rows == 2


def test_numbers_are_not_copied():
    values = np.zeros(100)
    assert whole_column("c", values) is values
    assert np.shares_memory(whole_column("c", pd.Series(values, copy=False)), values)


def test_an_empty_frame_has_no_reports():
    table = SURVEY.privatize({"color": pa.array([], pa.string()), "age": np.zeros(0), "answer": np.zeros(0, bool)})
    assert table.num_rows == 0
    with pytest.raises(ValueError, match="needs at least 1 report"):
        SURVEY.estimate(table)


def test_no_rows_have_no_canonical_values():
    """A column without rows, and one with rows of which none is requested."""
    none = np.arange(0)
    for question, values in ((Mean(0, 1), [0.5]), (Histogram([0, 1, 2]), [0.5]), (Choice(3), [1]), (YesNo(), [True])):
        for cells in (values, []):
            column = questions.column_of(question).read("c", np.array(cells, np.array(values).dtype))
            assert column.n == len(cells)
            assert len(questions.column_of(question).canonical(column, none)) == 0


# Bad input ------------------------------------------------------------------------------------------------------------

SECRET = "s3cret-value"


def frame(**changed):
    return {**PLAIN, **changed}


@each(
    "bad, error, message",
    [
        (3, TypeError, "frame must be a mapping of arrays"),
        ([1, 2], TypeError, "frame must be a mapping of arrays"),
        (pa.array([1, 2]), TypeError, "frame must export a table"),
        ({"age": [1]}, ValueError, "one column 'color': it lacks it; its columns are 'age'"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), ValueError, "one column 'color'"),
        (pa.table([[1], [2]], ["color", "color"]), ValueError, "it has it more than once"),
        (frame(age=[1.0]), ValueError, "columns of one length, got: 'color' has 40, 'age' has 1"),
        (frame(age={1.0, 2.0}), TypeError, "column 'age' must be in the order of the rows, got set"),
        (frame(age=pd.DataFrame({"a": [1.0]})), TypeError, "column 'age' must be an array, got a DataFrame"),
        (frame(age=3.0), TypeError, "column 'age' must be an array"),
        (frame(age=np.zeros((N, 2))), ValueError, r"column 'age' must have shape \(n,\)"),
        (frame(age=np.ma.array(np.zeros(N))), TypeError, "column 'age' must not be a masked array"),
        (frame(age=[SECRET] * N), TypeError, "column 'age' must hold numbers in .* got type string"),
        (frame(age=[SECRET, 1] * (N // 2)), TypeError, "column 'age' must hold values of one type"),
        (frame(age=np.array([1.0] * 39 + [123456.0])), ValueError, r"column 'age' .*\[0.0, 100.0\]; row 39 is outside"),
        (
            frame(age=np.array([1.0] * 39 + [np.nan])),
            ValueError,
            "column 'age' .* row 39 has no value, which needs optional=True",
        ),
        (
            frame(color=[*TEXTS[:-1], SECRET]),
            ValueError,
            "column 'color' .* 'red', 'green', 'blue'; row 39 holds another value",
        ),
        (frame(color=[*TEXTS[:-1], None]), ValueError, "row 39 has no value"),
        (frame(color=np.arange(N)), ValueError, "row 0 holds another value"),
        (frame(color=[[1]] * N), TypeError, "column 'color' must hold the declared categories"),
        (frame(answer=np.full(N, 2)), ValueError, "column 'answer' must hold booleans, or 0 and 1; row 0"),
    ],
)
def test_bad_frames_are_refused(bad, error, message):
    for call in (SURVEY.privatize, SURVEY.run):
        with pytest.raises(error, match=message) as caught:
            call(bad)
        assert SECRET not in str(caught.value)
        assert "123456" not in str(caught.value)


@each("row", [0, ROWS - 1, ROWS, 2 * ROWS + 3])
@each("threads", [1, 2])
def test_the_row_of_a_bad_cell_is_named_whoever_is_asked(row, threads):
    n, before = 30 * ROWS, ldp.get_num_threads()
    age, color = np.zeros(n), CODES[np.zeros(n, int)]
    age[row] = 101
    survey = Survey({"color": Choice(3), "age": Mean(0, 100)}, 2.0, weights={"color": 1000})
    ldp.set_num_threads(threads)
    try:
        with pytest.raises(ValueError, match=f"row {row} is outside"):
            survey.run({"color": color, "age": age})
        table = pa.table({"color": color, "age": age})
        batches = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=5000))
        with pytest.raises(ValueError, match=f"row {row} is outside"):
            survey.privatize(batches)
    finally:
        ldp.set_num_threads(before)


def test_clipped_cells_are_counted_once():
    """At this epsilon the kernel has a Mean twice: as a number, and rounded for the table."""
    survey = Survey({"age": Mean(0, 100), "smokes": YesNo(), "both": Cross("age", "smokes")}, 6.0)
    assert any(isinstance(mechanism, ldp.Window) for mechanism in survey.mechanisms.values())
    people = {"age": np.array([101.0] * 5 + [50.0] * 35), "smokes": np.zeros(40, bool)}
    with pytest.warns(ldp.ClippedWarning, match=r"end: 5 of 40 \(0.12 of all\) in column 'age'$"):
        survey.collect(people, clip=True)


def test_clip_moves_numbers_and_warns():
    values = frame(age=np.array([-5.0, 200.0, np.inf, -np.inf] + [50.0] * 36))
    with pytest.warns(ldp.ClippedWarning, match=r"4 of 40 \(0.1 of all\) in column 'age'"):
        result = SURVEY.run(values, rng=1, clip=True)
    ends = frame(age=np.array([0.0, 100.0, 100.0, 0.0] + [50.0] * 36))
    assert result.to_dict() == SURVEY.run(ends, rng=1).to_dict()
    assert SURVEY.privatize(values, rng=1, clip=True).equals(SURVEY.privatize(ends, rng=1))
    with pytest.raises(ValueError, match="row 0 has no value"):
        SURVEY.run(frame(age=np.full(N, np.nan)), clip=True)
    with pytest.raises(TypeError, match="clip must be a bool"):
        SURVEY.run(PLAIN, clip=1)


@pytest.mark.parametrize("method", ["run", "collect"])
def test_a_question_about_the_column_of_subgroups_warns(method):
    survey = Survey({"color": Choice(["red", "green"]), "age": Mean(0, 100, column="years")}, 2.0)
    people = {"color": np.array(["red", "green"] * 50), "years": np.full(100, 50.0), "place": np.array(["a", "b"] * 50)}
    for by, name in (("color", "color"), ("years", "age")):
        with pytest.warns(
            UserWarning, match=f"by must be a public column, .* got '{by}': question '{name}' asks for it"
        ):
            getattr(survey, method)(people, by=by)
    getattr(survey, method)(people, by="place")


def test_clip_warns_of_undeclared_categories():
    survey = Survey({"color": Choice(["red", "green"], optional=True), "age": Mean(0, 100)}, 2.0)
    people = {"color": np.array(["red"] * 6 + ["blue", None, "Green", "green"], object), "age": np.full(10, 50.0)}
    with pytest.raises(ValueError, match=r"column 'color' must hold .*; row 6 holds another value"):
        survey.collect(people)
    message = r"^undeclared categories count as \"no answer\": 2 of 10 \(0.2 of all\) in column 'color'$"
    for values in (people["color"], pd.Categorical(people["color"]), pa.array(people["color"])):
        with pytest.warns(ldp.ClippedWarning, match=message):
            survey.collect({**people, "color": values}, clip=True)
    people["age"][:3] = -1
    moved = "^numbers were moved to the nearest end: 3 of 10 .* 'age'$"
    with pytest.warns(ldp.ClippedWarning, match=moved), pytest.warns(ldp.ClippedWarning, match=message):
        survey.collect(people, clip=True)


def test_columns_check_their_buffers():
    for arguments in [
        ("float64", np.zeros(3), None, 0, 4),
        ("bits", np.zeros(1, np.uint8), None, 0, 9, 0, np.zeros(3, np.uint32)),
        ("float64", np.zeros(9), np.zeros(1, np.uint8), 0, 9),
        ("int8", np.zeros(9, np.int8), None, 0, 9, 0, np.zeros(1, np.uint32)),
    ]:
        with pytest.raises(ValueError, match="must h"):
            Column(*arguments)
    with pytest.raises(ValueError, match="no such numbers"):
        Column("float64", np.zeros(3), None, 0, 3).numbers(1, 3)


@each("offset", [0, 3])
@each("place", [0, 7, 8, 9, 100, 255, 256, 511, 640, 661])
def test_a_missing_cell_is_found_wherever_it_is(place, offset):
    """In the validity bits of Arrow, byte by byte, also of slices."""
    survey = Survey({"smokes": YesNo(), "hours": Mean(0, 24)}, epsilon=1.0)
    valid = np.arange(662) == place
    for name, column in (
        ("smokes", pa.array(np.tile([True, False], 331), mask=valid)),
        ("hours", pa.array(np.linspace(1, 5, 662), mask=valid)),
    ):
        table = {"smokes": pa.array([True] * 662), "hours": pa.array(np.full(662, 3.0)), name: column}
        table = {
            key: pa.concat_arrays([values.slice(0, offset), values]).slice(offset) for key, values in table.items()
        }
        with pytest.raises(ValueError, match=f"column '{name}' .* row {place} has no value"):
            survey.run(table)


def test_texts_of_numpy_are_read_in_every_form():
    """Fixed and variable width, strided, in another byte order, with long characters, empty texts, and none at all."""
    texts = ["red", "", "blau\u00e9", "\U0001f600", "red"] * 20
    survey = Survey({"c": Choice(["", "red", "blau\u00e9", "\U0001f600"], optional=True)}, 1.0)
    plain = np.array(texts)
    forms = [
        plain.astype(object),
        np.repeat(plain, 2)[::2],
        plain.astype(plain.dtype.newbyteorder(">")),
        plain.astype("U40"),
        plain.astype(np.dtypes.StringDType()),
    ]
    expected = survey.privatize({"c": texts}, rng=1)
    assert survey.privatize({"c": plain}, rng=1).equals(expected)
    for form in forms:
        assert survey.privatize({"c": form}, rng=1).equals(expected)
    assert survey.privatize({"c": plain[:0]}, rng=1).num_rows == 0
    blank = np.zeros(3, "U")
    assert survey.privatize({"c": blank}, rng=1).equals(survey.privatize({"c": [""] * 3}, rng=1))
    with pytest.raises(ValueError, match="column 'c' must hold"):
        survey.privatize({"c": np.array(["red", "green"])}, rng=1)
    with pytest.raises(TypeError, match="column 'c' must hold"):
        survey.privatize({"c": np.array(["red", "\ud800"])}, rng=1)
