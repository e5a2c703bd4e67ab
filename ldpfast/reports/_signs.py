"""Reports of the signs of a few sampled coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import ranges, tally
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing, Binomial, BoundedSum, Estimate, Normal, WithGaps
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


@dataclass(frozen=True)
class SampledBits(SampledSigns):
    """Sampled signs that are the bits of `leading` shares, plus for 1, and of further coordinates, which are not decoded.

    An estimate divides by the number of people who were asked about a coordinate, and has a smaller variance than the mean of
    decoded reports: there a sign is 1/2 +- `reach`, and 1/2 stands for coordinates that are not sampled.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.reports import SampledBits
    >>> format = SampledBits(4, sampled=1, reach=9.0, leading=3)
    >>> format.decode(np.array([[3]], np.uint8), None).tolist()  # plus at coordinate 1
    [[0.5, 9.5, 0.5]]
    """

    leading: int

    def asked(self, state: AnyArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of plus signs and of all signs of each coordinate, shape (..., dim)."""
        signs = state.reshape(*state.shape[:-1], self.dim, 2)
        return signs[..., 1].copy(), signs.sum(axis=-1)

    def mean(self, decoding: Decoding, state: AnyArray, n: int) -> Estimate[Any]:
        """Return the shares of ones among the people who were asked; NaN where nobody was."""
        plus, asked = (numbers[: self.leading] for numbers in self.asked(state))
        line, gaps = decoding.line, asked == 0
        trials = np.maximum(asked, 1)
        value = line(plus / trials)
        stderr = np.sqrt(line.variance(np.clip(value, *decoding.value_range)) / trials)
        rule: Any = Binomial(plus, trials, line)
        if gaps.any():
            value, stderr = np.where(gaps, np.nan, value), np.where(gaps, np.inf, stderr)
            rule = WithGaps(rule, gaps)
        return Estimate(value, stderr, n, decoding.guarantee, None, rule, _span=decoding.value_range)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        return super().decode(reports, debiasing)[:, : self.leading] + 0.5
