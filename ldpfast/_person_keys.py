"""Keys that belong to a person and a value, so that the same record always gets the same report.

Coins of bulk calls belong to positions of records, so a second call is a second report. Keys of persons are derived from a
secret instead: AES-256-CMAC (NIST SP 800-38B) in the counter mode of SP 800-108, on fields with tags and lengths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from . import _schema
from ._core.person import (
    ASSIGNMENT,
    BYTES,
    CATEGORY,
    DESCRIPTION,
    INTEGER,
    NUMBERS,
    POSITIONS,
    QUESTION,
    REPORT_ID,
    ROUND,
    SERIES,
    STRING,
    TEXT,
    TURN,
    Prefix,
)
from ._frames import Coded, python_values
from ._labels import has_index
from ._typing import AnyArray

if TYPE_CHECKING:
    pass

MAX_EXACT = 1 << 53
ID_BYTES = 16  # of a report
IDENTIFIERS = "persons must be integers in [-2^63, 2^63), all str, or all bytes"
NO_SERIES = _schema.digest({"series": ""})  # of questions outside of surveys
PIECE_ROWS = 4096  # records whose keys are in memory together


class PersonKeys:
    """Source of randomness that gives one report per person, question and value.

    It is passed as `rng` to `privatize` and `run` of a mechanism, a problem or a survey.

    Parameters
    ----------
    secret : bytes
        32 random bytes, for instance from ``secrets.token_bytes(32)``. They are as sensitive as the records: whoever has
        them and a report can compute the value. They are not saved with any object.
    persons : array_like of int, str or bytes, shape (n,), or str
        Identifiers of the persons, one per record and without duplicates. A single text is the name of a column, for surveys
        only; duplicates are searched for in each piece of a stream, not in all of it.
    question : str, optional
        Name of the question. It is required, except for surveys, whose questions have names. Two questions with the same name
        and the same mechanism share coins.

    Raises
    ------
    TypeError, ValueError
        If `secret` has not 32 bytes; if `persons` are of other or of several types, or are not different; if `question` is
        not a non-empty text.

    Notes
    -----
    About 0.2 microseconds per record. `run` holds the reports of all records in memory. Records are read and reports
    are made in double precision, whatever the dtype of the records: equal values give equal reports. Numbers that are stored in
    single and in double precision are often different values: ``np.float32(0.1) != 0.1``.

    Privacy
    -------
    For a person with one value per question, the guarantee of one report, however often it is processed: computational, with
    AES-256-CMAC as a pseudorandom function. A person whose value changes gets a new report, and the losses of t different
    values add up to t epsilon for the values; moreover **which of the answers were equal is revealed exactly**. So these keys
    are for retries and for values that do not change. For repeated collection see `survey.Repeated`.
    docs/proofs/person_keys.md.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism, secret = ldp.RandomizedResponse(4, 1.0), bytes(32)  # use secrets.token_bytes(32)
    >>> first = mechanism.privatize([0, 3, 2], rng=ldp.PersonKeys(secret, [11, 12, 13], question="color"))
    >>> again = mechanism.privatize([2, 3], rng=ldp.PersonKeys(secret, [13, 12], question="color"))
    >>> bool((again == first[[2, 1]]).all())
    True
    """

    def __init__(self, secret: bytes, persons: Any, *, question: str | None = None) -> None:
        if not isinstance(secret, bytes | bytearray | memoryview):
            raise TypeError(f"secret must be 32 bytes, got {type(secret).__name__}")
        if len(secret) != 32:
            raise ValueError(f"secret must be 32 bytes, got {len(secret)}")
        if question is not None and not isinstance(question, str):
            raise TypeError(f"question must be a str, got {type(question).__name__}")
        if question == "":
            raise ValueError("question must be a non-empty text, got ''")
        self._secret = bytes(secret)
        self.question = question
        self.column = persons if isinstance(persons, str) else None
        self._persons = None if isinstance(persons, str) else Persons(persons, unique=True)
        self.given = persons if has_index(persons) else None

    def of(self, schema: dict[str, Any], records: int) -> QuestionKeys:
        """Return the keys for the answers to one question.

        Raises
        ------
        ValueError
            If there is no name of the question, or not one person per record.
        """
        if self.question is None:
            raise ValueError("question must be the name of the question in PersonKeys, got None")
        return self.named(NO_SERIES, self.question, _schema.digest(schema), self.persons(records))

    def of_persons(self, persons: Any) -> PersonKeys:
        """Return the keys with other persons: those of a piece of a table."""
        return PersonKeys(self._secret, persons, question=self.question)

    def of_rows(self, rows: NDArray[np.intp]) -> PersonKeys:
        """Return the keys of some of the persons."""
        found = object.__new__(PersonKeys)
        found._secret = self._secret
        found.question = self.question
        found.column = self.column
        found.given = None
        assert self._persons is not None
        found._persons = self._persons.take(rows)
        return found

    def persons(self, records: int) -> Persons:
        """Return the persons of an array of records."""
        if self._persons is None:
            raise ValueError(f"persons must be an array in PersonKeys, got the name of a column, {self.column!r}")
        if len(self._persons) != records:
            raise ValueError(f"persons must be one per record, got {len(self._persons)} for {records} records")
        return self._persons

    def persons_from(self, start: int, n: int) -> Persons:
        """Return the persons of n rows of a table, from row number `start` on."""
        if self._persons is None:
            raise ValueError(f"persons must be an array in PersonKeys, got the name of a column, {self.column!r}")
        if start + n > len(self._persons):
            raise ValueError(
                f"persons must be one per record, got {len(self._persons)} for at least {start + n} records"
            )
        return self._persons.take(np.arange(start, start + n))

    def named(self, series: bytes, question: str, description: bytes, persons: Persons) -> QuestionKeys:
        """Return the keys for the answers to a question.

        Parameters
        ----------
        series : bytes
            Digest of the series of surveys that the question is asked in; `NO_SERIES` outside of surveys.
        question : str
            Name of the question.
        description : bytes
            Digest of everything that fixes the distribution and the meaning of the reports.
        persons : Persons
        """
        return self._keys(persons, (SERIES, series), (QUESTION, question.encode()), (DESCRIPTION, description))

    def round(self, series: bytes, question: str, description: bytes, number: int, persons: Persons) -> QuestionKeys:
        """Return the keys of one round of a repeated question."""
        fields = ((SERIES, series), (QUESTION, question.encode()), (DESCRIPTION, description))
        return self._keys(persons, *fields, (ROUND, number.to_bytes(8, "little")))

    def assignment(self, series: bytes, persons: Persons) -> QuestionKeys:
        """Return the keys that choose what the persons are asked in a series."""
        return self._keys(persons, (SERIES, series), (ASSIGNMENT, b""))

    def turns(self, series: bytes, persons: Persons, waves: int, turns: int) -> NDArray[np.bool_]:
        """Return in which waves of a series each person answers, shape (n, waves): those with the smallest tickets."""
        keys = self._keys(persons, (SERIES, series), (TURN, b""))
        return keys.assign([str(wave + 1) for wave in range(waves)], [1] * waves, turns)

    def report_ids(self, series: bytes, occasion: bytes, persons: Persons) -> NDArray[np.uint8]:
        """Return the ids of the reports of persons, shape (n, 16), by which a server finds a report that is sent again.

        Parameters
        ----------
        series : bytes
            Digest of the series.
        occasion : bytes
            Number of the wave or round, or fingerprint of a survey without them, 8 bytes.
        persons : Persons
        """
        keys = self._keys(persons, (SERIES, series), (REPORT_ID, occasion))
        return keys.derive(0, no_value(len(persons)))[:, :ID_BYTES]

    def _keys(self, persons: Persons, *fields: tuple[int, bytes]) -> QuestionKeys:
        return QuestionKeys(Prefix(self._secret, b"".join(_field(tag, payload) for tag, payload in fields)), persons)

    def __repr__(self) -> str:
        persons = repr(self.column) if self._persons is None else f"<{len(self._persons)} persons>"
        return f"PersonKeys(<secret>, {persons}, question={self.question!r})"

    def __reduce__(self) -> Any:
        raise TypeError("PersonKeys hold a secret and cannot be pickled or copied")


class Persons:
    """Identifiers of persons, as fields of the input of derived keys."""

    def __init__(self, persons: Any, unique: bool) -> None:
        values = persons
        if isinstance(values, Mapping | Set):
            raise TypeError(f"persons must be in the order of the records, got {type(values).__name__}")
        if isinstance(values, Coded):
            raise TypeError("persons must be identifiers, got a column of labels")
        if not isinstance(values, np.ndarray | list | tuple):
            values = python_values(persons) if hasattr(persons, "to_pylist") else np.asarray(persons)
            if values is None:
                raise TypeError(f"{IDENTIFIERS}, got invalid values of type {persons.type}")
        array = np.asarray(values) if not isinstance(values, np.ndarray) else values
        if array.dtype.kind == "O" and array.ndim == 1:
            array = _integers(array)
        if isinstance(values, np.ndarray) and array.dtype.kind == "S":  # NumPy drops zero bytes at the end
            raise TypeError("persons must be bytes in a list instead of a NumPy array of bytes, which loses zero bytes")
        if array.ndim != 1:
            raise ValueError(f"persons must have shape (n,), got shape {array.shape}")
        # Integers of 64 bits become fields of equal length at once; texts and bytes become fields one by one.
        if array.dtype.kind in "iu" and (array.dtype != np.uint64 or not len(array) or int(array.max()) < 1 << 63):
            self.data, self.ends = _integer_fields(array.astype("<i8"))
            if unique and len(different := np.unique(array)) != len(array):
                raise ValueError(f"persons must be different, got {len(array)} of which {len(different)} are")
            return
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        kinds = {type(value) for value in listed}
        if not kinds <= {str} and not kinds <= {bytes}:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(f"{IDENTIFIERS}, got {names}: write larger integers as text")
        if unique and len(set(listed)) != len(listed):
            count = Counter(listed).most_common(1)[0][1]
            raise ValueError(f"persons must be different, got one {count} times")
        tag = TEXT if kinds == {str} else BYTES
        try:
            fields = [_field(tag, value.encode() if isinstance(value, str) else value) for value in listed]
        except UnicodeEncodeError:
            raise ValueError("persons must be valid Unicode text") from None
        self.data = np.frombuffer(b"".join(fields) or b"\0", np.uint8)
        self.ends = np.concatenate([[0], np.cumsum([len(field) for field in fields])]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def take(self, rows: NDArray[np.intp]) -> Persons:
        """Return the persons of some rows."""
        found = object.__new__(Persons)
        lengths = self.ends[rows + 1] - self.ends[rows]
        found.ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        starts = np.repeat(self.ends[rows] - found.ends[:-1], lengths)
        found.data = self.data[starts + np.arange(found.ends[-1])] if len(rows) else self.data[:1]
        return found


class QuestionKeys:
    """Keys of the values of persons, for one question."""

    def __init__(self, prefix: Prefix, persons: Persons) -> None:
        self._prefix, self._persons = prefix, persons

    def derive(self, start: int, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the keys of consecutive persons from number `start` on, shape (n, 32), for the fields of their values."""
        n = len(values)
        keys = np.empty((n, 32), np.uint8)
        ends = self._persons.ends[start : start + n + 1]
        self._prefix.derive(self._persons.data, ends, np.ascontiguousarray(values), keys)
        return keys

    def assign(self, names: Sequence[str], weights: Sequence[int], answers: int) -> NDArray[np.bool_]:
        """Return which of several questions each person is asked, shape (n, questions).

        A question has as many tickets as its weight. Those with the smallest tickets of a person are asked, so that a question
        that is added or removed changes what only those persons are asked who draw it.

        Parameters
        ----------
        names : sequence of str
        weights : sequence of int
            Positive; all 1 for more than one answer.
        answers : int
            Number of questions that each person is asked.
        """
        order = sorted(range(len(names)), key=lambda q: names[q].encode())  # which decides between equal tickets
        fields = [_field(QUESTION, names[q].encode()) for q in order]
        starts = np.concatenate([[0], np.cumsum([len(field) for field in fields])]).astype(np.int64)
        joined, tickets = np.frombuffer(b"".join(fields), np.uint8), np.array([weights[q] for q in order], np.uint32)
        asked = np.empty((len(self._persons), len(names)), np.bool_)
        asked[:, order] = self._prefix.assign(self._persons.data, self._persons.ends, joined, starts, tickets, answers)
        return asked


