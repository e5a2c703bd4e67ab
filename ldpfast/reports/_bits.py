"""Reports of packed bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import ranges, tally
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..results import FALSE_ALARM, AnyDebiasing, Debiasing, DoubtfulWarning, Estimate
from ._format import CountFormat, Decoding

LOG_ERROR = math.log(2 / FALSE_ALARM)


@dataclass(frozen=True)
class Bits(CountFormat):
    """k bits per person, packed in little bit order and padded with zeros to whole bytes.

    If `onehot`, the bits stand for k shares that add up to 1. If `ones` is given, each report has that many ones. If `leading`
    is given, only so many of the first bits are decoded.

    Examples
    --------
    >>> from ldpfast.reports import Bits
    >>> format = Bits(12)
    >>> format.shape, format.nbytes
    ((2,), 2)
    """

    k: int
    onehot: bool = False
    ones: int | None = None
    leading: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return ((self.k + 7) // 8,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    @property
    def bits(self) -> int:
        return self.k

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (self.k,), np.int64

    def is_possible(self, state: AnyArray, n: int) -> bool:
        total = self.ones is None or sum(state.tolist()) == n * self.ones  # without overflow
        return super().is_possible(state, n) and total

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_bits(reports, state)

    def hits(self, state: AnyArray, debiasing: AnyDebiasing | None) -> NDArray[np.int64]:
        return state[..., : self.leading]

    def warn_if_doubtful(self, decoding: Decoding, state: AnyArray, mean: Estimate[Any]) -> None:
        if not (self.onehot and self._warn_about_total(decoding, state, mean.n)):
            super().warn_if_doubtful(decoding, state, mean)

    def _warn_about_total(self, decoding: Decoding, state: AnyArray, n: Any) -> bool:
        """Warn if the shares cannot add up to 1, by Bernstein's inequality for the number of ones in all reports.

        Return whether there was a warning.
        """
        k, debiasing = self.k, decoding.debiasing
        assert isinstance(debiasing, Debiasing)
        gain = debiasing.one - debiasing.zero
        own, other = debiasing.probabilities
        n = np.asarray(n, np.float64)
        excess = state.sum(axis=-1, dtype=np.float64) - n * (own + (k - 1) * other)  # 64-bit integers could overflow
        variance = n * (own * (1 - own) + (k - 1) * other * (1 - other))
        size = np.abs(excess) / (LOG_ERROR / 3 + np.sqrt(LOG_ERROR**2 / 9 + 2 * variance * LOG_ERROR))
        worst = np.argmax(size)  # of the groups, if there are several
        is_doubtful = bool(size.flat[worst] > 1)
        if is_doubtful:
            total, noise = ((1 + excess / n * gain).flat[worst], (np.sqrt(variance) / n * gain).flat[worst])
            warn(
                f"the shares add up to {total:.3g}, and noise moves their sum by only {noise:.2g}: the reports are probably "
                "those of another mechanism or another epsilon",
                DoubtfulWarning,
            )
        return is_doubtful

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        assert isinstance(debiasing, Debiasing)
        ones = np.unpackbits(reports, axis=1, count=self.leading or self.k, bitorder="little")
        return np.asarray(debiasing(ones.astype(np.float64)))

    def tally_valid(self, reports: AnyArray, state: AnyArray) -> bool:
        if self.ones is None:
            return super().tally_valid(reports, state)
        return self._padding_error(reports) is None and tally.add_sets(reports, self.ones, state)

    def invalidity(self, reports: AnyArray) -> str | None:
        wrong = self._padding_error(reports)
        if wrong is not None or self.ones is None:
            return wrong
        row = ranges.first_invalid_set(reports, self.ones)
        return None if row < 0 else f"have {self.ones} ones each; row {row} does not"

    def _padding_error(self, reports: AnyArray) -> str | None:
        """Return the end of a message for ones behind the last bit."""
        if self.k % 8 == 0:
            return None
        bad = np.flatnonzero(reports[:, -1] >> self.k % 8)
        return f"have zeros in the padding after {self.k} bits; row {int(bad[0])} does not" if len(bad) else None
