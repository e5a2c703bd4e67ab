"""Public grid of 2^32 points, to which the records of a curator are rounded."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._typing import AnyArray
from ._curator_records import PIECE_NUMBERS, invalid_error

SIZE = 1 << 32  # number of grid points


class PublicGrid:
    """Grid of 2^32 public points.

    They are equally spaced in [lower, upper]. With a Cauchy prior, whose quartiles are lower and upper, they are on the
    whole line, with equal probability.
    """

    def __init__(self, lower: float, upper: float, prior: str) -> None:
        self.lower = lower
        self.upper = upper
        self.cauchy = prior == "cauchy"

    def indices(self, x: AnyArray, nan: str) -> NDArray[np.uint32]:
        """Return the indices of the grid points nearest to the records."""
        result = np.empty(len(x), np.uint32)
        center, half = self.lower + (self.upper - self.lower) / 2, (self.upper - self.lower) / 2
        for start in range(0, len(x), PIECE_NUMBERS):
            piece = x[start : start + PIECE_NUMBERS].astype(np.float64)
            bad = ~np.isfinite(piece)
            if bad.any():
                if nan == "raise":
                    raise invalid_error(x)
                piece[bad] = center
            if self.cauchy:
                with np.errstate(over="ignore"):
                    piece -= center
                    piece /= half
                np.arctan(piece, out=piece)
                piece *= SIZE / math.pi
                piece += SIZE / 2 - 0.5
            else:
                np.clip(piece, self.lower, self.upper, out=piece)
                piece -= self.lower
                piece *= (SIZE - 1) / (self.upper - self.lower)
            np.rint(piece, out=piece)
            np.clip(piece, 0, SIZE - 1, out=piece)
            np.copyto(result[start : start + PIECE_NUMBERS], piece, casting="unsafe")
        return result

    def value(self, index: float) -> float:
        """Return the number that a grid point represents, or a place between two of them."""
        if self.cauchy:
            angle = math.pi * ((index + 0.5) / SIZE - 0.5)
            return self.lower + (self.upper - self.lower) / 2 * (1 + math.tan(angle))
        return min(self.lower + (self.upper - self.lower) * (index / (SIZE - 1)), self.upper)
