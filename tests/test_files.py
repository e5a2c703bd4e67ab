"""Estimates from columns of files: reading, memory, and errors that name the position but never the value."""

from __future__ import annotations

import csv
import io
import tracemalloc
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import files
from ldpfast.files import estimate_column
from ldpfast.mechanisms import for_categories, for_interval

from .support.extras import remove_extras

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NUMBERS = for_interval(0.0, 10.0, 1.0)
ANSWERS = ["yes", "no", "perhaps"]
CATEGORIES = for_categories(3, 1.0)
SECRET = "S3CR3T"


def text_file(folder: Path, text: str | bytes) -> Path:
    path = folder / "survey.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def error_message(path: Path, column: str | None = "x", mechanism: ldp.Mechanism = NUMBERS, **options: object) -> str:
    """Return the message of the error from `estimate_column`, with FILE instead of the path."""
    with pytest.raises((ValueError, TypeError)) as caught:
        estimate_column(path, column, mechanism, **options)
    message = str(caught.value).replace(str(path), "FILE")
    assert SECRET not in message
    return message


# Reading --------------------------------------------------------------------------------------------------------------


def assert_same_as_array(path: Path, column: str | None, values: np.ndarray, **options: object) -> None:
    """Check that the estimate from a file of one chunk equals that from the array with the same generator."""
    mechanism = CATEGORIES if "categories" in options else NUMBERS
    found = estimate_column(path, column, mechanism, rng=7, **options)
    expected = mechanism.run(values, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(found.value, expected.value)
    assert found.n == len(values)


def test_numbers_from_csv(tmp_path):
    path = text_file(tmp_path, 'a,x\n1, 2 \n\n"3\n4",+4.5\r\n,"1e0"\n5,.5')
    assert_same_as_array(path, "x", np.array([2, 4.5, 1, 0.5]))


def test_categories_from_csv(tmp_path):
    path = text_file(tmp_path, "\ufeffx,a\nyes,1\n no ,2\n\nperhaps,3\n")
    assert_same_as_array(path, "x", np.array([0, 1, 2], np.uint8), categories=ANSWERS)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(5, 2)], ids=str)
