"""What the problems share whose people answer once, and all the same question.

A problem is public: client and server construct it from the same arguments. The client turns its own record into one of the
mechanism's and privatizes that; the server counts reports with the mechanism's own aggregator, which merges and travels as
bytes like every other, and makes the estimate of it.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._random import open_stream
from ..aggregation import Aggregator
from ..mechanisms import Mechanism
from ..mechanisms._domains import Domain
from ..results import Estimate, SmallSampleWarning

if TYPE_CHECKING:
    from .._random import RNGLike

AnyArray = NDArray[Any]
Result = TypeVar("Result", bound=Estimate, covariant=True)

PIECE_BYTES = 1 << 20  # of the mechanism's records, made and privatized at a time
FEW_REPORTS = 100  # below, an interval by the normal law is not to be trusted


class Problem(ABC, Generic[Result]):
    """A question that everybody answers once.

    Attributes
    ----------
    mechanism : Mechanism
        What privatizes a record once it is encoded: one report per person.
    """

    mechanism: Mechanism
    domain: Domain  # of the records that people have

    def _set(self, **values: Any) -> None:
        """Store attributes of a frozen instance, at construction."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        names = [f.name for f in fields(cast(Any, self)) if f.init]
        return type(self), tuple(getattr(self, name) for name in names)

    def _encode(self, records: AnyArray) -> AnyArray:
        """Accepted records as the mechanism takes them: each row from its own record alone."""
        return records

    @abstractmethod
    def _conclude(self, raw: Estimate) -> Result:
        """The answer to the question, from the estimate of the mechanism's own aggregator."""

    def privatize(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> AnyArray:
        """The client's part: records to reports.

        Parameters
        ----------
        x : array_like
            One record per person, or a single record (one dimension less).
        rng : None, int, SeedSequence, Generator or BitGenerator
            ``None`` draws a fresh key from the operating system. Anything else makes the reports reproducible, hence not
            private: for simulation and tests only.
        clip : bool, default False
            Project records that are out of range, and map NaN to the centre, instead of refusing them: what a client in
            the field uses.

        Returns
        -------
        reports : ndarray
            As the mechanism makes them; entry i depends on record i and on nothing else.

        Raises
        ------
        TypeError, ValueError
            If `x` has a wrong dtype or shape; if a record is out of range and `clip` is false. No coin is tossed then.

        Privacy
        -------
        Each report is epsilon-LDP with ``mechanism.epsilon_realized``: that of the mechanism, whatever is done to a record
        before.
        """
        records, single = self._records(x, clip)
        domain, n = self.domain, len(records)
        if not clip and domain.offender(domain.convert(records)) >= 0:
            raise domain.refuse(records)
        stream = open_stream(rng)
        parts = [self._report(records[a:b], stream) for a, b in self._pieces(n)]
        reports = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return reports[0] if single else reports

    def _records(self, x: ArrayLike, clip: bool) -> tuple[AnyArray, bool]:
        """One axis in front; whether it was a single record."""
        if _check.flag("clip", clip) and not self.domain.clips:
            raise ValueError("clip must be False for categories: map what is out of range to a category of your own")
        return self.domain.records(x)

    def _report(self, records: AnyArray, stream: Any) -> AnyArray:
        mechanism = self.mechanism
        encoded = self._encode(self.domain.convert(records))
        return mechanism.privatize(encoded, rng=stream, clip=mechanism.domain.clips)

    def _pieces(self, n: int) -> Iterator[tuple[int, int]]:
        """Slices of whole blocks of the mechanism's kernel: the same reports as in one piece."""
        width = self.mechanism.domain.width or 1
        rows = self.mechanism._kernel.rows
        step = rows * max(1, PIECE_BYTES // (8 * width * rows))
        return ((start, min(start + step, n)) for start in range(0, max(n, 1), step))

    def aggregator(self) -> Aggregator:
        """An empty aggregator for reports: the server's state, mergeable and with `to_bytes`."""
        return self.mechanism.aggregator()

    def estimate(self, reports: ArrayLike | Aggregator) -> Result:
        """The server's part: reports, or an aggregator of them, to the answer.

        Parameters
        ----------
        reports : array_like or Aggregator
            As `privatize` returns them, or an aggregator of this mechanism.

        Returns
        -------
        estimate : Estimate

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this mechanism, or there are none.
        """
        aggregator = self.aggregator()
        if isinstance(reports, Aggregator):
            aggregator.merge(reports)
        else:
            aggregator.update(reports)
        return self._conclude(aggregator.estimate())

    def run(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> Result:
        """Both parts in one process, piece by piece: a simulation, or a trusted device.

        Parameters
        ----------
        x, rng, clip
            As for `privatize`; memory maps are read once.

        Returns
        -------
        estimate : Estimate
            Equal, bit for bit, to ``estimate(privatize(x))`` under the same key.

        Raises
        ------
        TypeError, ValueError
            As for `privatize`; if `x` is empty. Nothing is returned then.

        Notes
        -----
        Memory does not depend on the number of records.
        """
        records, _ = self._records(x, clip)
        domain, aggregator, stream = self.domain, self.aggregator(), open_stream(rng)
        for start, stop in self._pieces(len(records)):
            if not clip and domain.offender(domain.convert(records[start:stop])) >= 0:
                raise domain.refuse(records)
            aggregator.update(self._report(records[start:stop], stream))
        return self._conclude(aggregator.estimate())


def warn_few(n: int, least: int, what: str) -> None:
    """Warn that there are fewer than `least` reports; `what` is said not to be trusted."""
    if n < least:
        warnings.warn(
            f"n = {n} is too small for {what} to be trusted: at least {least}", SmallSampleWarning, stacklevel=4
        )
