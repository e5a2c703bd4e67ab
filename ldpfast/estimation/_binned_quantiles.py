"""Conditional quantiles from counts between fixed cuts, for data that do not fit into memory."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import require_one_index
from ..mechanisms import decoding_of
from ..mechanisms._channel_argument import mechanism_of
from ..results import Estimate
from ._known_values import coded, flags_of, guarantee_of, rates_of, values_of, warn_rare, weights_of_flags
from ._weighted_curve import WeightedCurve, estimate_of, probabilities_of

MAX_CUTS = 1 << 24


class ConditionalQuantiles:
    """Conditional quantiles of more people than fit into memory, from counts between fixed cuts.

    Parameters
    ----------
    cuts : array_like of float, shape (m,)
        Ascending numbers, at most 2^24. An estimate is one of them, so their distances are its resolution. They are fixed
        before the data are seen.
    design : optional
        As for `conditional_quantiles`; left out for flags with `rates`.

    Raises
    ------
    TypeError, ValueError
        If `cuts` are not such numbers, or `design` is none.

    Notes
    -----
    Memory is a few numbers for each cut and category, whatever the number of people is.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import ConditionalQuantiles
    >>> rng = np.random.default_rng(1)
    >>> counted = ConditionalQuantiles(np.arange(0.0, 20.0, 0.01))
    >>> for _ in range(3):  # parts of a file
    ...     high = rng.random(50_000) < 0.4
    ...     seconds = np.where(high, rng.exponential(1.0, 50_000), rng.exponential(3.0, 50_000))
    ...     flag = np.where(rng.random(50_000) < 0.1, rng.random(50_000) < 0.5, high)
    ...     _ = counted.update(seconds, flag, rates=0.1)
    >>> low, high = counted.estimate([0.5, 0.75]).interval()
    >>> bool((low < np.log([2, 4])).all()), bool((np.log([2, 4]) < high).all())
    (True, True)
    """

    def __init__(self, cuts: ArrayLike, design: Any = None) -> None:
        self.cuts = _check.numbers("cuts", _check.array("cuts", cuts))
        if self.cuts.ndim != 1 or not 1 <= len(self.cuts) <= MAX_CUTS or (np.diff(self.cuts) <= 0).any():
            raise ValueError(f"cuts must be 1 to {MAX_CUTS} ascending numbers, got shape {self.cuts.shape}")
        self.design, bins = design, len(self.cuts) + 1
        mechanism = None if design is None else mechanism_of(design)
        self._table = None if mechanism is None else decoding_of(mechanism)
        categories = 1 if self._table is None else self._table.shape[1]
        self._people = np.zeros(bins, np.int64)
        self._weights, self._squares = np.zeros((2, categories, bins))
        self._guarantee = None if mechanism is None else mechanism.guarantee

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self._people.sum())

    def update(self, values: ArrayLike, reports: ArrayLike, *, rates: ArrayLike | None = None) -> Self:
        """Count more people.

        Parameters
        ----------
        values, reports, rates
            As for `conditional_quantiles`.

        Returns
        -------
        self : ConditionalQuantiles

        Raises
        ------
        TypeError, ValueError
            As `conditional_quantiles`; nothing is counted then.
        """
        require_one_index({"values": values, "reports": reports, "rates": rates})
        numbers = values_of(values)
        n = len(numbers)
        if self._table is None:
            if rates is None:
                raise TypeError("rates must be given without a design")
            flags, probability = flags_of(reports, None, n), rates_of(rates, n)
            parts, guarantee = weights_of_flags(flags, probability)[np.newaxis], guarantee_of(probability)
            if self._guarantee is not None and self._guarantee.epsilon > guarantee.epsilon:
                guarantee = self._guarantee
        else:
            if rates is not None:
                raise TypeError("rates must be None with a design")
            mechanism, codes = coded(reports, self.design, n)
            parts, guarantee = self._table[codes].T, mechanism.guarantee
        bins = np.searchsorted(self.cuts, numbers)  # those up to and including a cut, and the ones above all cuts
        size = len(self._people)
        counted = [[np.bincount(bins, part, size), np.bincount(bins, np.square(part), size)] for part in parts]
        self._people += np.bincount(bins, minlength=size)
        for category, (weights, squares) in enumerate(counted):
            self._weights[category] += weights
            self._squares[category] += squares
        self._guarantee = guarantee
        return self

    def merge(self, other: ConditionalQuantiles) -> Self:
        """Add the people that another object has counted, with the same cuts and design.

        Parameters
        ----------
        other : ConditionalQuantiles

        Returns
        -------
        self : ConditionalQuantiles

        Raises
        ------
        TypeError, ValueError
            If `other` is not such an object, or has other cuts or another design.
        """
        if not isinstance(other, ConditionalQuantiles):
            raise TypeError(f"other must be a ConditionalQuantiles, got {type(other).__name__}")
        same = np.array_equal(self.cuts, other.cuts) and (self._table is None) == (other._table is None)
        if self._table is not None and other._table is not None:
            same &= np.array_equal(self._table, other._table)
        if not same:
            raise ValueError("other must have the same cuts and the same design")
        self._people += other._people
        self._weights += other._weights
        self._squares += other._squares
        guarantees = [part for part in (self._guarantee, other._guarantee) if part is not None]
        self._guarantee = max(guarantees, key=lambda part: part.epsilon, default=None)
        return self

    def estimate(self, quantiles: ArrayLike) -> Estimate[Any]:
        """Return the quantiles.

        Parameters
        ----------
        quantiles : array_like of float, shape (m,), or float
            Probabilities in (0, 1).

        Returns
        -------
        estimate : Estimate
            As of `conditional_quantiles`: the smallest cut that is not below the quantile. Limits are cuts, and include the
            distance between two of them.

        Raises
        ------
        TypeError, ValueError
            If `quantiles` are not in (0, 1); if nobody was counted; if a quantile is above all cuts.

        Warns
        -----
        DoubtfulWarning
            If the share of a category is not clearly above 0: its quantiles are then unreliable.
        """
        q, n = probabilities_of(quantiles), self.n
        if self._guarantee is None or not n:
            raise ValueError("an estimate needs at least 1 person, got n = 0")
        warn_rare(self._weights.sum(axis=1) / n, self._squares.sum(axis=1) / n, n)
        ends = np.append(self.cuts, math.inf)
        curves = [
            WeightedCurve(ends, self._people, np.cumsum(weights), np.cumsum(squares), has_gaps=True)
            for weights, squares in zip(self._weights, self._squares, strict=True)
        ]
        found = estimate_of(curves, q, n, self._guarantee, only=self._table is None)
        if not np.isfinite(found.value).all():
            raise ValueError(f"cuts must reach above all quantiles, got one above the last cut, {self.cuts[-1]:g}")
        return found

    def __repr__(self) -> str:
        return f"<ConditionalQuantiles with {len(self.cuts)} cuts, n = {self.n}>"
