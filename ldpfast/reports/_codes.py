"""Reports of one code per person."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import ranges, tally
from .._typing import AnyArray, Floats
from ..results import (
    AnyDebiasing,
    Binomial,
    BoundedSum,
    CodeCounts,
    Debiasing,
    Estimate,
    IntervalRule,
    MatrixDebiasing,
    NumberDebiasing,
    SupportDebiasing,
    line_of,
)
from ._format import CountFormat, Decoding

COVARIANCE_LIMIT = 256  # largest number of coordinates for which the covariance matrix is computed


@dataclass(frozen=True)
class Codes(CountFormat):
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
    is_code: ClassVar[bool] = True

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

    def is_possible(self, state: AnyArray, n: int) -> bool:
        total = sum(state.tolist()) == n  # without overflow
        return super().is_possible(state, n) and total and not state[list(self.impossible)].any()

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_codes(reports, state)

    def hits(self, state: AnyArray, debiasing: AnyDebiasing | None) -> NDArray[np.int64]:
        if isinstance(debiasing, SupportDebiasing):
            return debiasing.hits(state)
        return state if self.onehot else state[..., 1]

    def covariance(self, state: AnyArray, n: int, debiasing: AnyDebiasing | None) -> Floats | None:
        share, line = state / n, line_of(debiasing)
        assert line is not None
        if isinstance(debiasing, SupportDebiasing):
            if debiasing.k > COVARIANCE_LIMIT:
                return None
            codes = np.flatnonzero(state)
            supported = debiasing.supported(codes).astype(np.float64)
            both, one = (supported.T * share[codes]) @ supported, share[codes] @ supported
            return (line.one - line.zero) ** 2 * (both - np.outer(one, one)) / n
        if len(share) > COVARIANCE_LIMIT:
            return None
        return (line.one - line.zero) ** 2 * (np.diag(share) - np.outer(share, share)) / n

    def mean(self, decoding: Decoding, state: AnyArray, n: Any) -> Estimate[Any]:
        debiasing, span = decoding.debiasing, decoding.value_range
        if isinstance(debiasing, NumberDebiasing):
            value, stderr, rule = _mean_number(state, n, debiasing.values)
            return Estimate(value, stderr, n, decoding.guarantee, None, rule, _span=span)
        if not isinstance(debiasing, MatrixDebiasing):
            return super().mean(decoding, state, n)
        k = len(state)
        # Half a report is added for each code, so that the variance is never zero.
        covariance = debiasing.covariance((state + 0.5) / (n + 0.5 * k)) / n
        stderrs = np.sqrt(np.diag(covariance))
        values = debiasing(state / n)
        shown = covariance if k <= COVARIANCE_LIMIT else None
        limits = _rule_of_matrix(state, n, debiasing.matrix, values)
        return Estimate(values, stderrs, n, decoding.guarantee, shown, limits, _span=span)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        assert debiasing is not None
        if isinstance(debiasing, MatrixDebiasing):
            return np.asarray(debiasing.matrix[reports])
        if isinstance(debiasing, NumberDebiasing):
            return np.asarray(debiasing.values[reports])
        if isinstance(debiasing, SupportDebiasing):
            return np.asarray(debiasing.line(debiasing.supported(reports).astype(np.float64)))
        assert isinstance(debiasing, Debiasing)
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


def _mean_number(state: AnyArray, n: Any, values: Floats) -> tuple[Any, Any, IntervalRule]:
    """Return the mean of decoded codes, its standard error and its limits.

    One report more, half of each of the extreme values, widens the variance.
    """
    mean = (state @ values) / n
    centered = values - mean[..., np.newaxis]
    extremes = centered[..., [int(values.argmin()), int(values.argmax())]]
    spread = (state * centered**2).sum(axis=-1) + (extremes**2).mean(axis=-1)
    stderr = np.sqrt(spread / (n + 1) / n)
    if mean.ndim:
        return mean, stderr, BoundedSum.of_mean(mean, values.min(), values.max(), n)
    return float(mean), float(stderr), BoundedSum.of_codes(mean, n, CodeCounts(state, values, np.ones(1)))


def _rule_of_matrix(state: AnyArray, n: int, matrix: Floats, value: Floats) -> IntervalRule:
    """Return the rule for the columns of a matrix of decoded codes: binomial for two codes."""
    if len(matrix) > 2:
        return BoundedSum.of_codes(value, n, CodeCounts(state, matrix.T, np.ones(1)))
    high = matrix.argmax(axis=0)  # the code whose count raises the number
    return Binomial(state[high], n, Debiasing(matrix.min(axis=0), matrix.max(axis=0)))
