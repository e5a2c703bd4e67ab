"""Reports of the signs of a few sampled coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import ranges, tally
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing, BoundedSum, Estimate, Normal
from ._format import CountFormat, Decoding


@dataclass(frozen=True)
class SampledSigns(CountFormat):
    """The signs of `sampled` of `dim` coordinates, as items 2 j + 1 (plus) or 2 j (minus) for coordinate j.

    A sign decodes to +-`reach`, and the other coordinates to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.reports import SampledSigns
    >>> format = SampledSigns(4, sampled=1, reach=9.0)
    >>> format.decode(np.array([[3]], np.uint8), None).tolist()  # plus at coordinate 1
    [[0.0, 9.0, 0.0, 0.0]]
    """

    dim: int
    sampled: int
    reach: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.sampled,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.min_scalar_type(2 * self.dim - 1)

    @property
    def bits(self) -> int:
        return self.sampled * (1 + math.ceil(math.log2(self.dim)))

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (2 * self.dim,), np.int64

    def counts(self, state: AnyArray) -> NDArray[np.int64]:
        """Return the number of minus signs and of plus signs of each coordinate, shape (dim, 2), as a copy."""
        return state.reshape(-1, 2).copy()

    def is_possible(self, state: AnyArray, n: int) -> bool:
        total = sum(state.tolist()) == n * self.sampled
        return super().is_possible(state, n) and total and bool((self.counts(state).sum(axis=1) <= n).all())

    def mean(self, decoding: Decoding, state: AnyArray, n: int) -> Estimate[Any]:
        """Return the mean. The standard error follows from the known probability of a coordinate to be sampled."""
        share, span = self.sampled / self.dim, decoding.value_range
        value = np.diff(self.counts(state), axis=1)[:, 0] * (self.reach / n)
        stderr = np.sqrt((self.reach**2 * share - np.clip(value, *span) ** 2) / n)
        rule = BoundedSum.of_mean(value, -self.reach, self.reach, n, Normal.of_sum(n, share).needed)
        return Estimate(value, stderr, n, decoding.guarantee, None, rule, _span=span)

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_codes(reports.reshape(-1), state)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        decoded = np.zeros((len(reports), self.dim))
        np.put_along_axis(
            decoded, (reports >> 1).astype(np.intp), np.where(reports & 1, self.reach, -self.reach), axis=1
        )
        return decoded

    def invalidity(self, reports: AnyArray) -> str | None:
        index = ranges.first_invalid_code(reports.reshape(-1), False, 2 * self.dim)
        if index >= 0:
            return f"hold items in [0, {2 * self.dim}); row {index // self.sampled} does not"
        if self.sampled == 1:
            return None
        coordinates = np.sort(reports >> 1, axis=1)
        repeated = np.flatnonzero((coordinates[:, 1:] == coordinates[:, :-1]).any(axis=1))
        return f"hold different coordinates; row {int(repeated[0])} does not" if len(repeated) else None