def test_numbers_from_parquet(tmp_path, kind):
    values = [Decimal(v) if pa.types.is_decimal(kind) else v for v in (1, 2, 10)]
    parquet.write_table(pa.table({"a": ["u", "v", "w"], "x": pa.array(values, kind)}), tmp_path / "t.parquet")
    assert_same_as_array(tmp_path / "t.parquet", "x", np.array([1.0, 2.0, 10.0]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_categories_from_parquet(tmp_path, kind):
    parquet.write_table(pa.table({"x": pa.array(["no", "yes"]).cast(kind)}), tmp_path / "t.parquet")
    assert_same_as_array(tmp_path / "t.parquet", "x", np.array([1, 0], np.uint8), categories=ANSWERS)


def test_arrays_from_npy(tmp_path):
    path = tmp_path / "a.npy"
    for values in (np.array([1.0, 9.5]), np.array([1, 9], ">i2"), np.array([1, 9], np.float32)):
        np.save(path, values)
        assert_same_as_array(path, None, values)
    np.save(path, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert_same_as_array(path, "1", np.array([2.0, 4.0]))
    np.save(path, np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("x", "f8")]))
    assert_same_as_array(path, "x", np.array([2.5, 4.5]))
    np.save(path, np.array(["no", "perhaps", "no "]))
    assert_same_as_array(path, None, np.array([1, 2, 1], np.uint8), categories=ANSWERS)
    np.save(path, np.array([12, 10, 11]))
    assert_same_as_array(path, None, np.array([2, 0, 1], np.uint8), categories=["10", "11", "12"])


def test_chunks_are_all_counted_and_progress_grows_to_one(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(files, "CHUNK_ROWS", 1 << 10)
    values = np.arange(10_000) % 11
    path = text_file(tmp_path, "x\n" + "\n".join(map(str, values)) + "\n")
    parquet.write_table(pa.table({"x": values}), tmp_path / "t.parquet")
    np.save(tmp_path / "a.npy", values)
    for file, column in ((path, "x"), (tmp_path / "t.parquet", "x"), (tmp_path / "a.npy", None)):
        shares: list[float] = []
        estimate = estimate_column(file, column, NUMBERS, rng=1, progress=shares.append)
        assert estimate.n == len(values)
        assert abs(estimate.value - values.mean()) < 7 * estimate.stderr
        assert len(shares) > 3
        assert shares == sorted(shares)
        assert shares[-1] == 1


def test_chunks_have_different_keys_for_an_integer_seed(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 12)
    constant = text_file(tmp_path, "x\n" + "5\n" * 10_000)
    privatize, chunks = ldp.Mechanism.privatize, []

    def recorded(*arguments: object, **options: object) -> np.ndarray:
        chunks.append(privatize(*arguments, **options))
        return chunks[-1]

    monkeypatch.setattr(type(NUMBERS), "privatize", recorded)
    estimate_column(constant, "x", NUMBERS, rng=1)
    assert min(map(len, chunks[:2])) >= 500
    assert not np.array_equal(chunks[0][:500], chunks[1][:500])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_length_of_a_file(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(files, "CHUNK_ROWS", 1 << 14)
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

QUOTED = 'a,x\n1,2\n\n"three\n\nlines",3\n'  # records start on lines 2 and 4; the next is on line 7


@pytest.mark.parametrize(
    "line, fault",
    [
        (SECRET, "must hold numbers; line 7 of FILE holds text"),
        ("1_0", "must hold numbers; line 7 of FILE holds text"),
        ('"4\n"', "must hold numbers; line 7 of FILE holds text"),
        ("", "must have a value in every record; line 7 of FILE has none"),
        ("  ", "must have a value in every record; line 7 of FILE has none"),
        ("10.5", "must hold numbers in [lower, upper] = [0.0, 10.0]; line 7 of FILE is outside"),
        ("nan", "must hold numbers in [lower, upper] = [0.0, 10.0]; line 7 of FILE is outside"),
        ("1e999", "must hold numbers in [lower, upper] = [0.0, 10.0]; line 7 of FILE is outside"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_invalid_numbers_in_csv(tmp_path, line, fault, newline):
    path = text_file(tmp_path, f"{QUOTED}9,{line}\n{SECRET},4\n".replace("\n", newline))
    assert error_message(path) == f"column 'x' {fault}"


def test_an_error_in_a_later_block_has_the_right_line(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 10)
    path = text_file(tmp_path, "x\n" + "5\n" * 5000 + "11\n")
    assert "line 5002 " in error_message(path)


def test_invalid_categories_in_csv(tmp_path):
    path = text_file(tmp_path, f"x,a\nyes,1\n\n{SECRET},2\n,3\n")
    message = error_message(path, mechanism=CATEGORIES, categories=ANSWERS)
    assert message == "column 'x' must hold the declared categories only; line 4 of FILE holds another"
    path = text_file(tmp_path, f"x,a\nyes,1\n,2\n{SECRET},3\n")
    message = error_message(path, mechanism=CATEGORIES, categories=ANSWERS)
    assert message == "column 'x' must have a value in every record; line 3 of FILE has none"


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
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 12)
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
        ("x\n1\n", None, "must name a column of FILE, got none"),
    ],
)
def test_missing_and_repeated_columns_in_csv(tmp_path, text, column, fault):
    assert error_message(text_file(tmp_path, text), column) == f"column {fault}"


@pytest.mark.parametrize("text", ["x\n", "x\n\n\n"])
def test_csv_without_records(tmp_path, text):
    assert error_message(text_file(tmp_path, text)) == "an estimate needs at least 1 report, got n = 0"


@pytest.mark.parametrize(
    "values, options, fault",
    [
        ([1.0, None], {}, "must have a value in every record; index 1 of FILE has none"),
        ([1.0, 11.0], {}, "must hold numbers in [lower, upper] = [0.0, 10.0]; index 1 of FILE is outside"),
        ([SECRET], {}, "must hold numbers, got type string"),
        ([True], {}, "must hold numbers, got type bool"),
        ([["yes"]], {"categories": ANSWERS}, "must hold categories, got type list<element: string>"),
        (
            ["yes", SECRET],
            {"categories": ANSWERS},
            "must hold the declared categories only; index 1 of FILE holds another",
        ),
        (["yes", None], {"categories": ANSWERS}, "must have a value in every record; index 1 of FILE has none"),
    ],
)
def test_invalid_values_in_parquet(tmp_path, values, options, fault):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": values}), path)
    mechanism = CATEGORIES if options else NUMBERS
    assert error_message(path, mechanism=mechanism, **options) == f"column 'x' {fault}"


def test_damaged_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": np.arange(1000) % 10}), path)
    whole = path.read_bytes()
    assert error_message(path, "y") == "column must name one column of FILE, got 'y': not found"
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
            "the array must hold numbers in [lower, upper] = [0.0, 10.0]; index 1 of FILE is outside",
        ),
        (np.array([True]), None, "the array must hold numbers, got dtype bool"),
        (np.array(1.0), None, "FILE must hold one number per record, got shape ()"),
        (np.zeros((2, 2, 2)), None, "FILE must hold one number per record, got shape (2, 2, 2)"),
        (np.zeros(3), "x", "column must be left out for an array of shape (3,), got 'x'"),
        (np.zeros((3, 2)), None, "column must name a column of FILE, got none"),
        (np.zeros((3, 2)), "2", "column must name one column of FILE, got '2': not found"),
        (np.zeros(3, [("y", "f8")]), "x", "column must name one column of FILE, got 'x': not found"),
        (np.zeros(0), None, "an estimate needs at least 1 report, got n = 0"),
    ],
)
def test_invalid_arrays_in_npy(tmp_path, array, column, fault):
    np.save(tmp_path / "a.npy", array)
    assert error_message(tmp_path / "a.npy", column) == fault


