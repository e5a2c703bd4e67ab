"""States that are counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._limits import along
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing, Binomial, Estimate, line_of
from ._format import Format, Statistic


class CountFormat(Format):
    """Format whose state is 64-bit counts.

    By default each count that is debiased is binomial, so that intervals are Clopper-Pearson intervals.
    """

    def counts(self, state: AnyArray) -> NDArray[np.int64]:
        """Return the number of reports with each bit or code, as a copy."""
        return state.copy()

    def combine(self, state: AnyArray, other: AnyArray) -> None:
        state += other

    def is_possible(self, state: AnyArray, n: int) -> bool:
        return bool((state >= 0).all() and (state <= n).all())

    def hits(self, state: AnyArray, debiasing: AnyDebiasing | None) -> NDArray[np.int64]:
        """Return the counts that are debiased."""
        return state

    def covariance(self, state: AnyArray, n: int, debiasing: AnyDebiasing | None) -> Floats | None:
        """Return the covariance matrix of the estimate, or None."""
        return None

    def mean(self, statistic: Statistic, state: AnyArray, n: Any) -> Estimate[Any]:
        line, span = line_of(statistic.debiasing), statistic.value_range
        assert line is not None
        hits = self.hits(state, statistic.debiasing).copy()
        total = along(n, hits.ndim - np.ndim(n))
        value = line(hits / total)
        # The variance at the possible mean nearest to the estimate is never zero, even for one report.
        stderr = np.sqrt(line.variance(np.clip(value, *span)) / total)
        rule = Binomial(hits, total, line)
        if hits.ndim == 0:
            return Estimate(float(value), float(stderr), n, statistic.guarantee, None, rule, _span=span)
        covariance = None if np.ndim(n) else self.covariance(state, n, statistic.debiasing)
        return Estimate(value, stderr, n, statistic.guarantee, covariance, rule, _span=span)
