"""Base class of what reports answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._described import Described, made_again
from .._extras import optional
from .._schema import canonical_json, digest
from .._typing import AnyArray
from ..privacy import Guarantee
from ..results import AnyDebiasing, Estimate
from ._base import Aggregator, Format
from ._labels import COLUMN, LABEL, MESSAGE_HEAD, MESSAGE_VERSION, SCHEMA_KEY, is_binary, read_messages, read_table

Result = TypeVar("Result", bound=Estimate[Any], covariant=True)


class Question(Described, ABC, Generic[Result]):
    """Base class of what one report of a person can answer. Subclasses are frozen dataclasses.

    A subclass gives four things: the domain of a record, the kernel that makes its report, the format of reports with their
    debiasing, and `conclude`. Counting, merging, saving and estimating are written once over these.

    Attributes
    ----------
    report : Format
        Format of reports.
    debiasing : Debiasing, MatrixDebiasing, NumberDebiasing, SupportDebiasing or None
        Map from reports to unbiased numbers; None for formats whose reports are unbiased numbers.
    value_range : tuple of float
        Interval that holds each coordinate of the expected decoded report.
    guarantee : privacy.Guarantee
        Privacy guarantee of each person.
    """

    report: Format

    @property
    @abstractmethod
    def debiasing(self) -> AnyDebiasing | None:
        """Map from reports to unbiased numbers; None for formats whose reports are unbiased numbers."""

    @property
    @abstractmethod
    def value_range(self) -> tuple[float, float]:
        """Interval that holds each coordinate of the expected decoded report."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of each person."""

    @abstractmethod
    def conclude(self, counted: Aggregator) -> Result:
        """Return the estimate from counted reports.

        This is the only place where counts become the result of a question, so that counts that were merged, saved or made by
        an engine give the same result as `run`. Users call ``counted.estimate()``.

        Parameters
        ----------
        counted : Aggregator
            Aggregator of this question with at least one report.

        Returns
        -------
        estimate : Estimate
        """

    def aggregator(self) -> Aggregator:
        """Return an empty aggregator for reports: the state of the server.

        Returns
        -------
        aggregator : Aggregator
            It can be merged with others, and saved with `to_bytes`.
        """
        return self.report.aggregator(self)

    def estimate(self, reports: Any) -> Result:
        """Return the estimate from reports, or from an aggregator of them: the server's part.

        Parameters
        ----------
        reports : array_like, list of messages, Arrow table, or Aggregator
            Reports as `privatize` returns them or as `Aggregator.update` takes them, or an aggregator of an equal question,
            which stays unchanged.

        Returns
        -------
        estimate : Estimate

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this question, or there are none.
        """
        aggregator = self.aggregator()
        if isinstance(reports, Aggregator):
            aggregator.merge(reports)
        else:
            aggregator.update(reports)
        result: Result = aggregator.estimate()
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return made_again, (type(self), self._parameters())

    @cached_property
    def _head(self) -> bytes:
        """Start of every message: version, fingerprint, and the number 0 of the only question."""
        return MESSAGE_HEAD.pack(MESSAGE_VERSION, digest(self.schema())[:8], 0)

    def message(self, report: ArrayLike) -> bytes:
        """Return one report as a message that says which question it answers.

        Parameters
        ----------
        report : array_like
            One report, as `privatize` returns it for a single record.

        Returns
        -------
        message : bytes
            One byte with the version 1, the fingerprint (8 bytes), the number 0 of the question (2 bytes), and the report,
            little-endian. `update` of an aggregator takes a list of them.

        Raises
        ------
        TypeError, ValueError
            If `report` is not one report of this question.
        """
        accepted = self.report.validate(report)
        if len(accepted) != 1:
            raise ValueError(f"report must be one report, got {len(accepted)}")
        return self._head + self.report.pack(accepted).tobytes()

    def to_arrow(self, reports: ArrayLike) -> Any:
        """Return reports as an Arrow table that explains itself; `pyarrow.parquet.write_table` stores it.

        Parameters
        ----------
        reports : array_like
            Reports of `privatize`.

        Returns
        -------
        table : pyarrow.Table
            Two columns of fixed-size binary: "report", and "question" with the fingerprint, so that tables of different
            questions cannot be joined unnoticed. The metadata has the JSON of `schema` under "ldpfast".

        Raises
        ------
        TypeError, ValueError
            If `reports` are not reports of this question.
        ImportError
            If pyarrow is not installed.
        """
        pa = optional("pyarrow", "files")
        packed = self.report.pack(self.report.validate(reports))
        kind = pa.binary(packed.shape[1])
        column = pa.FixedSizeBinaryArray.from_buffers(kind, len(packed), [None, pa.py_buffer(packed)])
        label = pa.repeat(pa.scalar(self._head[1:9], pa.binary(8)), len(packed))
        metadata = {SCHEMA_KEY: canonical_json(self.schema())}
        schema = pa.schema([pa.field(COLUMN, kind), pa.field(LABEL, pa.binary(8))], metadata=metadata)
        return pa.Table.from_arrays([column, label], schema=schema)

    def from_arrow(self, table: Any) -> AnyArray:
        """Return the reports of a table that `to_arrow` made, after a check that they answer this question.

        Parameters
        ----------
        table : pyarrow.Table, or an object that exports an Arrow stream
            Rows with null are skipped: people who were not asked.

        Returns
        -------
        reports : ndarray

        Raises
        ------
        TypeError, ValueError
            If the table has no schema or that of another question, or no column "report" of reports.
        """
        return read_table(self, table)

    def read(self, reports: Any) -> ArrayLike:
        """Return the reports of messages or of a table after a check of their labels, and anything else unchanged."""
        if isinstance(reports, bytes | bytearray):
            return read_messages(self, [reports])
        if isinstance(reports, list | tuple) and not reports:
            return np.empty((0, *self.report.shape), self.report.dtype(np.dtype(np.float64)))
        if isinstance(reports, list | tuple) and isinstance(reports[0], bytes | bytearray | memoryview):
            return read_messages(self, reports)
        if is_binary(reports):
            if reports.null_count:
                raise ValueError(f"reports must be messages without null, got {reports.null_count} nulls")
            return self.read(reports.to_pylist())
        if hasattr(reports, "__arrow_c_stream__") and hasattr(reports, "schema"):
            return read_table(self, reports)
        return reports  # type: ignore[no-any-return]