def test_invalid_categories_in_npy(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array(["yes", SECRET]))
    message = error_message(path, None, CATEGORIES, categories=ANSWERS)
    assert message == "the array must hold the declared categories only; index 1 of FILE holds another"
    np.save(path, np.array([1j]))
    assert "must hold categories, got dtype complex128" in error_message(path, None, CATEGORIES, categories=ANSWERS)


def test_damaged_npy(tmp_path):
    path = tmp_path / "a.npy"
    buffer, archive = io.BytesIO(), io.BytesIO()
    np.save(buffer, np.arange(10.0))
    np.savez(archive, a=np.arange(3))
    objects = io.BytesIO()
    np.save(objects, np.array([{}]), allow_pickle=True)
    whole = buffer.getvalue()
    for damaged in (b"", b"abc", whole[:20], whole[:-8], archive.getvalue(), objects.getvalue()):
        path.write_bytes(damaged)
        message = error_message(path, None)
        assert message == "FILE must be a readable .npy file: it is damaged, truncated or of another format"


def test_directories_missing_files_and_unknown_suffixes(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert error_message(tmp_path / "folder.csv") == "path must be a regular file, got 'FILE'"
    assert error_message(tmp_path / "a.txt") == "path must end in one of .csv, .parquet, .npy, got 'FILE'"
    for name in ("a.csv", "a.parquet", "a.npy"):
        with pytest.raises(FileNotFoundError):
            estimate_column(tmp_path / name, "x", NUMBERS)


def test_clip_accepts_numbers_but_neither_text_nor_missing_values(tmp_path):
    path = text_file(tmp_path, "x\n-5\n99\nnan\ninf\n")
    same = NUMBERS.run(np.array([0.0, 10.0, 5.0, 10.0]), rng=np.random.default_rng(3))
    assert estimate_column(path, "x", NUMBERS, clip=True, rng=3).value == same.value
    assert "holds text" in error_message(text_file(tmp_path, "x\nabc\n"), clip=True)
    assert "has none" in error_message(text_file(tmp_path, 'x,y\n"",1\n'), clip=True)
    with pytest.raises(ValueError, match="clip must be False for categories"):
        estimate_column(tmp_path / "absent.csv", "x", CATEGORIES, categories=ANSWERS, clip=True)


def test_a_missing_extra_is_named_in_the_message(tmp_path, monkeypatch):
    remove_extras(monkeypatch)
    path = text_file(tmp_path, "x\n1\n")
    with pytest.raises(ImportError, match=r"^pyarrow is not installed: install pyarrow and rich$"):
        estimate_column(path, "x", NUMBERS)
    np.save(tmp_path / "a.npy", np.ones(3))
    assert estimate_column(tmp_path / "a.npy", None, NUMBERS).n == 3


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
