"""Estimates from columns of files: reading, memory, and errors that name the position but never the value."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import shutil
import struct
import sys
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import files
from ldpfast.files import FileTable
from ldpfast.files._column_reader import TableFile
from ldpfast.survey import Answer, Choice, ColumnQuestion, Histogram, Mean, Survey, YesNo

from .support.cases import each
from .support.extras import remove_extras
from .support.internals.survey import column_of
from .support.statistics import normal_margin

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

ANSWERS = ["yes", "no", "perhaps"]
NUMBERS, CATEGORIES = Mean(0.0, 10.0), Choice(ANSWERS)
SECRET = "S3CR3T"


def text_file(folder: Path, text: str | bytes, name: str = "survey.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def estimate_column(
    path: Path | str,
    column: str | None,
    question: ColumnQuestion = NUMBERS,
    *,
    rng: int | None = None,
    clip: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Answer:
    """Return the answer of a survey with one question, from one column of a file."""
    name = Path(path).name if column is None else column
    survey = Survey({name: question}, 1.0)
    table = FileTable([path], survey.column_questions, progress=progress)
    return survey.run(table, rng=rng, clip=clip)[name]


def error_message(path: Path, column: str | None = "x", question: ColumnQuestion = NUMBERS, clip: bool = False) -> str:
    """Return the message of the error from `estimate_column`, with FILE instead of the path."""
    with pytest.raises((ValueError, TypeError)) as caught:
        estimate_column(path, column, question, clip=clip)
    message = str(caught.value).replace(str(path), "FILE")
    assert SECRET not in message
    return message


# Reading --------------------------------------------------------------------------------------------------------------


def assert_same_as_array(
    path: Path, column: str | None, values: np.ndarray, question: ColumnQuestion = NUMBERS
) -> None:
    """Check that the answer from a file equals that from the array with the same key."""
    found = estimate_column(path, column, question, rng=7)
    if isinstance(question, Choice):
        values = np.array(question.labels)[values]
    expected = Survey({"x": question}, 1.0).run({"x": values}, rng=7)["x"]
    np.testing.assert_array_equal(found.value, expected.value)
    assert found.n == len(values)


def test_numbers_from_csv(tmp_path):
    path = text_file(tmp_path, 'a,x\n1, 2 \n\n"3\n4",+4.5\r\n,"1e0"\n5,.5')
    assert_same_as_array(path, "x", np.array([2, 4.5, 1, 0.5]))


def test_categories_from_csv(tmp_path):
    path = text_file(tmp_path, "\ufeffx,a\nyes,1\n no ,2\n\nperhaps,3\n")
    assert_same_as_array(path, "x", np.array([0, 1, 2], np.uint8), CATEGORIES)


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(5, 2)], ids=str
)
def test_numbers_from_parquet(tmp_path, kind):
    values = [Decimal(v) if pa.types.is_decimal(kind) else v for v in (1, 2, 10)]
    parquet.write_table(pa.table({"a": ["u", "v", "w"], "x": pa.array(values, kind)}), tmp_path / "t.parquet")
    assert_same_as_array(tmp_path / "t.parquet", "x", np.array([1.0, 2.0, 10.0]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_categories_from_parquet(tmp_path, kind):
    parquet.write_table(pa.table({"x": pa.array(["no", "yes"]).cast(kind)}), tmp_path / "t.parquet")
    assert_same_as_array(tmp_path / "t.parquet", "x", np.array([1, 0], np.uint8), CATEGORIES)


def test_arrays_from_npy(tmp_path):
    path = tmp_path / "a.npy"
    for values in (
        np.array([1.0, 9.5]),
        np.array([1, 9], ">i2"),
        np.array([1, 9], np.float32),
        np.array([1, 9], np.float16),
    ):
        np.save(path, values)
        assert_same_as_array(path, None, values)
    np.save(path, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert_same_as_array(path, "1", np.array([2.0, 4.0]))
    np.save(path, np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("x", "f8")]))
    assert_same_as_array(path, "x", np.array([2.5, 4.5]))
    np.save(path, np.array(["no", "perhaps", "no "]))
    assert_same_as_array(path, None, np.array([1, 2, 1], np.uint8), CATEGORIES)
    np.save(path, np.array([12, 10, 11]))
    assert_same_as_array(path, None, np.array([2, 0, 1], np.uint8), Choice([10, 11, 12]))


def test_chunks_are_all_counted_and_progress_grows_to_one(tmp_path, monkeypatch):
    monkeypatch.setattr(TableFile, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(TableFile, "CHUNK_ROWS", 1 << 10)
    values = np.arange(10_000) % 11
    path = text_file(tmp_path, "x\n" + "\n".join(map(str, values)) + "\n")
    parquet.write_table(pa.table({"x": values}), tmp_path / "t.parquet")
    np.save(tmp_path / "a.npy", values)
    for file, column in ((path, "x"), (tmp_path / "t.parquet", "x"), (tmp_path / "a.npy", None)):
        shares: list[float] = []
        estimate = estimate_column(file, column, NUMBERS, rng=1, progress=shares.append)
        assert estimate.n == len(values)
        assert abs(estimate.value - values.mean()) < normal_margin() * estimate.stderr
        assert len(shares) > 3
        assert shares == sorted(shares)
        assert shares[-1] == 1


@pytest.mark.claim("A file of any length needs constant memory.", "Files and commands")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_length_of_a_file(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(TableFile, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(TableFile, "CHUNK_ROWS", 1 << 14)
    path = tmp_path / f"survey.{kind}"
    if kind == "csv":
        path.write_text("x\n" + "5\n" * 8_000_000)
    else:
        values = np.random.default_rng(0).random(4_000_000, np.float32)
        parquet.write_table(pa.table({"x": values}), path, row_group_size=100_000, use_dictionary=False)
    before, held = pa.total_allocated_bytes(), [0]
    tracemalloc.start()
    estimate_column(path, "x", NUMBERS, progress=lambda _: held.append(pa.total_allocated_bytes() - before))
    peak = tracemalloc.get_traced_memory()[1] + max(held)
    tracemalloc.stop()
    assert path.stat().st_size > 15 << 20
    assert peak < 6 << 20


# Errors ---------------------------------------------------------------------------------------------------------------

RANGE = "must hold numbers in [lower, upper] = [0.0, 10.0]"
OUTSIDE = f"{RANGE}; line 7 of FILE is outside. clip=True moves numbers to the nearest end"
NO_VALUE = f"{RANGE}; line 7 of FILE has no value, which needs optional=True"
QUOTED = 'a,x\n1,2\n\n"three\n\nlines",3\n'  # records start on lines 2 and 4; the next is on line 7


@pytest.mark.parametrize(
    "line, fault",
    [
        (SECRET, "must hold numbers; line 7 of FILE holds text"),
        ("1_0", "must hold numbers; line 7 of FILE holds text"),
        ('"4\n"', "must hold numbers; line 7 of FILE holds text"),
        ("", NO_VALUE),
        ("  ", NO_VALUE),
        ("10.5", OUTSIDE),
        ("1e999", OUTSIDE),
        ("nan", NO_VALUE),
        ("NA", NO_VALUE),
        ("null", NO_VALUE),
        ("-inf", OUTSIDE),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_invalid_numbers_in_csv(tmp_path, line, fault, newline):
    path = text_file(tmp_path, f"{QUOTED}9,{line}\n{SECRET},4\n".replace("\n", newline))
    assert error_message(path) == f"column 'x' {fault}"


def test_an_error_in_a_later_block_has_the_right_line(tmp_path, monkeypatch):
    monkeypatch.setattr(TableFile, "BLOCK_BYTES", 1 << 10)
    path = text_file(tmp_path, "x\n" + "5\n" * 5000 + "11\n")
    assert "line 5002 " in error_message(path)


def test_invalid_categories_in_csv(tmp_path):
    path = text_file(tmp_path, f"x,a\nyes,1\n\n{SECRET},2\n,3\n")
    message = error_message(path, question=CATEGORIES)
    assert message == "column 'x' must hold the declared categories only; line 4 of FILE holds another"
    path = text_file(tmp_path, f"x,a\nyes,1\n,2\n{SECRET},3\n")
    message = error_message(path, question=CATEGORIES)
    assert message == "column 'x' must hold the declared categories only; line 4 of FILE holds another"
    path = text_file(tmp_path, "x,a\nyes,1\n,2\nNA,3\n")
    expected = "column 'x' must hold the declared categories 'yes', 'no', 'perhaps'; line 3 of FILE has no value"
    assert error_message(path, question=CATEGORIES) == f"{expected}, which needs optional=True"


@pytest.mark.parametrize(
    "text, fault",
    [
        (f"a,x\n1,2\n{SECRET}\n", "line 3 has 1 fields, the header has 2"),
        (f"a,x\n1,2\n\n1,2,{SECRET}\n", "line 4 has 3 fields, the header has 2"),
        (b"a,x\n1,2\n3,\xff\n", "line 3 is not UTF-8"),
        (f'x,a\n1,2\n3,"{SECRET}\n4,5\n', "unexpected end of data, in the record on line 3"),
        (f"a,x\n{SECRET * 10_000},2\n", "it has a record of more than 4096 bytes"),
        ("a,x", "it has no records"),
    ],
)
def test_damaged_csv(tmp_path, monkeypatch, text, fault):
    monkeypatch.setattr(TableFile, "BLOCK_BYTES", 1 << 12)
    assert error_message(text_file(tmp_path, text)) == f"FILE must be a readable CSV file: {fault}"


def test_a_single_quotation_mark_in_a_field_is_valid_csv(tmp_path):
    path = text_file(tmp_path, "x,a\n1,5'11\"\n2,b\n")
    assert estimate_column(path, "x", NUMBERS).n == 2


@pytest.mark.parametrize(
    "text, column, fault",
    [
        (f"{SECRET},y\n1,2\n", "x", "must name one column of FILE, got 'x': not found"),
        ("", "x", "must name one column of FILE, got 'x': not found"),
        ("x,x\n1,2\n", "x", "must name one column of FILE, got 'x': found more than once"),
        ("x\n1\n", None, "must name one column of FILE, got 'survey.csv': not found"),
    ],
)
def test_missing_and_repeated_columns_in_csv(tmp_path, text, column, fault):
    assert error_message(text_file(tmp_path, text), column) == f"column {fault}"


@pytest.mark.parametrize("text", ["x\n", "x\n\n\n"])
def test_csv_without_records(tmp_path, text):
    assert error_message(text_file(tmp_path, text)) == "an estimate needs at least 1 report, got n = 0"


@pytest.mark.parametrize(
    "values, question, fault",
    [
        ([1.0, None], NUMBERS, f"{RANGE}; record 2 of FILE has no value, which needs optional=True"),
        ([1.0, 11.0], NUMBERS, f"{RANGE}; record 2 of FILE is outside. clip=True moves numbers to the nearest end"),
        ([SECRET], NUMBERS, "must hold numbers, got type string"),
        ([True], NUMBERS, "must hold numbers, got type bool"),
        ([["yes"]], CATEGORIES, "must hold categories, got type list<element: string>"),
        (["yes", SECRET], CATEGORIES, "must hold the declared categories only; record 2 of FILE holds another"),
    ],
)
def test_invalid_values_in_parquet(tmp_path, values, question, fault):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": values}), path)
    assert error_message(path, question=question) == f"column 'x' {fault}"


def test_damaged_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": np.arange(1000) % 10}), path)
    whole = path.read_bytes()
    assert error_message(path, "y") == "column must name one column of FILE, got 'y': not found; its columns are 'x'"
    for damaged in (b"", whole[:-20], whole[:40] + bytes(80) + whole[120:]):
        path.write_bytes(damaged)
        message = error_message(path)
        assert message == "FILE must be a readable Parquet file: it is damaged, truncated or of another format"


@pytest.mark.parametrize(
    "array, column, fault",
    [
        (
            np.array([1.0, np.nan]),
            None,
            f"column 'a.npy' {RANGE}; record 2 of FILE has no value, which needs optional=True",
        ),
        (np.array([True]), None, "the array must hold numbers, got dtype bool"),
        (np.zeros(3, "g"), None, f"the array must hold numbers, got dtype {np.dtype('g')}"),
        (np.array(1.0), None, "FILE must hold one record per row, got shape ()"),
        (np.zeros((2, 2, 2)), None, "FILE must hold one record per row, got shape (2, 2, 2)"),
        (np.zeros(3), "x", "column must be left out for an array of shape (3,), got 'x'"),
        (
            np.zeros((3, 2)),
            None,
            "column must name one column of FILE, got 'a.npy': not found; its columns are '0', '1'",
        ),
        (np.zeros((3, 2)), "2", "column must name one column of FILE, got '2': not found; its columns are '0', '1'"),
        (
            np.zeros(3, [("y", "f8")]),
            "x",
            "column must name one column of FILE, got 'x': not found; its columns are 'y'",
        ),
        (np.zeros(0), None, "an estimate needs at least 1 report, got n = 0"),
    ],
)
def test_invalid_arrays_in_npy(tmp_path, array, column, fault):
    np.save(tmp_path / "a.npy", array)
    assert error_message(tmp_path / "a.npy", column) == fault


def test_invalid_categories_in_npy(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array(["yes", SECRET]))
    message = error_message(path, None, CATEGORIES)
    assert message == "the array must hold the declared categories only; record 2 of FILE holds another"
    np.save(path, np.array([1j]))
    assert "must hold categories, got dtype complex128" in error_message(path, None, CATEGORIES)


@pytest.mark.parametrize("offsets", [(0, 1 << 30, 5), (0, -3, 5), (5, 3, 0)])
def test_positions_in_feather_that_are_beyond_the_text(tmp_path, offsets):
    """Without validation, Arrow reads beyond its buffers."""
    path = tmp_path / "a.feather"
    feather.write_feather(pa.table({"x": ["yes", "no"]}), path, compression="uncompressed")
    data = path.read_bytes()
    assert data.count(struct.pack("<3i", 0, 3, 5)) == 1
    path.write_bytes(data.replace(struct.pack("<3i", 0, 3, 5), struct.pack("<3i", *offsets)))
    fault = "it is damaged, truncated or of another format"
    assert error_message(path, "x", CATEGORIES) == f"FILE must be a readable Feather file: {fault}"


@pytest.mark.parametrize("suffix", ["feather", "parquet"])
def test_bytes_that_are_no_text_are_no_categories(tmp_path, suffix):
    path, write = tmp_path / f"a.{suffix}", {"feather": feather.write_feather, "parquet": parquet.write_table}[suffix]
    for values in ([b"yes", b"no"], [b"yes", b"\xff"]):
        for column in (pa.array(values), pa.array(values).dictionary_encode()):
            write(pa.table({"x": column}), path)
            if values == [b"yes", b"no"]:
                assert_same_as_array(path, "x", np.array([0, 1]), CATEGORIES)
            else:
                fault = f"column 'x' must hold categories, got other values of type {column.type}"
                assert error_message(path, "x", CATEGORIES) == fault


def test_text_in_feather_and_parquet_that_is_not_unicode(tmp_path):
    text = pa.array([b"yes", b"\xff"]).view(pa.string())
    for column in (text, text.dictionary_encode()):
        feather.write_feather(pa.table({"x": column}), tmp_path / "a.feather")
        fault = "it is damaged, truncated or of another format"
        assert (
            error_message(tmp_path / "a.feather", "x", CATEGORIES) == f"FILE must be a readable Feather file: {fault}"
        )
        parquet.write_table(pa.table({"x": column}), tmp_path / "a.parquet")
        fault = f"column 'x' must hold categories, got other values of type {column.type}"
        assert error_message(tmp_path / "a.parquet", "x", CATEGORIES) == fault


def test_persons_in_parquet_that_are_no_text(tmp_path):
    persons = pa.array([b"a", SECRET.encode() + b"\xff"]).view(pa.string())
    for column in (persons, persons.dictionary_encode()):
        parquet.write_table(pa.table({"x": column, "z": list(ANSWERS[:2])}), tmp_path / "a.parquet")
        survey = Survey({"z": CATEGORIES}, 1.0)
        with pytest.raises(
            TypeError, match=f"column 'x' must hold valid values, got type {re.escape(str(column.type))}"
        ):
            survey.run(FileTable([tmp_path / "a.parquet"], survey.column_questions), rng=ldp.PersonKeys(bytes(32), "x"))


def test_indices_in_parquet_beyond_the_dictionary(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"x": pa.array(["yes", "no"] * 30).dictionary_encode()}), path, compression="NONE")
    data = path.read_bytes()
    outcomes = set()
    for place in range(4, 120):  # of the dictionary, the indices, and their headers
        for byte in (0, 204, 255):
            path.write_bytes(data[:place] + bytes([byte]) + data[place + 1 :])
            try:
                estimate_column(path, "x", CATEGORIES, rng=1)
            except (TypeError, ValueError) as error:
                outcomes.add((type(error), str(error).replace(str(path), "FILE")))
    fault = "column 'x' must hold categories, got other values of type "
    assert any(message.startswith(fault) for _, message in outcomes)
    assert (
        ValueError,
        "FILE must be a readable Parquet file: it is damaged, truncated or of another format",
    ) in outcomes


def test_the_shape_of_an_array_that_is_too_large(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros(4))
    path.write_bytes(path.read_bytes().replace(b"(4,), }" + b" " * 20, b"(4" + b"6" * 20 + b",), }"))
    fault = "it is damaged, truncated or of another format"
    assert error_message(path, None) == f"FILE must be a readable .npy file: {fault}"


@pytest.mark.parametrize("kind", ["<U2", ">U2"])
def test_text_in_npy_that_is_not_unicode(tmp_path, kind):
    path = tmp_path / "a.npy"
    for code in (0x110000, 0xFFFFFFFF, 0xD800):
        np.save(path, np.array([1, 0, code, 0], np.dtype(np.uint32).newbyteorder(kind[0])).view(kind))
        message = error_message(path, None, CATEGORIES)
        assert message == "FILE must be a readable .npy file: it has text that is not Unicode"


def test_text_in_json_lines_that_is_not_unicode(tmp_path):
    path = text_file(tmp_path, '{"x": "yes"}\n{"x": "\\ud800"}\n', "a.jsonl")
    message = error_message(path, "x", CATEGORIES)
    assert message == "FILE must be a readable JSON Lines file: it has text that is not Unicode"


def test_damaged_npy(tmp_path):
    path = tmp_path / "a.npy"
    buffer, archive = io.BytesIO(), io.BytesIO()
    np.save(buffer, np.arange(10.0))
    np.savez(archive, a=np.arange(3))
    objects = io.BytesIO()
    np.save(objects, np.array([{}]), allow_pickle=True)
    whole = buffer.getvalue()
    headers = [whole.replace(b"}", b"("), whole.replace(b"'descr'", b'"""desc'), whole.replace(b":", b"\0")]
    for damaged in (b"", b"abc", whole[:20], whole[:-8], archive.getvalue(), objects.getvalue(), *headers):
        path.write_bytes(damaged)
        message = error_message(path, None)
        assert message == "FILE must be a readable .npy file: it is damaged, truncated or of another format"