def is_personal(rng: Any) -> TypeGuard[PersonKeys]:
    """Return whether `rng` has keys of persons."""
    return isinstance(rng, PersonKeys)


# Fields ---------------------------------------------------------------------------------------------------------------


def _field(tag: int, payload: bytes) -> bytes:
    return bytes([tag]) + len(payload).to_bytes(4, "little") + payload


def _integers(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of objects as int64, if all are integers in [-2^63, 2^63), and unchanged otherwise."""
    if not len(array) or not all(
        isinstance(value, int | np.integer) and not isinstance(value, bool) for value in array
    ):
        return array
    try:
        return array.astype(np.int64)
    except OverflowError:
        return array


def _integer_fields(values: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    fields = np.zeros((len(values), 13), np.uint8)
    fields[:, 0], fields[:, 1] = INTEGER, 8
    fields[:, 5:] = values.view(np.uint8).reshape(-1, 8)
    return (fields.ravel() if len(values) else np.zeros(1, np.uint8)), np.arange(len(values) + 1, dtype=np.int64) * 13


def category_fields(codes: AnyArray) -> NDArray[np.uint8]:
    """Return the fields of categories, shape (n, 9).

    Raises
    ------
    ValueError
        If a category is 2^32 or more.
    """
    if codes.dtype.itemsize > 4 and len(codes) and int(codes.max()) >= 1 << 32:
        raise ValueError("x must be categories below 2^32 with PersonKeys")
    fields = np.zeros((len(codes), 9), np.uint8)
    fields[:, 0], fields[:, 1] = CATEGORY, 4
    fields[:, 5:] = codes.astype("<u4").view(np.uint8).reshape(-1, 4)
    return fields


def number_fields(numbers: AnyArray) -> NDArray[np.uint8]:
    """Return the fields of numbers or rows of numbers, shape (n, 5 + 8 dim). Negative zeros become zeros."""
    rows = numbers.reshape(len(numbers), -1).astype("<f8") + 0.0
    fields = np.zeros((len(rows), 5 + 8 * rows.shape[1]), np.uint8)
    fields[:, 0] = NUMBERS
    fields[:, 1:5] = np.frombuffer((8 * rows.shape[1]).to_bytes(4, "little"), np.uint8)
    fields[:, 5:] = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
    return fields


def no_value(n: int) -> NDArray[np.uint8]:
    """Return the fields of n persons for keys that depend on no value, shape (n, 0)."""
    return np.zeros((n, 0), np.uint8)


def value_fields(records: AnyArray) -> NDArray[np.uint8]:
    """Return the fields of the records of a kernel: categories, numbers, rows of numbers, of bytes or of positions."""
    if records.ndim == 2 and records.dtype.kind == "u":
        return string_fields(records) if records.dtype == np.uint8 else position_fields(records)
    return number_fields(records) if records.dtype.kind == "f" else category_fields(records)


def string_fields(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the fields of strings that are padded with zeros to rows of the same length, shape (n, 5 + bytes)."""
    fields = np.zeros((len(rows), 5 + rows.shape[1]), np.uint8)
    fields[:, 0] = STRING
    fields[:, 1:5] = np.frombuffer(rows.shape[1].to_bytes(4, "little"), np.uint8)
    fields[:, 5:] = rows
    return fields


def position_fields(rows: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Return the fields of sets as rows of ascending positions, shape (n, 5 + 2 positions)."""
    fields = np.zeros((len(rows), 5 + 2 * rows.shape[1]), np.uint8)
    fields[:, 0] = POSITIONS
    fields[:, 1:5] = np.frombuffer((2 * rows.shape[1]).to_bytes(4, "little"), np.uint8)
    fields[:, 5:] = np.ascontiguousarray(rows.astype("<u2")).view(np.uint8).reshape(len(rows), -1)
    return fields
