"""Problems in which each person answers the same question once.

The parameters of a problem are public: client and server construct it from the same arguments. The client encodes its
record as a record of the mechanism and privatizes that. The server aggregates reports with the aggregator of the
mechanism, which can be merged and saved, and computes the estimate from it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from ..._person_keys import is_personal
from ..._typing import AnyArray
from ..._warnings import warn
from ...domains import Domain
from ...mechanisms import Mechanism
from ...mechanisms._pipeline import Kernel, Pipeline
from ...mechanisms._record_question import RecordQuestion
from ...reports import Aggregator
from ...results import Estimate, SmallSampleWarning

if TYPE_CHECKING:
    from numpy.random import Generator

    from ..._typing import RNGLike
    from ...mechanisms._draws import Counts

Result = TypeVar("Result", bound=Estimate[Any], covariant=True)

FEW_REPORTS = 100  # below this number, normal intervals are not reliable


class Problem(RecordQuestion, Generic[Result]):
    """Base class of problems in which each person answers one question once.

    Attributes
    ----------
    mechanism : Mechanism
        Privatizes an encoded record; one report per person.
    domain : Domain
        Domain of the records.
    """

    kind: ClassVar[str] = "problem"
    mechanism: Mechanism
    domain: Domain
    _pipeline: Pipeline

    def _define(
        self,
        mechanism: Mechanism,
        domain: Domain,
        *,
        truncates: bool = False,
        kernel: Kernel | None = None,
        **values: Any,
    ) -> None:
        """Set the attributes that follow from the arguments; subclasses call it at the end of ``__post_init__``.

        With `truncates`, records outside of the domain of the mechanism are valid, and are clipped to it. `kernel` encodes
        records and makes the reports of the mechanism in one pass; the default is the kernel of the mechanism, after
        `_encode`.
        """
        self._set(**{name: _check.plain(value) for name, value in self._parameters().items()})
        inner = mechanism._pipeline
        width = 1 if kernel else max(inner.width, mechanism.domain.width or 1)
        encode = inner.encode if kernel or type(self)._encode is Problem._encode else self._encoded
        pipeline = Pipeline(domain, kernel or inner.kernel, encode, width, inner.first_block, truncates)
        self._set(mechanism=mechanism, report=mechanism.report, domain=domain, _pipeline=pipeline, **values)

    def _pinned(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism.to_dict(), **self.mechanism._pinned()}

    def _encode(self, records: AnyArray) -> AnyArray:
        """Encode valid records for the mechanism; each row depends on its own record only."""
        return records

    def _encoded(self, records: AnyArray) -> AnyArray:
        """Encode valid records for the kernel of the mechanism."""
        pipeline = self.mechanism._pipeline
        return pipeline.prepared(pipeline.domain.convert(self._encode(records)))

    def report_state(self, records: AnyArray, people: Counts, generator: Generator) -> AnyArray:
        """Return the state of the reports of many people, as `Mechanism.report_state` of the encoded records."""
        inner = self.mechanism
        if self._pipeline.kernel is not inner._pipeline.kernel:
            raise ValueError(
                f"mechanism must encode records before it privatizes them, got {self!r}: it does both at once. Privatize and "
                "count a sample of records instead"
            )
        encoded = inner.domain.convert(self._encode(records))
        if self._pipeline.always_clip:
            encoded = inner._pipeline.kernel.clipped(encoded)
        return inner.report_state(encoded, people, generator)

    @abstractmethod
    def _conclude(self, raw: Estimate[Any]) -> Result:
        """Convert the estimate of the mechanism's aggregator to the estimate of the problem."""

    def privatize(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> AnyArray:
        """Privatize records: the client's part.

        Parameters
        ----------
        x : array_like
            One record per person, or a single record (one dimension less).
        rng : None, PersonKeys, int, SeedSequence, Generator or BitGenerator
            ``None`` draws a fresh key from the operating system. `PersonKeys` give the same report for the same person and
            value. Anything else makes the reports reproducible, hence not private: for simulation and tests only.
        clip : bool, default False
            Project records that are out of range and map NaN to the center, instead of raising ValueError. Recommended
            for deployed clients.

        Returns
        -------
        reports : ndarray
            Reports of the mechanism; entry i depends on record i and on no other record.

        Raises
        ------
        TypeError, ValueError
            If `x` has a wrong dtype or shape; if a record is out of range and `clip` is false. No random number is
            drawn then.

        Privacy
        -------
        Each report is epsilon-LDP with ``mechanism.epsilon_realized``. Encoding a record before the mechanism cannot
        weaken the guarantee.
        """
        self.domain.check_clip(clip)
        records, single = self.domain.records(x)
        report, mechanism = self.mechanism.report, self.mechanism
        dtype = report.dtype(mechanism.domain.kernel_dtype(self._encode(self.domain.convert(records[:0]))))
        reports = np.empty((len(records), *report.shape), dtype)
        if is_personal(rng):
            self._pipeline.privatize_persons(records, rng.of(self, len(records)), reports, clip=clip)
        else:
            self._pipeline.privatize(records, rng, reports, clip=clip, check_first=False)
        return reports[0] if single else reports

    def aggregator(self) -> Aggregator:
        """Return an empty aggregator for reports: the state of the server.

        Aggregators can be merged, and saved with `to_bytes`.

        Returns
        -------
        aggregator : Aggregator
        """
        asks = self.mechanism
        return asks.report.aggregator(self, asks.report, asks.debiasing, asks.value_range, asks.guarantee)

    def estimate(self, reports: ArrayLike | Aggregator) -> Result:
        """Return the estimate from reports, or from an aggregator of them: the server's part.

        Parameters
        ----------
        reports : array_like or Aggregator
            Reports as returned by `privatize`, or an aggregator of an equal problem.

        Returns
        -------
        estimate : Estimate

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this problem, or there are none.
        """
        aggregator = self.aggregator()
        if isinstance(reports, Aggregator):
            aggregator.merge(reports)
        else:
            aggregator.update(reports)
        return self._conclude(aggregator.estimate())

    def run(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> Result:
        """Privatize and estimate in one process, block by block: for simulation, or on a trusted device.

        Parameters
        ----------
        x, rng, clip
            As for `privatize`. A memory map is read once.

        Returns
        -------
        estimate : Estimate
            Equal, bit for bit, to ``estimate(privatize(x))`` with the same key.

        Raises
        ------
        TypeError, ValueError
            As for `privatize`; if `x` is empty.

        Warns
        -----
        ClippedWarning
            With `clip`, if records had NaN, which counts as the center, or were outside; with their shares.

        Notes
        -----
        Memory does not depend on the number of records.
        """
        return self._conclude(self.collect(x, rng=rng, clip=clip).estimate())


def warn_few(n: int, least: int, what: str) -> None:
    """Warn that `what` is not reliable if there are fewer than `least` reports."""
    if n < least:
        warn(f"n = {n} is too small for {what} to be reliable: it needs at least {least}", SmallSampleWarning)