def test_directories_missing_files_and_unknown_suffixes(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert error_message(tmp_path / "folder.csv") == "path must be a regular file, got 'FILE'"
    assert (
        error_message(tmp_path / "a.txt")
        == "path must end in one of .csv, .csv.gz, .jsonl, .ndjson, .parquet, .feather, .arrow, .npy, or be -, got 'FILE'"
    )
    for name in ("a.csv", "a.csv.gz", "a.parquet", "a.npy", "a.jsonl", "a.feather"):
        with pytest.raises(FileNotFoundError):
            estimate_column(tmp_path / name, "x")


def test_clip_accepts_numbers_but_neither_text_nor_missing_values(tmp_path):
    path = text_file(tmp_path, "x\n-5\n99\n5\ninf\n")
    with pytest.warns(ldp.ClippedWarning, match=r"3 of 4 .* in column 'x'"):
        found = estimate_column(path, "x", clip=True, rng=3)
    same = Survey({"x": NUMBERS}, 1.0).run({"x": np.array([0.0, 10.0, 5.0, 10.0])}, rng=3)["x"]
    assert found.value == same.value
    assert "holds text" in error_message(text_file(tmp_path, "x\nabc\n"), clip=True)
    assert "has no value" in error_message(text_file(tmp_path, 'x,y\n"",1\n'), clip=True)


@pytest.mark.parametrize("missing", [*files.MISSING, " N/A "])
def test_missing_values_are_spelled_in_many_ways(tmp_path, missing):
    rows = "".join(f"{'5' if i % 4 else missing},{'yes' if i % 4 else missing}\n" for i in range(8000))
    path = text_file(tmp_path, "x,y\n" + rows)
    for column, question in (("x", Mean(0, 10, optional=True)), ("y", Choice(ANSWERS, optional=True))):
        answer = estimate_column(path, column, question, rng=1)
        assert abs(answer.missing.value - 0.25) < 5 * answer.missing.stderr
    assert estimate_column(path, "x", Mean(0, 10, optional=True), rng=1).n == 8000


def test_a_declared_label_is_not_missing(tmp_path):
    path = text_file(tmp_path, "x\n" + "NA\nSA\n" * 3000)
    answer = estimate_column(path, "x", Choice(["NA", "SA", "EU"]), rng=1)
    assert abs(answer.value[0] - 0.5) < 0.1


SUFFIXES = [".csv", ".csv.gz", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow"]


def answers_from(path: Path, cells: list[str], question: ColumnQuestion) -> list[str]:
    """Return the answers that the cells of a column have in a file of the suffix, without privacy; "" is a missing one."""
    write_as(path, {"x": [*cells, "other"], "note": ["a", *["b"] * len(cells)]})
    survey = Survey({"x": question}, 40.0)  # a report differs from its record with probability below 1e-14
    reports = survey.privatize(FileTable([path], survey.column_questions), rng=1)
    labels = [*question.labels, ""]
    return [labels[int(np.frombuffer(report, np.uint8)[0])] for report in reports["x"].to_pylist()][:-1]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_spellings_of_missing_texts_are_those_of_the_list_in_every_format(tmp_path, suffix):
    question = Choice(["a", "other"], optional=True)
    cells = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]
    assert list(files.MISSING) == cells
    assert answers_from(tmp_path / f"t{suffix}", ["a", *cells, " NA\t"], question) == ["a"] + [""] * 9
    for cell in ("na", "n/a", "Na", "NAN", "Null", "none", "NONE", "N A", "nil", "missing"):
        with pytest.raises(
            ValueError, match=r"'x' must hold the declared categories 'a', 'other'; .* holds another value"
        ):
            answers_from(tmp_path / f"t{suffix}", ["a", cell], question)


@each("suffix", SUFFIXES)
def test_undeclared_categories_are_clipped_in_files_as_in_frames(tmp_path, suffix):
    """Where the question is optional they count as no answer, with a warning that says how many; else they are refused."""
    survey = Survey({"x": Choice(["a", "b"], optional=True), "y": YesNo(optional=True)}, 2.0)
    people = {"x": ["a", "c", "b", "c", "b", "a"], "y": ["yes", "perhaps", "no", "no", "yes", "yes"]}
    path = tmp_path / f"t{suffix}"
    write_as(path, people)
    table = FileTable([path], survey.column_questions)
    frame = {"x": people["x"], "y": pa.array([True, None, False, False, True, True])}
    with pytest.warns(ldp.ClippedWarning) as caught:
        found = survey.collect(table, rng=1, clip=True)
    shares = "2 of 6 (0.33 of all) in column 'x', 1 of 6 (0.17 of all) in column 'y'"
    assert [str(warning.message) for warning in caught] == [f'undeclared categories count as "no answer": {shares}']
    with pytest.warns(ldp.ClippedWarning):
        assert found == survey.collect(frame, rng=1, clip=True)
    assert survey.privatize(table, rng=1, clip=True) == survey.privatize(frame, rng=1, clip=True)
    refused = r"'x' must hold the declared categories 'a', 'b'; (line 3|record 2) of .* holds another value"
    with pytest.raises(ValueError, match=refused):
        survey.privatize(table, rng=1)
    for by in ("x", ["y", "x"]):
        message = "must hold the declared categories to divide people"
        with pytest.warns(UserWarning, match="by must be a public column"), pytest.raises(ValueError, match=message):
            survey.collect(table, by=by, rng=1, clip=True)
    required = Survey({"x": Choice(["a", "b"])}, 2.0)
    with pytest.raises(ValueError, match=r"'x' must hold the declared categories only; .* holds another"):
        required.collect(FileTable([path], required.column_questions), rng=1, clip=True)
    both = Survey({"one": Choice(["a", "b"], column="x"), "two": Choice(["a", "b"], optional=True, column="x")}, 2.0)
    with pytest.raises(ValueError, match=refused):
        both.collect(FileTable([path], both.column_questions), rng=1, clip=True)


@each("suffix", SUFFIXES)
@each("labels", [["None", "NONE", "none"], ["NA", "na"], ["", " "], ["NaN", "nan", "Nan"], ["null", "x"]])
def test_a_declared_label_always_wins_over_a_missing_value(tmp_path, suffix, labels):
    found = answers_from(tmp_path / f"t{suffix}", labels, Choice([*labels, "other"], optional=True))
    assert found == labels
    missing = next(text for text in files.MISSING if text and text not in labels)
    assert answers_from(tmp_path / f"t{suffix}", [missing], Choice([*labels, "other"], optional=True)) == [""]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_declared_label_keeps_its_blanks(tmp_path, suffix):
    question = Choice([" a", "a", "b ", "other"])
    assert answers_from(tmp_path / f"t{suffix}", [" a", "a", " a ", "b ", " other"], question) == [
        " a",
        "a",
        "a",
        "b ",
        "other",
    ]


@pytest.mark.parametrize("suffix, cells", [(".csv", "{}"), (".jsonl", '"{}"')])
def test_missing_numbers_have_the_spellings_of_missing_texts(tmp_path, suffix, cells):
    head, row = ("x,y\n", "{},1\n") if suffix == ".csv" else ("", '{{"x": {}, "y": 1}}\n')
    for text in (*files.MISSING, " NA "):
        path = text_file(tmp_path, head + row.format(5) + row.format(cells.format(text)), f"t{suffix}")
        assert "has no value, which needs optional=True" in error_message(path)
        assert "has no value, which needs optional=True" in error_message(path, clip=True)
        assert estimate_column(path, "x", Mean(0, 10, optional=True)).n == 2
    for text in ("na", "n/a", "NAN", "Nan", "-nan", "Null", "NONE", "none"):
        path = text_file(tmp_path, head + row.format(5) + row.format(cells.format(text)), f"t{suffix}")
        assert "must hold numbers" in error_message(path, question=Mean(0, 10, optional=True))


def test_nan_in_json_lines_is_missing_and_infinity_a_number(tmp_path):
    path = text_file(tmp_path, '{"x": 80}\n{"x": NaN}\n', "t.jsonl")
    fault = "record 2 of FILE has no value, which needs optional=True"
    for clip in (False, True):
        assert error_message(path, question=Mean(0, 100), clip=clip).endswith(fault)
    assert error_message(path, question=Choice(["80", "81"])).endswith(fault)
    lines = '{"x": 80}\n{"x": NaN}\n' * 5000
    answer = estimate_column(text_file(tmp_path, lines, "t.jsonl"), "x", Mean(0, 100, optional=True), clip=True, rng=1)
    assert abs(answer.value - 80) < 5 * answer.stderr
    assert abs(answer.missing.value - 0.5) < 5 * answer.missing.stderr
    path = text_file(tmp_path, '{"x": Infinity}\n{"x": -Infinity}\n{"x": 5}\n', "t.jsonl")
    assert "record 1 of FILE is outside" in error_message(path)
    with pytest.warns(ldp.ClippedWarning, match=r"2 of 3 .* in column 'x'"):
        found = estimate_column(path, "x", clip=True, rng=3)
    assert found.value == Survey({"x": NUMBERS}, 1.0).run({"x": np.array([10.0, 0.0, 5.0])}, rng=3)["x"].value


def test_nan_in_a_column_of_numbers_is_missing_whatever_the_labels(tmp_path):
    parquet.write_table(pa.table({"x": [0.5, float("nan")]}), tmp_path / "t.parquet")
    assert "has no value" in error_message(tmp_path / "t.parquet", question=Choice([0.5, "nan"]))


def test_yes_and_no_are_spelled_in_many_ways(tmp_path):
    survey = Survey({"x": YesNo()}, 4.0)
    for no, yes in zip(*column_of(survey.questions["x"]).spellings(), strict=True):
        path = text_file(tmp_path, "x\n" + f"{no}\n{yes}\n" * 4 + f"{yes}\n")
        assert survey.run(FileTable([path], survey.column_questions), rng=1).n == 9
    parquet.write_table(pa.table({"x": [True, False, True]}), tmp_path / "t.parquet")
    assert survey.run(FileTable([tmp_path / "t.parquet"], survey.column_questions), rng=1).n == 3


# Several files and formats --------------------------------------------------------------------------------------------


def write_as(path: Path, columns: dict[str, list]) -> None:
    """Write a table in the format of the suffix."""
    table = pa.table(columns)
    if path.name.endswith(".csv.gz"):
        path.write_bytes(gzip.compress(csv_text(columns)))
    elif path.suffix == ".csv":
        path.write_bytes(csv_text(columns))
    elif path.suffix in (".jsonl", ".ndjson"):
        path.write_text("\n\n".join(json.dumps(row) for row in table.to_pylist()) + "\n")
    elif path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path, chunksize=1000)


