"""What people can be asked, as users see it: parameters, and a few verbs. Its recipe does the work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from numpy.typing import ArrayLike

from .._described import Described, made_again
from .._typing import AnyArray
from ..privacy import Guarantee
from ._aggregator import Aggregator
from ._counts import Counted, Counts
from ._grouped import GroupedAggregator, aggregator_of, results_of
from ._grouped_results import GroupedResults

if TYPE_CHECKING:
    from .._random import RNGLike
    from .._table import Table

Result = TypeVar("Result", covariant=True)


class Question(Described, ABC, Generic[Result]):
    """Base class of what people can be asked: mechanisms, problems and surveys. Subclasses are frozen dataclasses.

    A question is its parameters. It holds a recipe, which turns records into reports and reports into counts, and concludes its
    result from the counts. Nothing else depends on what is asked.

    Attributes
    ----------
    guarantee : privacy.Guarantee
        Privacy guarantee of each person.
    """

    _recipe: Any

    @abstractmethod
    def _conclude(self, counted: Counted) -> Result:
        """Return the result from the counts of at least one report: the only place where counts become a result."""

    def _table_of_groups(
        self, values: Sequence[Any], counted: Counted, confidence: float, simultaneous: bool
    ) -> Table | None:
        """Return the numbers of several groups as a table, from counts with one row per group; None if it has no such form."""
        return None

    def _result(self, counts: Counts, **options: Any) -> Any:
        """Return the result of the counts of all people, which knows whose reports it is made of."""
        found: Any = self._conclude(counts.group(), **options)
        if not hasattr(found, "_of_people"):
            return found
        occasion = self._recipe.occasion
        return found._of_people(counts.people if occasion is None else counts.people.on(occasion))

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of each person, from the integers of the coins."""
        guarantee: Guarantee = self._recipe.guarantee
        return guarantee

    # People -----------------------------------------------------------------------------------------------------------

    def privatize(
        self, x: ArrayLike, *, rng: RNGLike = None, out: AnyArray | None = None, clip: bool = False
    ) -> AnyArray:
        """Turn records into reports.

        Parameters
        ----------
        x : array_like
            One record per person, or a single record (one dimension less). Each class documents dtype and shape.
        rng : None, PersonKeys, int, SeedSequence, Generator or BitGenerator
            ``None`` draws a fresh key from the operating system. `PersonKeys` give the same report for the same person and
            value, in double precision. Anything else makes the reports reproducible, hence not private: for simulation and
            tests only. The same key and records give the same reports for any number of threads and any instruction set,
            but ``privatize(x[:m])`` can differ from ``privatize(x)[:m]``.
        out : ndarray, or array of another library on the CPU, optional
            Array for the reports, of their shape and dtype.
        clip : bool, default False
            Project records outside the domain on it and map NaN to its center, instead of raising an error. Use it in
            deployed clients: an error that depends on the record would itself be a report.

        Returns
        -------
        reports : ndarray
            `out`, or a new array. Entry i depends on record i and on no other record.

        Raises
        ------
        TypeError, ValueError
            If `x` or `out` has a wrong dtype or shape; if a record is outside the domain (NaN always is) and `clip` is
            false. `out` is not changed then.

        Warns
        -----
        ClippedWarning
            If vectors have NaN, and `clip` is true, with their number: a gradient with NaN is a fault of the model.

        Privacy
        -------
        Each report has the `guarantee`, exactly; see the class and docs/proofs.
        """
        recipe = self._recipe
        if rng is None and out is None and (clip is False or (clip is True and recipe.clips)):
            report: AnyArray | None = recipe.single(x, clip)
            if report is not None:
                return report
        made: AnyArray = recipe.privatize(x, rng, out, clip)
        return made

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
            are first seen. The groups do not change the reports. Values keep their types, also in a saved state; times are
            `datetime.datetime`, in UTC if they have a time zone.

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
        return aggregator_of(self._collected(x, by, rng, clip))

    def _collected(self, x: Any, by: Any, rng: RNGLike, clip: bool) -> Counts:
        if by is not None:
            self._recipe.check_groups(by)
        counts: Counts = self._recipe.collect(partial(Counts, self), x, by, rng, clip)
        if counts.clipped:
            self._recipe.warn_clipped(counts.total, counts.clipped)
        return counts

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
        counts = self._collected(x, by, rng, clip)
        return counts.conclude() if counts.groups is None else results_of(counts, counts.groups.by, {})

    # The server -------------------------------------------------------------------------------------------------------

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

    def plausibility(self, reports: Any) -> Any:
        """Test whether reports can come from people who ran the mechanism: a search for forged and repeated reports.

        Parameters
        ----------
        reports : array_like, list of messages, or Arrow table
            At least one report, as for `estimate`. Reports that no client can send raise an error as there.

        Returns
        -------
        plausibility : results.Plausibility
            With an exact p-value that holds for every population. For a survey a dict of them by question; each one is valid
            alone, and the smallest of q p-values is to be compared with a level over q.

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this question, or there are none; if they are an aggregator, which has no single reports.

        Notes
        -----
        Tests that do not depend on what people answer: the number of ones of unary encoding, the hash function, level,
        coordinate or questions that a report is about; the number of hits of every share, which must be possible; and equal
        reports, if a report has much entropy. They find constant reports, random bits, another epsilon, and messages that were
        copied. **They cannot find a person who runs the mechanism on a false record**, nor few reports that imitate one:
        `Estimate.largest_shift` and ``interval(liars=)`` bound what these can do. Mechanisms with few different reports, such
        as `Warner`, have hardly any test. Permanent answers of the same people in several rounds are equal by design: test one
        round at a time.

        O(n log n) time for n reports.

        Examples
        --------
        >>> import numpy as np, ldpfast as ldp
        >>> mechanism = ldp.SubsetSelection(100, epsilon=1.0)
        >>> reports = mechanism.privatize(np.arange(1000) % 100, rng=1)
        >>> mechanism.plausibility(reports).pvalue
        1.0
        >>> reports[:20] = reports[20]  # one message under 21 ids
        >>> found = mechanism.plausibility(reports)
        >>> found.repeated, bool(found.tests["repeats"].pvalue < 1e-100)
        (20, True)
        """
        return self._recipe.plausibility(reports)

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
        message: bytes = self._recipe.message(report)
        return message

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
        return self._recipe.to_arrow(reports)

    def from_arrow(self, table: Any) -> Any:
        """Return the reports of a table that `to_arrow` made, after a check that they answer this question.

        Parameters
        ----------
        table : pyarrow.Table, or an object that exports an Arrow stream
            Rows with null are skipped: people who were not asked.

        Returns
        -------
        reports : ndarray
            For a survey, whose reports are a table, the table.

        Raises
        ------
        TypeError, ValueError
            If the table has no schema or that of another question, or no column "report" of reports.
        """
        return self._recipe.from_arrow(table)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_again, (type(self), self._parameters(), self._chosen)
