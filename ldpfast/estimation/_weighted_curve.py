"""Quantiles of a distribution function whose weights may be negative, and their limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _threads
from .._typing import AnyArray, Floats
from ..privacy import Guarantee
from ..results import ONE_SIGMA, Estimate

T = TypeVar("T")

BLOCK = 1 << 18  # values that are looked at together, which the cache holds


@dataclass(frozen=True, eq=False)
class WeightedCurve:
    """Sums of weights over the people with values up to some ends.

    Attributes
    ----------
    ends : ndarray, shape (m,)
        Ascending values.
    people : ndarray of int, shape (m,)
        Number of people above the end before, and up to this one.
    weights, squares : ndarray, shape (m,)
        Sums of the weights and of their squares over all people up to an end.
    has_gaps : bool
        Whether values lie between the ends, where they are not known.
    """

    ends: AnyArray
    people: NDArray[Any]
    weights: Floats
    squares: Floats
    has_gaps: bool = False

    @classmethod
    def of(cls, ordered: AnyArray, weights: Floats, last: NDArray[np.intp]) -> WeightedCurve:
        """Return the curve of values in ascending order, whose equal ones end at some places."""
        sums, squares = _of_all(
            [False, True], lambda squared: np.cumsum(np.square(weights) if squared else weights), len(weights)
        )
        if len(last) == len(ordered):  # no values are equal
            return cls(ordered, np.broadcast_to(np.int64(1), len(last)), sums, squares)
        ends, sums, squares = (taken(array, last) for array in (ordered, sums, squares))
        return cls(ends, np.diff(last, prepend=-1), sums, squares)

    def _excesses(self, q: float) -> Iterator[tuple[slice, Floats]]:
        """Yield the sum over people of weight times ([value <= end] - q), in blocks of ends."""
        total = float(self.weights[-1])
        for start in range(0, len(self.ends), BLOCK):
            part = slice(start, start + BLOCK)
            yield part, self.weights[part] - q * total

    def crossing(self, q: float) -> float:
        """Return the quantile: where the isotonic regression of the weighted distribution function reaches q.

        That is at the next value of somebody after the smallest of the partial sums of the excesses.
        """
        sign = math.copysign(1.0, float(self.weights[-1]))
        least = 0.0
        place = 0
        before = 0.0
        for part, excess in self._excesses(q):
            partial = before + np.cumsum(excess * self.people[part] * sign)
            lowest = int(np.argmin(partial))
            if partial[lowest] < least:
                least, place = float(partial[lowest]), part.start + lowest + 1
            before = float(partial[-1])
        if self.has_gaps:  # an end where nobody is adds nothing to the sums
            present = np.flatnonzero(self.people[place:])
            place = place + int(present[0]) if len(present) else len(self.ends)
        return float(self.ends[min(place, len(self.ends) - 1)])

    def limits(self, q: float, value: float, z: float) -> tuple[float, float]:
        """Return the ends of the values at which the excess is within z standard errors of 0. `value` is the quantile."""
        everybody = float(self.squares[-1])
        inside = self._inside(q, z * z, everybody)
        if abs(q * float(self.weights[-1])) <= z * math.sqrt(everybody) * q:  # below all values
            low = -math.inf
        elif inside is None:
            return (self._before(int(np.searchsorted(self.ends, value))) if self.has_gaps else value), value
        else:
            low = self._before(inside[0]) if self.has_gaps else float(self.ends[inside[0]])
        final = -1 if inside is None else inside[1]
        high = math.inf if final == len(self.ends) - 1 else float(self.ends[final + 1])
        return min(low, value), max(high, value)

    def _inside(self, q: float, z2: float, everybody: float) -> tuple[int, int] | None:
        """Return the first and the last end whose squared excess is at most `z2` variances; None if there is none."""
        first, final = None, -1
        for part, excess in self._excesses(q):
            up_to = self.squares[part]
            variance = up_to * (1 - q) ** 2 + (everybody - up_to) * q**2
            inside = np.flatnonzero(np.square(excess) <= z2 * variance)
            if len(inside):
                first = part.start + int(inside[0]) if first is None else first
                final = part.start + int(inside[-1])
        return None if first is None else (first, final)

    def _before(self, place: int) -> float:
        """Return the end before one."""
        return float(self.ends[place - 1]) if place else -math.inf


@dataclass(frozen=True, eq=False)
class _Crossings:
    """Limits of several quantiles.

    Attributes
    ----------
    pairs : list of (WeightedCurve, float)
        Curves and the probabilities of their quantiles.
    shape : tuple of int
        Shape of the estimate.
    """

    pairs: list[tuple[WeightedCurve, float]]
    shape: tuple[int, ...]
    by_coordinate: ClassVar[bool] = False

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        z = -float(ndtri(tail))
        given = [(*pair, at) for pair, at in zip(self.pairs, np.ravel(value).tolist(), strict=True)]
        limits = np.array(_of_all(given, lambda each: each[0].limits(*each[1:], z), len(self.pairs[0][0].ends)))
        return limits[:, 0].reshape(self.shape), limits[:, 1].reshape(self.shape)


def _of_all(things: Sequence[T], function: Callable[[T], Any], size: int) -> list[Any]:
    """Return a function of all things, by threads. Each call reads `size` numbers."""

    def work(start: int, stop: int) -> list[Any]:
        return [function(thing) for thing in things[start:stop]]

    found = _threads.parallel_map(work, len(things), 1, len(things) * size)
    return [entry for part in found for entry in part]


def in_parts(n: int, work: Callable[[slice], Any]) -> None:
    """Call a function of slices that cover n numbers, by threads."""

    def all_of(start: int, stop: int) -> None:
        for first in range(start, stop, BLOCK):
            work(slice(first, min(first + BLOCK, stop)))

    _threads.parallel_map(all_of, n, BLOCK, n)


def taken(array: AnyArray, places: NDArray[Any]) -> AnyArray:
    """Return the entries of an array at some places."""
    found = np.empty(len(places), array.dtype)

    def take(part: slice) -> None:
        found[part] = array[places[part]]

    in_parts(len(places), take)
    return found


def estimate_of(
    curves: Sequence[WeightedCurve], q: Floats, n: int, guarantee: Guarantee, *, only: bool
) -> Estimate[Any]:
    """Return the estimate of quantiles of each curve, without the axis of curves if there is `only` one."""
    shape = (*(() if only else (len(curves),)), *q.shape)
    pairs = list(itertools.product(curves, np.ravel(q).tolist()))
    rule = _Crossings(pairs, shape)
    value = np.reshape(_of_all(pairs, lambda pair: pair[0].crossing(pair[1]), len(curves[0].ends)), shape)
    low, high = rule.bounds(value, value, ONE_SIGMA)
    with np.errstate(invalid="ignore"):
        stderr = (high - low) / 2
    if value.ndim == 0:
        return Estimate(float(value), float(stderr), n, guarantee, None, rule)
    return Estimate(value, np.asarray(stderr), n, guarantee, None, rule)


def probabilities_of(quantiles: ArrayLike) -> Floats:
    """Return the argument `quantiles`, a number or a vector."""
    q = np.asarray(_check.within("quantiles", quantiles, 0, 1, "()"), np.float64)
    if q.ndim > 1 or not q.size:
        raise ValueError(f"quantiles must have shape (m,) or be a number, got shape {q.shape}")
    return q