def csv_text(columns: dict[str, list]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in zip(*columns.values(), strict=True))
    return out.getvalue().encode()


N = 20_000
COLUMNS = {
    "x": [None if i % 10 == 0 else float(i % 11) for i in range(N)],
    "word": [None if i % 7 == 0 else ANSWERS[i % 3] for i in range(N)],
    "yes": [i % 3 == 0 for i in range(N)],
    "year": [1990 + i % 5 for i in range(N)],
}
SURVEY = Survey(
    {
        "x": Mean(0, 10, optional=True),
        "bins": Histogram([0, 2, 4, 10], optional=True, column="x"),
        "word": Choice(ANSWERS, optional=True),
        "yes": YesNo(),
        "year": Choice([1990, 1991, 1992, 1993, 1994]),
    },
    3.0,
)


@pytest.mark.claim("Every format of a table in a file gives the same reports.", "Files and commands")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_gives_the_same_reports(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(TableFile, "CHUNK_ROWS", 5000)
    monkeypatch.setattr(TableFile, "BLOCK_BYTES", 1 << 16)
    write_as(tmp_path / f"t{suffix}", COLUMNS)
    shares: list[float] = []
    found = SURVEY.privatize(
        FileTable([tmp_path / f"t{suffix}"], SURVEY.column_questions, progress=shares.append), rng=1
    )
    assert found.equals(SURVEY.privatize(COLUMNS, rng=1))
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_the_suffix_can_be_in_capitals(tmp_path):
    for suffix in SUFFIXES:
        write_as(tmp_path / f"t{suffix}", COLUMNS)
        path = (tmp_path / f"t{suffix}").rename(tmp_path / f"T{suffix.upper()}")
        assert SURVEY.collect(FileTable([path], SURVEY.column_questions)).n == N


def test_several_files_are_one_table(tmp_path):
    parts = [(".csv", 0, 9000), (".parquet", 9000, 9001), (".jsonl", 9001, N)]
    paths = []
    for suffix, start, stop in parts:
        paths.append(tmp_path / f"part{suffix}")
        write_as(paths[-1], {name: values[start:stop] for name, values in COLUMNS.items()})
    table = FileTable(paths, SURVEY.column_questions)
    assert SURVEY.privatize(table, rng=1).equals(SURVEY.privatize(COLUMNS, rng=1))
    assert SURVEY.run(table, rng=1).to_dict() == SURVEY.run(COLUMNS, rng=1).to_dict()
    bad = {**COLUMNS, "x": [*COLUMNS["x"][:10_000], 11.0, *COLUMNS["x"][10_001:]]}
    write_as(paths[-1], {name: values[9001:] for name, values in bad.items()})
    with pytest.raises(ValueError, match=rf"record 1000 of {paths[-1]} is outside"):
        SURVEY.run(table)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".npy"])
