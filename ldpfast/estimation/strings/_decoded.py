"""Counts of a sketch as numbers whose sum over the hash functions is the share of a string."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._typing import AnyArray, Floats
from ...mechanisms import SketchResponse
from ...reports import Counted
from ...results import BoundedSum
from ._collisions import WithCollisions

CERTAIN = 0.999  # one-sided confidence of the upper limit of the sum of squared shares
IMPOSSIBLE = 1 - 1e-8  # that of the lower limit, which shows that people cannot have sent the reports


@dataclass(frozen=True, eq=False)
class DecodedSketch:
    """Reports of the hash functions of whole strings, or of one level of prefixes.

    Attributes
    ----------
    mechanism : SketchResponse
    part : int
        0 for whole strings, otherwise the number of a level.
    people : ndarray of int64, shape (functions,)
        Number of reports of each function.
    hits : ndarray of int64, shape (functions, buckets)
        How many of them support each bucket.
    """

    mechanism: SketchResponse
    part: int
    people: NDArray[np.int64]
    hits: NDArray[np.int64]

    @classmethod
    def of(cls, mechanism: SketchResponse, counted: Counted, part: int) -> DecodedSketch:
        """Return the reports of a part from the counts of all codes."""
        return cls(mechanism, part, *mechanism.supports(counted.states[0], part))

    @property
    def n(self) -> int:
        """Number of reports."""
        return int(self.people.sum())

    @property
    def scale(self) -> float:
        """Factor of the share of a string in the expectation of a bucket, inverted: other strings share the bucket."""
        return self.mechanism.buckets / (self.mechanism.buckets - 1)

    def buckets(self, rows: AnyArray) -> NDArray[np.uint32]:
        """Return the buckets of strings, shape (strings, functions)."""
        return self.mechanism._hashes[self.part].buckets(rows)

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """Numbers of all functions and buckets, whose sum over the functions is the estimated share of a string."""
        line = self.mechanism.line
        m = self.mechanism.buckets
        n = max(1, self.n)
        people = self.people[:, np.newaxis]
        decoded = people * (line.zero - 1 / m) + (line.one - line.zero) * self.hits
        return np.asarray(self.scale * decoded / n, np.float32)

    @property
    def second_moment(self) -> float:
        """Upper limit of the sum of the squared shares of all strings, in [0, 1]."""
        mean, error, functions = self._moment
        return min(1.0, max(0.0, mean + _quantile(CERTAIN, functions) * error)) if functions > 1 else 1.0

    @property
    def least_moment(self) -> float:
        """Lower limit of the sum of the squared shares of all strings. It is above 1 if reports were sent again and again."""
        mean, error, functions = self._moment
        return mean - _quantile(IMPOSSIBLE, functions) * error if functions > 1 else 0.0

    @cached_property
    def _moment(self) -> tuple[float, float, int]:
        """Estimated sum of the squared shares of all strings, its standard error, and the number of functions with reports."""
        line, m = self.mechanism.line, self.mechanism.buckets
        p, q = line.probabilities
        noise = (m * q * (1 - q) + (p - q) * (1 - 2 * q)) / (p - q) ** 2  # of all buckets, for one report
        found = []
        for people, hits in zip(self.people.tolist(), self.hits, strict=True):
            if people > 1:
                squares = float(np.sum(line(hits / people) ** 2))
                found.append(((squares - noise / people) / (1 - 1 / people) - 1 / m) * self.scale)
        if len(found) < 2:
            return 1.0, math.inf, len(found)
        return float(np.mean(found)), float(np.std(found, ddof=1)) / math.sqrt(len(found)), len(found)

    def noise(self, share: Any, people: Any) -> Any:
        """Return the variance of shares that so many people estimate, given the hash functions."""
        line, m = self.mechanism.line, self.mechanism.buckets
        p, q = line.probabilities
        inside = np.clip(1 / m + np.clip(share, 0, 1) / self.scale, 0, 1)
        seen = np.clip(q + (p - q) * inside, 0.5 / (people + 1), 1 - 0.5 / (people + 1))
        return self.scale**2 * line.variance(line(seen)) / people

    def collisions(self, share: Any, functions: Any, second_moment: Any) -> Any:
        """Return the variance of shares over so many hash functions, if other strings have squared shares of a given sum."""
        others = np.maximum(second_moment - np.clip(share, 0, 1) ** 2, 0)
        return others / (functions * (self.mechanism.buckets - 1))

    def absent(self, people: float, functions: int, second_moment: float) -> float:
        """Return the standard deviation of the score of an absent string: of its share without the largest of its numbers."""
        variance = self.noise(0.0, people) + self.collisions(0.0, functions, second_moment)
        return math.sqrt(variance * functions / (functions - 1))

    def estimate(
        self,
        buckets: NDArray[np.uint32],
        used: NDArray[np.bool_] | None = None,
        others: Any = 0.0,
        second_moment: float | None = None,
    ) -> tuple[Floats, Floats, WithCollisions]:
        """Return shares of strings, their standard errors, and the rule for their limits.

        Parameters
        ----------
        buckets : ndarray, shape (strings, functions)
            Result of `buckets`.
        used : ndarray of bool, shape (strings, functions), optional
            Which functions are used for each string. The default is all. A function without reports is never used.
        others : float or ndarray, shape (strings,)
            Sum of the shares of strings that are in none of the buckets of the functions that are used.
        second_moment : float, optional
            Upper limit of the sum of the squared shares of all other strings. The default is the limit for all strings.
        """
        line, m = self.mechanism.line, self.mechanism.buckets
        functions = np.arange(len(self.people))
        take = np.broadcast_to(self.people > 0, buckets.shape)
        if used is not None:
            take = take & used
        hits = np.sum(np.where(take, self.hits[functions, buckets], 0), axis=1)
        people, number = (take * self.people).sum(axis=1), take.sum(axis=1)
        moment = self.second_moment if second_moment is None else second_moment
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.scale * (line(hits / people) - (1 - others) / m)
            step = self.scale * (line.one - line.zero) / people
            noise = self.noise(value, people)
            collisions = self.collisions(value if second_moment is None else 0.0, number, moment)
            size = self.scale * math.sqrt(moment) / number
            # A collision raises the share, and would leave less for the other strings than they have: allow for one.
            possible = self.collisions(value - size if second_moment is None else 0.0, number, moment)
            mean = np.divide(possible, size**2, out=np.zeros_like(possible), where=size > 0)
        lack = self.scale * np.maximum(1 - others - np.clip(value, 0, 1), 0) / m
        by_report = BoundedSum(step, step, change=step)
        uses_others = second_moment is not None
        rule = WithCollisions(by_report, np.sqrt(noise), size, mean, lack, number, m, uses_others)
        return np.asarray(value), np.sqrt(noise + collisions), rule


def _quantile(probability: float, functions: int) -> float:
    """Return the quantile of the mean of so many functions, in its standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(functions - 1, probability))
