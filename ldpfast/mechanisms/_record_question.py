"""Questions that a person answers with one record: what mechanisms and problems have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._person_keys import is_personal
from .._typing import AnyArray
from ..domains import FLOAT64, Domain
from ..reports import Aggregator, Question
from ..reports._question import Result
from ._pipeline import Clipped, Pipeline, warn_clipped

if TYPE_CHECKING:
    from .._typing import RNGLike


class RecordQuestion(Question[Result]):
    """Base class of questions that a person answers with one record: mechanisms and problems.

    Attributes
    ----------
    domain : Domain
        Domain of the records.
    """

    domain: Domain
    _pipeline: Pipeline

    @abstractmethod
    def privatize(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> AnyArray:
        """Turn records into reports."""

    def _kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        """Return the dtype of the input of the kernel for results of ``domain.records``."""
        return self.domain.kernel_dtype(records)

    def _report_dtype(self, records: AnyArray, rng: RNGLike) -> np.dtype[Any]:
        """Return the dtype of the reports of records. With personal keys it does not depend on the dtype of the records."""
        return self.report.dtype(FLOAT64 if is_personal(rng) else self._kernel_dtype(records))

    def collect(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> Aggregator:
        """Privatize records and count the reports block by block, without storing them.

        Parameters
        ----------
        x : array_like
            Records as for `privatize`. A memory map is read once, in pieces.
        rng, clip
            As for `privatize`.

        Returns
        -------
        aggregator : Aggregator
            Equal to ``aggregator().update(privatize(x))`` with the same key. Aggregators of parts of the records can be
            merged, and saved with `to_bytes`.

        Raises
        ------
        TypeError, ValueError
            As for `privatize`.

        Warns
        -----
        ClippedWarning
            With `clip`, if records had NaN, which counts as the center, or were outside; with their shares.

        Privacy
        -------
        The aggregator is a function of the reports alone. That of very few people is hardly less than their reports.

        Notes
        -----
        Memory does not depend on the number of records, except with `PersonKeys`.

        Examples
        --------
        >>> import ldpfast as ldp
        >>> mechanism = ldp.RandomizedResponse(4, 1.0)
        >>> east, west = mechanism.collect([0, 1, 1], rng=1), mechanism.collect([3, 2], rng=2)
        >>> east.merge(west).n
        5
        """
        aggregator, clipped = self._collect(x, rng, clip)
        warn_clipped(aggregator.n, clipped)
        return aggregator

    def run(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> Result:
        """Privatize and estimate block by block, without storing reports: for simulation, or on a trusted device.

        Parameters
        ----------
        x : array_like
            Records as for `privatize`. A memory map is read once, in pieces.
        rng, clip
            As for `privatize`.

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

        Privacy
        -------
        The estimate is a function of the reports alone.

        Notes
        -----
        Memory does not depend on the number of records, except with `PersonKeys`.
        """
        result: Result = self.collect(x, rng=rng, clip=clip).estimate()
        return result

    def _collect(self, x: ArrayLike, rng: RNGLike, clip: bool) -> tuple[Aggregator, Clipped]:
        """Return the result of `collect`, and how many records were clipped."""
        self.domain.check_clip(clip)
        records, _ = self.domain.records(x)
        aggregator = self.aggregator()
        if is_personal(rng):
            aggregator.update(self.privatize(x, rng=rng, clip=clip))
            return aggregator, self._pipeline.clipped(records) if clip else Clipped(0, 0)
        states, clipped = self._pipeline.run(records, rng, aggregator.report.new_state, clip=clip)
        return aggregator._add(states, len(records)), clipped