@pytest.mark.parametrize("rows", [3, pytest.param(N, marks=pytest.mark.long)])
def test_copies_and_links_of_a_file_are_refused(tmp_path, suffix, rows):
    paths = [tmp_path / f"{name}{suffix}" for name in ("first", "copy", "old copy", "hard", "symbolic", "other")]
    first, copy, old_copy, hard, symbolic, other = paths
    for path, shift in ((first, 0), (other, 1)):
        numbers = [float((i + shift) % 10) for i in range(rows)]
        if suffix == ".npy":
            np.save(path, np.array(numbers)[:, None])
        else:
            write_as(path, {"0": numbers})
    shutil.copy(first, copy)
    shutil.copy2(first, old_copy)
    os.link(first, hard)
    symbolic.symlink_to(first)
    questions = Survey({"0": NUMBERS}, 1.0).column_questions
    for path, fault in (
        (copy, "has the same contents as"),
        (old_copy, "has the same contents as"),
        (hard, "is the same file as"),
    ):
        message = f"paths must be different files, got {str(path)!r}, which {fault} {str(first)!r}"
        with pytest.raises(ValueError, match=re.escape(message)):
            FileTable([first, other, path], questions)
    with pytest.raises(ValueError, match=re.escape(f"paths must be different files, got {str(first)!r} twice")):
        FileTable([first, symbolic], questions)
    assert Survey({"0": NUMBERS}, 1.0).collect(FileTable([first, other], questions)).n == 2 * rows


