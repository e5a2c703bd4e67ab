"""Reports of one code per person."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import ranges, tally
from .._typing import AnyArray, Floats
from ..results import (
    AnyDebiasing,
    Binomial,
    BoundedSum,
    Debiasing,
    Estimate,
    IntervalRule,
    MatrixDebiasing,
    NumberDebiasing,
    SupportDebiasing,
)
from ._base import Format
from ._counts import CountAggregator

COVARIANCE_LIMIT = 256  # largest number of coordinates for which the covariance matrix is computed


class CodeCounts(CountAggregator):
    """Histogram of codes. For flags (one bit per report), the statistic is the number of ones.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RandomizedResponse(4, 2.0)
    >>> counts = mechanism.aggregator().update(mechanism.privatize([0, 1, 1, 3], rng=1))
    >>> type(counts).__name__, int(counts.counts.sum())
    ('CodeCounts', 4)
    """

    report: Codes

    def _is_possible(self) -> bool:
        impossible = self._state[list(self.report.impossible)]
        return (
            super()._is_possible() and sum(self._state.tolist()) == self.n and not impossible.any()
        )  # without overflow

    def _hits(self) -> NDArray[np.int64]:
        if isinstance(self.debiasing, SupportDebiasing):
            return self.debiasing.hits(self._state)
        return self._state if self.report.onehot else self._state[1]

    def _covariance(self, n: int) -> Floats | None:
        share, debiasing, line = self._state / n, self.debiasing, self._line
        if isinstance(debiasing, SupportDebiasing):
            codes = np.flatnonzero(self._state)
            rows = debiasing.supported(codes[:0]).shape[1]
            if rows > COVARIANCE_LIMIT:
                return None
            supported = debiasing.supported(codes).astype(np.float64)
            both, one = (supported.T * share[codes]) @ supported, share[codes] @ supported
            return (line.one - line.zero) ** 2 * (both - np.outer(one, one)) / n
        if len(share) > COVARIANCE_LIMIT:
            return None
        return (line.one - line.zero) ** 2 * (np.diag(share) - np.outer(share, share)) / n

    def _estimate_number(self, values: Floats) -> Estimate[float]:
        """Return the mean of the decoded codes. One report more, half of each of the extreme values, widens the variance."""
        n = self.n
        mean = float(self._state @ values) / n
        extremes = np.array([values.min(), values.max()])
        spread = float(self._state @ (values - mean) ** 2 + ((extremes - mean) ** 2).mean())
        rule = BoundedSum.of_mean(mean, values.min(), values.max(), n)
        return Estimate(mean, math.sqrt(spread / (n + 1) / n), n, self.guarantee, None, rule, _span=self.span)

    def _rule_of_matrix(self, matrix: Floats, value: Floats) -> IntervalRule:
        """Return the rule for the columns of a matrix of decoded codes: binomial for two codes."""
        if len(matrix) > 2:
            return BoundedSum.of_mean(value, matrix.min(axis=0), matrix.max(axis=0), self.n)
        high = matrix.argmax(axis=0)  # the code whose count raises the number
        return Binomial(self._state[high], self.n, Debiasing(matrix.min(axis=0), matrix.max(axis=0)))

    def _estimate(self) -> Estimate[Any]:
        if isinstance(self.debiasing, NumberDebiasing):
            return self._estimate_number(self.debiasing.values)
        if not isinstance(self.debiasing, MatrixDebiasing):
            return super()._estimate()
        n, k = self.n, len(self._state)
        # Half a report is added for each code, so that the variance is never zero.
        covariance = self.debiasing.covariance((self._state + 0.5) / (n + 0.5 * k)) / n
        stderr = np.sqrt(np.diag(covariance))
        value = self.debiasing(self._state / n)
        shown = covariance if k <= COVARIANCE_LIMIT else None
        rule = self._rule_of_matrix(self.debiasing.matrix, value)
        return Estimate(value, stderr, n, self.guarantee, shown, rule, _span=self.span)


@dataclass(frozen=True)
class Codes(Format):
    """One code in [0, k) per person.

    If `onehot`, a code stands for a vector of k shares. Otherwise it stands for a number; if k is 2, it is a flag. No record
    gives one of the codes `impossible`.

    Examples
    --------
    >>> from ldpfast.reports import Codes
    >>> format = Codes(300)
    >>> format.dtype(None), format.bits
    (dtype('uint16'), 9)
    """

    k: int
    onehot: bool = True
    impossible: tuple[int, ...] = ()
    code: np.dtype[Any] = field(init=False, repr=False, compare=False)
    aggregator = CodeCounts

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", np.min_scalar_type(self.k - 1))

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return self.code

    @property
    def bits(self) -> int:
        return max(1, math.ceil(math.log2(self.k)))

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (self.k,), np.int64

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_codes(reports, state)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        assert debiasing is not None
        if isinstance(debiasing, MatrixDebiasing):
            return np.asarray(debiasing.matrix[reports])
        if isinstance(debiasing, NumberDebiasing):
            return np.asarray(debiasing.values[reports])
        if isinstance(debiasing, SupportDebiasing):
            return np.asarray(debiasing.line(debiasing.supported(reports).astype(np.float64)))
        hits = reports[:, np.newaxis] == np.arange(self.k, dtype=reports.dtype) if self.onehot else reports
        return np.asarray(debiasing(hits.astype(np.float64)))

    def invalidity(self, reports: AnyArray) -> str | None:
        index = ranges.first_invalid_code(reports, False, self.k)
        if index >= 0:
            return f"be codes in [0, {self.k}); index {index} is outside"
        if not self.impossible:
            return None
        bad = np.flatnonzero(np.isin(reports, self.impossible))
        return f"be codes of positive probability; index {int(bad[0])} is not" if len(bad) else None
