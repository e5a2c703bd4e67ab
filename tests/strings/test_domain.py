"""Strings as rows of symbols: every container gives the same rows, and what is not valid is marked with its place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast.domains import Strings
from ldpfast.estimation import CountMeanSketch

from ..support.cases import each
from ..support.errors import raises

WORDS = ["", "a", "caf\u00e9", "new", "\u65e5\u672c"]
LETTERS = Strings(4, "abcnewf\u00e9")
BYTES = Strings(6)


def forms(words):
    """Yield containers of the same texts."""
    yield list(words)
    yield tuple(words)
    yield np.array(words)
    yield np.array(words, object)
    yield pd.Series(words)
    yield pd.Series(words, dtype="string")
    yield pd.Series(words, dtype="category")
    yield pa.array(words)
    yield pa.array(words, pa.large_string())
    yield pa.array(words, pa.string_view())
    yield pa.array(words).dictionary_encode()
    yield pa.chunked_array([words[:2], words[2:]])
    yield pa.array(["x", *words, "y"])[1:-1]
    yield [word.encode() for word in words]
    yield np.array([word.encode() for word in words])
    yield np.array([word.encode() for word in words], object)
    yield pa.array([word.encode() for word in words])


@pytest.mark.parametrize(
    "domain, words",
    [(BYTES, WORDS), (LETTERS, ["", "a", "caf\u00e9", "new"]), (Strings(3, "new"), ["new", "we", ""])],
)
def test_every_container_gives_the_same_rows(domain, words):
    expected = np.zeros((len(words), domain.width), np.uint8)
    for row, word in zip(expected, words, strict=True):
        symbols = word.encode() if domain.alphabet is None else [1 + domain.alphabet.index(c) for c in word]
        row[: len(symbols)] = list(symbols)
    for form in forms(words):
        rows, single = domain.records(form)
        np.testing.assert_array_equal(rows, expected)
        assert not single
        assert domain.first_invalid(rows) == -1
    assert domain.strings(expected) == words
    for word, row in zip(words, expected, strict=True):
        for one in (word, word.encode(), np.array(word)):
            found, single = domain.records(one)
            assert single
            np.testing.assert_array_equal(found, row[np.newaxis])


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=4), max_size=8))
def test_texts_come_back(words):
    domain = Strings(16)
    assert domain.strings(domain.records(words)[0]) == words


@given(st.lists(st.binary(max_size=9)))
def test_bytes_are_valid_if_they_are_short_and_have_no_zero(values):
    domain = Strings(5)
    for form in (values, pa.array(values, pa.binary())):
        rows, _ = domain.records(form)
        assert (rows[:, -1] == 0).tolist() == [len(value) <= 5 and 0 not in value for value in values]
        assert [bytes(row[row != 0]) for row in domain.clip(rows)] == [
            value[:5].partition(b"\0")[0] for value in values
        ]


@pytest.mark.claim("`clip=True` never refuses a string.", "Strings")
@each(
    "domain, word, clipped",
    [
        (BYTES, "seven letters", "seven "),
        (BYTES, "a\0b", "a"),
        (BYTES, "a\0", "a"),
        (BYTES, "\ud800", "?"),
        (BYTES, None, ""),
        (BYTES, 3, ""),
        (BYTES, float("nan"), ""),
        (LETTERS, "abcab", "abca"),
        (LETTERS, "nxw", "naw"),
        (LETTERS, "n\0w", "naw"),
        (LETTERS, "\ud800", "a"),
        (LETTERS, b"\xff", "a"),
        (LETTERS, None, ""),
        (Strings(3, "new"), "nxw", "nnw"),
        (Strings(3, "new"), "n\u00e9", "nn"),
        (Strings(3, "new"), "n\u6f22e", "nne"),
    ],
)
def test_invalid_strings_are_refused_with_their_place_or_clipped(domain, word, clipped):
    problem = CountMeanSketch(2.0, max_bytes=domain.max_bytes, alphabet=domain.alphabet, buckets=8)
    values = ["new", word, "new"]
    rows, _ = domain.records(values)
    assert domain.invalid(rows).tolist() == [False, True, False]
    assert domain.strings(domain.clip(rows)) == ["new", clipped, "new"]
    with pytest.raises(ValueError, match=r"x must be strings of at most \d .*; index 1 is outside \(1 of 3 are\)"):
        problem.privatize(values)
    assert len(problem.privatize(values, clip=True)) == 3
    if isinstance(word, str | bytes):
        assert np.ndim(problem.privatize(word, clip=True)) == 0


def test_what_is_missing_in_arrow_and_pandas_is_invalid():
    for form in (pa.array(["a", None, "b"]), pd.Series(["a", None, "b"]), pa.array([None], pa.null())):
        rows, _ = BYTES.records(form)
        assert BYTES.first_invalid(rows) == len(rows) // 2
        assert not rows[len(rows) // 2, :-1].any()


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="masked"):
        BYTES.records(np.ma.array([b"aa", b"bb"], mask=[0, 1]))


def test_other_arrow_types_of_bytes():
    for kind in (pa.binary(2), pa.binary_view()):
        np.testing.assert_array_equal(BYTES.records(pa.array([b"ab", b"cd"], kind))[0], BYTES.records(["ab", "cd"])[0])


def test_numpy_arrays_of_bytes_end_at_their_padding():
    rows, _ = BYTES.records(np.array([b"a", b"abcdefg", b"a\0b"], "S9"))
    assert rows[:, -1].tolist() == [0, 1, 1]


@each(
    "x, kind, message",
    [
        (3, TypeError, "x must be strings in a list or an array, got int"),
        ({"a": 1}, TypeError, "x must be strings in a list or an array, got dict"),
        ({"a"}, TypeError, "x must be strings in a list or an array, got set"),
        (np.array([["a"]]), ValueError, "x must have shape (n,), or () for one record, got shape (1, 1)"),
        (pa.array([1, 2]), TypeError, "x must hold text or bytes, got type int64"),
    ],
)
def test_what_is_no_column_of_strings_is_refused(x, kind, message):
    with raises(kind, message):
        BYTES.records(x)


@each(
    "arguments, kind, message",
    [
        ((0,), ValueError, "max_bytes must be an integer >= 1 and <= 255, got 0"),
        ((256,), ValueError, "max_bytes must be an integer >= 1 and <= 255, got 256"),
        ((4, 5), TypeError, "alphabet must be a text of different characters, got int"),
        ((4, ""), ValueError, None),
        ((4, "aa"), ValueError, None),
        ((4, "a\0"), ValueError, None),
        ((4, "\ud800"), ValueError, None),
        ((4, "".join(map(chr, range(1, 256)))), ValueError, None),
    ],
)
def test_bad_domains(arguments, kind, message):
    match = "^alphabet must have 1 to 253 different characters" if message is None else None
    with pytest.raises(kind, match=match) as error:
        Strings(*arguments)
    assert message is None or message.partition(",")[0][:20] in str(error.value)