def test_files_of_one_size_that_differ_in_the_middle_are_different(tmp_path):
    lines = ["5"] * 20_000
    paths = [tmp_path / f"{i}.csv" for i in range(4)]
    for i, path in enumerate(paths):
        path.write_text("x\n" + "\n".join([*lines[:9000], str(i), *lines[9000:]]) + "\n")
    assert len({path.stat().st_size for path in paths}) == 1
    survey = Survey({"x": NUMBERS}, 1.0)
    assert survey.collect(FileTable(paths, survey.column_questions)).n == 80_004
    shutil.copy(paths[2], tmp_path / "copy.csv")
    with pytest.raises(ValueError, match=r"copy\.csv', which has the same contents as .*2\.csv'"):
        FileTable([*paths, tmp_path / "copy.csv"], survey.column_questions)


def test_equal_files_without_records_are_not_copies(tmp_path):
    paths = [text_file(tmp_path, "x\n", f"{i}.csv") for i in range(3)]
    survey = Survey({"x": NUMBERS}, 1.0)
    more = text_file(tmp_path, "x\n5\n", "more.csv")
    assert survey.collect(FileTable([*paths, more], survey.column_questions)).n == 1


def test_the_standard_input_is_not_a_file_that_is_given_as_well(tmp_path, monkeypatch):
    path = text_file(tmp_path, "x\n5\n")
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(ValueError, match=r"survey\.csv', which is the same file as '-'"):
            FileTable(["-", path], {"x": NUMBERS})


