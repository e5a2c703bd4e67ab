"""Counts of the answers to a survey."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._core.survey import split_messages
from .._described import from_dict as described
from .._envelope import seal, unseal
from .._extras import optional
from .._schema import first_difference, read_integer
from .._typing import AnyArray
from ..reports import MAX_REPORTS, check_table_schema, hash_of_batch, read_batches
from ..reports._labels import binary_buffers, is_binary
from ._messages import joined_messages, message_error
from ._result import SurveyResult

if TYPE_CHECKING:
    from ._survey import Survey

MAGIC = b"LDPSURV\x01"  # the last byte is the version of the layout
LABEL = "ldpfast"  # column with the fingerprint


class SurveyAggregator:
    """Mergeable counts of the answers to a survey. `Survey.aggregator` makes one.

    Attributes
    ----------
    survey : Survey
        What the reports answer.
    n : int
        Number of people so far.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.survey import Survey, YesNo
    >>> survey = Survey({"smoker": YesNo()}, 1.0)
    >>> server = survey.aggregator().update(survey.privatize({"smoker": [True, False] * 50}, rng=1), batch="monday")
    >>> ldp.Aggregator.from_bytes(server.to_bytes()).n
    100
    """

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.n = 0
        self._counters = [mechanism.aggregator() for mechanism in survey.mechanisms.values()]
        self._pair_counts = np.zeros(len(survey._pairs), np.int64)
        self._batches: set[str] = set()

    # Counting ---------------------------------------------------------------------------------------------------------

    def update(self, reports: Any, *, batch: str | None = None) -> Self:
        """Add the answers of people.

        Parameters
        ----------
        reports : Arrow table, Arrow binary array, or sequence of bytes
            Result of `Survey.privatize`, or messages of `SurveyClient.answer`. Anything that exports an Arrow stream is read
            in pieces.
        batch : str, optional
            Name of the batch, which is accepted once; see `Aggregator.update`.

        Returns
        -------
        self : SurveyAggregator

        Raises
        ------
        TypeError, ValueError
            If they do not answer this survey, or are damaged; if a batch of this name was already counted. The aggregator is
            then unchanged.
        """
        names = set() if batch is None else {hash_of_batch(batch)}
        if names & self._batches:
            raise ValueError(f"batch must be new, got {batch!r}, which was already counted")
        added = type(self)(self.survey)
        if isinstance(reports, bytes | bytearray | memoryview):
            reports = [reports]
        if isinstance(reports, list | tuple):
            added._add_messages(*joined_messages(reports))
        elif is_binary(reports):
            added._add_messages(*binary_buffers(reports))
        elif hasattr(reports, "__arrow_c_stream__"):
            added._add_tables(reports)
        else:
            raise TypeError(f"reports must be an Arrow table or a list of messages, got {type(reports).__name__}")
        self._add(added)
        self._batches |= names
        return self

    def _add_messages(self, data: Any, ends: NDArray[np.int64]) -> None:
        """Count joined messages: one pass checks them and collects the reports of each question."""
        survey = self.survey
        mechanisms = list(survey.mechanisms.values())
        sizes = np.array([mechanism.report.nbytes for mechanism in mechanisms], np.int64)
        questions, packed, fault = split_messages(data, ends, survey._head, sizes, survey.answers)
        if fault is not None:
            raise message_error(survey, data, ends, *fault)
        assert questions is not None
        asked = np.zeros((len(questions), len(mechanisms)), np.bool_)
        if len(survey._pairs):
            np.put_along_axis(asked, questions.astype(np.intp), True, axis=1)
        self._add_reports([part.reshape(-1, size) for part, size in zip(packed, sizes, strict=True)], asked)

    def _add_tables(self, reports: Any) -> None:
        """Count Arrow tables of reports, batch by batch."""
        pa = optional("pyarrow", "files")
        try:
            reader = reports.to_reader() if isinstance(reports, pa.Table) else pa.RecordBatchReader.from_stream(reports)
        except (pa.ArrowException, TypeError, ValueError):
            raise TypeError(f"reports must be an Arrow table, got {type(reports).__name__}") from None
        _check_schema(self.survey, reader.schema)
        for batch in reader:
            self._add_batch(batch)

    def _add_batch(self, batch: Any) -> None:
        survey, rows = self.survey, batch.num_rows
        labels = set(batch.column(LABEL).unique().to_pylist())
        if not labels <= {survey._head[1:]}:
            raise ValueError(
                f"reports must answer the survey with the fingerprint {survey.fingerprint} in every row, "
                "got rows of another survey"
            )
        asked = np.zeros((rows, len(survey.mechanisms)), np.bool_)
        reports = []
        for q, (name, mechanism) in enumerate(survey.mechanisms.items()):
            column = batch.column(name)
            asked[:, q] = ~column.is_null().to_numpy(zero_copy_only=False)
            present = column.drop_null()
            size = mechanism.report.nbytes
            raw = np.frombuffer(present.buffers()[1] or b"", np.uint8)
            packed = raw[size * present.offset : size * (present.offset + len(present))].reshape(-1, size)
            reports.append(packed)
        answers = asked.sum(axis=1)
        if (answers != survey.answers).any():
            row = int(np.argmax(answers != survey.answers))
            raise ValueError(f"reports must have {survey.answers} answers in every row; row {self.n + row} does not")
        self._add_reports(reports, asked)

    def _add_reports(self, reports: Sequence[NDArray[np.uint8]], asked: NDArray[np.bool_]) -> None:
        """Add the packed reports to each asked question.

        Parameters
        ----------
        reports : sequence of ndarray, shape (answers, size)
            One array per question.
        asked : ndarray of bool, shape (n, questions)
            Which of n people answered which question.
        """
        for counter, packed in zip(self._counters, reports, strict=True):
            counter.update(counter.report.unpack(packed))
        for i, (a, b) in enumerate(self.survey._pairs):
            self._pair_counts[i] += int((asked[:, a] & asked[:, b]).sum())
        self.n += len(asked)

    @property
    def is_answered(self) -> bool:
        """Whether every question has an answer."""
        return all(counter.n for counter in self._counters)

    def merge(self, other: SurveyAggregator) -> Self:
        """Add the answers that another aggregator of the same survey has counted.

        Parameters
        ----------
        other : SurveyAggregator
            It stays unchanged.

        Returns
        -------
        self : SurveyAggregator

        Raises
        ------
        TypeError, ValueError
            If `other` is not an aggregator of a survey, or of another survey; if a batch was counted in both.
        """
        if not isinstance(other, SurveyAggregator):
            raise TypeError(f"other must be a SurveyAggregator, got {type(other).__name__}")
        if other is self:
            raise ValueError("other must be another aggregator: its answers would count twice")
        difference = first_difference(self.survey.schema(), other.survey.schema())
        if difference:
            raise ValueError(f"other must aggregate answers to the same survey: {difference}")
        common = self._batches & other._batches
        if common:
            raise ValueError(f"other must hold no batch that was already counted, got {len(common)} of them")
        self._add(other)
        self._batches |= other._batches
        return self

    def _add(self, other: SurveyAggregator) -> None:
        if self.n + other.n >= MAX_REPORTS:
            raise ValueError(f"an aggregator must hold fewer than 2^62 reports, got {self.n + other.n}")
        for counter, added in zip(self._counters, other._counters, strict=True):
            counter.merge(added)
        self._pair_counts += other._pair_counts
        self.n += other.n

    def _add_states(
        self, states: Sequence[AnyArray], counts: NDArray[np.int64], pair_counts: NDArray[np.int64]
    ) -> None:
        """Add what the kernel has counted. The caller adds the number of people."""
        for counter, state, count in zip(self._counters, states, counts.tolist(), strict=True):
            counter._add([state], count)
        self._pair_counts += pair_counts

    # Results ----------------------------------------------------------------------------------------------------------

    def estimate(self, pooled: bool = False) -> SurveyResult:
        """Return the answers to all questions from all people so far.

        Parameters
        ----------
        pooled : bool, default False
            Whether a question that is asked alone and in tables with others is estimated from all of these answers, by
            generalized least squares.

        Returns
        -------
        result : SurveyResult

        Raises
        ------
        ValueError
            If a question has no answers yet.
        """
        return self.survey._result(self._counters, self._pair_counts, self.n, pooled)

    # Bytes ------------------------------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return the schema of the survey and the counts as bytes, with a checksum. Equal aggregators give equal bytes.

        Returns
        -------
        data : bytes
            `Aggregator.from_bytes` opens it.
        """
        header = {
            "n": self.n,
            "schema": self.survey.schema(),
            "batches": sorted(self._batches),
            "counts": [counter.n for counter in self._counters],
            "pairs": self._pair_counts.tolist(),
        }
        states = (counter._state for counter in self._counters)
        payload = b"".join(state.astype(state.dtype.newbyteorder("<"), copy=False).tobytes() for state in states)
        return seal(MAGIC, header, payload)

    @classmethod
    def from_bytes(cls, data: bytes) -> SurveyAggregator:
        """Return the aggregator that `to_bytes` saved.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        aggregator : SurveyAggregator

        Raises
        ------
        TypeError, ValueError
            If `data` is not bytes; if it is damaged, of another object, or of another version; if no answers can have this
            state.
        """
        header, payload = unseal(MAGIC, "an aggregator of a survey", data)
        try:
            survey: Survey = described(header["schema"]["asks"], "survey")
            difference = first_difference(survey.schema(), header["schema"])
        except (LookupError, RecursionError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"data must describe a survey of this version: {error}") from error
        if difference:
            raise ValueError(f"data must be of this version of the survey: {difference}")
        found = cls(survey)
        try:
            found.n = read_integer(header["n"])
            counts = [read_integer(count) for count in header["counts"]]
            pairs = [read_integer(count) for count in header["pairs"]]
            batches = header["batches"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                "data must be the bytes of a survey's aggregator: the header is not that of one"
            ) from error
        try:
            found._batches = read_batches(batches)
        except ValueError as error:
            raise ValueError(f"data must be the bytes of a survey's aggregator: {error}") from error
        layouts = [counter.report.state_layout for counter in found._counters]
        sizes = [math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in layouts]
        if len(payload) != sum(sizes) or len(counts) != len(sizes) or len(pairs) != len(found._pair_counts):
            raise ValueError(f"data must hold {sum(sizes)} bytes of states, got {len(payload)}")
        at, possible = 0, 0 <= found.n < MAX_REPORTS and sum(counts) == found.n * survey.answers
        for counter, count, size in zip(found._counters, counts, sizes, strict=True):
            state = counter._state
            state[...] = np.frombuffer(payload[at : at + size], state.dtype.newbyteorder("<")).reshape(state.shape)
            counter.n, at = count, at + size
            possible &= 0 <= count <= found.n and counter._is_possible()
        possible &= all(
            0 <= count <= min(counts[a], counts[b]) for count, (a, b) in zip(pairs, survey._pairs, strict=True)
        )
        if not possible:
            raise ValueError(f"data must hold a state that n = {found.n} people can have")
        found._pair_counts[:] = pairs
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SurveyAggregator):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return f"<SurveyAggregator of {', '.join(self.survey.mechanisms)}: n = {self.n}>"


# Reading --------------------------------------------------------------------------------------------------------------


def _check_schema(survey: Survey, schema: Any) -> None:
    """Raise if a table is not one of reports of a survey."""
    pa = optional("pyarrow", "files")
    check_table_schema(survey, "survey", schema)
    expected = {name: mechanism.report.nbytes for name, mechanism in survey.mechanisms.items()} | {LABEL: 8}
    for name, size in expected.items():
        if schema.names.count(name) != 1:
            raise ValueError(f"reports must be a table with one column {name!r}, got {schema.names}")
        if schema.field(name).type != pa.binary(size):
            raise TypeError(
                f"reports must have a column {name!r} of fixed-size binary with {size} bytes, got {schema.field(name).type}"
            )
