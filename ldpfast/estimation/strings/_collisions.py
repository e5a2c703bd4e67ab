"""Limits of shares whose hash functions collide with those of other strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._typing import Floats
from ...results import BoundedSum


@dataclass(frozen=True, eq=False)
class WithCollisions:
    """Limits of a sum of noise and collisions, each with half of the error probability.

    Collisions are few and large: a Poisson number of collisions of the largest possible size a, with mean v / a^2, has the
    variance v of their sum. A normal variable with this variance would be too small by far in the tail.

    Attributes
    ----------
    noise : BoundedSum
        Rule for the noise.
    stderr : ndarray
        Standard errors of the noise.
    size : ndarray
        Largest amount by which a collision moves a share.
    mean : ndarray
        Means of the numbers of collisions of this size.
    lack : ndarray
        By how much a share is too small if no other string collides, because the mean of all collisions is subtracted.
    """

    noise: BoundedSum
    stderr: Floats
    size: Floats
    mean: Floats
    lack: Floats
    by_coordinate: ClassVar[bool] = True

    def at(self, places: Any) -> WithCollisions:
        """Return the rule for some of the shares, or for one."""
        noise = BoundedSum(self.noise.up[places], self.noise.down[places])
        return WithCollisions(noise, self.stderr[places], self.size[places], self.mean[places], self.lack[places])

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        """Return limits; `stderr`, that of noise and collisions together, is not used."""
        from scipy.stats import poisson

        half = np.asarray(tail) / 2
        low, high = self.noise.bounds(value, self.stderr, half)
        more = np.maximum(poisson.isf(half, self.mean) - self.mean, 0)
        # A sum of nonnegative numbers is seldom much below its mean (Bernstein's inequality for the lower tail).
        less = np.minimum(self.lack, self.size * np.sqrt(-2 * self.mean * np.log(half)))
        return low - self.size * more, high + less