def test_the_standard_input_is_a_csv_file(monkeypatch):
    def read(text: bytes):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        return SURVEY.privatize(FileTable(["-"], SURVEY.column_questions), rng=1)

    assert read(csv_text(COLUMNS)).equals(SURVEY.privatize(COLUMNS, rng=1))
    text = csv_text(COLUMNS)
    with pytest.raises(ValueError, match="record 20001 of - is outside"):
        read(text + b"11,yes,1,1990\n")
    for damaged in (text + b'"1', text + b"1,2\n"):
        with pytest.raises(ValueError, match="- must be a readable CSV file"):
            read(damaged)
    with pytest.raises(ValueError, match="got 'x': not found"):
        read(b"")


@pytest.mark.parametrize(
    "suffix, data, message",
    [
        (".jsonl", b'{"x": 1}\n[1]\n', "JSON Lines file: line 2 is not a JSON object"),
        (".jsonl", b'{"x": 1}\n{"x": ', "JSON Lines file: line 2 is not a JSON object"),
        (
            ".jsonl",
            b'{"x": 1}\n{"x": "S3CR3T"}\n',
            "column 'x' must hold numbers; record 2 of FILE holds another value",
        ),
        (".jsonl", b'{"x": 1}\n{"x": true}\n', "column 'x' must hold numbers; record 2 of FILE holds another value"),
        (".jsonl", b'{"y": 1}\n', "got 'x': not found; its columns are 'y'"),
        (".feather", b"ARROW1", "must be a readable Feather file"),
        (".csv.gz", b"no gzip", "must be a readable CSV file"),
        (".csv.gz", gzip.compress(b"x\n" + b"1\n" * 9999, mtime=0)[:-9], "must be a readable CSV file"),
        (".csv.gz", gzip.compress(b"x\n" + b"1\n" * 9999, mtime=0)[:10] + b"\xff" * 30, "must be a readable CSV file"),
    ],
)
def test_damaged_files_of_other_formats(tmp_path, suffix, data, message):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(data)
    assert message in error_message(path)


