"""Limits of shares whose hash functions collide with those of other strings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._typing import Floats
from ...results import BoundedSum, IntervalRule, rounding_of, rule_with_liars, shift_by_liars


@dataclass(frozen=True, eq=False)
class WithCollisions:
    """Limits of a sum of noise and collisions, each with half of the error probability.

    Collisions are few and large: a Poisson number of collisions of the largest possible size a, with mean v / a^2, has the
    variance v of their sum. A normal variable with this variance would be too small by far in the tail.

    Attributes
    ----------
    noise : BoundedSum, or that with liars
        Rule for the noise.
    stderr : ndarray
        Standard errors of the noise.
    size : ndarray
        Largest amount by which a collision moves a share.
    mean : ndarray
        Means of the numbers of collisions of this size.
    lack : ndarray
        By how much a share is too small if no other string collides, because the mean of all collisions is subtracted.
    functions : ndarray
        Numbers of hash functions that are used.
    buckets : int
        Number of values of a hash function.
    uses_others : bool
        Whether the shares of other strings, which are estimated from the same reports, are part of the estimates.
    error : float
        By how much they move a share if they are wrong.
    """

    noise: IntervalRule
    stderr: Floats
    size: Floats
    mean: Floats
    lack: Floats
    functions: Floats
    buckets: int
    uses_others: bool = False
    error: float = 0.0
    by_coordinate: ClassVar[bool] = True

    def at(self, places: Any) -> WithCollisions:
        """Return the rule for some of the shares, or for one."""
        found: Any = self.noise
        noise = BoundedSum(found.up[places], found.down[places], change=found.change[places])
        names = ("stderr", "size", "mean", "lack", "functions")
        return replace(self, noise=noise, **{name: getattr(self, name)[places] for name in names})

    @property
    def rounding(self) -> Any:
        """How much of a margin can be an error that is not random."""
        return rounding_of(self.noise) + self.error

    @property
    def _largest_error(self) -> float:
        """`error` if nothing is known about the shares of other strings."""
        return 1 / (self.buckets - 1) if self.uses_others else 0.0

    def with_liars(self, share: float, n: Any) -> WithCollisions:
        """Return the rule where some reports are forged.

        The squared shares of the other strings are estimated from the same reports, so that nothing is known about them: they
        can have the sum 1.
        """
        functions, scale = self.functions, self.buckets / (self.buckets - 1)
        with np.errstate(divide="ignore"):
            size = scale / functions
        return replace(
            self,
            noise=rule_with_liars(self.noise, share, n),
            size=size,
            mean=functions / (scale**2 * (self.buckets - 1)),
            lack=np.full(np.shape(functions), 1 / (self.buckets - 1)),
            error=self._largest_error,
        )

    def largest_shift(self, share: float, n: Any) -> Any:
        """Return how far forged reports can move each share, if the same strings are found.

        A report that is replaced moves a share of the reports of some functions by at most one over their number, also where
        one of the two reports is not among them.
        """
        shift = shift_by_liars(self.noise, share, n)
        return np.where(shift > 0, shift + self._largest_error, shift)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        """Return limits; `stderr`, that of noise and collisions together, is not used."""
        from scipy.stats import poisson

        half = np.asarray(tail) / 2
        low, high = self.noise.bounds(value, self.stderr, half)
        more = np.maximum(poisson.isf(half, self.mean) - self.mean, 0)
        # A sum of nonnegative numbers is seldom much below its mean (Bernstein's inequality for the lower tail).
        less = np.minimum(self.lack, self.size * np.sqrt(-2 * self.mean * np.log(half)))
        return low - self.size * more - self.error, high + less + self.error
