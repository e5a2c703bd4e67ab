"""The contract of everything that people can be asked, and the questions whose reports are arrays of one format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from .._described import Described, made_again
from .._extras import optional
from .._schema import canonical_json, digest
from .._typing import AnyArray
from ..privacy import Guarantee
from ..results import AnyDebiasing, Occasion
from ._aggregator import Aggregator
from ._collected import Collected, GroupedAggregator
from ._format import Format
from ._grouped_results import GroupedResults
from ._labels import (
    COLUMN,
    LABEL,
    MESSAGE_HEAD,
    MESSAGE_VERSION,
    SCHEMA_KEY,
    binary_values,
    is_binary,
    read_messages,
    read_table,
    valid_messages,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._table import Table
    from .._typing import RNGLike

Result = TypeVar("Result", covariant=True)
StateLayout = tuple[tuple[int, ...], Any]  # shape and dtype of an array of a state


class Question(Described, ABC, Generic[Result]):
    """Base class of what people can be asked: mechanisms, problems, surveys, and rounds. Subclasses are frozen dataclasses.

    A subclass says how records become reports (`privatize`, and `_collect`, which counts them at once), how reports are counted
    (`state_layouts`, `count`, `combine`, `is_possible`), and what follows from the counts (`conclude`). Merging, saving,
    groups of people, engines and estimates are written once over these.

    Attributes
    ----------
    guarantee : privacy.Guarantee
        Privacy guarantee of each person.
    """

    # What a question defines ----------------------------------------------------------------------------------------

    @property
    def occasion(self) -> Occasion | None:
        """When people are asked, in a series of surveys that the same people answer; None where nothing is known."""
        return None

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of each person."""

    @abstractmethod
    def privatize(self, x: Any, *, rng: RNGLike = None, clip: bool = False) -> Any:
        """Turn records into reports."""

    @abstractmethod
    def _collect(self, x: Any, by: Any, rng: RNGLike, clip: bool) -> Collected:
        """Privatize records and count the reports, by the groups of people if `by` is not None."""

    @abstractmethod
    def _messages(self, x: Any, rng: RNGLike, clip: bool) -> Iterator[Any]:
        """Privatize records and yield the messages of people, as Arrow arrays of binary values."""

    @abstractmethod
    def message(self, report: Any) -> bytes:
        """Return one report as a message that says which question it answers."""

    @abstractmethod
    def to_arrow(self, reports: Any) -> Any:
        """Return reports as an Arrow table that says which question they answer."""

    @property
    @abstractmethod
    def state_layouts(self) -> list[StateLayout]:
        """Shapes and dtypes of the arrays that count the reports."""

    @abstractmethod
    def count(self, reports: Any) -> tuple[list[AnyArray], int]:
        """Return the arrays that count reports, after a check that they answer this question, and the number of people."""

    @abstractmethod
    def valid_messages(self, messages: Sequence[bytes]) -> tuple[list[list[bytes]], Counter[str]]:
        """Return the messages that answer this question, in lists for `count`, and the numbers of others by their fault."""

    @abstractmethod
    def combine(self, states: Sequence[AnyArray], others: Sequence[AnyArray]) -> None:
        """Add arrays of counts to others, in place. All of them may have leading axes, for groups of people."""

    @abstractmethod
    def is_possible(self, states: Sequence[AnyArray], n: int) -> bool:
        """Return whether the answers of n people can have these counts."""

    def counts(self, states: Sequence[AnyArray]) -> AnyArray:
        """Return the counts of reports, where there is one array of them."""
        raise AttributeError("counts exist only for questions with one format of reports")

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

    def table_of_groups(
        self, values: Sequence[Any], counted: Aggregator, confidence: float, simultaneous: bool
    ) -> Table | None:
        """Return the numbers of several groups as a table, from counts with one row per group; None if it has no such form."""
        return None

    def _check_groups(self, by: Any) -> None:
        """Warn if the column that divides people into groups, which is not protected, is one that the question asks for."""

    def _require_keys(self, personal: bool) -> None:
        """Raise if people cannot be asked: without personal keys, if coins must belong to persons."""

    @abstractmethod
    def _warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        """Warn if some records of n people were clipped."""

    # What all questions have ----------------------------------------------------------------------------------------

    def aggregator(self) -> Aggregator:
        """Return an empty aggregator for reports: the state of the server.

        Returns
        -------
        aggregator : Aggregator
            It can be merged with others, and saved with `to_bytes`.
        """
        return Aggregator(self)

    def estimate(self, reports: Any, **options: Any) -> Result:
        """Return the estimate from reports, or from an aggregator of them: the server's part.

        Parameters
        ----------
        reports : array_like, list of messages, Arrow table, or Aggregator
            Reports as `privatize` returns them or as `Aggregator.update` takes them, or an aggregator of an equal question,
            which stays unchanged.
        **options
            As for `Aggregator.estimate`.

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
        result: Result = aggregator.estimate(**options)
        return result

    @overload
    def collect(self, x: Any, *, by: None = None, rng: RNGLike = None, clip: bool = False) -> Aggregator: ...

    @overload
    def collect(self, x: Any, *, by: Any, rng: RNGLike = None, clip: bool = False) -> GroupedAggregator: ...

    def collect(self, x: Any, *, by: Any = None, rng: RNGLike = None, clip: bool = False) -> Any:
        """Privatize records and count the reports block by block, without storing them.

        Parameters
        ----------
        x : array_like, or a table
            Records as for `privatize`. A memory map or a stream is read once, in pieces.
        by : array_like of shape (n,), or str or list of str, optional
            Public values that divide people into groups: one per record, or for a survey the name of a column, or the names of
            several, whose groups are tuples of values. They are not protected.
        rng, clip
            As for `privatize`.

        Returns
        -------
        aggregator : Aggregator or GroupedAggregator
            Equal to ``aggregator().update(privatize(x))`` with the same key. Aggregators of parts of the records can be
            merged, and saved with `to_bytes`. With `by` a mapping of aggregators by the values, in the order in which they
            are first seen. The groups do not change the reports.

        Raises
        ------
        TypeError, ValueError
            As for `privatize`; if there are more than 10,000 groups.

        Warns
        -----
        UserWarning
            If a survey asks for the column `by`, which is not protected.
        ClippedWarning
            With `clip`, if records had NaN, which counts as the center, or were outside; with their shares.

        Privacy
        -------
        The aggregator is a function of the reports alone. That of very few people is hardly less than their reports. The
        values `by` are not protected.

        Notes
        -----
        Memory does not depend on the number of records, except for arrays with `PersonKeys` or `by`.

        Examples
        --------
        >>> import ldpfast as ldp
        >>> mechanism = ldp.RandomizedResponse(4, 1.0)
        >>> east, west = mechanism.collect([0, 1, 1], rng=1), mechanism.collect([3, 2], rng=2)
        >>> east.merge(west).n
        5
        >>> from ldpfast.survey import Survey, YesNo
        >>> survey = Survey({"smokes": YesNo()}, epsilon=1.0)
        >>> by_region = survey.collect({"smokes": [True, False, False], "region": ["N", "S", "S"]}, by="region", rng=1)
        >>> {region: aggregator.n for region, aggregator in by_region.items()}
        {'N': 1, 'S': 2}
        """
        self._check_groups(by)
        collected = self._collect(x, by, rng, clip)
        self._warn_clipped(int(collected.n.sum()), collected.clipped)
        return collected.aggregator()

    @overload
    def run(self, x: Any, *, by: None = None, rng: RNGLike = None, clip: bool = False) -> Result: ...

    @overload
    def run(self, x: Any, *, by: Any, rng: RNGLike = None, clip: bool = False) -> GroupedResults: ...

    def run(self, x: Any, *, by: Any = None, rng: RNGLike = None, clip: bool = False) -> Any:
        """Privatize and estimate block by block, without storing reports: for simulation, or on a trusted device.

        Parameters
        ----------
        x, by, rng, clip
            As for `collect`.

        Returns
        -------
        estimate : Estimate or survey.SurveyResult
            Equal, bit for bit, to ``estimate(privatize(x))`` with the same key. With `by` a `GroupedResults`, a mapping of
            results by the values, in ascending order. Simultaneous limits hold for one group.

        Raises
        ------
        TypeError, ValueError
            As for `collect`; without `by`, if there are no people.

        Warns
        -----
        UserWarning, ClippedWarning
            As for `collect`.
        SmallSampleWarning
            With `by`, if groups are left out because nobody is in them.

        Privacy
        -------
        The estimate is a function of the reports alone. The values `by` are not protected.
        """
        return self.collect(x, by=by, rng=rng, clip=clip).estimate()

    def __reduce__(self) -> tuple[Any, ...]:
        return made_again, (type(self), self._parameters())


class ReportQuestion(Question[Result]):
    """Base class of questions whose reports are arrays of one format: mechanisms, problems, and rounds of a repeated question.

    Attributes
    ----------
    report : Format
        Format of reports.
    debiasing : Debiasing, MatrixDebiasing, NumberDebiasing, SupportDebiasing or None
        Map from reports to unbiased numbers; None for formats whose reports are unbiased numbers.
    value_range : tuple of float
        Interval that holds each coordinate of the expected decoded report.
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
    def state_layouts(self) -> list[StateLayout]:
        """Shape and dtype of the one array that counts the reports."""
        return [self.report.state_layout]

    def count(self, reports: Any) -> tuple[list[AnyArray], int]:
        """Return the state of reports, after a check that they answer this question, and their number."""
        arranged = self.report.arrange(self.read(reports))
        return [self.report.count(arranged)], len(arranged)

    def valid_messages(self, messages: Sequence[bytes]) -> tuple[list[list[bytes]], Counter[str]]:
        """Return the messages that answer this question, of one length each, and the numbers of others by their fault."""
        return valid_messages(self, messages)

    def combine(self, states: Sequence[AnyArray], others: Sequence[AnyArray]) -> None:
        """Add one state to another, in place."""
        self.report.combine(states[0], others[0])

    def is_possible(self, states: Sequence[AnyArray], n: int) -> bool:
        """Return whether n reports can have this state."""
        return self.report.is_possible(states[0], n)

    def counts(self, states: Sequence[AnyArray]) -> AnyArray:
        """Return the number of reports with each bit or code, as a copy."""
        return self.report.counts(states[0])

    def count_groups(self, collected: Collected, reports: AnyArray, by: Any) -> None:
        """Add valid reports to the counts of the groups of people, if `by` is a column, or of all people."""
        members, _ = collected.members(by)
        if members is not None and len(members) != len(reports):
            raise ValueError(f"by must have one value per record, got {len(members)} for {len(reports)} records")
        if members is None:
            self.combine([collected.states[0][0]], [self.report.count(reports)])
            collected.n += len(reports)
            return
        collected.n += self.report.tally_groups(reports, members, collected.states[0])

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
            return self.read(binary_values(reports))
        if hasattr(reports, "__arrow_c_stream__") and hasattr(reports, "schema"):
            return read_table(self, reports)
        return reports  # type: ignore[no-any-return]
