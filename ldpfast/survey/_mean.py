"""Questions about the mean of a number."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._core.person import rounding_words
from .._typing import AnyArray, Floats
from ..mechanisms import Mechanism
from ._mechanisms import for_number
from ._number_columns import NumberColumn, number_of
from ._questions import ColumnQuestion

MAX_STEPS = 1 << 31


@dataclass(frozen=True)
class Mean(ColumnQuestion):
    """A number in a declared interval. The answer is the mean.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, which must not be taken from the data. Dates are days since 1970-01-01.
    optional : bool, default False
        Whether an answer may be missing. The mean is then that of people who answered.
    column : str, optional
        Name of the column; the default is the name of the question.
    resolution : float, optional
        Distance of the values lower, lower + resolution, ..., upper, to the nearest of which every number is rounded before
        anything else, halves upward. The answer is the mean of the rounded numbers. With `PersonKeys`, all numbers that are
        rounded to the same value have the same report, for instance 0.1 in single and in double precision.

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite numbers with lower < upper; if `resolution` does not divide upper - lower into
        at least 1 and fewer than 2^31 steps.

    Notes
    -----
    A number is rounded at random to the lower or the upper end, so that its mean is unchanged, and the end is the answer.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Mean, Survey
    >>> result = Survey({"age": Mean(0, 120)}, 2.0).run({"age": np.arange(8000) % 80}, rng=1)
    >>> low, high = result["age"].interval()
    >>> low < 39.5 < high
    True
    """

    lower: float
    upper: float
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    resolution: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(number_of(self.lower), number_of(self.upper))
        resolution, steps = _steps(upper - lower, self.resolution)
        self._set(lower=lower, upper=upper, resolution=resolution)
        self._hold(MeanColumn, labels=("low", "high"), steps=steps, lower=lower, upper=upper)


def _steps(length: float, resolution: float | None) -> tuple[float | None, int]:
    """Return the distance of the values to which numbers are rounded first, and how often the interval has it; else None, 0."""
    if resolution is None:
        return None, 0
    resolution = _check.positive("resolution", resolution)
    steps = length / resolution
    if not 0.5 <= steps <= MAX_STEPS - 1 or abs(steps - round(steps)) > 1e-9 * min(steps, 1e8):
        raise ValueError(
            f"resolution must divide upper - lower = {length!r} into at least 1 and fewer than 2^31 steps, "
            f"got {resolution!r}"
        )
    return resolution, round(steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanColumn(NumberColumn):
    """Numbers that become one of two symbols by random rounding, or are sent as numbers, and whose answer is the mean."""

    lower: float
    upper: float
    scalar: ClassVar[bool] = True
    quantity: ClassVar[str] = "mean"
    encoding: ClassVar[str] = "low-high"

    @property
    def label_weights(self) -> Floats:
        return np.array([0.0, self.upper - self.lower])

    @property
    def range(self) -> tuple[float, float]:
        return self.lower, self.upper

    def describe(self) -> str:
        return f"numbers in [lower, upper] = [{self.lower!r}, {self.upper!r}]"

    def valid_range(self) -> tuple[float, float]:
        return self.lower, self.upper

    def _rounded(self, numbers: Floats) -> Any:
        if not self.steps:
            return super()._rounded(numbers)
        share = np.clip((numbers - self.lower) / (self.upper - self.lower), 0, 1)
        nearest = np.floor(share * self.steps + 0.5)  # as `encode_steps`
        return np.where(np.isnan(nearest), self.steps + 1, nearest).astype(np.uint32)

    def encoded(self, cells: AnyArray, keys: AnyArray, part: int) -> NDArray[np.int64]:
        """Return the symbols of canonical values, as `encode_low_high` rounds numbers."""
        uniform = (rounding_words(keys, part) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        low, high, share = self.symbol_shares(cells)
        return np.where(uniform < share, high, low)

    def symbol_shares(self, cells: AnyArray) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        if self.steps:
            missing, share = cells > self.steps, cells * (1 / self.steps)
        else:
            missing, share = np.isnan(cells), (cells - self.lower) * (1 / (self.upper - self.lower))
        low, high = (np.where(missing, self.k - 1, symbol) for symbol in (0, 1))
        return low, high, np.where(missing, 0.0, np.clip(share, 0, 1))

    def numbers_of(self, cells: AnyArray) -> Floats:
        if not self.steps:
            return np.asarray(cells)
        return np.asarray(self.lower + cells * ((self.upper - self.lower) * (1 / self.steps)))

    def client_part(self, start: int) -> tuple[int, bytes, bytes]:
        ends = struct.pack("<2d", self.lower, self.upper)
        return (3, struct.pack("<II8x", start, self.steps), ends) if self.steps else (1, ends, b"")

    def mechanism(self, epsilon: float) -> Mechanism:
        """Return the mechanism for an answer: of a number where its worst-case variance is smaller than that of one bit."""
        number = None if self.optional else for_number(self.lower, self.upper, epsilon)
        return number or super().mechanism(epsilon)