def test_a_column_answers_questions_of_one_kind():
    with pytest.raises(ValueError, match="column 'x' must answer questions of one kind"):
        FileTable(["a.csv"], {"x": Mean(0, 1), "y": Choice(3, column="x")})
    with pytest.raises(TypeError, match="paths must be a sequence of paths, got str"):
        FileTable("people.csv", {})
    with pytest.raises(ValueError, match=r"paths must be different files, got 'people\.csv' twice"):
        FileTable(["people.csv", "other.csv", "./people.csv"], {})
    with pytest.raises(ValueError, match="paths must be different files, got '-' twice"):
        FileTable(["-", "-"], {})
    with pytest.raises(ValueError, match="paths must be at least one file"):
        FileTable([], {})


@pytest.mark.parametrize(
    "question, labels",
    [
        (Choice(["no", "yes", "perhaps"]), "'yes', 'no', 'perhaps'"),  # the same labels in another order
        (Choice(["yes", "no"]), "'yes', 'no', 'perhaps'"),
        (Choice(3), "'yes', 'no', 'perhaps'"),
        (YesNo(), "'yes', 'no', 'perhaps'"),
    ],
)
def test_a_table_for_other_labels_is_refused(tmp_path, question, labels):
    path = text_file(tmp_path, "x\n" + "yes\nno\n" * 500)
    table = FileTable([path], Survey({"x": CATEGORIES}, 1.0).column_questions)
    other = Survey({"x": question}, 1.0)
    for call in (other.run, other.collect, other.privatize):
        with pytest.raises(
            ValueError, match=f"column 'x' must hold .*, got symbols of the labels {labels}: a table is"
        ):
            call(table)


def test_a_table_serves_surveys_with_equal_labels(tmp_path):
    path = text_file(tmp_path, "x,y\n" + "yes,1\nno,0\n" * 500)
    table = FileTable([path], Survey({"x": CATEGORIES, "y": YesNo()}, 1.0).column_questions)
    other = Survey({"z": Choice(tuple(ANSWERS), optional=True, column="x"), "y": YesNo()}, 30.0)
    assert abs(other.run(table, rng=1)["z"].value[0] - 0.5) < 0.1
    with pytest.raises(TypeError, match=r"column 'x' must hold numbers in .*, got symbols of labels"):
        Survey({"x": Mean(0, 1)}, 1.0).run(table)
    with pytest.raises(ValueError, match="categories must be different when they are printed"):
        FileTable([path], {"x": Choice([1, "1"])})


# Columns that no question asks for ------------------------------------------------------------------------------------

