"""Aggregators of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import AnyArray, Floats
from ..results import Binomial, Debiasing, Estimate, line_of
from ._base import Aggregator


class CountAggregator(Aggregator):
    """64-bit counts. By default each one that is debiased is binomial, so intervals are Clopper-Pearson intervals."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of reports with each bit or code, as a copy."""
        return self._state.copy()

    def _is_possible(self) -> bool:
        return bool((self._state >= 0).all() and (self._state <= self.n).all())

    def _combine(self, state: AnyArray, other: AnyArray) -> None:
        state += other

    def _hits(self) -> NDArray[np.int64]:
        """Return the counts that are debiased."""
        return self._state

    def _covariance(self, n: int) -> Floats | None:
        return None

    @property
    def _line(self) -> Debiasing:
        """Debiasing of the share of a count of `_hits`."""
        line = line_of(self.debiasing)
        assert line is not None
        return line

    def _estimate(self) -> Estimate[Any]:
        n, hits, debiasing = self.n, self._hits().copy(), self._line
        value = debiasing(hits / n)
        # The variance at the possible mean nearest to the estimate is never zero, even for one report.
        stderr = np.sqrt(debiasing.variance(np.clip(value, *self.span)) / n)
        rule = Binomial(hits, n, debiasing)
        if hits.ndim == 0:
            return Estimate(float(value), float(stderr), n, self.guarantee, None, rule, _span=self.span)
        return Estimate(value, stderr, n, self.guarantee, self._covariance(n), rule, _span=self.span)
