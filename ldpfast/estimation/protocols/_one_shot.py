"""Problems in which each person answers the same question once.

The parameters of a problem are public: client and server construct it from the same arguments. The client encodes its
record as a record of the mechanism and privatizes that. The server aggregates reports with the aggregator of the
mechanism, which can be merged and saved. `Problem.conclude` turns the counts into the estimate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ... import _check, _schema
from ..._typing import AnyArray
from ..._warnings import warn
from ...domains import Domain
from ...mechanisms import Mechanism
from ...mechanisms._pipeline import Clipped, Kernel, Pipeline, warn_clipped
from ...mechanisms._record_question import RecordQuestion
from ...privacy import Guarantee
from ...reports import Aggregator
from ...reports._question import Result
from ...results import AnyDebiasing, Estimate, SmallSampleWarning

if TYPE_CHECKING:
    from numpy.random import Generator

    from ...mechanisms._draws import Counts

CLIPPED_ROWS = 1 << 17  # records that are counted at a time
FEW_REPORTS = 100  # below this number, normal intervals are not reliable


class Problem(RecordQuestion[Result]):
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
        translates = kernel is None and type(self)._encode is not Problem._encode
        pipeline = Pipeline(
            domain,
            kernel or inner.kernel,
            inner.encode,
            1 if kernel else max(inner.width, mechanism.domain.width or 1),
            inner.first_block,
            self._encode if translates else None,
            None if kernel else mechanism.domain,
            truncates,
        )
        self._set(mechanism=mechanism, report=mechanism.report, domain=domain, _pipeline=pipeline, **values)

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        unpacked = {
            name: Mechanism.from_dict(value)
            if name == "mechanism" and isinstance(value, dict)
            else _schema.unpack(value)
            for name, value in arguments.items()
        }
        return cls(**unpacked)

    def _pinned(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism.to_dict(), **self.mechanism._pinned()}

    def _encode(self, records: AnyArray) -> AnyArray:
        """Encode valid records for the mechanism; each row depends on its own record only."""
        return records

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
            encoded = inner.domain.clip(encoded)
        return inner.report_state(encoded, people, generator)

    def _kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        return self.mechanism.domain.kernel_dtype(self._encode(self.domain.convert(records[:0])))

    @property
    def debiasing(self) -> AnyDebiasing | None:
        """Map from reports to unbiased numbers: that of the mechanism."""
        return self.mechanism.debiasing

    @property
    def value_range(self) -> tuple[float, float]:
        """Interval that holds each coordinate of the expected decoded report, before `conclude`."""
        return self.mechanism.value_range

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of each person: local differential privacy of one report, from the integers of the coins."""
        return self.mechanism.guarantee

    def _convert(self, mean: Estimate[Any]) -> Result:
        """Return the estimate from the mean of the decoded reports of the mechanism, for problems that keep `conclude`."""
        raise NotImplementedError(f"{type(self).__name__} must define _convert or conclude")

    def conclude(self, counted: Aggregator) -> Result:
        """Return the estimate of the problem from counted reports. Users call ``counted.estimate()``.

        Parameters
        ----------
        counted : Aggregator
            Aggregator of this problem with at least one report.

        Returns
        -------
        estimate : Estimate
        """
        return self._convert(counted.decoded_mean())


def warn_few(n: int, least: int, what: str) -> None:
    """Warn that `what` is not reliable if there are fewer than `least` reports."""
    if n < least:
        warn(f"n = {n} is too small for {what} to be reliable: it needs at least {least}", SmallSampleWarning)


def warn_clipped_records(domain: Domain, records: AnyArray) -> None:
    """Warn if some results of ``domain.records`` were clipped, with their share."""
    clipped = Clipped(0, 0)
    for start in range(0, len(records), CLIPPED_ROWS):
        clipped = clipped.plus(domain.clipped(domain.convert(records[start : start + CLIPPED_ROWS])))
    warn_clipped(len(records), clipped)