PEOPLE = {
    **COLUMNS,
    "id": [f"person {i}" for i in range(N)],
    "clinic": [None if i % 5 == 0 else ("NA", "north", "south")[i % 3] for i in range(N)],
}


@pytest.mark.parametrize(
    "suffix",
    [pytest.param(suffix, marks=[] if suffix in (".csv", ".parquet") else pytest.mark.long) for suffix in SUFFIXES],
)
def test_groups_and_persons_of_every_format_are_those_of_the_columns(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(TableFile, "CHUNK_ROWS", 5000)
    monkeypatch.setattr(TableFile, "BLOCK_BYTES", 1 << 16)
    write_as(tmp_path / f"t{suffix}", PEOPLE)
    table = FileTable([tmp_path / f"t{suffix}"], SURVEY.column_questions)
    for keys in (1, ldp.PersonKeys(bytes(32), "id")):
        found, expected = (SURVEY.collect(people, by="clinic", rng=keys) for people in (table, PEOPLE))
        assert list(found) == [None, "north", "south", "NA"]
        assert found == expected
        assert SURVEY.privatize(table, rng=keys).equals(SURVEY.privatize(PEOPLE, rng=keys))
    with pytest.raises(ValueError, match=r"column must name one column of .*, got 'absent': not found"):
        SURVEY.collect(table, by="absent")


@pytest.mark.long
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_groups_by_a_column_that_a_question_asks_for(tmp_path, suffix):
    write_as(tmp_path / f"t{suffix}", COLUMNS)
    table = FileTable([tmp_path / f"t{suffix}"], SURVEY.column_questions)
    for by in ("word", "yes", "x"):
        with pytest.warns(UserWarning, match=f"by must be a public column, which is not protected, got {by!r}"):
            found = SURVEY.collect(table, by=by, rng=1)
        with pytest.warns(UserWarning, match=f"by must be a public column, which is not protected, got {by!r}"):
            assert found == SURVEY.collect(COLUMNS, by=by, rng=1)


def test_groups_and_persons_from_npy(tmp_path):
    survey = Survey({"x": Mean(0, 10)}, 1.0)
    kind = [("x", ">f4"), ("id", ">i8"), ("clinic", "U5"), ("code", "<u2")]
    rows = np.array([(i % 11, i - 50, ("north", "south")[i % 2], i % 3) for i in range(1000)], kind)
    np.save(tmp_path / "a.npy", rows)
    table, people = (
        FileTable([tmp_path / "a.npy"], survey.column_questions),
        {name: rows[name] for name in rows.dtype.names},
    )
    for by in ("clinic", "code"):
        for keys in (1, ldp.PersonKeys(bytes(32), "id")):
            assert survey.collect(table, by=by, rng=keys) == survey.collect(people, by=by, rng=keys)
    np.save(tmp_path / "a.npy", np.array([(1.0, b"north")], [("x", "f8"), ("clinic", "S5")]))
    with pytest.raises(TypeError, match=r"column 'clinic' must hold numbers or texts, got dtype \|S5"):
        survey.collect(table, by="clinic")


def test_a_column_has_one_type_in_all_files(tmp_path):
    survey = Survey({"x": Mean(0, 10)}, 1.0)
    for suffix, ids in (
        (".csv", [1, 2]),
        (".parquet", ["3", None]),
        (".feather", [None, None]),
        (".jsonl", ["4", "5"]),
    ):
        write_as(tmp_path / f"t{suffix}", {"x": [1.0, 2.0], "id": ids})
    paths = [tmp_path / f"t{suffix}" for suffix in (".csv", ".parquet", ".feather", ".jsonl")]
    found = survey.collect(FileTable(paths, survey.column_questions), by="id", rng=1)
    assert {value: aggregator.n for value, aggregator in found.items()} == {
        "1": 1,
        "2": 1,
        "3": 1,
        None: 3,
        "4": 1,
        "5": 1,
    }
    write_as(tmp_path / "t.jsonl", {"x": [1.0], "id": [4]})
    with pytest.raises(TypeError, match="column 'id' must have one type in all files, got string, int64"):
        survey.collect(FileTable(paths, survey.column_questions), by="id")


def test_persons_that_are_labels_of_a_question_are_refused(tmp_path):
    table = FileTable([text_file(tmp_path, "x\nyes\nno\n")], {"x": CATEGORIES})
    with pytest.raises(TypeError, match="persons must be identifiers, got a column of labels"):
        Survey({"x": CATEGORIES}, 1.0).collect(table, rng=ldp.PersonKeys(bytes(32), "x"))


def test_a_missing_extra_is_named_in_the_message(tmp_path, monkeypatch):
    remove_extras(monkeypatch)
    path = text_file(tmp_path, "x\n1\n")
    with pytest.raises(ImportError, match=r"^pyarrow is not installed: run pip install pyarrow rich$"):
        estimate_column(path, "x", NUMBERS)
    np.save(tmp_path / "a.npy", np.ones(3))
    assert estimate_column(tmp_path / "a.npy", None).n == 3


def test_the_line_in_a_message_is_that_of_the_csv_module(tmp_path):
    """Random files with quoted fields, line ends inside of fields, and blank lines."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(["no\nte", "x"])
        expected = None
        for _ in range(30):
            if rng.random() < 0.3:
                out.write("\r\n")
            bad = rng.random() < 0.05
            if bad and expected is None:
                expected = out.getvalue().count("\n") + 1
            note = rng.choice(["plain", "with\nline", 'a "quote"', "comma, too", "", "two\r\n\r\nlines"])
            writer.writerow([note, SECRET if bad else "3"])
        path = text_file(tmp_path, out.getvalue())
        if expected is None:
            assert estimate_column(path, "x", NUMBERS).n == 30
        else:
            assert f"line {expected} " in error_message(path)
